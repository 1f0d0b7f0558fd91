"""IO: what a role can spend time on with nothing but its password: one kind of noise at a time, in threads (for P29).

Each kind repeats its statements until it is told to end, counts them, and counts those that PostgreSQL refused. What a
statement may do is PostgreSQL's to decide: no kind looks at what the role has been granted.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any, LiteralString

import psycopg

Connection = psycopg.Connection[tuple[Any, ...]]

PAUSE_SECONDS = 0.02
"""Between two rounds, so that a round that is refused at once does not take the test's own processor."""

CONNECTIONS = 300
"""More than any server of the tests has."""


@dataclass(slots=True, kw_only=True)
class Noise:
    """One kind by one role on one database."""

    url: str
    role: str
    ended: threading.Event = field(default_factory=threading.Event)
    begun: threading.Event = field(default_factory=threading.Event)
    counts: Counter[str] = field(default_factory=Counter)
    open: list[Connection] = field(default_factory=list)

    def connect(self, *, autocommit: bool = True) -> Connection:
        """A session without the product's timeouts."""
        made: Connection = psycopg.connect(self.url, autocommit=autocommit, connect_timeout=5)
        self.open.append(made)
        for name in ("statement_timeout", "transaction_timeout", "idle_in_transaction_session_timeout"):
            made.execute(f"set {name} = 0".encode())
        return made

    def say(self, connection: Connection, statement: LiteralString) -> None:
        """Execute it; a refusal or a failure is only counted."""
        try:
            connection.execute(statement)
            self.counts["done"] += 1
        except psycopg.errors.InsufficientPrivilege:
            self.counts["refused"] += 1
            connection.rollback()
        except psycopg.Error:
            self.counts["failed"] += 1
            if not connection.closed:
                connection.rollback()

    def round_over(self) -> bool:
        """Say that a round is over; True when there is to be another."""
        self.begun.set()
        return not self.ended.wait(PAUSE_SECONDS)


NOTIFY: LiteralString = (
    "do $$ begin for n in 1 .. 2000 loop execute format('notify mine, %L', n || repeat('x', 7000)); end loop; end $$"
)
LANES: tuple[LiteralString, ...] = (
    "select pg_advisory_lock(hashtext('cutter.write_lane'))",
    "select pg_advisory_lock(hashtext('cutter.enact_lane'))",
    "select pg_advisory_lock(hashtext('cutter.policy_epoch'))",
    "select pg_advisory_lock_shared(hashtext('cutter.definitions'))",
)
TABLES: tuple[LiteralString, ...] = (
    "cutter_governance.lane", "cutter_governance.run", "cutter_governance.stop_latch", "cutter_governance.audit_head",
    "cutter_governance.review_decision", "cutter_governance.gate_receipt", "public.information_unit",
)  # fmt: skip
SETTINGS: tuple[LiteralString, ...] = (
    "application_name = 'hello'", "work_mem = '64MB'", "statement_timeout = '1ms'", "lock_timeout = '1ms'",
)  # fmt: skip
DANGEROUS: tuple[LiteralString, ...] = (
    "search_path = mine",
    "default_transaction_read_only = on",
    "row_security = off",
)
"""What drift would rightly name, were the role one that writes units."""


def locks(noise: Noise) -> None:
    """Hold every lock that the product ever had a name for."""
    connection = noise.connect()
    while True:
        for statement in LANES:
            noise.say(connection, statement)
        if not noise.round_over():
            return


def rows(noise: Noise) -> None:
    """Hold rows and tables of the product in a transaction that stays open."""
    held = [noise.connect(autocommit=False) for _ in range(3)]
    while True:
        for table in TABLES:
            for connection, form in zip(held, ("for update nowait", "for key share nowait", ""), strict=True):
                lock: LiteralString = f"lock table {table} in row exclusive mode nowait"
                noise.say(connection, f"select from {table} {form}" if form else lock)
                if form:
                    noise.say(connection, f"lock table {table} in access share mode nowait")
        if not noise.round_over():
            return


def connections(noise: Noise) -> None:
    """Open what can be had, and keep it."""
    while True:
        with suppress(psycopg.OperationalError):
            while len(noise.open) < CONNECTIONS and not noise.ended.is_set():
                noise.connect()
                noise.counts["done"] += 1
        noise.counts["refused"] += 1
        if not noise.round_over():
            return


def objects(noise: Noise) -> None:
    """Fill the disk: large objects, messages in the log."""
    connection = noise.connect()
    while True:
        noise.say(connection, "select lo_from_bytea(0, convert_to(repeat('x', 1000000), 'UTF8'))")
        noise.say(connection, "select pg_logical_emit_message(false, 'x', repeat('x', 1000000))")
        noise.say(connection, "create temporary table t as select repeat('x', 1000) from generate_series(1, 10000)")
        if not noise.round_over():
            return


def files(noise: Noise) -> None:
    """Fill the disk: a sort that does not fit in memory."""
    connection = noise.connect()
    noise.say(connection, "set work_mem = '64kB'")
    noise.say(connection, "set temp_file_limit = -1")
    while True:
        noise.say(connection, "select count(*) from (select repeat('x', 1000) || n as t from"
                              " generate_series(1, 300000) as n order by 1 offset 0) as sorted")  # fmt: skip
        if not noise.round_over():
            return


def notifications(noise: Noise) -> None:
    """Fill the queue of notifications while a session of one's own never reads it."""
    listening = noise.connect()
    listening.execute("listen mine")
    listening.execute("begin")
    listening.execute("select 1")
    connection = noise.connect()
    while True:
        noise.say(connection, "select pg_notify('mine', 'x')")
        noise.say(connection, NOTIFY)
        if not noise.round_over():
            return


def settings(noise: Noise) -> None:
    """Change one's own settings, for everywhere and here."""
    connection = noise.connect()
    chosen = SETTINGS if noise.role == "cutter_exec" else (*SETTINGS, *DANGEROUS)
    here = f"in database {connection.info.dbname} "
    while True:
        for where in ("", here):
            for setting in chosen:
                noise.say(connection, f"alter role {noise.role} {where}set {setting}")  # type: ignore[arg-type]
        if not noise.round_over():
            break
    for where in ("", here):
        # `reset all` keeps what only the superuser may set
        noise.say(connection, f"alter role {noise.role} {where}reset all")  # type: ignore[arg-type]


def statements(noise: Noise) -> None:
    """Long statements, two at a time."""

    def work(connection: Connection) -> None:
        while not noise.ended.is_set():
            noise.say(connection, "select count(*) from generate_series(1, 20000000)")

    threads = [threading.Thread(target=work, args=(noise.connect(),)) for _ in range(2)]
    for thread in threads:
        thread.start()
    while noise.round_over():
        pass
    for connection in noise.open:
        connection.cancel_safe(timeout=5)
    for thread in threads:
        thread.join()


KINDS: dict[str, Callable[[Noise], None]] = {
    kind.__name__: kind for kind in (locks, rows, connections, objects, files, notifications, settings, statements)
}


@contextmanager
def noisy(url: str, role: str, kind: str) -> Iterator[Noise]:
    """That noise, from its first round until the block ends."""
    noise = Noise(url=url, role=role)

    def make() -> None:
        try:
            KINDS[kind](noise)
        except psycopg.Error:
            noise.counts["gave up"] += 1
        finally:
            noise.begun.set()

    thread = threading.Thread(target=make, name=f"{role} {kind}")
    thread.start()
    try:
        noise.begun.wait()
        yield noise
    finally:
        noise.ended.set()
        thread.join()
        for connection in noise.open:
            connection.close()
