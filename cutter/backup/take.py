"""IO: copies the rows of one document, encrypted, into an artifact (seed 000 §4, IG_backup).

A write can change only the rows of its own document, because PostgreSQL refuses all others at COMMIT. So the backup
before it holds these rows (ADR 33).
"""

from __future__ import annotations

import itertools
from contextlib import closing
from pathlib import Path

import psycopg
from psycopg.pq import TransactionStatus

from cutter.backup import rows
from cutter.backup.encryption import RECORD_SUFFIX, encrypted, find_recipient, home_of_backups, open_store, pinned
from cutter.backup.pipeline import Deadline, Stage
from cutter.backup.record import BackupRecord, BackupRefusal, RefusalCode, to_json
from cutter.domain.restore_point import RestorePoint
from cutter.errors import CutterError
from cutter.gpg import environment
from cutter.kb import write_once
from cutter.kb.store import Store
from cutter.kb.write_once import Draft
from cutter.storage.pools import Pool, single


def take(
    *,
    source: Pool,
    document_id: str,
    docprefix: str,
    gpg_home: Path,
    gpg_binary: str = "gpg",
    recipient_fingerprint: str,
    artifacts_url: str,
    artifact_id: str,
    deadline: Deadline,
    restore_point: RestorePoint | None = None,
) -> BackupRecord | BackupRefusal:
    """Copy the rows of a document at one moment, encrypted for the pinned key, and store the record with the artifact.

    `source` is a pool of cutter_backup. `artifact_id` must be a name that no earlier attempt used. The record names the
    `restore_point` that was marked for this backup. Without success, nothing stays under the artifact's name. After a
    refusal no retry helps. After Unavailable a retry may help: full disk, killed gpg, lost connection. Raises Conflict
    if the artifact exists, and InvalidInput for wrong arguments.
    """
    gpg, store, tally = home_of_backups(gpg_home, gpg_binary), open_store(artifacts_url), rows.Tally()
    store.check(artifact_id)
    recipient = find_recipient(gpg, pinned(recipient_fingerprint))
    if isinstance(recipient, BackupRefusal):
        return recipient

    encrypt = Stage(name="gpg", command=gpg.encryption(recipient.fingerprint), environment=environment())
    with single(source) as connection:
        try:
            with closing(rows.lines_of(connection, document_id, docprefix, tally)) as lines:
                first = next(lines)
                description = rows.described(first)
                with write_once.draft(store, artifact_id) as draft:
                    text = itertools.chain([first], lines)
                    refusal = encrypted((encrypt,), text, draft, recipient, deadline)
                    if refusal is not None:
                        return refusal
                    digests = tally.digests()
                    record = BackupRecord(
                        artifact_id=artifact_id, document_id=document_id, sha256=draft.sha256,
                        size_bytes=draft.size_bytes, taken_utc=description.taken_utc,
                        content_fingerprint=digests.fingerprint, row_counts=digests.row_counts,
                        recipient=recipient.fingerprint, restore_point=restore_point,
                    )  # fmt: skip
                    _publish(store, draft, record)
                    return record
        except rows.AWAY as problem:
            raise rows.away(problem) from None
        except (psycopg.Error, rows.ContentRefused) as problem:
            why = f"SQLSTATE {problem.sqlstate}" if isinstance(problem, psycopg.Error) else str(problem)
            message = f"the rows of the document cannot be read ({why}): apply the migrations"
            return BackupRefusal(code=RefusalCode.SOURCE_UNREADABLE, message=message, observed=why)
        finally:
            if connection.info.transaction_status != TransactionStatus.IDLE:
                connection.close()


def _publish(store: Store, draft: Draft, record: BackupRecord) -> None:
    """Publish the artifact, then put its record. In this order, no record exists without its artifact."""
    draft.publish()
    try:
        # A draft, because it raises Conflict if the name is taken, even by the same bytes.
        with write_once.draft(store, record.artifact_id + RECORD_SUFFIX) as beside:
            beside.write(to_json(record).encode())
            beside.publish()
    except CutterError:
        write_once.remove(store, record.artifact_id)
        raise
