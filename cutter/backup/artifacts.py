"""IO: the artifact store: an artifact appears whole under its final name or not at all, and is never replaced.

A local folder gets a temporary name, fsync and a hard link that refuses an existing target; any other fsspec
filesystem a temporary name and a move.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import re
import uuid
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import IO, Any

import fsspec
from fsspec.implementations.local import LocalFileSystem

from cutter import limits
from cutter.errors import Conflict, InvalidInput, NotFound, Unavailable

_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,127}")
RECORD_SUFFIX = ".json"


class Store:
    """Artifacts below one fsspec URL. `artifact_id` is a relative path such as `<run_id>/pre_write.gpg`."""

    def __init__(self, url: str) -> None:
        try:
            self.filesystem, self.root = fsspec.core.url_to_fs(url)
        except (ValueError, ImportError):
            raise InvalidInput(
                "CUTTER_ARTIFACTS_URL: a URL that fsspec knows, such as file:///var/lib/cutter/artifacts"
            ) from None

    @property
    def local(self) -> bool:
        return isinstance(self.filesystem, LocalFileSystem)

    def path(self, artifact_id: str) -> str:
        """Where an artifact stands; raises InvalidInput for a name that could leave the store or hide in it."""
        parts = artifact_id.split("/")
        if len(parts) > 8 or not all(_NAME.fullmatch(part) for part in parts):
            raise InvalidInput(
                "artifact id: a relative path of A-Z a-z 0-9 . _ - and '/', no part beginning with '.' or '-', "
                "such as <run_id>/pre_write.gpg"
            )
        return "/".join([str(self.root).rstrip("/"), *parts])

    def chunks(self, artifact_id: str) -> Iterator[bytes]:
        """The artifact's bytes. Raises NotFound, or Unavailable(what="backup") when it cannot be read."""
        path = self.path(artifact_id)
        with unavailable(f"artifact {artifact_id} cannot be read"):
            try:
                file = self.filesystem.open(path, "rb")
            except FileNotFoundError:
                raise NotFound(f"no artifact {artifact_id} in this store") from None
            with file:
                while chunk := file.read(limits.BACKUP_CHUNK_BYTES):
                    yield chunk

    def exists(self, artifact_id: str) -> bool:
        """Whether something stands under that name."""
        with unavailable(f"artifact {artifact_id} cannot be looked for"):
            return bool(self.filesystem.exists(self.path(artifact_id)))

    def put(self, artifact_id: str, data: bytes) -> None:
        """A small object, whole or not at all."""
        with Draft(self, artifact_id) as draft:
            draft.write(data)
            draft.publish()

    def get(self, artifact_id: str) -> bytes:
        """A small object back; raises NotFound, Unavailable, or InvalidInput when it is too large."""
        data = b""
        for chunk in self.chunks(artifact_id):
            data += chunk
            if len(data) > limits.BACKUP_RECORD_BYTES_MAX:
                raise InvalidInput(f"{artifact_id} is larger than {limits.BACKUP_RECORD_BYTES_MAX} bytes: no record")
        return data

    def remove(self, artifact_id: str) -> None:
        """Take back what was published in this call; absence is fine."""
        with contextlib.suppress(OSError):
            self.filesystem.rm_file(self.path(artifact_id))


class Draft:
    """An artifact being written; leaving the context without `publish` removes it."""

    def __init__(self, store: Store, artifact_id: str) -> None:
        self._store = store
        self._id = artifact_id
        self._final = store.path(artifact_id)
        folder, _, name = self._final.rpartition("/")
        self._folder = folder
        self._temporary = f"{folder}/.{name}.{uuid.uuid4().hex}.part"
        self._file: IO[bytes] | None = None
        self._digest = hashlib.sha256()
        self.size_bytes = 0

    def __enter__(self) -> Draft:
        with unavailable("the artifact store cannot be written"):
            if self._store.local:
                Path(self._folder).mkdir(parents=True, exist_ok=True, mode=0o700)
                descriptor = os.open(self._temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
                self._file = os.fdopen(descriptor, "wb")
            else:
                self._store.filesystem.makedirs(self._folder, exist_ok=True)
                self._file = self._store.filesystem.open(self._temporary, "wb")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._file is None:
            return
        # Closing writes out what is buffered, which fails again on a full disk; the removal must still happen.
        with contextlib.suppress(OSError):
            self._file.close()
        with contextlib.suppress(OSError):
            self._store.filesystem.rm_file(self._temporary)

    @property
    def sha256(self) -> str:
        """Digest of what was written so far, 64 hex characters."""
        return self._digest.hexdigest()

    def write(self, data: bytes) -> None:
        """Append; raises Unavailable(what="backup") when the disk is full or the target is away."""
        with unavailable("the artifact cannot be written"):
            _opened(self._file).write(data)
        self._digest.update(data)
        self.size_bytes += len(data)

    def publish(self) -> None:
        """Give it its final name. Raises Conflict when that name is taken; what stands there is not touched."""
        with unavailable("the artifact cannot be written"):
            try:
                self._publish_local() if self._store.local else self._publish_elsewhere()
            except FileExistsError:
                raise Conflict(
                    f"artifact {self._id} exists: every attempt writes its own, under a name of its own"
                ) from None

    def _publish_local(self) -> None:
        file = _opened(self._file)
        file.flush()
        os.fsync(file.fileno())
        os.link(self._temporary, self._final)
        folder = os.open(self._folder, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)

    def _publish_elsewhere(self) -> None:
        _opened(self._file).close()
        filesystem: Any = self._store.filesystem
        if filesystem.exists(self._final):
            raise FileExistsError(self._final)
        filesystem.mv(self._temporary, self._final)


def _opened(file: IO[bytes] | None) -> IO[bytes]:
    if file is None:
        raise ValueError("the draft is not open")
    return file


@contextlib.contextmanager
def unavailable(what_failed: str) -> Iterator[None]:
    """Operating-system errors of a store as Unavailable(what="backup")."""
    try:
        yield
    except OSError as problem:
        reason = errno.errorcode.get(problem.errno or 0, type(problem).__name__)
        raise Unavailable(f"{what_failed} ({reason}): make room or bring it back", what="backup") from None
