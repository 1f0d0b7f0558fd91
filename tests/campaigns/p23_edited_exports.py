"""P23: one edit of an audit export is seen by the stand-alone verifier.

    python -m tests.campaigns.p23_edited_exports --trials 1000 --seed 1 --out p23.jsonl

The export is that of a real database with a whole run, one that stands before its first sovereign gate, and the global
chain. Each trial deletes, alters, inserts or reorders one event: plainly; with the event's own hash made to fit; or by
who can rewrite the file, with every later number and hash, the global chain's anchors and the closing line made anew.
The verifier runs as an auditor runs it, one file in a Python of its own without site packages, and is given the head
that was kept when the export was made. The control arm is the same verifier without that head: every rewritten file
fools it, which is why it says that it did not check this.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from cutter.domain.digests import chain, sha256_hex
from cutter.evidence import audit
from cutter.evidence.offline import GLOBAL
from starter.commands.audit import exported
from tests.cases.trials import Dice, Summary, command_line, write_lines
from tests.support.database import Database, own_cluster
from tests.support.runs import Keys, deployment, drive, keyring, law

SCRIPT = Path(__file__).resolve().parents[2] / "scripts" / "verify" / "verify_evidence.py"
WORKERS = 2

EFFORTS = ("plain", "own hash", "rewritten")
"""How far the forger goes: the line as it is, with a hash that fits it, or every later line with it."""

Event = dict[str, Any]


def delete(dice: Dice, events: list[Event]) -> None:
    del events[dice.below(len(events))]


def alter(dice: Dice, events: list[Event]) -> None:
    """Another outcome, approver, time or digest: one word of what an event says."""
    event = dice.choose(events)
    body = json.loads(event["body"])
    name = dice.choose([name for name in body if name not in ("run_id", "seq", "kind", "run_seq", "run_head")])
    event["body"] = json.dumps(body | {name: f"another {dice.below(1000)}"})


def insert(dice: Dice, events: list[Event]) -> None:
    """A copy of an event with another time, anywhere in its chain."""
    place = dice.below(len(events))
    body = json.loads(events[place]["body"]) | {"at": f"2026-01-01T00:00:00.{dice.below(10**6):06}Z"}
    events.insert(place + dice.below(2), events[place] | {"body": json.dumps(body)})


def reorder(dice: Dice, events: list[Event]) -> None:
    """Two neighbours of a chain change places."""
    places = [at for at in range(1, len(events)) if events[at]["chain"] == events[at - 1]["chain"]]
    place = dice.choose(places)
    events[place - 1 : place + 1] = reversed(events[place - 1 : place + 1])


EDITS: dict[str, Callable[[Dice, list[Event]], None]] = {
    "delete": delete, "alter": alter, "insert": insert, "reorder": reorder,
}  # fmt: skip


def fitting(events: list[Event]) -> bytes:
    """Each event's hash is that of its body behind the hash that it names; nothing else is touched."""
    return audit.export(event | {"hash": chain(event["prev_hash"], event["body"])} for event in events)


def rewritten(events: list[Event]) -> bytes:
    """Every number, hash and anchor as if the edited events had happened."""
    heads: dict[str, tuple[int, str]] = {}
    moved: dict[str, tuple[int, str]] = {}
    made: list[Event] = []
    for event in sorted(events, key=lambda event: (event["chain"] == GLOBAL, event["chain"])):
        seq, previous = heads.get(event["chain"], (0, sha256_hex(event["chain"])))
        content = json.loads(event["body"]) | {"seq": seq + 1}
        if event["chain"] == GLOBAL and content["run_head"] in moved:
            content["run_seq"], content["run_head"] = moved[content["run_head"]]
        elif event["chain"] == GLOBAL:
            # What it named is gone: the run's last event takes its place.
            content["run_seq"], content["run_head"] = heads[content["run_id"]]
        body = json.dumps(content)
        new = event | {"seq": seq + 1, "kind": content["kind"], "body": body, "prev_hash": previous}
        new["hash"] = chain(previous, body)
        heads[event["chain"]] = (seq + 1, new["hash"])
        moved[event["hash"]] = heads[event["chain"]]
        made.append(new)
    return audit.export(sorted(made, key=lambda entry: entry["chain"]))


def edited(data: bytes, number: int, dice: Dice) -> tuple[str, str, bytes]:
    """(edit, effort, the edited export); the pairs come in turn."""
    edit, effort = list(EDITS)[number % len(EDITS)], EFFORTS[number // len(EDITS) % len(EFFORTS)]
    events: list[Event] = [json.loads(line) for line in data.splitlines()[:-1]]
    EDITS[edit](dice, events)
    write = {"plain": audit.export, "own hash": fitting, "rewritten": rewritten}[effort]
    return edit, effort, write(events)


def judged(data: bytes, *head: str) -> int:
    """Exit code of the verifier, as an auditor calls it."""
    with tempfile.NamedTemporaryFile(suffix=".jsonl") as file:
        file.write(data)
        file.flush()
        words = [sys.executable, "-S", "-I", str(SCRIPT), file.name, *head]
        return subprocess.run(words, capture_output=True, check=False, timeout=60).returncode


def original(database: Database, keys: Keys) -> bytes:
    """An export of everything, made from a real database."""
    with deployment(database, keys) as made:
        drive(made, law(3))
        drive(made, law(3), until="IG_grant_probe")
        return exported(made.settings, None)


def trial(data: bytes, head: str, seed: int, number: int) -> dict[str, Any]:
    """One edit, judged with the kept head and without it."""
    edit, effort, other = edited(data, number, Dice(seed, "p23", number))
    if other == data:
        raise AssertionError(f"trial {number}: {edit} changed nothing")
    return {
        "trial": number, "edit": edit, "effort": effort, "exit": judged(other, "--head", head), "control": judged(other)
    }  # fmt: skip


def run(*, trials: int, seed: int, out: Path | None = None, data: bytes | None = None) -> Summary:
    """So many edits of an export (one of its own, without `data`), and once in twenty the export as it was made."""
    if data is None:
        with own_cluster() as server, keyring() as keys, server.database(prefix="p23") as database:
            data = original(database, keys)
    head = audit.verify(data).head
    with ThreadPoolExecutor(WORKERS) as pool:
        rows = list(pool.map(lambda number, data=data: trial(data, head, seed, number), range(trials)))
        clean = list(pool.map(lambda _, data=data: judged(data, "--head", head), range(max(trials // 20, 1))))
    write_lines(out, ({"seed": seed, **row} for row in rows))
    return summary(rows, clean)


def summary(rows: list[dict[str, Any]], clean: list[int]) -> Summary:
    """An edit that is not refused, or an untouched export that is, is a failure."""
    result = Summary(
        name="P23 edited audit exports",
        n=len(rows),
        failures=sum(row["exit"] != 1 for row in rows) + sum(code != 0 for code in clean),
        control=sum(row["control"] == 0 for row in rows),
        control_n=len(rows),
        counts=Counter(f"{row['edit']}, {row['effort']}: detected" for row in rows if row["exit"] == 1),
    )
    result.counts["untouched: verified"] = clean.count(0)
    return result


if __name__ == "__main__":
    raise SystemExit(command_line(run, "P23", trials=1000))
