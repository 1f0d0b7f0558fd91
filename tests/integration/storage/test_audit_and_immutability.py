"""The audit chains recompute, global anchors cover whole chains, and sealed things stay as they are, whoever asks."""

from __future__ import annotations

import hashlib
import json
from typing import LiteralString

import psycopg
import pytest
from psycopg.types.json import Jsonb

from cutter.catalogue import seed_state
from cutter.evidence import audit
from cutter.lifecycle import events
from cutter.lifecycle.declarations import APPROVAL
from cutter.settings import Settings
from starter.commands.audit import exported
from tests.cases.tampering import quiet
from tests.integration.storage.conftest import At
from tests.support.database import Database
from tests.support.gate_calls import one

APPEND_ONLY = (
    "audit_event", "approval_consumption", "approval_verdict", "approval_revocation", "order_consumption",
    "drift_acknowledgement", "message_refusal", "decision_backlog_history", "manifest_unit_block", "cut_change_set",
    "cut_change_set_affected_row", "dot_pair_signature", "verify_result", "action_receipt", "policy_epoch",
    "definition_snapshot", "definition_cache", "schema_baseline", "gate_catalogue", "review_decision", "gate_receipt",
)  # fmt: skip


def chain(at: At, name: str) -> list[tuple[int, str, str, str]]:
    return (
        at.connect("cutter_read")
        .execute(
            "select seq, body, prev_hash, hash from cutter_governance.audit_event where chain = %s order by seq",
            (name,),
        )
        .fetchall()
    )


@pytest.mark.parametrize("name", ["run", "global"])
def test_a_chain_recomputes_with_nothing_but_sha256(at_end: At, name: str) -> None:
    name = at_end.run_id if name == "run" else name
    before = hashlib.sha256(name.encode()).hexdigest()
    events = chain(at_end, name)
    assert [event[0] for event in events] == list(range(1, len(events) + 1))
    for _, body, previous, link in events:
        assert previous == before
        assert hashlib.sha256((previous + body).encode()).hexdigest() == link
        before = link
    head = at_end.database.value("select hash from cutter_governance.audit_head where chain = %s", (name,))
    assert head == before


def test_the_global_chain_holds_the_head_of_each_run_at_its_beginning_and_its_end(at_end: At) -> None:
    heads = at_end.database.value(
        "select array_agg(body::jsonb ->> 'run_head' order by seq) from cutter_governance.audit_event"
        " where chain = 'global' and run_id = %s",
        (at_end.run_id,),
    )
    events = chain(at_end, at_end.run_id)
    assert heads == [events[0][3], events[-1][3]]


def test_every_transition_of_a_run_is_on_its_chain(at_end: At) -> None:
    """Seed 004 "Event Schema"."""
    states = at_end.database.value(
        "select array_agg(body::jsonb ->> 'to_state' order by seq) from cutter_governance.audit_event"
        " where chain = %s and kind = 'transition'",
        (at_end.run_id,),
    )
    assert list(dict.fromkeys(map(seed_state, states))) == [
        "source_pinned", "marked", "cutplan_ok", "pre_write_backup_taken", "grants_probed",
        "awaiting_cut_authorization", "cut_leg_a_committed", "structural_verified", "leg_b_recorded", "write_verified",
        "awaiting_lifecycle_authorization", "lifecycle_enacted", "closeout_reported",
    ]  # fmt: skip


def test_every_end_of_an_approval_is_on_the_chain_of_its_run_as_a_legal_transition(at_end: At, at_cut: At) -> None:
    """By the write that consumed it, by the clock, by a rejection or a void: the table itself tells the chain.

    Seeds 003 §1.3, 003 §5.
    """
    query = "select array_agg(body::jsonb order by seq) from cutter_governance.audit_event where kind = %s"
    consumed = at_end.database.value(query, ("approval_transition",))
    assert [(body["metadata"]["gate"], body["to_state"]) for body in consumed] == [
        ("SG_cut_authz", "approved"), ("SG_lifecycle_authz", "approved")
    ]  # fmt: skip
    for status in ("expired", "rejected", "canceled"):
        at_cut.database.run("update cutter_governance.approval_request set status = 'requested'")
        at_cut.database.run(f"update cutter_governance.approval_request set status = '{status}'")
    ends = [end for end in at_cut.database.value(query, ("approval_transition",)) if end["from_state"] == "requested"]
    assert [end["to_state"] for end in ends] == ["expired", "rejected", "canceled"]
    for transition in [*consumed, *ends]:
        event = events.read(json.dumps({name: transition[name] for name in events.FIELDS}).encode())
        APPROVAL.check(event.from_state, event.to_state)
        assert event.event_type == APPROVAL.event_type


@pytest.mark.parametrize("role", ["cutter_owner", "postgres"])
@pytest.mark.parametrize("verb", ["delete from", "truncate"])
def test_append_only_tables_refuse_even_the_owner_and_the_superuser(at_end: At, role: str, verb: str) -> None:
    connection = at_end.connect(role)
    for table in APPEND_ONLY:
        if verb == "truncate" and table == "review_decision":
            continue
        if verb == "delete from" and one(connection, f"select count(*) from cutter_governance.{table}") == 0:
            continue
        with pytest.raises(psycopg.Error) as refused:
            connection.execute(f"{verb} cutter_governance.{table}" + (" cascade" if verb == "truncate" else ""))
        assert refused.value.sqlstate in ("CU005", "CU002"), table
        connection.rollback()


@pytest.mark.parametrize("statement", ["update public.{} set created_by = 'x'", "delete from public.{}"])
@pytest.mark.parametrize("table", ["information_unit", "unit_version"])
def test_enacted_rows_hold_in_replica_mode_too(at_end: At, statement: str, table: str) -> None:
    """Only a superuser gets there; the twins that are always enabled still refuse it."""
    superuser = at_end.connect("postgres")
    superuser.execute("set session_replication_role = replica")
    with pytest.raises(psycopg.Error) as refused:
        superuser.execute(statement.format(table))
    assert refused.value.sqlstate in ("CU001", "CU002")


@pytest.mark.parametrize("table", ["information_unit", "unit_version"])
def test_the_twin_holds_in_replica_mode_without_the_gateway_s_guard(at_enact: At, table: str) -> None:
    """Rows made law by hand: gate 10 itself enacts nothing while a twin is not always enabled."""
    superuser = at_enact.connect("postgres")
    with quiet(superuser, f"public.{table}"):
        day = ", enacted_at = now(), effective_from = current_date" if table == "unit_version" else ""
        superuser.execute(f"update public.{table} set lifecycle_status = 'enacted'{day}")
    short = "iu" if table == "information_unit" else "uv"
    superuser.execute(f"alter table public.{table} disable trigger trg_aa_{short}_gateway_write_guard")
    superuser.execute("set session_replication_role = replica")
    with pytest.raises(psycopg.Error, match="enacted law is immutable"):
        superuser.execute(f"update public.{table} set created_by = 'x'")


@pytest.mark.parametrize("table", ["information_unit", "unit_version"])
def test_each_immutability_trigger_refuses_alone(at_end: At, table: str) -> None:
    """With the gateway guard and one of the pair away, the other one still refuses."""
    short = "iu" if table == "information_unit" else "uv"
    for kept in (f"trg_{short}_enacted_immut", f"trg_{short}_enacted_immut_always"):
        superuser = at_end.connect("postgres")
        superuser.execute(f"alter table public.{table} disable trigger user")
        superuser.execute(f"alter table public.{table} enable trigger {kept}")
        with pytest.raises(psycopg.Error, match="enacted law is immutable") as refused:
            superuser.execute(f"update public.{table} set created_by = 'x'")
        assert refused.value.sqlstate == "CU002"
        superuser.rollback()


@pytest.mark.parametrize(
    ("change", "line"),
    [
        ("result = result || '{\"notes\": [1]}'", "the row is not what was sealed"),
        ("prev_hash = 'x', receipt_hash = encode(sha256(convert_to('x' || sealed_body, 'UTF8')), 'hex')",
         "it does not follow the receipt before it"),
    ],
)  # fmt: skip
def test_a_receipt_that_was_altered_stops_the_next_gate(at_cut: At, change: str, line: str) -> None:
    superuser = at_cut.connect("postgres")
    with quiet(superuser, "cutter_governance.gate_receipt"):
        superuser.execute(f"update cutter_governance.gate_receipt set {change} where gate = 'IG_mark'")
    superuser.commit()
    answer = at_cut.open(at_cut.connect())
    assert (answer["status"], answer["drift"]["dimension"]) == ("drift", "receipts")
    assert answer["drift"]["diff"][0] == f"IG_mark: {line}"


def test_a_hash_that_is_not_of_its_body_cannot_even_be_stored(at_cut: At) -> None:
    superuser = at_cut.connect("postgres")
    superuser.execute("alter table cutter_governance.gate_receipt disable trigger user")
    with pytest.raises(psycopg.errors.CheckViolation, match="gate_receipt_hash_of_body"):
        superuser.execute("update cutter_governance.gate_receipt set receipt_hash = 'x' where gate = 'IG_mark'")


def test_the_definitions_are_read_again_when_the_catalogue_changed_and_only_then(at_cut: At) -> None:
    superuser = at_cut.connect("postgres")
    pins = one(superuser, "select cutter_governance.fn_definition_pins()")
    count = one(superuser, "select count(*) from cutter_governance.definition_cache")
    assert one(superuser, "select cutter_governance.fn_definition_pins()") == pins
    assert one(superuser, "select count(*) from cutter_governance.definition_cache") == count
    superuser.execute("create function public.a() returns integer language sql as 'select 1'")
    first = one(superuser, "select cutter_governance.fn_definition_pins()")
    superuser.execute("create or replace function public.a() returns integer language sql as 'select 2'")
    second = one(superuser, "select cutter_governance.fn_definition_pins()")
    assert len({pins["functions"], first["functions"], second["functions"]}) == 3
    superuser.execute("drop function public.a()")
    assert one(superuser, "select cutter_governance.fn_definition_pins()")["functions"] == pins["functions"]


def test_two_gates_that_see_a_new_definition_do_not_wait_for_each_other(at_cut: At) -> None:
    at_cut.database.run("create function public.a() returns integer language sql as 'select 1'")
    first, second = at_cut.connect("postgres"), at_cut.connect("postgres")
    second.execute("set lock_timeout = '2s'")
    pins = one(first, "select cutter_governance.fn_definition_pins()")
    assert one(second, "select cutter_governance.fn_definition_pins()") == pins


@pytest.mark.parametrize(
    ("effect", "before", "pins", "expected"),
    [
        ("none", {"row_count": 1, "row_content": "a"}, {}, {"row_count": 1, "row_content": "a"}),
        ("units_created", {"row_count": 1, "row_content": "a", "x": 1}, {"units_created": 3}, {"row_count": 4, "x": 1}),
        (
            "decision_recorded",
            {"review_decision": {"count": 1, "fingerprint": "f"}, "row_content": "a"},
            {},
            {"review_decision": {"count": 2}, "row_content": "a"},
        ),
        (
            "units_enacted",
            {"row_count": 1, "row_content": "a", "row_content_enacted": "b"},
            {},
            {"row_count": 1, "row_content": "b"},
        ),
    ],
)
def test_what_a_gate_may_change_is_exactly_its_declared_effect(
    at_cut: At, effect: str, before: dict[str, object], pins: dict[str, object], expected: dict[str, object]
) -> None:
    answer = one(
        at_cut.connect("postgres"),
        "select cutter_governance.fn_effect_pins(%s, %s, %s)",
        (effect, Jsonb(before), Jsonb({"pins": pins})),
    )
    assert answer == expected


def test_an_effect_that_is_not_known_matches_nothing(at_cut: At) -> None:
    superuser = at_cut.connect("postgres")
    survey = one(superuser, "select cutter_governance.fn_survey(%s, %s)", (at_cut.run_id, at_cut.docprefix))
    drift = one(
        superuser,
        "select cutter_governance.fn_drift(cutter_governance.fn_effect_pins('other', s, '{}'), s)"
        " from cutter_governance.fn_survey(%s, %s) as s",
        (at_cut.run_id, at_cut.docprefix),
    )
    assert survey["functions"] != drift["expected"]
    assert drift["dimension"] == "functions"


def test_another_document_s_rows_are_no_drift(at_cut: At) -> None:
    """A bare prefix would mix ICX-LAW-1 with ICX-LAW-10."""
    superuser = at_cut.connect("postgres")
    with quiet(superuser, "public.information_unit"):
        superuser.execute("alter table public.information_unit disable trigger all")
        superuser.execute(
            "insert into public.information_unit (id, canonical_address, unit_kind, owner_ref, identity_profile,"
            " created_by, updated_by) values (gen_random_uuid(), %s, 'law_unit', 'legislature',"
            """ '{"title": "t"}', 'x', 'x')""",
            (f"{at_cut.docprefix}0/ART-1",),
        )
        superuser.execute("alter table public.information_unit enable trigger all")
    superuser.commit()
    assert at_cut.open(at_cut.connect())["status"] == "opened"


BATCH = "0199f1de-7c3d-7e4f-8a9b-0c1d2e3f4a5b"
ROW = {
    "batch_id": BATCH, "queue_sha256": "0" * 64, "mode": "live", "policy": "default", "unattended": False, "lanes": 4,
    "hard_cap_seconds": 60, "caps": {}, "created_by": "olga", "starter": "olga",
}  # fmt: skip
MOVED: dict[str, LiteralString] = {
    "halt": "select cutter_governance.fn_batch_halt(%s, 'stop', 'look')",
    "again": "select cutter_governance.fn_batch_again(%s)",
    "queue_entered": "select cutter_governance.fn_queue_enter(%s, 'ICX-1', 'error_queue', 's', 'c', 'r',"
    f" 'batches/{BATCH}/k.md', 'b')",
    "transition": "select cutter_governance.fn_batch_move(%s, 'batch_voided', 'test')",
}


def test_the_chain_of_a_batch_is_part_of_an_intact_export_and_cannot_be_left_out(
    database: Database, settings: Settings
) -> None:
    items = Jsonb([{
        "document_id": "ICX-1", "position": 1, "priority": 5, "depends_on": [], "critical": False, "tenant": "default",
    }])  # fmt: skip
    database.value("select cutter_governance.fn_batch_register(%s, %s)", (Jsonb(ROW), items), role="cutter_read")
    for name, statement in MOVED.items():
        database.value(statement, (BATCH,), role="cutter_operator" if name == "again" else "cutter_read")
    data = exported(settings, None)
    lines = data.splitlines(keepends=True)
    kinds = [json.loads(line)["kind"] for line in lines[:-1] if json.loads(line)["chain"] == BATCH]
    assert kinds == ["batch_registered", *MOVED]
    checked = audit.verify(data)
    assert (checked.problems, checked.chains) == ((), 2)
    events = [json.loads(line) for line in lines[:-1] if json.loads(line)["chain"] != BATCH]
    (problem,) = audit.verify(audit.export(events)).problems[:1]
    assert f"the chain of {BATCH} is missing" in problem
