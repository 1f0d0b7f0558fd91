"""A restore check passes for the snapshot's very rows and for nothing else, and leaves the scratch as it was."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path

import psutil
import psycopg
import pytest

from cutter.backup.record import BackupRecord, BackupRefusal, RefusalCode, RestoreReport
from cutter.backup.restore import digest, restore_into
from cutter.backup.scratch import LOCK, schema_sql
from cutter.errors import Unavailable
from tests.integration.backup import rig as parts
from tests.integration.backup.rig import CANARY, Rig, gpg

TABLES = (
    "SELECT count(*) FROM pg_class WHERE relkind = 'r' AND relnamespace::regnamespace::text !~ '^(pg_|information)'"
)


def refusal(outcome: object) -> RefusalCode:
    assert isinstance(outcome, BackupRefusal), outcome
    return outcome.code


def rewritten(rig: Rig, record: BackupRecord, data: bytes) -> BackupRecord:
    """As someone who can write the store and knows the public key would: another artifact, and a record that fits."""
    rig.artifact(record).write_bytes(data)
    sha256, size = digest(rig.store.as_uri(), record.artifact_id)
    return replace(record, sha256=sha256, size_bytes=size)


def encrypted(rig: Rig, plain: bytes) -> bytes:
    return gpg(rig.home.path, "--recipient", rig.home.fingerprint, "--encrypt", given=plain)


def archive(rig: Rig, record: BackupRecord) -> bytes:
    return gpg(rig.home.path, "--decrypt", given=rig.artifact(record).read_bytes())


@pytest.mark.parametrize(
    "damage",
    [
        lambda data: data[:-1],
        lambda data: data[: len(data) // 2],
        lambda data: data[:10],
        lambda data: data[:0],
        lambda data: data + b"\x00",
        lambda data: data[:-100] + bytes([data[-100] ^ 1]) + data[-99:],
        lambda data: bytes([data[0] ^ 0x80]) + data[1:],
    ],
)
def test_a_damaged_artifact_is_refused_with_both_digests(rig: Rig, damage: Callable[[bytes], bytes]) -> None:
    record = rig.taken_record()
    path = rig.artifact(record)
    path.write_bytes(damage(path.read_bytes()))
    outcome = rig.check(record)
    assert refusal(outcome) is RefusalCode.ARTIFACT_DAMAGED
    assert isinstance(outcome, BackupRefusal)
    assert record.sha256 in outcome.expected
    assert record.sha256 not in outcome.observed


def test_a_damaged_artifact_is_refused_even_when_the_record_was_changed_with_it(rig: Rig) -> None:
    record = rig.taken_record()
    data = bytearray(rig.artifact(record).read_bytes())
    data[len(data) // 2] ^= 1
    outcome = rig.check(rewritten(rig, record, bytes(data)))
    assert refusal(outcome) is RefusalCode.ARTIFACT_DAMAGED


def test_no_row_gets_into_a_log_or_an_error_when_a_load_breaks_off(rig: Rig, caplog: pytest.LogCaptureFixture) -> None:
    record = rig.taken_record()
    caplog.set_level("DEBUG")
    # The server meets a wrong row and answers with it, while we refuse the script because its table never ends.
    wrong_rows = f'yes "{CANARY}" | head -n 20000'
    rig.replace("pg_restore", f'"$REAL" "$@" | sed "/^COPY public.unit_version/q"; {wrong_rows}')
    outcome = rig.check(record)
    assert refusal(outcome) is RefusalCode.RESTORE_FAILED
    assert CANARY not in caplog.text + repr(outcome)


def test_a_missing_artifact_is_refused(rig: Rig) -> None:
    record = rig.taken_record()
    rig.artifact(record).unlink()
    assert refusal(rig.check(record)) is RefusalCode.ARTIFACT_MISSING


def test_a_home_without_the_private_key_is_refused(rig: Rig, other_home: parts.Home) -> None:
    assert refusal(rig.check(rig.taken_record(), gpg_home=other_home.path)) is RefusalCode.WRONG_KEY


def test_an_artifact_of_another_key_is_refused_although_it_can_be_opened(rig: Rig) -> None:
    record = rig.taken_record()
    with parts.new_home() as foreign:
        data = gpg(foreign.path, "--recipient", foreign.fingerprint, "--encrypt", given=archive(rig, record))
        outcome = rig.check(rewritten(rig, record, data), gpg_home=foreign.path)
    assert refusal(outcome) is RefusalCode.WRONG_RECIPIENT


def test_a_home_whose_agent_cannot_run_is_unavailable(rig: Rig) -> None:
    record = rig.taken_record()
    with pytest.raises(Unavailable, match="agent"):
        rig.check(record, gpg_home=rig.folder / "absent")


def test_plaintext_in_an_openpgp_frame_is_refused(rig: Rig) -> None:
    record = rig.taken_record()
    data = gpg(rig.home.path, "--store", given=archive(rig, record))
    assert refusal(rig.check(rewritten(rig, record, data))) is RefusalCode.ARTIFACT_DAMAGED


@pytest.mark.parametrize("plain", [b"", b"no archive", b"PGDMP\x01\x10\x00" + bytes(100)])
def test_an_artifact_that_holds_no_archive_is_refused(rig: Rig, plain: bytes) -> None:
    record = rig.taken_record()
    assert refusal(rig.check(rewritten(rig, record, encrypted(rig, plain)))) is RefusalCode.RESTORE_FAILED


def test_a_truncated_archive_in_a_whole_message_is_refused(rig: Rig) -> None:
    record = rig.taken_record()
    whole = archive(rig, record)
    for kept in (len(whole) - 1, len(whole) // 2):
        outcome = rig.check(rewritten(rig, record, encrypted(rig, whole[:kept])))
        assert refusal(outcome) in (RefusalCode.RESTORE_FAILED, RefusalCode.RESTORE_DIFFERS)


def test_a_whole_backup_of_other_rows_is_refused(own: Rig) -> None:
    record = own.taken_record()
    own.server.run("UPDATE public.iu_lifecycle_log SET reason = NULL WHERE reason = ''", database=own.database)
    later = own.taken_record()
    outcome = own.check(rewritten(own, record, own.artifact(later).read_bytes()))
    assert refusal(outcome) is RefusalCode.RESTORE_DIFFERS
    assert isinstance(outcome, BackupRefusal)
    assert outcome.expected.startswith(record.content_fingerprint)
    assert outcome.observed.startswith(later.content_fingerprint)


def test_statements_in_an_archive_are_not_executed(own: Rig) -> None:
    """Whoever has the public key can make an artifact; pg_restore would run what stands in it."""
    record = own.taken_record()
    hostile = own.server.new_database()
    own.server.run("CREATE TABLE public.more (n int)", database=hostile)
    dump = [str(parts.pg_bin("pg_dump")), "-Fc", own.server.cluster.superuser_dsn(hostile)]
    plain = subprocess.run(dump, capture_output=True, check=True).stdout
    own.server.drop(hostile)
    outcome = own.check(rewritten(own, record, encrypted(own, plain)))
    assert refusal(outcome) is RefusalCode.RESTORE_FAILED
    assert own.server.value(TABLES, database=own.scratch) == 0


@pytest.mark.parametrize("script", ['"$REAL" "$@"; exit 1', '"$REAL" "$@" | head -c 4000; exit 1'])
def test_the_exit_code_of_pg_restore_counts(rig: Rig, script: str) -> None:
    record = rig.taken_record()
    rig.replace("pg_restore", script)
    outcome = rig.check(record)
    assert refusal(outcome) is RefusalCode.RESTORE_FAILED
    assert isinstance(outcome, BackupRefusal)
    assert "exit code 1" in outcome.message


def test_a_pg_restore_that_ends_early_with_success_is_refused(rig: Rig) -> None:
    record = rig.taken_record()
    rig.replace("pg_restore", '"$REAL" "$@" | head -c 4000; exit 0')
    assert refusal(rig.check(record)) is RefusalCode.RESTORE_FAILED


@pytest.mark.parametrize(
    ("program", "script"),
    [
        ("pg_restore", '"$REAL" "$@" | head -c 4000; kill -9 $$'),
        ("gpg", '"$REAL" "$@" | head -c 4000; kill -9 $$'),
    ],
)
def test_a_killed_program_is_unavailable_not_a_bad_backup(rig: Rig, program: str, script: str) -> None:
    record = rig.taken_record()
    rig.replace(program, script)
    with pytest.raises(Unavailable, match="signal 9"):
        rig.check(record)


def test_a_gpg_that_claims_nothing_is_refused(rig: Rig) -> None:
    record = rig.taken_record()
    rig.replace("gpg", '"$REAL" "$@" 2>/dev/null')
    assert refusal(rig.check(record)) is RefusalCode.ARTIFACT_DAMAGED


@pytest.mark.parametrize("program", ["pg_restore", "gpg"])
def test_a_program_that_hangs_is_ended_at_the_deadline(rig: Rig, program: str) -> None:
    record = rig.taken_record()
    rig.replace(program, "sleep 600")
    with pytest.raises(Unavailable):
        rig.check(record, deadline_seconds=1.5)
    assert [child for child in psutil.Process().children(recursive=True) if "sleep" in child.name()] == []
    del rig.programs[program]
    assert isinstance(rig.check(record), RestoreReport)


def test_a_row_that_breaks_a_check_of_the_schema_is_refused(rig: Rig) -> None:
    record = rig.taken_record()
    stricter = schema_sql() + "\ncreate domain public.never as text; alter table public.unit_version add column x int;"
    assert refusal(rig.check(record, schema_sql=stricter)) is RefusalCode.RESTORE_DIFFERS
    before, table, after = schema_sql().partition("create table public.unit_version (")
    broken = before + table + after.replace("body text not null", "body text not null check (length(body) < 3)", 1)
    assert broken != schema_sql()
    outcome = rig.check(record, schema_sql=broken)
    assert refusal(outcome) is RefusalCode.RESTORE_FAILED
    assert isinstance(outcome, BackupRefusal)
    assert "23514" in outcome.message


def test_a_database_of_another_role_is_refused_and_untouched(rig: Rig) -> None:
    record = rig.taken_record()
    before = rig.server.value(TABLES, database=rig.database)
    outcome = rig.check(record, scratch_dsn=rig.server.dsn(parts.ROLE, rig.database))
    assert refusal(outcome) is RefusalCode.SCRATCH_UNFIT
    assert rig.server.value(TABLES, database=rig.database) == before


def test_a_scratch_that_holds_something_is_usable_and_found_again(own: Rig) -> None:
    record = own.taken_record()
    with psycopg.connect(own.server.dsn(parts.ROLE, own.scratch), autocommit=True) as connection:
        connection.execute("CREATE TABLE public.unit_version AS SELECT 1 AS left_over")
        connection.execute("CREATE SCHEMA cutter_governance")
    assert isinstance(own.check(record), RestoreReport)
    assert own.server.value("SELECT left_over FROM public.unit_version", database=own.scratch) == 1


def test_a_check_leaves_no_row_and_no_lock(own: Rig) -> None:
    record = own.taken_record()
    assert isinstance(own.check(record), RestoreReport)
    assert own.server.value(TABLES, database=own.scratch) == 0
    assert own.server.value("SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'") == 0


def test_two_checks_at_once_do_not_mix(own: Rig) -> None:
    first = own.taken_record()
    own.server.run("DELETE FROM cutter_governance.review_decision", database=own.database)
    second = own.taken_record()
    outcomes: list[object] = []
    threads = [
        threading.Thread(target=lambda record=record: outcomes.append(own.check(record)))
        for record in (first, second, first, second)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(outcomes) == 4
    assert all(isinstance(outcome, RestoreReport) for outcome in outcomes), outcomes


def test_a_scratch_in_use_is_waited_for_only_until_the_deadline(own: Rig) -> None:
    record = own.taken_record()
    with psycopg.connect(own.server.dsn(parts.ROLE, own.scratch)) as holder:
        holder.execute("SELECT pg_advisory_xact_lock(%s)", (LOCK,))
        with pytest.raises(Unavailable, match="longer than 1 seconds"):
            own.check(record, deadline_seconds=1.0)


_WORKER = """
import sys
from pathlib import Path
from cutter.backup.restore import read_record, restore_check
store, dsn, home, program, seconds = sys.argv[1:]
restore_check(record=read_record(store, "run/pre_write_1.gpg"), artifacts_url=store, scratch_dsn=dsn,
              pg_bin=lambda name: Path(program), gpg_home=Path(home), deadline_seconds=float(seconds))
"""


@contextmanager
def worker_in_a_check(rig: Rig, *, deadline_seconds: float) -> Iterator[subprocess.Popen[bytes]]:
    """A process of its own that holds the scratch and has loaded some rows; whatever it started is ended behind it."""
    mark = rig.folder / "loading"
    slow = rig.replace("pg_restore", f'"$REAL" "$@" | (head -c 4000; touch "{mark}"; exec sleep 600)')
    del rig.programs["pg_restore"]
    arguments = [rig.store.as_uri(), rig.server.dsn(parts.ROLE, rig.scratch), str(rig.home.path), str(slow)]
    worker = subprocess.Popen([sys.executable, "-c", _WORKER, *arguments, str(deadline_seconds)])
    children: list[psutil.Process] = []
    try:
        while not mark.exists():
            assert worker.poll() is None
        children = psutil.Process(worker.pid).children(recursive=True)
        yield worker
    finally:
        worker.kill()
        worker.wait()
        for child in children:
            with suppress(psutil.NoSuchProcess):
                child.kill()


def test_a_worker_killed_during_a_check_leaves_the_scratch_free_and_empty(own: Rig) -> None:
    """Seed 004 "Worker State Machine" Invariants."""
    record = own.taken_record()
    with worker_in_a_check(own, deadline_seconds=60) as worker:
        worker.kill()
        worker.wait()
        assert isinstance(own.check(record), RestoreReport)
    assert own.server.value(TABLES, database=own.scratch) == 0


def test_a_stopped_worker_frees_the_scratch_at_its_deadline(rig: Rig) -> None:
    record = rig.taken_record()
    with worker_in_a_check(rig, deadline_seconds=3.0) as worker:
        worker.send_signal(signal.SIGSTOP)
        assert isinstance(rig.check(record), RestoreReport)


def restored(rig: Rig, record: BackupRecord, database: str) -> RestoreReport | BackupRefusal:
    return restore_into(
        record=record,
        artifacts_url=rig.store.as_uri(),
        dsn=rig.server.dsn(parts.ROLE, database),
        pg_bin=rig.pg_bin,
        gpg_home=rig.home.path,
    )


def test_a_restore_stays_in_an_empty_database_and_its_identities_go_on(own: Rig) -> None:
    record = own.taken_record()
    assert isinstance(restored(own, record, own.scratch), RestoreReport)
    assert own.server.value("SELECT count(*) FROM public.unit_version", database=own.scratch) == 20
    added = (
        "INSERT INTO public.iu_lifecycle_log (unit_id, from_status, to_status, actor)"
        " VALUES (gen_random_uuid(), 'a', 'b', 'c') RETURNING id"
    )
    assert own.server.value(added, database=own.scratch) == 21


def test_a_restore_does_not_touch_a_database_that_holds_a_table(own: Rig) -> None:
    record = own.taken_record()
    own.server.run("CREATE TABLE public.mine (n int)", database=own.scratch)
    outcome = restored(own, record, own.scratch)
    assert refusal(outcome) is RefusalCode.SCRATCH_UNFIT
    assert isinstance(outcome, BackupRefusal)
    assert "public.mine" in outcome.message


def test_a_refused_restore_leaves_the_database_empty(own: Rig) -> None:
    record = replace(own.taken_record(), content_fingerprint="0" * 64)
    assert refusal(restored(own, record, own.scratch)) is RefusalCode.RESTORE_DIFFERS
    assert own.server.value(TABLES, database=own.scratch) == 0


def test_a_store_that_cannot_be_read_is_unavailable(rig: Rig) -> None:
    record = rig.taken_record()
    path: Path = rig.artifact(record)
    path.unlink()
    path.mkdir()
    with pytest.raises(Unavailable, match="cannot be read"):
        rig.check(record)
