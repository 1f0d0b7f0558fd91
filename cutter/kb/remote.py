"""IO: the write-once objects of every fsspec URL that is not a local folder (`s3://…`, `memory://…`).

A put uses the file system's create-only mode. An object store performs it atomically, as a conditional put. So an
object is whole or absent, and is never replaced.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from typing import Any

from cutter import limits
from cutter.errors import InvalidInput


class RemoteDraft:
    """An unfinished object. `publish` moves it to its name."""

    def __init__(self, filesystem: Any, path: str) -> None:
        self._filesystem = filesystem
        self._path = path
        folder, _, last = path.rpartition("/")
        filesystem.makedirs(folder, exist_ok=True)
        self._temporary = f"{folder}/.{last}.{uuid.uuid4().hex}.part"
        self._file = filesystem.open(self._temporary, "wb")

    def write(self, data: bytes) -> None:
        self._file.write(data)

    def publish(self) -> None:
        """Make the whole object visible. Raises FileExistsError if the name is taken."""
        self._file.close()
        if self._filesystem.exists(self._path):
            raise FileExistsError(self._path)
        self._filesystem.mv(self._temporary, self._path)

    def close(self) -> None:
        """Remove the object if it is not published."""
        with suppress(OSError):
            self._file.close()
        with suppress(OSError):
            self._filesystem.rm_file(self._temporary)


class RemoteFolder:
    """The objects under one path of an fsspec file system.

    Methods let every OSError pass, and `Store` translates it.
    """

    def __init__(self, filesystem: Any, root: str) -> None:
        self._filesystem = filesystem
        self._root = root.rstrip("/")

    def create(self, name: str, data: bytes) -> None:
        """Write a whole object under a free name. Raises FileExistsError if the name is taken."""
        path = self._path(name)
        # In some file systems the create-only mode only looks before it writes. This look makes all behave alike.
        if self._filesystem.exists(path):
            raise FileExistsError(path)
        try:
            self._put(path, data)
        except OSError:
            # Someone else wrote first, or our own put succeeded and its answer was lost. The caller compares the bytes.
            if self._filesystem.exists(path):
                raise FileExistsError(path) from None
            raise

    @contextmanager
    def draft(self, name: str) -> Iterator[RemoteDraft]:
        """A new object to write in parts. If the context ends without `publish`, the object is removed."""
        with closing(RemoteDraft(self._filesystem, self._path(name))) as draft:
            yield draft

    def _put(self, path: str, data: bytes) -> None:
        try:
            self._filesystem.pipe_file(path, data, mode="create")
        except FileNotFoundError:
            # An object store has no folders. In other file systems, the first object of a folder makes the folder.
            self._filesystem.makedirs(path.rpartition("/")[0], exist_ok=True)
            self._filesystem.pipe_file(path, data, mode="create")

    def read(self, name: str, limit: int) -> bytes:
        """The object's bytes, at most `limit` + 1. The one more byte shows the caller that it is too large."""
        data = self._filesystem.cat_file(self._object(name), start=0, end=limit + 1)
        return bytes(data)

    def chunks(self, name: str) -> Iterator[bytes]:
        with self._filesystem.open(self._object(name), "rb") as file:
            while chunk := file.read(limits.BACKUP_CHUNK_BYTES):
                yield chunk

    def remove(self, name: str) -> None:
        self._filesystem.rm_file(self._path(name))

    def _object(self, name: str) -> str:
        path = self._path(name)
        if self._filesystem.info(path)["type"] != "file":
            raise InvalidInput(f"{name} is not an object", code="kb_not_regular")
        return path

    def names(self, prefix: str) -> Iterator[str]:
        folder = self._path(prefix.rpartition("/")[0]).rstrip("/")
        self._filesystem.invalidate_cache()
        for path in self._filesystem.find(folder):
            name = str(path).removeprefix(self._root).lstrip("/")
            if name.startswith(prefix):
                yield name

    def _path(self, name: str) -> str:
        return f"{self._root}/{name}"
