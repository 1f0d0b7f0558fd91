"""Pure: judges the structure of a cut: where the units probably differ from the law's own units, and what a person
accepted.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import replace

from cutter.limits import RED_FINDINGS_OF_A_KIND
from cutter.marking.headings import Headings
from cutter.marking.hierarchy import Node, Shape
from cutter.marking.lines import Lines
from cutter.marking.nesting import (
    kinds_that_differ,
    mixed_kinds,
    names_of_the_heading_above,
    nesting_findings,
    overruled_hashes,
    unordered_kinds,
)
from cutter.marking.number_order import numbering_findings
from cutter.marking.profile import Nesting, Profile
from cutter.marking.result import Finding, Marking, MarkRefusal, finding, refusal
from cutter.marking.spans import Pieces
from cutter.marking.uncut import (
    giant_units,
    headings_in_sentences,
    mixed_forms,
    text_outside,
    uncut_findings,
    unread_headings,
)

CAUSES = frozenset({"nesting_differs", "kinds_mixed", "heading_is_a_name", "looks_uncut", "heading_in_fence"})
"""Kinds of findings that cause repeats and empty headings. They come first: the options for repeats would hide them."""


def structure_findings(
    nodes: list[Node], shape: Shape, pieces: Pieces, headings: Headings, profile: Profile, nesting: Nesting
) -> list[Finding]:
    """Findings about the structure. Every red finding names its line and the alternatives."""
    lines, left_out = pieces.lines, headings.left_out
    skipped = frozenset(index for block in headings.blocks for index in range(block.begin, block.end))
    uncut = list(uncut_findings(nodes, pieces, left_out, skipped))
    explained = sorted(item.line for item in (*headings.findings, *uncut) if item.severity == "red")
    return [
        *unread_headings(nodes, pieces, skipped | left_out),
        *headings_in_sentences(nodes, lines),
        *nesting_findings(nodes, shape, lines, nesting),
        *overruled_hashes(nodes, shape, lines, profile),
        *mixed_kinds(nodes, lines),
        *unordered_kinds(nodes, profile, lines),
        *names_of_the_heading_above(nodes, lines),
        *numbering_findings(nodes, profile, lines, explained),
        *uncut,
        *mixed_forms(nodes, pieces),
        *kinds_that_differ(nodes, [unit.section_type for unit in pieces.candidates], profile, lines),
        *doubts_of_the_suggestion(profile, nodes, lines),
        *giant_units(nodes, pieces),
        *text_outside(pieces),
    ]


def doubts_of_the_suggestion(profile: Profile, nodes: list[Node], lines: Lines) -> Iterator[Finding]:
    """What the suggestion of the profile doubted, so that each command and the request repeat it."""
    line = lines.number(nodes[0].heading.index)
    for doubt in profile.doubts:
        yield finding(code="suggestion_doubted", line=line, severity="amber",
                      text=f"the suggestion of the profile doubts its cut: {doubt}")  # fmt: skip


def in_order(findings: Iterable[Finding], docprefix: str) -> tuple[Finding, ...]:
    """Findings in the order of their lines. If one kind has many red findings, only the first stays red, for the whole
    text, so that a person needs only a bounded number of acceptances. The others stay in the list as amber.
    """
    given = tuple(findings)
    # Two red findings of one kind at one unit would have the same name, so the second becomes amber.
    reds: dict[str, dict[str, Finding]] = defaultdict(dict)
    for item in given:
        if item.severity == "red":
            reds[item.code].setdefault(item.name, item)
    many = {code: sorted(group.values(), key=lambda item: (item.line, item.message)) for code, group in reds.items()
            if len(group) > RED_FINDINGS_OF_A_KIND}  # fmt: skip
    kept = [
        replace(item, severity="amber")
        if item.severity == "red" and (item.code in many or reds[item.code][item.name] is not item)
        else item
        for item in given
    ]
    for code, group in many.items():
        line, places = group[0].line, ", ".join(str(item.line) for item in group[:RED_FINDINGS_OF_A_KIND])
        text = f"{code} in {len(group)} places (lines {places} …), of which this is the first: {_text(group[0])}"
        kept.append(finding(code=code, line=line, address=docprefix, severity="red", text=text))
    return tuple(sorted(kept, key=lambda item: (item.line, item.code, item.severity != "red", item.message)))


def refuse_unaccepted(marking: Marking, *, only: frozenset[str] | None = None) -> MarkRefusal | None:
    """Refuse a cut with a red finding (of a kind of `only`) that nobody accepted, and an unknown acceptance."""
    red = marking.red
    unknown = [name for name, _ in marking.accepted if name not in red]
    if unknown:
        valid = f"the red findings are {', '.join(red)}" if red else "it has no red finding"
        problem = f"accepted is {', '.join(unknown)}, which this text does not have: {valid}"
        return replace(refusal("acceptance_unknown", None, problem), findings=tuple(red.values()))
    waiting = tuple(item for item in marking.unaccepted if only is None or item.code in only)
    if not waiting:
        return None
    first = waiting[0]
    others = f" ({len(waiting)} red findings wait in all)" if len(waiting) > 1 else ""
    # the options that accept all findings at once, so that nobody meets them one after the other
    accept = " ".join(f"--accept {finding.name}" for finding in waiting)
    refused = refusal(
        first.code, first.line, f"{_text(first)}{others}; correct the text or the profile, or accept "
        f"{'each' if others else 'it'} with {accept} --because TEXT", red=len(waiting), name=first.name,
    )  # fmt: skip
    return replace(refused, findings=waiting)


def _text(item: Finding) -> str:
    return item.message.removeprefix(f"line {item.line}: ")
