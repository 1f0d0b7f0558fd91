"""A segment is whole, encrypted for the pinned key alone, and has its name or none, as a full backup."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import psycopg
import pytest

from cutter import limits
from cutter.backup import forms
from cutter.backup.record import BackupRecord, BackupRefusal, RefusalCode
from cutter.backup.restore import digest, read_record
from cutter.backup.segments.restore import SegmentReport
from cutter.backup.segments.rows import columns, live_rows
from cutter.errors import Conflict, Unavailable
from cutter.openpgp import recipients
from tests.integration.backup import rig as parts
from tests.integration.backup.rig import CANARY, Rig, holds_plaintext
from tests.support import tls


@pytest.fixture
def segments(rig: Rig) -> Rig:
    return replace(rig, form="segments")


@pytest.fixture
def own_segments(own: Rig) -> Rig:
    return replace(own, form="segments")


def refusal(outcome: object) -> RefusalCode:
    assert isinstance(outcome, BackupRefusal), outcome
    return outcome.code


def test_a_segment_restores_to_exactly_its_snapshot(segments: Rig) -> None:
    record = segments.taken_record()
    assert record.row_counts["public.unit_version"] == 20
    report = segments.check(record)
    assert isinstance(report, SegmentReport), report
    assert report.content_fingerprint == record.content_fingerprint
    assert report.row_counts == record.row_counts
    assert list(report.header.documents) == ["ICX-LAW-9"]
    assert report.decryption_key == segments.home.fingerprint


def test_the_record_describes_the_ciphertext_and_is_stored_with_it(segments: Rig) -> None:
    record = segments.taken_record()
    assert digest(segments.store.as_uri(), record.artifact_id) == (record.sha256, record.size_bytes)
    assert read_record(segments.store.as_uri(), record.artifact_id) == record
    assert segments.left() == [record.artifact_id, record.artifact_id + ".json"]
    assert len(recipients(segments.artifact(record).read_bytes()) or ()) == 1
    assert holds_plaintext([segments.folder]) == []


@pytest.mark.parametrize(("size", "pieces"), [(limits.BACKUP_CHUNK_BYTES, 1), (1, 20)])
def test_rows_reach_gpg_in_pieces_of_whole_rows(
    segments: Rig, monkeypatch: pytest.MonkeyPatch, size: int, pieces: int
) -> None:
    monkeypatch.setattr(limits, "BACKUP_CHUNK_BYTES", size)
    with psycopg.connect(segments.server.dsn(parts.ROLE, segments.database)) as connection:
        rows = live_rows(connection, columns(connection))
        assert connection.execute("show jit").fetchone() == ("off",)
        copied = list(rows.copied("public.unit_version", ["ICX-LAW-9"]))
    assert [piece.count(b"\n") for piece in copied] == [20 // pieces] * pieces
    assert all(piece.endswith(b"\n") for piece in copied)


@pytest.mark.parametrize(
    ("script", "problem"),
    [
        ('"$REAL" "$@"; exit 2', "gpg failed with exit code 2"),
        ('"$REAL" "$@" | head -c 400; kill -9 $$', "gpg was killed by signal 9"),
        ("exit 3 <&-", "gpg failed with exit code 3"),
    ],
)
def test_gpgs_exit_code_counts_and_nothing_is_left(segments: Rig, script: str, problem: str) -> None:
    segments.replace("gpg", script)
    with pytest.raises(Unavailable, match=problem):
        segments.take()
    assert segments.left() == []


def test_a_gpg_that_does_not_encrypt_gets_nothing_onto_the_disk(segments: Rig) -> None:
    segments.replace("gpg", "cat")
    assert refusal(segments.take()) is RefusalCode.WRONG_RECIPIENT
    assert segments.left() == []
    assert holds_plaintext([segments.folder]) == []


def test_a_second_recipient_is_refused(segments: Rig, other_home: parts.Home) -> None:
    with parts.new_home() as mine:
        mine.add(other_home.export())
        segments.replace("gpg", f'exec "$REAL" --recipient {other_home.fingerprint} "$@"')
        outcome = segments.take(gpg_home=mine.path, recipient_fingerprint=mine.fingerprint)
    assert refusal(outcome) is RefusalCode.WRONG_RECIPIENT
    assert segments.left() == []


def test_a_key_other_than_the_pinned_one_is_refused(segments: Rig, other_home: parts.Home) -> None:
    outcome = segments.take(recipient_fingerprint=other_home.fingerprint)
    assert refusal(outcome) is RefusalCode.FINGERPRINT_MISMATCH


@pytest.mark.skipif(os.geteuid() != 0, reason="a full disk needs a mount, and that needs root")
def test_a_full_disk_is_unavailable_and_leaves_nothing(segments: Rig) -> None:
    segments.store.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=4k", "none", str(segments.store)], check=True)
    try:
        with pytest.raises(Unavailable, match=r"No space left on device.*make room"):
            segments.take()
        assert segments.left() == []
    finally:
        subprocess.run(["umount", str(segments.store)], check=True)


def test_an_artifact_is_never_replaced(segments: Rig) -> None:
    record = segments.taken_record()
    before = segments.artifact(record).read_bytes()
    with pytest.raises(Conflict):
        segments.take(artifact_id=record.artifact_id)
    assert segments.artifact(record).read_bytes() == before


def test_a_missing_grant_and_hidden_rows_are_refused(own_segments: Rig) -> None:
    run = own_segments.server.run
    run("ALTER TABLE public.unit_version ENABLE ROW LEVEL SECURITY", database=own_segments.database)
    assert refusal(own_segments.take()) is RefusalCode.SOURCE_UNREADABLE
    run("ALTER TABLE public.unit_version DISABLE ROW LEVEL SECURITY", database=own_segments.database)
    run("REVOKE SELECT ON public.enactment FROM cutter_backup", database=own_segments.database)
    assert refusal(own_segments.take()) is RefusalCode.SOURCE_UNREADABLE
    assert own_segments.left() == []


def test_a_lock_on_a_table_is_waited_for_only_until_the_deadline(own_segments: Rig) -> None:
    with psycopg.connect(own_segments.server.cluster.superuser_dsn(own_segments.database)) as blocker:
        blocker.execute("LOCK TABLE public.unit_version IN ACCESS EXCLUSIVE MODE")
        with pytest.raises(Unavailable, match="SQLSTATE"):
            own_segments.take(deadline_seconds=1.5)


def test_a_gpg_that_hangs_is_ended_at_the_deadline(segments: Rig) -> None:
    segments.replace("gpg", "sleep 600")
    with pytest.raises(Unavailable, match=r"longer than 1\.5 seconds"):
        segments.take(deadline_seconds=1.5)
    assert segments.left() == []


DAMAGES: dict[str, Callable[[bytes], bytes]] = {
    "empty": lambda _: b"",
    "cut": lambda data: data[: len(data) // 2],
    "flipped": lambda data: data[:-20] + bytes([data[-20] ^ 1]) + data[-19:],
    "longer": lambda data: data + b"x",
}


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
def test_a_damaged_segment_is_refused(segments: Rig, damage: Callable[[bytes], bytes]) -> None:
    record = segments.taken_record()
    path = segments.artifact(record)
    path.write_bytes(damage(path.read_bytes()))
    assert refusal(segments.check(record)) is RefusalCode.ARTIFACT_DAMAGED


@pytest.mark.parametrize(
    "plain",
    [
        b"",
        b"-- {}\n",
        b"DROP TABLE public.unit_version;\n",
        b"COPY public.unit_version (id) FROM PROGRAM 'id';\n",
    ],
)
def test_a_whole_message_that_is_no_segment_is_refused(segments: Rig, plain: bytes) -> None:
    record = forged(segments, plain)
    assert refusal(segments.check(record)) is RefusalCode.RESTORE_FAILED


def test_a_segment_that_ends_early_in_a_whole_message_is_refused(segments: Rig) -> None:
    record = segments.taken_record()
    plain = parts.gpg(segments.home.path, "--decrypt", str(segments.artifact(record)))
    assert CANARY.encode() in plain
    assert refusal(segments.check(forged(segments, plain[: len(plain) * 3 // 4]))) is RefusalCode.RESTORE_FAILED


def test_a_row_that_is_missing_in_a_whole_segment_is_refused(segments: Rig) -> None:
    record = segments.taken_record()
    plain = parts.gpg(segments.home.path, "--decrypt", str(segments.artifact(record)))
    lines = plain.split(b"\n")
    first = next(place for place, line in enumerate(lines) if line.startswith(b"COPY public.unit_version"))
    assert refusal(segments.check(forged(segments, b"\n".join(lines[: first + 1] + lines[first + 2 :])))) in (
        RefusalCode.RESTORE_DIFFERS,
    )


def forged(rig: Rig, plain: bytes) -> BackupRecord:
    """A message for the right key with this plaintext, and a record that fits its bytes."""
    record = rig.taken_record()
    path: Path = rig.artifact(record)
    path.write_bytes(parts.gpg(rig.home.path, "--recipient", rig.home.fingerprint, "--encrypt", given=plain))
    sha256, size = digest(rig.store.as_uri(), record.artifact_id)
    return replace(record, sha256=sha256, size_bytes=size)


def test_a_segment_over_tls_needs_no_program_of_postgresql(segments: Rig, tmp_path: Path) -> None:
    """pg_dump of the wheel has no TLS, and a database that demands TLS is reached all the same."""

    def no_program(name: str) -> Path:
        raise AssertionError(f"{name} was asked for")

    own = tls.certificate(tmp_path)
    with tls.front(("127.0.0.1", segments.server.cluster.port), own, postgres=True) as port:
        demanded = f"sslmode=verify-full&sslrootcert={own.root}"

        def encrypted(database: str) -> str:
            plain = segments.server.dsn(parts.ROLE, database)
            return plain.replace(f"127.0.0.1:{segments.server.cluster.port}", f"localhost:{port}") + f"?{demanded}"

        record = segments.take(pg_bin=no_program, dsn=encrypted(segments.database))
        assert isinstance(record, BackupRecord), record
        report = forms.restore_check(
            record=record, scratch_dsn=encrypted(segments.scratch), pg_bin=no_program, gpg_home=segments.home.path,
            artifacts_url=segments.store.as_uri(),
        )  # fmt: skip
        assert isinstance(report, SegmentReport), report
        full = replace(segments, form="full")
        with pytest.raises(Unavailable, match="SSL support is not compiled in"):
            full.take(dsn=encrypted(segments.database))
