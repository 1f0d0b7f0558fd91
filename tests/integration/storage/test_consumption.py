"""Consumption: an approval opens its gate once, for exactly its tuple, in time; every reason to refuse has its code."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, LiteralString

import psycopg
import pytest

from cutter.approvals import schema
from cutter.catalogue import Sovereign
from cutter.marking.plan import PlanRow
from cutter.storage.records import many
from tests.integration.storage.conftest import LEG_A, At
from tests.support import gate_calls as gates
from tests.support.database import Connection, Database
from tests.support.gate_calls import meanwhile, one
from tests.support.runs import Deployment, drive, law, offer

RECORD = "select cutter_governance.fn_verdict_record(%s, 'SG_cut_authz', 'orders/x.md', %s::jsonb)"
OTHER = "f" * 64


def verdict(at: At, **changed: Any) -> dict[str, Any]:
    """The stage's accepted verdict as another document's, some of its fields changed."""
    row = at.database.value(
        "select to_jsonb(v) from cutter_governance.approval_verdict v where accepted and run_id = %s limit 1",
        (at.run_id,),
    )
    return {**row, "approval_sha256": OTHER, **changed}


def record(at: At, **changed: Any) -> None:
    gates.store_verdict(at.database, at.run_id, "SG_cut_authz", "orders/x.md", verdict(at, **changed))


def answer(at: At, *offers: dict[str, Any]) -> Any:
    return at.open(at.connect(), approvals=list(offers))


def other(at: At) -> dict[str, Any]:
    return {**at.stage.offers[0], "approval_sha256": OTHER}


def threshold(database: Database, number: int) -> None:
    """The newest epoch's threshold for all tiers, as no database owner could change it without leaving a trace."""
    database.run(
        "alter table cutter_governance.policy_epoch disable trigger user;"
        f" update cutter_governance.policy_epoch set tiers = '{{}}', thresholds = '{{\"SG_cut_authz\": {number}}}';"
        " alter table cutter_governance.policy_epoch enable always trigger trg_policy_epoch_append_only"
    )


def test_an_accepted_approval_opens_its_gate_and_is_consumed_with_its_tuple(at_cut: At) -> None:
    connection = at_cut.connect()
    number = at_cut.opened(connection)
    at_cut.create(connection)
    at_cut.close(connection, number)
    connection.commit()
    row = at_cut.database.value(
        "select to_jsonb(c) from cutter_governance.approval_consumption c where run_id = %s", (at_cut.run_id,)
    )
    assert row["approval_sha256"] == at_cut.stage.offers[0]["approval_sha256"]
    assert (row["gate"], row["slot"], row["approver"], row["candidate_count"]) == (
        "SG_cut_authz", 1, "alice", at_cut.stage.units,
    )  # fmt: skip
    assert at_cut.database.value("select status from cutter_governance.approval_request") == "approved"


def test_a_rollback_un_consumes(at_cut: At) -> None:
    connection = at_cut.connect()
    at_cut.opened(connection)
    connection.rollback()
    assert at_cut.database.value("select count(*) from cutter_governance.approval_consumption") == 0
    assert at_cut.open(connection)["status"] == "opened"


def test_no_approval_is_too_few(at_cut: At) -> None:
    """Seed 000 §3."""
    assert answer(at_cut)["code"] == "threshold_not_met"


@pytest.mark.parametrize("number", [0, -1])
def test_a_policy_that_asks_for_nobody_still_asks_for_one(at_cut: At, number: int) -> None:
    threshold(at_cut.database, number)
    assert answer(at_cut)["code"] == "threshold_not_met"


@pytest.mark.parametrize(("tier", "needed"), [("low", 1), ("medium", 1), ("high", 2), (None, 1)])
def test_a_high_tier_asks_for_two_whatever_the_policy_names(at_cut: At, tier: str | None, needed: int) -> None:
    threshold(at_cut.database, 1)
    asked = "select cutter_governance.fn_approvals_needed('SG_cut_authz', %s)"
    assert at_cut.database.value(asked, (tier,)) == needed


def test_an_approval_without_an_accepted_verdict_is_nothing(at_cut: At) -> None:
    """Seed 000 §3."""
    assert answer(at_cut, other(at_cut))["code"] == "no_accepted_verdict"


def test_a_refused_verdict_opens_nothing(at_cut: At) -> None:
    record(at_cut, accepted=False, code="signer_not_allowed")
    assert answer(at_cut, other(at_cut))["code"] == "no_accepted_verdict"


def test_a_verdict_is_recorded_by_its_own_role_whatever_was_granted(at_cut: At) -> None:
    at_cut.database.run("grant execute on function cutter_governance.fn_verdict_record to cutter_exec")
    with pytest.raises(psycopg.Error, match="verdicts are recorded by cutter_read") as refused:
        at_cut.database.value(RECORD, (at_cut.run_id, json.dumps(verdict(at_cut))), role="cutter_exec")
    assert refused.value.sqlstate == "CU006"


@pytest.mark.parametrize("decision", [schema.REJECT, "resume", "void", "acknowledge_drift", "revoke"])
def test_only_an_approval_approves(at_cut: At, decision: str) -> None:
    record(at_cut, decision=decision)
    assert answer(at_cut, other(at_cut))["code"] == "not_an_approval"


@pytest.mark.parametrize(
    "changed",
    [{"challenge": "0" * 64}, {"writer_digest": "0" * 64}, {"challenge": None}, {"writer_digest": None},
     {"review_decision_id": "00000000-0000-4000-8000-000000000001"}],
    ids=lambda changed: "-".join(f"{name}={str(value)[:4]}" for name, value in changed.items()),
)  # fmt: skip
def test_an_approval_of_another_tuple_opens_nothing(at_cut: At, changed: dict[str, Any]) -> None:
    """Seed 000 §3."""
    record(at_cut, **changed)
    assert answer(at_cut, other(at_cut))["code"] == "approval_of_other_tuple"


def test_an_approval_of_a_request_that_is_not_the_open_one_opens_nothing(at_cut: At) -> None:
    """Both processes agree on it, as they would about a request that has expired since."""
    record(at_cut, challenge="0" * 64)
    assert answer(at_cut, {**other(at_cut), "challenge": "0" * 64})["code"] == "approval_of_other_tuple"


@pytest.mark.parametrize("challenge", ["0" * 64, None])
def test_the_exec_worker_names_the_challenge_that_it_verified_itself(at_cut: At, challenge: str | None) -> None:
    """Both processes must have seen the same tuple."""
    offered = {**at_cut.stage.offers[0], "challenge": challenge}
    assert answer(at_cut, offered)["code"] == "approval_of_other_tuple"


def test_an_approval_under_another_policy_epoch_opens_nothing(at_cut: At) -> None:
    at_cut.database.run(
        "select cutter_governance.fn_policy_install(2, (select deployment_id from cutter_governance.policy_epoch),"
        " 'a new policy', '{}', '{}', 'council')",
        role="cutter_owner",
    )
    assert answer(at_cut, *at_cut.stage.offers)["code"] == "approval_of_other_epoch"


def test_an_expired_approval_opens_nothing(at_cut: At) -> None:
    record(at_cut, not_after="2020-01-01T00:00:00Z")
    assert answer(at_cut, other(at_cut))["code"] == "approval_expired"


def test_an_approval_is_consumed_at_the_moment_at_which_it_was_judged(at_cut: At) -> None:
    """Not at a later one, at which it may have expired."""
    writer, holder = at_cut.connect(), at_cut.database.connect("postgres")
    number, digest = gates.attempt(writer, LEG_A, at_cut.run_id), gates.payload(writer, LEG_A, at_cut.run_id)
    holder.execute("begin; lock table cutter_governance.approval_revocation in access exclusive mode")
    with meanwhile(writer, lambda: at_cut.open(writer, number=number, payload_sha256=digest)) as future:
        assert not future.done()
        later = one(holder, "select clock_timestamp()")
        holder.execute("rollback")
    assert future.result()["status"] == "opened"
    assert one(writer, "select consumed_at from cutter_governance.approval_consumption") < later


def test_a_revoked_approval_opens_nothing(deployment: Deployment) -> None:
    run_id = drive(deployment, law(2), until="IG_grant_probe").run_id
    _, approved = deployment.approve(run_id, Sovereign.CUT)
    revoked = deployment.order(run_id, schema.REVOKE, approval_sha256=approved.approval_sha256)
    assert revoked.accepted, revoked
    opened = gates.open_gate(
        deployment.database.connect("cutter_exec"), LEG_A, run_id, approvals=[offer(deployment, approved)]
    )
    assert opened["code"] == "approval_revoked"


def test_a_revocation_takes_back_what_its_statement_names_and_nothing_else(deployment: Deployment) -> None:
    run_id = drive(deployment, law(2), until="IG_grant_probe").run_id
    _, approved = deployment.approve(run_id, Sovereign.CUT)
    revoked = deployment.order(run_id, schema.REVOKE, approval_sha256=approved.approval_sha256)
    with pytest.raises(psycopg.Error, match="no accepted revocation"):
        deployment.database.value(
            "select cutter_governance.fn_revocation_record(%s, %s, %s, 'x.md')",
            (run_id, OTHER, revoked.approval_sha256),
            role="cutter_read",
        )


REVOKE = "select cutter_governance.fn_revocation_record(%s, %s, %s, 'x.md')"


def revoked(at: At) -> tuple[str, str, str]:
    """What REVOKE takes, once a signed revocation of the stage's approval was judged good."""
    approval = at.stage.offers[0]["approval_sha256"]
    record(at, decision="revoke", statement={"approval_sha256": approval})
    return at.run_id, approval, OTHER


@pytest.mark.parametrize("request_open", [True, False], ids=["its request open", "its request not open yet"])
def test_a_gate_waits_for_the_revocation_that_came_first(at_cut: At, request_open: bool) -> None:
    """Without an open request there is nothing of it to wait for, so it is the run itself that both wait for."""
    status: LiteralString = "update cutter_governance.approval_request set status = "
    reader, writer = at_cut.connect("cutter_read"), at_cut.connect()
    number, digest = gates.attempt(writer, LEG_A, at_cut.run_id), gates.payload(writer, LEG_A, at_cut.run_id)
    if not request_open:
        at_cut.database.run(status + "'canceled'")
    assert one(reader, REVOKE, revoked(at_cut))["status"] == "revoked"
    at_cut.database.run(status + "'requested'")
    with meanwhile(writer, lambda: at_cut.open(writer, number=number, payload_sha256=digest)) as future:
        assert not future.done()
        reader.commit()
    assert (future.result()["status"], future.result()["code"]) == ("approval_refused", "approval_revoked")


NEXT_EPOCH = (
    "select cutter_governance.fn_policy_install(number + 1, deployment_id, body || ' ', thresholds, tiers,"
    " lifecycle_group) from cutter_governance.policy_epoch"
)


def test_a_new_epoch_of_the_policy_waits_for_the_gate_that_consumes(at_cut: At) -> None:
    """Once it is in force, nothing is written any more that only the epoch before has approved."""
    owner, writer = at_cut.connect("cutter_owner"), at_cut.connect()
    number = at_cut.opened(writer)
    at_cut.create(writer)
    with meanwhile(owner, lambda: one(owner, NEXT_EPOCH)) as future:
        assert not future.done()
        assert at_cut.close(writer, number)["status"] == "sealed"
        writer.commit()
    future.result()


def test_a_gate_waits_for_the_new_epoch_that_came_first(at_cut: At) -> None:
    owner, writer = at_cut.connect("cutter_owner"), at_cut.connect()
    number, digest = gates.attempt(writer, LEG_A, at_cut.run_id), gates.payload(writer, LEG_A, at_cut.run_id)
    one(owner, NEXT_EPOCH)
    with meanwhile(writer, lambda: at_cut.open(writer, number=number, payload_sha256=digest)) as future:
        assert not future.done()
        owner.commit()
    assert future.result()["code"] == "approval_of_other_epoch"


def test_a_revocation_waits_for_the_gate_that_consumes_and_then_comes_too_late(at_cut: At) -> None:
    order = revoked(at_cut)
    writer, reader = at_cut.connect(), at_cut.connect("cutter_read")
    number = at_cut.opened(writer)
    at_cut.create(writer)
    with meanwhile(reader, lambda: one(reader, REVOKE, order)) as future:
        assert not future.done()
        at_cut.close(writer, number)
        writer.commit()
    assert future.result()["status"] == "consumed_already"


def test_an_approval_is_consumed_once(at_cut: At) -> None:
    """Seed 001 §7."""
    at_cut.database.run(
        "insert into cutter_governance.approval_consumption (approval_sha256, run_id, gate, slot, request_id, approver,"
        " fingerprint, document_id, source_version_id, writer_digest, candidate_count, challenge, policy_sha256)"
        " select %s, q.run_id, 'SG_lifecycle_authz', 1, q.request_id, 'x', 'x', r.document_id, r.source_version_id,"
        " 'x', 1, q.challenge, e.sha256 from cutter_governance.approval_request q"
        " join cutter_governance.run r using (run_id), cutter_governance.policy_epoch e",
        (at_cut.stage.offers[0]["approval_sha256"],),
    )
    assert answer(at_cut, *at_cut.stage.offers)["code"] == "approval_consumed_before"


def test_without_an_open_request_nothing_is_consumed(at_cut: At) -> None:
    at_cut.database.run("update cutter_governance.approval_request set status = 'canceled'")
    assert answer(at_cut, *at_cut.stage.offers)["code"] == "no_open_request"


def test_a_request_whose_document_was_never_bound_is_no_request(at_cut: At) -> None:
    at_cut.database.run("update cutter_governance.approval_request set request_sha256 = null")
    assert answer(at_cut, *at_cut.stage.offers)["code"] == "request_without_document"


def test_an_expired_request_consumes_nothing(at_cut: At) -> None:
    at_cut.database.run("update cutter_governance.approval_request set expires_at = clock_timestamp()")
    assert answer(at_cut, *at_cut.stage.offers)["code"] == "request_expired"


def test_a_request_for_another_digest_than_the_plan_s_consumes_nothing(at_cut: At) -> None:
    at_cut.database.run(
        'update cutter_governance.approval_request set tuple = tuple || \'{"writer_digest": "0"}\'::jsonb'
    )
    assert answer(at_cut, *at_cut.stage.offers)["code"] == "request_of_other_digest"


def test_a_request_for_other_findings_than_the_run_s_consumes_nothing(at_cut: At) -> None:
    at_cut.database.run(
        'update cutter_governance.approval_request set tuple = tuple || \'{"findings_digest": "0"}\'::jsonb'
    )
    assert answer(at_cut, *at_cut.stage.offers)["code"] == "request_of_other_findings"


def test_without_a_policy_nobody_approves(at_cut: At) -> None:
    at_cut.database.run(
        "alter table cutter_governance.policy_epoch disable trigger user; delete from cutter_governance.policy_epoch"
    )
    assert answer(at_cut, *at_cut.stage.offers)["status"] in ("drift", "approval_refused")
    with at_cut.database.connect("postgres") as connection:
        row = one(
            connection,
            "select cutter_governance.fn_approvals_consume(r, 'SG_cut_authz', '[]') from cutter_governance.run r",
        )
    assert row == "no_policy_epoch"


# --- two persons ----------------------------------------------------------------------------------------------------


def two(at: At, **second: Any) -> list[dict[str, Any]]:
    threshold(at.database, 2)
    record(at, **second)
    return [at.stage.offers[0], other(at)]


def test_two_persons_open_what_needs_two(at_cut: At) -> None:
    offers = two(at_cut, approver="bob", fingerprint="B" * 40)
    connection = at_cut.connect()
    assert at_cut.open(connection, approvals=offers)["status"] == "opened"
    slots = connection.execute("select slot from cutter_governance.approval_consumption order by 1").fetchall()
    assert slots == [(1,), (2,)]


def test_one_person_is_not_two(at_cut: At) -> None:
    threshold(at_cut.database, 2)
    assert answer(at_cut, *at_cut.stage.offers)["code"] == "threshold_not_met"


def test_the_same_approval_twice_is_not_two(at_cut: At) -> None:
    threshold(at_cut.database, 2)
    assert answer(at_cut, *at_cut.stage.offers, *at_cut.stage.offers)["code"] == "approval_consumed_before"


@pytest.mark.parametrize("second", [{"fingerprint": "B" * 40}, {"approver": "bob"}], ids=["same name", "same key"])
def test_one_person_with_two_documents_is_not_two(at_cut: At, second: dict[str, str]) -> None:
    assert answer(at_cut, *two(at_cut, **second))["code"] == "approval_consumed_before"


def test_more_approvals_than_slots_are_not_consumed(at_cut: At) -> None:
    record(at_cut, approver="bob", fingerprint="B" * 40)
    assert answer(at_cut, at_cut.stage.offers[0], other(at_cut))["code"] == "more_approvals_than_slots"


# --- races with a rejection, and the rows at COMMIT -----------------------------------------------------------------


def test_a_rejection_that_came_first_is_not_overwritten_by_an_approval(at_cut: At) -> None:
    record(at_cut, decision="reject")
    rejecting, writer = at_cut.connect("cutter_read"), at_cut.connect()
    number, digest = gates.attempt(writer, LEG_A, at_cut.run_id), gates.payload(writer, LEG_A, at_cut.run_id)
    end = "select cutter_governance.fn_request_end(%s, 'SG_cut_authz', 'rejected', %s)"
    rejecting.execute(end, (at_cut.run_id, OTHER))
    with meanwhile(writer, lambda: at_cut.open(writer, number=number, payload_sha256=digest)) as future:
        assert not future.done()
        rejecting.commit()
    assert (future.result()["status"], future.result()["code"]) == ("refused", "run_ended")
    writer.rollback()
    assert at_cut.run()["state"] == "failed_rejected"
    assert at_cut.database.value("select status from cutter_governance.approval_request") == "rejected"


def test_a_rejection_that_comes_while_the_gate_is_open_comes_too_late(at_cut: At) -> None:
    record(at_cut, decision="reject")
    rejecting, writer = at_cut.connect("cutter_read"), at_cut.connect()
    number = at_cut.opened(writer)
    at_cut.create(writer)
    end = "select cutter_governance.fn_request_end(%s, 'SG_cut_authz', 'rejected', %s)"
    with meanwhile(rejecting, lambda: rejecting.execute(end, (at_cut.run_id, OTHER))) as future:
        assert not future.done()
        assert at_cut.close(writer, number)["status"] == "sealed"
        writer.commit()
    future.result()
    rejecting.commit()
    assert at_cut.run()["state"] == "cut_leg_a_committed"
    assert at_cut.database.value("select status from cutter_governance.approval_request") == "approved"


def create_rows(connection: Connection, rows: Sequence[PlanRow]) -> Sequence[str]:
    names = ("title", "body", "unit_kind", "section_type", "owner", "publication_type", "parent_address", "address")
    return many(
        connection, "create_unit", [{"actor": "x", **{name: getattr(row, name) for name in names}} for row in rows]
    )


def test_rows_other_than_the_approved_ones_cannot_be_committed(at_cut: At) -> None:
    """Everything else is right: role, approval, count, survey, seal."""
    connection = at_cut.connect()
    number = at_cut.opened(connection)
    rows = at_cut.plan(connection).rows
    forged = replace(rows[-1], body=rows[-1].body + " ")
    assert set(create_rows(connection, (*rows[:-1], forged))) == {"created"}
    assert at_cut.close(connection, number)["status"] == "sealed"
    with pytest.raises(psycopg.Error, match="the rows do not digest to what was approved") as refused:
        connection.commit()
    assert refused.value.sqlstate == "CU010"
    assert at_cut.units() == 0


@pytest.mark.parametrize("left_out", [0, 1])
def test_fewer_or_other_rows_than_approved_cannot_be_committed(at_cut: At, left_out: int) -> None:
    connection = at_cut.connect()
    number = at_cut.opened(connection)
    at_cut.create(connection)
    if left_out == 0:
        one(connection, "select public.fn_iu_create(%s, 't', 'b', 'legislature', 'law_unit', 'article')", (
            f"{at_cut.docprefix}/EXTRA",))  # fmt: skip
        assert at_cut.close(connection, number, {"units_created": 4})["status"] == "sealed"
    else:
        connection.rollback()
        number = at_cut.opened(connection)
        assert at_cut.close(connection, number, {"units_created": 0})["status"] == "sealed"
    with pytest.raises(psycopg.Error, match="do not digest"):
        connection.commit()
    assert at_cut.units() == 0
