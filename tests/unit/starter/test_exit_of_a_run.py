"""What a command that starts a run or goes on with one ends with."""

from __future__ import annotations

import pytest

from starter.commands.run import _on_lines, exit_code
from starter.console.terminal import ExitCode


@pytest.mark.parametrize(
    ("state", "code"),
    [
        ("closeout_reported", ExitCode.DONE), ("skipped", ExitCode.DONE), ("failed_mark", ExitCode.FAILED),
        ("failed_rejected", ExitCode.FAILED), ("stopped_hard_cap", ExitCode.STOPPED),
        ("voided_as_agreed", ExitCode.STOPPED), ("awaiting_cut_authorization", ExitCode.WAITING),
    ],
)  # fmt: skip
def test_success_is_exit_0_and_failure_is_not(state: str, code: ExitCode) -> None:
    """Seed 000 §7."""
    assert exit_code({}, state, wait=True) is code


def test_a_refused_answer_is_an_exit_code_of_its_own_but_a_question_is_not() -> None:
    """Seed 000 §3: without a valid approval the run does not go on."""
    refused = {"answer": {"status": "refused", "code": "signer_not_allowed"}}
    asked = {"answer": {"status": "refused", "code": "approval_needed"}}
    assert exit_code(refused, "awaiting_cut_authorization", wait=False) is ExitCode.STOPPED
    assert exit_code(asked, "awaiting_cut_authorization", wait=False) is ExitCode.DONE


def test_an_accepted_resume_is_done_before_the_run_has_left_its_stop() -> None:
    accepted = {"answer": {"status": "accepted", "code": "resume"}}
    assert exit_code(accepted, "stopped_policy_backup", wait=False, goes_on=True) is ExitCode.DONE
    assert exit_code(accepted, "stopped_policy_backup", wait=False) is ExitCode.STOPPED


def test_a_person_reads_the_answer_as_a_text() -> None:
    asked = {"status": "refused", "code": "refused", "reason": "the stop needs a signed resume"}
    assert _on_lines({"state": "s", "answer": asked})["answer"] == "refused: the stop needs a signed resume"
    assert (
        _on_lines({"state": "s", "answer": {"status": "accepted", "code": "resumed"}})["answer"] == "accepted: resumed"
    )
    assert _on_lines({"state": "s"}) == {"state": "s"}
