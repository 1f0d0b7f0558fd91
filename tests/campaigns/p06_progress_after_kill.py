"""IO: P6: a worker dies by SIGKILL in the middle of a gate; how long until that gate is sealed by its successor.

    python -m tests.campaigns.p06_progress_after_kill --trials 40 --seed 1 --out p06.jsonl

The worker of each gate in turn dies while the gate's attempt is open, `cutter up` is typed at once, and the clock runs
from the kill until the database has the gate's receipt. The control arm counts the gates whose first attempt was lost:
a kill that came late would have measured nothing.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from time import monotonic

from cutter.types import Json
from tests.cases.kill_moments import ATTEMPT, MOMENTS, PASSED, Moment, come
from tests.cases.trials import Dice, Summary, command_line, write_lines
from tests.support.laws import law
from tests.support.processes import Stack, stack, wait

P95_SECONDS = 45.0
END_SECONDS = 300
UNITS = 60


DURING = tuple(moment for moment in MOMENTS if moment.looks == ATTEMPT and not (moment.cut or moment.signalled))
"""Moments at which a worker is in the middle of a gate."""


def trial(made: Stack, number: int, moment: Moment) -> Json:
    """One document brought to the moment, its worker killed there, its gate awaited."""
    document = f"P06-{number:03d}"
    made.add(document, law(UNITS))
    run_id = made.json("run", document)["run_id"]
    if moment.gate in ("IG_leg_b_record", "IG_write_verify"):
        wait(lambda: made.waits_in(run_id) == "awaiting_cut_authorization", seconds=END_SECONDS, what="SG_1")
        made.signal(document, made.approve(run_id))
    reached = come(made, run_id, moment)
    made.kill(moment.worker)
    began = monotonic()
    problems = [] if made.cutter("up").returncode == 0 else ["cutter up failed"]
    asked = {"run": run_id, "gate": moment.gate}
    wait(lambda: made.value(PASSED, asked), seconds=END_SECONDS, what=f"{moment.gate} after the kill")
    seconds = monotonic() - began
    lost = made.value(
        "select count(*) from cutter_governance.gate_attempt where run_id = %(run)s and gate = %(gate)s", asked
    )
    made.cutter("stop", run_id, "--reason", "measured")
    return {
        "gate": moment.gate, "victim": moment.worker, "seconds": round(seconds, 1), "lost": reached and lost > 1,
        "problems": problems,
    }  # fmt: skip


def quantile(values: Sequence[float], share: float) -> float:
    """The value below which that share lies; 0 of none."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))] if ordered else 0.0


def summary(rows: Sequence[Json]) -> Summary:
    """Failures are problems; and one more when the slow twentieth took too long."""
    measured = [row["seconds"] for row in rows if row["lost"]]
    slow = quantile(measured, 0.95)
    result = Summary(
        name="P6 progress after SIGKILL", n=len(rows),
        failures=sum(bool(row["problems"]) for row in rows) + (slow > P95_SECONDS), control=len(measured),
        control_n=len(rows),
    )  # fmt: skip
    result.counts = Counter(f"killed {row['victim']} in {row['gate']}" for row in rows)
    result.counts["p50 in seconds"] = round(quantile(measured, 0.5))
    result.counts["p95 in seconds"] = round(slow)
    return result


def _play(made: Stack, trials: int, seed: int) -> Iterator[Json]:
    first = Dice(seed, "moment").below(len(DURING))
    for number in range(trials):
        row = trial(made, number, DURING[(first + number) % len(DURING)])
        print(f"  {number}: {row}", file=sys.stderr, flush=True)
        yield row


def run(*, trials: int, seed: int, out: Path | None = None) -> Summary:
    """The campaign on a stack of its own."""
    with stack("c6") as made:
        made.up()
        made.approver()
        rows = list(_play(made, trials, seed))
    write_lines(out, ({"seed": seed, **row} for row in rows))
    return summary(rows)


if __name__ == "__main__":
    raise SystemExit(command_line(run, "P6: progress after a worker's SIGKILL", trials=40))
