"""IO: puts objects into a store. Of the workers' code the handler of commands alone imports this (import contract)."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress

from cutter import limits
from cutter.domain.digests import sha256_hex
from cutter.errors import Conflict, InvalidInput, ProgrammingError
from cutter.kb.store import NOT_REGULAR, ObjectDraft, Store


def put(store: Store, name: str, data: bytes) -> str:
    """Store bytes under a free name and return their sha256; the same bytes again are fine.

    Raises InvalidInput (name, size), Conflict (other bytes are there; names both digests), Unavailable.
    """
    store.check(name)
    if len(data) > limits.KB_OBJECT_BYTES_MAX:
        raise InvalidInput(f"{name}: {len(data)} bytes, at most {limits.KB_OBJECT_BYTES_MAX}", code="kb_too_large")
    digest = sha256_hex(data)
    try:
        store.objects.create(name, data)
    except FileExistsError:
        stored = sha256_hex(store.get(name))
        if stored != digest:
            raise Conflict(f"{name} exists with other bytes: stored sha256 {stored}, offered {digest}") from None
    except OSError as problem:
        raise store.meaning(name, problem) from problem
    return digest


class Draft:
    """An object of any size that is being written; it appears under its name whole, at `publish`, or not at all."""

    def __init__(self, store: Store, name: str, draft: ObjectDraft) -> None:
        self._store = store
        self._name = name
        self._draft = draft
        self._digest = hashlib.sha256()
        self.size_bytes = 0

    @property
    def sha256(self) -> str:
        """Digest of what was written so far, 64 hex characters."""
        return self._digest.hexdigest()

    def write(self, data: bytes) -> None:
        """Append; raises Unavailable when the disk is full or the store is unavailable."""
        try:
            self._draft.write(data)
        except OSError as problem:
            raise self._store.meaning(self._name, problem) from problem
        self._digest.update(data)
        self.size_bytes += len(data)

    def publish(self) -> None:
        """Give it its name. Raises Conflict when that name is taken; what is there is not touched."""
        try:
            self._draft.publish()
        except FileExistsError:
            raise Conflict(f"{self._name} exists: every attempt writes its own, under a name of its own") from None
        except OSError as problem:
            raise self._store.meaning(self._name, problem) from problem


@contextmanager
def draft(store: Store, name: str) -> Iterator[Draft]:
    """Begin an object; leaving the context without `publish` removes what was written. Raises what `put` raises."""
    store.check(name)
    with ExitStack() as stack:
        try:
            made = stack.enter_context(store.objects.draft(name))
        except OSError as problem:
            raise store.meaning(name, problem) from problem
        yield Draft(store, name, made)


def remove(store: Store, name: str) -> None:
    """Take back what the caller has just put; absence is fine."""
    store.check(name)
    with suppress(OSError):
        store.objects.remove(name)


def put_first(store: Store, names: Iterable[str], data: bytes) -> tuple[str, str]:
    """Store bytes under the first of the names that holds nothing else; that name and the sha256.

    Raises what `put` raises; Conflict or InvalidInput only when every name is taken.
    """
    taken: Conflict | InvalidInput | None = None
    for name in names:
        try:
            return name, put(store, name, data)
        except Conflict as problem:
            taken = problem
        except InvalidInput as problem:
            if problem.code != NOT_REGULAR:
                raise
            taken = problem
    raise taken or ProgrammingError("no name was given")
