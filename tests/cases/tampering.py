"""Kinds of tampering with a governed database (tampering.sql), each with the dimension that a survey must name.

A statement on a guarded table is executed with that table's triggers off and put back as they were, so that nothing
but the tampering itself is left to see.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.support.database import Connection

_BLOCK = re.compile(r"^-- kind: (?P<name>.+)\n(?P<heads>(?:-- \w+: .+\n)*)(?P<body>(?:(?!-- ).*\n?)*)", re.MULTILINE)
_HEAD = re.compile(r"^-- (\w+): (.+)$", re.MULTILINE)

SEED_SURVEY = """
    select (select count(*) from public.information_unit u
            where u.canonical_address like %s || '/%%' and u.deleted_at is null),
        (select array_agg(md5(prosrc) order by oid) from pg_proc where pronamespace = 'public'::regnamespace
            and proname in ('fn_iu_create', 'fn_iu_enact', 'fn_iu_apply_edit_draft')),
        (select count(*) from cutter_governance.review_decision where run_id = %s)
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tampering:
    """One kind: what is executed, on which guarded table, what undoes what is not in the database (roles).

    `at` is `revision` if the tampered run must be a revision.
    """

    name: str
    dimension: str
    statements: str
    table: str | None = None
    undo: str = ""
    at: str = ""

    def apply(self, connection: Connection, *, prefix: str, run: str) -> None:
        """Execute it; the caller commits."""
        text = self.statements.replace("{prefix}", prefix).replace("{run}", run)
        with quiet(connection, self.table):
            connection.execute(text)


def _kinds() -> Iterator[Tampering]:
    text = Path(__file__).with_suffix(".sql").read_text(encoding="utf-8")
    for block in _BLOCK.finditer(text):
        heads = dict(_HEAD.findall(block["heads"]))
        yield Tampering(name=block["name"], statements=block["body"].strip(), **heads)


KINDS = tuple(_kinds())


@contextmanager
def quiet(connection: Connection, table: str | None) -> Iterator[None]:
    """The table's own triggers are off meanwhile."""
    if table is None:
        yield
        return
    states = connection.execute(
        "select tgname, tgenabled from pg_trigger where tgrelid = %s::regclass and not tgisinternal", (table,)
    ).fetchall()
    connection.execute(f"alter table {table} disable trigger user")
    yield
    # What the statement queued would else be in the way of ALTER TABLE.
    connection.execute("set constraints all immediate")
    words = {"O": "enable", "A": "enable always", "R": "enable replica", "D": "disable"}
    changes = ", ".join(f"{words[state]} trigger {name}" for name, state in states)
    connection.execute(f"alter table {table} {changes}")


def seed_sees(connection: Connection, prefix: str, run: str) -> tuple[Any, ...]:
    """The control arm's survey: the seed's three dimensions alone (rows, md5 of three functions, decisions)."""
    row = connection.execute(SEED_SURVEY, (prefix, run)).fetchone()
    assert row is not None
    return row
