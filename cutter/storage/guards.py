"""IO: the functions of PostgreSQL itself that no role may call, and the connections that all roles share."""

from __future__ import annotations

from dataclasses import dataclass

from cutter.storage.records import Rows, records, values


@dataclass(frozen=True, slots=True, kw_only=True)
class GuardedFunction:
    """A function with its argument types, and whether every role may call it."""

    function: str
    open_to_all: bool


GUARDED = records("guarded_functions", GuardedFunction)
CONNECTIONS: Rows[int] = values("connections_there")
