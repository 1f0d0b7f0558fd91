"""IO: P26: rows that no writer of ours makes, by each role that is not trusted, and every reader of them.

    python -m tests.campaigns.p26_hostile_rows --trials 400 --seed 1 --out p26.jsonl

Two arms take turns. `said`: a role sends arbitrary JSON or text through a function that is granted to it; it must be
refused in words or be read by every reader. `stored`: the same values stand in the columns themselves, past the
checks; no reader may fail. At the end the runs have hostile rows in them, and the one that waits for its closeout must
reach its end. The control arm repeats trials without the forms in SQL and without `cutter.domain.recorded_values` in
the readers: they must break.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest import mock

from cutter.domain import recorded_values
from cutter.lifecycle import history
from cutter.types import Json
from tests.cases.trials import Dice, Summary, command_line, write_lines
from tests.support import hostile_rows as hostile
from tests.support.database import Database, TestCluster, own_cluster
from tests.support.hostile_rows import Ground
from tests.support.runs import Keys, deployment, keyring

CONTROL_SHARE = 4
KEYS = (
    "policy", "sha256", "decisions", "invariants", "pins", "notes", "name", "ok", "observed", "expected", "report",
    "reason", "queue", "slots", "used", "size_bytes", "taken_utc", "tier", "diff", "soft_seconds", "x",
)  # fmt: skip
SCALARS: tuple[Any, ...] = (
    None, True, False, 0, -1, 5, 10**30, 1.5, 1e300, "", "x", "a" * 64, "2099-01-01T00:00:00Z", "\x1b[2K", "\u202ex",
    "9" * 5_000, [], {},
)  # fmt: skip
KNOWN: tuple[Any, ...] = (
    {"policy": {"decisions": [{"a": 1}]}}, {"policy": {"decisions": 5}}, {"policy": 5}, {"invariants": [5]},
    {"invariants": 5, "pins": [], "notes": {}}, {"pins": {"units_created": "x", "backup_artifact": 5}},
    {"sha256": 5, "decisions": [5]}, {"size_bytes": "many"}, 5, "x", [5],
)  # fmt: skip
"""Values that have broken a reader."""


def value(dice: Dice, depth: int = 3) -> Any:
    """Arbitrary JSON; one value in four is one that has broken a reader."""
    if depth == 3 and dice.below(4) == 0:
        return dice.choose(KNOWN)
    kind = dice.below(4) if depth else 0
    if kind < 2 and depth < 3:
        return dice.choose(SCALARS)
    if kind == 2:
        return [value(dice, depth - 1) for _ in range(dice.below(4))]
    return {dice.choose(KEYS): value(dice, depth - 1) for _ in range(dice.below(5))}


def said(at: Ground, dice: Dice, number: int) -> Json:
    """One value through one function, as one role."""
    call = hostile.CALLS[number % len(hostile.CALLS)]
    given = value(dice)
    connection = at.database.connect(call.role)
    answer = hostile.say(at, call, given, connection, f"{number}-{dice.below(10**9)}")
    connection.close()
    problems = [] if answer in hostile.IN_WORDS else [f"{call.what}: refused without words: {answer}"]
    return {"arm": "said", "what": call.what, "value": given, "answer": answer, "problems": problems}


def stored(at: Ground, dice: Dice, number: int) -> Json:
    """One value in one column of every row."""
    names = sorted(hostile.COLUMNS)
    what, given = names[number % len(names)], value(dice)
    with hostile.unchecked(at.database), hostile.past_the_checks(at, what, given):
        problems = hostile.failing(at)
    return {"arm": "stored", "what": what, "value": given, "answer": "stored", "problems": problems}


def play(at: Ground, trials: int, seed: int) -> Iterator[Json]:
    """The trials; after each one that was committed, and at the end, every reader has read."""
    for number in range(trials):
        dice = Dice(seed, "hostile", number)
        row = stored(at, dice, number // 2) if number % 2 else said(at, dice, number // 2)
        if row["arm"] == "said" and row["answer"] == "done":
            row["problems"] += hostile.failing(at)
        yield row


def closing(at: Ground) -> Json:
    """The run that waits for its closeout, after all that was said about it."""
    with connect_as_owner(at.database) as execute:
        execute("update cutter_governance.run set batch_id = null")
    run_id = at.runs["cutter_read"]
    at.made.database.value("select cutter_governance.fn_run_resume(%s)", (run_id,), role="cutter_read")
    outcome = at.made.gate("IG_closeout", run_id)
    problems = [] if outcome.status == "passed" else [f"the closeout: {outcome.code}: {outcome.reason}"]
    return {"arm": "closing", "what": "closeout", "value": None, "answer": outcome.status, "problems": problems}


@contextmanager
def connect_as_owner(database: Database) -> Iterator[Any]:
    connection = database.connect("postgres", autocommit=True)
    try:
        yield connection.execute
    finally:
        connection.close()


@contextmanager
def unguarded(database: Database) -> Iterator[None]:
    """Without the forms in SQL, and with readers that take rows for what they should be."""
    same = {name: lambda given: given for name in ("report", "policy", "queues", "run", "receipt")}
    plain = {
        "mapping": lambda given: given or {}, "count": lambda given: int(given or 0), "parsed": json.loads,
        "texts": list,
    }  # fmt: skip
    with connect_as_owner(database) as execute:
        execute(
            "create or replace function cutter_governance.fn_form_problem(p_form text, p_value jsonb) returns text"
            " language sql stable as 'select null::text'"
        )
    with mock.patch.multiple(recorded_values, **same, **plain), mock.patch.object(history, "parsed", json.loads):
        yield


def run(*, trials: int, seed: int, out: Path | None = None, server: TestCluster | None = None) -> Summary:
    """The guarded trials, the closeout after them, and a fourth as many without guards."""
    with keyring() as keys:
        if server is not None:
            return _run(server, keys, trials, seed, out)
        with own_cluster() as own:
            return _run(own, keys, trials, seed, out)


def _run(server: TestCluster, keys: Keys, trials: int, seed: int, out: Path | None) -> Summary:
    with server.database() as database, deployment(database, keys) as made, hostile.ground(made) as at:
        rows = [*play(at, trials, seed), closing(at)]
    with (
        server.database() as database,
        deployment(database, keys) as made,
        hostile.ground(made) as at,
        unguarded(database),
    ):
        control = list(play(at, max(20, trials // CONTROL_SHARE), seed))
    return summary(rows, control, seed, out)


def summary(rows: list[Json], control: list[Json], seed: int = 1, out: Path | None = None) -> Summary:
    """What the rows say."""
    write_lines(out, ({"seed": seed, **row} for row in (*rows, *({**row, "control": True} for row in control))))
    result = Summary(
        name="P26 hostile rows", n=len(rows), failures=sum(bool(row["problems"]) for row in rows),
        control=sum(bool(row["problems"]) for row in control), control_n=len(control),
    )  # fmt: skip
    result.counts["functions"] = len({row["what"] for row in rows if row["arm"] == "said"})
    result.counts["columns"] = len({row["what"] for row in rows if row["arm"] == "stored"})
    result.counts["readers"] = len(hostile.READERS)
    for row in rows:
        result.counts[f"{row['arm']}: {row['answer']}"] += 1
        for problem in row["problems"]:
            result.counts[f"FAILED {row['what']}: {problem}"] += 1
    return result


if __name__ == "__main__":
    raise SystemExit(command_line(run, "P26: hostile rows", trials=400))
