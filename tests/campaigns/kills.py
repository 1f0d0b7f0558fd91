"""The story of the kills: a law of 1,000 units, SIGKILL at ten moments of its run, `cutter up` typed after each.

    python -m tests.campaigns.kills --runs 3 --units 1000 --out kills.jsonl

Victims are a worker, the Temporal server and PostgreSQL, one after the other; with three runs each of them dies at each
moment. Two of the moments lie between COMMIT and its acknowledgement: the exec worker then reaches PostgreSQL through a
proxy that holds the answer back while the victim is killed, and never delivers it. At the end exactly the approved
units are enacted, each gate has one receipt, and each approval was consumed once.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from time import monotonic
from typing import Any

from cutter.catalogue import WorkerRole
from cutter.stack.processes import until
from tests.cases.kill_moments import MOMENT_SECONDS, MOMENTS, Moment, come
from tests.cases.trials import Summary, write_lines
from tests.cases.whole_run import shortcomings
from tests.support.laws import law
from tests.support.processes import EXEC, POSTGRES, TEMPORAL, Stack, behind_proxy, stack, wait
from tests.support.proxy import Armed, CommitProxy, Cut

END_SECONDS = 900
RESUMABLE = "stopped_unavailable_"


@dataclass(frozen=True, slots=True, kw_only=True)
class Kill:
    """One row of the table."""

    run: int
    moment: str
    victim: str
    seen: bool
    up_seconds: float
    state: str


@dataclass(slots=True)
class Story:
    """One run from its start to its closeout. `armed` are the cuts of the proxy, by moment."""

    stack: Stack
    proxy: CommitProxy
    number: int
    units: int
    run_id: str = ""
    kills: list[Kill] = field(default_factory=list)
    resumed: int = 0
    problems: list[str] = field(default_factory=list)
    armed: dict[str, Armed] = field(default_factory=dict)

    @property
    def document_id(self) -> str:
        return f"KILLS-{self.number:03d}"

    def victim(self, moment: Moment) -> str:
        """The three in turn; over three runs each pair of moment and victim comes once."""
        return (moment.worker, TEMPORAL, POSTGRES)[(MOMENTS.index(moment) + self.number) % 3]

    def tell(self) -> None:
        """All ten moments, then the end."""
        self.stack.add(self.document_id, law(self.units), "--max-candidates", str(self.units))
        self.run_id = self.stack.json("run", self.document_id)["run_id"]
        for moment, following in zip(MOMENTS, (*MOMENTS[1:], None), strict=True):
            if moment.signalled:
                # The request's row is there before its document, which a killed worker's successor puts.
                until(lambda: not self.stack.unpublished(self.run_id), seconds=MOMENT_SECONDS)
                behind_proxy(self.stack, EXEC, WorkerRole.EXEC, self.proxy)
                self._arm(moment if moment.cut else following)
                self.stack.signal(self.document_id, self.stack.approve(self.run_id))
            reached = self._come(moment)
            self._up(moment, reached=reached)
        self._until_it_ends()

    def _come(self, moment: Moment) -> bool:
        """The moment comes and its victim dies; False when it was over before it was seen, and the kill came late."""
        if moment.cut is not None:
            return self.armed[moment.name].happened(MOMENT_SECONDS)
        reached = moment.signalled or come(self.stack, self.run_id, moment)
        self.stack.kill(self.victim(moment))
        return reached

    def _arm(self, moment: Moment | None) -> None:
        """Have the proxy hold the exec worker at this moment, and the victim die there."""
        assert moment is not None
        assert moment.cut is not None
        self.armed[moment.name] = self.proxy.arm(moment.cut, word="fn_gate_close", meanwhile=lambda: self._dies(moment))

    def _dies(self, moment: Moment) -> None:
        self.stack.kill(self.victim(moment))
        if moment.cut is Cut.STATEMENT:
            # The gate comes again, and its COMMIT is the next moment.
            self._arm(MOMENTS[MOMENTS.index(moment) + 1])
            behind_proxy(self.stack, EXEC, WorkerRole.EXEC, self.proxy)

    def _up(self, moment: Moment, *, reached: bool) -> None:
        """Type `cutter up`; once more when the next moment's kill came while it worked."""
        began = monotonic()
        done = self.stack.cutter("up")
        if done.returncode != 0 and any(armed.done.is_set() for armed in self.armed.values()):
            done = self.stack.cutter("up")
        if done.returncode != 0:
            self.problems.append(f"{moment.name}: cutter up: {done.stderr.strip()[-300:]}")
        row = Kill(run=self.number, moment=moment.name, victim=self.victim(moment), seen=reached,
                   up_seconds=round(monotonic() - began, 1), state=self.stack.state_of(self.run_id))  # fmt: skip
        self.kills.append(row)
        print(f"  run {row.run}  {row.moment:40} {row.victim:14} up in {row.up_seconds:4.1f} s  then {row.state}"
              f"{'' if reached else '  (not seen)'}", file=sys.stderr, flush=True)  # fmt: skip

    def _until_it_ends(self) -> None:
        def over() -> bool:
            state = self.stack.state_of(self.run_id)
            if state.startswith(RESUMABLE):
                self.resumed += 1
                self.stack.cutter("orchestrate", "resume", "--run-id", self.run_id)
            return state == "closeout_reported" or state.startswith(("failed_", "voided_", "stopped_"))

        wait(over, seconds=END_SECONDS, what=f"the end of {self.run_id}")
        # The last report is put after its gate's COMMIT, perhaps by a retry.
        until(lambda: not self.stack.unpublished(self.run_id), seconds=60)
        self.problems += shortcomings(self.stack, self.run_id, self.document_id, self.units)


def run(*, runs: int, units: int, seed: int = 1, out: Path | None = None) -> Summary:
    """Some runs on one stack; the first moment's victim moves on with each."""
    stories: list[Story] = []
    with stack("ck", PYTHONFAULTHANDLER="1") as made:
        made.up()
        made.approver()
        port = int((made.state / "postgres" / "port").read_text(encoding="ascii"))
        for number in range(runs):
            began = monotonic()
            with CommitProxy(port) as proxy:
                story = Story(made, proxy, number + (seed - 1) % 3, units)
                stories.append(story)
                story.tell()
            attempts = made.value(
                "select count(*) from cutter_governance.gate_attempt where run_id = %s", (story.run_id,)
            )
            took = monotonic() - began
            print(f"run {number}: {len(story.kills)} kills, {attempts} attempts, resumed {story.resumed} times, "
                  f"{took:.0f} s, problems: {story.problems or 'none'}", file=sys.stderr, flush=True)  # fmt: skip
    write_lines(out, (row for story in stories for row in _rows(story)))
    return _summary(stories)


def _rows(story: Story) -> Iterator[dict[str, Any]]:
    for row in story.kills:
        yield {"trial": f"{row.run}/{row.moment}", **asdict(row), "problems": []}
    yield {"trial": f"{story.number}/end", "units": story.units, "problems": story.problems, "resumed": story.resumed}


def _summary(stories: list[Story]) -> Summary:
    rows = [row for story in stories for row in story.kills]
    result = Summary(
        name="kills at ten moments", n=len(rows), failures=sum(len(story.problems) for story in stories), control=0,
        control_n=0,
    )  # fmt: skip
    result.counts = Counter(f"killed {row.victim}" for row in rows)
    result.counts["runs"] = len(stories)
    result.counts["resumed by a person"] = sum(story.resumed for story in stories)
    result.counts["moments seen"] = sum(row.seen for row in rows)
    return result


def matrix(out: Path) -> Iterator[str]:
    """From the written lines: what died at each moment, and how many seconds `cutter up` then took."""
    rows = [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]
    for moment in MOMENTS:
        dead = (f"{row['victim']} {row['up_seconds']:.1f} s" for row in rows if row.get("moment") == moment.name)
        yield f"{moment.name}: {', '.join(dead)}"


def main() -> int:
    """Command line; exit 0 when nothing was lost or doubled."""
    parser = argparse.ArgumentParser(description="SIGKILL at ten moments of a run")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--units", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", type=Path)
    words = parser.parse_args()
    result = run(runs=words.runs, units=words.units, seed=words.seed, out=words.out)
    # The rule has no control arm here: P2 has the one of a writer without a receipt.
    lines = [line for line in result.lines() if "control arm" not in line]
    print("\n".join([*lines, *(matrix(words.out) if words.out else ())]))
    return 0 if result.failures == 0 else 1


if __name__ == "__main__":
    raise SystemExit(main())
