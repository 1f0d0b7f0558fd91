"""Markings that a test writes down unit by unit, so that the comparison is tried on cuts that no code made."""

from __future__ import annotations

from itertools import pairwise

from cutter.domain.digests import sha256_hex
from cutter.marking import Candidate, Exclusion, Finding, Marking
from cutter.marking.result import NonContent, mark_digest

Unit = tuple[int, str, str]
"""The line from 1, the address below `LAW/`, and the kind (`section_type`)."""


def marking(
    text: str, *units: Unit, contents: tuple[int, int] | None = None, findings: tuple[Finding, ...] = ()
) -> Marking:
    """The marking of a text by these units; `contents` are the first and the last line that it leaves out."""
    lines = text.split("\n")
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line.encode()) + 1)
    begins = sorted({1, *(line for line, _, _ in units), *((contents[0], contents[1] + 1) if contents else ())})
    ends = dict(pairwise([*begins, len(lines) + 1]))
    size = len(text.encode())
    made = {line: _unit(lines[line - 1], line, address, kind, starts[line - 1], min(starts[ends[line] - 1], size))
            for line, address, kind in units}  # fmt: skip
    left_out = [Exclusion(start=starts[contents[0] - 1], end=starts[contents[1]], line=contents[0],
                          reason="table_of_contents", status_basis="structure")] if contents else []  # fmt: skip
    known = {*made, *(piece.line for piece in left_out)}
    blanks = [NonContent(start=starts[line - 1], end=min(starts[ends[line] - 1], size), line=line, kind="blank")
              for line in begins if line not in known and line <= len(lines)]  # fmt: skip
    candidates = tuple(made[line] for line, _, _ in units)
    return Marking(
        region_sha=sha256_hex(text.encode()), region_start=0, region_end=size, profile_id="test",
        profile_sha256="0" * 64,
        candidates=candidates, exclusions=tuple(left_out), non_content=tuple(blanks), findings=findings,
        mark_digest=mark_digest(candidates, tuple(left_out)),
    )  # fmt: skip


def _unit(text: str, line: int, address: str, kind: str, start: int, end: int) -> Candidate:
    parent, _, _ = address.rpartition("/")
    _, _, ordinal = address.partition("~")
    return Candidate(
        address=f"LAW/{address}", parent_address=f"LAW/{parent}" if parent else None, unit_kind="law_unit",
        section_type=kind, publication_type="law", owner="council", title=text.strip("#* \r"), start=start, end=end,
        line=line, level=address.count("/") + 1, ordinal=int(ordinal or 1),
    )  # fmt: skip


def line_of(text: str, beginning: str, occurrence: int = 1) -> int:
    """The number of the line that begins so."""
    numbers = [number for number, line in enumerate(text.split("\n"), 1) if line.startswith(beginning)]
    return numbers[occurrence - 1]
