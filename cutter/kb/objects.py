"""IO: the write-once objects of a store: in a `file://` folder, or at any other fsspec URL (`s3://…`, `memory://…`).

A local path is opened part by part from the root, with O_NOFOLLOW. So no link leads out of the store, even if someone
replaces a folder by a link at the same moment. link(2) gives an object its name: it is atomic and refuses an existing
name. Before that, the object has a name with a leading dot, which no id rule accepts.

A remote put uses the file system's create-only mode. An object store performs it atomically, as a conditional put. So
an object is whole or absent, and is never replaced.
"""

from __future__ import annotations

import os
import stat
import uuid
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any

from cutter import limits
from cutter.errors import InvalidInput

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_CHUNK = 1 << 20
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


class LocalDraft:
    """An unfinished object. `publish` gives it its name."""

    def __init__(self, folder: int, name: str, mode: int) -> None:
        self._folder = folder
        self._name = name
        self._temporary = f".part-{uuid.uuid4().hex}"
        self._file = os.fdopen(os.open(self._temporary, _NEW, mode, dir_fd=folder), "wb")

    def write(self, data: bytes) -> None:
        self._file.write(data)

    def publish(self) -> None:
        """Make the whole object visible and durable. Raises FileExistsError if the name is taken."""
        self._file.flush()
        os.fsync(self._file.fileno())
        os.link(
            self._temporary, self._name, src_dir_fd=self._folder, dst_dir_fd=self._folder, follow_symlinks=False
        )  # fmt: skip
        os.unlink(self._temporary, dir_fd=self._folder)
        os.fsync(self._folder)

    def close(self) -> None:
        """Remove the object if it is not published. Closing writes buffered bytes, so on a full disk it fails again."""
        with suppress(OSError):
            self._file.close()
        with suppress(OSError):
            os.unlink(self._temporary, dir_fd=self._folder)


class LocalFolder:
    """The objects in one folder. `Store` translates each OSError. `private`: only our own account reads new ones."""

    def __init__(self, root: Path, *, private: bool = False) -> None:
        self.root = root
        self._folder_mode, self._file_mode = (0o700, 0o600) if private else (0o755, 0o644)
        root.mkdir(parents=True, exist_ok=True)

    def create(self, name: str, data: bytes) -> None:
        """Write a whole object durably under a free name. Raises FileExistsError if the name is taken."""
        with self.draft(name) as draft:
            draft.write(data)
            draft.publish()

    @contextmanager
    def draft(self, name: str) -> Iterator[LocalDraft]:
        """A new object to write in parts. If the context ends without `publish`, the object is removed."""
        *folders, last = name.split("/")
        with self._folder(folders, make=True) as folder, closing(LocalDraft(folder, last, self._file_mode)) as draft:
            yield draft

    def read(self, name: str, limit: int) -> bytes:
        """The bytes of a regular file, at most `limit` + 1. The one more byte shows the caller that it is too large."""
        parts, left = [], limit + 1
        with self._open(name) as handle:
            while left > 0 and (part := os.read(handle, min(left, _CHUNK))):
                parts.append(part)
                left -= len(part)
        return b"".join(parts)

    def chunks(self, name: str) -> Iterator[bytes]:
        with self._open(name) as handle:
            while part := os.read(handle, _CHUNK):
                yield part

    def remove(self, name: str) -> None:
        *folders, last = name.split("/")
        with self._folder(folders) as folder:
            os.unlink(last, dir_fd=folder)

    @contextmanager
    def _open(self, name: str) -> Iterator[int]:
        *folders, last = name.split("/")
        with self._folder(folders) as folder:
            handle = os.open(last, _FILE, dir_fd=folder)
        try:
            if not stat.S_ISREG(os.fstat(handle).st_mode):
                raise InvalidInput(f"{name} is not a regular file", code="kb_not_regular")
            yield handle
        finally:
            os.close(handle)

    def names(self, prefix: str) -> Iterator[str]:
        """The names of regular files that begin with `prefix`, without links. Unfinished objects have other names."""
        folders = prefix.split("/")[:-1]
        start = "/".join(folders)
        # The root is opened on its own. A missing root is an outage, not an empty folder, so its error must pass.
        with self._folder([]), suppress(FileNotFoundError), self._folder(folders) as folder:
            yield from (name for name in _walk(folder, f"{start}/" if start else "") if name.startswith(prefix))

    @contextmanager
    def _folder(self, parts: list[str], *, make: bool = False) -> Iterator[int]:
        handle = os.open(self.root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            for part in parts:
                if make:
                    with suppress(FileExistsError):
                        os.mkdir(part, self._folder_mode, dir_fd=handle)
                        os.fsync(handle)
                inner = os.open(part, _FOLDER, dir_fd=handle)
                os.close(handle)
                handle = inner
            yield handle
        finally:
            os.close(handle)


def _walk(folder: int, path: str) -> Iterator[str]:
    with os.scandir(folder) as entries:
        listed = sorted(entries, key=lambda entry: entry.name)
    for entry in listed:
        if entry.is_file(follow_symlinks=False):
            yield path + entry.name
        elif entry.is_dir(follow_symlinks=False):
            with suppress(FileNotFoundError):
                inner = os.open(entry.name, _FOLDER, dir_fd=folder)
                try:
                    yield from _walk(inner, f"{path}{entry.name}/")
                finally:
                    os.close(inner)


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
    """The objects under one path of an fsspec file system. `Store` translates each OSError."""

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
