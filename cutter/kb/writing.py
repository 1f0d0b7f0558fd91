"""IO: puts objects into a store. Of the workers' code the handler of commands alone imports this (import contract)."""

from __future__ import annotations

from collections.abc import Iterable

from cutter import limits
from cutter.domain.digests import sha256_hex
from cutter.errors import Conflict, InvalidInput, ProgrammingError
from cutter.kb.store import NOT_REGULAR, Store


def put(store: Store, name: str, data: bytes) -> str:
    """Store bytes under a free name and return their sha256; the same bytes again are fine.

    Raises InvalidInput (name, size), Conflict (other bytes stand there; names both digests), Unavailable.
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
