"""SIGKILL to each process of the stack while a run is on its way; `cutter up`, and it goes on."""

from __future__ import annotations

import pytest

from tests.cases.kill_moments import MOMENTS, Moment, come
from tests.cases.whole_run import shortcomings
from tests.support.laws import law
from tests.support.processes import CUTTER_WORKER, EXEC, POSTGRES, TEMPORAL, VERIFY, Stack, wait

UNITS = 12
BY_GATE = {moment.gate: moment for moment in MOMENTS if moment.cut is None}


@pytest.mark.parametrize(
    ("victim", "moment"),
    [
        (CUTTER_WORKER, BY_GATE["IG_backup"]),
        pytest.param(EXEC, BY_GATE["IG_leg_b_record"], marks=pytest.mark.promise),
        (VERIFY, BY_GATE["IG_write_verify"]),
        (TEMPORAL, BY_GATE["IG_backup"]),
        (POSTGRES, BY_GATE["IG_leg_b_record"]),
    ],
    ids=lambda value: value.gate if isinstance(value, Moment) else value,
)
def test_a_run_survives_a_kill(standing: Stack, victim: str, moment: Moment) -> None:
    """Seed 003 §3.1."""
    document = f"KILLED-{victim.upper()}"
    standing.add(document, law(UNITS))
    run_id = standing.json("run", document)["run_id"]
    if moment.gate != "IG_backup":
        approved(standing, run_id, document, "awaiting_cut_authorization")
    come(standing, run_id, moment)
    standing.kill(victim)
    assert f"{victim} had died" in standing.up().stderr
    if moment.gate == "IG_backup":
        approved(standing, run_id, document, "awaiting_cut_authorization")
    approved(standing, run_id, document, "awaiting_lifecycle_authorization")
    ended(standing, run_id, "closeout_reported")
    assert shortcomings(standing, run_id, document, UNITS) == []


def test_a_run_survives_the_loss_of_all_of_temporals_data(standing: Stack) -> None:
    """PostgreSQL is the authority: the receipts answer the finished gates in a new execution of the same run."""
    document = "TEMPORAL-LOST"
    standing.add(document, law(UNITS))
    run_id = standing.json("run", document, "--wait", code=3)["run_id"]
    approved(standing, run_id, document, "awaiting_cut_authorization")
    ended(standing, run_id, "awaiting_lifecycle_authorization")
    receipts = receipt_hashes(standing, run_id)
    standing.kill(TEMPORAL)
    for file in (standing.state / "temporal").glob("temporal.db*"):
        file.unlink()
    standing.up()
    assert standing.temporal("workflow", "describe", "-w", f"document/{document}", code=None).returncode != 0
    again = standing.json("orchestrate", "resume", "--run-id", run_id, "--wait", code=3)
    assert again["run_id"] == run_id
    assert receipt_hashes(standing, run_id) == receipts, "no finished gate was done again"
    approved(standing, run_id, document, "awaiting_lifecycle_authorization")
    ended(standing, run_id, "closeout_reported")
    assert shortcomings(standing, run_id, document, UNITS) == []


def approved(stack: Stack, run_id: str, document: str, state: str) -> None:
    """Wait until the run waits in this state, approve, hand it over with the `temporal` command."""
    ended(stack, run_id, state)
    stack.signal(document, stack.approve(run_id))


def ended(stack: Stack, run_id: str, state: str) -> None:
    """Wait until the run waits for people or is over, in this state, all its documents put."""
    wait(lambda: stack.waits_in(run_id) == state, seconds=90, what=f"{run_id} is {state}")


def receipt_hashes(stack: Stack, run_id: str) -> list[str]:
    rows = stack.rows(
        "select receipt_hash from cutter_governance.gate_receipt where run_id = %s order by sealed_at", (run_id,)
    )
    return [str(row["receipt_hash"]) for row in rows]
