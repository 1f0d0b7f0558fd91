"""IO: P33: a worker's role calls every function that it may call, and afterwards people bring the run to its end.

    python -m tests.campaigns.p33_facts_of_one_role --trials 300 --seed 1 --out p33.jsonl

Each trial brings a run to one of its gates. Then one role sends calls with well-formed and with malformed arguments,
some alone and some together in one transaction, as a thief of its password could. After that people approve, resume,
acknowledge or void, each with a signature. The run must end, its evidence must hold, and the next run of the document
must be able to begin. The control arm has the same calls without the guards. They guard functions of cutter_read, so
all its calls are of this role.
"""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any, LiteralString, cast
from unittest import mock

import psycopg
from psycopg.types.json import Jsonb

from activities import effects
from activities.worker.dependencies import day_of, folder_of
from cutter.catalogue import BY_NAME, GATES, Role, Sovereign, State, WorkerRole
from cutter.errors import Conflict, CutterError
from cutter.evidence import bundle, offline
from cutter.gates import closeout
from cutter.kb import ids as kb_ids
from cutter.storage import runs as run_rows
from cutter.types import Json
from starter.commands.evidence import exported
from tests.campaigns import p26_hostile_rows
from tests.cases.trials import Dice, Summary, command_line, write_lines
from tests.support.database import Connection, Database, TestCluster, own_cluster
from tests.support.documents import run_documents
from tests.support.gate_calls import another_accepted
from tests.support.people_and_workers import to_its_end
from tests.support.runs import Deployment, Keys, deployment, drive, keyring, law

ROLES = (Role.READ, Role.BACKUP, Role.EXEC, Role.VERIFY)
CALLS = 40
"""Calls of one trial."""
TOGETHER = 5
"""The most calls that one transaction has."""
CONTROL_SHARE = 2

FUNCTIONS: LiteralString = """
select p.oid::regproc::text, coalesce(p.proargnames[1:p.pronargs], '{}'),
    array(select format_type(given.type, null) from unnest(p.proargtypes) with ordinality as given (type, n) order by n)
from pg_proc p
where p.pronamespace in ('cutter_governance'::regnamespace, 'public'::regnamespace) and p.proname like 'fn\\_%%'
    and p.provolatile = 'v' and has_function_privilege(%s, p.oid, 'execute')
order by 1
"""
UNGUARDED: LiteralString = """
drop trigger trg_name on cutter_governance.outbox;
create or replace function cutter_governance.fn_accepted_problem(
    p_run cutter_governance.run, p_gate text, p_verdict jsonb, p_body bytea, p_signature bytea) returns text
language sql stable as 'select null::text';
create or replace function cutter_governance.fn_run_waits_for(
    p_run cutter_governance.run, p_gate text, p_statement jsonb) returns boolean
language sql stable as 'select true'
"""


def pools(made: Deployment, run_id: str) -> dict[str, list[Any]]:
    """Arguments that fit, by the name or by the type of a parameter."""
    run = run_rows.sidecar(made.settings, run_id).run
    digest = made.database.value("select sha256 from public.source_snapshot limit 1")
    folder, day = folder_of(run, digest), day_of(run).date()
    names = [
        *run_documents(folder, GATES, day), kb_ids.stop_report(folder, day, number=1),
        closeout.index_id(run_id), f"{run_id}/evidence-{'0' * 16}.tar",
    ]  # fmt: skip
    requests = made.database.value(
        "select coalesce(jsonb_agg(request_id), '[]') from cutter_governance.approval_request where run_id = %s",
        (run_id,),
    )
    statements = made.database.value(
        "select coalesce(jsonb_agg(approval_sha256), '[]') from cutter_governance.approval_verdict where run_id = %s",
        (run_id,),
    )
    states = [state.value for state in State]
    stops = [
        "stopped_stop", "stopped_hard_cap", "stopped_cancel", "stopped_drift_base", "stopped_drift_functions",
        "stopped_error_closeout", "stopped_unavailable_kb", "stopped_expired", "failed_mark", "failed_policy",
    ]  # fmt: skip
    gates = [*BY_NAME, *(gate.value for gate in Sovereign)]
    return {
        "p_run_id": [run_id] * 9 + ["x"],
        "p_gate": gates,
        "p_state": [*stops, *states],
        "p_kb_id": names,
        "p_target": names,
        "p_free": [name.replace(".md", "-other2.md") for name in names],
        "p_document_id": [run.document_id],
        "p_connector": ["kb", "kb", "evidence", "backup"],
        "p_operation": ["put", "put", "store", "take"],
        "p_worker_id": ["w"],
        "p_role": [role.value for role in WorkerRole],
        "text": [run_id, run.document_id, *gates, *names, *stops, *statements, "x", "", "a" * 64, "default", "stop"],
        "uuid": [*requests, "01a3c5e7-0000-7000-8000-00000000a1a1"],
        "integer": [0, 1, 2, 3, 60, 10**9],
        "bigint": [0, 1, 2, 10**9],
        "boolean": [True, False],
        "bytea": [b"", b"x", b"x" * 70_000],
        "timestamp with time zone": ["2000-01-01T00:00:00Z", "2099-01-01T00:00:00Z"],
        "text[]": [[], [run_id], [run.document_id]],
    }


def argument(dice: Dice, name: str, kind: str, pool: dict[str, list[Any]]) -> Any:
    """One argument: none, arbitrary JSON, or a value that fits."""
    if dice.below(10) == 0:
        return None
    if kind == "jsonb":
        return Jsonb(p26_hostile_rows.value(dice))
    values = pool.get(name) if dice.below(5) else None
    values = values or pool.get(kind)
    return dice.choose(values) if values else None


def attack(made: Deployment, role: Role, run_id: str, dice: Dice) -> list[str]:
    """The calls; those that were not refused, by function."""
    pool = pools(made, run_id)
    connection = made.database.connect(role.value, autocommit=True)
    done: list[str] = []
    try:
        connection.execute("set statement_timeout = '3s'; set lock_timeout = '1s'")
        functions = connection.execute(FUNCTIONS, (role.value,)).fetchall()
        left = CALLS
        while left > 0:
            together = min(left, 1 + dice.below(TOGETHER) * dice.below(2))
            left -= together
            with suppress(psycopg.Error), connection.transaction():
                calls = [called(made, connection, dice, functions, pool) for _ in range(together)]
                done += filter(None, calls)
    finally:
        connection.close()
    return done


def called(
    made: Deployment, connection: Connection, dice: Dice, functions: Sequence[Any], pool: dict[str, list[Any]]
) -> str | None:
    """One call; the function's name unless it was refused."""
    name, names, kinds = dice.choose(functions)
    given = [argument(dice, word, kind, pool) for word, kind in zip(names, kinds, strict=True)]
    if (
        name.endswith("fn_verdict_record")
        and dice.below(2)
        and made.database.value("select exists (select from cutter_governance.signed_statement)")
    ):
        given = list(another_accepted(made.database))
    places = ", ".join(f"%s::{kind}" for kind in kinds)
    try:
        with connection.transaction():
            connection.execute(cast(LiteralString, f"select {name}({places})"), given)
    except psycopg.Error as problem:
        if problem.sqlstate is None:
            raise
        return None
    return str(name)


def evidence_problems(made: Deployment, run_id: str) -> list[str]:
    """What an auditor with gpg finds wrong with a closed run's bundle."""
    lines = offline.check(exported(made.settings, run_id)[0].data, gpg=shutil.which("gpg"))
    return [f"evidence: {line}" for line in lines if line[1] == offline.FAILED]


def trial(made: Deployment, role: Role, gate: str, dice: Dice) -> Json:
    """One run at one gate, and one role's calls about it."""
    driven = drive(made, law(2), until=gate)
    run_id = driven.run_id
    following = GATES[BY_NAME[gate].number]
    if following.sovereign is not None and dice.below(2):
        made.approve(run_id, following.sovereign)
    done = attack(made, role, run_id, dice)
    steps = to_its_end(made, run_id)
    row = made.run_row(run_id)
    problems = [] if row["ended_at"] else ["the run cannot be brought to its end"]
    problems += [] if row["state"] != State.CLOSEOUT_REPORTED.value else evidence_problems(made, run_id)
    if row["ended_at"]:
        try:
            made.begin(driven.document_id)
        except CutterError as problem:
            problems.append(f"the next run: {problem}")
    return {"role": role.value, "gate": gate, "done": dict(Counter(done)), "steps": steps, "state": row["state"],
            "problems": problems}  # fmt: skip


def play(made: Deployment, trials: int, seed: int, roles: Sequence[Role] = ROLES) -> Iterator[Json]:
    """The trials: each role at each gate in turn."""
    places = [(role, gate.name) for gate in GATES[:-1] for role in roles]
    for number in range(trials):
        role, gate = places[(number * 7) % len(places)]
        yield trial(made, role, gate, Dice(seed, "role", number))


def run(*, trials: int, seed: int, out: Path | None = None, server: TestCluster | None = None) -> Summary:
    """The guarded trials, and half as many without guards."""
    with ExitStack() as stack:
        keys = stack.enter_context(keyring())
        return _run(server or stack.enter_context(own_cluster()), keys, trials, seed, out)


def _run(server: TestCluster, keys: Keys, trials: int, seed: int, out: Path | None) -> Summary:
    with server.database() as database, deployment(database, keys) as made:
        rows = list(play(made, trials, seed))
    with (
        server.database() as database,
        deployment(database, keys) as made,
        mock.patch.object(effects, "put_by_digest", side_effect=Conflict("the name is taken")),
        mock.patch.object(bundle, "_leave_out_unsound"),
    ):
        weaken(database)
        control = list(play(made, max(1, trials // CONTROL_SHARE), seed + 1, (Role.READ,)))
    write_lines(out, [*rows, *control])
    return summary(rows, control)


def weaken(database: Database) -> None:
    """Take the guards out, and let the survey know it."""
    with psycopg.connect(database.url("postgres"), autocommit=True) as superuser:
        superuser.execute(UNGUARDED)
        stop = superuser.execute("select pg_get_functiondef('cutter_governance.fn_stop_set'::regproc)").fetchone()
        assert stop is not None
        assert "if p_kind is null" in stop[0]
        superuser.execute(stop[0].replace("if p_kind is null", "if false"))
        superuser.execute("select cutter_governance.fn_baseline_record(999)")


def summary(rows: Sequence[Json], control: Sequence[Json]) -> Summary:
    """Whatever kept a run from its end is a failure."""
    counts = Counter(f"ended as {row['state']}" for row in rows)
    counts["calls that were not refused"] = sum(sum(row["done"].values()) for row in rows)
    return Summary(
        name="P33 facts of one role", n=len(rows), failures=sum(bool(row["problems"]) for row in rows),
        control=sum(bool(row["problems"]) for row in control), control_n=len(control), counts=counts,
    )  # fmt: skip


if __name__ == "__main__":
    raise SystemExit(command_line(run, __doc__ or "", trials=300))
