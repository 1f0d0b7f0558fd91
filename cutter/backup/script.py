"""Pure: reads the data script of `pg_restore --section=data` into loads of the nine tables.

pg_restore only writes the archive as text, and cutter loads the text over its own connection. This has three reasons:

- Lock, load, comparison and rollback are one transaction. A killed worker leaves nothing, and no orphan still writes.
- cutter gets the SQLSTATE of an error and does not have to read its message.
- PostgreSQL executes nothing from an archive. This matters because an artifact is encrypted but not signed, so everyone
  who has the public key can make one.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass

from cutter import limits
from cutter.backup.tables import BACKUP_TABLES


class ScriptRefused(ValueError):
    """The archive has something that is not a row of the nine tables, or it ends too early."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Load:
    """The start of the rows of one table. The names have no quotes."""

    table: str
    columns: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rows:
    """Whole lines of PostgreSQL's COPY text format."""

    data: bytes


Event = Load | Rows

_IDENTIFIER = r'(?:[a-z_][a-z0-9_]*|"[a-z_][a-z0-9_]*")'
_LOAD = re.compile(rf"COPY ({_IDENTIFIER}\.{_IDENTIFIER}) \(({_IDENTIFIER}(?:, {_IDENTIFIER})*)\) FROM stdin;")
_NOISE = re.compile(
    r"|--.*"
    r"|SET [a-z_]+ = [^;]*;"
    r"|SELECT pg_catalog\.set_config\('search_path', '', false\);"
    # This call is not needed, because the caller lets identity columns continue after their highest value.
    r"|SELECT pg_catalog\.setval\([^;]*\);"
    r"|\\(?:un)?restrict \w+"
)
_END = b"\\."


def events(chunks: Iterable[bytes], tables: Collection[str] = BACKUP_TABLES) -> Iterator[Event]:
    """The loads of the script, in order. Raises ScriptRefused for an unknown line or a repeated or missing table."""
    open_load, loaded_tables = False, set[str]()
    for lines in _whole_lines(chunks):
        rows: list[bytes] = []
        for line in lines:
            if open_load and line != _END:
                rows.append(line)
                continue
            if rows:
                yield Rows(data=_joined(rows))
                rows = []
            if open_load:
                open_load = False
                continue
            event = _event(line, tables)
            if isinstance(event, Load):
                if event.table in loaded_tables:
                    raise ScriptRefused(f"{event.table} is duplicated in the archive")
                loaded_tables.add(event.table)
                open_load = True
            if event is not None:
                yield event
        if rows:
            yield Rows(data=_joined(rows))
    if open_load:
        raise ScriptRefused("the archive ends within a table")
    if missing := sorted(set(tables) - loaded_tables):
        raise ScriptRefused(f"the archive holds no data entry for {missing[0]}")


def _event(line: bytes, tables: Collection[str]) -> Event | None:
    try:
        text = line.decode("ascii")
    except UnicodeDecodeError:
        raise ScriptRefused("a line outside the data is not ASCII") from None
    if _NOISE.fullmatch(text):
        return None
    if load := _LOAD.fullmatch(text):
        table = load[1].replace('"', "")
        if table not in tables:
            raise ScriptRefused(f"the archive loads {table}, which is not one of the backed-up tables")
        return Load(table=table, columns=tuple(load[2].replace('"', "").split(", ")))
    raise ScriptRefused("the archive holds a statement that does not load one of the backed-up tables")


def _joined(rows: list[bytes]) -> bytes:
    return b"\n".join(rows) + b"\n"


def _whole_lines(chunks: Iterable[bytes]) -> Iterator[list[bytes]]:
    """The lines that each chunk completes. The time is linear even if one line spans many chunks."""
    pieces: list[bytes] = []
    held = 0
    for chunk in chunks:
        first, *rest = chunk.split(b"\n")
        pieces.append(first)
        held += len(first)
        if held > limits.BACKUP_LINE_BYTES_MAX:
            raise ScriptRefused(f"a row is longer than {limits.BACKUP_LINE_BYTES_MAX} bytes")
        if rest:
            yield [b"".join(pieces), *rest[:-1]]
            pieces, held = [rest[-1]], len(rest[-1])
    if held:
        raise ScriptRefused("the archive ends within a line")
