"""P5: how long a gate's locks outlive the process that held them, after SIGKILL.

    python -m tests.campaigns.p05_locks_after_kill --trials 200 --seed 1 --out p05.jsonl

A process opens leg A's transaction by the product's own functions (write lane, stop latch, receipt) and is killed while
its backend sleeps in a statement, computes, or waits for the next one. Another connection then asks for the write lane
and for the latch; the time until it has both is measured. Accepted when the 99th percentile is at most 2 s. The control
arm leaves out `client_connection_check_interval`: its backends finish their statement first, with the locks held.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic
from typing import Any

import psycopg
import structlog

from cutter.catalogue import Sovereign
from cutter.types import Json
from tests.campaigns.lock_holder import DOING
from tests.cases.trials import Dice, Summary, command_line, write_lines
from tests.support import runs
from tests.support.database import Database, own_cluster, short_folder
from tests.support.processes import ROOT

P99_SECONDS = 2.0
CONTROL_TRIALS = 8


@dataclass(slots=True, kw_only=True)
class Bench:
    """A run that stands before leg A, approved, and the process that forks holders of its locks."""

    database: Database
    stage: runs.Stage
    parent: subprocess.Popen[str]

    def trial(self, doing: str, *, check: bool) -> Json:
        """Have the locks held, kill the holder, and measure until they are ours."""
        order = {"run_id": self.stage.run_id, "offers": list(self.stage.offers), "doing": doing, "check": check}
        assert self.parent.stdin is not None
        assert self.parent.stdout is not None
        self.parent.stdin.write(json.dumps(order) + "\n")
        self.parent.stdin.flush()
        words = self.parent.stdout.readline().split()
        assert words[0] == "held", words
        with psycopg.connect(self.database.url("postgres")) as other:
            if DOING[doing]:
                self._await_statement(other)
            os.kill(int(words[-1]), signal.SIGKILL)
            began = monotonic()
            other.execute("select from cutter_governance.lane where name = 'write' for update")
            other.execute(
                "select 1 from cutter_governance.stop_latch where run_id = %s for update", (self.stage.run_id,)
            )
            seconds = monotonic() - began
            other.rollback()
        return {"doing": doing, "check": check, "seconds": round(seconds, 4)}

    def _await_statement(self, other: psycopg.Connection[Any]) -> None:
        """Until the holder's backend is inside its statement."""
        while True:
            row = other.execute(
                "select 1 from pg_stat_activity where usename = 'cutter_exec' and state = 'active'"
                " and datname = current_database() and query ~ 'pg_sleep|generate_series'"
            ).fetchone()
            other.rollback()
            if row is not None:
                return


@contextmanager
def bench() -> Iterator[Bench]:
    """A cluster of its own with one run before leg A."""
    with (
        own_cluster() as cluster,
        runs.keyring() as keys,
        runs.stage(cluster, keys, until="IG_grant_probe", sovereign=Sovereign.CUT) as stage,
        stage.clone() as database,
        short_folder() as folder,
    ):
        given = {"CUTTER_DATABASE_URL": database.address, "CUTTER_SECRETS_DIR": str(cluster.secrets),
                 "CUTTER_STATE_DIR": str(folder)}  # fmt: skip
        parent = subprocess.Popen(
            [sys.executable, "-m", "tests.campaigns.lock_holder"], cwd=ROOT, env={**os.environ, **given},
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        try:
            yield Bench(database=database, stage=stage, parent=parent)
        finally:
            parent.kill()
            parent.communicate()


def run(*, trials: int = 200, control: int = CONTROL_TRIALS, seed: int = 1, out: Path | None = None) -> LockSummary:
    """The trials, then the control arm."""
    structlog.configure(logger_factory=structlog.ReturnLoggerFactory())
    dice = Dice(seed, "p05")
    with bench() as made:
        rows = [made.trial(dice.choose(tuple(DOING)), check=True) for _ in range(trials)]
        without = [made.trial("sleeping", check=False) for _ in range(control)]
    write_lines(out, ({"trial": number, "seed": seed, **row} for number, row in enumerate(rows + without)))
    return summary(rows, without)


@dataclass(slots=True)
class LockSummary(Summary):
    """Accepted by its 99th percentile; the control arm by that its own is beyond the limit."""

    times: list[float] = field(default_factory=list)
    control_times: list[float] = field(default_factory=list)

    @property
    def accepted(self) -> bool:
        return percentile(self.times, 99) <= P99_SECONDS and self.control == self.control_n > 0

    def lines(self) -> Iterator[str]:
        yield from super(LockSummary, self).lines()
        for name, times in (("with the check", self.times), ("control, without it", self.control_times)):
            shown = ", ".join(f"p{rank} {percentile(times, rank):.3f} s" for rank in (0, 50, 90, 99, 100))
            yield f"{self.name}: {name}: {shown}"


def summary(rows: Sequence[Json], without: Sequence[Json]) -> LockSummary:
    """A failure is a trial beyond the limit."""
    times, others = [row["seconds"] for row in rows], [row["seconds"] for row in without]
    return LockSummary(
        name="P5 locks after SIGKILL", n=len(rows), failures=sum(seconds > P99_SECONDS for seconds in times),
        control=sum(other > P99_SECONDS for other in others), control_n=len(others),
        counts=Counter(row["doing"] for row in rows), times=times, control_times=others,
    )  # fmt: skip


def percentile(times: Sequence[float], rank: int) -> float:
    """The value below which `rank` per cent lie (nearest rank); 0 of nothing."""
    ordered = sorted(times)
    return ordered[max(0, -(-len(ordered) * rank // 100) - 1)] if ordered else 0.0


if __name__ == "__main__":
    raise SystemExit(command_line(run, "P5: locks after SIGKILL", trials=200, control=CONTROL_TRIALS))
