"""IO: finds the key for which backups are encrypted, by its pinned fingerprint, and checks that it is usable today."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from cutter.backup.record import BackupRefusal, RefusalCode
from cutter.errors import InvalidInput
from cutter.gpg import Gpg
from cutter.openpgp import FINGERPRINT


@lru_cache(maxsize=8)
def home_of_backups(home: Path, binary: str) -> Gpg:
    """gpg in the home that holds the backup key. The home must exist, because a new home would hold no key.

    A process keeps it, because it remembers the listing of its keys.
    """
    return Gpg(home, binary, existing=True, what="backup")


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipient:
    """The pinned key, and the ids (16 hex characters) of its encryption keys, which a message for it may name."""

    fingerprint: str
    encryption_key_ids: frozenset[str]


def pinned(fingerprint: str) -> str:
    """The fingerprint from the settings in gpg's own form. Raises InvalidInput for a short id or a name."""
    text = fingerprint.replace(" ", "").upper()
    if not FINGERPRINT.fullmatch(text):
        raise InvalidInput("the backup key is pinned by its full fingerprint: 40 (or 64) hex characters")
    return text


def find_recipient(gpg: Gpg, fingerprint: str) -> Recipient | BackupRefusal:
    """The key with the pinned fingerprint, or the refusal if it is missing or cannot encrypt today."""
    keys = _keys(gpg.key_listing())
    key = keys.get(fingerprint)
    if key is None:
        return BackupRefusal(
            code=RefusalCode.FINGERPRINT_MISMATCH,
            message="the backup key in this home is not the pinned one: put the pinned public key there",
            expected=fingerprint,
            observed=", ".join(sorted(keys)) or "no key",
        )
    if key.validity == "e" or (key.encryption and all(validity == "e" for _, validity in key.encryption)):
        return BackupRefusal(
            code=RefusalCode.KEY_EXPIRED,
            message="the pinned backup key has expired: extend it, or pin another",
            expected=fingerprint,
        )
    ids = frozenset(key_id for key_id, validity in key.encryption if validity not in ("e", "r", "d", "i"))
    if key.validity in ("r", "d", "i") or not ids:
        return BackupRefusal(
            code=RefusalCode.KEY_UNUSABLE,
            message="the pinned backup key is revoked, disabled or cannot encrypt: pin another",
            expected=fingerprint,
        )
    return Recipient(fingerprint=fingerprint, encryption_key_ids=ids)


def backup_keys(gpg: Gpg) -> frozenset[str]:
    """The fingerprints of the keys in this home that are made for encryption. An expired or revoked one counts, because
    it still opens the backups of its time.
    """
    return frozenset(fingerprint for fingerprint, key in _keys(gpg.key_listing()).items() if key.encryption)


@dataclass(slots=True)
class _Key:
    validity: str
    encryption: list[tuple[str, str]]


def _keys(colons: str) -> dict[str, _Key]:
    """The keys by primary fingerprint: the validity, and a pair (key id, validity) for each key that can encrypt.

    GnuPG's doc/DETAILS explains the listing.
    """
    keys: dict[str, _Key] = {}
    current: _Key | None = None
    named = False
    for line in colons.splitlines():
        field = [*line.split(":"), *([""] * 12)]
        if field[0] in ("pub", "sub"):
            if field[0] == "pub":
                current, named = _Key(field[1], []), False
            if current is not None and "e" in field[11]:
                current.encryption.append((field[4], field[1]))
        elif field[0] == "fpr" and current is not None and not named:
            keys[field[9]], named = current, True
    return keys
