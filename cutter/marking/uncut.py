"""Pure: findings about text that looks like a heading, headings that look like text, and units that are too large."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import pairwise
from statistics import median

from cutter.domain.amounts import counted
from cutter.limits import (
    GIANT_ITEM_BYTES,
    GIANT_UNIT_BYTES,
    GIANT_UNIT_ITEMS,
    GIANT_UNIT_RATIO,
    LIKELY_HEADING_BYTES,
    SHORT_TITLE_BYTES,
)
from cutter.marking.heading_lines import NEVER, HeadingLine, begins_like_heading, heading_lines, read_line
from cutter.marking.hierarchy import Node
from cutter.marking.lines import FENCE, INDENTED, Lines
from cutter.marking.number_order import repeal_note
from cutter.marking.result import Candidate, Finding, finding
from cutter.marking.spans import Pieces

_EXAMPLES = 4
"""The most lines that a message quotes."""

TEXT_OUTSIDE = "text_outside"
"""The finding of a text that is mostly in no unit."""

_NO_UNIT = ("before_first_unit", "between_blocks")
"""The reasons of exclusions that may hide text of the law."""

_RUN = 3
"""The number of successive lines that must count up by one. Fewer may be cross-references at the start of a line."""


_HEADING_IN_LINE = re.compile(rb"(?:[\r\x0b\x0c]|\xc2\x85|\xe2\x80[\xa8\xa9]) {0,3}#{1,6}[ \t]+[^\s#]")

_OTHER_BREAKS = (b"\r", b"\x0b", b"\x0c", b"\xc2\x85", b"\xe2\x80\xa8", b"\xe2\x80\xa9")
"""The line breaks of that expression. Most texts have none, and a search for each is cheaper than the expression."""

_ITEM = re.compile(
    rb"[ \t]{0,8}(?:[-*+][ \t]{1,4})?(?:\*\*|__|\*|_)?(?P<open>[(\[]?)(?:(?P<number>[0-9]{1,3})|(?P<letter>[a-z]))"
    rb"(?P<inserted>(?:[a-z]|\^[0-9]{1,2})?)(?P<end>[.)\]])(?=[*_ \t]|\xc2\xa0)"
)
"""The mark of an item of a list, such as `1.`, `(2a)` or `- b)`."""

_Mark = tuple[bytes, bool, bytes]
"""What comes before a number or letter of a list, whether it is a number, and what comes after it."""

_NUMBERED_TITLE = re.compile(rb" {0,3}(?:\*\*)?(?P<number>[0-9]{1,3})\.[ \t]+(?:[A-Z]|[\xc3-\xf4])[^.;:]{1,80}")
"""A line such as `12. Commencement`."""

_BOLD_LINE = re.compile(rb"[ \t]*(?:\*\*|__)[^*_]{1,160}(?:\*\*|__)[ \t\r]*$")

_ENDS = (b".", b":", b";", b"!", b"?", b'"', b"*", b"_", "”".encode(), "»".encode(), "“".encode())
"""What the last line of a paragraph ends with, if it is a sentence or a note."""

_RUN_IN = re.compile(rb"[*_ \t]*[A-Z][^#]*\xc2\xa7 ?1(?![0-9])")
"""The line of an article that begins with its word and holds its first paragraph: `**Art. 1.** § 1. …`"""

_RUN_IN_LINES = 40
"""How far above its second paragraph the line of an article is looked for."""

_TABLE = re.compile(rb"[ \t]*(?:\||\*[ \t]{3}|\+[-=])|[ \t]{8}")
_QUOTE = re.compile(rb"[ \t]*(?:[\"']|\xe2\x80[\x98\x9a\x9c\x9e]|\xc2\xab)")


def uncut_findings(
    nodes: list[Node], pieces: Pieces, known: frozenset[int], skipped: frozenset[int]
) -> Iterator[Finding]:
    """Lines that look like headings but are in no unit's heading. `known` has the indexes of lines that are left out on
    purpose or that another finding names, `skipped` those that are not part of the law.
    """
    lines = pieces.lines
    headings = {index for node in nodes for index in range(node.heading.index, node.heading.last + 1)}
    text: dict[tuple[str, str], list[HeadingLine]] = defaultdict(list)
    cut: dict[tuple[str, str], list[HeadingLine]] = defaultdict(list)
    for line in heading_lines(lines):
        if line.index in skipped:
            continue
        if line.index in headings:
            cut[line.kind, line.series].append(line)
        elif line.index not in known:
            # A note in brackets that headings were repealed is no heading, and explains their missing numbers.
            note = repeal_note(lines.lines[line.index])
            if note is None or not note.closed:
                text[line.kind, line.series].append(line)
    yield from _in_lines(pieces)
    fenced = [line for group in text.values() for line in group if line.opaque == FENCE and line.strong]
    if fenced:
        yield _finding("heading_in_fence", sorted(fenced, key=lambda line: line.index), pieces, "inside a code fence, "
                       "where nothing is cut; remove the fence marks (``` or ~~~) around them")  # fmt: skip
    numbered = any(node.heading.number is not None for node in nodes) or any(kind == "article" for kind, _ in cut)
    yield from _runs(text, cut, pieces, numbered=numbered)
    levels = [node.heading.level for node in nodes if node.heading.number is not None]
    smallest = any(level is None or level.section_type == "article" for level in levels)
    if not smallest and not any(kind in ("article", "section") for kind, _ in cut):
        yield from _numbered_titles([i for i in range(len(lines.lines)) if i not in skipped | headings], pieces)


def _in_lines(pieces: Pieces) -> Iterator[Finding]:
    """Headings after a line break other than LF, which Markdown readers show and marking does not cut."""
    lines = pieces.lines
    if not any(sign in lines.data for sign in _OTHER_BREAKS):
        return
    indexes = [i for i, line in enumerate(lines.lines) if not lines.opaque[i] and _HEADING_IN_LINE.search(line)]
    if indexes:
        yield finding(
            code="heading_in_line", line=lines.number(indexes[0]), address=_address(pieces, indexes[0]), severity="red",
            text=f"{counted(len(indexes), 'line')} with a heading after a line break that is no LF, where nothing is "
            "cut; save the text with LF line ends",
        )  # fmt: skip


def _runs(
    text: dict[tuple[str, str], list[HeadingLine]],
    cut: dict[tuple[str, str], list[HeadingLine]],
    pieces: Pieces,
    *,
    numbered: bool,
) -> Iterator[Finding]:
    """`numbered` is False if no unit has a number. Then even a single line that looks like an article counts."""
    uncut: list[HeadingLine] = []
    absorbed: list[HeadingLine] = []
    for key, group in text.items():
        open_lines = [line for line in group if line.opaque != FENCE]
        run = _longest_run(open_lines)
        numbers_cut = {line.value for line in cut.get(key, ())}
        alone = not numbered and key[0] == "article" and any(line.strong for line in open_lines)
        pair = len(run) == _RUN - 1 and run[0].value == 1 and all(line.strong for line in run)
        if run and _follows_a_run_in_first(run[0], pieces.lines):
            continue
        if (alone or pair or len(run) >= _RUN) and not {line.value for line in run} <= numbers_cut:
            uncut.extend(run)
        else:
            around = cut.get(key, [])
            absorbed.extend({*_absorbed(open_lines, around), *_filling(open_lines, around, pieces.lines)})
    if uncut:
        problem = "begins like a heading and is text" if len(uncut) == 1 else "begin like headings and are text"
        again = "`cutter profile suggest FILE --refine 'line N is a KIND'` with a kind such as section"
        lines = sorted(uncut, key=lambda line: line.index)
        yield _finding("looks_uncut", lines, pieces, f"{problem}; put # before them, or type {again}")
    for line in sorted(absorbed, key=lambda line: line.index):
        yield _finding("heading_absorbed", [line], pieces, "continues the numbering of the headings around it, but is "
                       "part of the text of the unit before it; write it as a heading like them")  # fmt: skip


def _follows_a_run_in_first(line: HeadingLine, lines: Lines) -> bool:
    """True for `§2.` below `Art. 1. … § 1. …`: the paragraphs of an article, whose first is in the article's line."""
    if line.value != 2 or not line.text.startswith("§"):
        return False
    above = lines.lines[max(line.index - _RUN_IN_LINES, 0) : line.index]
    return any(_RUN_IN.match(text) for text in above)


def _numbered_titles(indexes: Iterable[int], pieces: Pieces) -> Iterator[Finding]:
    """Short lines such as `12. Commencement` that count up, in a law in which no article has a number."""
    lines = pieces.lines
    titles = [
        HeadingLine(index=index, kind="title", series="", value=int(match["number"]), strong=True,
                    text=match.group().decode("utf-8", "ignore"), opaque=lines.opaque[index])
        for index in indexes
        if not lines.opaque[index] and (match := _NUMBERED_TITLE.match(lines.lines[index]))
    ]  # fmt: skip
    alone = [line for line in titles if _may_be_a_heading(line, lines) and _is_last_of_paragraph(line.index, lines)]
    run = _longest_run(alone)
    if len(run) >= _RUN:
        yield _finding("looks_uncut", run, pieces, "begin with a number and a title and are text, and no article "
                       "of this law has a number; put # before the lines that are headings")  # fmt: skip


def _is_last_of_paragraph(index: int, lines: Lines) -> bool:
    """True if text follows that is not the next item of a list: after an empty line, or below a short title."""
    following = lines.lines[index + 1 : index + 3]
    if following and following[0].strip():
        return len(lines.lines[index]) <= SHORT_TITLE_BYTES and following[0][:1].isupper()
    return len(following) == 2 and bool(following[1].strip()) and not _NUMBERED_TITLE.match(following[1])


def _longest_run(lines: list[HeadingLine]) -> list[HeadingLine]:
    """The longest chain of lines, in order, whose numbers count up by one."""
    best: dict[int, int] = {}
    before: list[int] = []
    lengths: list[int] = []
    last_of: dict[int, int] = {}
    for position, line in enumerate(lines):
        link = last_of.get(line.value - 1, -1)
        before.append(link)
        lengths.append(1 + (lengths[link] if link >= 0 else 0))
        if lengths[position] >= best.get(line.value, 0):
            best[line.value], last_of[line.value] = lengths[position], position
    at = max(range(len(lines)), key=lengths.__getitem__, default=-1)
    chain = []
    while at >= 0:
        chain.append(lines[at])
        at = before[at]
    return chain[::-1]


def _absorbed(uncut_lines: list[HeadingLine], cut: list[HeadingLine]) -> Iterator[HeadingLine]:
    """Strong lines whose number is next to that of the heading before or after them, and is of no heading."""
    starts = [line.index for line in cut]
    numbers = {line.value for line in cut}
    for line in uncut_lines:
        position = bisect_right(starts, line.index) - 1
        follows = position >= 0 and cut[position].value + 1 == line.value
        precedes = position + 1 < len(cut) and cut[position + 1].value - 1 == line.value
        if line.strong and line.opaque != INDENTED and line.value not in numbers and (follows or precedes):
            yield line


def _filling(uncut_lines: list[HeadingLine], cut: list[HeadingLine], lines: Lines) -> Iterator[HeadingLine]:
    """Lines, also weak ones, whose numbers are exactly those that are missing between two successive headings."""
    likely = [
        line for line in uncut_lines if line.opaque != INDENTED and (line.strong or _may_be_a_heading(line, lines))
    ]
    starts = [line.index for line in likely]
    for before, after in pairwise(cut):
        between = likely[bisect_right(starts, before.index) : bisect_right(starts, after.index)]
        chain: list[HeadingLine] = []
        for line in between:
            if line.value == before.value + 1 + len(chain) < after.value:
                chain.append(line)
        if chain and len(chain) == after.value - before.value - 1:
            yield from chain


def _may_be_a_heading(line: HeadingLine, lines: Lines) -> bool:
    """True for a short line after an empty line that does not end like a sentence or a part of one."""
    text = lines.lines[line.index].strip()
    after_space = line.index == 0 or not lines.lines[line.index - 1].strip()
    return after_space and len(text) <= LIKELY_HEADING_BYTES and text[-1:] not in (b".", b",", b";", b":")


def _finding(code: str, uncut_lines: list[HeadingLine], pieces: Pieces, problem: str) -> Finding:
    first, examples = uncut_lines[0].index, _examples([(line.index, line.text) for line in uncut_lines], pieces.lines)
    return finding(
        code=code, line=pieces.lines.number(first), address=_address(pieces, first), severity="red",
        text=f"{counted(len(uncut_lines), 'line')} {problem}: {examples}",
    )  # fmt: skip


def _address(pieces: Pieces, index: int) -> str | None:
    unit = pieces.unit(index)
    return unit.address if unit else None


def _examples(texts: list[tuple[int, str]], lines: Lines) -> str:
    """The first texts with their lines, and the number of the others."""
    shown = ", ".join(f"{text!r} (line {lines.number(index)})" for index, text in texts[:_EXAMPLES])
    return shown + (f" and {len(texts) - _EXAMPLES} more" if len(texts) > _EXAMPLES else "")


def mixed_forms(nodes: Sequence[Node], pieces: Pieces) -> Iterator[Finding]:
    """Amber finding: some of the smallest numbered units have `#` and others have none, such as an annexed treaty."""
    smallest: dict[bool, int] = {True: 0, False: 0}
    first: dict[bool, Candidate] = {}
    parents = {node.parent for node in nodes}
    for position, (node, unit) in enumerate(zip(nodes, pieces.candidates, strict=True)):
        if node.heading.number is not None:
            with_hashes = node.heading.form == "atx"
            first.setdefault(with_hashes, unit)
            smallest[with_hashes] += position not in parents
    if all(smallest.values()):
        later = max(first, key=lambda form: first[form].line)
        unit = first[later]
        yield finding(
            code="forms_mixed", line=unit.line, address=unit.address, severity="amber",
            text=f"the first numbered heading {'with' if later else 'without'} #; of the smallest numbered units "
            f"{smallest[True]} have # and {smallest[False]} have none; are all of them units of this law?",
        )  # fmt: skip


def text_outside(pieces: Pieces) -> Iterator[Finding]:
    """Amber finding: more text is outside the units than in them, without what is left out for what it is. A table of
    contents that is larger than all units is red.
    """
    outside = [piece for piece in pieces.exclusions if piece.reason in _NO_UNIT]
    size = sum(piece.end - piece.start for piece in outside)
    cut = sum(unit.end - unit.start for unit in pieces.candidates)
    for piece in pieces.exclusions:
        if piece.reason == "table_of_contents" and piece.end - piece.start > cut:
            yield finding(
                code="contents_too_large", line=piece.line, severity="red",
                text=f"the table of contents has {piece.end - piece.start} bytes, more than all units; the law may be "
                "in it. Write `#` before the first heading after the table",
            )  # fmt: skip
    if size > cut:
        yield finding(
            code=TEXT_OUTSIDE, line=outside[0].line, severity="amber",
            text=f"{size} bytes of text begin here and become no unit, more than all units have. Write a heading, such "
            "as `# Text`, above the first line that belongs to the law",
        )  # fmt: skip


def giant_units(nodes: Sequence[Node], pieces: Pieces) -> Iterator[Finding]:
    """Finds a unit that is far larger than the others, or one of a few units in a long text. It is amber from the first
    annex on, and if at least half of it is a table or a quotation, or an article that is one list.
    """
    lines, sizes = pieces.lines, [unit.end - unit.start for unit in pieces.candidates]
    if not sizes or max(sizes) < GIANT_UNIT_BYTES:
        return
    typical = median(sizes)
    headings = (lines.lines[unit.line - lines.first_line] for unit in pieces.candidates)
    marks = {mark for line in headings if (mark := _mark(line.lstrip(b"# ")))}
    in_annex = False
    for position, (unit, size) in enumerate(zip(pieces.candidates, sizes, strict=True)):
        in_annex = in_annex or unit.section_type == "appendix"
        if size >= GIANT_UNIT_BYTES and (size >= GIANT_UNIT_RATIO * typical or len(sizes) < 4):
            own = lines.lines[unit.line - lines.first_line : pieces.last_lines[position]]
            tables = sum(len(line) for line in own if _TABLE.match(line))
            quotes = sum(len(line) for line in own if _QUOTE.match(line))
            explained = in_annex or 2 * max(tables, quotes) >= sum(map(len, own)) or (
                len(sizes) >= 4 and nodes[position].heading.number is not None
                and _is_one_list(own[1:], marks)
                and not any(_BOLD_LINE.match(line) or read_line(line) for line in own[1:])
            )  # fmt: skip
            yield finding(
                code="giant_unit", line=unit.line, address=unit.address, severity="amber" if explained else "red",
                text=f"{unit.address} has {size} bytes of text, half of the units have at most {int(typical)}; look "
                "for headings in it that were not cut",
            )  # fmt: skip


def _is_one_list(text: Sequence[bytes], not_of: Collection[_Mark]) -> bool:
    """True if the outermost items of a text count up once from 1 to its end, and no piece between them is long but a
    list itself. A unit that swallowed others has lists that begin again. Items with a mark of `not_of` may be units.
    """
    marks = [_mark(line) for line in text]
    outermost = next(filter(None, marks), None)
    if outermost is None or outermost in not_of:
        return False
    begins = [position for position, mark in enumerate(marks) if mark == outermost]
    pieces = [text[begin:end] for begin, end in pairwise([0, *begins, len(text)])]
    return _counts_up([text[position] for position in begins]) and all(
        sum(map(len, piece)) <= GIANT_ITEM_BYTES or _is_one_list(piece[1:], not_of) for piece in pieces
    )


def _mark(line: bytes) -> _Mark | None:
    """The form of the mark with which an item of a list begins."""
    item = _ITEM.match(line)
    return (item["open"], item["number"] is not None, item["end"]) if item else None


def _counts_up(items: Sequence[bytes]) -> bool:
    """True for a list of several items from 1 on, of which at most one in five numbers is missing."""
    last, matches = 0, list(filter(None, map(_ITEM.match, items)))
    for item in matches:
        value = int(item["number"]) if item["number"] else item["letter"][0] - ord("a") + 1
        if value < last + (not item["inserted"]) or (last == 0 and value != 1):
            return False
        last = value
    return len(matches) >= GIANT_UNIT_ITEMS and 4 * last <= 5 * len(matches)


def unread_headings(nodes: list[Node], pieces: Pieces, not_judged: Collection[int]) -> Iterator[Finding]:
    """Paragraphs of text that begin like a heading (`2 a § har ändrats`), at most one finding for each unit."""
    lines = pieces.lines
    headings = {index for node in nodes for index in range(node.heading.index, node.heading.last + 1)}
    groups: dict[str | None, list[tuple[int, str]]] = defaultdict(list)
    for index, line in enumerate(lines.lines):
        if not line or line[0] in NEVER or index in headings or index in not_judged or lines.opaque[index]:
            continue
        before = lines.lines[index - 1].strip() if index else b""
        if before and not before.startswith(b"#") and not before.endswith(_ENDS):
            continue
        beginning = begins_like_heading(line)
        if beginning is not None:
            groups[_address(pieces, index)].append((index, beginning))
    for address, group in groups.items():
        begin = "begins" if len(group) == 1 else "begin"
        yield finding(
            code="heading_unread", line=lines.number(group[0][0]), address=address, severity="amber",
            text=f"{counted(len(group), 'paragraph')} of text {begin} like a heading, perhaps with a reference: "
            f"{_examples(group, lines)}",
        )  # fmt: skip


def headings_in_sentences(nodes: list[Node], lines: Lines) -> Iterator[Finding]:
    """Headings in plain lines that continue a sentence, or that a colon announces as a quotation: those with inserted
    numbers, and numbers before a word with text after it. Others would break the numbering.
    """
    bare = {node.heading.index for node in nodes if node.heading.bare or node.heading.form == "atx"}
    for node in nodes:
        heading = node.heading
        inserted = heading.number is not None and len(heading.number.value or ()) > 1
        first = heading.title[:1].isdigit() and not heading.bare
        before = heading.index - 1
        if heading.form != "plain" or not (inserted or first) or before < 0 or before in bare:
            continue
        last = next((index for index in range(before, -1, -1) if not lines.is_blank(index)), None)
        quoted = inserted and last is not None and lines.lines[last].rstrip().endswith(b":")
        if quoted or not (lines.is_blank(before) or lines.lines[before].rstrip().endswith(_ENDS)):
            yield finding(
                code="heading_in_sentence", line=lines.number(heading.index), severity="amber",
                text=f"{heading.title!r} begins a unit, and the line before it does not end a sentence. If it is a "
                "reference, join it to that line. If it is quoted, put `> ` before it",
            )  # fmt: skip
