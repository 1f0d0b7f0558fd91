"""The SQL file of the runbook about recovery: what the stores have and the database does not know."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from cutter.backup.encryption import open_store
from cutter.domain.digests import sha256_hex
from cutter.kb import write_once
from cutter.stack.postgres_programs import pg_bin
from tests.support import runs
from tests.support.database import Database
from tests.support.processes import ROOT

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


def found(made: runs.Deployment) -> dict[str, set[str]]:
    """What the file of the runbook prints: the names of the objects that are ahead, by run and state."""
    stores = {"kb": made.settings.kb, "runs": made.settings.artifacts}
    lines = [
        f"{sha256_hex(path.read_bytes())}  {name}/{path.relative_to(folder)}\n"
        for name, url in stores.items() for folder in [Path(url.removeprefix("file://"))]
        for path in folder.rglob("*") if path.is_file()
    ]  # fmt: skip
    done = subprocess.run(
        [pg_bin("psql"), made.database.url("postgres"), "-qAtf", ROOT / "docs/runbooks/ahead-of-the-database.sql"],
        input="".join(lines), capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stderr == ""
    names: dict[str, set[str]] = {}
    for line in done.stdout.splitlines():
        place, _, run_id, state = line.split("|")
        names.setdefault(f"{run_id} {state}", set()).add(place)
    return names


def kb_of(made: runs.Deployment, run_id: str) -> list[str]:
    """The documents of a run's folder."""
    kb = made.deps[runs.WorkerRole.CUTTER].kb
    return [name for name in kb.list("knowledge/dev/laws/") if run_id[-12:] in name]


def test_nothing_is_ahead_of_a_database_that_lost_nothing(made: runs.Deployment, waits: runs.Driven) -> None:
    runs.drive(made)
    assert kb_of(made, waits.run_id)
    assert found(made) == {}


def test_a_lost_run_is_ahead_whole(made: runs.Deployment, waits: runs.Driven) -> None:
    documents = kb_of(made, waits.run_id)
    forgotten(made, waits.run_id)
    (names,) = found(made).values()
    assert set(found(made)) == {f"{waits.run_id} no such run"}
    assert names >= {f"kb/{name}" for name in documents}
    assert {name.partition("/")[0] for name in names} == {"kb", "runs"}


def test_a_lost_run_without_artifacts_is_found_by_the_folder_of_its_documents(
    made: runs.Deployment, waits: runs.Driven
) -> None:
    forgotten(made, waits.run_id)
    shutil.rmtree(made.settings.artifacts.removeprefix("file://") + f"/{waits.run_id}")
    names = [name for several in found(made).values() for name in several]
    assert {f"kb/{name}" for name in kb_of(made, waits.run_id)} <= set(names)


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
    (state,) = found(made)
    assert state == f"{waits.run_id} awaiting_lifecycle_authorization"
    assert found(made)[state] == {f"kb/{later}", f"kb/{other}", f"runs/{bundle}"}


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
