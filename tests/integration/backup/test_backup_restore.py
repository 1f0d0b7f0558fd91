"""A restore check passes for the snapshot's very rows and for nothing else, and leaves the scratch as it was."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace

import psutil
import pytest

from cutter.backup.pipeline import Deadline
from cutter.backup.record import BackupRecord, BackupRefusal, RefusalCode, RestoreReport
from cutter.backup.restore import digest, plain_rows, restore_check
from cutter.backup.rows import Tally
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


def encrypted(rig: Rig, content: bytes) -> bytes:
    return gpg(rig.home.path, "--recipient", rig.home.fingerprint, "--encrypt", given=content)


def plain(rig: Rig, record: BackupRecord) -> bytes:
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
    wrong = plain(rig, record) + f'public.enactment\t{{"{CANARY}": \n'.encode() * 20_000
    outcome = rig.check(rewritten(rig, record, encrypted(rig, wrong)))
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
        data = gpg(foreign.path, "--recipient", foreign.fingerprint, "--encrypt", given=plain(rig, record))
        outcome = rig.check(rewritten(rig, record, data), gpg_home=foreign.path)
    assert refusal(outcome) is RefusalCode.WRONG_RECIPIENT


def test_a_home_whose_agent_cannot_run_is_unavailable(rig: Rig) -> None:
    record = rig.taken_record()
    with pytest.raises(Unavailable, match="agent"):
        rig.check(record, gpg_home=rig.folder / "absent")


def test_plaintext_in_an_openpgp_frame_is_refused(rig: Rig) -> None:
    record = rig.taken_record()
    data = gpg(rig.home.path, "--store", given=plain(rig, record))
    assert refusal(rig.check(rewritten(rig, record, data))) is RefusalCode.ARTIFACT_DAMAGED


@pytest.mark.parametrize("content", [b"", b"no archive", b"PGDMP\x01\x10\x00" + bytes(100)])
def test_an_artifact_that_holds_no_rows_is_refused(rig: Rig, content: bytes) -> None:
    record = rig.taken_record()
    assert refusal(rig.check(rewritten(rig, record, encrypted(rig, content)))) is RefusalCode.RESTORE_FAILED


def test_truncated_rows_in_a_whole_message_are_refused(rig: Rig) -> None:
    record = rig.taken_record()
    whole = plain(rig, record)
    lines = whole.splitlines(keepends=True)
    for kept in (whole[:-2], whole[: len(whole) // 2], b"".join(lines[:-1]), lines[0]):
        outcome = rig.check(rewritten(rig, record, encrypted(rig, kept)))
        assert refusal(outcome) in (RefusalCode.RESTORE_FAILED, RefusalCode.RESTORE_DIFFERS)


@pytest.mark.parametrize("other", [{"document_id": "ICX-OTHER-1"}, {"taken_utc": "2020-01-01T00:00:00Z"}])
def test_a_record_of_another_document_or_time_is_refused(rig: Rig, other: dict[str, str]) -> None:
    """The store has the record too, and only the artifact is bound by the receipt's digest."""
    record = rig.taken_record()
    assert refusal(rig.check(replace(record, **other))) is RefusalCode.RESTORE_DIFFERS


def test_a_record_that_denies_the_rows_of_a_table_is_refused(rig: Rig) -> None:
    """A check makes only the tables that the record says hold rows. The rows of another table are seen too."""
    record = rig.taken_record()
    tally = Tally()
    for line in plain(rig, record).splitlines():
        if not line.startswith(b"public.unit_version\t"):
            tally.add(line)
    rest = tally.digests()
    assert record.row_counts["public.unit_version"] > rest.row_counts["public.unit_version"] == 0
    denied = replace(record, content_fingerprint=rest.fingerprint, row_counts=rest.row_counts)
    assert refusal(rig.check(denied)) is RefusalCode.RESTORE_DIFFERS


def test_a_whole_backup_of_other_rows_is_refused(own: Rig) -> None:
    record = own.taken_record()
    own.server.run("UPDATE public.iu_lifecycle_log SET reason = NULL WHERE reason = ''", database=own.database)
    later = own.taken_record()
    of_that_time = replace(record, taken_utc=later.taken_utc)
    outcome = own.check(rewritten(own, of_that_time, own.artifact(later).read_bytes()))
    assert refusal(outcome) is RefusalCode.RESTORE_DIFFERS
    assert isinstance(outcome, BackupRefusal)
    assert outcome.expected.startswith(record.content_fingerprint)
    assert outcome.observed.startswith(later.content_fingerprint)


@pytest.mark.parametrize(
    "damage",
    [
        lambda lines: [*lines, lines[-1]],
        lambda lines: lines[:-1],
        lambda lines: [lines[0], *lines[2:], lines[1].replace(b'"id": "', b'"id": "0', 1)],
        lambda lines: [*lines, b"private.more\t{}\n"],
        lambda lines: [lines[0].replace(b'"taken_utc": "2', b'"taken_utc": "1', 1), *lines[1:]],
    ],
)
def test_other_rows_under_a_record_that_fits_are_refused(
    rig: Rig, damage: Callable[[list[bytes]], list[bytes]]
) -> None:
    record = rig.taken_record()
    lines = plain(rig, record).splitlines(keepends=True)
    outcome = rig.check(rewritten(rig, record, encrypted(rig, b"".join(damage(lines)))))
    assert refusal(outcome) in (RefusalCode.RESTORE_DIFFERS, RefusalCode.RESTORE_FAILED)


def test_rows_in_another_order_are_the_same_rows(rig: Rig) -> None:
    record = rig.taken_record()
    first, *lines = plain(rig, record).splitlines(keepends=True)
    shuffled = encrypted(rig, b"".join([first, *reversed(lines)]))
    assert isinstance(rig.check(rewritten(rig, record, shuffled)), RestoreReport)


def test_a_killed_gpg_is_unavailable_not_a_bad_backup(rig: Rig) -> None:
    record = rig.taken_record()
    rig.replace("gpg", '"$REAL" "$@" | head -c 4000; kill -9 $$')
    with pytest.raises(Unavailable, match="signal 9"):
        rig.check(record)


def test_a_gpg_that_claims_nothing_is_refused(rig: Rig) -> None:
    record = rig.taken_record()
    rig.replace("gpg", '"$REAL" "$@" 2>/dev/null')
    assert refusal(rig.check(record)) is RefusalCode.ARTIFACT_DAMAGED


def test_a_program_that_hangs_is_ended_at_the_deadline(rig: Rig) -> None:
    record = rig.taken_record()
    rig.replace("gpg", "sleep 600")
    with pytest.raises(Unavailable):
        rig.check(record, deadline_seconds=1.5)
    assert [child for child in psutil.Process().children(recursive=True) if "sleep" in child.name()] == []
    del rig.programs["gpg"]
    assert isinstance(rig.check(record), RestoreReport)


def test_a_check_leaves_no_row_and_no_table(own: Rig) -> None:
    """Seed 004 "Worker State Machine" Invariants."""
    record = own.taken_record()
    with closing(own.pool(own.scratch)) as scratch:
        for _ in range(2):
            outcome = restore_check(
                record=record, artifacts_url=own.store.as_uri(), scratch=scratch, gpg_home=own.home.path,
                deadline=Deadline(60),
            )  # fmt: skip
            assert isinstance(outcome, RestoreReport)
        with scratch.connection() as connection:
            names = connection.execute("SELECT relname FROM pg_class WHERE relnamespace = pg_my_temp_schema() "
                                       "AND relkind = 'r'").fetchall()  # fmt: skip
            filled = [table for table, count in record.row_counts.items() if count]
            assert len(names) == 1 + len(filled), "the staged rows, and a table for each that holds rows"
            for (name,) in names:
                assert connection.execute(f'SELECT count(*) FROM pg_temp."{name}"').fetchone() == (0,)
    assert own.server.value(TABLES, database=own.scratch) == 0


def test_two_checks_at_once_do_not_mix_and_do_not_wait(own: Rig) -> None:
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


def test_the_rows_can_be_read_by_a_person(rig: Rig) -> None:
    record = rig.taken_record()
    rows = list(plain_rows(record=record, artifacts_url=rig.store.as_uri(), gpg_home=rig.home.path))
    assert len(rows) == sum(record.row_counts.values())
    assert all(isinstance(json.loads(row), dict) for _, row in rows)
