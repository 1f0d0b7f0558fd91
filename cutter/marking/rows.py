"""Pure: decides for each heading whether it is a unit, a row that is not in force, a group header, or text of its
unit.

A law's own markers decide which rows are in force (facts-domain, "status of a row"). Tier 1 is the marker of the group
header above a row, tier 2 the row's own, tier 3 the profile's default. A row is cut only if neither of its markers
objects. So a 📋 row in an enacted group is not cut, and a ✅ row in a deferred group is not cut either.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from cutter.marking.lines import Lines
from cutter.marking.options import Options
from cutter.marking.profile import EXCLUSION_REASONS, STATUSES, Profile, StatusRules
from cutter.marking.recognise import Heading
from cutter.marking.result import Finding

TIER_GROUP = "tier_1_group_header"
TIER_ROW = "tier_2_row_marker"
TIER_DEFAULT = "tier_3_default"


@dataclass(frozen=True, slots=True)
class RowStatus:
    """A row's effective status, the tier that decided it, and whether the two markers disagree."""

    status: str
    basis: str
    conflict: bool


def row_status(row: str, groups: tuple[str, ...], rules: StatusRules) -> RowStatus:
    """Effective status from the row's marker and those of the headers above it, outermost first ("" is none)."""
    group = max((status for status in groups if status), key=STATUSES.index, default="")
    if not row and not group:
        return RowStatus(rules.default, TIER_DEFAULT, conflict=False)
    if not row:
        return RowStatus(group, TIER_GROUP, conflict=False)
    if not group or STATUSES.index(row) >= STATUSES.index(group):
        return RowStatus(row, TIER_ROW, conflict=False)
    return RowStatus(group, TIER_GROUP, conflict=True)


class GroupStack:
    """The group headers that are open at a line, by depth."""

    def __init__(self) -> None:
        self._open: list[tuple[int, str]] = []

    def enter(self, header: Heading) -> None:
        """Open a header, and close the open headers of its depth and below."""
        while self._open and self._open[-1][0] >= header.depth:
            self._open.pop()
        self._open.append((header.depth, header.status))

    def statuses(self) -> tuple[str, ...]:
        """Markers of the open headers, outermost first."""
        return tuple(status for _, status in self._open)


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
    rules = profile.status
    enacted_only = rules is not None and (options.scope == "enacted_only" if options.scope else rules.enacted_only)
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
        if rules is None:
            rows.append(Row(heading=heading, kind="unit"))
            continue
        state = row_status(heading.status, groups.statuses(), rules)
        if state.conflict:
            line = lines.number(heading.index)
            message = f"line {line}: is marked {heading.status} under a header that is {state.status}; "
            message += "the header counts"
            findings.append(Finding(code="status_conflict", line=line, message=message, severity="amber"))
        if not enacted_only or state.status == "enacted":
            rows.append(Row(heading=heading, kind="unit"))
        else:
            reason = EXCLUSION_REASONS[state.status]
            rows.append(Row(heading=heading, kind="excluded", reason=reason, basis=state.basis))
    return tuple(rows), findings
