"""Pure: compares a marking with the outline of an independent parser, and names the first difference by its shape."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

from benchmarks.outline import Entry, Outline, letters
from cutter.marking import Candidate, Exclusion, Marking, MarkRefusal

Verdict = Literal["right", "refused", "flagged", "silent"]

FLAGGED_CODES = frozenset({"numbering_break", "numbering_backwards", "other_form", "status_conflict", "unclosed_block",
                           "duplicate_address"})  # fmt: skip
"""Findings about structure, for a marking whose findings have no severity."""

_COMPARED_CHARACTERS = 200
"""Titles are cut; their beginnings are compared."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """What a marking makes of a law. `shape` names a refusal's code or the first difference; `line` is its line."""

    verdict: Verdict
    shape: str = ""
    line: int | None = None
    units: int = 0
    expected: int = 0


def compare(result: Marking | MarkRefusal, expected: Outline) -> Comparison:
    """Right, refused, flagged (it differs and a finding says something about structure) or silently different."""
    count = len(expected.entries)
    if isinstance(result, MarkRefusal):
        return Comparison(verdict="refused", shape=result.code, line=result.line, expected=count)
    severities = {str(getattr(finding, "severity", "")) for finding in result.findings}
    if "red" in severities:
        red = next(finding for finding in result.findings if str(getattr(finding, "severity", "")) == "red")
        return Comparison(
            verdict="refused", shape=red.code, line=red.line, units=len(result.candidates), expected=count
        )
    shape, line = difference(result, expected)
    flagged = "amber" in severities or any(finding.code in FLAGGED_CODES for finding in result.findings)
    verdict: Verdict = "right" if not shape else "flagged" if flagged else "silent"
    return Comparison(verdict=verdict, shape=shape, line=line, units=len(result.candidates), expected=count)


def difference(result: Marking, expected: Outline) -> tuple[str, int | None]:
    """Shape and line of the first difference in headings, titles or parents; empty when there is none."""
    begins = {unit.line: unit for unit in result.candidates}
    entries = _with_merged_titles(_outside_contents(expected.entries, result), begins)
    lines = {entry.line for entry, _ in entries}
    for entry, title in entries:
        unit = begins.get(entry.line)
        if unit is None:
            return ("article_not_cut" if entry.plain else "heading_not_cut"), entry.line
        if not (_begins_with(unit.title, title) if entry.plain else _same_title(unit.title, title)):
            return "title_differs", entry.line
    extra = [
        unit for unit in result.candidates
        if unit.line not in lines and (expected.explicit or unit.section_type == "article")
    ]  # fmt: skip
    if extra:
        return "unit_without_heading", extra[0].line
    return _nesting(entries, begins, result)


def _outside_contents(entries: tuple[Entry, ...], result: Marking) -> tuple[Entry, ...]:
    """Entries without those of a table of contents that the marking left out."""
    parts = result.parts()
    spans = [
        (part.line, after.line) for part, after in pairwise(parts)
        if isinstance(part, Exclusion) and part.reason == "table_of_contents"
    ]  # fmt: skip
    return tuple(entry for entry in entries if not any(begin <= entry.line < end for begin, end in spans))


def _nesting(entries: list[tuple[Entry, str]], begins: dict[int, Candidate], result: Marking) -> tuple[str, int | None]:
    """The first unit whose parent is another one than the last shallower heading."""
    at = {unit.address: unit.line for unit in result.candidates}
    by_line = {entry.line: entry for entry, _ in entries}
    above = {unit.line: unit.parent_address for unit in result.candidates}
    parents = _parents(entries)
    for entry, _ in entries:
        parent = _line_of_parent(begins[entry.line], at, above, set(by_line))
        wanted = parents[entry.line]
        if parent != wanted and not (wanted is None and parent is not None and by_line[parent].is_title):
            return _nesting_shape(entry, parent, wanted, by_line), entry.line
    return "", None


def _line_of_parent(
    unit: Candidate, at: dict[str, int], above: dict[int, str | None], known: set[int]
) -> int | None:  # fmt: skip
    """Line of the nearest ancestor that the outline has too; a law with plain lines may have more levels than that."""
    address = unit.parent_address
    while address is not None and at[address] not in known:
        address = above[at[address]]
    return None if address is None else at[address]


def _nesting_shape(entry: Entry, parent: int | None, wanted: int | None, by_line: dict[int, Entry]) -> str:
    if parent is None:
        return "becomes_a_root"
    if wanted is None:
        return "root_inside_another"
    if by_line[parent].depth >= entry.depth:
        return "inside_a_deeper_or_equal_heading"
    return "under_another_ancestor"


def _parents(entries: list[tuple[Entry, str]]) -> dict[int, int | None]:
    parents: dict[int, int | None] = {}
    stack: list[tuple[int, int | None]] = []
    for entry, _ in entries:
        while stack and stack[-1][0] >= entry.depth:
            stack.pop()
        parents[entry.line] = stack[-1][1] if stack else None
        stack.append((entry.depth, None if entry.is_title else entry.line))
    return parents


def _with_merged_titles(entries: tuple[Entry, ...], begins: dict[int, Candidate]) -> list[tuple[Entry, str]]:
    """Entries with their titles; a heading that is the name of the one above it belongs to that one.

    That is so only if the unit's title is both texts and the second heading begins no unit.
    """
    kept: list[tuple[Entry, str]] = []
    for entry in entries:
        if kept and entry.line not in begins:
            above, title = kept[-1]
            unit = begins.get(above.line)
            both = f"{title} {entry.title}"
            if unit is not None and title == above.title and _same_title(unit.title, both):
                kept[-1] = (above, both)
                continue
        kept.append((entry, entry.title))
    return kept


def _same_title(title: str, expected: str) -> bool:
    """Equal letters; of long titles the beginning."""
    mine, theirs = letters(title)[:_COMPARED_CHARACTERS], letters(expected)[:_COMPARED_CHARACTERS]
    return mine == theirs


def _begins_with(title: str, expected: str) -> bool:
    """True when the title is the line, or goes on in the next one."""
    return letters(title).startswith(letters(expected)[:_COMPARED_CHARACTERS])
