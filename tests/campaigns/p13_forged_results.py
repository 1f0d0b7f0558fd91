"""IO: P13: results forged by whoever may write to Temporal, activities scheduled by strangers, a stolen password.

Three arms. `told`: at each gate of a live run the gate's activity is completed from outside with one of
five forgeries while its worker has done nothing; the run must reach its end all the same, with every gate sealed by the
database and two approvals consumed. `scheduled`: a workflow of a stranger runs our activities with chosen arguments
while a run waits for its approval; no row may appear and the run must go on as if nothing had been. `password`: with
cutter_exec's own password and no approval, no unit may be committed, and no law in force may end. The control arm asks
the engine instead of the database: Temporal itself took each forged result for the gate's own.
"""

from __future__ import annotations

import asyncio
import uuid
from collections import Counter
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any

import psycopg
from psycopg.types.json import Jsonb
from temporalio import activity, workflow
from temporalio.client import WorkflowFailureError
from temporalio.worker import (
    ActivityInboundInterceptor,
    ExecuteActivityInput,
    Interceptor,
    UnsandboxedWorkflowRunner,
    Worker,
)

from cutter.catalogue import BY_NAME, GATES, Gate
from cutter.messages import GateInput, GateOutcome
from cutter.types import Json
from temporal import names
from tests.cases.trials import Dice, Summary, command_line, write_lines
from tests.support import gate_calls
from tests.support.stack import THREE_UNITS, Run, Stack, played

FORGERIES = ("passed", "failed", "drift", "ended", "nonsense")
ARGUMENTS = ("nothing_approved", "other_runs_approval", "unknown_run", "path_outside", "wrong_type")
UNITS = "select count(*) from public.information_unit where starts_with(canonical_address, %s)"
STRANGER = "stranger"


def forged(gate: Gate, kind: str) -> Any:
    """A result such as the gate's own, or what is none."""
    if kind == "nonsense":
        return "forged"
    status: Any = kind
    state = {"passed": gate.to_state.value, "failed": f"failed_{gate.phase}", "drift": "stopped_drift_tables"}
    return GateOutcome(
        gate=gate.name, status=status, attempt=1, code="run_ended" if kind == "ended" else "forged",
        reason="forged", state=state.get(kind, "closeout_reported"),
    )  # fmt: skip


# --- told: forged results


class Robber(Interceptor):
    """Keeps a worker from doing each gate the first time, until its result has been forged from outside."""

    def __init__(self, forge: Callable[[str, str], Any]) -> None:
        self.forge = forge
        self.robbed: set[str] = set()

    def intercept_activity(self, next: ActivityInboundInterceptor) -> ActivityInboundInterceptor:
        return _RobbedActivity(next, self)


class _RobbedActivity(ActivityInboundInterceptor):
    def __init__(self, next: ActivityInboundInterceptor, robber: Robber) -> None:
        super().__init__(next)
        self._robber = robber

    async def execute_activity(self, input: ExecuteActivityInput) -> Any:
        info = activity.info()
        if info.activity_type not in BY_NAME or info.activity_type in self._robber.robbed:
            return await super().execute_activity(input)
        self._robber.robbed.add(info.activity_type)
        await self._robber.forge(info.activity_type, info.activity_id)
        # The worker has done nothing, and whatever it says comes too late.
        return None


@dataclass(slots=True, kw_only=True)
class Told:
    """One run, robbed at every gate."""

    stack: Stack
    kinds: dict[str, str]
    taken: list[str] = field(default_factory=list)
    run: Run | None = None

    async def forge(self, gate: str, activity_id: str) -> None:
        assert self.run is not None
        described = await self.run.handle.describe()
        handle = self.stack.client.get_async_activity_handle(
            workflow_id=self.run.handle.id, run_id=described.run_id, activity_id=activity_id
        )
        await handle.complete(forged(BY_NAME[gate], self.kinds[gate]))
        self.taken.append(gate)

    async def play(self, document_id: str) -> list[Json]:
        self.run = run = await self.stack.start(document_id)
        problems = []
        async with self.stack.workers(interceptors=[Robber(self.forge)]):
            try:
                result = await run.through()
                sidecar = await run.sidecar()
                if result.state != "closeout_reported" or sidecar["run"]["state"] != "closeout_reported":
                    problems.append(f"ended as {result.state}, in the database {sidecar['run']['state']}")
                if [receipt["gate"] for receipt in sidecar["receipts"]] != [gate.name for gate in GATES]:
                    problems.append("a gate is not sealed")
                if len(sidecar["consumptions"]) != 2:
                    problems.append(f"{len(sidecar['consumptions'])} approvals consumed")
            except (AssertionError, TimeoutError) as problem:
                problems.append(f"{type(problem).__name__}: {problem}"[:300])
        return [
            {"arm": "told", "gate": gate, "kind": kind, "taken": gate in self.taken, "problems": problems}
            for gate, kind in self.kinds.items()
        ]


# --- scheduled: our activities, a stranger's workflow


@workflow.defn(name="Stranger")
class Stranger:
    """Runs any activity on any task queue with any arguments; nothing in Temporal forbids it."""

    @workflow.run
    async def run(self, order: dict[str, Any]) -> Any:
        return await workflow.execute_activity(
            order["activity"], order["argument"], task_queue=order["queue"],
            start_to_close_timeout=timedelta(seconds=60), heartbeat_timeout=timedelta(seconds=15),
            retry_policy=names.ONCE,
        )  # fmt: skip


def chosen(kind: str, victim: str, other: str) -> Any:
    """The argument of a scheduled gate."""
    match kind:
        case "nothing_approved":
            return GateInput(run_id=victim)
        case "other_runs_approval":
            return GateInput(run_id=victim, approval_kb_ids=(other,))
        case "unknown_run":
            return GateInput(run_id=f"ictr-20261121T090000Z-{uuid.UUID(int=7 << 76 | 2 << 62)}")
        case "path_outside":
            return GateInput(run_id=victim, approval_kb_ids=("../../../etc/passwd.md", "x" * 600 + ".md"))
        case _:
            return {"run_id": [victim], "approval_kb_ids": 7}


async def scheduled(stack: Stack, victim: Run, other: str, trials: Sequence[tuple[Gate, str]]) -> list[Json]:
    """Each gate with each kind of argument, while the victim waits at SG_1; then the victim goes on to its end."""
    rows = []
    async with _stranger(stack):
        for number, (gate, kind) in enumerate(trials):
            answer = await _schedule(stack, gate, chosen(kind, victim.run_id, other), number)
            written = stack.database.value(UNITS, (victim.document_id,))
            problems = [f"{written} rows"] if written else []
            rows.append({"arm": "scheduled", "gate": gate.name, "kind": kind, "said": answer, "problems": problems})
    result = await victim.through()
    if result.state != "closeout_reported" or len((await victim.sidecar())["consumptions"]) != 2:
        rows[-1]["problems"].append(f"the run ended as {result.state}")
    return rows


async def _schedule(stack: Stack, gate: Gate, argument: Any, number: int) -> str:
    order = {"activity": gate.name, "argument": argument, "queue": names.TASK_QUEUES[gate.worker]}
    try:
        answer = await stack.client.execute_workflow("Stranger", order, id=f"stranger/{number}", task_queue=STRANGER)
    except WorkflowFailureError as problem:
        cause = problem.cause.__cause__ or problem.cause
        return f"failed: {getattr(cause, 'type', type(cause).__name__)}"
    return f"{answer['status']}: {answer['code']}"


@asynccontextmanager
async def _stranger(stack: Stack) -> AsyncIterator[None]:
    async with Worker(
        stack.client, task_queue=STRANGER, workflows=[Stranger], workflow_runner=UnsandboxedWorkflowRunner()
    ):
        yield


# --- password: cutter_exec's own password

CREATE = "select public.fn_iu_create(%s, 'T', 'B', 'thief', 'law_unit', 'article', 'incomex_council', 'law', null)"
OPEN = "select cutter_governance.fn_gate_open(%s, 'IG_cut_leg_a_execute', %s, %s, %s, %s, %s)"


def _attempt(connection: psycopg.Connection[Any], run_id: str) -> int:
    row = connection.execute(
        "select cutter_governance.fn_gate_attempt(%s, 'IG_cut_leg_a_execute', 'thief', 60)", (run_id,)
    ).fetchone()
    assert row is not None
    return int(row[0].get("attempt", 0))


def _opened(connection: psycopg.Connection[Any], run_id: str, approvals: list[Json], *, rehearse: bool) -> None:
    number = _attempt(connection, run_id)
    policy = Jsonb(gate_calls.allowed("IG_cut_leg_a_execute"))
    connection.execute(OPEN, (run_id, number, "0" * 64, Jsonb(approvals), rehearse, policy))
    connection.execute(CREATE, (f"{_docprefix(connection, run_id)}/THEFT",))
    connection.commit()


def _docprefix(connection: psycopg.Connection[Any], run_id: str) -> str:
    row = connection.execute("select docprefix from cutter_governance.run where run_id = %s", (run_id,)).fetchone()
    return str(row[0]) if row else ""


def _without_gate(connection: psycopg.Connection[Any], run_id: str) -> None:
    connection.execute(CREATE, (f"{_docprefix(connection, run_id)}/THEFT",))
    connection.commit()


def _insert(connection: psycopg.Connection[Any], run_id: str) -> None:
    connection.execute(
        "insert into public.information_unit (canonical_address) values (%s)", (f"{_docprefix(connection, run_id)}/T",)
    )
    connection.commit()


def _no_approval(connection: psycopg.Connection[Any], run_id: str) -> None:
    _opened(connection, run_id, [], rehearse=False)


def _made_up(connection: psycopg.Connection[Any], run_id: str) -> None:
    _opened(connection, run_id, [{"approval_sha256": "0" * 64, "challenge": "0" * 64}], rehearse=False)


def _rehearsed(connection: psycopg.Connection[Any], run_id: str) -> None:
    _opened(connection, run_id, [], rehearse=True)


THEFTS = (_without_gate, _insert, _no_approval, _made_up, _rehearsed)


def password(stack: Stack, victim: Run) -> list[Json]:
    """Five ways to a row with cutter_exec's password while the run waits at SG_1."""
    rows = []
    for theft in THEFTS:
        outcome = "committed"
        with psycopg.connect(stack.database.url("cutter_exec")) as connection:
            try:
                theft(connection, victim.run_id)
            except psycopg.Error as problem:
                outcome = f"{problem.sqlstate}"
                connection.rollback()
        written = stack.database.value(UNITS, (victim.document_id,))
        problems = [f"{written} rows"] if written else []
        rows.append({"arm": "password", "kind": theft.__name__, "said": outcome, "problems": problems})
    return rows


# --- password: the same, and a revision that waits for its enactment

LAW = (
    "select md5(string_agg(v::text, '|' order by v.id)) from public.unit_version v where v.lifecycle_status <> 'draft'"
)
ENDED = """
update public.unit_version set lifecycle_status = 'superseded', effective_until = effective_from, ended_at = now(),
    ended_by = (select change_set_id from cutter_governance.cut_change_set where run_id = %s)
where lifecycle_status = 'enacted'
"""
ENACT = """
select public.fn_iu_enact(u.canonical_address, 'thief', d.review_decision_id, 'enacted', c.change_set_id)
from cutter_governance.cut_change_set c
join cutter_governance.review_decision d on d.run_id = c.run_id and d.type = 'lifecycle_enactment'
join cutter_governance.cut_change_set_affected_row a on a.change_set_id = c.change_set_id
join public.information_unit u on u.id = a.unit_id
where c.run_id = %s
"""
OPEN_ENACTMENT = "select cutter_governance.fn_gate_open(%s, 'IG_lifecycle_enact_execute', 1, %s, '[]', false, %s)"


def _ended_by_hand(connection: psycopg.Connection[Any], run_id: str) -> str:
    connection.execute(ENDED, (run_id,))
    connection.commit()
    return "committed"


def _enacted_without_gate(connection: psycopg.Connection[Any], run_id: str) -> str:
    answers = {row[0]["status"] for row in connection.execute(ENACT, (run_id,))}
    connection.commit()
    return ", ".join(sorted(answers)) or "nothing tried"


def _enacted_without_approval(connection: psycopg.Connection[Any], run_id: str) -> str:
    connection.execute(
        "select cutter_governance.fn_gate_attempt(%s, 'IG_lifecycle_enact_execute', 'thief', 60)", (run_id,)
    )
    policy = Jsonb(gate_calls.allowed("IG_lifecycle_enact_execute"))
    connection.execute(OPEN_ENACTMENT, (run_id, "0" * 64, policy))
    return _enacted_without_gate(connection, run_id)


REVISION_THEFTS = (_ended_by_hand, _enacted_without_gate, _enacted_without_approval)


async def of_a_revision(stack: Stack) -> list[Json]:
    """Three ways to another law with cutter_exec's password; then the approved one is enacted all the same."""
    document, text = "ICX-REVISED", THREE_UNITS
    stack.register(document, text)
    await (await stack.start(document)).through()
    stack.register(document, text.replace(b"Two.", b"Three."))
    victim = await stack.start(document)
    await victim.approve("SG_cut_authz")
    await victim.until_requested("SG_lifecycle_authz")
    rows = await asyncio.to_thread(_thefts_of_law, stack, victim)
    await victim.approve("SG_lifecycle_authz")
    result = await victim.result()
    if result.state != "closeout_reported":
        rows[-1]["problems"].append(f"the run ended as {result.state}")
    return rows


def _thefts_of_law(stack: Stack, victim: Run) -> list[Json]:
    rows = []
    for theft in REVISION_THEFTS:
        before = stack.database.value(LAW)
        with psycopg.connect(stack.database.url("cutter_exec")) as connection:
            try:
                outcome = theft(connection, victim.run_id)
            except psycopg.Error as problem:
                outcome = f"{problem.sqlstate}"
                connection.rollback()
        problems = [] if stack.database.value(LAW) == before else ["the law has changed"]
        rows.append({"arm": "password", "kind": theft.__name__, "said": outcome, "problems": problems})
    return rows


# --- the campaign


async def play(stack: Stack, *, trials: int, seed: int) -> list[Json]:
    """`trials` of `told`, as many of `scheduled` as there are pairs of gate and argument among them, all thefts."""
    rows: list[Json] = []
    rounds = max(1, -(-trials // len(GATES)))
    for number in range(rounds):
        document = f"ICX-P13-{number}"
        stack.register(document)
        offset = Dice(seed, "offset").below(len(FORGERIES)) + number
        kinds = {gate.name: FORGERIES[(gate.number + offset) % len(FORGERIES)] for gate in GATES}
        rows += await Told(stack=stack, kinds=kinds).play(document)
    turn = Dice(seed, "arguments").below(len(ARGUMENTS))
    pairs = [
        (gate, ARGUMENTS[(gate.number + turn + n) % len(ARGUMENTS)]) for n in range(min(rounds, 5)) for gate in GATES
    ]
    async with stack.workers():
        victim, other = await _victim(stack)
        rows += await asyncio.to_thread(password, stack, victim)
        rows += await scheduled(stack, victim, other, pairs)
        rows += await of_a_revision(stack)
    return rows


async def _victim(stack: Stack) -> tuple[Run, str]:
    """A run that waits at SG_1, and the KB id of another run's good approval."""
    stack.register("ICX-OTHER")
    other = await stack.start("ICX-OTHER")
    await other.until_requested("SG_cut_authz")
    approval = await other.sign()
    await other.handle.signal("cancel")
    await other.result()
    victim = await stack.start()
    await victim.until_requested("SG_cut_authz")
    return victim, approval


def summary(rows: Sequence[Json]) -> Summary:
    """Failures are rows written, runs that did not end well, and forgeries that Temporal did not take (no trial)."""
    told_rows = [row for row in rows if row["arm"] == "told"]
    result = Summary(
        name="P13 forged results",
        n=len(rows),
        failures=sum(bool(row["problems"]) for row in rows),
        control=sum(row["taken"] for row in told_rows),
        control_n=len(told_rows),
    )
    result.counts = Counter(f"{row['arm']} {row['kind']}: {row.get('said', 'undone')}" for row in rows)
    return result


def run(*, trials: int, seed: int, out: Path | None = None) -> Summary:
    """The campaign on a stack of its own."""
    rows = played(play, trials=trials, seed=seed)
    write_lines(out, ({"seed": seed, **row} for row in rows))
    return summary(rows)


if __name__ == "__main__":
    raise SystemExit(command_line(run, "P13: forged results", trials=55))
