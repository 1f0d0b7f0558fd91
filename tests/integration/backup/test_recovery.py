"""A restore into an empty database: segments at the same time, one document, and an empty database after a refusal."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any
from uuid import uuid4

import pytest
from psycopg import sql

from cutter.backup import forms
from cutter.backup.record import BackupRecord, BackupRefusal, RefusalCode, RestoreReport
from cutter.backup.restore import read_record
from cutter.backup.segments import recovery
from cutter.errors import InvalidInput, NotFound
from tests.integration.backup.rig import ROLE, Rig
from tests.integration.backup.segment_rig import Laws, laws
from tests.integration.backup.test_segment_parts import four, several  # noqa: F401 — a fixture
from tests.support import runs
from tests.support.database import Database, TestCluster

FINGERPRINT = "select fingerprint from cutter_governance.backup_coverage where document_id = %s"
UNITS = "select array_agg(distinct split_part(canonical_address, '/', 1)) from public.information_unit"


@pytest.fixture(scope="module")
def world(cluster: TestCluster, keys: runs.Keys) -> Iterator[Laws]:
    with laws(cluster, keys) as made:
        yield made


@contextmanager
def empty(world: Laws) -> Iterator[Database]:
    server = world.database.server
    into = Database(server=server, name=f"recovered_{uuid4().hex[:12]}")
    server.maintain(sql.SQL("CREATE DATABASE {} TEMPLATE template0").format(sql.Identifier(into.name)))
    try:
        yield into
    finally:
        into.close()
        server.maintain(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(into.name)))


def restored(world: Laws, into: Database, **changed: Any) -> RestoreReport | BackupRefusal:
    return recovery.restore_into(**{
        "record": world.record(2), "artifacts_url": world.made.settings.artifacts, "dsn": into.url("postgres"),
        "pg_bin": lambda name: name, "gpg_home": world.made.settings.key_home("backup"), "deadline_seconds": 60.0,
    } | changed)  # fmt: skip


def is_empty(into: Database) -> bool:
    left = "select count(*) from pg_namespace where nspname = 'cutter_governance'"
    tables = "select count(*) from pg_class where relnamespace = 'public'::regnamespace"
    return bool(into.value(left) == 0 and into.value(tables) == 0)


@pytest.mark.parametrize("number", [0, 1])
def test_one_document_is_restored_without_the_others(world: Laws, number: int) -> None:
    """Law 1 is in the segment of the backup, and law 0 in a segment of its base."""
    name, other = (world.driven[index].document_id for index in (number, 1 - number))
    with empty(world) as into, world.copied_store() as store:
        if number == 1:  # The artifact of the backup itself is needed in any case.
            (store / world.record(1).artifact_id).unlink()
        outcome = restored(world, into, document=name, artifacts_url=store.as_uri())
        assert isinstance(outcome, RestoreReport), outcome
        assert outcome.content_fingerprint == world.database.value(FINGERPRINT, (name,))
        assert into.value(UNITS) == [name]
        assert outcome.row_counts["public.information_unit"] == (4, 6)[number]
    assert other != name


def test_a_document_that_the_backup_does_not_hold_leaves_the_database_empty(world: Laws) -> None:
    with empty(world) as into:
        with pytest.raises(NotFound, match="does not hold ICX-UNKNOWN"):
            restored(world, into, document="ICX-UNKNOWN")
        assert is_empty(into)


def test_one_document_of_a_segment_that_is_lost_is_refused_by_its_name(world: Laws) -> None:
    with empty(world) as into, world.copied_store() as store:
        (store / world.record(1).artifact_id).unlink()
        outcome = restored(world, into, document=world.driven[0].document_id, artifacts_url=store.as_uri())
        assert isinstance(outcome, BackupRefusal)
        assert outcome.message.startswith(f"segment {world.record(1).artifact_id}: ")


def test_a_header_that_is_not_the_recorded_one_is_refused(world: Laws) -> None:
    forged = replace(world.record(2), content_fingerprint="0" * 64)
    with empty(world) as into:
        outcome = restored(world, into, record=forged, document=world.driven[1].document_id)
        assert isinstance(outcome, BackupRefusal)
        assert outcome.code is RefusalCode.RESTORE_DIFFERS
        assert is_empty(into)


@pytest.mark.parametrize("jobs", [1, 3])
def test_after_a_refusal_the_database_is_empty_and_takes_the_next_restore(world: Laws, jobs: int) -> None:
    with empty(world) as into:
        with world.copied_store() as store:
            (store / world.record(1).artifact_id).unlink()
            outcome = restored(world, into, artifacts_url=store.as_uri(), jobs=jobs)
        assert isinstance(outcome, BackupRefusal)
        assert outcome.code is RefusalCode.ARTIFACT_MISSING
        assert is_empty(into)
        steps: list[tuple[str, int]] = []
        outcome = restored(world, into, jobs=jobs, progress=lambda name, total: steps.append((name, total)))
        assert isinstance(outcome, RestoreReport), outcome
        assert steps == [(world.record(1).artifact_id, 1)]
        assert into.value("select count(*) from public.information_unit") == 10


@pytest.mark.parametrize(("jobs", "at_once"), [(1, 1), (3, 3)])
def test_so_many_segments_are_restored_at_once(four: Rig, jobs: int, at_once: int) -> None:  # noqa: F811
    """The backup consists of four segments. Its own is the first, because it names the others."""
    reports = list(several(four, documents_max=1))
    log = four.folder / "log"
    four.replace("gpg", f'case " $* " in *" --decrypt "*) echo 1 >> {log}; sleep 1; "$REAL" "$@"; code=$?; '
                 f'echo -1 >> {log}; exit $code;; esac; exec "$REAL" "$@"')  # fmt: skip
    into = four.server.new_scratch()
    try:
        outcome = forms.restore_into(
            record=read_record(four.store.as_uri(), reports[-1].artifact_id), artifacts_url=four.store.as_uri(),
            dsn=four.server.dsn(ROLE, into), pg_bin=four.pg_bin, gpg_home=four.home.path,
            gpg_binary=str(four.programs["gpg"]), deadline_seconds=60.0, jobs=jobs,
        )  # fmt: skip
        assert isinstance(outcome, RestoreReport), outcome
        assert outcome.row_counts["public.information_unit"] == 20 + 3 * 5
    finally:
        four.server.drop(into)
    assert max(itertools.accumulate(map(int, log.read_text().split()))) == at_once


def test_a_full_backup_gives_no_single_document(own: Rig) -> None:
    record = own.take()
    assert isinstance(record, BackupRecord), record
    with pytest.raises(InvalidInput, match="the form full"):
        forms.restore_into(record=record, document="ICX-LAW-1")
