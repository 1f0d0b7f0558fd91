"""P15: tampering is detected and named, before a gate and while its transaction is open; unrelated writes stop nothing.

    python -m tests.campaigns.p15_tampering --trials 1000 --seed 1 --out p15.jsonl

Every kind of tests/cases/tampering.py is tried twice on a copy of a run that stands before gate 9: once committed
before the gate opens, once committed by another session while it is open (a lock that keeps the tampering out until
the gate is closed counts as prevented). Then come `trials` clean openings and closings, meanwhile other sessions write
what does not concern the run. The control arm is a survey of the seed's three dimensions; it must miss something.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg

from tests.cases.tampering import KINDS, Tampering, seed_sees
from tests.cases.trials import Dice, Summary, command_line, write_lines
from tests.support import gate_calls as gates
from tests.support.database import Database, own_cluster
from tests.support.revisions import revision_stage
from tests.support.runs import Stage, keyring, stage

GATE, ROLE = "IG_write_verify", "cutter_verify"
DURING_LOCK_TIMEOUT = "set lock_timeout = '300ms'"

Row = dict[str, Any]


def before_gate(at: Stage, kind: Tampering) -> Row:
    """Tamper, then open."""
    with at.clone() as database:
        fooled = _tamper(at, database, kind)
        connection = database.connect(ROLE)
        answer = _answered(lambda: gates.open_gate(connection, GATE, at.run_id))
        return {"kind": kind.name, "when": "before", **_judged(kind, answer), "control": fooled}


def while_open(at: Stage, kind: Tampering) -> Row:
    """Open, tamper from another session, then close."""
    with at.clone() as database:
        connection = database.connect(ROLE)
        opened = gates.open_gate(connection, GATE, at.run_id)
        if opened["status"] != "opened":
            raise AssertionError(f"the untouched copy does not open: {opened}")
        try:
            fooled = _tamper(at, database, kind)
        except psycopg.errors.LockNotAvailable:
            return {"kind": kind.name, "when": "open", "detected": True, "how": "kept out by a lock", "control": False}
        answer = _answered(lambda: gates.close_gate(connection, GATE, at.run_id, opened["attempt"], {}))
        return {"kind": kind.name, "when": "open", **_judged(kind, answer), "control": fooled}


def _tamper(at: Stage, database: Database, kind: Tampering) -> bool:
    """Commit the tampering; True when the seed's own dimensions do not see it."""
    connection = database.connect("postgres")
    connection.execute(DURING_LOCK_TIMEOUT)
    before = seed_sees(connection, at.document_id, at.run_id)
    kind.apply(connection, prefix=at.document_id, run=at.run_id)
    connection.commit()
    return seed_sees(connection, at.document_id, at.run_id) == before


def _answered(call: Callable[[], Row]) -> Row:
    """The gate's answer; a table that the owner lost cannot even be surveyed, and the gate fails by that."""
    try:
        return call()
    except psycopg.errors.InsufficientPrivilege:
        return {"status": "refused", "code": "unreadable"}


def _judged(kind: Tampering, answer: Row) -> Row:
    if answer["status"] == "drift":
        drift = answer["drift"]
        return {"detected": drift["dimension"] == kind.dimension and bool(drift["diff"]), "how": drift["dimension"],
                "diff": drift["diff"][:2]}  # fmt: skip
    refused = (kind.dimension, answer.get("code")) in (("receipts", "predecessor_not_sealed"), ("tables", "unreadable"))
    return {"detected": refused, "how": answer.get("code") or answer["status"]}


@contextmanager
def undone(database: Stage, kind: Tampering) -> Iterator[None]:
    """Roles are the cluster's: what was done to them is undone."""
    try:
        yield
    finally:
        if kind.undo:
            with psycopg.connect(database.server.cluster.superuser_dsn(), autocommit=True) as connection:
                for statement in kind.undo.split("; "):
                    connection.execute(statement)


_FILE = Path(__file__).with_name("unrelated.sql").read_text(encoding="utf-8")
UNRELATED = tuple(text.strip() for text in _FILE.partition("\n\n")[2].split(";\n") if text.strip())


@contextmanager
def unrelated_writes(database: Database, seed: int) -> Iterator[list[int]]:
    """Another session writes what does not concern the run; the list counts its statements."""
    done = threading.Event()
    count = [0]

    def write() -> None:
        with psycopg.connect(database.url("postgres"), autocommit=True) as connection:
            while not done.is_set():
                number = count[0] // len(UNRELATED)
                statement = UNRELATED[count[0] % len(UNRELATED)].replace("{n}", f"{seed}{number}")
                connection.execute(statement)
                count[0] += 1

    thread = threading.Thread(target=write)
    thread.start()
    try:
        yield count
    finally:
        done.set()
        thread.join()


def clean(at: Stage, seed: int, trials: int) -> Iterator[Row]:
    """Openings and closings of an untouched run."""
    with at.clone() as database, unrelated_writes(database, seed) as writes:
        connection = database.connect(ROLE)
        number = gates.attempt(connection, GATE, at.run_id)
        digest = gates.payload(connection, GATE, at.run_id)
        for trial in range(trials):
            answer = gates.open_gate(connection, GATE, at.run_id, number=number, payload_sha256=digest)
            if answer["status"] == "opened":
                answer = gates.close_gate(connection, GATE, at.run_id, number, {})
            connection.rollback()
            yield {"trial": trial, "when": "clean", "status": answer["status"], "writes": writes[0]}


def run(*, trials: int, seed: int, out: Path | None = None, kinds: tuple[Tampering, ...] = KINDS) -> Summary:
    """Every kind twice, in an order that the seed decides, and the clean ones."""
    dice = Dice(seed, "order")
    order = sorted(kinds, key=lambda _kind: dice.below(1 << 30))
    rows: list[Row] = []
    with (
        own_cluster() as server, keyring() as keys, stage(server, keys, until="IG_leg_b_record") as at,
        revision_stage(server, keys, until="IG_leg_b_record") as revised,
    ):  # fmt: skip
        for kind in order:
            for judge in (before_gate, while_open):
                with undone(at, kind):
                    rows.append({**judge(revised if kind.at else at, kind), "dimension": kind.dimension})
        untouched = list(clean(at, seed, trials))
    write_lines(out, ({"seed": seed, **row} for row in (*rows, *untouched)))
    return summary(rows, untouched)


def summary(rows: list[Row], untouched: list[Row]) -> Summary:
    """Undetected or misnamed tampering and stopped clean transactions are failures."""
    stopped = sum(row["status"] != "sealed" for row in untouched)
    result = Summary(
        name="P15 tampering",
        n=len(rows) + len(untouched),
        failures=sum(not row["detected"] for row in rows) + stopped,
        control=sum(row["control"] for row in rows),
        control_n=len(rows),
    )
    for row in rows:
        result.counts[f"{row['when']}: {'detected' if row['detected'] else 'MISSED ' + row['kind']}"] += 1
        result.counts[f"named {row['how']}"] += 1
    result.counts["clean: sealed"] = len(untouched) - stopped
    result.counts["clean: stopped"] = stopped
    result.counts["unrelated statements meanwhile"] = untouched[-1]["writes"] if untouched else 0
    return result


if __name__ == "__main__":
    raise SystemExit(command_line(run, "P15: tampering", trials=1_000))
