"""A restore point: gate 4 marks it, everybody can read it, and a second cluster is recovered to exactly this point."""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from time import monotonic, sleep
from typing import Any, LiteralString

import psycopg
import pytest

from activities import permission
from activities.gates.backup import refresh_backup
from cutter import limits
from cutter.backup.restore import read_record
from cutter.catalogue import Sovereign, WorkerRole
from cutter.domain.run_record import RunRecord
from cutter.errors import PolicyDenied, Unavailable
from cutter.evidence import offline
from cutter.kb.store import Store
from cutter.messages import GateInput
from cutter.policy.command import BACKUP_TAKE
from cutter.preflight.checks import Verdict
from cutter.preflight.database import restore_points
from cutter.stack import postgres, postgres_programs
from cutter.stack.postgres_programs import pg_bin
from cutter.storage.run_evidence import LISTED_BACKUPS
from starter.commands.evidence import exported
from tests.support import runs
from tests.support.database import FAST, ROLES, Database, TestCluster, own_cluster

PINS: LiteralString = (
    "select result -> 'pins' from cutter_governance.gate_receipt where run_id = %s and gate = 'IG_backup'"
)

MARK: LiteralString = "select cutter_governance.fn_restore_point(%s, 600)"


@dataclass(frozen=True, slots=True, kw_only=True)
class Archiving:
    """A cluster that archives its log, with the folder of the archive."""

    server: TestCluster
    archive: Path

    @property
    def good(self) -> str:
        return f"test ! -f {self.archive}/%f && cp %p {self.archive}/%f"

    def run(self, *statements: str) -> Any:
        """The first value of the last statement, as the superuser."""
        with psycopg.connect(self.server.cluster.superuser_dsn(), autocommit=True) as connection:
            for statement in statements[:-1]:
                connection.execute(statement.encode())
            row = connection.execute(statements[-1].encode()).fetchone()
        return row[0] if row else None

    def archives_by(self, command: str) -> None:
        """Let the server archive by another command."""
        self.run(f"alter system set archive_command = '{command}'", "select pg_reload_conf()")

    def switch(self) -> str:
        """Complete the present file of the log, which the server must then archive. Its name."""
        name = self.run("select pg_walfile_name(pg_current_wal_lsn())")
        self.run("select pg_logical_emit_message(true, 'test', 'x')", "select pg_switch_wal()")
        return str(name)

    def until(self, query: str, what: str) -> None:
        ends = monotonic() + 90
        while not self.run(query):
            assert monotonic() < ends, what
            sleep(0.1)

    def heal(self) -> None:
        """Archive everything again."""
        self.archives_by(self.good)
        file = self.switch()
        # A failed archiver waits a minute before its next try, unless it starts again.
        self.run("select pg_terminate_backend(pid) from pg_stat_activity where backend_type = 'archiver'")
        self.until(f"select last_archived_wal >= '{file}' from pg_stat_archiver", "the archive does not work again")


@pytest.fixture(scope="module")
def archiving() -> Iterator[Archiving]:
    with tempfile.TemporaryDirectory(prefix="cw-", dir="/tmp") as folder:
        Path(folder).chmod(0o777)
        with own_cluster(archive_mode="on") as server:
            made = Archiving(server=server, archive=Path(folder))
            hba = server.cluster.data_dir / "pg_hba.conf"
            hba.write_text(hba.read_text() + "host replication postgres 127.0.0.1/32 scram-sha-256\n")
            made.heal()
            yield made


@contextmanager
def marking(database: Database, keys: runs.Keys) -> Iterator[runs.Deployment]:
    """A deployment that asks for restore points."""
    with runs.deployment(database, keys) as made:
        asked = made.settings.model_copy(update={"backup_restore_point": True})
        made.settings = asked
        deps = made.deps[WorkerRole.CUTTER]
        settings = deps.settings.model_copy(update={"backup_restore_point": True})
        made.deps[WorkerRole.CUTTER] = replace(deps, settings=settings)
        yield made


@pytest.fixture
def made(archiving: Archiving, keys: runs.Keys) -> Iterator[runs.Deployment]:
    with archiving.server.database(prefix="points") as database, marking(database, keys) as made:
        yield made


@pytest.fixture
def ill(archiving: Archiving) -> Iterator[Archiving]:
    """The same cluster, whose archive a test breaks."""
    yield archiving
    archiving.heal()


@contextmanager
def recovered(archiving: Archiving, base: Path, name: str) -> Iterator[postgres.Cluster]:
    """A second cluster, from the base backup and the archive, at the restore point of that name."""
    data = base / "postgres" / "data"
    (data / "recovery.signal").touch()
    with (data / "postgresql.auto.conf").open("a") as conf:
        conf.write(
            f"restore_command = 'cp {archiving.archive}/%f %p'\nrecovery_target_name = '{name}'\n"
            "recovery_target_action = 'promote'\nhot_standby = off\n"
        )
    user = postgres_programs.service_user()
    if user is not None:
        for path in (data, *data.rglob("*")):
            os.chown(path, user.uid, user.gid)
    try:
        yield postgres.ensure_cluster(base, settings=FAST)
    finally:
        postgres.stop_cluster(base)


def base_backup(archiving: Archiving, folder: Path) -> None:
    dsn = archiving.server.cluster.superuser_dsn()
    (folder / "secrets").mkdir(mode=0o700)
    (folder / "secrets" / "postgres.password").write_text(archiving.server.cluster.password)
    (folder / "postgres").mkdir()
    subprocess.run(
        [pg_bin("pg_basebackup"), f"--dbname={dsn}", f"--pgdata={folder}/postgres/data", "--checkpoint=fast"],
        check=True, timeout=120,
    )  # fmt: skip


def test_a_second_cluster_is_recovered_to_exactly_the_point_of_the_gate(
    archiving: Archiving, made: runs.Deployment
) -> None:
    with tempfile.TemporaryDirectory(prefix="cr-", dir="/tmp") as folder:
        base_backup(archiving, Path(folder))
        before = runs.drive(made, runs.law(3))
        driven = runs.drive(made, runs.law(4), until="IG_backup")
        point = made.database.value(PINS, (driven.run_id,))
        after = runs.drive(made, runs.law(5), until="IG_mark")
        assert archiving.switch() >= point["restore_point_wal_file"]
        archiving.until(
            f"select last_archived_wal >= '{point['restore_point_wal_file']}' from pg_stat_archiver", "no archived log"
        )
        name = point["restore_point_name"]
        with (
            recovered(archiving, Path(folder), name) as second,
            psycopg.connect(second.superuser_dsn(made.database.name)) as connection,
        ):
            states = dict(connection.execute("select run_id, state from cutter_governance.run").fetchall())
            assert states == {before.run_id: "closeout_reported", driven.run_id: "cutplan_ok"}
            assert after.run_id not in states
            system, timeline = connection.execute(
                "select (pg_control_system()).system_identifier::text, (pg_control_checkpoint()).timeline_id"
            ).fetchone() or ("", 0)
            assert system == point["restore_point_system_identifier"]
            assert timeline > point["restore_point_timeline"] == 1


def test_the_receipt_the_record_the_request_and_the_list_name_the_point(made: runs.Deployment) -> None:
    driven = runs.drive(made, runs.law(3), until="IG_grant_probe")
    pins = made.database.value(PINS, (driven.run_id,))
    name = pins["restore_point_name"]
    assert name.startswith(f"cutter:{driven.run_id[-36:]}:")
    record = read_record(made.settings.artifacts, f"{driven.run_id}/pre_write.gpg")
    assert record.restore_point is not None
    assert record.restore_point.as_pins().items() <= pins.items()
    assert record.restore_point.archived_wal.startswith("00000001")
    assert record.restore_point.lsn.count("/") == 1
    with made.database.connect("cutter_operator") as connection:
        assert [row.restore_point for row in LISTED_BACKUPS.all(connection, {"limit": 5})] == [name]
    report = store_text(made.deps[WorkerRole.CUTTER].kb, driven.outcomes["IG_backup"].kb_doc_id)
    assert name in report.replace("\\", "")
    request = store_text(made.deps[WorkerRole.CUTTER].kb, made.request(driven.run_id, Sovereign.CUT))
    assert f"| restore_point | `{name} at {pins['restore_point_lsn']} on timeline 1, " in request


def test_the_bundle_of_a_run_with_a_point_verifies_and_names_it(made: runs.Deployment) -> None:
    driven = runs.drive(made, runs.law(3))
    bundle, sealed, _ = exported(made.settings, driven.run_id)
    assert sealed
    lines = offline.check(bundle.data)
    assert not [what for what, verdict, _ in lines if verdict == offline.FAILED]
    name = made.database.value(PINS, (driven.run_id,))["restore_point_name"].encode()
    assert any(name in body for body in offline.Bundle(bundle.data).members.values())


def store_text(store: Store, name: str) -> str:
    return store.get(name, limit=limits.KB_OBJECT_BYTES_MAX).decode()


def test_a_point_switches_no_file_of_the_log(archiving: Archiving, made: runs.Deployment) -> None:
    run_id = runs.drive(made, runs.law(3), until="IG_cutplan").run_id
    points = [made.database.value(MARK, (run_id,), role="cutter_backup") for _ in range(20)]
    assert len({point["name"] for point in points}) == 20
    first, last = points[0]["lsn"], points[-1]["lsn"]
    assert archiving.run(f"select '{last}'::pg_lsn - '{first}'::pg_lsn") < 16 * limits.MIB / 10


def test_a_new_backup_before_the_write_has_a_point_of_its_own(made: runs.Deployment) -> None:
    deps = made.deps[WorkerRole.CUTTER]
    at_once = deps.settings.model_copy(update={"backup_max_age_minutes": 1e-6})
    made.deps[WorkerRole.CUTTER] = replace(deps, settings=at_once)
    driven = runs.drive(made, runs.law(3), until="IG_grant_probe")
    made.request(driven.run_id, Sovereign.CUT)
    assert refresh_backup(made.deps[WorkerRole.CUTTER], GateInput(run_id=driven.run_id)).status == "passed"
    with made.database.connect("cutter_operator") as connection:
        points = {row.restore_point for row in LISTED_BACKUPS.all(connection, {"limit": 5})}
    assert len(points) == 2
    assert None not in points


# --- refusals ---------------------------------------------------------------------------------------------------------


def refused(made: runs.Deployment) -> tuple[str, str]:
    """The code and the reason with which gate 4 fails a new run. It has taken no backup."""
    run_id = runs.drive(made, runs.law(3), until="IG_cutplan").run_id
    outcome = made.gate("IG_backup", run_id)
    assert (outcome.status, outcome.state) == ("failed", "failed_backup")
    assert not list((made.settings.runs).glob("*/*.gpg"))
    return outcome.code, outcome.reason


def unavailable(made: runs.Deployment) -> Unavailable:
    """The error with which an attempt of gate 4 ends, so that the run is tried again and then stops."""
    run_id = runs.drive(made, runs.law(3), until="IG_cutplan").run_id
    with pytest.raises(Unavailable) as caught:
        made.gate("IG_backup", run_id)
    assert caught.value.what == "backup"
    assert str(caught.value).startswith(f"{caught.value.code}: ")
    reason = made.database.value(
        "select reason from cutter_governance.gate_attempt where run_id = %s and gate = 'IG_backup'",
        (run_id,),
    )
    assert caught.value.code in reason
    assert not list((made.settings.runs).glob("*/*.gpg"))
    return caught.value


def test_without_an_archive_the_gate_fails_with_the_remedy(database: Database, keys: runs.Keys) -> None:
    with marking(database, keys) as made:
        code, reason = refused(made)
        assert code == "archiving_off"
        assert "archive_mode" in reason
        assert "CUTTER_BACKUP_RESTORE_POINT=false" in reason
        check = restore_points(made.settings)
        assert (check.verdict, "archive_command" in check.remedy) == (Verdict.BAD, True)


def test_without_an_archive_the_database_marks_no_point(database: Database, keys: runs.Keys) -> None:
    with marking(database, keys) as made:
        run_id = runs.drive(made, runs.law(3), until="IG_cutplan").run_id
        answer = made.database.value(MARK, (run_id,), role="cutter_backup")
    assert answer["problem"] == "archiving_off"
    assert "name" not in answer


@pytest.mark.parametrize("role", [role for role in ROLES if role != "cutter_backup"])
def test_no_other_role_marks_a_point(database: Database, role: str) -> None:
    for call in ("select cutter_governance.fn_restore_point('x', 600)", "select cutter_governance.fn_archiver(600)"):
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            database.connect(role).execute(call.encode())


def test_a_point_needs_the_rule_that_allows_backups(made: runs.Deployment) -> None:
    run_id = runs.drive(made, runs.law(3), until="IG_cutplan").run_id
    runs.in_force(made.settings, "connector: backup, verdict: deny")
    assert made.gate("IG_backup", run_id).state == "failed_policy"
    deps = made.deps[WorkerRole.CUTTER]
    context = permission.of_run(RunRecord.of(made.run_row(run_id)), {}, datetime.now(UTC), "IG_backup")
    with pytest.raises(PolicyDenied):
        permission.required(deps, context, BACKUP_TAKE)


def test_a_database_that_the_superuser_has_not_prepared_fails_with_the_remedy(
    database: Database, keys: runs.Keys
) -> None:
    database.run("drop schema cutter_guard cascade")
    with marking(database, keys) as made:
        code, reason = refused(made)
        assert code == "restore_point_unprepared"
        assert "cutter migrate --bootstrap" in reason
        assert restore_points(made.settings).verdict is Verdict.BAD


def test_a_failing_archiver_stops_the_gate_until_it_works(ill: Archiving, made: runs.Deployment) -> None:
    ill.archives_by("false")
    file = ill.switch()
    ill.until("select last_failed_time > last_archived_time from pg_stat_archiver", "the archiver does not fail")
    problem = unavailable(made)
    assert problem.code == "archiver_failing"
    assert file in str(problem)
    assert "archive_command" in str(problem)
    assert restore_points(made.settings).verdict is Verdict.OPTIONAL
    ill.heal()
    assert runs.drive(made, runs.law(3), until="IG_backup").state == "pre_write_backup_taken"
    assert restore_points(made.settings).verdict is Verdict.OK


def test_an_archiver_that_is_late_stops_the_gate(ill: Archiving, made: runs.Deployment) -> None:
    ill.archives_by(f"sleep 8; {ill.good}")
    waits = ill.server.cluster.data_dir / "pg_wal" / "archive_status" / f"{ill.switch()}.ready"
    long_ago = waits.stat().st_mtime - limits.ARCHIVER_LATE_SECONDS - 100
    os.utime(waits, (long_ago, long_ago))
    problem = unavailable(made)
    assert problem.code == "archiver_late"
    assert f"limit {limits.ARCHIVER_LATE_SECONDS}" in str(problem)


def test_an_archiver_that_has_archived_nothing_proves_nothing(ill: Archiving, made: runs.Deployment) -> None:
    ill.run("select pg_stat_reset_shared('archiver')")
    assert unavailable(made).code == "archiver_unproved"


def test_a_point_is_marked_only_for_an_open_run(made: runs.Deployment) -> None:
    ended = runs.drive(made, runs.law(3)).run_id
    for run_id in (ended, "ictr-20261121T090000Z-0190a5b2-7c3d-7e4f-8a9b-0c1d2e3f4a5b"):
        with pytest.raises(psycopg.Error, match="there is no open run"):
            made.database.value(MARK, (run_id,), role="cutter_backup")


def test_without_the_setting_nothing_is_marked(database: Database, keys: runs.Keys) -> None:
    with runs.deployment(database, keys) as made:
        driven = runs.drive(made, runs.law(3), until="IG_backup")
        assert not [name for name in made.database.value(PINS, (driven.run_id,)) if name.startswith("restore_point")]
        assert restore_points(made.settings).verdict is Verdict.OK
        listed = made.database.value("select response_metadata from cutter_governance.action_receipt"
            " where connector = 'backup'")  # fmt: skip
        assert set(listed) == {"sha256", "size_bytes", "taken_utc"}
