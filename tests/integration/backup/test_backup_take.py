"""A backup is whole, encrypted for the pinned key alone, and stands under its name or not at all."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import psutil
import psycopg
import pytest

from cutter.backup.record import BackupRecord, BackupRefusal, RefusalCode, RestoreReport, to_json
from cutter.backup.restore import digest, read_record
from cutter.backup.tables import BACKUP_TABLES
from cutter.errors import Conflict, InvalidInput, Unavailable
from cutter.openpgp import recipients
from tests.integration.backup import rig as parts
from tests.integration.backup.rig import CANARY, Rig, gpg, holds_plaintext
from tests.unit.gates.passing import POINT


def refusal(outcome: object) -> RefusalCode:
    assert isinstance(outcome, BackupRefusal), outcome
    return outcome.code


def test_a_backup_restores_to_exactly_its_snapshot(rig: Rig) -> None:
    record = rig.taken_record()
    assert record.row_counts == {table: 1 if table.split(".")[1] in _ONE_EACH else 20 for table in BACKUP_TABLES}
    report = rig.check(record)
    assert isinstance(report, RestoreReport)
    assert report.content_fingerprint == record.content_fingerprint
    assert report.row_counts == record.row_counts
    assert report.decryption_key == record.recipient == rig.home.fingerprint


_ONE_EACH = {"manifest_envelope", "review_decision", "cut_change_set", "dot_pair_signature"}


def test_the_record_describes_the_ciphertext_and_stands_beside_it(rig: Rig) -> None:
    record = rig.taken_record()
    assert digest(rig.store.as_uri(), record.artifact_id) == (record.sha256, record.size_bytes)
    assert read_record(rig.store.as_uri(), record.artifact_id) == record
    assert rig.left() == [record.artifact_id, record.artifact_id + ".json"]
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", record.taken_utc)


def test_the_record_of_a_full_backup_names_its_restore_point(rig: Rig) -> None:
    record = rig.take(restore_point=POINT)
    assert isinstance(record, BackupRecord)
    assert read_record(rig.store.as_uri(), record.artifact_id).restore_point == POINT


def test_an_artifact_names_one_recipient_and_holds_no_plaintext(rig: Rig) -> None:
    """Seed 000 §5."""
    record = rig.taken_record()
    named = recipients(rig.artifact(record).read_bytes())
    assert named is not None
    assert len(named) == 1
    assert holds_plaintext([rig.folder]) == []
    assert CANARY not in to_json(record)


def test_an_artifact_is_readable_by_its_owner_only(rig: Rig) -> None:
    assert rig.artifact(rig.taken_record()).stat().st_mode & 0o077 == 0


def test_an_empty_database_is_backed_up_too(rig: Rig) -> None:
    empty = rig.server.new_database()
    record = rig.take(dsn=rig.server.dsn(parts.ROLE, empty))
    rig.server.drop(empty)
    assert isinstance(record, BackupRecord)
    assert set(record.row_counts.values()) == {0}
    assert isinstance(rig.check(record), RestoreReport)


def test_what_commits_after_the_snapshot_is_not_in_the_backup(own: Rig) -> None:
    dsn = own.server.cluster.superuser_dsn(own.database)
    psql = parts.pg_bin("psql")
    own.replace("pg_dump", f'{psql} -q \'{dsn}\' -c "{_EDIT}" >&2 && exec "$REAL" "$@"')
    before = own.taken_record()
    assert isinstance(own.check(before), RestoreReport)
    del own.programs["pg_dump"]
    assert own.taken_record().content_fingerprint != before.content_fingerprint


_EDIT = "UPDATE cutter_governance.review_decision SET actor = 'another'"


def test_a_dump_of_another_moment_is_refused_by_the_restore(own: Rig) -> None:
    dsn = own.server.cluster.superuser_dsn(own.database)
    psql = parts.pg_bin("psql")
    own.replace(
        "pg_dump",
        f"{psql} -q '{dsn}' -c \"{_EDIT}\" >&2\n"
        'for a; do case "$a" in --snapshot=*) ;; *) kept+=("$a");; esac; done\nexec "$REAL" "${kept[@]}"',
    )
    assert refusal(own.check(own.taken_record())) is RefusalCode.RESTORE_DIFFERS


@pytest.mark.parametrize(
    ("program", "script", "problem"),
    [
        ("pg_dump", '"$REAL" "$@"; exit 1', "pg_dump failed with exit code 1"),
        ("pg_dump", '"$REAL" "$@" | head -c 3000; exit 3', "pg_dump failed with exit code 3"),
        ("pg_dump", '"$REAL" "$@" | head -c 3000; kill -9 $$', "pg_dump was killed by signal 9"),
        ("gpg", '"$REAL" "$@"; exit 2', "gpg failed with exit code 2"),
        ("gpg", '"$REAL" "$@" | head -c 5000; kill -9 $$', "gpg was killed by signal 9"),
        ("gpg", "exit 0 <&-", "pg_dump"),
    ],
)
def test_the_exit_code_of_each_program_counts_and_nothing_is_left(
    rig: Rig, program: str, script: str, problem: str
) -> None:
    rig.replace(program, script)
    with pytest.raises(Unavailable, match=problem) as caught:
        rig.take()
    assert caught.value.what == "backup"
    assert rig.left() == []
    assert holds_plaintext([rig.folder]) == []


def test_a_gpg_that_does_not_encrypt_gets_nothing_onto_the_disk(rig: Rig) -> None:
    listing = rig.folder / "seen"
    rig.replace("gpg", f'cat; find "$STORE" -type f -size +0 > "{listing}"')
    assert refusal(rig.take()) is RefusalCode.WRONG_RECIPIENT
    assert listing.read_text() == ""
    assert rig.left() == []


def test_a_second_recipient_is_refused(rig: Rig, other_home: parts.Home) -> None:
    with parts.new_home() as mine:
        mine.add(other_home.export())
        rig.replace("gpg", f'exec "$REAL" --recipient {other_home.fingerprint} "$@"')
        outcome = rig.take(gpg_home=mine.path, recipient_fingerprint=mine.fingerprint)
    assert refusal(outcome) is RefusalCode.WRONG_RECIPIENT
    assert rig.left() == []


def test_a_second_recipient_in_gpgs_configuration_is_ignored(rig: Rig, other_home: parts.Home) -> None:
    with parts.new_home() as mine:
        mine.add(other_home.export())
        (mine.path / "gpg.conf").write_text(f"encrypt-to {other_home.fingerprint}\n")
        record = rig.take(gpg_home=mine.path, recipient_fingerprint=mine.fingerprint)
    assert isinstance(record, BackupRecord)
    assert len(recipients(rig.artifact(record).read_bytes()) or ()) == 1


def test_an_expired_key_is_refused(rig: Rig) -> None:
    with parts.new_home(made_at="20200101T000000", lives="10d") as old:
        outcome = rig.take(gpg_home=old.path, recipient_fingerprint=old.fingerprint)
    assert refusal(outcome) is RefusalCode.KEY_EXPIRED


def test_a_key_that_cannot_encrypt_is_refused(rig: Rig) -> None:
    with parts.new_home(usage="sign") as signer:
        outcome = rig.take(gpg_home=signer.path, recipient_fingerprint=signer.fingerprint)
    assert refusal(outcome) is RefusalCode.KEY_UNUSABLE


def test_a_revoked_key_is_refused(rig: Rig) -> None:
    with parts.new_home() as gone:
        certificate = (gone.path / "openpgp-revocs.d" / f"{gone.fingerprint}.rev").read_text()
        gpg(gone.path, "--import", given=certificate.replace(":-----BEGIN", "-----BEGIN").encode())
        outcome = rig.take(gpg_home=gone.path, recipient_fingerprint=gone.fingerprint)
    assert refusal(outcome) is RefusalCode.KEY_UNUSABLE


def test_a_key_that_gpg_refuses_at_the_last_moment_is_refused_not_retried(rig: Rig) -> None:
    change = f'for a; do [ "$a" = {rig.home.fingerprint} ] && a={"0" * 40}; kept+=("$a"); done'
    rig.replace("gpg", f'{change}; exec "$REAL" "${{kept[@]}}"')
    assert refusal(rig.take()) is RefusalCode.KEY_UNUSABLE
    assert rig.left() == []


def test_a_key_other_than_the_pinned_one_is_refused_with_both(rig: Rig, other_home: parts.Home) -> None:
    outcome = rig.take(recipient_fingerprint=other_home.fingerprint)
    assert refusal(outcome) is RefusalCode.FINGERPRINT_MISMATCH
    assert isinstance(outcome, BackupRefusal)
    assert (outcome.expected, outcome.observed) == (other_home.fingerprint, rig.home.fingerprint)


@pytest.mark.parametrize("pin", ["", "backup@example.org", "DEADBEEF", "0x" + "A" * 40])
def test_a_key_is_pinned_by_its_full_fingerprint_only(rig: Rig, pin: str) -> None:
    with pytest.raises(InvalidInput, match="full fingerprint"):
        rig.take(recipient_fingerprint=pin)


def test_a_pg_dump_older_than_the_server_is_refused_with_both_versions(rig: Rig) -> None:
    rig.programs["pg_dump"] = parts.pg_bin("pg_dump").parents[2] / "pginstall" / "bin" / "pg_dump"
    outcome = rig.take()
    assert refusal(outcome) is RefusalCode.PG_DUMP_TOO_OLD
    assert isinstance(outcome, BackupRefusal)
    assert re.search(r"pg_dump 16\.\d+ cannot back up PostgreSQL 18\.\d+", outcome.message)


@pytest.mark.skipif(os.geteuid() != 0, reason="a full disk needs a mount, and that needs root")
def test_a_full_disk_is_unavailable_and_leaves_nothing(rig: Rig) -> None:
    rig.store.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=16k", "none", str(rig.store)], check=True)
    try:
        with pytest.raises(Unavailable, match=r"No space left on device.*make room"):
            rig.take()
        assert rig.left() == []
    finally:
        subprocess.run(["umount", str(rig.store)], check=True)


def test_a_store_that_is_no_folder_is_unavailable(rig: Rig) -> None:
    rig.store.write_text("in the way")
    with pytest.raises(Unavailable) as caught:
        rig.take()
    assert caught.value.what == "backup"


def test_an_artifact_is_never_replaced(rig: Rig) -> None:
    record = rig.taken_record()
    before = rig.artifact(record).read_bytes()
    with pytest.raises(Conflict):
        rig.take(artifact_id=record.artifact_id)
    assert rig.artifact(record).read_bytes() == before
    assert len(rig.left()) == 2


@pytest.mark.parametrize("name", ["", "../x.gpg", "a/../b", "/etc/x", "a//b", ".hidden", "a\nb", "-x"])
def test_an_artifact_cannot_leave_the_store(rig: Rig, name: str) -> None:
    with pytest.raises(InvalidInput, match="relative path"):
        rig.take(artifact_id=name)


def test_a_record_that_cannot_be_written_takes_its_artifact_back(rig: Rig) -> None:
    (rig.store / "run").mkdir(parents=True)
    (rig.store / "run" / "x.gpg.json").write_text("{}")
    with pytest.raises(Conflict):
        rig.take(artifact_id="run/x.gpg")
    assert rig.left() == ["run/x.gpg.json"]


def test_other_stores_work_like_a_folder(rig: Rig) -> None:
    record = rig.take(artifacts_url="memory://backups", artifact_id="run/memory.gpg")
    assert isinstance(record, BackupRecord)
    assert isinstance(rig.check(record, artifacts_url="memory://backups"), RestoreReport)
    with pytest.raises(Conflict):
        rig.take(artifacts_url="memory://backups", artifact_id="run/memory.gpg")
    assert digest("memory://backups", "run/memory.gpg") == (record.sha256, record.size_bytes)


def test_a_missing_table_is_refused(own: Rig) -> None:
    own.server.run("DROP TABLE public.iu_lifecycle_log CASCADE", database=own.database)
    outcome = own.take()
    assert refusal(outcome) is RefusalCode.SOURCE_UNREADABLE
    assert isinstance(outcome, BackupRefusal)
    assert "public.iu_lifecycle_log" in outcome.message


def test_a_missing_grant_is_refused(own: Rig) -> None:
    own.server.run("REVOKE SELECT ON public.unit_version FROM cutter_backup", database=own.database)
    assert refusal(own.take()) is RefusalCode.SOURCE_UNREADABLE


def test_rows_that_a_policy_hides_are_refused_not_left_out(own: Rig) -> None:
    own.server.run("ALTER TABLE public.unit_version ENABLE ROW LEVEL SECURITY", database=own.database)
    assert refusal(own.take()) is RefusalCode.SOURCE_UNREADABLE


@pytest.mark.parametrize(
    "dsn", ["postgresql://cutter_backup:hunter2@127.0.0.1:1/x", "host=127.0.0.1 port=1 password=hunter2"]
)
def test_a_server_that_is_away_is_unavailable_and_no_password_is_told(rig: Rig, dsn: str) -> None:
    with pytest.raises(Unavailable) as caught:
        rig.take(dsn=dsn)
    assert "hunter2" not in str(caught.value)
    assert caught.value.__cause__ is None
    assert rig.left() == []


def test_a_malformed_connection_string_is_not_repeated(rig: Rig) -> None:
    with pytest.raises(InvalidInput) as caught:
        rig.take(dsn="hunter2 nonsense")
    assert "hunter2" not in str(caught.value)


def test_a_connection_that_ends_during_the_dump_is_unavailable(own: Rig) -> None:
    dsn = own.server.cluster.superuser_dsn(own.database)
    kill = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'cutter_backup'"
    kill += f" AND datname = '{own.database}'"
    own.replace("pg_dump", f'{parts.pg_bin("psql")} -q \'{dsn}\' -c "{kill}" >&2; exec "$REAL" "$@"')
    with pytest.raises(Unavailable, match="pg_dump failed"):
        own.take()
    assert own.left() == []


@pytest.mark.parametrize("program", ["pg_dump", "gpg"])
def test_a_program_that_hangs_is_ended_at_the_deadline(rig: Rig, program: str) -> None:
    rig.replace(program, "sleep 600")
    with pytest.raises(Unavailable, match=r"longer than 1\.5 seconds"):
        rig.take(deadline_seconds=1.5)
    assert [child for child in psutil.Process().children(recursive=True) if "sleep" in child.name()] == []
    assert rig.left() == []


def test_a_lock_on_a_table_is_waited_for_only_until_the_deadline(own: Rig) -> None:
    with psycopg.connect(own.server.cluster.superuser_dsn(own.database)) as blocker:
        blocker.execute("LOCK TABLE public.unit_version IN ACCESS EXCLUSIVE MODE")
        with pytest.raises(Unavailable, match="SQLSTATE"):
            own.take(deadline_seconds=1.5)


def test_the_password_stands_in_no_command_and_gpg_does_not_get_it(rig: Rig) -> None:
    log = rig.folder / "seen"
    password = (rig.server.secrets / "cutter_backup.password").read_text().strip()
    rig.replace("pg_dump", f'tr "\\0" " " < /proc/$$/cmdline > "{log}.dump"; exec "$REAL" "$@"')
    rig.replace("gpg", f'(env; tr "\\0" " " < /proc/$$/cmdline) > "{log}.gpg"; exec "$REAL" "$@"')
    rig.taken_record()
    for file in ("dump", "gpg"):
        text = Path(f"{log}.{file}").read_text()
        assert text
        assert password not in text
