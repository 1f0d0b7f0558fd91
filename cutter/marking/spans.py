"""Pure: gives every byte of the region to a unit, an exclusion or the rest."""

from __future__ import annotations

from dataclasses import dataclass, field

from cutter.marking.hierarchy import Node
from cutter.marking.lines import BLANK_BYTES, Lines
from cutter.marking.profile import Profile
from cutter.marking.result import Candidate, Exclusion, NonContent
from cutter.marking.rows import Row
from cutter.marking.titles import cut_title


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """Lines [begin, end) that are excluded as a whole."""

    begin: int
    end: int
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Pieces:
    """The three kinds of parts, and for each unit the line where its own text ends."""

    candidates: tuple[Candidate, ...]
    exclusions: tuple[Exclusion, ...]
    non_content: tuple[NonContent, ...]
    last_lines: tuple[int, ...]


@dataclass(slots=True)
class _Layout:
    lines: Lines
    candidates: list[Candidate] = field(default_factory=list)
    exclusions: list[Exclusion] = field(default_factory=list)
    non_content: list[NonContent] = field(default_factory=list)
    last_lines: list[int] = field(default_factory=list)


def lay_out(
    lines: Lines, rows: tuple[Row, ...], nodes: list[Node], blocks: tuple[Block, ...], profile: Profile
) -> Pieces:
    """Cut the region at every heading and block. White space after a piece belongs to no piece."""
    layout = _Layout(lines)
    if lines.offset(0) > lines.start:
        mark = NonContent(start=lines.start, end=lines.offset(0), line=1, kind="byte_order_mark")
        layout.non_content.append(mark)
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
    for block in blocks:
        borders[block.begin] = block
        borders.setdefault(block.end, None)
    begins = sorted(begin for begin in borders if begin < len(lines.lines))
    waiting = iter(nodes)
    for begin, end in zip(begins, [*begins[1:], len(lines.lines)], strict=True):
        border = borders[begin]
        if isinstance(border, Row) and border.kind == "unit":
            _unit(layout, next(waiting), nodes, begin, end, profile)
        else:
            _not_a_unit(layout, border, begin, end)
    return Pieces(
        candidates=tuple(layout.candidates),
        exclusions=tuple(layout.exclusions),
        non_content=tuple(layout.non_content),
        last_lines=tuple(layout.last_lines),
    )


def _not_a_unit(layout: _Layout, border: Row | Block | None, begin: int, end: int) -> None:
    if isinstance(border, Block):
        _exclude(layout, begin, end, border.reason, "structure")
    elif border is None:
        reason = "between_blocks" if layout.candidates else "before_first_unit"
        _exclude(layout, begin, end, reason, "structure")
    elif border.kind == "group":
        # The line of a group header is not content. Text below it that is outside all rows is itemised.
        start, stop = layout.lines.offset(begin), layout.lines.offset(begin + 1)
        line = layout.lines.number(border.heading.index)
        layout.non_content.append(NonContent(start=start, end=stop, line=line, kind="group_header"))
        if end > begin + 1:
            _exclude(layout, begin + 1, end, "outside_units", "structure")
    else:
        _exclude(layout, begin, end, border.reason, border.basis)


def _trimmed(layout: _Layout, begin: int, end: int) -> tuple[int, int, int]:
    """Byte span of lines [begin, end) without blank lines around it, and the index of its first line."""
    lines, starts = layout.lines.lines, layout.lines.starts
    while begin < end and not lines[begin].strip(BLANK_BYTES):
        begin += 1
    while end > begin and not (last := lines[end - 1].rstrip(BLANK_BYTES)):
        end -= 1
    if begin == end:
        return layout.lines.offset(begin), layout.lines.offset(begin), begin
    return starts[begin], starts[end - 1] + len(last), begin


def _blank(layout: _Layout, start: int, end: int, index: int) -> None:
    if end > start:
        line = layout.lines.number(index)
        layout.non_content.append(NonContent(start=start, end=end, line=line, kind="blank"))


def _exclude(layout: _Layout, begin: int, end: int, reason: str, basis: str) -> None:
    """An exclusion if the lines hold text. Blank lines alone are only blank."""
    outer_start, outer_end = layout.lines.offset(begin), layout.lines.offset(end)
    start, stop, first = _trimmed(layout, begin, end)
    _blank(layout, outer_start, start if stop > start else outer_end, begin)
    if stop > start:
        line = layout.lines.number(first)
        layout.exclusions.append(Exclusion(start=start, end=stop, line=line, reason=reason, status_basis=basis))
        _blank(layout, stop, outer_end, end - 1)


def _unit(layout: _Layout, node: Node, nodes: list[Node], begin: int, end: int, profile: Profile) -> None:
    heading, level = node.heading, node.heading.level
    start, stop, _ = _trimmed(layout, begin, end)
    layout.candidates.append(
        Candidate(
            address=node.address,
            parent_address=None if node.parent is None else nodes[node.parent].address,
            unit_kind=profile.unit_kind,
            section_type=level.section_type if level else profile.depth_section_type(heading.depth),
            publication_type=profile.publication_type,
            owner=profile.owner,
            title=cut_title(heading.title),
            start=start,
            end=stop,
            line=layout.lines.number(begin),
            level=node.level,
            ordinal=node.ordinal,
        )
    )
    layout.last_lines.append(end)
    _blank(layout, stop, layout.lines.offset(end), end - 1)
