"""Pure: the section type of each unit, and the finding that its heading's own word says another one.

The word of a heading gives its kind, and the number of `#` gives only its depth.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

from cutter.domain.amounts import counted
from cutter.marking.hierarchy import Node
from cutter.marking.lines import Lines
from cutter.marking.profile import Profile
from cutter.marking.result import Finding, finding
from cutter.marking.vocabulary import KINDS, designation, fitting_types

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
    types = [_own_type(node) for node in nodes]
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


def _own_type(node: Node) -> str:
    """The type of a unit's level or word; empty if only its place can tell."""
    if node.heading.level is not None:
        return node.heading.level.section_type
    return KINDS[node.heading.kind] if node.heading.kind else ""


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
