"""Review decisions: pending until the sovereign decides, then what was decided, by whom and by which statement."""

from __future__ import annotations

import psycopg
import pytest

from activities.run.approval_requests import end_request
from activities.run.course import void_run
from cutter.approvals import schema
from cutter.catalogue import Sovereign, WorkerRole
from cutter.messages import EndRequestInput, VoidInput
from cutter.types import Json
from tests.integration.storage.conftest import ENACT, At
from tests.support.database import Database
from tests.support.runs import Deployment, drive, law

DECISIONS = (
    "select to_jsonb(d) from cutter_governance.review_decision d where type = %s order by created_at desc limit 1"
)
WRITTEN = "IG_write_verify"


def decision(database: Database, kind: str = "lifecycle_enactment") -> Json:
    row: Json = database.value(DECISIONS, (kind,))
    return row


def outcome(row: Json) -> tuple[str, list[str], list[str]]:
    assert (row["decided_at"] is None) == (not row["decided_by"])
    return row["verdict"], row["decided_by"], row["approval_sha256"]


# --- what a row says ------------------------------------------------------------------------------------------------


def test_a_decision_is_pending_while_its_request_is_open_though_somebody_has_approved(at_enact: At) -> None:
    """Seed 000 §3."""
    assert outcome(decision(at_enact.database)) == ("PENDING", [], [])


def test_an_enactment_makes_its_decision_in_the_transaction_that_consumes_the_approval(at_enact: At) -> None:
    connection = at_enact.connect()
    number = at_enact.opened(connection, ENACT)
    assert decision(at_enact.database)["verdict"] == "PENDING"
    at_enact.enact(connection)
    assert at_enact.close(connection, number, {"units_enacted": 3}, ENACT)["status"] == "sealed"
    connection.commit()
    assert outcome(decision(at_enact.database)) == ("PASS", ["alice"], [at_enact.stage.offers[0]["approval_sha256"]])


def test_an_enactment_that_is_rolled_back_has_decided_nothing(at_enact: At) -> None:
    connection = at_enact.connect()
    at_enact.opened(connection, ENACT)
    connection.rollback()
    assert outcome(decision(at_enact.database)) == ("PENDING", [], [])


def test_the_cut_decision_of_leg_b_names_who_approved_the_cut(at_enact: At) -> None:
    used = at_enact.database.value(
        "select approval_sha256 from cutter_governance.approval_consumption where gate = 'SG_cut_authz'"
    )
    assert outcome(decision(at_enact.database, "cut")) == ("PASS", ["alice"], [used])


def test_after_a_rejection_no_row_says_that_the_enactment_passed(deployment: Deployment) -> None:
    """Seed 000 §3."""
    run_id = drive(deployment, law(2), until=WRITTEN).run_id
    kb_id, verdict = deployment.approve(run_id, Sovereign.LIFECYCLE, decision=schema.REJECT)
    rejected = EndRequestInput(
        run_id=run_id, gate=Sovereign.LIFECYCLE.value, status="rejected", approval_sha256=verdict.approval_sha256
    )
    end_request(deployment.deps[WorkerRole.CUTTER], rejected)
    assert deployment.run_row(run_id)["state"] == "failed_rejected"
    assert outcome(decision(deployment.database)) == ("REJECT", ["alice"], [verdict.approval_sha256])
    error = deployment.run_row(run_id)["last_error"]
    assert (error["outcome"], error["reason"], error["gate"]) == (
        "failed_rejected", "rejected by alice", "SG_lifecycle_authz"
    )  # fmt: skip
    assert (error["approval_sha256"], error["kb_id"]) == (verdict.approval_sha256, kb_id)


def test_after_a_void_the_decision_is_void(deployment: Deployment) -> None:
    """Seed 000 §3."""
    run_id = drive(deployment, law(2), until=WRITTEN).run_id
    deployment.request(run_id, Sovereign.LIFECYCLE)
    void = void_of(deployment, run_id)
    assert outcome(decision(deployment.database)) == ("VOID", ["alice"], [void])


def test_a_void_keeps_the_error_that_came_before_it(deployment: Deployment) -> None:
    """Seed 000 §3."""
    run_id = drive(deployment, law(2), until="IG_grant_probe").run_id
    stop = "select cutter_governance.fn_run_stop(%s, 'stopped_hard_cap', 'too slow')"
    deployment.database.value(stop, (run_id,), role="cutter_read")
    void = void_of(deployment, run_id)
    error = deployment.run_row(run_id)["last_error"]
    assert error["outcome"].startswith("voided_as_agreed")
    assert (error["approver"], error["approval_sha256"]) == ("alice", void)
    assert (error["before"]["outcome"], error["before"]["reason"]) == ("stopped_hard_cap", "too slow")


def void_of(deployment: Deployment, run_id: str) -> str:
    """Void a run with alice's signature; the statement's digest."""
    kb_id, gate = deployment.sign_order(run_id, schema.VOID)
    verdict = deployment.judge(run_id, gate, kb_id)
    answer = void_run(deployment.deps[WorkerRole.EXEC], VoidInput(run_id=run_id, kb_id=kb_id))
    assert answer.code == "voided", answer
    return verdict.approval_sha256


def test_a_request_that_nobody_answered_leaves_an_expired_decision_and_no_drift(deployment: Deployment) -> None:
    run_id = drive(deployment, law(2), until=WRITTEN).run_id
    deployment.request(run_id, Sovereign.LIFECYCLE)
    deployment.database.run(
        "update cutter_governance.approval_request set expires_at = clock_timestamp() where status = 'requested'"
    )
    call = "select cutter_governance.fn_request_end(%s, 'SG_lifecycle_authz', 'expired')"
    deployment.database.value(call, (run_id,), role="cutter_read")
    assert outcome(decision(deployment.database)) == ("EXPIRED", [], [])
    resumed = "select cutter_governance.fn_run_resume(%s) ->> 'status'"
    assert deployment.database.value(resumed, (run_id,), role="cutter_read") == "resumed"
    deployment.approve(run_id, Sovereign.LIFECYCLE)
    driven = drive(deployment, run_id=run_id, document_id=deployment.run_row(run_id)["document_id"])
    assert driven.state == "closeout_reported"
    assert outcome(decision(deployment.database))[0] == "PASS"


# --- who may write it -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("role", ["cutter_owner", "postgres"])
@pytest.mark.parametrize(
    "change",
    [
        "verdict = 'PASS', decided_by = '{alice}', decided_at = now(), approval_sha256 = '{x}'",
        "verdict = 'EXPIRED'",
        "actor = 'x'",
    ],
)
def test_a_pending_decision_is_decided_by_no_statement(at_enact: At, role: str, change: str) -> None:
    connection = at_enact.connect(role)
    with pytest.raises(psycopg.Error, match="except its one decision") as refused:
        connection.execute(f"update cutter_governance.review_decision set {change} where verdict = 'PENDING'")
    assert refused.value.sqlstate == "CU005"


@pytest.mark.parametrize("change", ["verdict = 'PENDING', decided_by = '{}', decided_at = null", "verdict = 'VOID'"])
def test_a_decision_is_made_once(at_end: At, change: str) -> None:
    with pytest.raises(psycopg.Error, match="except its one decision"):
        at_end.connect("postgres").execute(f"update cutter_governance.review_decision set {change}")


def test_a_verdict_in_an_insert_is_not_taken_over(at_enact: At) -> None:
    """Whoever writes as the owner gets a pending row."""
    connection = at_enact.connect("cutter_owner")
    row = connection.execute(
        "insert into cutter_governance.review_decision (review_decision_id, run_id, type, actor, created_by, verdict,"
        " decided_by, decided_at, approval_sha256) values (gen_random_uuid(), %s, 'lifecycle_enactment', 'x', 'x',"
        " 'PASS', '{alice}', now(), '{x}') returning to_jsonb(review_decision)",
        (at_enact.run_id,),
    ).fetchone()
    assert row is not None
    assert outcome(row[0]) == ("PENDING", [], [])  # type: ignore[arg-type]


# --- the survey -----------------------------------------------------------------------------------------------------


def test_a_decision_that_was_changed_before_the_approval_is_drift_all_the_same(at_enact: At) -> None:
    """The pins follow the one decision, and nothing that was changed before it."""
    superuser = at_enact.connect("postgres")
    superuser.execute("set session_replication_role = replica")
    superuser.execute("alter table cutter_governance.review_decision disable trigger trg_review_decision_once")
    superuser.execute("update cutter_governance.review_decision set actor = 'x' where type = 'cut'")
    superuser.execute("set constraints all immediate")
    superuser.execute("alter table cutter_governance.review_decision enable always trigger trg_review_decision_once")
    superuser.commit()
    answer = at_enact.open(at_enact.connect(), ENACT)
    assert (answer["status"], answer["drift"]["dimension"]) == ("drift", "review_decision")
