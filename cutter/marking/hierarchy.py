"""Pure: finds the parent and the address of each unit.

If two headings have different numbers of `#`, these numbers decide. If the numbers are equal, and for plain and bold
lines, the heading's word decides. With `nesting: words` the word always decides.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeVar

from cutter.marking.lines import Lines
from cutter.marking.profile import Nesting, Profile
from cutter.marking.recognise import PLAIN_DEPTH, Heading
from cutter.marking.segments import number_segment, title_segment
from cutter.marking.vocabulary import segment_of_word

_Key = TypeVar("_Key")
Parents = list[int | None]
"""For each heading the position of its parent, None at the top."""


@dataclass(slots=True, kw_only=True)
class Node:
    """A heading in its place: the position of its parent in the list (None at the top) and its address."""

    heading: Heading
    parent: int | None
    address: str
    level: int
    ordinal: int
    is_document_title: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """Both readings of a text's structure: by the number of `#`, and by the words alone."""

    by_hashes: Parents
    by_words: Parents
    titles: frozenset[int]


def shape_of(headings: list[Heading], lines: Lines, profile: Profile) -> Shape:
    """The parents according to the numbers of `#`, and the parents according to the words."""
    if profile.flat:
        nobody: Parents = [None] * len(headings)
        return Shape(by_hashes=nobody, by_words=nobody, titles=frozenset())
    ranks = ranks_of(headings, lines, profile)
    first = headings[: shallowest_at_first([heading.depth for heading in headings])]
    are_titles = all(heading.level is None and heading.number is None for heading in first)
    titles = frozenset(heading.index for heading in first if are_titles)
    annexes = _annexes_at_the_end(headings)
    by_hashes, by_words = (_parents(headings, ranks, titles, annexes, hashes=hashes) for hashes in (True, False))
    return Shape(by_hashes=by_hashes, by_words=by_words, titles=titles)


def build_tree(headings: list[Heading], shape: Shape, nesting: Nesting, docprefix: str) -> list[Node]:
    """Nodes in document order. A repeated address gets `~2`, `~3` … The document's own title is next to the units, not
    above them, because it would add nothing to every address.
    """
    parents = shape.by_hashes if nesting == "hashes" else shape.by_words
    nodes: list[Node] = []
    uses: dict[str, int] = defaultdict(int)
    for heading, parent in zip(headings, parents, strict=True):
        above = docprefix if parent is None else nodes[parent].address
        base = f"{above}/{segment_of(heading)}"
        uses[base] += 1
        ordinal = uses[base]
        address = base if ordinal == 1 else f"{base}~{ordinal}"
        level = 1 if parent is None else nodes[parent].level + 1
        nodes.append(
            Node(heading=heading, parent=parent, address=address, level=level, ordinal=ordinal,
                 is_document_title=heading.index in shape.titles)
        )  # fmt: skip
    return nodes


def segment_of(heading: Heading) -> str:
    """The last segment of a heading's address, before any `~n`."""
    if heading.level is not None:
        word = heading.level.segment
    else:
        word = segment_of_word(heading.word) if heading.kind and heading.word else ""
    if heading.number is not None:
        return number_segment(word, heading.number.text)
    if heading.level is not None and word:
        # `SCHEDULE Repeals`: the segment replaces the level's word, so that addresses have one name for one kind
        title = heading.title.casefold()
        own = max((own for own in heading.level.words if title.startswith(own.casefold())), key=len, default="")
        rest = heading.title[len(own) :].strip(" \t\u00a0.:–—-")
        if own:
            return f"{word}-{title_segment(rest)}" if rest else word
    return title_segment(heading.title)


def _parents(
    headings: list[Heading], ranks: dict[str, int], titles: frozenset[int], behind: int, *, hashes: bool
) -> Parents:
    """`behind` is the position from which on an annex belongs to the law."""
    parents: Parents = []
    stack: list[int] = []
    annexes: dict[str, int] = {}
    for position, heading in enumerate(headings):
        if heading.index in titles:
            parents.append(None)
            continue
        annex = _is_annex(heading)
        if annex and position >= behind:
            # Close every numbered division and everything inside it. A heading that only groups the annexes stays open.
            divisions = (place for place, above in enumerate(stack) if headings[above].level is not None)
            del stack[next(divisions, len(stack)) :]
        if hashes:
            # Close the first open heading that cannot contain this heading, and everything inside it.
            closed = (place for place, above in enumerate(stack) if _closes(headings[above], heading, ranks))
            del stack[next(closed, len(stack)) :]
        else:
            _close_by_words(stack, headings, heading, ranks)
        if annex:
            _leave_the_form_before(stack, headings, position, parents, annexes)
        parents.append(stack[-1] if stack else None)
        stack.append(position)
    return parents


def _annexes_at_the_end(headings: list[Heading]) -> int:
    """Position of the first annex after which no division of the law with fewer `#` comes, or the end. From it on, an
    annex belongs to the law and not to its last chapter.
    """
    first = len(headings)
    shallowest = PLAIN_DEPTH + 1
    for position in range(len(headings) - 1, -1, -1):
        heading = headings[position]
        if _is_annex(heading):
            if heading.depth > shallowest:
                return first
            first = position
        elif heading.level is not None and heading.number is not None:
            shallowest = min(shallowest, heading.depth)
    return first


def _is_annex(heading: Heading) -> bool:
    return heading.level is not None and heading.level.section_type == "appendix"


def _closes(above: Heading, heading: Heading, ranks: dict[str, int]) -> bool:
    explicit = above.form == heading.form == "atx"
    if explicit and above.depth != heading.depth:
        return above.depth > heading.depth
    if above.level is not None and heading.level is not None:
        return ranks[above.level.name] >= ranks[heading.level.name]
    return above.depth >= heading.depth


def _close_by_words(stack: list[int], headings: list[Heading], heading: Heading, ranks: dict[str, int]) -> None:
    """Close what cannot contain this heading by its word. A heading without a word is placed by its number of `#`."""
    rank = ranks.get(heading.name)
    if rank is not None:
        closed = (place for place, above in enumerate(stack) if ranks.get(headings[above].name, -1) >= rank)
        del stack[next(closed, len(stack)) :]
    while stack and headings[stack[-1]].depth >= heading.depth and not (rank is not None and headings[stack[-1]].name):
        stack.pop()


def _leave_the_form_before(
    stack: list[int], headings: list[Heading], position: int, parents: Parents, annexes: dict[str, int]
) -> None:
    """An annex that continues the numbering of the annex before it has the same parent, and not a form between them."""
    name, value = headings[position].name, headings[position].value
    before = annexes.get(name)
    annexes[name] = position
    earlier = None if before is None else headings[before].value
    if before is None or earlier is None or value is None or value <= earlier:
        return
    home = parents[before]
    while stack and stack[-1] != home and stack[-1] > before:
        between = headings[stack[-1]]
        if between.level is not None and not _is_annex(between):
            return
        stack.pop()


def ranks_of(headings: list[Heading], lines: Lines, profile: Profile) -> dict[str, int]:
    """The rank of each level, 0 outermost. The document decides about a pair of levels that can nest either way."""
    ranks = {level.name: rank for rank, level in enumerate(profile.levels)}
    kinds = {heading.name for heading in headings}
    for outer, inner in profile.either_way:
        if not kinds.issuperset((outer, inner)):
            continue
        counted = starts_again_under(headings, outer, inner, ranks)
        if counted or (counted is None and _opens_with(headings, lines, outer, inner)):
            ranks[outer], ranks[inner] = ranks[inner], ranks[outer]
    return ranks


def starts_again_under(headings: list[Heading], outer: str, inner: str, ranks: dict[str, int]) -> bool | None:
    """True if the numbering of `outer` mostly begins again with an `inner`, and nothing further out, in between.
    "Mostly" allows for two versions of one section. None if `outer` never begins again.
    """
    last: tuple[int, ...] | None = None
    between: set[str] = set()
    under_inner = restarts = 0
    for heading in headings:
        if heading.name != outer:
            between.add(heading.name)
            continue
        value = heading.value
        if last is not None and value is not None and value <= last:
            restarts += 1
            further_out = any(other and ranks[other] < ranks[outer] for other in between)
            under_inner += inner in between and not further_out
        last, between = value, set()
    return 2 * under_inner > restarts if restarts else None


def _opens_with(headings: list[Heading], lines: Lines, outer: str, inner: str) -> bool:
    """True when the first `inner` heading has no text of its own and the next heading is an `outer` one."""
    for heading, following in pairwise(headings):
        if heading.name == inner:
            return following.name == outer and not lines.has_text(heading.last + 1, following.index)
    return False


def shallowest_at_first(depths: Sequence[int]) -> int:
    """How many headings at the beginning have the fewest `#`, if no later heading has so few; else 0."""
    count = depths.count(min(depths, default=0))
    return count if count < len(depths) and set(depths[:count]) == {min(depths)} else 0


def last_shallower(headings: Iterable[tuple[int, _Key | None]]) -> Iterator[_Key | None]:
    """For each heading the key of the last heading before it with fewer `#`. A heading without a key holds no other."""
    stack: list[tuple[int, _Key]] = []
    for depth, key in headings:
        while stack and stack[-1][0] >= depth:
            stack.pop()
        yield stack[-1][1] if stack else None
        if key is not None:
            stack.append((depth, key))
