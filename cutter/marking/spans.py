"""Pure: gives every byte of the region to a unit, an exclusion or the rest."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, field
from operator import attrgetter

from cutter.marking.headings import Block, Headings, Row
from cutter.marking.hierarchy import Node
from cutter.marking.lines import BLANK_BYTES, Lines
from cutter.marking.nesting import section_types
from cutter.marking.profile import Profile
from cutter.marking.result import Candidate, Exclusion, NonContent
from cutter.marking.titles import cut_title


@dataclass(slots=True)
class Pieces:
    """The three kinds of parts, and for each unit the line where its own text ends."""

    lines: Lines
    candidates: list[Candidate] = field(default_factory=list)
    exclusions: list[Exclusion] = field(default_factory=list)
    non_content: list[NonContent] = field(default_factory=list)
    last_lines: list[int] = field(default_factory=list)

    def unit(self, index: int) -> Candidate | None:
        """The unit whose bytes hold a line."""
        offset = self.lines.offset(index)
        position = bisect_right(self.candidates, offset, key=attrgetter("start")) - 1
        return self.candidates[position] if position >= 0 and self.candidates[position].end > offset else None


def lay_out(lines: Lines, headings: Headings, nodes: list[Node], profile: Profile) -> Pieces:
    """Cut the region at every heading and block. White space after a piece belongs to no piece."""
    pieces, rows = Pieces(lines), headings.rows
    if lines.offset(0) > lines.start:
        mark = NonContent(start=lines.start, end=lines.offset(0), line=1, kind="byte_order_mark")
        pieces.non_content.append(mark)
    # the piece that begins at a line; None is text that belongs to no piece
    borders: dict[int, Row | Block | None] = {0: None}
    borders.update({row.heading.index: row for row in rows})
    if profile.tail and rows:
        # the first line after the last heading that begins the closing block (signatures, notes of the edition)
        signs = tuple(text.encode() for text in profile.tail)
        after = range(rows[-1].heading.last + 1, len(lines.lines))
        tail = next((index for index in after if lines.lines[index].lstrip(BLANK_BYTES).startswith(signs)), None)
        if tail is not None:
            borders[tail] = Block(begin=tail, end=len(lines.lines), reason="closing_block")
    for block in headings.blocks:
        borders[block.begin] = block
        borders.setdefault(block.end, None)
    begins = sorted(begin for begin in borders if begin < len(lines.lines))
    waiting = zip(nodes, section_types(nodes, profile), strict=True)
    for begin, end in zip(begins, [*begins[1:], len(lines.lines)], strict=True):
        border = borders[begin]
        if isinstance(border, Row) and border.kind == "unit":
            _unit(pieces, *next(waiting), nodes, begin, end, profile)
        else:
            _not_a_unit(pieces, border, begin, end)
    return pieces


def _not_a_unit(pieces: Pieces, border: Row | Block | None, begin: int, end: int) -> None:
    if isinstance(border, Block):
        _exclude(pieces, begin, end, border.reason, "structure")
    elif border is None:
        _exclude(pieces, begin, end, "between_blocks" if pieces.candidates else "before_first_unit", "structure")
    elif border.kind == "group":
        # The line of a group header is not content. Text below it that is outside all rows is itemised.
        start, stop = pieces.lines.offset(begin), pieces.lines.offset(begin + 1)
        line = pieces.lines.number(border.heading.index)
        pieces.non_content.append(NonContent(start=start, end=stop, line=line, kind="group_header"))
        if end > begin + 1:
            _exclude(pieces, begin + 1, end, "outside_units", "structure")
    else:
        _exclude(pieces, begin, end, border.reason, border.basis)


def _trimmed(pieces: Pieces, begin: int, end: int) -> tuple[int, int, int]:
    """Byte span of lines [begin, end) without blank lines around it, and the index of its first line."""
    lines, starts = pieces.lines.lines, pieces.lines.starts
    while begin < end and not lines[begin].strip(BLANK_BYTES):
        begin += 1
    while end > begin and not (last := lines[end - 1].rstrip(BLANK_BYTES)):
        end -= 1
    if begin == end:
        return pieces.lines.offset(begin), pieces.lines.offset(begin), begin
    return starts[begin], starts[end - 1] + len(last), begin


def _blank(pieces: Pieces, start: int, end: int, index: int) -> None:
    if end > start:
        line = pieces.lines.number(index)
        pieces.non_content.append(NonContent(start=start, end=end, line=line, kind="blank"))


def _exclude(pieces: Pieces, begin: int, end: int, reason: str, basis: str) -> None:
    """An exclusion if the lines hold text. Blank lines alone are only blank."""
    outer_start, outer_end = pieces.lines.offset(begin), pieces.lines.offset(end)
    start, stop, first = _trimmed(pieces, begin, end)
    _blank(pieces, outer_start, start if stop > start else outer_end, begin)
    if stop > start:
        line = pieces.lines.number(first)
        pieces.exclusions.append(Exclusion(start=start, end=stop, line=line, reason=reason, status_basis=basis))
        _blank(pieces, stop, outer_end, end - 1)


def _unit(
    pieces: Pieces, node: Node, section_type: str, nodes: list[Node], begin: int, end: int, profile: Profile
) -> None:
    heading = node.heading
    start, stop, _ = _trimmed(pieces, begin, end)
    pieces.candidates.append(
        Candidate(
            address=node.address,
            parent_address=None if node.parent is None else nodes[node.parent].address,
            unit_kind=profile.unit_kind,
            section_type=section_type,
            publication_type=profile.publication_type,
            owner=profile.owner,
            title=cut_title(heading.title),
            start=start,
            end=stop,
            line=pieces.lines.number(begin),
            level=node.level,
            ordinal=node.ordinal,
        )
    )
    pieces.last_lines.append(end)
    _blank(pieces, stop, pieces.lines.offset(end), end - 1)
