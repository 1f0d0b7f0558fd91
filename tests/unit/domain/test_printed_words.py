"""Small texts that people read: amounts, the specification's codes of a stop."""

from __future__ import annotations

from dataclasses import replace

import pytest

from cutter.domain.amounts import counted
from cutter.domain.next_step import Needs, StepFacts, next_step
from cutter.domain.run_state import RunState


@pytest.mark.parametrize(("number", "shown"), [(0, "0 units"), (1, "1 unit"), (2, "2 units")])
def test_one_of_a_thing_is_said_in_the_singular(number: int, shown: str) -> None:
    assert counted(number, "unit") == shown


@pytest.mark.parametrize(
    ("state", "code"),
    [
        ("stopped_drift_schema", "STOP_DRIFT_schema"), ("stopped_soft_cap_mark", "STOP_AND_ESCALATE"),
        ("stopped_hard_cap", "STOP_AND_ESCALATE"), ("stopped_stop", None), ("failed_mark", None),
    ],
)  # fmt: skip
def test_a_stop_has_the_code_that_the_specification_gives_it(state: str, code: str | None) -> None:
    """Seeds 000 §6, 000 §8."""
    assert RunState(state).stop_code == code


@pytest.mark.parametrize(
    ("approved", "exec_worker", "needs", "command"),
    [
        (False, True, Needs.APPROVAL, "cutter approve D"), (True, True, Needs.EXECUTION, "cutter status D --watch"),
        (True, False, Needs.WORKER, "cutter up"),
    ],
)  # fmt: skip
def test_what_was_approved_is_not_asked_for_again(
    approved: bool, exec_worker: bool, needs: Needs, command: str
) -> None:
    waiting = StepFacts(run_id="R", document_id="D", state="awaiting_cut_authorization")
    step = next_step(replace(waiting, approved=approved, exec_worker=exec_worker))
    assert (step.needs, step.command) == (needs, command)


def test_a_refused_version_of_an_enacted_law_is_corrected_like_any_text() -> None:
    run = StepFacts(run_id="R", document_id="D", state="failed_source_pin")
    refused = next_step(replace(run, law_by="L"))
    assert refused == next_step(run)
    assert "source add" in refused.command
