"""IO: the write-once folder behind a `file://` store.

Every name is walked from the root part by part with O_NOFOLLOW, so no link inside the store leads anywhere, also when
someone changes a folder into a link while we look. An object becomes visible by link(2), which is atomic and refuses an
existing name; until then it has a dotted name that no id rule accepts.
"""

from __future__ import annotations

import os
import stat
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from cutter.errors import InvalidInput

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


class LocalFolder:
    """Objects under one folder. Raises OSError as it comes; `Store` gives it its meaning."""

    def __init__(self, root: Path) -> None:
        self.root = root
        root.mkdir(parents=True, exist_ok=True)

    def create(self, name: str, data: bytes) -> None:
        """Write a whole object under a free name, durably; FileExistsError when the name is taken."""
        *folders, last = name.split("/")
        with self._folder(folders, make=True) as folder:
            temporary = f".part-{uuid.uuid4().hex}"
            try:
                self._write(folder, temporary, data)
                os.link(temporary, last, src_dir_fd=folder, dst_dir_fd=folder, follow_symlinks=False)
            finally:
                with suppress(FileNotFoundError):
                    os.unlink(temporary, dir_fd=folder)
            os.fsync(folder)

    def read(self, name: str, limit: int) -> bytes:
        """The bytes of a regular file, at most `limit` and one more, so that the caller sees that it is too large."""
        *folders, last = name.split("/")
        with self._folder(folders) as folder:
            handle = os.open(last, _FILE, dir_fd=folder)
            with os.fdopen(handle, "rb", buffering=0) as file:
                if not stat.S_ISREG(os.fstat(handle).st_mode):
                    raise InvalidInput(f"{name} is not a regular file", code="kb_not_regular")
                return _read_up_to(file.fileno(), limit + 1)

    def names(self, prefix: str) -> Iterator[str]:
        """Names of regular files that begin with `prefix`; links and objects under construction are not listed."""
        folders = prefix.split("/")[:-1]
        start = "/".join(folders)
        # Opened apart from what is in it: a root that is away for a moment is an outage and no empty folder.
        with self._folder([]), suppress(FileNotFoundError), self._folder(folders) as folder:
            yield from (name for name in _walk(folder, f"{start}/" if start else "") if name.startswith(prefix))

    @contextmanager
    def _folder(self, parts: list[str], *, make: bool = False) -> Iterator[int]:
        handle = os.open(self.root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            for part in parts:
                inner = _enter(handle, part, make=make)
                os.close(handle)
                handle = inner
            yield handle
        finally:
            os.close(handle)

    @staticmethod
    def _write(folder: int, name: str, data: bytes) -> None:
        handle = os.open(name, _NEW, 0o644, dir_fd=folder)
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(handle)


def _enter(parent: int, part: str, *, make: bool) -> int:
    if make:
        try:
            os.mkdir(part, 0o755, dir_fd=parent)
        except FileExistsError:
            pass
        else:
            os.fsync(parent)
    return os.open(part, _FOLDER, dir_fd=parent)


def _read_up_to(handle: int, size: int) -> bytes:
    parts: list[bytes] = []
    while size > 0 and (part := os.read(handle, min(size, 1 << 20))):
        parts.append(part)
        size -= len(part)
    return b"".join(parts)


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
