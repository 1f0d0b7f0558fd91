"""Pure: decides from a law's own markers which rows are in force (facts-domain, "status of a row").

Tier 1 is the marker of the group header above a row, tier 2 the row's own, tier 3 the profile's default. A row is cut
only if neither of its markers objects. So a 📋 row in an enacted group is not cut, and a ✅ row in a deferred group is
not cut either.
"""

from __future__ import annotations

from dataclasses import dataclass

from cutter.marking.profile import STATUSES, StatusRules
from cutter.marking.recognise import Heading

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
