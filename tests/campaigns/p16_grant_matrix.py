"""P16: every role × object × verb, probed by doing it as that role, equals the declared matrix.

    python -m tests.campaigns.p16_grant_matrix --trials 200 --seed 1 --out p16.jsonl

Every cell is one trial: the verb is really executed, in a transaction that is rolled back, and whether PostgreSQL said
`permission denied` for that very object is compared with grants.yaml. A role that nothing was granted to stands for
PUBLIC. Then `trials` cells are flipped one at a time (granted or revoked); the probe must notice each. The control arm
is a judge that reads the declaration and probes nothing; every flip fools it.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg
from psycopg import sql

from cutter.storage.roles import PUBLIC, TABLE_VERBS, Cell, declared_grants
from tests.cases.trials import Dice, Summary, command_line, write_lines
from tests.support.database import Connection, Database, own_cluster

STRANGER = "stranger"


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """What a probe needs to know of a table, or of a view, which has no key."""

    name: str
    column: str
    key: tuple[tuple[str, str], ...]

    @property
    def verbs(self) -> tuple[str, ...]:
        """What can be tried: PostgreSQL refuses another verb on these views before it looks at privileges."""
        return TABLE_VERBS if self.key else ("SELECT",)

    @property
    def identifier(self) -> sql.Identifier:
        return sql.Identifier(*self.name.split("."))


@dataclass(frozen=True, slots=True, kw_only=True)
class Function:
    """A function, and how often its arguments are null."""

    name: str
    signature: str
    types: tuple[str, ...]


@dataclass(slots=True, kw_only=True)
class Prober:
    """One database, one session a role, and a schema of its own for each role (REFERENCES needs a table)."""

    database: Database
    tables: dict[str, Table]
    functions: dict[str, Function]
    sessions: dict[str, Connection]

    def may(self, cell: Cell) -> bool:
        """Do it as that role; False when the database denied that very object."""
        session = self.sessions[cell.role]
        try:
            for statement in self._statements(cell):
                session.execute(statement)
        except psycopg.errors.InsufficientPrivilege as problem:
            return not _denies(problem, cell)
        except psycopg.Error:
            return True
        finally:
            session.rollback()
        return True

    def _statements(self, cell: Cell) -> Iterator[sql.Composed]:
        if cell.verb == "EXECUTE":
            function = self.functions[cell.object]
            # A strict function of nulls is not called at all, so texts are empty ones.
            nulls = sql.SQL(", ").join(
                sql.SQL("''::text" if kind == "text" else "null::" + kind) for kind in function.types
            )  # fmt: skip
            yield sql.SQL("select {}({})").format(sql.Identifier(*function.name.split(".")), nulls)
            return
        table = self.tables[cell.object]
        column = sql.Identifier(table.column)
        form = {
            "SELECT": "select * from {table} limit 0",
            "INSERT": "insert into {table} default values",
            "UPDATE": "update {table} set {column} = default where false",
            "DELETE": "delete from {table} where false",
            "TRUNCATE": "truncate {table}",
            "TRIGGER": "create trigger probe before insert on {table} for each row"
            " execute function suppress_redundant_updates_trigger()",
            "REFERENCES": "create table {own}.probe ({columns}, foreign key ({names}) references {table} ({names}))",
        }[cell.verb]
        yield sql.SQL(form).format(
            table=table.identifier,
            column=column,
            own=sql.Identifier(f"own_{cell.role.lower()}"),
            columns=sql.SQL(", ").join(
                sql.SQL("{} " + kind).format(sql.Identifier(name)) for name, kind in table.key
            ),
            names=sql.SQL(", ").join(sql.Identifier(name) for name, _ in table.key),
        )  # fmt: skip


def _denies(problem: psycopg.errors.InsufficientPrivilege, cell: Cell) -> bool:
    """Denied on this object itself, not on another that a function of it reached."""
    kinds = ("function",) if cell.verb == "EXECUTE" else ("table", "view")
    message = problem.diag.message_primary or ""
    return message in [f"permission denied for {kind} {cell.object.split('.')[1]}" for kind in kinds]


@contextmanager
def prober(database: Database) -> Iterator[Prober]:
    """Sessions of every role and of one to which nothing was granted but the way in."""
    password = secrets.token_hex(16)
    superuser = database.connect("postgres")
    superuser.execute(f"create role {STRANGER} login password '{password}'")
    superuser.execute(f"grant connect on database {database.name} to {STRANGER}")
    roles = [*declared_grants().roles, STRANGER]
    for role in roles:
        own = f"own_{PUBLIC.lower() if role == STRANGER else role}"
        superuser.execute(f"create schema {own} authorization {role}")
    superuser.execute(f"grant usage on schema public, cutter_governance, api to {STRANGER}")
    superuser.commit()
    sessions = {role: database.connect(role) for role in declared_grants().roles}
    address = database.address.replace("://", f"://{STRANGER}:{password}@")
    with psycopg.connect(address) as stranger:
        sessions[PUBLIC] = stranger
        yield Prober(
            database=database, tables=_tables(superuser), functions=_functions(superuser), sessions=sessions
        )  # fmt: skip


def _tables(connection: Connection) -> dict[str, Table]:
    rows = connection.execute(
        "select c.relnamespace::regnamespace || '.' || c.relname,"
        " (select a.attname from pg_attribute a where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped"
        "  order by a.attidentity = '' desc, a.attnum limit 1),"
        " (select array_agg(array[a.attname::text, format_type(a.atttypid, a.atttypmod)] order by a.attnum)"
        "  from pg_constraint k join pg_attribute a on a.attrelid = c.oid and a.attnum = any (k.conkey)"
        "  where k.conrelid = c.oid and k.contype = 'p')"
        " from pg_class c where c.relkind in ('r', 'p', 'v') and c.relnamespace = any (%s::regnamespace[])",
        (list(declared_grants().schemas),),
    ).fetchall()
    connection.rollback()
    return {name: Table(name=name, column=column, key=tuple(map(tuple, key or ()))) for name, column, key in rows}


def _functions(connection: Connection) -> dict[str, Function]:
    rows = connection.execute(
        "select p.pronamespace::regnamespace || '.' || p.proname, p.oid::regprocedure::text,"
        " (select coalesce(array_agg(t::regtype::text order by n), '{}')"
        "  from unnest(p.proargtypes::oid[]) with ordinality as a (t, n))"
        " from pg_proc p where p.pronamespace = any (%s::regnamespace[])",
        (list(declared_grants().schemas),),
    ).fetchall()
    connection.rollback()
    return {name: Function(name=name, signature=signature, types=tuple(types)) for name, signature, types in rows}


def cells(probe: Prober) -> Iterator[Cell]:
    """Every role × object × verb."""
    for role in (*declared_grants().roles, PUBLIC):
        for name in sorted(probe.tables):
            yield from (Cell(role, name, verb) for verb in probe.tables[name].verbs)
        yield from (Cell(role, name, "EXECUTE") for name in sorted(probe.functions))


def probed(probe: Prober) -> Iterator[dict[str, Any]]:
    """Every cell, as it is."""
    for cell in cells(probe):
        may, granted = probe.may(cell), cell in declared_grants().cells
        yield {"role": cell.role, "object": cell.object, "verb": cell.verb, "may": may, "declared": granted}


def flipped(probe: Prober, trials: int, seed: int) -> Iterator[dict[str, Any]]:
    """One cell changed in the database; whether the probe sees it."""
    every, dice = list(cells(probe)), Dice(seed, "flips")
    superuser = probe.database.connect("postgres", autocommit=True)
    for _ in range(trials):
        cell = dice.choose(every)
        granted = cell in declared_grants().cells
        superuser.execute(_change(probe, cell, grant=not granted))
        may = probe.may(cell)
        superuser.execute(_change(probe, cell, grant=granted))
        yield {"role": cell.role, "object": cell.object, "verb": cell.verb, "flipped_to": not granted, "seen": may}


def _change(probe: Prober, cell: Cell, *, grant: bool) -> str:
    on = f"function {probe.functions[cell.object].signature}" if cell.verb == "EXECUTE" else f"table {cell.object}"
    return f"{'grant' if grant else 'revoke'} {cell.verb} on {on} {'to' if grant else 'from'} {cell.role}"


def run(*, trials: int, seed: int, out: Path | None = None) -> Summary:
    """The whole matrix once, and the flips."""
    with own_cluster() as server, server.database() as database, prober(database) as probe:
        names = {cell.object for cell in declared_grants().cells}
        unknown = names - set(probe.tables) - set(probe.functions)
        rows, flips = list(probed(probe)), list(flipped(probe, trials, seed))
    write_lines(out, ({"seed": seed, **row} for row in (*rows, *flips)))
    wrong = [row for row in rows if row["may"] != row["declared"]]
    unseen = [row for row in flips if row["seen"] != row["flipped_to"]]
    result = Summary(
        name="P16 grant matrix",
        n=len(rows) + len(flips),
        failures=len(wrong) + len(unseen) + len(unknown),
        control=len(flips),
        control_n=len(flips),
    )
    result.counts["cells granted"] = sum(row["may"] for row in rows)
    result.counts["cells denied"] = sum(not row["may"] for row in rows)
    for row in wrong:
        result.counts[f"WRONG: {row['role']} {row['verb']} {row['object']}: may {row['may']}"] += 1
    for row in unseen:
        result.counts[f"UNSEEN: {row['role']} {row['verb']} {row['object']} flipped to {row['flipped_to']}"] += 1
    return result


if __name__ == "__main__":
    raise SystemExit(command_line(run, "P16: grant matrix", trials=200))
