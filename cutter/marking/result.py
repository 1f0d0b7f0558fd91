"""Pure: the result of marking a law, and the proof that its parts are the whole region.

Offsets are bytes into the document. Lines count from 1 and end only at LF. The result holds no text except titles.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from operator import attrgetter
from typing import Literal

from cutter.domain.digests import canonical_digest, sha256_hex, writer_line
from cutter.errors import ProgrammingError

MARK_VERSION = "mark/1"

FINDINGS_VERSION = "mark-findings/1"

Severity = Literal["red", "amber", "info"]
"""Red: the text is probably cut wrong. Amber: worth a look. Info: a note about the text."""

_TITLE_FORBIDDEN = re.compile(r"[\x00-\x1f\x7f]")
_BLANK = b" \t\r\n\f\v"


@dataclass(frozen=True, slots=True, kw_only=True)
class Unit:
    """What a cut, a plan and the law in force say of a unit, without its text."""

    address: str
    parent_address: str | None
    unit_kind: str
    section_type: str
    publication_type: str | None
    owner: str
    title: str

    def writer_line(self, body_sha256: str) -> str:
        """The line of the writer digest for the unit with this body."""
        return writer_line(
            address=self.address, unit_kind=self.unit_kind, section_type=self.section_type,
            publication_type=self.publication_type, owner=self.owner, title=self.title, body_sha256=body_sha256,
            parent_address=self.parent_address,
        )  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class HashedUnit(Unit):
    """A unit with the digest of its body."""

    body_sha256: str

    @property
    def digest_line(self) -> str:
        return self.writer_line(self.body_sha256)


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate(Unit):
    """One unit to be cut; its body is `data[start:end]`. `level` is the depth in the tree of units, 1 at the top.
    `ordinal` is n for the n-th unit that would have the same address (`~n`).
    """

    start: int
    end: int
    line: int
    level: int
    ordinal: int

    def __post_init__(self) -> None:
        if not self.title or _TITLE_FORBIDDEN.search(self.title):
            raise ProgrammingError(f"line {self.line}: a title is one non-empty line without control characters")
        if not 0 <= self.start < self.end:
            raise ProgrammingError(f"line {self.line}: a unit's body is never empty")


@dataclass(frozen=True, slots=True, kw_only=True)
class Exclusion:
    """A piece of text that is not cut, the reason, and the rule that decided its status ("structure" if none did)."""

    start: int
    end: int
    line: int
    reason: str
    status_basis: str


@dataclass(frozen=True, slots=True, kw_only=True)
class NonContent:
    """A piece without law: `blank`, a `byte_order_mark`, or the line of a `group_header` that is no unit."""

    start: int
    end: int
    line: int
    kind: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """An observation about the text that the reader of the request should look at. `code` is its kind. A red finding
    refuses the cut until a person accepts it by its name.
    """

    code: str
    line: int
    message: str
    address: str | None = None
    severity: Severity = "info"

    @property
    def name(self) -> str:
        """The name that a person types to accept the finding: the kind and the address, or else the line."""
        return f"{self.code}:{self.address or f'LINE-{self.line}'}"


@dataclass(frozen=True, slots=True, kw_only=True)
class MarkRefusal:
    """Why this text is not cut, in one sentence with the remedy. `findings` holds the red findings that nobody
    accepted, if they are the reason. `then` is the command that the message names, if any.
    """

    code: str
    line: int | None
    message: str
    details: tuple[tuple[str, str], ...] = ()
    findings: tuple[Finding, ...] = ()
    then: str = ""


Part = Candidate | Exclusion | NonContent


@dataclass(frozen=True, slots=True, kw_only=True)
class Marking:
    """The partition of one region. The constructor refuses parts that do not cover the region exactly."""

    region_sha: str
    region_start: int
    region_end: int
    profile_id: str
    profile_sha256: str
    candidates: tuple[Candidate, ...]
    exclusions: tuple[Exclusion, ...]
    non_content: tuple[NonContent, ...]
    findings: tuple[Finding, ...]
    mark_digest: str
    accepted: tuple[tuple[str, str], ...] = ()
    """Names of the red findings that a person accepted, each with the reason."""

    @property
    def red(self) -> dict[str, Finding]:
        """The red findings by their names, accepted or not."""
        return {finding.name: finding for finding in self.findings if finding.severity == "red"}

    @property
    def unaccepted(self) -> tuple[Finding, ...]:
        """Red findings that nobody accepted. No gate passes a marking that has such a finding."""
        names = {name for name, _ in self.accepted}
        return tuple(finding for finding in self.red.values() if finding.name not in names)

    @property
    def findings_digest(self) -> str:
        """The digest of every finding with its severity and place, and of every acceptance with its reason."""
        return canonical_digest(
            {
                "v": FINDINGS_VERSION,
                "findings": [[item.severity, item.code, item.line, item.address] for item in self.findings],
                "accepted": [list(pair) for pair in self.accepted],
            }
        )

    def __post_init__(self) -> None:
        position = self.region_start
        for part in self.parts():
            if part.start != position or part.end <= part.start:
                raise ProgrammingError(f"line {part.line}: byte {position} belongs to no part or to two")
            position = part.end
        if position != self.region_end:
            raise ProgrammingError(f"byte {position} belongs to no part")
        addresses: set[str] = set()
        for unit in self.candidates:
            if unit.address in addresses:
                raise ProgrammingError(f"line {unit.line}: {unit.address} is given twice")
            if unit.parent_address is not None and unit.parent_address not in addresses:
                raise ProgrammingError(f"line {unit.line}: the parent of {unit.address} does not precede it")
            addresses.add(unit.address)
        if self.mark_digest != mark_digest(self.candidates, self.exclusions):
            raise ProgrammingError("mark_digest is not the digest of these candidates and exclusions")

    def parts(self) -> tuple[Part, ...]:
        """Every piece of the region in the order of its bytes."""
        pieces: list[Part] = [*self.candidates, *self.exclusions, *self.non_content]
        return tuple(sorted(pieces, key=attrgetter("start")))

    def prove(self, data: bytes) -> None:
        """Prove the partition byte for byte against the document; raises ProgrammingError on the first difference."""
        region = data[self.region_start : self.region_end]
        if sha256_hex(region) != self.region_sha:
            raise ProgrammingError("these are not the marked bytes: region_sha differs")
        if b"".join(data[part.start : part.end] for part in self.parts()) != region:
            raise ProgrammingError("the parts do not give the region back")
        for gap in self.non_content:
            empty = b"\xef\xbb\xbf" if gap.kind == "byte_order_mark" else _BLANK
            if gap.kind != "group_header" and data[gap.start : gap.end].strip(empty):
                raise ProgrammingError(f"line {gap.line}: text was counted as {gap.kind}")


def mark_digest(candidates: tuple[Candidate, ...], exclusions: tuple[Exclusion, ...]) -> str:
    """The digest of the cut: (span, kind, level, address) of each unit, and the exclusions."""
    return canonical_digest(
        {
            "v": MARK_VERSION,
            "candidates": [
                [unit.start, unit.end, unit.unit_kind, unit.section_type, unit.level, unit.address]
                for unit in candidates
            ],
            "exclusions": [[piece.start, piece.end, piece.reason, piece.status_basis] for piece in exclusions],
        }
    )


def refusal(code: str, line: int | None, message: str, *, then: str = "", **details: object) -> MarkRefusal:
    """A refusal whose sentence begins with its line. `then` is the command that the message names, if any."""
    text = message if line is None else f"line {line}: {message}"
    pairs = tuple((key, str(value)) for key, value in sorted(details.items()))
    return MarkRefusal(code=code, line=line, message=text, details=pairs, then=then)


def finding(*, code: str, line: int, text: str, address: str | None = None, severity: Severity = "info") -> Finding:
    """A finding whose message begins with its line."""
    return Finding(code=code, line=line, message=f"line {line}: {text}", address=address, severity=severity)
