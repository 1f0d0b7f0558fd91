"""A backup is whole, encrypted for the pinned key alone, and stands under its name or not at all."""

from __future__ import annotations

import os
import re
import subprocess

import psutil
import psycopg
import pytest

from cutter.backup.record import TABLES, BackupRecord, BackupRefusal, RefusalCode, RestoreReport, to_json
from cutter.backup.restore import digest, read_record
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
    counts = {table.split(".")[1]: number for table, number in record.row_counts.items()}
    assert counts == dict.fromkeys(counts, 20) | dict.fromkeys(_ONE_EACH, 1) | dict.fromkeys(_NONE, 0)
    report = rig.check(record)
    assert isinstance(report, RestoreReport)
    assert report.content_fingerprint == record.content_fingerprint
    assert report.row_counts == record.row_counts
    assert report.decryption_key == record.recipient == rig.home.fingerprint


_ONE_EACH = ("manifest_envelope", "review_decision", "cut_change_set", "dot_pair_signature")
_NONE = ("enactment", "revision_row")


def test_the_record_describes_the_ciphertext_and_stands_beside_it(rig: Rig) -> None:
    record = rig.taken_record()
    assert digest(rig.store.as_uri(), record.artifact_id) == (record.sha256, record.size_bytes)
    assert read_record(rig.store.as_uri(), record.artifact_id) == record
    assert rig.left() == [record.artifact_id, record.artifact_id + ".json"]
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", record.taken_utc)


def test_the_record_names_its_restore_point(rig: Rig) -> None:
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


def test_a_document_without_rows_is_backed_up_too(rig: Rig) -> None:
    """The first cut of a law has no row yet."""
    record = rig.take(document_id="ICX-LAW-NEW", docprefix="ICX-LAW-NEW")
    assert isinstance(record, BackupRecord)
    assert set(record.row_counts.values()) == {0}
    assert isinstance(rig.check(record), RestoreReport)


def test_a_backup_holds_the_rows_of_its_own_document_alone(own: Rig) -> None:
    before = own.taken_record()
    own.server.fill(own.database, units=7, number=8)
    after = own.taken_record()
    assert (after.content_fingerprint, after.row_counts) != ("", {})
    assert after.row_counts == before.row_counts
    other = own.take(document_id="ICX-LAW-8", docprefix="ICX-LAW-8")
    assert isinstance(other, BackupRecord)
    assert other.row_counts["public.information_unit"] == 7


def test_every_value_comes_back_equal(own: Rig) -> None:
    """A withdrawn unit, the ends of time, numbers and texts that JSON could change."""
    own.server.run(_ODD, database=own.database)
    record = own.taken_record()
    assert isinstance(own.check(record), RestoreReport)


_ODD = r"""
SET session_replication_role = replica;
ALTER TABLE public.unit_version DISABLE TRIGGER ALL;
ALTER TABLE public.unit_version ADD COLUMN odd_bytes bytea DEFAULT '\xdeadbeef00', ADD COLUMN odd_number numeric(30, 9)
    DEFAULT 12345678901234567890.100000000, ADD COLUMN odd_float float8 DEFAULT 0.1 + 0.2,
    ADD COLUMN odd_made text GENERATED ALWAYS AS (upper(title)) STORED, ADD COLUMN odd_range int4range DEFAULT '[1,5)',
    ADD COLUMN odd_span interval DEFAULT '1 mon 2 days 03:04:05.678901', ADD COLUMN odd_bits bit(3) DEFAULT B'101',
    ADD COLUMN odd_day date DEFAULT '0044-03-15 BC';
UPDATE public.unit_version SET content_profile = '{"b": 1.50, "a": [null, 1e400, "\u0001\t\\", {}]}',
    created_at = 'infinity', body = E'\001\002\r\n\t\\' || body,
    content_hash = encode(sha256(convert_to(E'\001\002\r\n\t\\' || body, 'UTF8')), 'hex');
"""


def test_each_column_has_a_type_that_json_keeps(own: Rig) -> None:
    """A JSON null and an SQL null look the same in a row, so a column of JSON may hold no SQL null."""
    wrong = own.server.value(
        "SELECT string_agg(format('%s.%s %s', a.attrelid::regclass, a.attname, a.atttypid::regtype), ', ')"
        f" FROM pg_attribute a WHERE a.attrelid = ANY ('{{{','.join(TABLES)}}}'::regclass[]) AND a.attnum > 0"
        " AND NOT a.attisdropped AND (a.atttypid::regtype::text NOT IN ('uuid', 'text', 'text[]', 'jsonb', 'integer',"
        " 'bigint', 'date', 'timestamp with time zone') OR a.atttypid = 'jsonb'::regtype AND NOT a.attnotnull)",
        database=own.database,
    )
    assert wrong is None


def test_a_changed_row_changes_the_fingerprint(own: Rig) -> None:
    before = own.taken_record()
    own.server.run("UPDATE cutter_governance.review_decision SET actor = 'another'", database=own.database)
    assert own.taken_record().content_fingerprint != before.content_fingerprint


@pytest.mark.parametrize(
    ("program", "script", "problem"),
    [
        ("gpg", '"$REAL" "$@"; exit 2', "gpg failed with exit code 2"),
        ("gpg", '"$REAL" "$@" | head -c 500; kill -9 $$', "gpg was killed by signal 9"),
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


@pytest.mark.skipif(os.geteuid() != 0, reason="a full disk needs a mount, and that needs root")
def test_a_full_disk_is_unavailable_and_leaves_nothing(rig: Rig) -> None:
    rig.store.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=4k", "none", str(rig.store)], check=True)
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
    assert "42P01" in outcome.message


def test_a_missing_grant_is_refused(own: Rig) -> None:
    own.server.run("REVOKE SELECT ON public.unit_version FROM cutter_backup", database=own.database)
    assert refusal(own.take()) is RefusalCode.SOURCE_UNREADABLE


def test_rows_that_a_policy_hides_are_refused_not_left_out(own: Rig) -> None:
    own.server.run("ALTER TABLE public.unit_version ENABLE ROW LEVEL SECURITY", database=own.database)
    assert refusal(own.take()) is RefusalCode.SOURCE_UNREADABLE


def test_a_server_that_is_away_is_unavailable(rig: Rig) -> None:
    with pytest.raises(Unavailable):
        rig.take(database="absent")
    assert rig.left() == []


def test_a_connection_that_ends_during_the_copy_is_unavailable(own: Rig) -> None:
    dsn = own.server.cluster.superuser_dsn(own.database)
    kill = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'cutter_backup'"
    kill += f" AND datname = '{own.database}'"
    own.server.fill(own.database, units=3000, number=7)
    own.replace("gpg", f'{parts.pg_bin("psql")} -q \'{dsn}\' -c "{kill}" >&2; exec "$REAL" "$@"')
    with pytest.raises(Unavailable, match=r"^database: .*`cutter up`"):
        own.take(document_id="ICX-LAW-7", docprefix="ICX-LAW-7")
    assert own.left() == []


def test_a_program_that_hangs_is_ended_at_the_deadline(rig: Rig) -> None:
    rig.replace("gpg", "sleep 600")
    with pytest.raises(Unavailable, match=r"longer than 1\.5 seconds"):
        rig.take(deadline_seconds=1.5)
    assert [child for child in psutil.Process().children(recursive=True) if "sleep" in child.name()] == []
    assert rig.left() == []


def test_a_lock_on_a_table_is_not_waited_for_without_end(own: Rig) -> None:
    with psycopg.connect(own.server.cluster.superuser_dsn(own.database)) as blocker:
        blocker.execute("LOCK TABLE public.unit_version IN ACCESS EXCLUSIVE MODE")
        with pytest.raises(Unavailable, match=r"^database: .*lock timeout"):
            own.take()


def test_gpg_does_not_get_the_password(rig: Rig) -> None:
    log = rig.folder / "seen"
    password = (rig.server.secrets / "cutter_backup.password").read_text().strip()
    rig.replace("gpg", f'(env; tr "\\0" " " < /proc/$$/cmdline) > "{log}"; exec "$REAL" "$@"')
    rig.taken_record()
    text = log.read_text()
    assert text
    assert password not in text
