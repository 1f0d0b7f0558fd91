"""Pure: who is whose parent, and each unit's address.

The level comes from the heading's word; depth (the number of `#`) decides only where there is no word.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from itertools import pairwise

from cutter.marking.lines import Lines
from cutter.marking.profile import Profile
from cutter.marking.recognise import PLAIN_DEPTH, Heading
from cutter.marking.segments import number_segment, title_segment


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """A heading in its place: the position of its parent in the list (None at the top) and its address."""

    heading: Heading
    parent: int | None
    address: str
    level: int
    ordinal: int
    is_document_title: bool


def build_tree(headings: list[Heading], lines: Lines, profile: Profile, docprefix: str) -> list[Node]:
    """Nodes in document order; an address that was taken gets `~2`, `~3` … (the caller refuses when that is not asked).

    The document's own title is next to the units, not above them: it would be in every address and say nothing.
    """
    ranks = _ranks(headings, lines, profile)
    titles = set() if profile.flat else _document_titles(headings)
    nodes: list[Node] = []
    stack: list[int] = []
    uses: dict[str, int] = defaultdict(int)
    for heading in headings:
        is_title = heading.index in titles
        parent = None if profile.flat or is_title else _parent(stack, nodes, heading, ranks)
        above = docprefix if parent is None else nodes[parent].address
        base = f"{above}/{segment_of(heading)}"
        uses[base] += 1
        ordinal = uses[base]
        address = base if ordinal == 1 else f"{base}~{ordinal}"
        level = 1 if parent is None else nodes[parent].level + 1
        node = Node(heading=heading, parent=parent, address=address, level=level, ordinal=ordinal,
                    is_document_title=is_title)  # fmt: skip
        if not is_title:
            stack.append(len(nodes))
        nodes.append(node)
    return nodes


def segment_of(heading: Heading) -> str:
    """The last segment of a heading's address, before any `~n`."""
    word = heading.level.segment if heading.level else ""
    if heading.number is not None:
        return number_segment(word, heading.number.text)
    return title_segment(heading.title)


def _parent(stack: list[int], nodes: list[Node], heading: Heading, ranks: dict[str, int]) -> int | None:
    """Pop what the heading closes; the top that is left is its parent."""
    if heading.level is not None:
        rank = ranks[heading.level.name]
        for place, position in enumerate(stack):
            level = nodes[position].heading.level
            if level is not None and ranks[level.name] >= rank:
                del stack[place:]
                break
        while stack and nodes[stack[-1]].heading.level is None and nodes[stack[-1]].heading.depth >= heading.depth:
            stack.pop()
    else:
        while stack and nodes[stack[-1]].heading.depth >= heading.depth:
            stack.pop()
    return stack[-1] if stack else None


def _ranks(headings: list[Heading], lines: Lines, profile: Profile) -> dict[str, int]:
    """Rank of each level, 0 outermost; a pair that nests either way is ordered by what the document shows."""
    ranks = {level.name: rank for rank, level in enumerate(profile.levels)}
    for outer, inner in profile.either_way:
        counted = _starts_again_under(headings, outer, inner, ranks)
        if counted or (counted is None and _opens_with(headings, lines, outer, inner)):
            ranks[outer], ranks[inner] = ranks[inner], ranks[outer]
    return ranks


def _starts_again_under(headings: list[Heading], outer: str, inner: str, ranks: dict[str, int]) -> bool | None:
    """True when `outer` mostly counts from the beginning again with an `inner`, and nothing further out, in between.

    Mostly, since two versions of one section may follow each other. None when `outer` never starts again.
    """
    last: tuple[int, ...] | None = None
    between: set[str] = set()
    under_inner = restarts = 0
    for heading in headings:
        name = heading.level.name if heading.level else ""
        if name != outer:
            between.add(name)
            continue
        value = heading.number.value if heading.number else None
        if last is not None and value is not None and value <= last:
            restarts += 1
            further_out = any(other and ranks[other] < ranks[outer] for other in between)
            under_inner += inner in between and not further_out
        last, between = value, set()
    return 2 * under_inner > restarts if restarts else None


def _opens_with(headings: list[Heading], lines: Lines, outer: str, inner: str) -> bool:
    """True when the first `inner` heading has no text of its own and the next heading is an `outer` one."""
    for heading, following in pairwise(headings):
        if heading.level is not None and heading.level.name == inner:
            holds = following.level is not None and following.level.name == outer
            return holds and not lines.has_text(heading.last + 1, following.index)
    return False


def _document_titles(headings: list[Heading]) -> set[int]:
    """Line indexes of the document's title: the first headings, of the shallowest depth, that no later one shares."""
    atx = [heading for heading in headings if heading.form == "atx"]
    if not headings or not atx or headings[0] is not atx[0]:
        return set()
    depth = min(heading.depth for heading in atx)
    run = 0
    while run < len(headings) and _may_be_title(headings[run], depth):
        run += 1
    if run == len(headings) or any(heading.depth == depth for heading in headings[run:]):
        return set()
    return {heading.index for heading in headings[:run]}


def _may_be_title(heading: Heading, depth: int) -> bool:
    return heading.depth == depth < PLAIN_DEPTH and heading.level is None and heading.number is None
