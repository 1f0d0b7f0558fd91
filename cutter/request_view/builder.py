"""Pure: builds the view of a request from the pinned bytes and their marking. Every machine builds the same view."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence

from cutter import limits
from cutter.domain.digests import sha256_hex
from cutter.marking import CutPlan, Marking, build_plan, numbers
from cutter.marking.result import Finding
from cutter.marking.revision import Base, RevisionPlan, plan_revision
from cutter.request_view.view import (
    OUTSIDE,
    AcceptedFinding,
    Digests,
    LeftOut,
    RequestView,
    SealedGate,
    ShownFinding,
    ShownUnit,
    StoredUnit,
)

_WORD = re.compile(r"[぀-ヿ㐀-鿿豈-﫿]|[^\W぀-ヿ㐀-鿿豈-﫿]+")
"""A word. Han and Kana have no spaces between words, so each of their characters counts as one word."""

_SHORT_TITLE = re.compile(r"\([^()]*[^\W\d_]{2}[^()]*?(\d+)\)$")
"""The number at the end of a short title in brackets, which ends the title of a law."""

_NUMBER = re.compile(r"(?:[A-Z]+(?:-[A-Z]+)*-)?(\d+[A-Z]*(?:-\d+[A-Z]*)*|[IVXLCDM]+|[A-Z])(~\d+)?")


def build_view(
    data: bytes,
    marking: Marking,
    *,
    docprefix: str,
    source_version_id: str,
    plan: CutPlan | None = None,
    stored: Iterable[StoredUnit] = (),
    sealed: Iterable[SealedGate] = (),
    law: Base | None = None,
    revision: RevisionPlan | None = None,
    effective_from: str | None = None,
    reason: str | None = None,
    registered: str | None = None,
    newer: str | None = None,
    removed_pages: str | None = None,
) -> RequestView:
    """The view of these bytes and their marking. Raises ProgrammingError if the marking is of other bytes.

    `stored` and `sealed` are the rows and the receipts that PostgreSQL holds after leg A. Before leg A both are empty.
    `plan` is the plan of exactly these bytes if the caller has built it already.
    `law` is the law in force that the text changes, None for a first cut. `revision` is the plan against that law if
    the caller has built it already. `registered` says who registered the text, and when.
    `newer` says that a newer version is registered, and `removed_pages` what the text lacks of the registered file.
    """
    plan = plan or build_plan(data, marking, docprefix=docprefix, source_version_id=source_version_id)
    revision = revision or (plan_revision(plan, law) if law else None)
    text = _Text(data)
    reasons = dict(marking.accepted)
    findings = tuple(_finding(finding, text, reasons) for finding in marking.findings)
    return RequestView(
        data=data,
        docprefix=docprefix,
        source_version_id=source_version_id,
        profile_id=marking.profile_id,
        digests=Digests(
            snapshot_sha256=sha256_hex(data),
            profile_sha256=marking.profile_sha256,
            region_sha=marking.region_sha,
            mark_digest=marking.mark_digest,
            writer_digest=(revision or plan).writer_digest,
            findings_digest=marking.findings_digest,
        ),
        units=tuple(_units(marking, plan, text, findings, {unit.address: unit for unit in stored})),
        left_out=tuple(_left_out(marking, text)),
        findings=findings,
        accepted=tuple(AcceptedFinding(name=name, because=because) for name, because in marking.accepted),
        sealed=tuple(sealed),
        revision=revision,
        effective_from=effective_from,
        reason=reason,
        registered=registered,
        newer=newer,
        removed_pages=removed_pages,
    )


class _Text:
    """The snapshot with the offset of each of its lines."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.begins = [0, *(match.end() for match in re.finditer(b"\n", data))]

    def line_at(self, offset: int) -> int:
        return bisect_right(self.begins, offset)

    def span(self, start: int, end: int) -> tuple[int, int]:
        """The first and the last line of a piece. The piece must not be empty."""
        return self.line_at(start), self.line_at(end - 1)

    def line(self, number: int) -> str:
        begin = self.begins[number - 1]
        end = self.data.find(b"\n", begin)
        return self.data[begin : end if end >= 0 else len(self.data)].decode("utf-8")


def _finding(finding: Finding, text: _Text, reasons: dict[str, str]) -> ShownFinding:
    return ShownFinding(
        severity=finding.severity,
        code=finding.code,
        name=finding.name,
        line=finding.line,
        address=finding.address,
        message=finding.message.removeprefix(f"line {finding.line}: "),
        excerpt=_shortened(text.line(min(finding.line, len(text.begins)))),
        because=reasons.get(finding.name) if finding.severity == "red" else None,
    )


def _units(
    marking: Marking, plan: CutPlan, text: _Text, findings: Sequence[ShownFinding], stored: dict[str, StoredUnit]
) -> Iterator[ShownUnit]:
    # A finding belongs to the unit that it names. If it names none, it belongs to the unit that holds its line.
    noticed: dict[str, list[int]] = {unit.address: [] for unit in marking.candidates}
    ordered = sorted(marking.candidates, key=lambda unit: unit.line)
    begins = [unit.line for unit in ordered]
    for place, finding in enumerate(findings):
        address = finding.address
        before = bisect_right(begins, finding.line)
        if address is None and before:
            address = ordered[before - 1].address
        if address in noticed:
            noticed[address].append(place)
    for position, (unit, row) in enumerate(zip(marking.candidates, plan.rows, strict=True), start=1):
        first, last = text.span(unit.start, unit.end)
        # The excerpt leaves out the heading and the lines that continue it.
        rest = row.body.lstrip().partition("\n")[2][: limits.EXCERPT_CHARACTERS * 4]
        excerpt = " ".join(line for line in rest.split("\n") if not line.lstrip().startswith("#"))
        yield ShownUnit(
            position=position, address=row.address, parent_address=row.parent_address, level=unit.level,
            unit_kind=row.unit_kind, section_type=row.section_type, publication_type=row.publication_type,
            owner=row.owner, title=row.title, number=_number(row.address, row.title), start=unit.start, end=unit.end,
            first_line=first, line=unit.line, last_line=last, words=len(_WORD.findall(row.body)),
            excerpt=_shortened(" ".join(excerpt.split())), body_sha256=row.body_sha256,
            findings=tuple(noticed[unit.address]), stored=stored.get(row.address),
        )  # fmt: skip


def _left_out(marking: Marking, text: _Text) -> Iterator[LeftOut]:
    pieces: list[tuple[int, int, str, str | None]] = [
        (piece.start, piece.end, piece.reason, piece.status_basis) for piece in marking.exclusions
    ]
    pieces += [(gap.start, gap.end, gap.kind, None) for gap in marking.non_content]
    pieces += [(0, marking.region_start, OUTSIDE, None), (marking.region_end, len(text.data), OUTSIDE, None)]
    for start, end, reason, basis in sorted(pieces):
        if start < end:
            first, last = text.span(start, end)
            yield LeftOut(
                start=start, end=end, first_line=first, last_line=last, reason=reason, status_basis=basis
            )  # fmt: skip


def _number(address: str, title: str) -> str | None:
    """The number in an address: `5` of `ARTICLE-5`, `II` of `CHAPTER-II`, None of `PREAMBLE`.

    The second unit with the same number keeps its `~2`. The year of a short title, such as `Act (UIG 2005)`, is no
    number. Neither is a note of the publisher, such as `(XXXX)`.
    """
    match = _NUMBER.fullmatch(address.rpartition("/")[2])
    if match is None or numbers.only_looks_roman(match[1]) or match[1] in _SHORT_TITLE.findall(title):
        return None
    return match[1] + (match[2] or "")


def _shortened(text: str) -> str:
    text = text.strip()
    if len(text) <= limits.EXCERPT_CHARACTERS:
        return text
    head, space, _ = text[: limits.EXCERPT_CHARACTERS].rpartition(" ")
    return f"{head if space else text[: limits.EXCERPT_CHARACTERS]}…"
