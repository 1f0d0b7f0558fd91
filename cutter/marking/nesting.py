"""Pure: the section type of each unit, and findings about kinds and parents: where `#`, words and levels disagree."""

from __future__ import annotations

import unicodedata
from collections import defaultdict
from collections.abc import Iterator, Sequence
from functools import lru_cache

from cutter.domain.amounts import counted
from cutter.marking.hierarchy import Node, Parents, Shape, last_shallower, starts_again_under
from cutter.marking.lines import Lines
from cutter.marking.profile import Nesting, Profile
from cutter.marking.recognise import Heading
from cutter.marking.result import Finding, Severity, finding
from cutter.marking.vocabulary import KINDS, designation, fitting_types

_TITLE_CHARACTERS = 60


def nesting_findings(nodes: list[Node], shape: Shape, lines: Lines, nesting: Nesting) -> Iterator[Finding]:
    """One finding for each way in which the words would nest a kind of heading differently from the `#`. It is amber if
    the text's own numbering is more regular under the `#`, and red if the words decide.
    """
    if shape.by_hashes == shape.by_words:
        return
    headings = [node.heading for node in nodes]
    confirmed = nesting == "hashes" and _flaws(headings, shape.by_hashes) < _flaws(headings, shape.by_words)
    severity: Severity = "amber" if confirmed else "red"
    groups: dict[tuple[str, str, str], list[int]] = defaultdict(list)
    for position, (hashes, words) in enumerate(zip(shape.by_hashes, shape.by_words, strict=True)):
        if hashes != words:
            groups[_kind(headings[position]), _kind_at(headings, hashes), _kind_at(headings, words)].append(position)
    for (kind, _, _), positions in groups.items():
        first = positions[0]
        node = nodes[first]
        more = f" (and {counted(len(positions) - 1, 'more heading')} of the kind {kind})" if len(positions) > 1 else ""
        by_hashes, by_words = (
            "at the top level" if (above := way[first]) is None else f"inside {_named(headings[above])}"
            for way in (shape.by_hashes, shape.by_words)
        )
        yield finding(
            code="nesting_differs", line=lines.number(node.heading.index), address=node.address, severity=severity,
            text=f"{_named(node.heading)}{more}: the # marks put it {by_hashes}; the words of the headings put it "
            f"{by_words}. {_DECISION[nesting]}",
        )  # fmt: skip


_DECISION: dict[Nesting, str] = {
    "hashes": "The cut follows the # marks. If the words are right, correct the # marks or use --nesting words",
    "words": "The cut follows the words. If the # marks are right, use --nesting hashes",
}
"""What the cut did where the two readings differ, and what a person does if the other reading is right."""


def overruled_hashes(nodes: list[Node], shape: Shape, lines: Lines, profile: Profile) -> Iterator[Finding]:
    """Amber findings, one for each way of nesting: the parent is not the last heading with fewer `#`, although the
    words agree with the cut. A rule decided here: the order of two kinds with equal `#`, an annex at the end, or a name
    with fewer `#` than its number.
    """
    if profile.flat:
        return
    headings = [node.heading for node in nodes]
    parents: list[int | None] = []  # for each unit the nearest unit above it that has #
    written: list[tuple[int, int]] = []
    for position, node in enumerate(nodes):
        parent = node.parent
        while parent is not None and nodes[parent].heading.form != "atx":
            parent = parents[parent]
        parents.append(parent)
        if node.heading.form == "atx" and not node.is_document_title:
            # a name that is joined to the heading may have another number of #
            line = lines.lines[node.heading.index].lstrip()
            written.append((len(line) - len(line.lstrip(b"#")), position))
    groups: dict[tuple[str, str, str], list[int]] = defaultdict(list)
    for (_, position), plain in zip(written, last_shallower(written), strict=True):
        actual = parents[position]
        if actual != plain and shape.by_hashes[position] == shape.by_words[position]:
            groups[_kind(headings[position]), _kind_at(headings, plain), _kind_at(headings, actual)].append(position)
    for (kind, plain_kind, actual_kind), positions in groups.items():
        node = nodes[positions[0]]
        is_, it = ("are", "them") if len(positions) > 1 else ("is", "it")
        yield finding(
            code="hashes_overruled", line=lines.number(node.heading.index), address=node.address, severity="amber",
            text=f"{counted(len(positions), 'heading')} of the kind {kind} {is_} cut {_inside(actual_kind)}, although "
            f"the number of # alone would put {it} {_inside(plain_kind)}. The words of the headings agree with the "
            "cut. If the # marks are right, correct the words or the profile",
        )  # fmt: skip


def _inside(kind: str) -> str:
    return "at the top level" if kind == "none" else f"inside the {kind} before"


def _kind(heading: Heading) -> str:
    return heading.name or f"{'#' * heading.depth} without a known word"


def _kind_at(headings: Sequence[Heading], position: int | None) -> str:
    return "none" if position is None else _kind(headings[position])


def _named(heading: Heading) -> str:
    title = heading.title
    return repr(title if len(title) <= _TITLE_CHARACTERS else f"{title[:_TITLE_CHARACTERS]}…")


def _flaws(headings: Sequence[Heading], parents: Parents) -> int:
    """How often the numbering of one kind within a parent does not go up by one or does not begin with 1."""
    last: dict[tuple[int | None, str, str], tuple[int, ...]] = {}
    flaws = 0
    for heading, parent in zip(headings, parents, strict=True):
        number, value = heading.number, heading.value
        if number is None or value is None or not heading.name:
            continue
        key = (parent, heading.name, number.series)
        before = last.get(key, (0,))
        flaws += value[0] - before[0] not in (0, 1) or value <= before
        last[key] = value
    return flaws


def mixed_kinds(nodes: list[Node], lines: Lines) -> Iterator[Finding]:
    """Finds two kinds of heading at one level, each with its own numbering (`Art 1`, `§ 1`). Words of one level that
    share a numbering (`Article 1`, `Art. 2`) are one kind.
    """
    uses: dict[tuple[int | None, str, int], dict[str, dict[tuple[int, ...], Node]]] = defaultdict(dict)
    for node in nodes:
        heading = node.heading
        if heading.name and heading.value is not None and heading.word:
            kinds = uses[node.parent, heading.name, heading.depth]
            kinds.setdefault(_stem(heading.word), {}).setdefault(heading.value, node)
    for kinds in uses.values():
        ordered = list(kinds.items())
        for place, (word, numbers) in enumerate(ordered[1:], 1):
            both = [node for value, node in numbers.items() if any(value in other for _, other in ordered[:place])]
            if both:
                yield finding(
                    code="kinds_mixed", line=lines.number(both[0].heading.index), address=both[0].address,
                    severity="red", text=f"{ordered[0][0]!r} and {word!r} count apart and are read as one kind of "
                    f"heading ({counted(len(both), 'number')} used twice); give each a level of its own in the profile",
                )  # fmt: skip


@lru_cache(maxsize=256)
def _stem(word: str) -> str:
    """One spelling for all forms of a word: without accents, signs, doubled signs and a plural s."""
    bare = "".join(sign for sign in unicodedata.normalize("NFD", word) if sign.isalpha() or sign == "§")
    stem = "§" if bare.startswith("§") else bare.rstrip("s")
    return "art" if stem.startswith("art") else stem


def unordered_kinds(nodes: list[Node], profile: Profile, lines: Lines) -> Iterator[Finding]:
    """Finds a pair of kinds that can nest either way and has the same number of `#`.

    The pair is found if neither numbering begins again under the other and the outer heading has a text of its own.
    """
    headings = [node.heading for node in nodes]
    ranks = {level.name: rank for rank, level in enumerate(profile.levels)}
    kinds = {heading.name for heading in headings}
    for pair in profile.either_way:
        if not kinds.issuperset(pair):
            continue
        inside = [node for node in nodes if _inside_at_one_depth(nodes, node, pair)]
        if not inside or any(starts_again_under(headings, *order, ranks) is not None for order in (pair, pair[::-1])):
            continue
        above = {node.parent for node in inside if node.parent is not None}
        own_text = sum(1 for position in above if lines.has_text(
            headings[position].last + 1, headings[position + 1].index))  # fmt: skip
        if 2 * own_text > len(above):
            yield finding(
                code="kinds_mixed", line=lines.number(inside[0].heading.index), address=inside[0].address,
                severity="red", text=f"{pair[0]} and {pair[1]} have the same number of # and neither begins to count "
                "again under the other; give them different numbers of #",
            )  # fmt: skip


def _inside_at_one_depth(nodes: list[Node], node: Node, pair: tuple[str, str]) -> bool:
    if node.parent is None:
        return False
    above = nodes[node.parent].heading
    return (
        {above.name, node.heading.name} == set(pair)
        and above.form == node.heading.form == "atx"
        and above.depth == node.heading.depth
    )


def names_of_the_heading_above(nodes: list[Node], lines: Lines) -> Iterator[Finding]:
    """Finds a heading without a number that only names the numbered heading directly above it."""
    for position in range(1, len(nodes)):
        node, above, heading = nodes[position], nodes[position - 1].heading, nodes[position].heading
        if (
            (above.level is not None and above.number is not None)
            and (heading.level is None and heading.number is None)
            and not lines.has_text(above.last + 1, heading.index)
            and (above.bare or above.title.casefold().endswith(heading.title.casefold()))
            and not _has_twin(nodes, position)
        ):
            yield finding(
                code="heading_is_a_name", line=lines.number(heading.index), address=node.address, severity="red",
                text=f"the heading only names {nodes[position - 1].address}, the heading above it, and became a unit; "
                "join the two headings, or set merge_titles in the profile",
            )  # fmt: skip


def _has_twin(nodes: list[Node], position: int) -> bool:
    """True if the named heading has other unnumbered parts of this kind. Then this heading is a part and not a name."""
    node = nodes[position]
    if node.parent != position - 1:
        return False
    for other in nodes[position + 1 :]:
        if other.level < node.level:
            return False
        if other.parent == node.parent and other.heading.level is None and other.heading.depth == node.heading.depth:
            return True
    return False


_OWN_WORDS = frozenset({"rule", "regulation", "clause"})
"""Words that house rules and by-laws use for parts of any size."""


def section_types(nodes: Sequence[Node], profile: Profile) -> list[str]:
    """The section_type of each unit: of its level, else of its heading's word, or of its number of `#` if the profile
    has `depths`.
    """
    if not profile.words_give_kinds:
        return [
            node.heading.level.section_type if node.heading.level else profile.depth_section_type(node.heading.depth)
            for node in nodes
        ]
    # The type of a unit's level or word; empty if only its place can tell.
    types = [
        node.heading.level.section_type if node.heading.level else KINDS[node.heading.kind] if node.heading.kind else ""
        for node in nodes
    ]
    has_articles = "article" in types
    parents = {node.parent for node in nodes}
    holds_articles = {
        node.parent for node, own in zip(nodes, types, strict=True) if own == "article" and not _sign(node)
    }
    inside: list[set[str]] = []  # for each unit the types of the units above it
    for position, node in enumerate(nodes):
        above = set() if node.parent is None else inside[node.parent] | {types[node.parent]}
        inside.append(above)
        if not types[position]:
            # a number without a word is the smallest numbered part of an act, unless others are called articles
            number = node.heading.number
            smallest = number is not None and number.text[:1].isdigit() and position not in parents
            types[position] = "article" if smallest and not has_articles and not above & {"appendix"} else "section"
        elif _sign(node) and position in holds_articles:
            types[position] = "section"  # `§ 1` of a chapter that groups articles
    return types


def _sign(node: Node) -> bool:
    return node.heading.word.startswith("§")


def kinds_that_differ(nodes: Sequence[Node], types: Sequence[str], profile: Profile, lines: Lines) -> Iterator[Finding]:
    """One finding for each word whose units have a type that contradicts it. It is red, but amber in a profile with
    `depths`, whose cuts may be in force.
    """
    wrong: dict[tuple[str, str], list[Node]] = defaultdict(list)
    for node, section_type in zip(nodes, types, strict=True):
        known = designation(node.heading.title)
        if known is None or not known.word or known.word in _OWN_WORDS or section_type in fitting_types(known):
            continue
        if not (known.word.startswith("§") and section_type == "section"):
            wrong[known.word, section_type].append(node)
    for (word, section_type), group in wrong.items():
        more = f" (and {counted(len(group) - 1, 'more heading')} with this word)" if len(group) > 1 else ""
        yield finding(
            code="kind_differs", line=lines.number(group[0].heading.index), address=group[0].address,
            severity="red" if profile.words_give_kinds else "amber",
            text=f"the heading begins with {word!r}{more}, but its unit would be of the type {section_type}; correct "
            "the kind of its level in the profile, or type `cutter profile suggest FILE`",
        )  # fmt: skip
