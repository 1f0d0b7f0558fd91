"""IO: puts objects into a store. In the workers, only the handler of commands imports this (import contract)."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress

from cutter import limits
from cutter.domain.digests import sha256_hex
from cutter.errors import Conflict, InvalidInput, ProgrammingError
from cutter.kb.store import NOT_REGULAR, ObjectDraft, Store


def put(store: Store, name: str, data: bytes) -> str:
    """Store bytes under a free name and return their sha256. It also succeeds if the name already has the same bytes.

    Raises InvalidInput (wrong name or size), Conflict with both digests (the name has other bytes), and Unavailable.
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
    """An unfinished object of any size. `publish` makes it visible under its name. Until then nobody can read it."""

    def __init__(self, store: Store, name: str, draft: ObjectDraft) -> None:
        self._store = store
        self._name = name
        self._draft = draft
        self._digest = hashlib.sha256()
        self.size_bytes = 0

    @property
    def sha256(self) -> str:
        """The digest of the bytes written so far, 64 hex characters."""
        return self._digest.hexdigest()

    def write(self, data: bytes) -> None:
        """Append bytes. Raises Unavailable if the disk is full or the store does not answer."""
        try:
            self._draft.write(data)
        except OSError as problem:
            raise self._store.meaning(self._name, problem) from problem
        self._digest.update(data)
        self.size_bytes += len(data)

    def publish(self) -> None:
        """Give the object its name. Raises Conflict if the name is taken, and leaves the existing object unchanged."""
        try:
            self._draft.publish()
        except FileExistsError:
            raise Conflict(f"{self._name} exists: each attempt must write under a name of its own") from None
        except OSError as problem:
            raise self._store.meaning(self._name, problem) from problem


@contextmanager
def draft(store: Store, name: str) -> Iterator[Draft]:
    """Begin an object. If the context ends without `publish`, the object is removed. Raises the errors of `put`."""
    store.check(name)
    with ExitStack() as stack:
        try:
            made = stack.enter_context(store.objects.draft(name))
        except OSError as problem:
            raise store.meaning(name, problem) from problem
        yield Draft(store, name, made)


def remove(store: Store, name: str) -> None:
    """Remove an object that the caller has just put. It also succeeds if the object is absent."""
    store.check(name)
    with suppress(OSError):
        store.objects.remove(name)


def put_first(store: Store, names: Iterable[str], data: bytes) -> tuple[str, str]:
    """Store bytes under the first name that is free or has the same bytes. Return that name and the sha256.

    Raises the errors of `put`. A taken name is an error (Conflict, or InvalidInput for a link or a folder) only if
    every name is taken.
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
