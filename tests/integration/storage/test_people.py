"""What people decide, in the database: requests, stops, resumes, acknowledged drift, voids, outcomes."""

from __future__ import annotations

import json
from typing import Any, LiteralString

import psycopg
import pytest

from activities.outbox import publish
from cutter import sources
from cutter.approvals import schema
from cutter.catalogue import Role, Sovereign, WorkerRole
from cutter.domain import ids
from cutter.errors import Conflict, InvalidInput
from cutter.storage import runs as run_rows
from cutter.storage import sql_files
from starter.commands.stop import drift_rows
from tests.integration.storage.conftest import LEG_A, At
from tests.support import gate_calls as gates
from tests.support.database import OWNER, Database
from tests.support.gate_calls import meanwhile, one
from tests.support.runs import Deployment, drive, law, offer

RUN_STOP = "select cutter_governance.fn_run_stop(%s, %s, 'a reason')"
RESUME = "select cutter_governance.fn_run_resume(%s, %s)"
VOID = "select cutter_governance.fn_void_open(%s, %s, %s::jsonb)"
VOIDABLE = json.dumps({"sha256": "0" * 64, "decisions": [
    {"connector": "database", "operation": "withdraw_drafts", "verdict": "allow", "tier": None}]})  # fmt: skip
OPEN = "select cutter_governance.fn_request_open(%s, %s, %s, gen_random_uuid())"
STOP = "select cutter_governance.fn_stop_set(%s, %s, 'a reason', 'someone')"


def call(at: At, statement: str, *parameters: Any, role: str = "cutter_read") -> Any:
    return at.database.value(statement, parameters, role=role)


# --- stops and resumes ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("state", "signed"),
    [
        ("stopped_unavailable_database", False), ("stopped_soft_cap_mark", False), ("stopped_expired", False),
        ("stopped_signal_flood", False), ("stopped_terminated", False), ("stopped_hard_cap", True),
        ("stopped_stop", True), ("stopped_anything_new", True),
    ],
)  # fmt: skip
def test_outages_are_resumed_by_anybody_and_everything_else_by_a_signature(
    at_cut: At, state: str, signed: bool
) -> None:
    """Seed 000 §2."""
    assert call(at_cut, RUN_STOP, at_cut.run_id, state)["state"] == state
    answer = call(at_cut, RESUME, at_cut.run_id, None)
    assert answer["status"] == ("refused" if signed else "resumed")
    assert at_cut.run()["state"] == (state if signed else "grants_probed")


@pytest.mark.parametrize("state", ["stopped_expired", "stopped_unavailable_database", "stopped_signal_flood"])
def test_a_stop_that_needs_a_signature_is_not_turned_into_one_that_needs_none(at_cut: At, state: str) -> None:
    call(at_cut, RUN_STOP, at_cut.run_id, "stopped_hard_cap")
    assert call(at_cut, RUN_STOP, at_cut.run_id, state)["state"] == "stopped_hard_cap"
    connection = at_cut.connect()
    number = gates.attempt(connection, LEG_A, at_cut.run_id)
    connection.execute(
        "select cutter_governance.fn_gate_refuse(%s, %s, %s, 'x', 'x', null, %s)", (at_cut.run_id, LEG_A, number, state)
    )
    connection.commit()
    assert at_cut.run()["state"] == "stopped_hard_cap"
    assert call(at_cut, RESUME, at_cut.run_id, None)["status"] == "refused"


@pytest.mark.parametrize(("tier", "asked"), [("low", "low"), ("medium", "medium"), ("huge", "high"), (None, "high")])
def test_a_stop_of_an_unknown_tier_asks_for_the_highest(at_cut: At, tier: str | None, asked: str) -> None:
    stop = "select cutter_governance.fn_run_stop(%s, 'stopped_policy_backup', 'a reason', %s::jsonb)"
    call(at_cut, stop, at_cut.run_id, json.dumps({"tier": tier}))
    policy_stop = at_cut.database.value("select cutter_governance.fn_policy_stop(%s)", (at_cut.run_id,))
    assert (policy_stop["tier"], policy_stop["needed"]) == (asked, 2 if asked == "high" else 1)


@pytest.mark.parametrize("stage", ["at_cut", "at_enact"])
@pytest.mark.parametrize(
    "end",
    [
        "cutter_governance.fn_run_stop(run_id, 'failed_policy', 'a reason')",
        *(f"cutter_governance.fn_run_move(run_id, '{state}', 'a test')"
          for state in ("failed_mark", "voided_cancelled", "skipped", "closeout_reported")),
    ],
)  # fmt: skip
def test_no_request_outlives_its_run(request: pytest.FixtureRequest, stage: str, end: LiteralString) -> None:
    """Seed 003 §1.3."""
    at: At = request.getfixturevalue(stage)
    left = "select count(*) from cutter_governance.approval_request where status = 'requested'"
    assert at.database.value(left) == 1
    at.database.run(f"select {end} from cutter_governance.run")
    assert (at.run()["ended_at"] is not None, at.database.value(left)) == (True, 0)


def test_a_rehearsal_keeps_its_request_because_people_sign_it_for_the_night(at_cut: At) -> None:
    at_cut.database.run("update cutter_governance.run set outcome = 'rehearsed', ended_at = clock_timestamp()")
    assert at_cut.database.value("select array_agg(status) from cutter_governance.approval_request") == ["requested"]


@pytest.mark.parametrize(
    ("stage", "outcome", "status", "verdicts"),
    [
        ("at_cut", None, "canceled", None), ("at_cut", "rehearsed", "requested", None),
        ("at_enact", None, "expired", ["EXPIRED"]),
    ],
)  # fmt: skip
def test_a_migration_ends_the_requests_that_earlier_versions_left_open(
    request: pytest.FixtureRequest, stage: str, outcome: str | None, status: str, verdicts: list[str] | None
) -> None:
    database: Database = request.getfixturevalue(stage).database
    run, asked = "cutter_governance.run", "cutter_governance.approval_request"
    database.run(f"alter table {run} disable trigger trg_run_request")
    database.run(f"update {run} set state = 'failed_policy', outcome = %s, ended_at = clock_timestamp()", (outcome,))
    (left,) = (each for each in sql_files.shipped().migrations if each.name.endswith("_requests_of_ended_runs.sql"))
    database.run(left.body, role=OWNER)
    states = f"select array_agg(status) from {asked} where status <> 'approved'"
    assert database.value(states) == [status]
    decided = "select array_agg(verdict) from cutter_governance.review_decision where type <> 'cut'"
    assert database.value(decided) == verdicts


def test_a_new_request_does_not_lift_a_stop(at_cut: At) -> None:
    call(at_cut, RUN_STOP, at_cut.run_id, "stopped_hard_cap")
    answer = call(at_cut, OPEN, at_cut.run_id, "SG_cut_authz", 60)
    assert (answer["status"], answer["kind"]) == ("stopped", "hard_cap")
    assert at_cut.run()["state"] == "stopped_hard_cap"


def test_a_latched_stop_needs_a_signature_whatever_the_state(at_cut: At) -> None:
    call(at_cut, STOP, at_cut.run_id, "stop")
    call(at_cut, RUN_STOP, at_cut.run_id, "stopped_expired")
    assert call(at_cut, RESUME, at_cut.run_id, None)["code"] == "signed_statement_needed"


def test_a_signed_resume_is_used_once_and_lifts_the_latch(deployment: Deployment) -> None:
    run_id = drive(deployment, law(2), until="IG_grant_probe").run_id
    database = deployment.database
    for _ in range(2):
        database.value(STOP, (run_id, "stop"), role="cutter_operator")
        database.value(RUN_STOP, (run_id, "stopped_stop"), role="cutter_read")
        verdict = deployment.order(run_id, schema.RESUME, stopped_state="stopped_stop")
        assert verdict.accepted, verdict
        answer = database.value(RESUME, (run_id, verdict.approval_sha256), role="cutter_read")
        assert answer["status"] == "resumed"
        assert not database.value("select stopped from cutter_governance.stop_latch where run_id = %s", (run_id,))
    database.value(STOP, (run_id, "stop"), role="cutter_operator")
    database.value(RUN_STOP, (run_id, "stopped_stop"), role="cutter_read")
    again = database.value(RESUME, (run_id, verdict.approval_sha256), role="cutter_read")
    assert again["code"] == "signed_statement_needed"


def test_a_resume_that_was_signed_for_an_earlier_stop_does_not_lift_a_later_one(deployment: Deployment) -> None:
    """Two people sign, one document is used; the other one is no store for the next time."""
    run_id = drive(deployment, law(2), until="IG_grant_probe").run_id
    database = deployment.database
    database.value(RUN_STOP, (run_id, "stopped_hard_cap"), role="cutter_read")
    first, second = (deployment.order(run_id, schema.RESUME, by=n, stopped_state="stopped_hard_cap") for n in (0, 1))
    assert first.accepted, first
    assert second.accepted, second
    assert database.value(RESUME, (run_id, first.approval_sha256), role="cutter_read")["status"] == "resumed"
    database.value(RUN_STOP, (run_id, "stopped_hard_cap"), role="cutter_read")
    later = database.value(RESUME, (run_id, second.approval_sha256), role="cutter_read")
    assert later["code"] == "signed_statement_needed"


def test_a_cancel_ends_only_what_has_written_nothing(at_cut: At, at_end: At) -> None:
    with pytest.raises(psycopg.Error, match="neither a stop nor a failure"):
        call(at_cut, RUN_STOP, at_cut.run_id, "voided_cancelled")
    call(at_cut, STOP, at_cut.run_id, "cancel")
    assert call(at_cut, RUN_STOP, at_cut.run_id, "voided_cancelled")["state"] == "voided_cancelled"
    at_end.database.run("update cutter_governance.run set ended_at = null")
    call(at_end, STOP, at_end.run_id, "cancel")
    with pytest.raises(psycopg.Error, match="neither a stop nor a failure"):
        call(at_end, RUN_STOP, at_end.run_id, "voided_cancelled")


# --- drift ----------------------------------------------------------------------------------------------------------


def drifted(deployment: Deployment) -> str:
    """A run that met a database with one function more."""
    run_id = drive(deployment, law(2), until="IG_source_pin").run_id
    deployment.database.run("create function public.more() returns integer language sql as 'select 1'")
    outcome = deployment.gate("IG_mark", run_id)
    assert (outcome.status, outcome.code) == ("drift", "functions")
    assert deployment.run_row(run_id)["state"] == "stopped_drift_functions"
    return run_id


def acknowledge(deployment: Deployment, run_id: str) -> Any:
    report = deployment.run_row(run_id)["last_error"]["report"]
    verdict = deployment.order(run_id, schema.ACKNOWLEDGE_DRIFT, fingerprint=report["fingerprint"])
    assert verdict.accepted, verdict
    return deployment.database.value(RESUME, (run_id, verdict.approval_sha256), role="cutter_read")


def test_acknowledged_drift_counts_as_the_new_after_pins(deployment: Deployment) -> None:
    run_id = drifted(deployment)
    assert acknowledge(deployment, run_id)["status"] == "resumed"
    assert deployment.gate("IG_mark", run_id).status == "passed"


def test_what_stops_a_run_by_drift_is_reported_as_the_database_sees_it(deployment: Deployment) -> None:
    """Seed 000 §8."""
    run_id = drive(deployment, law(2), until="IG_source_pin").run_id
    deployment.database.run("create function public.more() returns integer language sql as 'select 1'")
    details = json.dumps({"fingerprint": "0" * 64, "tier": "low"})
    deployment.database.value(
        "select cutter_governance.fn_run_stop(%s, 'stopped_drift_functions', 'a reason', %s::jsonb)", (run_id, details),
        role="cutter_read",
    )  # fmt: skip
    report = deployment.run_row(run_id)["last_error"]["report"]
    assert (report["dimension"], "tier" in report) == ("functions", False)
    assert acknowledge(deployment, run_id)["status"] == "resumed"


def test_an_acknowledgement_of_one_drift_is_none_of_another(deployment: Deployment) -> None:
    """Seed 000 §2."""
    run_id = drifted(deployment)
    deployment.database.run("create function public.more_still() returns integer language sql as 'select 1'")
    answer = acknowledge(deployment, run_id)
    assert (answer["status"], answer["code"]) == ("refused", "not_what_was_acknowledged")
    assert deployment.run_row(run_id)["state"] == "stopped_drift_functions"
    assert acknowledge(deployment, run_id)["status"] == "resumed"


def test_drift_that_was_undone_is_acknowledged_once_as_the_state_that_is(deployment: Deployment) -> None:
    run_id = drifted(deployment)
    deployment.database.run("drop function public.more()")
    now = run_rows.drift(deployment.settings, run_id)
    assert now is not None
    assert (now.dimension, now.lines) == ("none", ())
    assert ("", "nothing differs any more") in drift_rows(now)
    assert acknowledge(deployment, run_id)["status"] == "resumed"
    assert deployment.gate("IG_mark", run_id).status == "passed"
    assert run_rows.drift(deployment.settings, run_id) is None


def test_looking_at_drift_again_changes_nothing_of_what_is_recorded(deployment: Deployment) -> None:
    run_id = drifted(deployment)
    before = deployment.run_row(run_id)
    now = run_rows.drift(deployment.settings, run_id)
    assert now is not None
    assert now.report == before["last_error"]["report"]
    assert deployment.run_row(run_id) == before


def test_an_acknowledgement_does_not_lift_a_latched_stop(deployment: Deployment) -> None:
    run_id = drifted(deployment)
    deployment.database.value(STOP, (run_id, "stop"), role="cutter_operator")
    assert acknowledge(deployment, run_id)["status"] == "resumed"
    assert deployment.gate("IG_mark", run_id).status == "stopped"


def test_drift_that_appeared_while_a_gate_was_open_can_be_acknowledged_afterwards(at_cut: At) -> None:
    """The fingerprint is of the database as the rolled back transaction leaves it."""
    connection = at_cut.connect()
    number = at_cut.opened(connection)
    at_cut.create(connection)
    at_cut.database.run("create function public.more() returns integer language sql as 'select 1'")
    drift = at_cut.close(connection, number)["drift"]
    connection.rollback()
    at_rest = at_cut.open(connection)["drift"]
    assert drift["fingerprint"] == at_rest["fingerprint"]


def test_a_change_that_was_taken_back_leaves_no_drift(deployment: Deployment) -> None:
    run_id = drive(deployment, law(2), until="IG_source_pin").run_id
    deployment.database.run("alter table public.information_unit disable trigger trg_iu_enacted_immut")
    deployment.database.run("alter table public.information_unit enable trigger trg_iu_enacted_immut")
    assert deployment.gate("IG_mark", run_id).status == "passed"


# --- requests -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("seconds", "code"), [(0, "ttl_out_of_range"), (86_401, "ttl_out_of_range")])
def test_a_request_lives_at_most_as_long_as_its_gate_allows(at_cut: At, seconds: int, code: str) -> None:
    assert call(at_cut, OPEN, at_cut.run_id, "SG_cut_authz", seconds)["code"] == code


def test_finding_the_open_request_opens_no_second_one(at_cut: At) -> None:
    first = call(at_cut, OPEN, at_cut.run_id, "SG_cut_authz", 60)
    assert first["status"] == "requested"
    assert at_cut.database.value("select count(*) from cutter_governance.approval_request") == 1


def test_a_gate_that_is_sealed_is_not_asked_for_again(at_end: At) -> None:
    at_end.database.run("update cutter_governance.run set ended_at = null")
    assert call(at_end, OPEN, at_end.run_id, "SG_cut_authz", 60)["code"] == "gate_sealed_before"
    assert at_end.run()["state"] == "closeout_reported"


def test_a_request_needs_its_predecessor(at_cut: At) -> None:
    assert call(at_cut, OPEN, at_cut.run_id, "SG_lifecycle_authz", 60)["code"] == "predecessor_not_sealed"


def test_an_open_request_expires_by_the_clock_and_not_by_whoever_says_so(at_cut: At) -> None:
    end = "select cutter_governance.fn_request_end(%s, 'SG_cut_authz', 'expired')"
    call(at_cut, end, at_cut.run_id)
    assert at_cut.run()["state"] == "awaiting_cut_authorization"
    at_cut.database.run("update cutter_governance.approval_request set expires_at = clock_timestamp()")
    call(at_cut, end, at_cut.run_id)
    assert at_cut.run()["state"] == "stopped_expired"


def test_an_expired_request_is_followed_by_a_fresh_one_with_another_challenge(at_cut: At) -> None:
    at_cut.database.run("update cutter_governance.approval_request set expires_at = clock_timestamp()")
    call(at_cut, "select cutter_governance.fn_request_end(%s, 'SG_cut_authz', 'expired')", at_cut.run_id)
    call(at_cut, RESUME, at_cut.run_id, None)
    answer = call(at_cut, OPEN, at_cut.run_id, "SG_cut_authz", 60)
    assert (answer["status"], answer["request"]["n"]) == ("opened", 2)
    challenges = at_cut.database.value("select count(distinct challenge) from cutter_governance.approval_request")
    assert challenges == 2
    assert at_cut.open(at_cut.connect())["code"] in ("request_without_document", "approval_of_other_tuple")


def test_each_request_for_enactment_has_its_own_decision_and_no_drift(at_enact: At) -> None:
    """Seed 000 §3."""
    at_enact.database.run(
        "update cutter_governance.approval_request set expires_at = clock_timestamp() where status = 'requested'"
    )
    answer = call(at_enact, OPEN, at_enact.run_id, "SG_lifecycle_authz", 60)
    assert answer["status"] == "opened"
    decisions = at_enact.database.value(
        "select count(*) from cutter_governance.review_decision where type = 'lifecycle_enactment'"
    )
    assert decisions == 2
    again = call(at_enact, OPEN, at_enact.run_id, "SG_lifecycle_authz", 60)
    assert again["status"] == "opened"


def test_a_rejection_names_the_open_request(at_cut: At) -> None:
    row = at_cut.database.value("select to_jsonb(v) from cutter_governance.approval_verdict v limit 1")
    record = {**row, "approval_sha256": "e" * 64, "decision": "reject", "challenge": "0" * 64}
    gates.store_verdict(at_cut.database, at_cut.run_id, "SG_cut_authz", "x.md", record)
    with pytest.raises(psycopg.Error, match="no accepted rejection"):
        call(
            at_cut,
            "select cutter_governance.fn_request_end(%s, 'SG_cut_authz', 'rejected', %s)",
            at_cut.run_id,
            "e" * 64,
        )


# --- verdicts, outcomes, voids, evidence ----------------------------------------------------------------------------


def add(deployment: Deployment, document_id: str, docprefix: str | None = None) -> str:
    answer = sources.register(
        deployment.settings, law(2).encode(), document_id=document_id, docprefix=docprefix, profile="generic-markdown",
        options={},
    )  # fmt: skip
    return answer.docprefix


LONG = "ICX-LAW-2026-WITH-A-NAME-LONGER-THAN-A-PREFIX"


@pytest.mark.parametrize("document_id", [f"{LONG}-1", f"{LONG}-2", "ICX-LAW-2026-", "ICX-CONST", "DIEU-44"])
def test_an_id_that_cannot_begin_addresses_asks_for_a_prefix_by_hand(deployment: Deployment, document_id: str) -> None:
    with pytest.raises(InvalidInput, match=f"{document_id} cannot begin addresses .* --docprefix ICX-LAW-1"):
        add(deployment, document_id)
    counted = "select count(*) from public.source_document where doc_code = %s"
    assert deployment.database.value(counted, (document_id,)) == 0


def test_a_prefix_given_by_hand_is_the_documents_from_then_on(deployment: Deployment) -> None:
    assert add(deployment, f"{LONG}-3", "BY-HAND-3") == "BY-HAND-3"
    assert add(deployment, f"{LONG}-3") == "BY-HAND-3"


@pytest.mark.parametrize("docprefix", ["ICX-CONST", "DIEU", "DIEU-44"])
def test_the_database_too_refuses_a_reserved_prefix(deployment: Deployment, docprefix: str) -> None:
    with pytest.raises(ids.InvalidId, match="is reserved"):
        add(deployment, "ICX-RESERVED", docprefix)
    document = json.dumps({"document_id": "ICX-RESERVED", "docprefix": docprefix})
    register = "select cutter_governance.fn_source_register(%s::jsonb, '\\x41', '{}'::jsonb, 'x')"
    with pytest.raises(psycopg.errors.CheckViolation, match="source_document_docprefix_not_reserved"):
        deployment.database.value(register, (document,), role="cutter_operator")


def test_the_same_verdict_twice_is_one(at_cut: At) -> None:
    fresh = gates.another_accepted(at_cut.database)
    first, second = at_cut.connect("cutter_read"), at_cut.connect("cutter_read")
    assert one(first, gates.RECORD, fresh) == {"status": "recorded"}
    with meanwhile(second, lambda: one(second, gates.RECORD, fresh)) as future:
        first.commit()
    assert future.result() == {"status": "duplicate"}


@pytest.mark.parametrize("outcome", ["skipped", "rehearsed", "success"])
def test_a_live_run_that_has_written_is_not_ended_by_a_word(at_enact: At, outcome: str) -> None:
    call(at_enact, "select cutter_governance.fn_run_outcome(%s, %s)", at_enact.run_id, outcome)
    assert at_enact.run()["ended_at"] is None


def test_a_void_withdraws_the_drafts_frees_the_addresses_and_is_consumed(deployment: Deployment) -> None:
    """Seed 000 §1."""
    driven = drive(deployment, law(3), until="IG_structural_verify")
    verdict = deployment.order(driven.run_id, schema.VOID)
    assert verdict.accepted, verdict
    connection = deployment.database.connect("cutter_exec")
    assert one(connection, VOID, (driven.run_id, verdict.approval_sha256, VOIDABLE))["status"] == "opened"
    withdrawn = one(connection, "select public.fn_iu_withdraw_drafts(%s)", (driven.run_id,))
    assert withdrawn == {"status": "withdrawn", "count": 3}
    closed = one(connection, "select cutter_governance.fn_void_close(%s, 'voided_mistake')", (driven.run_id,))
    assert (closed["status"], closed["withdrawn"]) == ("voided", 3)
    connection.commit()
    assert deployment.run_row(driven.run_id)["state"] == "voided_mistake"
    again = drive(deployment, document_id=driven.document_id)
    assert again.state == "closeout_reported"


@pytest.mark.parametrize("state", ["voided_cancelled", "voided_", "voided_a__b", f"voided_{'x' * 41}", "failed_mark"])
def test_a_signed_void_ends_in_a_bounded_state_of_its_own(deployment: Deployment, state: str) -> None:
    run_id = deployment.begin(deployment.register(law(2)))
    verdict = deployment.order(run_id, schema.VOID)
    connection = deployment.database.connect("cutter_exec")
    one(connection, VOID, (run_id, verdict.approval_sha256, VOIDABLE))
    with pytest.raises(psycopg.Error, match="a signed void does not end in"):
        one(connection, "select cutter_governance.fn_void_close(%s, %s)", (run_id, state))


def test_a_void_that_is_not_closed_cannot_be_committed(deployment: Deployment) -> None:
    driven = drive(deployment, law(2), until="IG_structural_verify")
    verdict = deployment.order(driven.run_id, schema.VOID)
    connection = deployment.database.connect("cutter_exec")
    one(connection, VOID, (driven.run_id, verdict.approval_sha256, VOIDABLE))
    one(connection, "select public.fn_iu_withdraw_drafts(%s)", (driven.run_id,))
    with pytest.raises(psycopg.Error, match="not closed"):
        connection.commit()


def test_a_void_that_leaves_drafts_standing_cannot_be_closed(deployment: Deployment) -> None:
    driven = drive(deployment, law(2), until="IG_structural_verify")
    verdict = deployment.order(driven.run_id, schema.VOID)
    connection = deployment.database.connect("cutter_exec")
    one(connection, VOID, (driven.run_id, verdict.approval_sha256, VOIDABLE))
    with pytest.raises(psycopg.Error, match="2 drafts were not withdrawn"):
        one(connection, "select cutter_governance.fn_void_close(%s, 'voided_x')", (driven.run_id,))


def test_a_verdict_that_comes_while_a_gate_writes_waits_and_costs_it_nothing(deployment: Deployment) -> None:
    """Both end in the run's row and its chain; whoever had them the other way round would be each other's deadlock."""
    run_id = drive(deployment, law(2), until="IG_grant_probe").run_id
    _, approved = deployment.approve(run_id, Sovereign.CUT)
    writer, other = deployment.database.connect("cutter_exec"), deployment.database.connect("cutter_read")
    refused = json.dumps({"accepted": False, "code": "not_signed", "reason": "no signature"})
    record = "select cutter_governance.fn_verdict_record(%s, 'SG_cut_authz', 'x.md', %s::jsonb)"
    opened = gates.open_gate(writer, LEG_A, run_id, approvals=[offer(deployment, approved)])
    assert opened["status"] == "opened"
    with meanwhile(other, lambda: one(other, record, (run_id, refused))) as future:
        # Every gate ends in the run's row; held by the other side, PostgreSQL would end one of the two.
        closed = gates.close_gate(writer, LEG_A, run_id, opened["attempt"], {"units_created": 0})
        assert closed["status"] == "sealed"
        writer.rollback()
    assert future.result() == {"status": "recorded"}


def test_enacted_law_is_never_voided(at_end: At) -> None:
    """Seed 000 §3."""
    answer = one(at_end.connect(), VOID, (at_end.run_id, "x", VOIDABLE))
    assert answer["code"] == "enacted_law_is_never_voided"


def test_a_void_waits_for_the_gate_that_is_writing(deployment: Deployment) -> None:
    run_id = drive(deployment, law(2), until="IG_grant_probe").run_id
    void = deployment.order(run_id, schema.VOID)
    _, approved = deployment.approve(run_id, Sovereign.CUT)
    writer, other = (deployment.database.connect("cutter_exec") for _ in range(2))
    opened = gates.open_gate(writer, LEG_A, run_id, approvals=[offer(deployment, approved)])
    assert opened["status"] == "opened"
    with meanwhile(other, lambda: one(other, VOID, (run_id, void.approval_sha256, VOIDABLE))) as future:
        assert not future.done()
        writer.rollback()
    assert future.result()["status"] == "opened"


def test_only_the_backup_role_says_that_there_is_a_backup(at_cut: At) -> None:
    record = (
        "select cutter_governance.fn_action_record(%s, 'IG_backup', 'backup', 'take', 'x', repeat('0', 64), '{}',"
        " jsonb_build_object('sha256', repeat('0', 64), 'taken_utc', clock_timestamp()), true, 'x')"
    )
    for role in ("cutter_read", "cutter_exec", "cutter_verify"):
        with pytest.raises(psycopg.Error, match="an action of backup is recorded by cutter_backup"):
            call(at_cut, record, at_cut.run_id, role=role)
    assert call(at_cut, record, at_cut.run_id, role="cutter_backup")["sha256"] == "0" * 64


@pytest.mark.parametrize("role", ["cutter_exec", "cutter_verify", "cutter_backup"])
@pytest.mark.parametrize("connector", ["kb", "evidence", "notification"])
def test_nobody_spoils_a_receipt_that_another_role_will_need(at_cut: At, role: str, connector: str) -> None:
    """Receipts are never taken back: a run that finds another payload under its own key could never go on."""
    record = "select cutter_governance.fn_action_record(%s, 'x', %s, 'put', 'a/b.md', 'y', '{}', '{}', false, 'x')"
    with pytest.raises(psycopg.Error, match=f"an action of {connector} is recorded by"):
        call(at_cut, record, at_cut.run_id, connector, role=role)


def test_a_gate_s_report_is_recorded_by_its_own_role_or_the_reader(at_cut: At) -> None:
    kb_id = at_cut.database.value(
        "select kb_id from cutter_governance.outbox where run_id = %s and subject = 'IG_mark'", (at_cut.run_id,)
    )
    done = "select cutter_governance.fn_outbox_done(%s, %s, 1, '{}')"
    at_cut.database.run("alter table cutter_governance.action_receipt disable trigger user")
    at_cut.database.run("delete from cutter_governance.action_receipt where target = %s", (kb_id,))
    for role in ("cutter_exec", "cutter_verify", "cutter_backup"):
        with pytest.raises(psycopg.Error, match="is not for cutter_"):
            call(at_cut, done, kb_id, "0" * 64, role=role)
    assert call(at_cut, done, kb_id, "0" * 64, role="cutter_read")["run"]["run_id"] == at_cut.run_id


def test_a_worker_leaves_the_report_of_another_role_to_whoever_may_put_it(deployment: Deployment) -> None:
    run_id = drive(deployment, law(2), until="IG_grant_probe").run_id
    again = "update cutter_governance.outbox set done_at = null where run_id = %s and subject = 'IG_mark'"
    deployment.database.run(again, (run_id,))
    assert publish(deployment.deps[WorkerRole.EXEC], Role.EXEC, run_id) == {}
    assert list(publish(deployment.deps[WorkerRole.CUTTER], Role.READ, run_id)) == ["IG_mark"]


def test_an_action_is_recorded_once_and_another_payload_is_a_conflict(at_cut: At) -> None:
    """Seed 003 §4.1."""
    record = "select cutter_governance.fn_action_record(%s, 'x', 'kb', 'put', 'a/b.md', %s, '{}', '{}', false, 'x')"
    first = call(at_cut, record, at_cut.run_id, "1" * 64)
    assert call(at_cut, record, at_cut.run_id, "1" * 64) == first
    with pytest.raises(psycopg.Error, match=r"kb:put:a/b\.md was done with fields of sha256 1{64}, now 2{64} is asked"):
        call(at_cut, record, at_cut.run_id, "2" * 64)


def test_a_docprefix_belongs_to_one_document(deployment: Deployment) -> None:
    first = deployment.register(law(2))
    with pytest.raises(Conflict, match=first):
        sources.register(
            deployment.settings, law(2).encode(), document_id="ICX-SECOND", docprefix=first,
            profile="generic-markdown", options={},
        )  # fmt: skip
