"""Pure: decides for each heading whether it is a unit, a row that is not in force, a group header, or text of its
unit.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from cutter.marking.lines import Lines
from cutter.marking.options import Options
from cutter.marking.profile import EXCLUSION_REASONS, Profile
from cutter.marking.recognise import Heading
from cutter.marking.result import Finding
from cutter.marking.status import GroupStack, row_status


@dataclass(slots=True, kw_only=True)
class Row:
    """A heading with its role in the cut. `reason` and `basis` say why an excluded row is not cut."""

    heading: Heading
    kind: Literal["unit", "excluded", "group"]
    reason: str = ""
    basis: str = ""


def rows_of(
    headings: list[Heading], lines: Lines, profile: Profile, options: Options
) -> tuple[tuple[Row, ...], list[Finding]]:
    """Rows in document order, and a finding for each ✅ row under a header that is not enacted."""
    rows: list[Row] = []
    findings: list[Finding] = []
    groups = GroupStack()
    current: Heading | None = None
    for heading in headings:
        if not profile.other_headings_are_units and heading.level is None:
            if current is not None and heading.depth > current.depth:
                continue  # a heading inside a row is text of that row
            groups.enter(heading)
            rows.append(Row(heading=heading, kind="group"))
            current = None
            continue
        current = heading
        rows.append(_row(heading, groups, lines, profile, options, findings))
    return tuple(rows), findings


def _row(
    heading: Heading, groups: GroupStack, lines: Lines, profile: Profile, options: Options, findings: list[Finding]
) -> Row:
    rules = profile.status
    if rules is None:
        return Row(heading=heading, kind="unit")
    state = row_status(heading.status, groups.statuses(), rules)
    if state.conflict:
        line = lines.number(heading.index)
        message = f"line {line}: is marked {heading.status} under a header that is {state.status}; the header counts"
        findings.append(Finding(code="status_conflict", line=line, message=message, severity="amber"))
    enacted_only = rules.enacted_only if options.scope is None else options.scope == "enacted_only"
    if not enacted_only or state.status == "enacted":
        return Row(heading=heading, kind="unit")
    return Row(heading=heading, kind="excluded", reason=EXCLUSION_REASONS[state.status], basis=state.basis)
