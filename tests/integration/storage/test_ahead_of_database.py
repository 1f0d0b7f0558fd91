"""What the stores have and the database does not know: found, set aside, and nothing else touched."""

from __future__ import annotations

import shutil
from collections.abc import Iterator

import pytest

from cutter.backup.artifacts import open_store
from cutter.errors import NotFound
from cutter.kb import write_once
from starter.operator import ahead_of_database as ahead
from starter.operator.ahead_of_database import ARTIFACTS, KB, OTHER_BYTES, UNKNOWN, RunAhead
from tests.support import runs
from tests.support.database import Database

LOST = "ictr-20261121T090000Z-0199f1de-7c3d-7e4f-8a9b-00000000000d"


@pytest.fixture
def made(database: Database, keys: runs.Keys) -> Iterator[runs.Deployment]:
    with runs.deployment(database, keys) as new_deployment:
        yield new_deployment


@pytest.fixture
def waits(made: runs.Deployment) -> runs.Driven:
    """A run that waits for its second signature."""
    driven = runs.drive(made, until="IG_write_verify")
    made.request(driven.run_id, "SG_lifecycle_authz")
    return driven


def found(made: runs.Deployment) -> dict[str, RunAhead]:
    return {run.run_id: run for run in ahead.runs_ahead(made.settings)}


def kb_of(made: runs.Deployment, run_id: str) -> list[str]:
    """The documents of a run's folder."""
    kb = made.deps[runs.WorkerRole.CUTTER].kb
    return [name for name in kb.list("knowledge/dev/laws/") if run_id[-12:] in name]


def test_nothing_is_ahead_of_a_database_that_lost_nothing(made: runs.Deployment, waits: runs.Driven) -> None:
    runs.drive(made)
    assert kb_of(made, waits.run_id)
    assert found(made) == {}
    with pytest.raises(NotFound):
        ahead.set_aside(made.settings, waits.run_id)


def test_a_lost_run_is_set_aside_whole(made: runs.Deployment, waits: runs.Driven) -> None:
    documents = kb_of(made, waits.run_id)
    forgotten(made, waits.run_id)
    run = found(made)[waits.run_id]
    assert (run.state, run.command) == ("", f"cutter reconcile --set-aside {waits.run_id}")
    assert {each.name for each in run.objects if each.store == KB} >= set(documents)
    assert {each.name.partition("/")[0] for each in run.objects if each.store == ARTIFACTS} == {waits.run_id}
    _, moved = ahead.set_aside(made.settings, waits.run_id)
    assert len(moved) == len(run.objects)
    assert found(made) == {}
    assert kb_of(made, waits.run_id) == []


def test_a_lost_run_without_artifacts_is_found_by_the_text_of_its_documents(
    made: runs.Deployment, waits: runs.Driven
) -> None:
    forgotten(made, waits.run_id)
    shutil.rmtree(made.settings.artifacts.removeprefix("file://") + f"/{waits.run_id}")
    assert {each.store for each in found(made)[waits.run_id].objects} == {KB}


def test_of_a_known_run_only_what_is_unknown_or_other_is_ahead(made: runs.Deployment, waits: runs.Driven) -> None:
    kb, artifacts = made.deps[runs.WorkerRole.CUTTER].kb, open_store(made.settings.artifacts)
    folder = kb_of(made, waits.run_id)[0].rpartition("/")[0]
    later, statement = f"{folder}/11-closeout.md", f"{folder}/approval.md"
    bundle = f"{waits.run_id}/evidence-0123456789abcdef.tar"
    for name in (later, statement, f"{statement}.asc"):
        write_once.put(kb, name, b"lost")
    write_once.put(artifacts, bundle, b"lost")
    other = next(name for name in kb_of(made, waits.run_id) if "01-source-pin" in name)
    kb.objects.remove(other)
    write_once.put(kb, other, b"of a lost transaction")
    run = found(made)[waits.run_id]
    assert {(each.store, each.name, each.why) for each in run.objects} == {
        (KB, later, UNKNOWN), (KB, other, OTHER_BYTES), (ARTIFACTS, bundle, UNKNOWN)
    }  # fmt: skip
    ahead.set_aside(made.settings, waits.run_id)
    assert found(made) == {}
    assert kb.exists(statement)


def test_a_backup_of_a_known_run_stays(made: runs.Deployment, waits: runs.Driven) -> None:
    write_once.put(open_store(made.settings.artifacts), f"{waits.run_id}/pre_write-0123456789ab.gpg", b"a backup")
    assert found(made) == {}


def test_a_run_that_moves_is_left_alone(made: runs.Deployment) -> None:
    """Its objects are stored before the database records them."""
    moving = runs.drive(made, until="IG_cutplan")
    write_once.put(open_store(made.settings.artifacts), f"{moving.run_id}/evidence-0123456789abcdef.tar", b"now")
    assert found(made) == {}


def forgotten(made: runs.Deployment, run_id: str) -> None:
    """The database after it has lost this run."""
    made.database.run("alter table cutter_governance.run disable trigger all")
    made.database.run("update cutter_governance.run set run_id = %s where run_id = %s", (LOST, run_id))
