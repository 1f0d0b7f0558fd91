"""Pure: the order in which a queue hands out its tasks (seed 002; spec 05 "Priority, cancellation, budgets")."""

from __future__ import annotations

from enum import IntEnum

from cutter import limits


class Urgency(IntEnum):
    """A lower number comes first. The numbers are Temporal's priority keys, of which there are five."""

    INTERACTIVE = 1
    LATE_APPROVAL = 2
    BATCH = 3
    OVERNIGHT = 4
    LAST = 5


def of_priority(priority: int) -> Urgency:
    """The class of a single run by its priority, lower first. Beyond each step one more class goes first."""
    return Urgency(1 + sum(priority > step for step in limits.PRIORITY_STEPS))
