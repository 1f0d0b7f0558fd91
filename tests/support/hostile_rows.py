"""IO: rows that no writer of ours makes, and every reader of such rows.

A `Ground` has one run at the turn of each role's gate, all in one batch. `CALLS` are what an untrusted role can say in
JSON or text through the functions that are granted to it; `COLUMNS` are the columns in which this ends, for writing
there past the checks. `failing` runs every reader and names those that failed.
"""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from http import HTTPStatus
from typing import Any, LiteralString, cast

import psycopg
from fastapi import FastAPI
from psycopg.types.json import Jsonb
from rich.console import Console

from activities import approval_judge
from activities import outbox as publish
from activities.run import course
from activities.run.course import stops_of
from cutter.catalogue import BY_NAME, GATES, Role, Sovereign, WorkerRole
from cutter.domain.worker_status import worker_report
from cutter.errors import CutterError
from cutter.evidence import offline
from cutter.law import views
from cutter.law.views import compare
from cutter.projections import batch_folder, batch_report, report, stop_route
from cutter.projections.batch_view import batch_view
from cutter.projections.lifecycle_view import RUN_VIEWS, batch_as_workstream, run_as
from cutter.storage import batch_views, enacted_law
from cutter.storage import runs as run_rows
from cutter.storage.pools import connect
from starter.commands import audit, evidence, inbox, status, workers
from starter.operator import batch_status
from starter.operator.pinned_law import pinned_law
from tests.support import desks
from tests.support.database import Connection, Database
from tests.support.gate_calls import one
from tests.support.runs import Deployment, drive, law

Reader = Callable[["Ground", str], object]

BATCH_ID = "01a3c5e7-0000-7000-8000-00000000a1a1"
TURNS = {
    gate.role.value: (GATES[gate.number - 2].name, gate.name)
    for gate in map(BY_NAME.__getitem__, ("IG_backup", "IG_cut_leg_a_execute", "IG_write_verify", "IG_closeout"))
}
"""Role → (the gate that was passed last, the gate whose turn it is)."""

REFUSE: LiteralString = "select cutter_governance.fn_gate_refuse(%(run)s, %(gate)s, %(n)s, 'failed', 'why', %(value)s)"


@dataclass(frozen=True, slots=True, kw_only=True)
class Ground:
    """A deployment with one run a role, at the turn of that role's gate, and the pages of `cutter desk` on it."""

    made: Deployment
    runs: dict[str, str]
    desk: FastAPI

    @property
    def database(self) -> Database:
        return self.made.database


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """A statement that an untrusted role may send; `value` is the arbitrary part, as JSON or as a text."""

    what: str
    role: str
    statement: LiteralString
    text: bool = False


CALLS = (
    *(Call(what=f"the report of a refusal by {role}", role=role, statement=REFUSE) for role in TURNS),
    *(
        Call(what=f"a policy of an opening by {role}", role=role, statement="select cutter_governance.fn_gate_open("
             "%(run)s, %(gate)s, %(n)s, repeat('a', 64), '[]', false, %(value)s)")
        for role in TURNS
    ),
    Call(what="the state and outcome of a refusal", role="cutter_verify", text=True,
         statement="select cutter_governance.fn_gate_refuse(%(run)s, %(gate)s, %(n)s, %(value)s, %(value)s)"),
    Call(what="a worker's name", role="cutter_verify", text=True,
         statement="select cutter_governance.fn_gate_attempt(%(run)s, %(gate)s, %(value)s, 60)"),
    Call(what="a worker's queues", role="cutter_verify",
         statement="select cutter_governance.fn_worker_beat('hostile', 'build', 10, %(value)s, 'initializing')"),
    Call(what="the request of a backup", role="cutter_backup",
         statement="select cutter_governance.fn_action_record(%(run)s, 'IG_backup', 'backup', 'take', %(key)s,"
         " repeat('a', 64), %(value)s, jsonb_build_object('sha256', repeat('a', 64), 'taken_utc', now()), true, 'x')"),
    Call(what="the response of a backup", role="cutter_backup",
         statement="select cutter_governance.fn_action_record(%(run)s, 'IG_backup', 'backup', 'take', %(key)s,"
         " repeat('a', 64), '{}', %(value)s, true, 'x')"),
    Call(what="the request of a document", role="cutter_read",
         statement="select cutter_governance.fn_action_record(%(run)s, 'IG_closeout', 'kb', 'put', %(key)s,"
         " repeat('a', 64), %(value)s, '{}', false, 'x')"),
    Call(what="a refused verdict", role="cutter_read",
         statement="select cutter_governance.fn_verdict_record(%(run)s, 'SG_lifecycle_authz', 'x.md', %(value)s)"),
    Call(what="a refused message", role="cutter_read", text=True,
         statement="select cutter_governance.fn_refusal_record(%(run)s, %(value)s, %(value)s, %(value)s, %(value)s)"),
    Call(what="a stop route", role="cutter_read", text=True,
         statement="select cutter_governance.fn_stop_route_record(%(run)s, 'a-' || right(%(run)s, 12)"
         " || '/SG3-stop-route-report-' || right(%(key)s, 36) || '.md', %(value)s)"),
    Call(what="the name of a stop route", role="cutter_read", text=True,
         statement="select cutter_governance.fn_stop_route_record(%(run)s, %(value)s || 'a-' || right(%(run)s, 12)"
         " || '/SG3-stop-route-report-' || right(%(key)s, 36), 'a report')"),
    Call(what="the report of a stop", role="cutter_read",
         statement="select cutter_governance.fn_run_stop(%(run)s, 'stopped_expired', 'why', %(value)s)"),
    Call(what="a stop's state", role="cutter_read", text=True,
         statement="select cutter_governance.fn_run_stop(%(run)s, %(value)s, %(value)s)"),
)  # fmt: skip

VALUE, TEXT = "%(value)s::jsonb", "%(text)s"
_BODY = f"jsonb_set(body::jsonb, '{{metadata}}', {VALUE})::text"


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """Columns of a table that an untrusted role's word ends in, each with the expression that is written there."""

    table: str
    key: str
    sets: dict[str, str]
    where: str = "true"


COLUMNS = {
    "an attempt's report": Column(table="gate_attempt", key="run_id, gate, n", sets={"report": VALUE}),
    "an attempt's texts": Column(table="gate_attempt", key="run_id, gate, n", sets={
        "lease_owner": TEXT, "outcome": TEXT, "reason": TEXT, "last_error": TEXT}),
    "a receipt's result": Column(table="gate_receipt", key="run_id, gate", sets={"result": VALUE}),
    "a receipt's pins": Column(table="gate_receipt", key="run_id, gate", sets={
        "result": f"jsonb_set(result, '{{pins}}', {VALUE})"}),
    "a receipt's invariants": Column(table="gate_receipt", key="run_id, gate", sets={
        "result": f"jsonb_set(result, '{{invariants}}', {VALUE})"}),
    "a receipt's policy": Column(table="gate_receipt", key="run_id, gate", sets={"policy": VALUE}),
    "a receipt's sealed body": Column(table="gate_receipt", key="run_id, gate", sets={
        "sealed_body": f"({VALUE})::text",
        "receipt_hash": f"encode(sha256(convert_to(prev_hash || ({VALUE})::text, 'UTF8')), 'hex')"}),
    "an action's request": Column(table="action_receipt", key="id", sets={"request_metadata": VALUE}),
    "an action's policy": Column(table="action_receipt", key="id", sets={
        "request_metadata": f"jsonb_build_object('policy', {VALUE})"}),
    "an action's response": Column(table="action_receipt", key="id", sets={"response_metadata": VALUE}),
    "a verdict's statement": Column(table="approval_verdict", key="id", sets={"statement": VALUE}),
    "a verdict's texts": Column(table="approval_verdict", key="id", sets={
        "kb_id": TEXT, "reason": TEXT, "code": TEXT, "policy_sha256": TEXT, "fingerprint": TEXT, "approver": TEXT}),
    "a run's last error": Column(table="run", key="run_id", sets={"last_error": VALUE}),
    "the report of a run's last error": Column(table="run", key="run_id", sets={
        "last_error": f"jsonb_build_object('reason', 'why', 'report', {VALUE})"}),
    "a run's caps": Column(table="run", key="run_id", sets={"caps": VALUE}),
    "a worker's queues": Column(table="worker_heartbeat", key="worker_id", sets={"queues": VALUE}),
    "a transition's metadata": Column(table="audit_event", key="chain, seq", where="kind = 'transition'", sets={
        "body": _BODY, "hash": f"encode(sha256(convert_to(prev_hash || {_BODY}, 'UTF8')), 'hex')"}),
    "a batch's caps": Column(table="batch", key="batch_id", sets={"caps": VALUE}),
    "a request's tuple": Column(table="approval_request", key="request_id", sets={"tuple": VALUE}),
}  # fmt: skip
_TABLES = tuple({f"cutter_governance.{column.table}": None for column in COLUMNS.values()})

_BATCH: LiteralString = """
insert into cutter_governance.batch (
    batch_id, queue_sha256, mode, policy, unattended, lanes, hard_cap_seconds, caps, created_by, starter)
values (%(batch_id)s, repeat('a', 64), 'live', 'default', false, 1, 3600, '{}', 'olga', 'olga');
insert into cutter_governance.batch_item (batch_id, document_id, position, priority, tenant)
select %(batch_id)s, document_id, row_number() over (order by document_id), 100, 'default' from cutter_governance.run;
update cutter_governance.run set batch_id = %(batch_id)s;
insert into cutter_governance.worker_heartbeat (worker_id, role, build_id, queues, beat_seconds)
values ('w1', 'verify', 'b', '[]', 10)
"""


@contextmanager
def ground(made: Deployment) -> Iterator[Ground]:
    """The runs of a deployment that is empty; they belong to one batch, whose readers look at all of them."""
    runs = {role: drive(made, law(2), until=passed).run_id for role, (passed, _) in TURNS.items()}
    made.approve(runs["cutter_exec"], Sovereign.CUT)
    with psycopg.connect(made.database.url("postgres"), autocommit=True) as connection:
        for statement in _BATCH.split(";"):
            connection.execute(_text(statement), {"batch_id": BATCH_ID} if "%(" in statement else None)
    with desks.pages(made.settings) as desk:
        yield Ground(made=made, runs=runs, desk=desk)


def say(at: Ground, call: Call, value: Any, connection: Connection, key: str) -> str:
    """Send one call and COMMIT it if it can be; "done", or the SQLSTATE with which it was refused."""
    given = str(value) if call.text else Jsonb(value)
    run_id, (_, gate) = at.runs[call.role], TURNS[call.role]
    try:
        number = 0
        if "%(n)s" in call.statement:
            answer = one(connection, "select cutter_governance.fn_gate_attempt(%s, %s, 'hostile', 60)", (run_id, gate))
            number = answer.get("attempt", 0)
        parameters = {"run": run_id, "gate": gate, "n": number, "value": given, "key": f"{run_id}/{key}"}
        connection.execute(call.statement, parameters)
        connection.commit()
    except psycopg.Error as problem:
        connection.rollback()
        return problem.sqlstate or type(problem).__name__
    return "done"


@contextmanager
def past_the_checks(at: Ground, what: str, value: Any) -> Iterator[None]:
    """Write a value into columns of every row, with the checks off; afterwards the rows are as they were."""
    column = COLUMNS[what]
    table = f"cutter_governance.{column.table}"
    sets = ", ".join(f"{name} = {expression}" for name, expression in column.sets.items())
    back = ", ".join(f"{name} = k.{name}" for name in column.sets)
    same = " and ".join(f"t.{name} = k.{name}" for name in column.key.split(", "))
    parameters = {"value": json.dumps(value), "text": str(value)[:2000]}
    with psycopg.connect(at.database.url("postgres"), autocommit=True) as connection:
        connection.execute(_text(f"create temp table k as table {table}"))
        connection.execute(_text(f"update {table} set {sets} where {column.where}"), parameters)
        try:
            yield
        finally:
            connection.execute(_text(f"update {table} t set {back} from k where {same}"))


@contextmanager
def unchecked(database: Database, *tables: str) -> Iterator[None]:
    """Without the triggers of these tables, or of those in COLUMNS.

    Afterwards they are as they were, or the next gate sees drift.
    """
    names = list(tables or _TABLES)
    with psycopg.connect(database.url("postgres"), autocommit=True) as connection:
        triggers = connection.execute(_TRIGGERS, (names,)).fetchall()
        for table in names:
            connection.execute(_text(f"alter table {table} disable trigger user"))
        try:
            yield
        finally:
            for table, name, always in triggers:
                again = "enable always" if always else "enable"
                connection.execute(_text(f"alter table {table} {again} trigger {name}"))


_TRIGGERS: LiteralString = """
select tgrelid::regclass::text, quote_ident(tgname), tgenabled = 'A' from pg_trigger
where tgrelid = any (%s::text[]::regclass[]) and not tgisinternal
"""


def _text(statement: str) -> LiteralString:
    return cast(LiteralString, statement)


# --- readers ----------------------------------------------------------------------------------------------------------


def _shown(value: Any) -> str:
    out = Console(file=io.StringIO(), width=200)
    out.print(value)
    return json.dumps(value, default=str)


def _status(at: Ground, run_id: str) -> object:
    view = status.view_of(at.made.settings, run_id)
    Console(file=io.StringIO(), width=200).print(status.render_run(view))
    law = pinned_law(at.made.settings, run_id)
    return (
        status.lines_of_run(view),
        _shown(view.as_json()),
        report.render(view, law),
    )


def _in_other_words(at: Ground, run_id: str) -> object:
    sidecar = run_rows.sidecar(at.made.settings, run_id)
    return [_shown(run_as(kind, sidecar)) for kind in RUN_VIEWS]


def _folder(at: Ground, run_id: str) -> object:
    publish.project(at.made.deps[WorkerRole.CUTTER], run_rows.sidecar(at.made.settings, run_id))
    return None


def _waiting_documents(at: Ground, run_id: str) -> object:
    return publish.publish(at.made.deps[WorkerRole.CUTTER], Role.READ, run_id)


def _evidence(at: Ground, run_id: str) -> object:
    made, _, _ = evidence.exported(at.made.settings, run_id)
    with suppress(*offline.BROKEN):  # `cutter verify` says of it that it is no bundle
        offline.check(made.data)
    return made.sha256


def _stop_route(at: Ground, run_id: str) -> object:
    sidecar = run_rows.sidecar(at.made.settings, run_id)
    return stops_of(sidecar), stop_route.render(stop_route.StopRoute(
        sidecar=sidecar, gate="IG_mark", reason="why", kb_id="a/b.md", number=1, deployment_id="d"))  # fmt: skip


def _begin(at: Ground, run_id: str) -> object:
    return course.view_of(run_rows.sidecar(at.made.settings, run_id))


def _judge(at: Ground, run_id: str) -> object:
    with connect(at.made.settings, Role.READ) as connection:
        facts = approval_judge.read_facts(connection, run_id, "SG_cut_authz")
        return approval_judge._expected_for(connection, facts, "SG_cut_authz")


def _people(at: Ground, _run_id: str) -> object:
    entries = [asdict(entry) for entry in inbox.waiting(at.made.settings)]
    return _shown(entries), _shown(status.newest(at.made.settings).as_json())


def _audit(at: Ground, run_id: str) -> object:
    return audit.exported(at.made.settings, run_id)


def _workers(at: Ground, _run_id: str) -> object:
    with connect(at.made.settings, Role.OPERATOR) as connection:
        heartbeats = workers.heartbeats_of(connection)
    report = worker_report(heartbeats, None, ("cutter-verify",))
    return [workers._row(worker) for worker in report.workers], _shown(report.as_json())


def _batch(at: Ground, _run_id: str) -> object:
    with connect(at.made.settings, Role.OPERATOR) as connection:
        facts = batch_views.facts(connection, BATCH_ID)
        batch_folder.read_contents(connection, BATCH_ID)
    return batch_report.render(batch_view(facts)), _shown(batch_as_workstream(facts)), _shown(
        batch_status.look(at.made.settings, BATCH_ID).as_json())  # fmt: skip


def _law(at: Ground, run_id: str) -> object:
    """What each command of `cutter law` reads."""
    with connect(at.made.settings, Role.OPERATOR) as connection:
        laws = enacted_law.laws(connection)
        known = enacted_law.versions(connection, _document(at, run_id))
        text = enacted_law.text_of(connection, known[-1])
        tree = enacted_law.outline_of(connection, known[-1])
        past = enacted_law.unit_versions(connection, known[-1].document, text.units[0].address)
        hits = enacted_law.search(connection, "rule", at=None, document=known[-1].document, version=None, limit=9)
    comparison = views.comparison_view(known[0], known[-1], compare(text.units, text.units))
    rows = [views.plain(item) for item in (*laws, *past, *hits, *tree.units)]
    return _shown([views.law_view(text), views.tree_view(text), comparison, rows])


def _api(at: Ground, _run_id: str) -> object:
    """Every view and function of the schema `api`, by the role that reads nothing else."""
    with connect(at.made.settings, Role.API) as connection:
        names = connection.execute(_API_VIEWS).fetchall()
        rows = [connection.execute(_text(f"select * from api.{name}")).fetchall() for (name,) in names]
        return rows, [connection.execute(_text(f"select * from {call}")).fetchall() for call in _API_CALLS]


_API_VIEWS: LiteralString = """
select relname from pg_class where relnamespace = 'api'::regnamespace and has_table_privilege(oid, 'select')
"""
_API_CALLS = ("api.search('rule')", "api.law_version_recorded()", "api.unit_in_force(current_date)")


def _desk(at: Ground, run_id: str) -> object:
    law = f"/laws/{_document(at, run_id)}"
    run_pages = (f"/runs/{run_id}", f"/requests/{run_id}", f"/queues/{run_id}")
    return _pages(at, *run_pages, law, f"{law}/text", f"{law}/history")


def _desk_of_all(at: Ground, _run_id: str) -> object:
    lists = ("/inbox", "/requests", "/runs", "/batches", "/queues", "/laws")
    paths = (*lists, f"/batches/{BATCH_ID}", "/search?words=rule")
    return _pages(at, *paths), _pages(at, *paths, as_json=True)


def _pages(at: Ground, *paths: str, as_json: bool = False) -> list[int]:
    """The status of each page. An answer of 500 is an error without words."""
    pages = [desks.in_process(at.desk, path, as_json=as_json) for path in paths]
    bad = [page.text for page in pages if page.status == HTTPStatus.INTERNAL_SERVER_ERROR]
    if bad:
        raise AssertionError(bad[0][:200])
    return [page.status for page in pages]


def _document(at: Ground, run_id: str) -> str:
    return str(at.made.run_row(run_id)["document_id"])


READERS: dict[str, Reader] = {
    "status and report": _status,
    "status in a seed's words": _in_other_words,
    "the run folder": _folder,
    "waiting documents": _waiting_documents,
    "evidence": _evidence,
    "the stop route": _stop_route,
    "a run that begins": _begin,
    "the judge of approvals": _judge,
    "inbox and list": _people,
    "audit export": _audit,
    "workers": _workers,
    "the batch": _batch,
    "enacted law": _law,
    "the schema api": _api,
    "the desk about a run": _desk,
    "the desk about all": _desk_of_all,
}


OF_ALL = frozenset({"inbox and list", "workers", "the batch", "the schema api", "the desk about all"})
"""Readers that look at all runs at once."""


def failing(at: Ground) -> list[str]:
    """The readers that failed on any run, with what they raised; a refusal in words is no failure."""
    problems = []
    for name, reader in READERS.items():
        runs = list(at.runs.items())
        for role, run_id in runs[:1] if name in OF_ALL else runs:
            try:
                reader(at, run_id)
            except CutterError as problem:
                if problem.code == "BUG":
                    problems.append(f"{name} of the run of {role}: {problem}")
            except Exception as problem:
                problems.append(f"{name} of the run of {role}: {type(problem).__name__}: {problem}"[:200])
    return problems


IN_WORDS = frozenset({"done", "CU005", "CU006", "CU011", "CU021", "CU022", "23502", "22023"})
"""How a call may end: done, refused with a code of ours, a column that must not be null, a policy that is a scalar."""
