"""Leg A's look at what it committed, when somebody or something comes in between."""

from __future__ import annotations

import pytest

from activities.void import void_run
from cutter.approvals import schema
from cutter.errors import CutterError
from cutter.gates.catalogue import Sovereign, WorkerRole
from cutter.messages import VoidInput
from tests.integration.storage.conftest import LEG_A
from tests.support.runs import Deployment, drive, law


def committed(deployment: Deployment) -> tuple[str, str]:
    """A run that is about to write, with its approval: (run id, KB id)."""
    driven = drive(deployment, law(3), until="IG_grant_probe")
    kb_id, verdict = deployment.approve(driven.run_id, Sovereign.CUT)
    assert verdict.accepted, verdict
    return driven.run_id, kb_id


def test_a_void_right_after_the_commit_ends_the_run_and_fails_nothing(deployment: Deployment) -> None:
    run_id, approval = committed(deployment)
    deps = deployment.deps[WorkerRole.EXEC]

    def void(_gate: str) -> None:
        order = deployment.order(run_id, schema.VOID)
        assert void_run(deps, VoidInput(run_id=run_id, kb_id=order.kb_id)).code == "voided"

    deps.after_commit.append(void)
    try:
        outcome = deployment.gate(LEG_A, run_id, (approval,))
    finally:
        deps.after_commit.remove(void)
    state = deployment.run_row(run_id)["state"]
    assert state.startswith("voided_as_agreed")
    assert (outcome.status, outcome.code, outcome.state) == ("ended", "voided_meanwhile", state)
    again = deployment.gate(LEG_A, run_id, (approval,))
    assert (again.status, again.code, again.state) == ("ended", "voided_meanwhile", state), (
        "a later try is told the same"
    )


def test_a_look_that_the_database_does_not_answer_is_an_error_of_ours(deployment: Deployment) -> None:
    run_id, approval = committed(deployment)
    deps = deployment.deps[WorkerRole.EXEC]
    function = "execute on function cutter_governance.fn_writer_digest(text)"

    def away(_gate: str) -> None:
        deployment.database.run(f"revoke {function} from cutter_exec")  # type: ignore[arg-type]

    deps.after_commit.append(away)
    try:
        with pytest.raises(CutterError):
            deployment.gate(LEG_A, run_id, (approval,))
    finally:
        deps.after_commit.remove(away)
        deployment.database.run(f"grant {function} to cutter_exec")  # type: ignore[arg-type]
    assert deployment.gate(LEG_A, run_id, (approval,)).status == "passed", "what was committed is found"
