"""Whoever has one role's password and nothing else: cutter_exec without an approval commits no unit, by any route;
cutter_read neither writes units nor consumes; one role does not make another's evidence."""

from __future__ import annotations

from collections.abc import Iterator

import psycopg
import pytest

from tests.integration.storage.conftest import ENACT, LEG_A, LEG_B, At
from tests.support import gate_calls as gates
from tests.support.database import Connection, Database, TestCluster
from tests.support.gate_calls import one
from tests.support.runs import Deployment, Keys, Stage, drive, law, offer, stage

ADDRESS = "{prefix}/FORGED"
CREATE = "select public.fn_iu_create('{prefix}/FORGED', 't', 'b', 'x', 'law_unit', 'article', 'legislature', 'law')"
INSERT = (
    "insert into public.information_unit (id, canonical_address, unit_kind, owner_ref, identity_profile, created_by,"
    " updated_by) values (gen_random_uuid(), '{prefix}/FORGED', 'law_unit', 'legislature',"
    """ '{{"title": "t", "primary_section_type_ref": "article"}}', 'x', 'x')"""
)

STATEMENTS = {
    "direct insert": INSERT,
    "direct insert with the marker set": "set app.canonical_writer = 'fn_iu_create'; " + INSERT,
    "insert of a version": "insert into public.unit_version select gen_random_uuid(), id, 'b', 'h', 9 from"
    " public.information_unit limit 1",
    "copy": "copy public.information_unit (id, canonical_address) from stdin",
    "the writer outside a gate": CREATE,
    "the writer outside a gate, marker set": "set app.canonical_writer = 'fn_iu_create'; " + CREATE,
    "the writer in a DO block": "do $$ begin perform " + CREATE.removeprefix("select ") + "; end $$",
    "constraints set immediate": "set constraints all immediate; " + CREATE,
    "constraints switched off": "alter table public.information_unit disable trigger all",
    "replica mode": "set session_replication_role = replica; " + INSERT,
    "becoming the owner": "set role cutter_owner; " + INSERT,
    "becoming the superuser": "set session authorization postgres",
    "taking the table": "alter table public.information_unit owner to cutter_exec",
    "taking the writer": "alter function public.fn_iu_create owner to cutter_exec",
    "granting oneself": "grant insert on public.information_unit to cutter_exec; " + INSERT,
    "granting oneself the owner": "grant cutter_owner to cutter_exec",
    "changing the check": "create or replace function cutter_governance.fn_check_receipt() returns trigger"
    " language plpgsql as 'begin return null; end'",
    "dropping the trigger": "drop trigger trg_gate_receipt_at_commit on cutter_governance.gate_receipt",
    "truncate": "truncate public.information_unit cascade",
    "lock in share mode": "lock table public.information_unit in exclusive mode",
    "delete": "delete from public.information_unit",
    "update": "update public.information_unit set lifecycle_status = 'enacted'",
    "merge": "merge into public.information_unit u using (select 1) s on true when matched then delete",
    "a rule": "create rule r as on insert to public.information_unit do instead nothing",
    "a new schema": "create schema mine",
    "a function in public": "create function public.lower(text) returns text language sql as 'select $1'",
    "a temporary table": "create temporary table information_unit (like public.information_unit)",
    "a large object and a file": "select pg_read_file('/etc/passwd')",
    "a program": "copy (select 1) to program 'true'",
    "a receipt of one's own": "insert into cutter_governance.gate_receipt (run_id, gate, attempt, role, payload_sha256,"
    " prev_hash, before_pins) select run_id, 'IG_cut_leg_a_execute', 1, 'cutter_exec', 'x', 'x', '{{}}'"
    " from cutter_governance.run limit 1",
    "a consumption of one's own": "insert into cutter_governance.approval_consumption select * from"
    " cutter_governance.approval_consumption",
    "a verdict of one's own": "insert into cutter_governance.approval_verdict (run_id, gate, kb_id, accepted, code,"
    " reason) select run_id, 'SG_cut_authz', 'x', true, 'x', 'x' from cutter_governance.run",
    "a verdict by the function": "select cutter_governance.fn_verdict_record('{run}', 'SG_cut_authz', 'x', '{{}}')",
    "consuming by hand": "select cutter_governance.fn_approvals_consume(r, 'SG_cut_authz', '[]')"
    " from cutter_governance.run r",
    "a policy of one's own": "select cutter_governance.fn_policy_install(2, gen_random_uuid(), 'x', '{{}}', '{{}}',"
    " 'x')",
    "a request of one's own": "select cutter_governance.fn_request_open('{run}', 'SG_cut_authz', 60,"
    " gen_random_uuid())",
    "moving the run": "select cutter_governance.fn_run_move('{run}', 'cut_leg_a_committed', 'x')",
    "a run that never stopped": "select cutter_governance.fn_run_resume('{run}')",
    "an approval that was consumed, as a request": "update cutter_governance.approval_request set status = 'requested'",
    "withdrawing without a void": "select public.fn_iu_withdraw_drafts('{run}') -> 'refused_no_void_open' / 0",
    "an event of one's own": "select cutter_governance.fn_audit('{run}', 'x', '{{}}')",
    "a backup of one's own": "select cutter_governance.fn_action_record('{run}', 'IG_backup', 'backup', 'take', 'x',"
    """ 'y', '{{}}', '{{"taken_utc": "2099-01-01"}}', true, 'x')""",
    "a lifecycle decision of one's own": "insert into cutter_governance.review_decision (review_decision_id, run_id,"
    " type, actor, created_by) values (gen_random_uuid(), '{run}', 'lifecycle_enactment', 'x', 'x')",
    "a cut decision outside its gate": "insert into cutter_governance.review_decision (review_decision_id, run_id,"
    " type, actor, created_by) values (gen_random_uuid(), '{run}', 'cut', 'x', 'x')",
    "a verify result": "insert into cutter_governance.verify_result (verify_result_id, change_set_id, manifest_id,"
    " review_decision_id, manifest_version, executor_signature_id, verifier_signature_id, executor_tool_revision,"
    " verifier_tool_revision, tool_revision_match, axis_1_status, axis_2_status, verdict, created_by) select"
    " gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), 'x', gen_random_uuid(),"
    " gen_random_uuid(), 'x', 'y', false, 'x', 'x', 'pass', 'x'",
    "the verifier's signature": "insert into cutter_governance.dot_pair_signature (signature_id, signature_kind,"
    " signer_dot_id, signer_identity, signer_fingerprint, signer_tool_revision, payload, payload_hash, signature,"
    " cross_reference_verify_result_id) values (gen_random_uuid(), 'verifier', 'DOT-992', 'x', 'x', 'x', 'p',"
    " encode(sha256('p'), 'hex'), 's', gen_random_uuid())",
    "an append to another's evidence": "update cutter_governance.action_receipt set payload_sha256 = 'x'",
    "a definition snapshot": "insert into cutter_governance.definition_snapshot values ('x', '{{}}')",
    "a new baseline": "select cutter_governance.fn_baseline_record(6)",
    "a prepared transaction": CREATE + "; prepare transaction 'mine'",
}  # fmt: skip
"""Route → statements. Each must raise at once or at COMMIT."""


def units(database: Database) -> int:
    return int(database.value("select count(*) from public.information_unit"))


OWN_WORK = {
    "cutter_read": {"a verdict by the function", "a request of one's own", "a run that never stopped"},
    "cutter_backup": {"a backup of one's own"},
}


@pytest.mark.parametrize("role", ["cutter_exec", "cutter_read", "cutter_verify", "cutter_backup", "cutter_operator"])
def test_no_statement_of_a_role_gets_around_the_gates(at_cut: At, role: str) -> None:
    """Seed 002 "Migration Notes"."""
    connection = at_cut.connect(role)
    before = units(at_cut.database)
    routes = [route for route in STATEMENTS if route not in OWN_WORK.get(role, ())]
    through = [route for route in routes if passes(connection, at_cut, STATEMENTS[route])]
    assert through == []
    assert units(at_cut.database) == before


def test_a_gate_that_stands_open_is_no_licence_for_anything_else(at_enact: At) -> None:
    """Gate 10, with its approval consumed in the same transaction."""
    connection = at_enact.connect()
    before = units(at_enact.database)
    through = []
    for route, statements in STATEMENTS.items():
        number = at_enact.opened(connection, ENACT)
        assert number
        if passes(connection, at_enact, statements, commit=False):
            through.append(route)
    assert through == []
    assert units(at_enact.database) == before


def passes(connection: Connection, at: At, statements: str, *, commit: bool = True) -> bool:
    """Whether the statements can be executed (and committed)."""
    text = statements.format(prefix=at.docprefix, run=at.run_id)
    try:
        for statement in [text] if text.startswith("do ") else text.split("; "):
            connection.execute(statement)
        if commit:
            connection.commit()
    except psycopg.Error:
        connection.rollback()
        return False
    return True


# --- with a real approval for something else ------------------------------------------------------------------------


def test_an_approval_for_one_document_creates_nothing_under_another_prefix(at_cut: At) -> None:
    connection = at_cut.connect()
    at_cut.opened(connection)
    at_cut.create(connection)
    with pytest.raises(psycopg.Error, match="no gate of its run is open") as refused:
        one(connection, CREATE.format(prefix="ICX-OTHER"))
    assert refused.value.sqlstate == "CU007"


def test_nothing_is_created_after_the_seal_even_when_the_checks_were_called_forward(at_cut: At) -> None:
    """SET CONSTRAINTS runs the checks of COMMIT now; what came after them would never be looked at."""
    connection = at_cut.connect()
    number = at_cut.opened(connection)
    at_cut.create(connection)
    assert at_cut.close(connection, number)["status"] == "sealed"
    connection.execute("set constraints all immediate")
    connection.execute("set constraints all deferred")
    with pytest.raises(psycopg.Error, match="no gate of its run is open"):
        one(connection, CREATE.format(prefix=at_cut.docprefix))
    assert at_cut.units() == 0


def test_a_savepoint_does_not_keep_the_rows_and_lose_the_gate(at_cut: At) -> None:
    connection = at_cut.connect()
    connection.execute("savepoint s")
    at_cut_number = gates.one(
        connection, "select cutter_governance.fn_gate_attempt(%s, %s, 't', 60)", (at_cut.run_id, LEG_A)
    )["attempt"]
    answer = at_cut.open(connection, number=at_cut_number, payload_sha256="x")
    assert answer["status"] == "opened"
    connection.execute("rollback to savepoint s")
    with pytest.raises(psycopg.Error, match="no gate of its run is open"):
        one(connection, CREATE.format(prefix=at_cut.docprefix))


def test_the_approval_of_one_run_enacts_nothing_of_another(deployment: Deployment) -> None:
    """Seed 000 §3."""
    ready = drive(deployment, law(2), until="IG_write_verify")
    other = drive(deployment, law(2), until="IG_write_verify")
    deployment.request(other.run_id, "SG_lifecycle_authz")
    kb_id, verdict = deployment.approve(ready.run_id, "SG_lifecycle_authz")
    assert verdict.accepted, kb_id
    connection = deployment.database.connect("cutter_exec")
    opened = gates.open_gate(connection, ENACT, ready.run_id, approvals=[offer(deployment, verdict)])
    assert opened["status"] == "opened"
    row = connection.execute(
        "select q.review_decision_id, c.change_set_id from cutter_governance.approval_request q"
        " join cutter_governance.cut_change_set c using (run_id) where q.run_id = %s and q.gate = 'SG_lifecycle_authz'",
        (other.run_id,),
    ).fetchone()
    assert row is not None
    for decision in (row[0], opened_decision(connection, ready.run_id)):
        answer = one(
            connection,
            "select public.fn_iu_enact((select min(canonical_address) from public.information_unit"
            " where starts_with(canonical_address, %s)), 'x', %s, 'enacted', %s)",
            (f"{other.document_id}/", decision, row[1]),
        )
        assert answer["status"].startswith("refused_")


def opened_decision(connection: Connection, run_id: str) -> object:
    return one(
        connection,
        "select review_decision_id from cutter_governance.approval_request"
        " where run_id = %s and gate = 'SG_lifecycle_authz'",
        (run_id,),
    )


def test_gate_8_of_one_run_writes_nothing_about_another(deployment: Deployment) -> None:
    mine, other = (drive(deployment, law(2), until="IG_structural_verify") for _ in range(2))
    connection = deployment.database.connect("cutter_exec")
    gates.open_gate(connection, LEG_B, mine.run_id)
    connection.execute(
        "insert into cutter_governance.decision_backlog_entry (entry_id, run_id, document_id, status, created_by)"
        " values (gen_random_uuid(), %s, 'x', 'x', 'x')",
        (other.run_id,),
    )
    with pytest.raises(psycopg.Error, match="of its run was opened in this transaction") as refused:
        connection.execute("set constraints cutter_governance.trg_zz_decision_backlog_entry_gate immediate")
    assert refused.value.sqlstate == "CU007"


def test_gate_8_of_one_run_writes_no_block_of_another(deployment: Deployment) -> None:
    mine = drive(deployment, law(2), until="IG_structural_verify")
    other = drive(deployment, law(2), until="IG_leg_b_record")
    connection = deployment.database.connect("cutter_exec")
    gates.open_gate(connection, LEG_B, mine.run_id)
    with pytest.raises(psycopg.Error, match="of its run is open in this transaction") as refused:
        connection.execute(
            "insert into cutter_governance.manifest_unit_block (envelope_id, unit_local_id, block_role, source_span,"
            " span_sha256, render_order, target_unit_id, proposed_canonical_address, decision_backlog_ref)"
            " select b.envelope_id, 'x', 'result', b.source_span, b.span_sha256, 99, b.target_unit_id, 'x/X',"
            " b.decision_backlog_ref from cutter_governance.manifest_unit_block b"
            " join cutter_governance.manifest_envelope e on e.envelope_id = b.envelope_id where e.run_id = %s limit 1",
            (other.run_id,),
        )
    assert refused.value.sqlstate == "CU007"


def test_closing_another_session_s_gate_is_not_possible(at_cut: At) -> None:
    holder, thief = at_cut.connect(), at_cut.connect()
    number = at_cut.opened(holder)
    at_cut.create(holder)
    assert at_cut.close(thief, number)["code"] == "not_open_here"


def test_a_consumption_is_not_replayed_for_a_second_run(at_end: At) -> None:
    """The same approval, offered again after its run was enacted: the receipt answers, nothing is written.
    Seed 000 §3.
    """
    used = at_end.database.value("select approval_sha256 from cutter_governance.approval_consumption limit 1")
    challenge = at_end.database.value("select challenge from cutter_governance.approval_consumption limit 1")
    connection = at_end.connect()
    before = at_end.units()
    answer = gates.open_gate(
        connection, LEG_A, at_end.run_id, number=1, approvals=[{"approval_sha256": used, "challenge": challenge}],
        payload_sha256=gates.payload(connection, LEG_A, at_end.run_id),
    )  # fmt: skip
    assert answer["status"] == "sealed"
    connection.commit()
    assert at_end.units() == before


def test_temporary_types_do_not_shadow_what_the_definer_functions_name(at_cut: At) -> None:
    """Were TEMP ever granted: a temporary table is a type too, and would be found before pg_catalog's."""
    at_cut.database.run(f"grant temporary on database {at_cut.database.name} to cutter_exec")
    connection = at_cut.connect()
    number = gates.attempt(connection, LEG_A, at_cut.run_id)
    for name in (
        "jsonb",
        "text",
        "uuid",
        "integer",
        "boolean",
        "information_unit",
        "gate_receipt",
        "run",
        "int4",
        "bool",
    ):
        connection.execute(f"create temporary table {name} (forged integer)")
    connection.execute("set search_path = pg_temp, public, cutter_governance")
    answer = at_cut.open(connection, number=number, payload_sha256="x", approvals=[])
    assert (answer["status"], answer["code"]) == ("approval_refused", "threshold_not_met")


def test_functions_and_operators_in_a_schema_of_one_s_own_are_not_called(at_cut: At) -> None:
    """A schema that a careless grant let the role make."""
    at_cut.database.run("create schema mine authorization cutter_exec")
    connection = at_cut.connect()
    number = gates.attempt(connection, LEG_A, at_cut.run_id)
    connection.execute(
        "create function mine.clock_timestamp() returns timestamptz language sql"
        " as $$ select '2000-01-01'::timestamptz $$"
    )
    connection.execute("create function mine.pg_current_xact_id() returns xid8 language sql as $$ select '3'::xid8 $$")
    connection.execute("create function mine.never(text, text) returns boolean language sql as 'select false'")
    connection.execute("create operator mine.<> (leftarg = text, rightarg = text, function = mine.never)")
    connection.execute("set search_path = mine, pg_catalog, public")
    answer = at_cut.open(connection, number=number, payload_sha256="x", approvals=[])
    assert answer["status"] in ("approval_refused", "drift")
    assert at_cut.units() == 0


@pytest.fixture(scope="module")
def written(cluster: TestCluster, keys: Keys) -> Iterator[Stage]:
    with stage(cluster, keys, until=LEG_A) as made:
        yield made


def test_cutter_read_neither_writes_units_nor_consumes(written: Stage) -> None:
    with written.clone() as database:
        at = At(database=database, stage=written)
        connection = at.connect("cutter_read")
        before = units(database)
        for statement in (
            CREATE.format(prefix=at.docprefix),
            "select public.fn_iu_enact('x', 'x', null)",
            "select public.fn_iu_withdraw_drafts('x')",
            "select cutter_governance.fn_void_open('x', 'y')",
            "insert into cutter_governance.approval_consumption default values",
        ):
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                connection.execute(statement)
            connection.rollback()
        answer = gates.open_gate(connection, ENACT, at.run_id, number=1, payload_sha256="x")
        assert answer["code"] == "wrong_role"
        assert units(database) == before
