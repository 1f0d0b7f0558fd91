"""Pure: compares a marking with the outline of an independent parser, and names the first difference by its shape."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Literal

from benchmarks.outline import Entry, Outline, letters
from benchmarks.words import contradicts, head, names_an_annex
from cutter.marking import Candidate, Exclusion, Finding, Marking, MarkRefusal

Verdict = Literal[
    "right", "refused for its numbers", "refused though right", "refused", "flagged", "wrong kind", "silent"
]  # fmt: skip

_NOTES = frozenset({"heading_only", "duplicate_address"})
"""Amber findings that are no doubt about where units begin, who their parents are and whether their text is there."""

_NUMBERS = frozenset({"number_missing", "number_repeated", "number_backwards"})
"""Red findings about the numbers of headings, which the outline can confirm."""

_LINE_IN_MESSAGE = re.compile(r"\bline (?P<line>[0-9]{1,7})\b")
"""A place that a finding names beside its own."""

_COMPARED_CHARACTERS = 200
"""Titles are cut; their beginnings are compared."""


_PARTS_MIN = 3
"""From this number of chapters on whose paragraphs count on from one to the next, these are the sections."""

_BARE_MIN = 5

Difference = tuple[str, int]
"""The shape and the line of a place where a cut is not what the outline says."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """What a marking makes of a law. `shape` names a refusal's code or the first difference; `line` is its line.

    `difference` is the first difference of a cut that a red finding refuses; empty for a false alarm. `finding` is the
    name of the finding that refuses the cut or flags the difference. `unnamed` is True if a finding refuses a cut that
    differs, and no finding names the place of the first difference. `wrong_kinds` counts the units of any cut whose
    kind contradicts the word of their heading.
    """

    verdict: Verdict
    shape: str = ""
    line: int | None = None
    units: int = 0
    expected: int = 0
    difference: str = ""
    finding: str = ""
    unnamed: bool = False
    wrong_kinds: int = 0


def compare(result: Marking | MarkRefusal, expected: Outline) -> Comparison:
    """Compare an examined cut, whose red findings refuse it in every command that registers or cuts.

    Refused where it differs; refused for its numbers where it does not, and the outline lacks, repeats or reverses
    the number too; else refused though right. Without a red finding it is silently different if no finding about its
    structure names the place of a difference, else of a wrong kind if a kind contradicts its heading, else flagged if
    it differs, else right.
    """
    count = len(expected.entries)
    if isinstance(result, MarkRefusal):
        return Comparison(verdict="refused", shape=result.code, line=result.line, expected=count, finding=result.code)
    units = len(result.candidates)
    groups = {unit.parent_address for unit in result.candidates if _is_article(unit)}
    wrong = [unit for unit in result.candidates
             if contradicts(unit.title, unit.section_type, holds_articles=unit.address in groups)]  # fmt: skip
    common: dict[str, Any] = {"units": units, "expected": count, "wrong_kinds": len(wrong)}
    places = [(shape, line, _finding_at(result, line)) for shape, line in differences(result, expected)]
    if result.unaccepted:
        red = next((finding for finding in result.unaccepted if finding.code not in _NUMBERS), result.unaccepted[0])
        verdict: Verdict = "refused" if places else _alarm(result, expected)
        return Comparison(verdict=verdict, shape=red.code, line=red.line, difference=places[0][0] if places else "",
                          finding=red.name, unnamed=bool(places) and places[0][2] is None, **common)  # fmt: skip
    shape, line, named = next((row for row in places if row[2] is None), places[0] if places else ("", None, None))
    if shape and named is None:
        return Comparison(verdict="silent", shape=shape, line=line, **common)
    if wrong:
        return Comparison(verdict="wrong kind", shape="wrong_kind", line=wrong[0].line, **common)
    verdict = "flagged" if shape else "right"
    return Comparison(verdict=verdict, shape=shape, line=line, finding=named.name if named else "", **common)


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
    last: dict[tuple[float, str], int] = {}
    odd: set[int] = set()
    for entry in expected.entries:
        known = head(entry.title)
        if known is None or known.value is None:
            continue
        key = entry.depth, known.word
        if known.value != last.get(key, 0) + 1:
            odd.add(entry.line)
        last[key] = known.value
    return odd


def difference(result: Marking, expected: Outline) -> tuple[str, int | None]:
    """Shape and line of the first difference; empty when there is none."""
    return next(differences(result, expected), ("", None))


def differences(result: Marking, expected: Outline) -> Iterator[Difference]:
    """The first difference of each sort: headings and titles, parents, other documents, addresses and lost texts."""
    for look in (_contents, _headings, _other_documents, _addresses, _nesting, _smaller_parents, _sections_as_text):
        if place := look(result, expected):
            yield place
    if expected.empty and any(unit.line in expected.empty for unit in result.candidates):
        yield "article_without_text", expected.empty[0]


def _contents(result: Marking, _: Outline) -> Difference | None:
    """A table of contents that holds more than the units do."""
    size = sum(unit.end - unit.start for unit in result.candidates)
    for piece in result.exclusions:
        if piece.reason == "table_of_contents" and piece.end - piece.start > size:
            return "contents_hold_the_law", piece.line
    return None


def _headings(result: Marking, expected: Outline) -> Difference | None:
    """The first heading that is no unit or has another title, or the first unit that is no heading."""
    begins = {unit.line: unit for unit in result.candidates}
    entries = _compared(result, expected)
    for entry, title in entries:
        if entry.name_of is not None and entry.line in begins:
            return "name_is_a_unit", entry.line
        unit = _unit_of(entry, begins)
        if unit is None:
            return ("article_not_cut" if entry.plain else "heading_not_cut"), entry.line
        if not _has_title(unit, entry, title):
            return "title_differs", entry.line
    lines = {entry.line for entry, _ in entries} | {entry.above for entry, _ in entries}
    lines |= {entry.line for entry in expected.entries if entry.loose}
    first_region = min([*expected.regions, *(run[0] for run in expected.apart)], default=None)
    for unit in result.candidates:
        if unit.line in lines or (first_region is not None and unit.line >= first_region):
            continue
        if expected.explicit or unit.section_type == "article" or _is_article(unit):
            return "unit_without_heading", unit.line
    return None


def _has_title(unit: Candidate, entry: Entry, title: str) -> bool:
    known = head(entry.title)
    if entry.plain and known is not None and known.role == "bare":
        return str(known.value) in unit.title
    return _begins_with(unit.title, title) if entry.plain else _same_title(unit.title, title)


def _unit_of(entry: Entry, begins: dict[int, Candidate]) -> Candidate | None:
    unit = begins.get(entry.line)
    return unit if unit is not None or entry.above is None else begins.get(entry.above)


def _compared(result: Marking, expected: Outline) -> list[tuple[Entry, str]]:
    """The headings with their titles, without those of the contents and quoted ones that begin no unit."""
    begins = {unit.line: unit for unit in result.candidates}
    entries = tuple(
        entry for entry in _outside_contents(expected.entries, result) if not entry.loose or entry.line in begins
    )  # fmt: skip
    return _with_merged_titles(entries, begins)


def _outside_contents(entries: tuple[Entry, ...], result: Marking) -> tuple[Entry, ...]:
    """Entries without those of a table of contents that the marking left out: their titles come again after it."""
    parts = result.parts()
    spans = [
        (part.line, after.line) for part, after in pairwise(parts)
        if isinstance(part, Exclusion) and part.reason == "table_of_contents"
    ]  # fmt: skip
    inside = {entry.line for entry in entries if any(begin <= entry.line < end for begin, end in spans)}
    later = {letters(entry.title) for entry in entries if entry.line not in inside}
    return tuple(entry for entry in entries if entry.line not in inside or letters(entry.title) not in later)


def _other_documents(result: Marking, expected: Outline) -> Difference | None:
    """An article that holds another document, or a second document whose articles are cut in part or among others."""
    begins = {unit.line: unit for unit in result.candidates}
    own = {entry.line for entry in expected.entries if entry.plain or _is_article_title(entry.title)}
    holders = {unit.address for unit in result.candidates if unit.line in own}
    above = {unit.address: unit.parent_address for unit in result.candidates}
    for run in expected.apart:
        for line in run:
            if _inside(_holder(result, line), holders - {_address_at(begins, line)}, above):
                return "second_document_in_an_article", line
        cut = [line for line in run if line in begins]
        missing = [line for line in run if line not in begins]
        if cut and missing:
            return "article_not_cut", missing[0]
        parents = Counter(begins[line].parent_address for line in own if line in begins)
        if cut and parents[begins[cut[0]].parent_address] > 1:
            return "second_document_among_the_articles", cut[0]
    return _in_last_article(result, expected)


def _in_last_article(result: Marking, expected: Outline) -> Difference | None:
    """The title of another document, or a new count of articles, in the text of the last article before the annexes."""
    units = result.candidates
    last = next((place for place in range(len(units) - 1, -1, -1) if units[place].section_type != "appendix"), None)
    if last is None or _under_a_region(units[last], result, expected):
        return None
    unit = units[last]
    known = head(unit.title)
    if known is not None and known.role in ("group", "annex"):
        return None
    if known is None and unit.section_type != "article":
        return None
    end = units[last + 1].line if last + 1 < len(units) else float("inf")
    for region in expected.regions:
        if unit.line < region < end:
            return "document_in_the_last_article", region
    for kind, run in expected.counts:
        if known is not None and kind == known.kind and unit.line < run[0] and run[1] < end:
            return "new_count_in_the_last_article", run[0]
    return None


def _under_a_region(unit: Candidate, result: Marking, expected: Outline) -> bool:
    """True for a unit that begins at the title of another document, or below one."""
    units = {other.address: other for other in result.candidates}
    address: str | None = unit.address
    while address is not None:
        holder = units[address]
        if holder.line in expected.regions or holder.section_type == "appendix" or names_an_annex(holder.title):
            return True
        address = units[address].parent_address
    return False


def _holder(result: Marking, line: int) -> str | None:
    """The address of the unit in whose text a line is."""
    unit = next((unit for unit in reversed(result.candidates) if unit.line <= line), None)
    return None if unit is None else unit.address


def _address_at(begins: dict[int, Candidate], line: int) -> str | None:
    return begins[line].address if line in begins else None


def _inside(address: str | None, holders: set[str | None] | set[str], above: dict[str, str | None]) -> bool:
    while address is not None:
        if address in holders:
            return True
        address = above[address]
    return False


def _addresses(result: Marking, _: Outline) -> Difference | None:
    """The first numbered unit whose address another unit would have too; a red finding says that of a text's number."""
    if any(finding.code == "number_repeated" for finding in result.red.values()):
        return None
    for unit in result.candidates:
        known = head(unit.title)
        if unit.ordinal > 1 and known is not None and known.role != "bare":
            return "address_repeated", unit.line
    return None


def _smaller_parents(result: Marking, _: Outline) -> Difference | None:
    """An article inside a `§` that is no group of articles: the count of `§` does not begin with 1."""
    units = {unit.address: unit for unit in result.candidates}
    first: dict[str | None, int | None] = {}
    for unit in result.candidates:
        known = head(unit.title)
        if known is not None and known.word.startswith("§"):
            first.setdefault(unit.parent_address, known.value)
    for unit in result.candidates:
        known = head(unit.title)
        if known is None or known.role != "article" or known.word.startswith("§") or unit.parent_address is None:
            continue
        parent = units[unit.parent_address]
        of_parent = head(parent.title)
        if of_parent is not None and of_parent.word.startswith("§") and first.get(parent.parent_address) != 1:
            return "article_inside_a_smaller_part", unit.line
    return None


def _sections_as_text(result: Marking, expected: Outline) -> Difference | None:
    """Numbered paragraphs that count on from chapter to chapter and are no units."""
    begins = {unit.line for unit in result.candidates}
    text = [line for line in expected.bare if line not in begins]
    if len(text) < _BARE_MIN or len(text) * 2 < len(expected.bare):
        return None
    units = {unit.address: unit for unit in result.candidates}
    held = [units[address] for line in text if (address := _holder(result, line)) is not None]
    groups = {unit.address for unit in held if (known := head(unit.title)) is not None and known.role == "group"}
    if len(groups) >= _PARTS_MIN and all(unit.address in groups for unit in held):
        return "sections_not_cut", text[0]
    return None


def _is_article(unit: Candidate) -> bool:
    return _is_article_title(unit.title)


def _is_article_title(title: str) -> bool:
    known = head(title)
    return known is not None and known.role == "article"


def _nesting(result: Marking, expected: Outline) -> Difference | None:
    """The first unit whose parent is another one than the last shallower heading."""
    cut = {unit.line: unit for unit in result.candidates}
    entries = [(entry, title) for entry, title in _compared(result, expected) if _unit_of(entry, cut) is not None]
    begins = {entry.line: unit for entry, _ in entries if (unit := _unit_of(entry, cut)) is not None}
    at = {unit.address: line for line, unit in begins.items()}
    by_line = {entry.line: entry for entry, _ in entries}
    above = {unit.address: unit.parent_address for unit in result.candidates}
    parents = _parents(entries)
    for entry, _ in entries:
        parent = _line_of_parent(begins[entry.line], at, above)
        wanted = parents[entry.line]
        if entry.loose or (entry.inner and parent is not None and parent == wanted):
            continue
        if parent != wanted and not (wanted is None and parent is not None and by_line[parent].is_title):
            return _nesting_shape(entry, parent, wanted, by_line), entry.line
    return None


def _line_of_parent(unit: Candidate, at: dict[str, int], above: dict[str, str | None]) -> int | None:
    """Line of the nearest ancestor that the outline has too; a law with plain lines may have more levels than that."""
    address = unit.parent_address
    while address is not None and address not in at:
        address = above[address]
    return None if address is None else at[address]


def _nesting_shape(entry: Entry, parent: int | None, wanted: int | None, by_line: dict[int, Entry]) -> str:
    if entry.inner:
        return "kinds_flat"
    if parent is None:
        return "becomes_a_root"
    if wanted is None:
        return "root_inside_another"
    if by_line[parent].depth >= entry.depth:
        return "inside_a_deeper_or_equal_heading"
    return "under_another_ancestor"


def _parents(entries: list[tuple[Entry, str]]) -> dict[int, int | None]:
    parents: dict[int, int | None] = {}
    stack: list[tuple[float, int | None]] = []
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
