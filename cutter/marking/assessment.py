"""Pure: judges the structure of a cut. It collects all findings with their severity, and the red findings that a person
accepted.

The partition proves that no byte is lost. The assessment says where the units probably differ from the law's own units.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, replace

from cutter.limits import RED_FINDINGS_OF_A_KIND
from cutter.marking.doubtful_lines import headings_in_sentences, unread_headings
from cutter.marking.hierarchy import Node, Shape
from cutter.marking.lines import Lines
from cutter.marking.nesting import (
    mixed_kinds,
    names_of_the_heading_above,
    nesting_findings,
    overruled_hashes,
    unordered_kinds,
)
from cutter.marking.number_order import numbering_findings
from cutter.marking.profile import Nesting, Profile
from cutter.marking.result import Finding, Marking, MarkRefusal, refusal
from cutter.marking.spans import Pieces
from cutter.marking.uncut import Place, giant_units, mixed_forms, text_outside, uncut_findings

UNKNOWN_ACCEPTANCE = "acceptance_unknown"
"""The code of a refusal because the text does not have the red finding that was accepted."""


CAUSES = frozenset({"nesting_differs", "kinds_mixed", "heading_is_a_name", "looks_uncut", "heading_in_fence"})
"""Kinds of findings that cause repeats and empty headings. They come first, because the options for repeats would hide
them.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Structure:
    """The input of the judgement: the tree in both readings, the pieces, and the lines that are not judged."""

    nodes: list[Node]
    shape: Shape
    pieces: Pieces
    lines: Lines
    left_out: frozenset[int]
    skipped: tuple[tuple[int, int], ...]
    noticed: tuple[Finding, ...]
    """Findings from reading the headings, such as lines that break the numbering."""


def structure_findings(structure: Structure, profile: Profile, nesting: Nesting) -> list[Finding]:
    """Findings about the structure. Every red finding names its line and the alternatives."""
    nodes, lines = structure.nodes, structure.lines
    units = structure.pieces.candidates
    place = Place(lines=lines, candidates=units, starts=[unit.start for unit in units])
    skipped = frozenset(index for begin, end in structure.skipped for index in range(begin, end))
    uncut = list(uncut_findings(nodes, place, structure.left_out, skipped))
    explained = sorted(item.line for item in (*structure.noticed, *uncut) if item.severity == "red")
    return [
        *unread_headings(nodes, place, skipped | structure.left_out),
        *headings_in_sentences(nodes, lines),
        *nesting_findings(nodes, structure.shape, lines, nesting),
        *overruled_hashes(nodes, structure.shape, lines, profile),
        *mixed_kinds(nodes, profile, lines),
        *unordered_kinds(nodes, profile, lines),
        *names_of_the_heading_above(nodes, lines),
        *numbering_findings(nodes, profile, lines, explained),
        *uncut,
        *mixed_forms(nodes, structure.pieces),
        *giant_units(nodes, structure.pieces, lines),
        *text_outside(structure.pieces),
    ]


def in_order(findings: Iterable[Finding], docprefix: str) -> tuple[Finding, ...]:
    """Findings in the order of their lines. If one kind has more than a few red findings, only the first stays red and
    counts for the whole text.

    The other findings stay in the list as amber. So nothing is hidden, and a person needs only a bounded number of
    acceptances.
    """
    names: set[str] = set()
    named: list[Finding] = []
    for finding in findings:
        # Two red findings of one kind at one unit would have the same name, so the second becomes amber.
        again = finding.severity == "red" and finding.name in names
        named.append(replace(finding, severity="amber") if again else finding)
        if finding.severity == "red":
            names.add(finding.name)
    ordered = sorted(named, key=lambda item: (item.line, item.code, item.message))
    reds: dict[str, list[Finding]] = defaultdict(list)
    for finding in ordered:
        if finding.severity == "red":
            reds[finding.code].append(finding)
    many = {code: group for code, group in reds.items() if len(group) > RED_FINDINGS_OF_A_KIND}
    kept = [
        replace(finding, severity="amber") if finding.severity == "red" and finding.code in many else finding
        for finding in ordered
    ]
    for code, group in many.items():
        first = group[0]
        places = ", ".join(str(finding.line) for finding in group[:RED_FINDINGS_OF_A_KIND])
        message = f"line {first.line}: {code} in {len(group)} places (lines {places} …), of which this is the first: "
        message += first.message.removeprefix(f"line {first.line}: ")
        kept.append(Finding(code=code, line=first.line, address=docprefix, severity="red", message=message))
    return tuple(sorted(kept, key=lambda item: (item.line, item.code, item.severity != "red", item.message)))


def refuse_unaccepted(marking: Marking, *, only: frozenset[str] | None = None) -> MarkRefusal | None:
    """Refuse a cut with a red finding that nobody accepted, and an acceptance of a finding that does not exist.

    `only` names the kinds that count, if another refusal follows.
    """
    red = marking.red
    unknown = [name for name, _ in marking.accepted if name not in red]
    if unknown:
        valid = f"the red findings are {', '.join(red)}" if red else "it has no red finding"
        return replace(
            refusal(
                UNKNOWN_ACCEPTANCE, None, f"accepted is {', '.join(unknown)}, which this text does not have: {valid}"
            ),
            findings=tuple(red.values()),
        )
    waiting = tuple(item for item in marking.unaccepted if only is None or item.code in only)
    if not waiting:
        return None
    first = waiting[0]
    others = f" ({len(waiting)} red findings wait in all)" if len(waiting) > 1 else ""
    text = first.message.removeprefix(f"line {first.line}: ")
    # the options that accept all findings at once, so that nobody meets them one after the other
    accept = " ".join(f"--accept {finding.name}" for finding in waiting)
    refused = refusal(
        first.code, first.line, f"{text}{others}; correct the text or the profile, or accept "
        f"{'each' if others else 'it'} with {accept} --because TEXT", red=len(waiting), name=first.name,
    )  # fmt: skip
    return replace(refused, findings=waiting)
