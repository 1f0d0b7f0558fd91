"""IO: the store of backups, their key, encryption, and what gpg says about it (seed 000 §4, IG_backup).

No plaintext reaches the disk, the ciphertext names exactly the pinned key, and gpg's own exit code counts.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from cutter import openpgp
from cutter.backup.pipeline import Deadline, Exit, Pipeline, Stage
from cutter.backup.record import BackupRefusal, RefusalCode
from cutter.errors import InvalidInput, Unavailable
from cutter.gpg import Gpg
from cutter.kb.ids import artifact_id_rule
from cutter.kb.store import NOT_REGULAR, Store
from cutter.kb.write_once import Draft
from cutter.openpgp import FINGERPRINT, status_words


def encrypted(
    stages: Sequence[Stage], text: Iterable[bytes], draft: Draft, recipient: Recipient, deadline: Deadline
) -> BackupRefusal | None:
    """Write the output of the last stage, which is gpg, into the draft, or return why gpg did not encrypt for exactly
    the pinned key. `text` goes into a stage that is alone. Raises Unavailable if a program failed.
    """
    with Pipeline(stages, deadline=deadline, fed=len(stages) == 1) as pipeline:
        sealed = _write_sealed(pipeline.chunks(text), draft, recipient)
        exits = pipeline.exits()
    if any(words[0] == "INV_RECP" for words in status_words(exits["gpg"].stderr.splitlines())):
        return BackupRefusal(
            code=RefusalCode.KEY_UNUSABLE,
            message="gpg refuses to encrypt for the pinned backup key: extend it, or pin another",
            expected=recipient.fingerprint,
        )
    for stage in reversed(stages):
        require_success(stage.name, exits[stage.name])
    if sealed:
        return None
    return BackupRefusal(
        code=RefusalCode.WRONG_RECIPIENT,
        message="gpg did not encrypt for exactly the pinned backup key: check the gpg program",
        expected=recipient.fingerprint,
    )


def _write_sealed(chunks: Iterable[bytes], draft: Draft, recipient: Recipient) -> bool:
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


def require_success(name: str, end: Exit) -> None:
    """Raise Unavailable(what="backup") if a program failed or was killed."""
    if end.code == 0:
        return
    how = f"was killed by signal {-end.code}" if end.killed else f"failed with exit code {end.code}"
    raise Unavailable(f"{name} {how}; no backup was kept", what="backup")


@lru_cache(maxsize=8)
def home_of_backups(home: Path, binary: str) -> Gpg:
    """gpg in the home that holds the backup key. The home must exist, because a new home would hold no key.

    A process keeps it, because it remembers the listing of its keys.
    """
    return Gpg(home, binary, existing=True, what="backup")


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipient:
    """The pinned key, and the ids (16 hex characters) of its encryption keys, which a message for it may name."""

    fingerprint: str
    encryption_key_ids: frozenset[str]


def pinned(fingerprint: str) -> str:
    """The fingerprint from the settings in gpg's own form. Raises InvalidInput for a short id or a name."""
    text = fingerprint.replace(" ", "").upper()
    if not FINGERPRINT.fullmatch(text):
        raise InvalidInput("the backup key is pinned by its full fingerprint: 40 (or 64) hex characters")
    return text


def find_recipient(gpg: Gpg, fingerprint: str) -> Recipient | BackupRefusal:
    """The key with the pinned fingerprint, or the refusal if it is missing or cannot encrypt today."""
    keys = _keys(gpg.key_listing())
    key = keys.get(fingerprint)
    if key is None:
        return BackupRefusal(
            code=RefusalCode.FINGERPRINT_MISMATCH,
            message="the backup key in this home is not the pinned one: put the pinned public key there",
            expected=fingerprint,
            observed=", ".join(sorted(keys)) or "no key",
        )
    if key.validity == "e" or (key.encryption and all(validity == "e" for _, validity in key.encryption)):
        return BackupRefusal(
            code=RefusalCode.KEY_EXPIRED,
            message="the pinned backup key has expired: extend it, or pin another",
            expected=fingerprint,
        )
    ids = frozenset(key_id for key_id, validity in key.encryption if validity not in ("e", "r", "d", "i"))
    if key.validity in ("r", "d", "i") or not ids:
        return BackupRefusal(
            code=RefusalCode.KEY_UNUSABLE,
            message="the pinned backup key is revoked, disabled or cannot encrypt: pin another",
            expected=fingerprint,
        )
    return Recipient(fingerprint=fingerprint, encryption_key_ids=ids)


def backup_keys(gpg: Gpg) -> frozenset[str]:
    """The fingerprints of the keys in this home that are made for encryption. An expired or revoked one counts, because
    it still opens the backups of its time.
    """
    return frozenset(fingerprint for fingerprint, key in _keys(gpg.key_listing()).items() if key.encryption)


@dataclass(slots=True)
class _Key:
    validity: str
    encryption: list[tuple[str, str]]


def _keys(colons: str) -> dict[str, _Key]:
    """The keys by primary fingerprint: the validity, and a pair (key id, validity) for each key that can encrypt.

    GnuPG's doc/DETAILS explains the listing.
    """
    keys: dict[str, _Key] = {}
    current: _Key | None = None
    named = False
    for line in colons.splitlines():
        field = [*line.split(":"), *([""] * 12)]
        if field[0] in ("pub", "sub"):
            if field[0] == "pub":
                current, named = _Key(field[1], []), False
            if current is not None and "e" in field[11]:
                current.encryption.append((field[4], field[1]))
        elif field[0] == "fpr" and current is not None and not named:
            keys[field[9]], named = current, True
    return keys


class Reader:
    """Passes the chunks of an artifact on and computes their digest."""

    def __init__(self, chunks: Iterator[bytes]) -> None:
        self._chunks = chunks
        self._digest = hashlib.sha256()
        self.size_bytes = 0

    def __iter__(self) -> Iterator[bytes]:
        for chunk in self._chunks:
            self._digest.update(chunk)
            self.size_bytes += len(chunk)
            yield chunk

    @property
    def sha256(self) -> str:
        """The digest of the bytes read so far, 64 hex characters."""
        return self._digest.hexdigest()


def damaged(artifact: Reader, sha256: str, size_bytes: int) -> BackupRefusal | None:
    """The refusal if the artifact has another digest or another size."""
    if (artifact.sha256, artifact.size_bytes) == (sha256, size_bytes):
        return None
    return BackupRefusal(
        code=RefusalCode.ARTIFACT_DAMAGED,
        message="the artifact is not the one that was recorded: take a new backup and look at the store",
        expected=f"sha256 {sha256}, {size_bytes} bytes",
        observed=f"sha256 {artifact.sha256}, {artifact.size_bytes} bytes",
    )


def decryption_key(gpg: Exit) -> str:
    """The primary fingerprint of the key that opened the message, or an empty text if gpg found the message damaged."""
    words = status_words(gpg.stderr.splitlines())
    keywords = {line[0] for line in words}
    keys = [line for line in words if line[0] == "DECRYPTION_KEY" and len(line) >= 3]
    whole = gpg.code == 0 and {"DECRYPTION_OKAY", "GOODMDC"} <= keywords
    return keys[0][2] if whole and len(keys) == 1 else ""


def undecrypted(gpg: Exit, key: str, recipient: str) -> BackupRefusal | None:
    """The refusal if the pinned key did not open the whole message. Raises Unavailable if gpg was killed."""
    if gpg.killed:
        raise Unavailable(f"gpg was killed by signal {-gpg.code} while decrypting", what="backup")
    if any(line[0] == "NO_SECKEY" for line in status_words(gpg.stderr.splitlines())):
        return BackupRefusal(
            code=RefusalCode.WRONG_KEY,
            message="the private key of this backup is not in the home: restore where the key is",
            expected=recipient,
        )
    if not key:
        return BackupRefusal(
            code=RefusalCode.ARTIFACT_DAMAGED,
            message=f"gpg says that the artifact is damaged (exit code {gpg.code}): take a new backup",
        )
    if key != pinned(recipient):
        return BackupRefusal(
            code=RefusalCode.WRONG_RECIPIENT,
            message="a key that is not the pinned one opened the artifact: take a new backup",
            expected=recipient,
            observed=key,
        )
    return None


RECORD_SUFFIX = ".json"


def open_store(url: str) -> Store:
    """The store of artifacts at an fsspec URL. Their names are relative paths such as `<run_id>/pre_write.gpg`."""
    try:
        return Store(url, id_rule=artifact_id_rule, what="backup", private=True)
    except Unavailable as problem:
        if isinstance(problem.__cause__, (OSError, ImportError)):
            raise
        raise InvalidInput(
            "CUTTER_ARTIFACTS_URL: a URL that fsspec knows, such as file:///var/lib/cutter/artifacts"
        ) from None


def chunks(store: Store, artifact_id: str) -> Iterator[bytes]:
    """An artifact's bytes in parts. Raises NotFound, and Unavailable if it is unreadable or not a regular file."""
    try:
        yield from store.chunks(artifact_id)
    except InvalidInput as problem:
        if problem.code != NOT_REGULAR:
            raise
        # An operator can put the artifact back, so the run waits and does not fail.
        raise Unavailable(f"artifact {artifact_id} cannot be read: {problem}", what="backup") from None
