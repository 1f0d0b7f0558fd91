"""Pure: marks a text by a profile, and compares the result with the lines that look like headings."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, replace

from cutter.limits import CANDIDATES_MAX
from cutter.marking.heading_lines import LikelyHeading
from cutter.marking.hierarchy import last_shallower, shallowest_at_first
from cutter.marking.options import Options
from cutter.marking.profile import Nesting, Profile
from cutter.marking.result import Candidate, Exclusion, Finding, Marking, MarkRefusal
from cutter.marking.splitter import examine
from cutter.marking.suggestion.evidence import Evidence
from cutter.marking.titles import cut_title

LENIENT = Options(duplicates="ordinal", empty="heading_only", max_candidates=CANDIDATES_MAX)
"""The options of a trial. They allow repeated and empty headings, so that one does not hide the other findings."""

_BREAKS = frozenset(
    {"numbering_break", "other_form", "number_missing", "number_repeated", "number_backwards", "kinds_mixed"}
)
"""Findings about numbers that do not follow each other. A profile without words has none of them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Unused:
    """A line that looks like a heading but begins no unit. `why` is `text`, `code_block` or `outstanding`."""

    line: int
    title: str
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """The outcome of a profile. It is shown even if `mark` would refuse the cut for its red findings.

    `nested_otherwise` counts the units whose parent is not the one that `#` gives.
    """

    profile: Profile
    result: Marking | MarkRefusal
    nested_otherwise: int
    breaks: int
    unused: tuple[Unused, ...]

    @property
    def units(self) -> int:
        return len(self.result.candidates) if isinstance(self.result, Marking) else 0

    @property
    def left_out(self) -> int:
        """Lines with a word and a number that begin no unit."""
        return sum(line.why == "text" for line in self.unused)

    @property
    def red(self) -> tuple[Finding, ...]:
        """The findings because of which `mark` refuses the cut."""
        return self.result.unaccepted if isinstance(self.result, Marking) else ()

    @property
    def cost(self) -> tuple[int, ...]:
        """A cost; smaller is better. The first criterion is no refusal, then the structure as written and used, then
        numbers in order.

        Red findings about numbers count last, because a profile that reads no words has none.
        """
        refused = int(isinstance(self.result, MarkRefusal))
        red = sum(finding.code not in _BREAKS for finding in self.red)
        return refused, self.nested_otherwise + self.left_out + red, self.breaks, -self.units


def try_profile(
    data: bytes, profile: Profile, docprefix: str, evidence: Evidence, first_line: int, nesting: Nesting | None = None
) -> Trial:
    """Mark the text by the profile and measure the result; `first_line` is the number of the region's first line."""
    result = examine(data, profile=profile, docprefix=docprefix, options=replace(LENIENT, nesting=nesting))
    if isinstance(result, MarkRefusal):
        return Trial(profile=profile, result=result, nested_otherwise=0, breaks=0, unused=())
    begins = {unit.line: unit for unit in result.candidates}
    named = _named_lines(evidence, begins, first_line)
    return Trial(
        profile=profile,
        result=result,
        nested_otherwise=_nested_otherwise(result, evidence, named, first_line),
        breaks=sum(finding.code in _BREAKS for finding in result.findings),
        unused=_unused(result, evidence, named, first_line),
    )


def _named_lines(evidence: Evidence, begins: dict[int, Candidate], first_line: int) -> dict[int, Candidate]:
    """The unit of each line that begins one, or that is the second line of its heading."""
    named: dict[int, Candidate] = {}
    last: Candidate | None = None
    for line in evidence.lines:
        number = first_line + line.index
        unit = begins.get(number)
        if unit is None and last is not None and last.title.endswith(cut_title(line.title)):
            unit = last if last.title != cut_title(line.title) else None
        if unit is not None:
            named[number] = unit
        last = unit if number in begins else None
    return named


def _nested_otherwise(result: Marking, evidence: Evidence, named: dict[int, Candidate], first_line: int) -> int:
    """Units written with `#` whose parent is not the last shallower heading; units without `#` may be in between."""
    written = [line for line in evidence.lines if line.form == "atx" and not line.hidden]
    titles = {line.index for line in written[: shallowest_at_first([line.depth for line in written])]}
    parents = {unit.address: unit.parent_address for unit in result.candidates}
    addresses: set[str] = set()
    headings: list[tuple[LikelyHeading, str | None]] = []
    for line in written:
        unit = named.get(first_line + line.index)
        if unit is None or unit.address not in addresses:  # else it is the second line of a heading
            headings.append((line, unit.address if unit else None))
            addresses.update([unit.address] if unit else [])
    wrong = 0
    above = last_shallower((line.depth, None if line.index in titles else address) for line, address in headings)
    for (_, address), shallower in zip(headings, above, strict=True):
        if address is not None:
            parent = parents[address]
            while parent is not None and parent not in addresses:
                parent = parents[parent]
            wrong += parent != shallower
    return wrong


def _unused(
    result: Marking, evidence: Evidence, named: dict[int, Candidate], first_line: int
) -> tuple[Unused, ...]:  # fmt: skip
    # the first line of each part, and whether it is excluded for what it is: a contents table, a draft row
    skipped = [
        (part.line, isinstance(part, Exclusion) and part.reason not in ("before_first_unit", "between_blocks"))
        for part in result.parts()
    ]
    unused = []
    for line in evidence.lines:
        number = first_line + line.index
        part = bisect_right(skipped, (number, True)) - 1
        if number not in named and not (part >= 0 and skipped[part][1]):
            why = "code_block" if line.hidden else "text" if line.form == "atx" or line.number else "outstanding"
            unused.append(Unused(line=number, title=cut_title(line.title), why=why))
    return tuple(unused)
