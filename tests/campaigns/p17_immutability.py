"""P17: no role but the owner and the superuser changes an enacted row, a version, a receipt or an audit event.

The law was revised, so that there are versions in force and ended ones, and a chain of two enactments.

    python -m tests.campaigns.p17_immutability --trials 10000 --seed 1 --out p17.jsonl

A trial is one route (routes.sql) to one protected table as one role, committed if it can be. What counts is not the
answer but the content: a digest of every protected row before and after. A route that names something that is not
there tries nothing, and fails the campaign too. The control arm takes the same routes on a copy without triggers whose
roles were granted everything; many must succeed there.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg

from tests.cases.trials import Dice, Summary, command_line, write_lines
from tests.support.database import ROLES, Connection, Database, own_cluster
from tests.support.gate_calls import one
from tests.support.revisions import revision_stage
from tests.support.runs import Stage, keyring

_BLOCK = re.compile(r"^-- route: (.+)\n((?:(?!-- ).+\n?)+)", re.MULTILINE)
ROUTES: dict[str, str] = {
    name: body.strip()
    for name, body in _BLOCK.findall(Path(__file__).with_name("routes.sql").read_text(encoding="utf-8"))
}

COLUMNS = {
    "public.information_unit": "owner_ref",
    "public.unit_version": "body",
    "public.enactment": "operation_kind",
    "cutter_governance.revision_row": "operation",
    "public.iu_lifecycle_log": "actor",
    "public.source_snapshot": "bytes",
    "public.source_version": "profile_body",
    "cutter_governance.gate_receipt": "payload_sha256",
    "cutter_governance.audit_event": "body",
    "cutter_governance.approval_consumption": "approver",
    "cutter_governance.approval_verdict": "reason",
    "cutter_governance.review_decision": "actor",
    "cutter_governance.cut_change_set": "emitted_by",
    "cutter_governance.cut_change_set_affected_row": "operation",
    "cutter_governance.dot_pair_signature": "payload",
    "cutter_governance.verify_result": "verdict",
    "cutter_governance.manifest_unit_block": "source_span",
    "cutter_governance.policy_epoch": "body",
    "cutter_governance.action_receipt": "payload_sha256",
}
"""Protected table → a column that a route rewrites."""

CONTROL_SHARE = 10
CONTROL_MIN = 60
"""Only one in ten routes changes a row even without the guards."""


STALE = frozenset({"42601", "42703", "42883", "42P01"})
"""A syntax error, or a column, function or table that is not there: such a route tries nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """What the routes' words stand for."""

    run: str
    unit: str

    def statements(self, route: str, table: str, conflict: str) -> list[str]:
        """The route's statements for one table. A body in quotes holds no `; `."""
        values = {"table": table, "column": COLUMNS[table], "conflict": conflict, "run": self.run, "unit": self.unit}
        text = re.sub(r"\{(\w+)\}", lambda match: values.get(match[1], match[0]), ROUTES[route])
        return [text] if text.startswith("do ") else re.split(r";\s+(?!end)", text)


@dataclass(slots=True, kw_only=True)
class Field:
    """One copy of a finished revision, with an eye on its content."""

    database: Database
    target: Target
    eye: Connection
    keys: dict[str, str]
    sessions: dict[str, Connection]

    def content(self) -> str:
        """A digest over every row of every protected table; 'gone' when one cannot be read."""
        parts = " || ".join(f"(select coalesce(md5(string_agg(t::text, ',' order by t::text)), '') from {table} t)"
                            for table in COLUMNS)  # fmt: skip
        try:
            return str(one(self.eye, f"select md5({parts})"))
        except psycopg.Error:
            return "gone"
        finally:
            self.eye.rollback()

    def attempt(self, role: str, route: str, table: str) -> str:
        """Try to execute and to commit; what the database said."""
        session = self.sessions.get(role)
        if session is None or session.closed:
            session = self.sessions[role] = self.database.connect(role)
            # A route deallocates every prepared statement, and psycopg would go on to use its own.
            session.prepare_threshold = None
        try:
            for statement in self.target.statements(route, table, self.keys[table]):
                session.execute(statement)
            session.commit()
        except psycopg.Error as problem:
            session.rollback()
            return problem.sqlstate or type(problem).__name__
        finally:
            self._reset(role, session)
        return "committed"

    def _reset(self, role: str, session: Connection) -> None:
        for statement in ("reset session authorization", "reset role", "reset all", "deallocate all"):
            session.execute(statement)
        session.commit()
        if session.info.user != role:
            raise AssertionError("a session is no longer its own role's")


def field(at: Stage, database: Database, *, guarded: bool) -> Field:
    """A copy to try on; unguarded: no triggers, everything granted."""
    superuser = database.connect("postgres")
    if not guarded:
        for table in COLUMNS:
            superuser.execute(f"alter table {table} disable trigger user")
        for schema in ("public", "cutter_governance"):
            superuser.execute(f"grant all on all tables in schema {schema} to {', '.join(ROLES)}")
            superuser.execute(f"grant usage on all sequences in schema {schema} to {', '.join(ROLES)}")
        superuser.commit()
    unit = one(superuser, "select id::text from public.information_unit order by canonical_address limit 1")
    superuser.execute(
        "insert into public.iu_edit_draft values ('00000000-0000-4000-8000-0000000000ed', %s, 'other', 'x')", (unit,)
    )
    superuser.commit()
    keys: dict[str, str] = dict(superuser.execute(
        "select k.conrelid::regclass::text, (select string_agg(quote_ident(a.attname), ', ') from pg_attribute a"
        " where a.attrelid = k.conrelid and a.attnum = any (k.conkey)) from pg_constraint k where k.contype = 'p'"
    ).fetchall())  # fmt: skip
    qualified = {table: keys.get(table) or keys[table.removeprefix("public.")] for table in COLUMNS}
    superuser.rollback()
    return Field(
        database=database, target=Target(run=at.run_id, unit=unit), eye=superuser, keys=qualified, sessions={}
    )  # fmt: skip


def plan(trials: int, seed: int) -> Iterator[tuple[str, str, str]]:
    """(role, route, table): every one when there are enough trials, else a part that the seed draws."""
    every = [(role, route, table) for role in ROLES for route in ROUTES for table in COLUMNS]
    if trials >= len(every):
        yield from every
        return
    dice = Dice(seed, "routes")
    yield from (dice.choose(every) for _ in range(trials))


def guarded_rows(at: Stage, trials: int, seed: int) -> Iterator[dict[str, Any]]:
    with at.clone() as database:
        made = field(at, database, guarded=True)
        before = made.content()
        for role, route, table in plan(trials, seed):
            reply = made.attempt(role, route, table)
            after = made.content()
            yield {"role": role, "route": route, "table": table, "said": reply, "changed": after != before}
            before = after


def control_rows(at: Stage, trials: int, seed: int) -> Iterator[dict[str, Any]]:
    """A fresh unguarded copy after every success."""
    todo = list(plan(trials, seed + 1))
    while todo:
        with at.clone() as database:
            made = field(at, database, guarded=False)
            before = made.content()
            while todo:
                role, route, table = todo.pop()
                reply = made.attempt(role, route, table)
                changed = made.content() != before
                yield {"role": role, "route": route, "table": table, "said": reply, "changed": changed, "control": True}
                if changed:
                    break


def run(*, trials: int, seed: int, out: Path | None = None) -> Summary:
    """The guarded trials and a tenth as many unguarded ones."""
    with own_cluster() as server, keyring() as keys, revision_stage(server, keys, until="IG_closeout") as at:
        rows = list(guarded_rows(at, trials, seed))
        control = list(control_rows(at, max(CONTROL_MIN, min(200, trials // CONTROL_SHARE)), seed))
    write_lines(out, ({"seed": seed, **row} for row in (*rows, *control)))
    return summary(rows, control)


def summary(rows: Sequence[dict[str, Any]], control: Sequence[dict[str, Any]]) -> Summary:
    """A failure: something has changed, or the route tried nothing."""
    result = Summary(
        name="P17 immutability",
        n=len(rows),
        failures=sum(row["changed"] or row["said"] in STALE for row in rows),
        control=sum(row["changed"] for row in control),
        control_n=len(control),
    )
    result.counts["routes"] = len({row["route"] for row in rows})
    result.counts["routes x tables"] = len({(row["route"], row["table"]) for row in rows})
    for row in rows:
        result.counts[f"said {row['said']}"] += 1
        if row["changed"]:
            result.counts[f"CHANGED by {row['role']}: {row['route']} on {row['table']}"] += 1
        if row["said"] in STALE:
            result.counts[f"STALE: {row['route']}"] += 1
    return result


if __name__ == "__main__":
    raise SystemExit(command_line(run, "P17: immutability", trials=10_000))
