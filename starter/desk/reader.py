"""IO: what the pages of `cutter desk` read with: the settings, and connections of a role that cannot write."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from psycopg import IsolationLevel
from starlette.requests import Request

from cutter import limits
from cutter.catalogue import Role
from cutter.settings import Settings
from cutter.storage.faults import translated
from cutter.storage.pools import Connection, Pool, open_pool


@dataclass(frozen=True, slots=True, kw_only=True)
class Reader:
    """Opens read-only transactions, each of one moment."""

    settings: Settings
    pool: Pool

    @contextmanager
    def moment(self) -> Iterator[Connection]:
        """A connection on which every statement sees the same moment and none can write."""
        with translated(), self.pool.connection() as connection:
            connection.read_only = True
            connection.isolation_level = IsolationLevel.REPEATABLE_READ
            connection.execute(f"set local statement_timeout = '{limits.DESK_STATEMENT_SECONDS}s'")
            yield connection


def open_reader(settings: Settings) -> Reader:
    """A reader with its own pool of connections."""
    return Reader(settings=settings, pool=open_pool(settings, Role.DESK, size=limits.DESK_CONNECTIONS))


def reader_of(request: Request) -> Reader:
    """The reader of the application that answers the request."""
    reader: Reader = request.app.state.reader
    return reader
