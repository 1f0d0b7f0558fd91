"""Pure parts of a backup: records, the tables, the first line, the archiver's problems."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cutter import limits
from cutter.backup import archiver
from cutter.backup.record import RECORD_VERSION, TABLES, BackupRecord, BackupRefusal, from_json, to_json
from cutter.backup.rows import ContentRefused, described
from cutter.domain import restore_point
from cutter.errors import InvalidInput, Unavailable
from tests.unit.gates.passing import POINT

RECORD = BackupRecord(
    artifact_id="run/pre_write.gpg",
    document_id="ICX-LAW-1",
    sha256="a" * 64,
    size_bytes=1,
    taken_utc="2026-11-21T09:00:00Z",
    content_fingerprint="b" * 64,
    row_counts=dict.fromkeys(TABLES, 0),
    recipient="A" * 40,
)


def test_the_tables_are_the_nine_of_the_mutation_surface_and_two_more() -> None:
    assert {table.split(".")[1] for table in TABLES} == {
        *("cut_change_set", "cut_change_set_affected_row", "dot_pair_signature", "manifest_envelope"),
        *("manifest_unit_block", "review_decision", "information_unit", "iu_lifecycle_log", "unit_version"),
        *("enactment", "revision_row"),
    }


@given(st.dictionaries(st.sampled_from(TABLES), st.integers(0, 10**9)), st.integers(1, 10**12))
def test_a_record_comes_back_from_its_json(counts: dict[str, int], size: int) -> None:
    record = replace(RECORD, row_counts=dict(RECORD.row_counts) | counts, size_bytes=size)
    assert from_json(to_json(record)) == record


def test_a_record_names_its_restore_point() -> None:
    assert "restore_point" not in to_json(RECORD)
    with_point = replace(RECORD, restore_point=POINT)
    assert from_json(to_json(with_point)) == with_point


@pytest.mark.parametrize(
    "point", ["x", [], {}, POINT.as_json() | {"timeline": "1"}, POINT.as_json() | {"name": None},
              POINT.as_json() | {"waiting_files": True}]
)  # fmt: skip
def test_a_record_with_a_malformed_restore_point_is_refused(point: object) -> None:
    with pytest.raises(InvalidInput):
        from_json(json.dumps(json.loads(to_json(RECORD)) | {"restore_point": point}))
    assert restore_point.recorded(point) is None


@pytest.mark.parametrize("pins", [{}, {"restore_point_name": 5}, {"restore_point_name": None}])
def test_a_receipt_without_a_restore_point_has_no_line_of_it(pins: dict[str, object]) -> None:
    assert restore_point.line_of_pins(pins) is None


def test_the_line_of_a_restore_point_says_where_and_when() -> None:
    line = restore_point.line_of_pins(POINT.as_pins())
    assert line == f"{POINT.name} at 0/3000060 on timeline 1, {POINT.created_utc}"


@pytest.mark.parametrize("code", sorted(archiver.PROBLEMS))
def test_each_problem_with_the_archive_says_what_to_do(code: str) -> None:
    answer = {"problem": code, "failed_wal": "0001", "waiting_files": 3, "waiting_seconds": 900}
    try:
        refusal = archiver.judged(answer)
        assert isinstance(refusal, BackupRefusal)
        message, named = refusal.message, refusal.code.value
        assert "CUTTER_BACKUP_RESTORE_POINT=false" in message
    except Unavailable as problem:
        message, named = str(problem), problem.code
    assert named == code
    assert "{" not in message
    assert len(message) < limits.REASON_CHARACTERS_MAX


@pytest.mark.parametrize(
    "change",
    [
        {"version": "backup/1"},
        {"sha256": "A" * 64},
        {"size_bytes": 0},
        {"size_bytes": True},
        {"size_bytes": 1.5},
        {"row_counts": {}},
        {"row_counts": []},
        {"row_counts": dict.fromkeys(TABLES, -1)},
        {"recipient": None},
        {"more": 1},
    ],
)
def test_a_record_that_is_not_ours_is_refused(change: dict[str, object]) -> None:
    with pytest.raises(InvalidInput):
        from_json(json.dumps(json.loads(to_json(RECORD)) | change))


@pytest.mark.parametrize("text", ["", "[]", "1", "{", "[" * 100_000, to_json(RECORD)[:-1]])
def test_what_is_no_record_is_refused(text: str) -> None:
    with pytest.raises(InvalidInput):
        from_json(text)


COLUMNS = {table: {"id": "uuid not null", "at": "timestamp(6) with time zone", "names": "text[]"} for table in TABLES}


def line(**changed: object) -> bytes:
    value = {"document_id": "ICX-LAW-1", "taken_utc": "2026-11-21T09:00:00Z", "columns": COLUMNS} | changed
    return f"{RECORD_VERSION}\t{json.dumps(value)}".encode()


def test_the_first_line_describes_the_tables() -> None:
    assert described(line()).columns == COLUMNS


@pytest.mark.parametrize(
    "kind", ["text; drop table x", "text) as select (1", "text default now()", 'pg_temp."x"', "", "x.y", "text'"]
)
def test_a_type_that_could_be_a_statement_is_refused(kind: str) -> None:
    """Everyone who has the public key can make an artifact."""
    with pytest.raises(ContentRefused):
        described(line(columns=COLUMNS | {"public.enactment": {"id": kind}}))


@pytest.mark.parametrize(
    "text",
    [
        b"", b"backup/1\t{}", b"backup/2\t", b"backup/2\t[]", b"backup/2\t{}", line(columns={}), line(more=1),
        line(columns={**COLUMNS, "public.run": {}}), line(columns=[]), b"backup/2\t" + b"[" * 100_000, b"\xff",
    ],
)  # fmt: skip
def test_another_line_is_no_first_line(text: bytes) -> None:
    with pytest.raises(ContentRefused):
        described(text)
