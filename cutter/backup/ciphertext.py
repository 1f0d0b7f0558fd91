"""IO: writes an encrypted artifact with its record, or nothing (seed 000 §4, IG_backup).

No plaintext reaches the disk, the ciphertext names exactly the pinned key, and gpg's own exit code counts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from cutter import openpgp
from cutter.backup.artifacts import RECORD_SUFFIX
from cutter.backup.keyring import Recipient
from cutter.backup.pipeline import Deadline, Exit, Pipeline, Stage
from cutter.backup.record import BackupRecord, BackupRefusal, RefusalCode, to_json
from cutter.errors import CutterError, Unavailable
from cutter.gpg import Gpg, environment
from cutter.kb import write_once
from cutter.kb.store import Store
from cutter.kb.write_once import Draft
from cutter.openpgp import status_words


def write_sealed(chunks: Iterable[bytes], draft: Draft, recipient: Recipient) -> bool:
    """Write the ciphertext if its head names exactly the pinned key. Otherwise write nothing and return False.

    So no plaintext reaches the disk, even if gpg passes its input through. This always reads to the end, because the
    caller then asks for the exit codes of finished processes.
    """
    source, head = iter(chunks), b""
    for chunk in source:
        head += chunk
        if len(head) >= openpgp.HEAD_BYTES:
            break
    named = openpgp.recipients(head[: openpgp.HEAD_BYTES])
    sealed = named is not None and len(named) == 1 and named[0] in recipient.encryption_key_ids
    if sealed:
        draft.write(head)
    for chunk in source:
        if sealed:
            draft.write(chunk)
    return sealed


def refused_key(gpg: Exit, recipient: Recipient) -> BackupRefusal | None:
    """The refusal if gpg does not accept the pinned key."""
    if not any(words[0] == "INV_RECP" for words in status_words(gpg.stderr.splitlines())):
        return None
    return BackupRefusal(
        code=RefusalCode.KEY_UNUSABLE,
        message="gpg refuses to encrypt for the pinned backup key: extend it, or pin another",
        expected=recipient.fingerprint,
    )


def require_success(name: str, end: Exit) -> None:
    """Raise Unavailable(what="backup") if a program failed or was killed."""
    if end.code == 0:
        return
    how = f"was killed by signal {-end.code}" if end.killed else f"failed with exit code {end.code}"
    raise Unavailable(f"{name} {how}; no backup was kept", what="backup")


def wrong_recipient(recipient: Recipient) -> BackupRefusal:
    """The refusal of a ciphertext that `write_sealed` did not write."""
    return BackupRefusal(
        code=RefusalCode.WRONG_RECIPIENT,
        message="gpg did not encrypt for exactly the pinned backup key: check the gpg program",
        expected=recipient.fingerprint,
    )


def write_artifact(
    text: Iterable[bytes],
    gpg: Gpg,
    recipient: Recipient,
    store: Store,
    artifact_id: str,
    deadline: Deadline,
    record_of: Callable[[Draft], BackupRecord],
) -> BackupRecord | BackupRefusal:
    """Encrypt a text into an artifact, and publish the artifact with the record that `record_of` makes of it."""
    encrypt = Stage(name="gpg", command=gpg.encryption(recipient.fingerprint), environment=environment())
    with write_once.draft(store, artifact_id) as draft:
        with Pipeline((encrypt,), deadline=deadline, fed=True) as pipeline:
            sealed = write_sealed(pipeline.chunks(text), draft, recipient)
            exits = pipeline.exits()
        if refusal := refused_key(exits["gpg"], recipient):
            return refusal
        require_success("gpg", exits["gpg"])
        if not sealed:
            return wrong_recipient(recipient)
        record = record_of(draft)
        publish(store, draft, record)
        return record


def publish(store: Store, draft: Draft, record: BackupRecord) -> None:
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
