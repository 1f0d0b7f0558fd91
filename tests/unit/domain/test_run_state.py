"""What a run's state says of the run."""

from __future__ import annotations

import pytest

from cutter.catalogue import SKIPPED, State
from cutter.domain.run_state import RunState

QUESTIONS = ("stopped", "failed", "voided", "halted", "terminal", "drifted", "over_cap", "broken", "unavailable")


@pytest.mark.parametrize(
    ("state", "answers", "reason"),
    [
        ("stopped_drift_schema", {"stopped", "halted", "drifted"}, "drift_schema"),
        ("stopped_soft_cap_mark", {"stopped", "halted", "over_cap"}, "soft_cap_mark"),
        ("stopped_hard_cap", {"stopped", "halted", "over_cap"}, "hard_cap"),
        ("stopped_error_plan", {"stopped", "halted", "broken"}, "error_plan"),
        ("stopped_unavailable_kb", {"stopped", "halted", "unavailable"}, "unavailable_kb"),
        ("stopped_stop", {"stopped", "halted"}, "stop"),
        ("failed_mark", {"failed", "halted", "terminal"}, "mark"),
        ("voided_cancelled", {"voided", "halted", "terminal"}, "cancelled"),
        (State.CLOSEOUT_REPORTED.value, {"terminal"}, ""),
        (SKIPPED, {"terminal"}, ""),
        (State.AWAITING_CUT_AUTHORIZATION.value, set(), ""),
        ("", set(), ""),
        (None, set(), ""),
    ],
)
def test_a_state_answers_what_it_is(state: str | None, answers: set[str], reason: str) -> None:
    asked = RunState(state)
    assert {name for name in QUESTIONS if getattr(asked, name)} == answers
    assert asked.reason == reason


def test_every_state_of_the_catalogue_is_a_plain_state() -> None:
    for state in State:
        halted = any(getattr(RunState(state.value), name) for name in QUESTIONS if name != "terminal")
        assert not halted, state
