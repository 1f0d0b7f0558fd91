"""What a role can do to the others: nothing by PostgreSQL's own functions, by lanes, by settings, or by staying."""

from __future__ import annotations

import re
import subprocess
from importlib import resources
from pathlib import Path
from typing import Any, LiteralString

import psycopg
import pytest

from cutter.catalogue import GATES
from cutter.domain import lanes
from cutter.preflight import checks
from cutter.stack.postgres_programs import pg_bin
from cutter.storage import roles
from cutter.storage.pools import PERCENT_OF_CONNECTIONS
from cutter.storage.records import query
from cutter.storage.roles import MAY_CALL
from starter.commands import doctor, inbox, status
from tests.integration.storage.conftest import ENACT, LEG_A, At
from tests.support import gate_calls as gates
from tests.support.database import OWNER, ROLES, Database, TestCluster, own_cluster

SESSIONS = (resources.files("cutter.storage") / "sql" / "sessions.sql").read_text(encoding="utf-8")
PINS = "select cutter_governance.fn_definition_pins() ->> 'grants'"

CALLS: dict[str, LiteralString] = {
    "lock": "select pg_advisory_lock(1)",
    "transaction lock": "select pg_advisory_xact_lock(hashtext('cutter.write_lane'))",
    "tried lock": "select pg_try_advisory_lock(1, 2)",
    "shared lock": "select pg_try_advisory_xact_lock_shared(1)",
    "large object": "select lo_creat(-1)",
    "large object from bytes": "select lo_from_bytea(0, 'x')",
    "notification": "select pg_notify('cutter_batch', 'x')",
    "message in the log": "select pg_logical_emit_message(false, 'x', repeat('x', 1000))",
    "end of a session": "select pg_terminate_backend(pid) from pg_stat_activity where usename = session_user",
    "end of a statement": "select pg_cancel_backend(pg_backend_pid())",
    "bounds of sessions": "select cutter_guard.fn_end_overdue()",
    "view of sessions": "select cutter_guard.fn_sessions()",
    "restore point of any name": "select pg_create_restore_point('x')",
    "restore point without a run": "select cutter_guard.fn_restore_point(gen_random_uuid())",
    "view of the archive": "select cutter_guard.fn_archiver()",
}


def rights(database: Database) -> dict[str, str]:
    """Each guarded function with its access list."""
    with psycopg.connect(database.url("postgres")) as connection:
        names = [str(name) for name, _ in connection.execute(query("guarded_functions"))]
        return {
            name: str(connection.execute("select proacl from pg_proc where oid = %s::regprocedure", (name,)).fetchone())
            for name in names
        }


@pytest.mark.parametrize("role", ROLES)
@pytest.mark.parametrize("call", CALLS)
def test_no_role_calls_what_would_keep_the_others_from_their_work(database: Database, role: str, call: str) -> None:
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        database.connect(role).execute(CALLS[call])


def test_the_guarded_functions_are_granted_as_declared_and_to_nobody_else(database: Database) -> None:
    granted = {
        role: {name for name in rights(database) if database.value(
            "select has_function_privilege(%s, %s, 'EXECUTE')", (role, name))}
        for role in (OWNER, *ROLES)
    }  # fmt: skip
    for role, names in granted.items():
        assert all(name.startswith(MAY_CALL["cutter"].get(role, ())) for name in names), (role, names)
    assert len(granted[OWNER]) > 10
    assert [role for role in ROLES if granted[role]] == []


def test_a_dump_restored_by_the_superuser_has_the_same_rights(
    database: Database, cluster: TestCluster, tmp_path: Path
) -> None:
    dump = tmp_path / "cutter.dump"
    with cluster.database(template="template0", prefix="restored") as restored:
        assert rights(restored) != rights(database)
        for command in (
            ["pg_dump", "--format=custom", f"--file={dump}", database.url("postgres")],
            ["pg_restore", "--exit-on-error", f"--dbname={restored.url('postgres')}", str(dump)],
        ):
            subprocess.run([pg_bin(command[0]), *command[1:]], check=True, timeout=120)
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            restored.connect("directus").execute("select pg_advisory_lock(1)")
        assert restored.value(query("sessions_are_bounded")) is True


@pytest.mark.parametrize("role", ROLES)
@pytest.mark.parametrize("strength", ["for update", "for no key update", "for share", "for key share"])
def test_no_role_locks_a_lane(database: Database, role: str, strength: LiteralString) -> None:
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        database.connect(role).execute("select from cutter_governance.lane " + strength)


@pytest.mark.parametrize("role", ROLES)
def test_a_role_does_not_raise_its_temporary_files(database: Database, role: str) -> None:
    connection = database.connect(role, autocommit=True)
    row = connection.execute("show temp_file_limit").fetchone()
    assert row in (("256MB",), ("32MB",))
    for statement in (
        "set temp_file_limit = -1", f"alter role {role} set temp_file_limit = -1",
        f"alter role {role} reset temp_file_limit",
    ):  # fmt: skip
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            connection.execute(statement.encode())


@pytest.mark.parametrize("role", ROLES)
def test_a_session_compiles_no_query(database: Database, role: str) -> None:
    assert database.connect(role).execute("show jit").fetchone() == ("off",)


def test_the_shares_of_all_roles_leave_connections_for_the_superuser() -> None:
    assert set(PERCENT_OF_CONNECTIONS) == {OWNER, *ROLES}
    assert sum(PERCENT_OF_CONNECTIONS.values()) < 100


# --- who holds a lane -------------------------------------------------------------------------------------------------


def lanes_now(at: At) -> list[lanes.Lane]:
    return lanes.lanes_of(at.database.value("select cutter_governance.fn_lanes()", role="cutter_operator"))


@pytest.mark.parametrize(("stage", "gate", "lane"), [("at_cut", LEG_A, "write"), ("at_enact", ENACT, "enact")])
def test_a_lane_names_the_run_the_worker_and_the_process_that_holds_it(
    request: pytest.FixtureRequest, stage: str, gate: str, lane: str
) -> None:
    at: At = request.getfixturevalue(stage)
    assert [entry.held for entry in lanes_now(at)] == [None, None]
    connection = at.connect()
    at.opened(connection, gate)
    busy_lane = next(entry for entry in lanes_now(at) if entry.held)
    held = busy_lane.held
    assert held is not None
    assert (busy_lane.lane, held.run_id, held.worker) == (lane, at.run_id, "test")
    assert (held.pid, held.role) == (connection.info.backend_pid, "cutter_exec")
    assert held.since
    assert lanes.of_run(lanes_now(at), at.run_id).startswith(f"holds the {lane} lane, worker test, process ")
    connection.rollback()
    assert [entry.held for entry in lanes_now(at)] == [None, None]


def test_a_run_that_found_the_lane_busy_waits_for_whom_it_names(at_cut: At) -> None:
    number = gates.attempt(at_cut.connect(), LEG_A, at_cut.run_id)
    holder = at_cut.connect()
    gates.open_gate(holder, LEG_A, "ictr-nobody", number=1, payload_sha256="x")
    at_cut.connect().execute("select 1")
    waiter = at_cut.connect()
    assert at_cut.open(waiter, number=number, payload_sha256="x")["status"] == "lane_busy"
    waiter.rollback()
    waiter.execute(
        "select cutter_governance.fn_gate_refuse(%s, %s, %s, 'lane_busy', 'busy', null, null, null)",
        (at_cut.run_id, LEG_A, number),
    )
    waiter.commit()
    all_lanes = lanes_now(at_cut)
    assert all_lanes[0].waiting == [at_cut.run_id]
    assert lanes.strangers(all_lanes)[0].pid == holder.info.backend_pid
    sentence = lanes.of_run(all_lanes, at_cut.run_id)
    assert sentence is not None
    assert sentence.startswith("waits for the write lane, which is held by a session of no run, process ")
    assert next(lanes.sentences(all_lanes)).endswith(f"; waiting: {at_cut.run_id}")


def test_status_inbox_and_doctor_say_who_holds_the_lane(at_cut: At, state: Path) -> None:
    settings = at_cut.database.settings(state)
    assert doctor.look(settings, checks.LANES).found == "free"
    holder = at_cut.connect()
    at_cut.opened(holder)
    for shown in (
        str(status.view_of(settings, at_cut.run_id).lane), " ".join(status.newest(settings).lanes),
        str(inbox.waiting(settings)[0].lane), doctor.look(settings, checks.LANES).found,
    ):  # fmt: skip
        assert "write lane" in shown
        assert f"process {holder.info.backend_pid} of cutter_exec, since 2" in shown
    holder.rollback()
    gates.open_gate(holder, LEG_A, "ictr-nobody", number=1, payload_sha256="x")
    check = doctor.look(settings, checks.LANES)
    assert check.failed
    assert f"pg_terminate_backend({holder.info.backend_pid})" in check.remedy


def test_doctor_says_when_the_roles_are_not_bounded(database: Database, state: Path) -> None:
    settings = database.settings(state)
    assert doctor.look(settings, checks.GUARDS).verdict is doctor.Verdict.OK
    database.run("grant execute on function pg_advisory_lock(bigint) to public; drop schema cutter_guard cascade")
    check = doctor.look(settings, checks.GUARDS)
    assert (
        check.found == "1 functions such as pg_advisory_lock(bigint) are open to every role; sessions are not bounded"
    )
    assert check.remedy.startswith("cutter migrate --bootstrap ")
    roles.guard(database.url("postgres"), "cutter")
    assert doctor.look(settings, checks.GUARDS).verdict is doctor.Verdict.OK


def test_doctor_shows_how_full_the_queue_of_notifications_is(database: Database, state: Path) -> None:
    assert doctor.look(database.settings(state), checks.CHANGE_NOTICES).found.endswith("% of the queue")


def test_an_enactment_waits_for_the_lane_and_is_then_named(at_enact: At) -> None:
    holder, waiter = at_enact.connect("postgres"), at_enact.connect()
    number = gates.attempt(waiter, ENACT, at_enact.run_id)
    digest = gates.payload(waiter, ENACT, at_enact.run_id)
    holder.execute("select from cutter_governance.lane where name = 'enact' for update")

    def work() -> Any:
        return at_enact.open(waiter, ENACT, number=number, payload_sha256=digest)

    with gates.meanwhile(waiter, work) as opened:
        assert lanes_now(at_enact)[1].waiting == [at_enact.run_id]
        holder.rollback()
        assert opened.result()["status"] == "opened"
    held = lanes_now(at_enact)[1].held
    assert held is not None
    assert held.pid == waiter.info.backend_pid


def test_an_enactment_does_not_wait_for_the_lane_for_ever(at_enact: At) -> None:
    holder, waiter = at_enact.connect("postgres"), at_enact.connect()
    number = gates.attempt(waiter, ENACT, at_enact.run_id)
    holder.execute("select from cutter_governance.lane where name = 'enact' for update")
    waiter.execute("set lock_timeout = '100ms'")
    assert at_enact.open(waiter, ENACT, number=number, payload_sha256="x")["status"] == "lane_busy"


# --- settings of roles ------------------------------------------------------------------------------------------------


def after(database: Database, *statements: str) -> tuple[Any, Any]:
    """The digest of the grants before and after these statements of the superuser, which are rolled back."""
    connection = database.connect("postgres")
    before = gates.one(connection, PINS)
    for statement in statements:
        connection.execute(statement.format(here=f"in database {database.name}").encode())
    changed = gates.one(connection, PINS)
    connection.rollback()
    return before, changed


@pytest.mark.parametrize(
    "setting",
    [
        "directus set application_name = 'hello'", "directus set search_path = mine",
        "directus {here} set session_replication_role = 'replica'", "directus set statement_timeout = 1",
        "cutter_verify set search_path = mine", "cutter_read set default_transaction_read_only = on",
        "cutter_exec set application_name = 'hello'", "cutter_exec {here} set work_mem = 64",
        "cutter_exec set statement_timeout = 1", "cutter_exec set log_statement = 'all'",
    ],
)  # fmt: skip
def test_a_setting_that_cannot_affect_a_write_is_no_drift(database: Database, setting: str) -> None:
    before, changed = after(database, f"alter role {setting}")
    assert before == changed


DANGEROUS = (
    "search_path = mine", "session_replication_role = 'replica'", "row_security = off", "synchronous_commit = off",
    "default_transaction_isolation = 'serializable'", "default_transaction_read_only = on", "role = 'none'",
    "app.canonical_writer = 'fn_iu_create'", "session_preload_libraries = 'x'", "transform_null_equals = on",
)  # fmt: skip


@pytest.mark.parametrize("setting", DANGEROUS)
def test_a_setting_of_who_writes_is_drift_when_it_could_affect_a_write(database: Database, setting: str) -> None:
    for statement in (
        f"alter role cutter_exec set {setting}", f"alter role cutter_exec {{here}} set {setting}",
        f"alter role cutter_owner set {setting}", f"alter role all {{here}} set {setting}",
    ):  # fmt: skip
        if statement.startswith("alter role all") and setting.startswith("role"):
            continue
        before, changed = after(database, statement)
        assert before != changed, statement


# --- sessions ---------------------------------------------------------------------------------------------------------


def limits_of_sessions() -> dict[str, tuple[int, int]]:
    return {
        role: (int(transaction), int(idle))
        for role, transaction, idle in re.findall(r"\('(\w+)', (\d+), (\d+)\)", SESSIONS)
    }


def test_no_session_of_a_gate_outstays_the_limit_of_its_role() -> None:
    bounds = limits_of_sessions()
    assert set(bounds) == set(ROLES)
    for gate in GATES:
        assert bounds[gate.role.value][0] >= gate.cap_minutes * 60 + 60


@pytest.mark.parametrize("role", ROLES)
def test_a_transaction_that_outstays_its_limit_is_ended_and_others_are_not(database: Database, role: str) -> None:
    database.run(re.sub(rf"\('{role}', \d+, \d+\)", f"('{role}', 0, 0)", SESSIONS).encode())  # type: ignore[arg-type]
    overdue, idle, other = database.connect(role), database.connect(role, autocommit=True), database.connect(OWNER)
    for connection in (overdue, idle, other):
        connection.execute("set idle_in_transaction_session_timeout = 0")
    caller = "cutter_exec" if role != "cutter_exec" else "cutter_read"
    assert database.value("select cutter_governance.fn_sessions_end_overdue()", role=caller) == 1
    with pytest.raises(psycopg.OperationalError):
        overdue.execute("select 1")
    idle.execute("select 1")
    other.execute("select 1")


def test_a_database_that_the_superuser_has_not_prepared_has_no_bounds_and_no_error(database: Database) -> None:
    database.run("drop schema cutter_guard cascade")
    assert database.value("select cutter_governance.fn_sessions_end_overdue()", role="cutter_exec") == 0
    assert database.value("select cutter_governance.fn_lanes()", role="cutter_operator") is not None


def test_a_repeated_bootstrap_names_the_roles_whose_password_it_made() -> None:
    """A deployment moves the files to their hosts, so a role without a file must not change without a word."""
    with own_cluster() as cluster:
        (cluster.secrets / "directus.password").unlink()
        superuser = cluster.cluster.superuser_dsn()
        assert roles.bootstrap(superuser, cluster.secrets) == ("directus",)
        assert roles.bootstrap(superuser, cluster.secrets) == ()
