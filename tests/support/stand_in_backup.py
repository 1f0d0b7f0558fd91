"""IO: a backup of a few bytes, for tests that are not about backups.

It has an artifact, a record and a restore report, as a real one has. It dumps, encrypts and restores nothing, so that
such a test does not wait for the one database in which restores are proved.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from activities.worker.dependencies import Deps
from cutter.backup.artifacts import RECORD_SUFFIX, open_store
from cutter.backup.record import BackupRecord, RestoreReport, to_json
from cutter.backup.tables import BACKUP_TABLES
from cutter.domain.digests import sha256_hex
from cutter.kb import write_once

DATA = b"a stand-in backup"


def take(*, recipient_fingerprint: str, artifacts_url: str, artifact_id: str, **_: Any) -> BackupRecord:
    """In the place of `cutter.backup.take.take`."""
    store = open_store(artifacts_url)
    record = BackupRecord(
        artifact_id=artifact_id,
        sha256=sha256_hex(DATA),
        size_bytes=len(DATA),
        taken_utc=datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        content_fingerprint=sha256_hex(artifact_id),
        row_counts=dict.fromkeys(BACKUP_TABLES, 0),
        pg_dump_version="none",
        server_version="none",
        recipient=recipient_fingerprint,
    )
    write_once.put(store, artifact_id, DATA)
    write_once.put(store, artifact_id + RECORD_SUFFIX, to_json(record).encode())
    return record


def restore_check(*, record: BackupRecord, **_: Any) -> RestoreReport:
    """In the place of `cutter.backup.restore.restore_check`."""
    return RestoreReport(
        artifact_id=record.artifact_id,
        sha256=record.sha256,
        size_bytes=record.size_bytes,
        content_fingerprint=record.content_fingerprint,
        row_counts=record.row_counts,
        decryption_key=record.recipient,
        pg_restore_version="none",
    )


def instead(deps: Deps) -> Deps:
    """The dependencies of a worker that makes stand-ins."""
    return replace(deps, take_backup=take, restore_check=restore_check)
