"""IO: three laws with segments: two that are enacted, and a run whose pre-write backup has just been taken."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from psycopg import sql

from activities.backup_effects import seal_backup
from activities.worker.dependencies import Deps
from cutter import limits
from cutter.backup import forms
from cutter.backup.record import BackupRecord, BackupRefusal, RestoreReport
from cutter.backup.restore import read_record
from cutter.backup.segments import recovery, restore
from cutter.backup.segments.restore import SegmentReport
from cutter.backup.segments.scrub import Scrubbed, scrub
from cutter.backup.tables import SEGMENT_TABLES
from cutter.catalogue import WorkerRole
from cutter.settings import dsn
from cutter.stack.postgres import pg_bin
from tests.support import runs
from tests.support.database import SCRATCH, Database, TestCluster
from tests.support.laws import law


def with_segments(made: runs.Deployment) -> Deps:
    """Let this deployment take its backups as segments. Returns the cutter worker's dependencies."""
    deps = replace(made.deps[WorkerRole.CUTTER], take_backup=forms.TAKE["segments"])
    made.deps[WorkerRole.CUTTER] = deps
    return deps


@dataclass(slots=True, kw_only=True)
class Laws:
    """A deployment with the runs of its laws, in the order in which their backups were taken."""

    made: runs.Deployment
    driven: list[runs.Driven]
    at_the_end: dict[str, Any]
    """The rows of each table when the last of these backups was taken, because a test may change rows afterwards."""

    @property
    def database(self) -> Database:
        return self.made.database

    @property
    def folder(self) -> Path:
        return Path(self.made.settings.artifacts.removeprefix("file://"))

    def record(self, number: int, store: str | None = None) -> BackupRecord:
        """The record of the first backup of a run."""
        return read_record(store or self.made.settings.artifacts, f"{self.driven[number].run_id}/pre_write.gpg")

    def uncovered(self) -> list[str]:
        """The documents that the next backup must dump."""
        listed: list[str] = self.database.value(
            "select coalesce(array_agg(document_id order by document_id), '{}') from cutter_governance.backup_coverage"
            " where sealed_changes is distinct from changes"
        )
        return listed

    def take(self, name: str, **changed: Any) -> BackupRecord | BackupRefusal:
        return forms.TAKE["segments"](**self._arguments() | {
            "dsn": self.database.url("cutter_backup"), "artifact_id": name,
            "recipient_fingerprint": self.fingerprint,
        } | changed)  # fmt: skip

    def check(self, record: BackupRecord, **changed: Any) -> RestoreReport | BackupRefusal:
        scratch = dsn(self.made.settings, "cutter_backup", database=SCRATCH)
        return restore.restore_check(**self._arguments() | {"record": record, "scratch_dsn": scratch} | changed)

    def scrub(self, **changed: Any) -> Scrubbed:
        given = self._arguments()
        del given["pg_bin"]
        scratch = dsn(self.made.settings, "cutter_backup", database=SCRATCH)
        return scrub(**given | {"dsn": self.database.url("cutter_backup"), "scratch_dsn": scratch} | changed)

    @property
    def fingerprint(self) -> str:
        return (self.made.settings.keys / "backup.fingerprint").read_text().strip()

    def _arguments(self) -> dict[str, Any]:
        return {
            "pg_bin": pg_bin, "gpg_home": self.made.settings.key_home("backup"),
            "artifacts_url": self.made.settings.artifacts, "deadline_seconds": 60.0,
        }  # fmt: skip

    @contextmanager
    def restored(self, record: BackupRecord, **changed: Any) -> Iterator[tuple[Any, Database]]:
        """The outcome of a restore of everything, and the database into which it went."""
        server = self.database.server
        into = Database(server=server, name=f"restored_{record.sha256[:12]}")
        server.maintain(sql.SQL("CREATE DATABASE {} TEMPLATE template0").format(sql.Identifier(into.name)))
        try:
            given = self._arguments() | {"record": record, "dsn": into.url("postgres")} | changed
            yield recovery.restore_into(**given), into
        finally:
            into.close()
            server.maintain(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(into.name)))

    @contextmanager
    def copied_store(self) -> Iterator[Path]:
        """A copy of the store, for a test that damages it."""
        with tempfile.TemporaryDirectory(prefix="cs-", dir="/tmp") as folder:
            yield Path(shutil.copytree(self.folder, Path(folder) / "store", symlinks=True))


def sealing(world: Laws, record: BackupRecord) -> SegmentReport:
    """Check a segment, and let it cover its documents."""
    report = world.check(record)
    assert isinstance(report, SegmentReport), report
    assert seal_backup(world.made.deps[WorkerRole.CUTTER], record, report) is None
    return report


@contextmanager
def laws(cluster: TestCluster, keys: runs.Keys) -> Iterator[Laws]:
    """Two enacted laws, and a third one whose backup has been taken."""
    with cluster.database(prefix="segments") as database, runs.deployment(database, keys) as made:
        with_segments(made)
        driven = [
            runs.drive(made, law(units), quick=False, until=until)
            for units, until in ((4, None), (6, None), (5, "IG_backup"))
        ]
        yield Laws(made=made, driven=driven, at_the_end=content(database))


def content(database: Database) -> dict[str, Any]:
    """Every row of the tables of a segment."""
    query = sql.SQL("select coalesce(jsonb_agg(to_jsonb(t) order by to_jsonb(t)::text), '[]') from {} t")
    with closing(database.connect("postgres")) as connection:
        connection.execute("set timezone = 'UTC'")
        return {
            table: connection.execute(query.format(sql.Identifier(*table.split(".")))).fetchone()
            for table in SEGMENT_TABLES
        }


_MAIN = """
from functools import partial
from cutter.backup.segments import take
take.take = partial(take.take, documents_max={documents_max})
from starter.cli import main
main()
"""


def cutter(world: Laws, *arguments: str, documents_max: int = limits.SEGMENT_DOCUMENTS_MAX) -> dict[str, Any]:
    """What `cutter backup` answers to these arguments, with so many documents in one artifact."""
    settings = world.made.settings
    environment = {
        "CUTTER_STATE_DIR": str(settings.state_dir), "CUTTER_DATABASE_URL": world.database.address,
        "CUTTER_SECRETS_DIR": str(settings.secrets), "CUTTER_KEYS_DIR": str(settings.keys),
        "CUTTER_APPROVERS_DIR": str(settings.approvers), "PATH": os.environ["PATH"], "COLUMNS": "200",
        "PGPASSWORD": unquote(urlsplit(world.database.url("postgres")).password or ""),
    }  # fmt: skip
    done = subprocess.run(
        [sys.executable, "-c", _MAIN.format(documents_max=documents_max), "backup", *arguments],
        env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer
