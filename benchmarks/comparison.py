"""Pure: compares a marking with the outline of an independent parser, and names the first difference by its shape."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

from benchmarks.outline import Entry, Outline, letters
from cutter.marking import Candidate, Exclusion, Finding, Marking, MarkRefusal

Verdict = Literal["right", "refused for its numbers", "refused though right", "refused", "flagged", "silent"]

_NOTES = frozenset({"heading_only"})
"""Amber findings that say nothing about where units begin and who their parents are."""

_NUMBERS = frozenset({"number_missing", "number_repeated", "number_backwards"})
"""Red findings about the numbers of headings, which the outline can confirm."""

_NUMBERED = re.compile(r"(?P<word>[^\d]{0,24}?)[ \u00a0]*(?P<number>[0-9]{1,5}|[IVXLC]{1,7})(?![\w])")
_LINE_IN_MESSAGE = re.compile(r"\bline (?P<line>[0-9]{1,7})\b")
"""A place that a finding names beside its own."""

_ROMAN = {"I": 1, "V": 5, "X": 10, "L": 50, "C": 100}

_COMPARED_CHARACTERS = 200
"""Titles are cut; their beginnings are compared."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """What a marking makes of a law. `shape` names a refusal's code or the first difference; `line` is its line.

    `difference` is the first difference of a cut that a red finding refuses; empty for a false alarm. `finding` is the
    name of the finding that refuses the cut or flags the difference. `unnamed` is True if a finding refuses a cut that
    differs, and no finding names the place of the first difference.
    """

    verdict: Verdict
    shape: str = ""
    line: int | None = None
    units: int = 0
    expected: int = 0
    difference: str = ""
    finding: str = ""
    unnamed: bool = False


def compare(result: Marking | MarkRefusal, expected: Outline) -> Comparison:
    """Compare an examined cut, whose red findings refuse it in every command that registers or cuts.

    Refused where it differs; refused for its numbers where it does not, and the outline lacks, repeats or reverses
    the number too; else refused though right. Without a red finding it is right, flagged (a finding about its
    structure names the place of the first difference) or silently different.
    """
    count = len(expected.entries)
    if isinstance(result, MarkRefusal):
        return Comparison(verdict="refused", shape=result.code, line=result.line, expected=count, finding=result.code)
    units = len(result.candidates)
    shape, line = difference(result, expected)
    named = _finding_at(result, line) if line is not None else None
    if result.unaccepted:
        red = next((finding for finding in result.unaccepted if finding.code not in _NUMBERS), result.unaccepted[0])
        verdict: Verdict = "refused" if shape else _alarm(result, expected)
        return Comparison(verdict=verdict, shape=red.code, line=red.line, units=units, expected=count,
                          difference=shape, finding=red.name, unnamed=bool(shape) and named is None)  # fmt: skip
    verdict = "right" if not shape else "flagged" if named else "silent"
    return Comparison(verdict=verdict, shape=shape, line=line, units=units, expected=count,
                      finding=named.name if named else "")  # fmt: skip


def _finding_at(result: Marking, line: int) -> Finding | None:
    """The first finding about the structure that names a line, the unit that holds it, or the unit's parent."""
    unit = next((candidate for candidate in reversed(result.candidates) if candidate.line <= line), None)
    places = {unit.address, unit.parent_address} - {None} if unit else set()
    doubts = (finding for finding in result.findings if finding.severity != "info" and finding.code not in _NOTES)
    return next((doubt for doubt in doubts if line in _named_lines(doubt) or doubt.address in places), None)


def _named_lines(finding: Finding) -> set[int]:
    """The finding's own line and those that its message quotes."""
    return {finding.line, *(int(match["line"]) for match in _LINE_IN_MESSAGE.finditer(finding.message))}


def _alarm(result: Marking, expected: Outline) -> Verdict:
    """Whether each red finding of a cut that does not differ is about a number that is odd in the outline too."""
    odd = _odd_numbers(expected)
    true = all(finding.code in _NUMBERS and finding.line in odd for finding in result.unaccepted)
    return "refused for its numbers" if true else "refused though right"


def _odd_numbers(expected: Outline) -> set[int]:
    """Lines of headings whose number is not the next one after the heading before of the same word and depth."""
    last: dict[tuple[int, str], int] = {}
    odd: set[int] = set()
    for entry in expected.entries:
        match = _NUMBERED.match(entry.title)
        value = None if match is None else _value(match["number"])
        if match is None or value is None:
            continue
        key = entry.depth, letters(match["word"])
        if value != last.get(key, 0) + 1:
            odd.add(entry.line)
        last[key] = value
    return odd


def _value(written: str) -> int | None:
    """A number in digits or Roman numerals."""
    if written.isdecimal():
        return int(written)
    values = [_ROMAN[sign] for sign in written]
    return sum(-digit if digit < after else digit for digit, after in zip(values, [*values[1:], 0], strict=True))


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
