"""Pure: in which order a queue of tasks is worked off (seed 002; spec 05 "Priority, cancellation, budgets")."""

from __future__ import annotations

from enum import IntEnum


class Urgency(IntEnum):
    """Lower first; the numbers are Temporal's priority keys, of which there are five."""

    INTERACTIVE = 1
    LATE_APPROVAL = 2
    BATCH = 3
    OVERNIGHT = 4
