"""IO: what the pages of `cutter desk` read with: the settings, and connections of a role that cannot write."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from psycopg import IsolationLevel
from starlette.requests import Request

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
            # A statement of a page; a search over all laws took less than a second.
            connection.execute("set local statement_timeout = '20s'")
            yield connection


def open_reader(settings: Settings) -> Reader:
    """A reader with its own pool of connections."""
    # Database connections of one `cutter desk`: its pages are short, and the role has at least five.
    return Reader(settings=settings, pool=open_pool(settings, Role.DESK, size=4))


def reader_of(request: Request) -> Reader:
    """The reader of the application that answers the request."""
    reader: Reader = request.app.state.reader
    return reader
