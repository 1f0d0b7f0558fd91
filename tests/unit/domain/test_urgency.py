"""A single run's priority as a class of the engine's: lower first, and by default before everything."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from cutter.domain.task_priority import Urgency, of_priority
from cutter.limits import PRIORITY_DEFAULT, PRIORITY_MAX, PRIORITY_STEPS

PRIORITIES = st.integers(0, PRIORITY_MAX)


def test_each_step_lets_one_more_class_go_first() -> None:
    assert [of_priority(priority) for priority in (0, PRIORITY_DEFAULT)] == [Urgency.INTERACTIVE] * 2
    assert [of_priority(step + 1) for step in PRIORITY_STEPS] == [
        Urgency.LATE_APPROVAL, Urgency.BATCH, Urgency.OVERNIGHT, Urgency.LAST,
    ]  # fmt: skip
    assert of_priority(PRIORITY_MAX) is Urgency.LAST


@given(PRIORITIES, PRIORITIES)
def test_a_lower_number_never_waits_for_a_higher_one(priority: int, other: int) -> None:
    """Seed 002 "Queue and Cancellation Controls"."""
    assert (priority <= other) <= (of_priority(priority) <= of_priority(other))
