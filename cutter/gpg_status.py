"""Pure: reads gpg's status lines, and turns those about a signature into a value.

This module ignores the exit code and the messages on stderr. gpg calls a SHA-1 signature and a signature by an expired
key "good", so the judge needs the records themselves (spec 03, step 3).
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum

_PREFIX = "[GNUPG:] "
_OUTCOMES = frozenset(("GOODSIG", "EXPSIG", "EXPKEYSIG", "REVKEYSIG", "BADSIG", "ERRSIG"))
FINGERPRINT = re.compile(r"[0-9A-F]{40}|[0-9A-F]{64}")
"""A whole fingerprint. A short id or a name could mean another key."""


class Outcome(StrEnum):
    """gpg's result for one signature."""

    GOOD = "GOODSIG"
    SIGNATURE_EXPIRED = "EXPSIG"
    KEY_EXPIRED = "EXPKEYSIG"
    KEY_REVOKED = "REVKEYSIG"
    BAD = "BADSIG"
    ERROR = "ERRSIG"


@dataclass(frozen=True, slots=True, kw_only=True)
class SignatureRecord:
    """One signature. Times are UTC, and `signature_class` is hex. Without a VALIDSIG line, its fields are None."""

    outcomes: tuple[Outcome, ...]
    fingerprint: str | None = None
    primary_fingerprint: str | None = None
    created: datetime | None = None
    expires: datetime | None = None
    digest_algorithm: int | None = None
    signature_class: str | None = None
    key_missing: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class SignatureEvidence:
    """Everything that gpg reported. If gpg could not judge, `unverifiable` has the reason, and nothing is decided."""

    records: tuple[SignatureRecord, ...] = ()
    keywords: tuple[str, ...] = ()
    unverifiable: str | None = None


@dataclass(slots=True)
class _Open:
    outcomes: list[Outcome] = field(default_factory=list)
    valid: list[list[str]] = field(default_factory=list)
    key_missing: bool = False

    def close(self) -> SignatureRecord:
        outcomes = tuple(self.outcomes)
        # Two VALIDSIG lines for one signature prove neither of the two.
        if len(self.valid) != 1:
            return SignatureRecord(outcomes=outcomes, key_missing=self.key_missing)
        # VALIDSIG <fpr> <date> <created> <expires> <version> <reserved> <key algorithm> <digest> <class> <primary fpr>
        words = self.valid[0]
        if len(words) < 10 or not (FINGERPRINT.fullmatch(words[0]) and FINGERPRINT.fullmatch(words[9])):
            return SignatureRecord(outcomes=outcomes)
        return SignatureRecord(
            outcomes=outcomes,
            fingerprint=words[0],
            primary_fingerprint=words[9],
            created=_moment(words[2]),
            expires=_moment(words[3]) if words[3] != "0" else None,
            digest_algorithm=int(words[7]) if words[7].isdecimal() else None,
            signature_class=words[8],
        )


def status_words(lines: Iterable[str]) -> list[list[str]]:
    """The words of each status line (`[GNUPG:] KEYWORD …`). Other lines are ignored."""
    return [line.removeprefix(_PREFIX).split(" ") for line in lines if line.startswith(_PREFIX)]


def read_status(lines: Iterable[str]) -> SignatureEvidence:
    """The evidence in gpg's status lines about each signature."""
    keywords: list[str] = []
    signatures: list[_Open] = []
    for keyword, *words in status_words(lines):
        keywords.append(keyword)
        if keyword == "NEWSIG":
            signatures.append(_Open())
        elif signatures:
            _take(signatures[-1], keyword, words)
        elif keyword in _OUTCOMES or keyword == "VALIDSIG":
            signatures.append(_Open())
            _take(signatures[-1], keyword, words)
    return SignatureEvidence(records=tuple(signature.close() for signature in signatures), keywords=tuple(keywords))


def _take(signature: _Open, keyword: str, words: list[str]) -> None:
    if keyword in _OUTCOMES:
        signature.outcomes.append(Outcome(keyword))
    elif keyword == "VALIDSIG":
        signature.valid.append(words)
    elif keyword == "NO_PUBKEY":
        signature.key_missing = True


def _moment(text: str) -> datetime | None:
    if text.isdecimal():
        return datetime.fromtimestamp(int(text), tz=UTC)
    try:
        return datetime.strptime(text, "%Y%m%dT%H%M%S").replace(tzinfo=UTC)
    except ValueError:
        return None
