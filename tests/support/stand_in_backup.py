"""IO: a backup of a few bytes, for tests that are not about backups.

It has an artifact, a record and a restore report, as a real one has. It copies, encrypts and restores nothing.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from activities.worker.dependencies import Deps
from cutter.backup.artifacts import RECORD_SUFFIX, open_store
from cutter.backup.record import BackupRecord, Proved, RestoreReport, to_json
from cutter.backup.tables import TABLES
from cutter.domain.digests import sha256_hex
from cutter.kb import write_once

DATA = b"a stand-in backup"


def back_up(*, document_id: str, recipient_fingerprint: str, artifacts_url: str, artifact_id: str, **_: Any) -> Proved:
    """In the place of `cutter.backup.take.back_up`."""
    store = open_store(artifacts_url)
    record = BackupRecord(
        artifact_id=artifact_id,
        document_id=document_id,
        sha256=sha256_hex(DATA),
        size_bytes=len(DATA),
        taken_utc=datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        content_fingerprint=sha256_hex(artifact_id),
        row_counts=dict.fromkeys(TABLES, 0),
        recipient=recipient_fingerprint,
    )
    write_once.put(store, artifact_id, DATA)
    write_once.put(store, artifact_id + RECORD_SUFFIX, to_json(record).encode())
    report = RestoreReport(
        artifact_id=artifact_id, document_id=document_id, sha256=record.sha256, size_bytes=record.size_bytes,
        content_fingerprint=record.content_fingerprint, row_counts=record.row_counts,
        decryption_key=recipient_fingerprint,
    )  # fmt: skip
    return Proved(record=record, report=report)


def instead(deps: Deps) -> Deps:
    """The dependencies of a worker that makes stand-ins."""
    return replace(deps, back_up=back_up)
