"""IO: reads an artifact back: its digest, and what gpg says about the key that opened it."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator

from cutter.backup.keyring import pinned
from cutter.backup.pipeline import Exit
from cutter.backup.record import BackupRefusal, RefusalCode
from cutter.errors import Unavailable
from cutter.openpgp import status_words


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
