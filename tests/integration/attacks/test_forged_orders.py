"""A person with cutter_read's password can record a resume as signed, so the writer checks the signature itself."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from time import sleep
from typing import Any, LiteralString

import pytest

from activities import approval_judge
from activities.run.course import void_run
from cutter import limits
from cutter.approvals import schema
from cutter.catalogue import BY_NAME, Sovereign, WorkerRole
from cutter.domain.digests import sha256_hex
from cutter.errors import Refused
from cutter.messages import VoidInput
from cutter.storage import runs as run_rows
from cutter.storage.runs import mint_run_id
from tests.support.gate_calls import store_verdict
from tests.support.runs import Deployment, drive, law, next_epoch

CUT, LIFECYCLE = Sovereign.CUT.value, Sovereign.LIFECYCLE.value
LEG_A, ENACT = "IG_cut_leg_a_execute", "IG_lifecycle_enact_execute"
RESUME = "select cutter_governance.fn_run_resume(%s, %s)"
STOP = "select cutter_governance.fn_stop_set(%s, 'stop', 'a mistake', 'olga')"
UNITS = "select count(*) from public.information_unit where deleted_at is null"


def stopped(made: Deployment, run_id: str, state: str = "stopped_stop") -> None:
    if state == "stopped_stop":
        made.database.value(STOP, (run_id,), role="cutter_operator")
    made.database.value("select cutter_governance.fn_run_stop(%s, %s, 'a test')", (run_id, state), role="cutter_read")


def resumed(made: Deployment, run_id: str, statement_sha256: str | None) -> Any:
    return made.database.value(RESUME, (run_id, statement_sha256), role="cutter_read")


def sha256_of(made: Deployment, kb_id: str) -> str:
    return sha256_hex(made.deps[WorkerRole.CUTTER].kb.get(kb_id, limit=limits.STATEMENT_BYTES_MAX))


def forged(made: Deployment, run_id: str, kb_id: str, sha256: str, gate: str = CUT, **statement: str) -> None:
    """A resume that the reader says was signed is stored, however it came there, and lifts the stop."""
    decision = "acknowledge_drift" if "fingerprint" in statement else "resume"
    epoch = made.database.value("select sha256 from cutter_governance.policy_epoch where number = 1")
    verdict = {
        "approval_sha256": sha256, "accepted": True, "code": "accepted", "reason": "", "decision": decision,
        "approver": "alice", "fingerprint": "F" * 40, "not_after": "2099-01-01T00:00:00Z", "policy_sha256": epoch,
        "statement": statement,
    }  # fmt: skip
    store_verdict(made.database, run_id, gate, kb_id, verdict)
    assert resumed(made, run_id, sha256)["status"] == "resumed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempted:
    """What came of a gate's attempt to write: its refusal, the units that it wrote, and the void that followed."""

    code: str
    reason: str
    units_written: int
    void: str

    def refused_for(self, reason: str) -> bool:
        """True if the order was refused for that reason, no unit was written, and the void ended the run."""
        stopped = (self.code, self.units_written, self.void) == ("STOP_ORDER_UNVERIFIED", 0, "voided")
        return stopped and re.search(reason, self.reason) is not None


def attempted(made: Deployment, run_id: str, gate: str = LEG_A) -> Attempted:
    """Approve the gate, let its writer try, and void the run after the refusal."""
    before = made.database.value(UNITS)
    approval, verdict = made.approve(run_id, BY_NAME[gate].sovereign or CUT)
    assert verdict.accepted, verdict
    with pytest.raises(Refused) as refusal:
        made.gate(gate, run_id, [approval])
    written = made.database.value(UNITS) - before
    kb_id, named = made.sign_order(run_id, schema.VOID)
    assert made.judge(run_id, named, kb_id).accepted
    order = VoidInput(run_id=run_id, kb_id=kb_id, document_id=made.run_row(run_id)["document_id"])
    void = void_run(made.deps[WorkerRole.EXEC], order).code
    return Attempted(code=refusal.value.code, reason=str(refusal.value), units_written=written, void=void)


@pytest.fixture
def run_id(deployment: Deployment) -> str:
    """A run that a person has stopped before its cut."""
    run_id = drive(deployment, law(2), until="IG_grant_probe").run_id
    stopped(deployment, run_id)
    return run_id


def test_a_stop_that_nobody_s_signature_lifted_writes_nothing(deployment: Deployment, run_id: str) -> None:
    forged(deployment, run_id, "orders/none.md", "a" * 64)
    assert attempted(deployment, run_id).refused_for("kb_not_found")


def test_a_genuine_resume_of_another_run_lifts_nothing_here(deployment: Deployment, run_id: str) -> None:
    other = drive(deployment, law(2), until="IG_grant_probe").run_id
    stopped(deployment, other)
    theirs, _ = deployment.sign_order(other, schema.RESUME, stopped_state="stopped_stop")
    forged(deployment, run_id, theirs, sha256_of(deployment, theirs))
    assert attempted(deployment, run_id).refused_for("run_id_mismatch")


def test_a_genuine_resume_of_another_stop_does_not_lift_this_one(deployment: Deployment) -> None:
    run_id = drive(deployment, law(2), until="IG_grant_probe").run_id
    stopped(deployment, run_id, "stopped_hard_cap")
    unused, _ = deployment.sign_order(run_id, schema.RESUME, stopped_state="stopped_hard_cap")
    later()
    used = deployment.order(run_id, schema.RESUME, stopped_state="stopped_hard_cap")
    assert resumed(deployment, run_id, used.approval_sha256)["status"] == "resumed"
    stopped(deployment, run_id)
    forged(deployment, run_id, unused, sha256_of(deployment, unused))
    assert attempted(deployment, run_id).refused_for("stopped_state_mismatch")


def test_a_resume_that_was_signed_before_a_stop_does_not_lift_it_whatever_it_is_called(
    deployment: Deployment, run_id: str
) -> None:
    """Two people sign a resume, the run uses one, and stops again. The unused resume must not lift the new stop."""
    unused, gate = deployment.sign_order(run_id, schema.RESUME, by=1, stopped_state="stopped_stop")
    used = deployment.order(run_id, schema.RESUME, stopped_state="stopped_stop")
    assert resumed(deployment, run_id, used.approval_sha256)["status"] == "resumed"
    later()
    stopped(deployment, run_id)
    verdict = deployment.judge(run_id, gate, unused)
    assert (verdict.accepted, verdict.code) == (False, "signed_before_the_stop")
    forged(deployment, run_id, unused, sha256_of(deployment, unused))
    assert attempted(deployment, run_id).refused_for("signed_before_the_stop")


def test_a_stop_is_no_older_for_a_state_that_the_run_had_already_stopped_in(deployment: Deployment) -> None:
    run_id = drive(deployment, law(2), until="IG_grant_probe").run_id
    stopped(deployment, run_id, "stopped_hard_cap")
    unused, gate = deployment.sign_order(run_id, schema.RESUME, stopped_state="stopped_hard_cap")
    later()
    deployment.database.value(STOP, (run_id,), role="cutter_operator")
    assert deployment.judge(run_id, gate, unused).code == "signed_before_the_stop"
    forged(deployment, run_id, unused, sha256_of(deployment, unused))
    assert attempted(deployment, run_id).refused_for("signed_before_the_stop")


def test_a_signed_stop_does_not_become_a_policy_s_that_old_approvals_lift(deployment: Deployment) -> None:
    run_id = drive(deployment, law(2), until=LEG_A).run_id
    stopped(deployment, run_id, "stopped_hard_cap")
    stopped(deployment, run_id, f"stopped_policy_{BY_NAME['IG_structural_verify'].phase}")
    assert deployment.run_row(run_id)["state"] == "stopped_hard_cap"
    assert resumed(deployment, run_id, None)["status"] == "refused"


def test_who_signs_that_a_run_goes_on_from_the_stop_that_this_made_answers_for_it(
    deployment: Deployment, run_id: str
) -> None:
    other = drive(deployment, law(2), until="IG_grant_probe").run_id
    stopped(deployment, other)
    theirs, _ = deployment.sign_order(other, schema.RESUME, stopped_state="stopped_stop")
    forged(deployment, run_id, theirs, sha256_of(deployment, theirs))
    approval, _ = deployment.approve(run_id, CUT)
    with pytest.raises(Refused, match=f"void it, or sign a resume if it may continue nevertheless: {theirs}"):
        deployment.gate(LEG_A, run_id, [approval])
    stop = f"stopped_error_{BY_NAME[LEG_A].phase}"
    stopped(deployment, run_id, stop)
    signed = deployment.order(run_id, schema.RESUME, stopped_state=stop)
    assert resumed(deployment, run_id, signed.approval_sha256)["status"] == "resumed"
    document = deployment.run_row(run_id)["document_id"]
    assert drive(deployment, document_id=document, run_id=run_id).state == "closeout_reported"


def test_an_order_of_one_gate_s_approver_is_judged_by_the_gate_that_was_ahead(
    deployment: Deployment, run_id: str
) -> None:
    """The verdict names another gate, but the statement is for the gate that was next in the run."""
    genuine, _ = deployment.sign_order(run_id, schema.RESUME, stopped_state="stopped_stop")
    forged(deployment, run_id, genuine, sha256_of(deployment, genuine), gate=LIFECYCLE)
    document = deployment.run_row(run_id)["document_id"]
    assert drive(deployment, document_id=document, run_id=run_id, until=ENACT).state == "lifecycle_enacted"
    with pytest.raises(Refused, match="if the run may close nevertheless"):
        deployment.gate("IG_closeout", run_id)


def test_what_was_signed_for_a_batch_is_not_for_a_second_run_after_people_ended_the_first(
    deployment: Deployment,
) -> None:
    """A stop, a rejection or a void says that people no longer want the write that they signed before."""
    document = deployment.register(law(2))
    first, second = (mint_run_id() for _ in range(2))
    make = "select cutter_governance.fn_run_make(%s, %s, 'live', 'olga', '{}', null, 'b', null)"
    ended = "select cutter_governance.fn_ended_by_people_at(%s)"
    deployment.database.value(make, (first, document))
    deployment.database.value("select cutter_governance.fn_run_move(%s, 'failed_mark', 'a test')", (first,))
    deployment.database.value(make, (second, document))
    assert deployment.database.value(ended, (second,)) is None, "nobody ended it"
    event = "select cutter_governance.fn_audit(%s, 'stop', '{}')"
    deployment.database.value(event, (first,))
    at = deployment.database.value("select at from cutter_governance.audit_event where kind = 'stop'")
    assert deployment.database.value(ended, (second,), role="cutter_exec") == at
    assert deployment.database.value(ended, (first,)) is None, "its own stop is lifted by a resume"


def later() -> None:
    """Wait longer than the second by which a signature's own time is inexact."""
    sleep(2.1)


def test_a_document_that_is_another_than_was_used_lifts_nothing(deployment: Deployment, run_id: str) -> None:
    """The signed resume is genuine, but another digest was consumed for it. So it could be used a second time."""
    genuine, _ = deployment.sign_order(run_id, schema.RESUME, stopped_state="stopped_stop")
    forged(deployment, run_id, genuine, "b" * 64)
    assert attempted(deployment, run_id).refused_for("put back what was signed: .*, is not what was used")


def test_an_acknowledgement_of_one_drift_is_none_of_another_whatever_the_reader_says(deployment: Deployment) -> None:
    run_id = drive(deployment, law(2), until="IG_backup").run_id
    fingerprint = drift(deployment, run_id, "more")
    signed, _ = deployment.sign_order(run_id, schema.ACKNOWLEDGE_DRIFT, fingerprint=fingerprint)
    other_fingerprint = drift(deployment, run_id, "more_still")
    forged(deployment, run_id, signed, sha256_of(deployment, signed), fingerprint=other_fingerprint)
    assert deployment.gate("IG_grant_probe", run_id).status == "passed"
    assert attempted(deployment, run_id).refused_for("fingerprint_mismatch")


def drift(made: Deployment, run_id: str, column: LiteralString) -> str:
    """Add a column, and return the fingerprint of the drift."""
    made.database.run(f"alter table public.vocabulary add column {column} text")
    made.gate("IG_grant_probe", run_id)
    made.database.value("select cutter_governance.fn_drift_look(%s)", (run_id,), role="cutter_operator")
    row = run_rows.drift(made.settings, run_id)
    assert row is not None
    return row.fingerprint


def test_the_epoch_that_is_in_force_counts_and_not_the_one_that_the_verdict_names(
    deployment: Deployment, run_id: str, tmp_path: Path
) -> None:
    """Bob signs, although he is no longer an approver, and the reader records that he was."""
    next_epoch(deployment, tmp_path / "approvers", people=1)
    genuine, _ = deployment.sign_order(run_id, schema.RESUME, by=1, stopped_state="stopped_stop")
    forged(deployment, run_id, genuine, sha256_of(deployment, genuine))
    assert attempted(deployment, run_id).refused_for("signer_not_allowed")


def test_what_a_person_signed_opens_the_gates_that_come(deployment: Deployment) -> None:
    run_id = drive(deployment, law(2), until="IG_backup").run_id
    signed = deployment.order(run_id, schema.ACKNOWLEDGE_DRIFT, fingerprint=drift(deployment, run_id, "more"))
    assert resumed(deployment, run_id, signed.approval_sha256)["status"] == "resumed"
    document = deployment.run_row(run_id)["document_id"]
    drive(deployment, document_id=document, run_id=run_id, until="IG_write_verify")
    stopped(deployment, run_id)
    again = deployment.order(run_id, schema.RESUME, by=1, stopped_state="stopped_stop")
    assert resumed(deployment, run_id, again.approval_sha256)["status"] == "resumed"
    assert drive(deployment, document_id=document, run_id=run_id).state == "closeout_reported"


@pytest.mark.parametrize(("until", "gate"), [("IG_grant_probe", LEG_A), ("IG_write_verify", ENACT)])
def test_a_resume_that_comes_while_a_writer_verifies_is_verified_by_its_next_attempt(
    deployment: Deployment, monkeypatch: pytest.MonkeyPatch, until: str, gate: str
) -> None:
    run_id = drive(deployment, law(2), until=until).run_id
    approval, _ = deployment.approve(run_id, BY_NAME[gate].sovereign or CUT)
    verified = approval_judge.require_signed_orders

    def late(*arguments: Any) -> None:
        verified(*arguments)
        stopped(deployment, run_id)
        forged(deployment, run_id, "orders/none.md", "a" * 64)

    monkeypatch.setattr(approval_judge, "require_signed_orders", late)
    outcome = deployment.gate(gate, run_id, [approval])
    assert (outcome.status, outcome.code) == ("ended", "stale_attempt")
    monkeypatch.setattr(approval_judge, "require_signed_orders", verified)
    assert attempted(deployment, run_id, gate).refused_for("kb_not_found")


def test_at_the_enactment_it_is_looked_at_again(deployment: Deployment) -> None:
    run_id = drive(deployment, law(2), until="IG_write_verify").run_id
    stopped(deployment, run_id)
    forged(deployment, run_id, "orders/none.md", "a" * 64, gate=LIFECYCLE)
    assert attempted(deployment, run_id, ENACT).refused_for("kb_not_found")


def test_what_a_person_signed_holds_under_later_epochs_too(deployment: Deployment, run_id: str, tmp_path: Path) -> None:
    verdict = deployment.order(run_id, schema.RESUME, stopped_state="stopped_stop")
    assert resumed(deployment, run_id, verdict.approval_sha256)["status"] == "resumed"
    next_epoch(deployment, tmp_path / "approvers")
    document = deployment.run_row(run_id)["document_id"]
    assert drive(deployment, document_id=document, run_id=run_id).state == "closeout_reported"
