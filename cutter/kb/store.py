"""IO: reads the store of documents and the store of artifacts (spec 00 "Storage of documents").

`cutter.kb.write_once` writes them. A store is write-once: it accepts the same bytes under a name again and refuses
other bytes. The id rule and the way of opening confine each name to the store. A failure of the environment raises
`Unavailable`, so the caller may try again.
"""

from __future__ import annotations

import errno
from collections.abc import Iterator
from contextlib import AbstractContextManager, suppress
from pathlib import Path
from typing import Protocol

from fsspec.core import url_to_fs

from cutter import limits
from cutter.domain.digests import canonical_digest, sha256_hex
from cutter.errors import InvalidInput, NotFound, Unavailable
from cutter.kb.ids import IdRule, document_id_rule, signature_of
from cutter.kb.objects import LocalFolder, RemoteFolder

NOT_REGULAR = "kb_not_regular"
"""The error code for a name that holds a link, a folder or anything else that is not a regular object."""

_FULL = {errno.ENOSPC, errno.EDQUOT}
_LINK_OR_FILE_IN_THE_WAY = {errno.ELOOP, errno.ENOTDIR, errno.EISDIR}


class ObjectDraft(Protocol):
    def write(self, data: bytes) -> None: ...
    def publish(self) -> None: ...


class _Objects(Protocol):
    def create(self, name: str, data: bytes) -> None: ...
    def draft(self, name: str) -> AbstractContextManager[ObjectDraft]: ...
    def read(self, name: str, limit: int) -> bytes: ...
    def chunks(self, name: str) -> Iterator[bytes]: ...
    def remove(self, name: str) -> None: ...
    def names(self, prefix: str) -> Iterator[str]: ...


class Store:
    """Reads a write-once store at an fsspec URL.

    `id_rule` is the rule for the names that it accepts (`cutter.kb.ids`). `what` is its name in errors (`kb`,
    `artifacts`). If `private` is true, only our own account can read new objects of a local store. The constructor
    makes a missing local root. If the root disappears later, that is an outage: a person must bring it back, because a
    new root would be empty.
    """

    def __init__(
        self, url: str, *, id_rule: IdRule = document_id_rule, what: str = "kb", private: bool = False
    ) -> None:
        self.url = url
        self.check = id_rule
        self._what = what
        try:
            filesystem, path = url_to_fs(url, use_listings_cache=False) if "://" in url else url_to_fs(url)
            protocol = filesystem.protocol
            local = "file" in ((protocol,) if isinstance(protocol, str) else protocol)
            self.objects: _Objects = (
                LocalFolder(Path(path), private=private) if local else RemoteFolder(filesystem, path)
            )
        except (OSError, ImportError, ValueError) as problem:
            raise self._away(problem) from problem

    def get(self, name: str, *, limit: int = limits.KB_OBJECT_BYTES_MAX) -> bytes:
        """The bytes under a name. Raises NotFound, Unavailable, and InvalidInput (name, size, no regular object)."""
        self.check(name)
        try:
            data = self.objects.read(name, limit)
        except OSError as problem:
            raise self.meaning(name, problem) from problem
        if len(data) > limit:
            raise InvalidInput(f"{name} is larger than {limit} bytes", code="kb_too_large")
        return data

    def chunks(self, name: str) -> Iterator[bytes]:
        """The bytes of an object of any size, in parts. Raises the errors of `get`."""
        self.check(name)
        try:
            yield from self.objects.chunks(name)
        except OSError as problem:
            raise self.meaning(name, problem) from problem

    def exists(self, name: str) -> bool:
        """True if the name holds a regular object."""
        self.check(name)
        try:
            self.objects.read(name, 0)
        except OSError as problem:
            meaning = self.meaning(name, problem)
            if isinstance(meaning, NotFound):
                return False
            raise meaning from problem
        return True

    def taken(self, name: str) -> bool:
        """True if the name holds anything: an object, a link or a folder."""
        try:
            return self.exists(name)
        except InvalidInput as problem:
            if problem.code != NOT_REGULAR:
                raise
            return True

    def list(self, prefix: str) -> list[str]:
        """The sorted names that begin with `prefix` (a folder's prefix ends with '/') and that the id rule accepts."""
        names = []
        try:
            for name in self.objects.names(prefix):
                with suppress(InvalidInput):
                    names.append(self.check(name))
        except OSError as problem:
            raise self.meaning(prefix, problem) from problem
        return sorted(names)

    def meaning(self, name: str, problem: OSError) -> Exception:
        """Translate a failure of the file system into an error of cutter."""
        if isinstance(self.objects, LocalFolder) and not self.objects.root.is_dir():
            return self._away(problem)
        if isinstance(problem, FileNotFoundError):
            return NotFound(f"no {name} in {self.url}", code="kb_not_found")
        if problem.errno in _LINK_OR_FILE_IN_THE_WAY or isinstance(problem, IsADirectoryError | NotADirectoryError):
            return InvalidInput(f"{name} passes a link, or is not a regular object", code=NOT_REGULAR)
        return self._away(problem)

    def _away(self, problem: BaseException) -> Unavailable:
        detail = getattr(problem, "strerror", None) or str(problem) or type(problem).__name__
        remedy = "make room" if getattr(problem, "errno", None) in _FULL else "bring it back"
        return Unavailable(f"the {self._what} at {self.url} does not answer ({detail}); {remedy}", what=self._what)


def set_names(store: Store, folder: str) -> list[str]:
    """The KB ids of the statements of a set. A document of the folder counts if it has a signature."""
    names = store.list(f"{folder.rstrip('/')}/")
    if len(names) > limits.SET_FILES_MAX:
        raise InvalidInput(f"{folder} has {len(names)} files, and may have {limits.SET_FILES_MAX}")
    signed = set(names)
    return [name for name in names if name.endswith(".md") and signature_of(name) in signed]


def listing_sha256(store: Store, names: list[str]) -> str:
    """The digest of a set, over the canonical JSON of {KB id: sha256 of the statement}."""
    return canonical_digest({name: sha256_hex(store.get(name)) for name in names})
