"""IO: P3: a worker dies by SIGKILL at every named point of every step of a run: nothing is lost, nothing is doubled.

    python -m tests.campaigns.p03_crash_points --seeds 25 --out p03.jsonl

A step is a gate, a run's beginning, a request or the judging of an approval. Each is done by its activity's own
function in a process that reaches PostgreSQL through a proxy; the proxy holds it at the point, the process is killed
there, and its connection ends. What stands in the database is counted then, and again when a successor has done the
step. A seed is six runs: among them each step meets each of its points once.

The control arm is P2's writer without a receipt, which does its insert again.
"""

from __future__ import annotations

import logging
import uuid
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from multiprocessing import get_context
from multiprocessing.connection import wait
from pathlib import Path
from typing import Any, LiteralString

import psycopg
import structlog
from psycopg.rows import dict_row

from activities.registry import GATE_FUNCTIONS
from activities.run.approval_requests import judge_approval, open_request
from activities.run.course import begin_run
from cutter.catalogue import BY_NAME, GATES, Sovereign, WorkerRole
from cutter.errors import Unavailable
from cutter.messages import BeginInput, GateInput, JudgeInput, RequestInput, RunInput
from cutter.settings import Settings
from cutter.stack.processes import until
from cutter.types import Json
from tests.campaigns.p02_lost_acknowledgement import COUNTS, RETRY_SECONDS, UNITS, WRITTEN, naive
from tests.cases.trials import Dice, Summary, command_line, write_lines
from tests.support import runs
from tests.support.database import Database, own_cluster
from tests.support.proxy import CommitProxy, Cut
from tests.support.signatures import sign_answer
from worker import build_deps

WORKERS = 2
CONTROL_TRIALS = 60
CRASH_SECONDS = 60
"""A process that has not come to its point by then never will."""

FUNCTIONS = {**GATE_FUNCTIONS, "begin_run": begin_run, "open_request": open_request, "judge_approval": judge_approval}

STANDS: LiteralString = """
select (select count(*) from cutter_governance.run where document_id = %(document)s) as runs,
    (select min(state) from cutter_governance.run where run_id = %(run)s) as state,
    (select count(*) from cutter_governance.gate_receipt where run_id = %(run)s) as claims,
    (select count(*) from cutter_governance.gate_receipt where run_id = %(run)s and sealed_at is not null) as sealed,
    (select count(*) from cutter_governance.approval_request where run_id = %(run)s) as requests,
    (select count(*) from cutter_governance.approval_verdict where run_id = %(run)s and accepted) as verdicts,
    (select count(*) from cutter_governance.outbox where run_id = %(run)s and done_at is null) as waiting
"""

Eye = psycopg.Connection[Json]


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """Where a process dies: at which cut of the proxy. `done`: the step's COMMIT lies before it."""

    when: str
    cut: Cut
    word: str
    done: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """A step of a run, by its name, the activity that does it, its sovereign gate if it has one, and its points."""

    name: str
    activity: str
    points: tuple[Point, ...]
    sovereign: Sovereign | None = None

    @property
    def worker(self) -> WorkerRole:
        """Whose process dies."""
        return BY_NAME[self.activity].worker if self.activity in BY_NAME else WorkerRole.CUTTER


def _around_commit(word: str) -> tuple[Point, ...]:
    return (
        Point(when="before COMMIT", cut=Cut.REQUEST, word=word),
        Point(when="after COMMIT, not told", cut=Cut.ANSWER, word=word, done=True),
    )


_PUBLISHING = Point(when="before its document is recorded", cut=Cut.STATEMENT, word="fn_outbox_done", done=True)
_OF_GATE = (
    Point(when="before its attempt", cut=Cut.STATEMENT, word="fn_gate_attempt"),
    Point(when="before it is opened", cut=Cut.STATEMENT, word="fn_gate_open"),
    Point(when="before it is sealed", cut=Cut.STATEMENT, word="fn_gate_close"),
    *_around_commit("fn_gate_close"),
    _PUBLISHING,
)
_OF_BEGIN = (
    Point(when="before it is registered", cut=Cut.STATEMENT, word="fn_run_register"),
    *_around_commit("fn_run_register"),
)
_OF_REQUEST = (
    Point(when="before it is opened", cut=Cut.STATEMENT, word="fn_request_open"),
    Point(when="before its document is bound", cut=Cut.STATEMENT, word="fn_request_document"),
    *_around_commit("fn_request_document"),
    _PUBLISHING,
)
_OF_VERDICT = (
    Point(when="before it is recorded", cut=Cut.STATEMENT, word="fn_verdict_record"),
    *_around_commit("fn_verdict_record"),
)


def _steps() -> Iterator[Step]:
    yield Step(name="begin", activity="begin_run", points=_OF_BEGIN)
    for gate in GATES:
        if gate.sovereign is not None:
            who = gate.sovereign
            yield Step(name=f"{who.value} request", activity="open_request", points=_OF_REQUEST, sovereign=who)
            yield Step(name=f"{who.value} verdict", activity="judge_approval", points=_OF_VERDICT, sovereign=who)
        yield Step(name=gate.name, activity=gate.name, points=_OF_GATE, sovereign=gate.sovereign)


STEPS = tuple(_steps())
RUNS_A_SEED = max(len(step.points) for step in STEPS)


def point_of(step: Step, seed: int, number: int) -> Point | None:
    """Where a run dies in a step: the six runs of a seed meet its points in an order that the seed decides."""
    place = (number + Dice(seed, step.name).below(RUNS_A_SEED)) % RUNS_A_SEED
    return step.points[place] if place < len(step.points) else None


def wanted(steps: Sequence[Step]) -> Json:
    """What stands once these steps are done, exactly, by the names of STANDS and COUNTS."""
    gates = [BY_NAME[step.activity] for step in steps if step.activity in BY_NAME]
    stands: Json = {name: 0 for written in WRITTEN.values() for name in written}
    for gate in gates:
        stands |= WRITTEN.get(gate.name, {})
    state = gates[-1].to_state.value if gates else "pending" if steps else None
    if steps and steps[-1].activity in ("open_request", "judge_approval"):
        state = GATES[len(gates)].from_state.value
    return stands | {
        "runs": int(bool(steps)),
        "state": state,
        "claims": len(gates),
        "sealed": len(gates),
        "requests": sum(step.activity == "open_request" for step in steps),
        "verdicts": sum(step.activity == "judge_approval" for step in steps),
    }


@dataclass(slots=True, kw_only=True)
class Story:
    """One run from its beginning to its closeout, with a crash at one point of each step."""

    made: runs.Deployment
    proxy: CommitProxy
    eye: Eye
    seed: int
    number: int
    document: str = ""
    run_id: str | None = None
    approval: str = ""
    first: str = field(default_factory=lambda: str(uuid.uuid4()))

    def tell(self) -> Iterator[Json]:
        """A row a crash."""
        self.document = self.made.register(runs.law(UNITS, word=f"word {self.seed}"))
        for place, step in enumerate(STEPS):
            if step.activity == "judge_approval":
                self._sign(step)
            point = point_of(step, self.seed, self.number)
            problems = self._crash(step, point, place) if point else []
            problems += self._succeed(step, place)
            if point:
                yield {"run": self.number, "step": step.name, "when": point.when, "problems": problems}
            assert point or not problems, (step, problems)

    def _argument(self, step: Step) -> Any:
        gate = step.sovereign.value if step.sovereign else ""
        match step.activity:
            case "begin_run":
                run = RunInput(document_id=self.document, mode="live", starter="olga")
                return BeginInput(run=run, first_execution_id=self.first)
            case "open_request":
                return RequestInput(run_id=self.run_id or "", gate=gate)
            case "judge_approval":
                return JudgeInput(run_id=self.run_id or "", gate=gate, kb_id=self.approval)
        return GateInput(run_id=self.run_id or "", approval_kb_ids=(self.approval,) if gate else ())

    def _crash(self, step: Step, point: Point, place: int) -> list[str]:
        """Kill the step's process at the point; what is wrong with what stands then."""
        url = f"postgresql://127.0.0.1:{self.proxy.port}/{self.made.database.name}"
        settings = self.made.deps[step.worker].settings.model_copy(update={"database_url": url})
        given = (settings, step.worker, step.activity, self._argument(step))
        process = _CONTEXT.Process(target=work, args=given, daemon=True)

        def die() -> None:
            process.kill()
            assert wait([process.sentinel], timeout=CRASH_SECONDS), "it does not die"

        armed = self.proxy.arm(point.cut, word=point.word, meanwhile=die)
        process.start()
        process.join(CRASH_SECONDS)
        happened = armed.done.wait(2)
        self.proxy.disarm()
        if process.is_alive() or not happened:
            process.kill()
            return [f"no crash: exit {process.exitcode}"]
        done = STEPS[: place + 1] if point.done else STEPS[:place]
        return [f"after the crash {problem}" for problem in self._differences(step, done)]

    def _succeed(self, step: Step, place: int) -> list[str]:
        """Another process does the step, as the workflow has it tried again; what is wrong then."""
        passed: list[Any] = []

        def tried() -> bool:
            try:
                answer = FUNCTIONS[step.activity](self.made.deps[step.worker], self._argument(step))
            except Unavailable:
                return False
            if getattr(answer, "status", "passed") in ("passed", "requested"):
                passed.append(answer)
            return bool(passed)

        if not until(tried, seconds=RETRY_SECONDS):
            return ["its successor does not pass"]
        if step.activity == "begin_run":
            self.run_id = passed[0].run_id
        return self._differences(step, STEPS[: place + 1], waiting=0)

    def _sign(self, step: Step) -> None:
        """What a person does once the request stands."""
        assert self.run_id is not None
        assert step.sovereign is not None
        request = self.made.request(self.run_id, step.sovereign)
        who = self.made.keys.signing(self.number % 2)
        self.approval = sign_answer(self.made.settings, who, self.run_id, request)

    def _differences(self, step: Step, done: Sequence[Step], **more: int) -> list[str]:
        expected = wanted(done) | more | ({"receipts": int(step in done)} if step.activity in BY_NAME else {})
        return differences(self.eye, self.document, expected, gate=step.activity)


def differences(eye: Eye, document: str, expected: Json, *, gate: str = "") -> list[str]:
    """What of a document's one run is not as expected, in words; `gate` is whose receipt COUNTS looks at."""
    row = eye.execute("select run_id from cutter_governance.run where document_id = %s", (document,)).fetchone()
    asked = {"run": row and row["run_id"], "document": document, "gate": gate}
    stands = _only(eye, COUNTS, asked) | _only(eye, STANDS, asked)
    return [f"{name}: {stands[name]} instead of {value}" for name, value in expected.items() if stands[name] != value]


def _only(eye: Eye, query: LiteralString, asked: Json) -> Json:
    row = eye.execute(query, asked).fetchone()
    assert row is not None
    return row


_CONTEXT = get_context("forkserver")
"""A process that has all imported and no threads forks the ones that die: each costs some hundredths of a second."""
_CONTEXT.set_forkserver_preload(["tests.campaigns.p02_lost_acknowledgement", "worker"])


def work(settings: Settings, role: WorkerRole, activity: str, argument: Any) -> None:
    """One activity in a process of its own, as a worker of that role does it."""
    _be_quiet()
    FUNCTIONS[activity](build_deps(settings, role), argument)


def _be_quiet() -> None:
    structlog.configure(logger_factory=structlog.ReturnLoggerFactory())
    logging.getLogger("psycopg.pool").setLevel(logging.ERROR)


def play(database: Database, keys: runs.Keys, proxy: CommitProxy, seed: int, numbers: Sequence[int]) -> list[Json]:
    """These runs of a seed, in one database; a row a crash."""
    with (
        runs.deployment(database, keys) as made,
        psycopg.connect(database.url("postgres"), autocommit=True, row_factory=dict_row) as eye,
    ):
        stories = [Story(made=made, proxy=proxy, eye=eye, seed=seed, number=number) for number in numbers]
        return [{"seed": seed, **row} for story in stories for row in story.tell()]


def _share(seeds: Sequence[int], control: int) -> tuple[list[Json], int]:
    """One process's part of the campaign, on a cluster of its own."""
    _be_quiet()
    rows: list[Json] = []
    with own_cluster() as cluster, runs.keyring() as keys, CommitProxy(cluster.cluster.port) as proxy:
        for seed in seeds:
            with cluster.database() as database:
                rows += play(database, keys, proxy, seed, range(RUNS_A_SEED))
        return rows, naive(cluster, proxy, control)


def run(*, seeds: int, seed: int, out: Path | None = None) -> Summary:
    """The campaign, on two processes."""
    shares = [range(seed + first, seed + seeds, WORKERS) for first in range(min(WORKERS, seeds))]
    controls = [-(-CONTROL_TRIALS // len(shares))] * len(shares)
    with ProcessPoolExecutor(len(shares), mp_context=get_context("spawn")) as pool:
        outcomes = list(pool.map(_share, shares, controls))
    rows = [row for some, _ in outcomes for row in some]
    write_lines(out, rows)
    return summary(rows, control=sum(doubled for _, doubled in outcomes), control_n=sum(controls))


def summary(rows: Sequence[Json], *, control: int, control_n: int) -> Summary:
    """A failure is a crash after which something was lost or doubled, or one that did not happen."""
    result = Summary(
        name="P3 crash at every named point", n=len(rows), failures=sum(bool(row["problems"]) for row in rows),
        control=control, control_n=control_n,
    )  # fmt: skip
    result.counts = Counter(row["when"] for row in rows)
    result.counts["points"] = len({(row["step"], row["when"]) for row in rows})
    result.counts["runs through all steps"] = len({(row["seed"], row["run"]) for row in rows})
    result.counts.update(
        f"problem: {row['step']} {row['when']}: {problem}" for row in rows for problem in row["problems"]
    )
    return result


if __name__ == "__main__":
    raise SystemExit(command_line(run, "P3: a crash at every named point", seeds=25))
