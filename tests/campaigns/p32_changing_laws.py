"""IO: P32: random sequences of changes of laws, with kills: the law in force is always that of a simple model.

    python -m tests.campaigns.p32_changing_laws --sequences 20 --steps 12 --seed 1 --out p32.jsonl

Each sequence has a database of its own and a few documents. A step registers a change of one of them (a text, a
correction, a repeal) and takes its run one way: it is enacted, rejected at either gate, voided, or cancelled. The exec
worker is a process that is killed at a random moment of some steps, and some runs are stopped and resumed. After each
step a judge compares the database with the model (tests/cases/changing_laws.py): the law in force on each day, the text
of each version that was ever enacted, and the signatures of each version.

The control arm damages the database by hand, without its triggers, in transactions that are rolled back: a text is
changed, a version is ended without a successor, a signature is lost. The judge must see each damage.
"""

from __future__ import annotations

import asyncio
import contextlib
from asyncio.subprocess import DEVNULL
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from hashlib import sha256
from pathlib import Path
from time import monotonic
from typing import Any, LiteralString

import uuid_utils

from cutter import sources
from cutter.approvals import schema
from cutter.catalogue import WorkerRole
from cutter.domain.run_record import RunRecord
from cutter.errors import Refused
from cutter.storage import runs as run_rows
from cutter.types import Json
from starter.approver import orders
from tests.cases.changing_laws import CORRECTION, REPEAL, Change, Law, Units, drawn
from tests.cases.trials import Dice, Summary, command_line, write_lines
from tests.support.database import Connection
from tests.support.gate_calls import one
from tests.support.stack import OPTIONS, Run, Stack, ground
from tests.support.temporal import until
from tests.support.worker_process import worker_process

CUT, LIFECYCLE = "SG_cut_authz", "SG_lifecycle_authz"
ENACTED, REJECTED, REJECTED_LATE, VOIDED, CANCELLED = "enact", "reject", "reject at SG_2", "void", "cancel"
WAYS = (*[ENACTED] * 6, REJECTED, REJECTED_LATE, VOIDED, CANCELLED)
ENDS = {
    ENACTED: "closeout_reported", REJECTED: "failed_rejected", REJECTED_LATE: "voided_", VOIDED: "voided_",
    CANCELLED: "voided_cancelled",
}  # fmt: skip
EARLY = ("refused", "failed_source_pin", "failed_cutplan", "skipped")
"""How a change ends that no run can enact: before a run, or before anything is written."""

DOCUMENTS = 3
STEP_SECONDS = 240
KILL_PERCENT, STOP_PERCENT = 40, 20
KILLED_WITHIN_MS = 3000
"""A worker is killed up to so long after its step begins to wait for people or writes."""

QUICK: dict[str, Any] = {"heartbeat_timeout_seconds": 2.0, "retry_delays_seconds": (0.2, 1.0, 2.0, 4.0)}

FACTS: LiteralString = """
select jsonb_build_object(
    'versions', (
        select coalesce(jsonb_agg(to_jsonb(v) || jsonb_build_object('address', u.canonical_address)), '[]')
        from public.unit_version v join public.information_unit u on u.id = v.unit_id
        where v.lifecycle_status <> 'draft'),
    'shown', (
        select coalesce(jsonb_object_agg(u.canonical_address, v.body), '{}')
        from public.information_unit u join public.unit_version v on v.id = u.version_anchor_ref
        where u.lifecycle_status = 'enacted' and u.deleted_at is null),
    'drafts', (
        select count(*) from public.unit_version where lifecycle_status = 'draft' and withdrawn_at is null),
    'on', (
        select coalesce(jsonb_object_agg(day, (
            select coalesce(jsonb_object_agg(address, body), '{}') from api.unit_in_force(day))), '{}')
        from unnest(%(days)s::date[]) as day),
    'enactments', (
        select coalesce(jsonb_agg(to_jsonb(e) || jsonb_build_object(
            'receipt_hash', g.receipt_hash, 'signed_digest', c.manifest_version,
            'stored_digest', case when e.base_run_id is not null
                then cutter_governance.fn_revision_digest(e.run_id) else c.manifest_version end,
            'signatures', (
                select jsonb_agg(s.signature_kind order by s.signature_kind) from cutter_governance.dot_pair_signature s
                left join cutter_governance.verify_result r on r.verify_result_id = s.cross_reference_verify_result_id
                where coalesce(s.cross_reference_change_set_id, r.change_set_id) = e.change_set_id),
            'consumptions', (
                select coalesce(jsonb_agg(to_jsonb(k) order by k.gate), '[]')
                from cutter_governance.approval_consumption k where k.run_id = e.run_id)) order by e.n), '[]')
        from public.enactment e
        left join cutter_governance.gate_receipt g on g.run_id = e.run_id and g.gate = 'IG_lifecycle_enact_execute'
        left join cutter_governance.cut_change_set c on c.change_set_id = e.change_set_id))
"""

DAY: LiteralString = "select (enacted_at at time zone 'UTC')::date from public.enactment where run_id = %s"
"""Midnight may pass during a step."""

FIXED = ("address", "version_seq", "body", "content_hash", "title", "effective_from", "enacted_by", "enacted_at")
END = ("lifecycle_status", "effective_until", "ended_by", "ended_at")

DAMAGES: dict[str, tuple[str, LiteralString]] = {
    "a text is changed": (
        "public.unit_version", "update public.unit_version set body = body || '!',"
        " content_hash = encode(sha256(convert_to(body || '!', 'UTF8')), 'hex') where lifecycle_status = 'enacted'"),
    "a version is ended by hand": (
        "public.unit_version",
        "update public.unit_version set lifecycle_status = 'superseded', effective_until = effective_from,"
        " ended_by = enacted_by, ended_at = now() where lifecycle_status = 'enacted'"),
    "a version begins earlier": (
        "public.unit_version",
        "update public.unit_version set effective_from = effective_from - 1 where lifecycle_status = 'enacted'"),
    "the end of a version is moved": (
        "public.unit_version",
        "update public.unit_version set effective_until = effective_until + 1 where effective_until is not null"),
    "a version is lost": (
        "public.unit_version",
        "delete from public.unit_version where id = (select min(id::text)::uuid from public.unit_version"
        " where lifecycle_status = 'enacted')"),
    "a unit shows another version": (
        "public.information_unit",
        "update public.information_unit set lifecycle_status = 'retired' where lifecycle_status = 'enacted'"),
    "an enactment is lost": (
        "public.enactment",
        "delete from public.enactment where (source_document_ref, n) in (select source_document_ref, max(n)"
        " from public.enactment group by 1)"),
    "an enactment names another base": (
        "public.enactment",
        "update public.enactment set base_receipt_hash = repeat('0', 64) where base_run_id is not null"),
    "an approval is lost": (
        "cutter_governance.approval_consumption",
        "delete from cutter_governance.approval_consumption where gate = 'SG_cut_authz'"),
    "an approval is of another digest": (
        "cutter_governance.approval_consumption",
        "update cutter_governance.approval_consumption set writer_digest = repeat('0', 64)"),
    "a signature of a worker is lost": (
        "cutter_governance.dot_pair_signature",
        "delete from cutter_governance.dot_pair_signature where signature_kind = 'executor'"),
}  # fmt: skip
"""By name: the table, and what is done to it without its triggers."""


# --- the judge


@dataclass(slots=True, kw_only=True)
class Judge:
    """The model of each law, and every version that was ever seen enacted."""

    laws: dict[str, Law]
    seen: dict[str, Json] = field(default_factory=dict)

    def days(self) -> list[date]:
        return sorted({day for law in self.laws.values() for day in law.days()})

    def facts(self, connection: Connection) -> Json:
        facts: Json = one(connection, FACTS, {"days": self.days()})
        return facts

    def problems(self, facts: Json) -> list[str]:
        """Everything in which the database is not the model."""
        return [*self._forces(facts), *self._texts(facts), *chain_problems(facts, self.laws)]

    def _forces(self, facts: Json) -> list[str]:
        problems = []
        for day in self.days():
            wanted = merged(law.in_force(day) for law in self.laws.values())
            problems += differences(f"{day}: api.unit_in_force", facts["on"][day.isoformat()], wanted)
            problems += differences(f"{day}: versions", of_versions(facts["versions"], day.isoformat()), wanted)
        newest = merged(law.newest for law in self.laws.values())
        problems += differences("shown", facts["shown"], newest)
        return problems + ([f"{facts['drafts']} drafts are left"] if facts["drafts"] else [])

    def _texts(self, facts: Json) -> list[str]:
        now = {row["id"]: row for row in facts["versions"]}
        problems = [f"{row['address']}: version {row['version_seq']} is lost" for row in self.seen.values()
                 if row["id"] not in now]  # fmt: skip
        for row in now.values():
            before = self.seen.get(row["id"], row)
            fixed = FIXED if before["effective_until"] is None else (*FIXED, *END)
            problems += [f"{row['address']}: {name} has changed" for name in fixed if row[name] != before[name]]
            if sha256(row["body"].encode()).hexdigest() != row["content_hash"]:
                problems.append(f"{row['address']}: the text is not that of its hash")
        return problems

    def remember(self, facts: Json) -> None:
        self.seen = {row["id"]: row for row in facts["versions"]}


def merged(parts: Any) -> Units:
    return {address: body for units in parts for address, body in units.items()}


def differences(what: str, actual: Units, wanted: Units) -> list[str]:
    """Where the law that the database shows differs from that of the model."""
    other = sorted(address for address in actual.keys() | wanted.keys() if actual.get(address) != wanted.get(address))
    return [f"{what}: {name} is {actual.get(name)!r} instead of {wanted.get(name)!r}" for name in other[:2]]


def of_versions(versions: Sequence[Json], day: str) -> Units:
    """The law on a day, by the days of each version alone."""
    return {
        row["address"]: row["body"]
        for row in versions
        if row["effective_from"] <= day and (row["effective_until"] is None or day < row["effective_until"])
    }


def chain_problems(facts: Json, laws: dict[str, Law]) -> list[str]:
    """Each version is of one enactment, and each enactment has one chain: base, approvals, signatures of workers."""
    rows = facts["enactments"]
    problems = []
    for law in laws.values():
        own = [row for row in rows if row["source_document_ref"] == law.document_id]
        wanted = [(enactment.run_id, enactment.kind, enactment.day.isoformat()) for enactment in law.enacted]
        if [(row["run_id"], row["operation_kind"], row["effective_from"]) for row in own] != wanted:
            problems.append(f"{law.document_id}: the enactments are not those of the model")
        for base, row in zip([None, *own], own, strict=False):
            linked = (base and base["run_id"], base and base["receipt_hash"])
            if (row["base_run_id"], row["base_receipt_hash"]) != linked:
                problems.append(f"{row['run_id']}: the base is not the enactment before it")
    problems += [problem for row in rows for problem in signature_problems(row)]
    approvals = Counter(consumption["approval_sha256"] for row in rows for consumption in row["consumptions"])
    problems += [f"approval {sha} is consumed {count} times" for sha, count in approvals.items() if count > 1]
    by = {row["change_set_id"] for row in rows}
    problems += [
        f"{version['address']}: no enactment began it"
        for version in facts["versions"]
        if version["enacted_by"] not in by
    ]
    ended = [version for version in facts["versions"] if version["ended_by"] is not None]
    return problems + [f"{version['address']}: no later enactment ended it" for version in ended
                    if version["ended_by"] not in by - {version["enacted_by"]}]  # fmt: skip


def signature_problems(row: Json) -> list[str]:
    """Two approvals and two signatures of workers, all over the digest that the rows still have."""
    problems = []
    if [consumption["gate"] for consumption in row["consumptions"]] != [CUT, LIFECYCLE]:
        problems.append(f"{row['run_id']}: not one approval for each gate")
    if {consumption["writer_digest"] for consumption in row["consumptions"]} != {row["stored_digest"]}:
        problems.append(f"{row['run_id']}: what was signed is not what is stored")
    if row["signed_digest"] != row["stored_digest"] or row["signatures"] != ["executor", "verifier"]:
        problems.append(f"{row['run_id']}: the change set is not signed once by each worker")
    return problems


# --- the control arm


def blindness(judge: Judge, connection: Connection) -> list[str]:
    """The damages that the judge does not see."""
    unseen = []
    for name, (table, damage) in DAMAGES.items():
        connection.execute(f"alter table {table} disable trigger all".encode())
        connection.execute(damage)
        if not judge.problems(judge.facts(connection)):
            unseen.append(name)
        connection.rollback()
    return unseen


# --- the steps


@dataclass(slots=True, kw_only=True)
class ExecWorker:
    """The exec worker as a process, which can be killed and comes back."""

    stack: Stack
    exits: AsyncExitStack
    process: Any = None
    kills: int = 0

    async def begin(self) -> None:
        self.process = await self.exits.enter_async_context(
            worker_process(self.stack, WorkerRole.EXEC, stdout=DEVNULL)
        )  # fmt: skip

    async def kill(self) -> None:
        self.process.kill()
        await self.process.wait()
        self.kills += 1
        await self.begin()


@asynccontextmanager
async def running_workers(stack: Stack) -> AsyncIterator[ExecWorker]:
    async with stack.workers(WorkerRole.CUTTER, WorkerRole.VERIFY), AsyncExitStack() as exits:
        made = ExecWorker(stack=stack, exits=exits)
        await made.begin()
        yield made


@dataclass(slots=True, kw_only=True)
class Course:
    """One database, its laws and its dice."""

    stack: Stack
    worker: ExecWorker
    dice: Dice
    judge: Judge

    async def step(self) -> Json:
        """One change of one law by one way, judged."""
        law = self.dice.choose([*self.judge.laws.values()])
        today = datetime.now(UTC).date()
        change, way = drawn(law, self.dice, today), self.dice.choose(WAYS)
        ends = EARLY if law.refuses(change, today) else ENDS[way]
        began = monotonic()
        state = await asyncio.wait_for(self._taken(law, change, way), STEP_SECONDS)
        with contextlib.closing(self.stack.database.connect("postgres")) as connection:
            facts = self.judge.facts(connection)
            problems = self.judge.problems(facts)
            self.judge.remember(facts)
        if not state.startswith(ends):
            problems.append(f"{law.document_id}: {change.kind} by way of {way} ended as {state}")
        return {
            "document": law.document_id, "kind": change.kind, "way": way, "state": state, "kills": self.worker.kills,
            "seconds": round(monotonic() - began, 1), "problems": problems,
        }  # fmt: skip

    async def _taken(self, law: Law, change: Change, way: str) -> str:
        """Register the change and bring its run to an end by that way; the model follows."""
        if not await asyncio.to_thread(self._register, law, change):
            return "refused"
        run = await self.stack.start(law.document_id)
        killer = asyncio.create_task(self._kill()) if self.dice.below(100) < KILL_PERCENT else None
        try:
            state = await Passage(run=run, way=way, stops=self.dice.below(100) < STOP_PERCENT, law=law).through()
        finally:
            if killer:
                await killer
        if state == "closeout_reported":
            law.enact(change, run.run_id, self.stack.database.value(DAY, (run.run_id,)))
        return state

    def _register(self, law: Law, change: Change) -> bool:
        """False if the change is refused before a run begins."""
        settings, name = self.stack.settings, law.document_id
        try:
            if change.kind == REPEAL:
                sources.repeal(settings, name, effective=change.effective, reason=f"repeal {uuid_utils.uuid7()}")
                return True
            correction = f"erratum {uuid_utils.uuid7()}" if change.kind == CORRECTION else None
            sources.register(
                settings, change.markdown(), document_id=name, docprefix=name, profile="generic-markdown",
                options=OPTIONS, effective=change.effective, correction=correction,
            )  # fmt: skip
        except Refused:
            return False
        return True

    async def _kill(self) -> None:
        await asyncio.sleep(self.dice.between(1, KILLED_WITHIN_MS) / 1000)
        await self.worker.kill()


@dataclass(slots=True, kw_only=True)
class Passage:
    """The way of one run: what people do at each gate."""

    run: Run
    way: str
    stops: bool
    law: Law
    answered: set[str] = field(default_factory=set)

    async def through(self) -> str:
        """The state in which the run ended; drafts of a rejected one are withdrawn by a signed void."""
        while True:
            sidecar = await self.run.sidecar()
            state = str(sidecar["run"]["state"])
            if sidecar["run"]["ended_at"] is not None:
                with contextlib.suppress(TimeoutError):
                    await self.run.result(seconds=30)
                return await self._ended(state)
            if state.startswith("stopped_"):
                await self._resume(state)
            elif asked := self._asked(sidecar):
                await self._answer(asked)
            await asyncio.sleep(0.1)

    def _asked(self, sidecar: Json) -> str | None:
        """The gate of an open request that has its document and no answer yet."""
        open_ = [request for request in sidecar["requests"] if request["status"] == "requested" and request["kb_id"]]
        return next((request["gate"] for request in open_ if request["kb_id"] not in self.answered), None)

    async def _answer(self, gate: str) -> None:
        await self.run.until_requested(gate)
        await self._second_run_is_refused()
        if self.stops:
            self.stops = False
            await self.run.handle.signal("stop", {"reason": "let me look"})
            await self.run.until_shown("stopped_stop")
            return
        first = gate == CUT
        if self.way == CANCELLED and first:
            await self.run.handle.signal("cancel", {"reason": "cancelled"})
        elif self.way == VOIDED and not first:
            await self.run.handle.signal("void", await self.run.order(schema.VOID, reason="wrong"))
        else:
            no = self.way == (REJECTED if first else REJECTED_LATE)
            decision = schema.REJECT if no else schema.APPROVE
            await self.run.handle.signal("submit_approval", await self.run.sign(decision, text="no" if no else ""))
        sidecar = await self.run.sidecar()
        self.answered |= {
            request["kb_id"] for request in sidecar["requests"] if request["gate"] == gate and request["kb_id"]
        }

    async def _second_run_is_refused(self) -> None:
        """A document has one open live run."""
        with contextlib.suppress(Refused):
            await asyncio.to_thread(run_rows.register_run, self.run.stack.settings, self.law.document_id, "live")
            raise AssertionError(f"{self.law.document_id} has two open runs")

    async def _resume(self, state: str) -> None:
        await self.run.until_shown(state)
        kb_id = f"knowledge/dev/orders/{self.run.run_id}/resume-{uuid_utils.uuid7()}.md"
        await self.run.resume(await self.run.order(schema.RESUME, kb_id=kb_id))

        async def resumed() -> bool:
            return await self.run.state() != state

        # The update is answered before PostgreSQL has the resume. Until then the same stop would be answered twice.
        await until(resumed, what="the resume is recorded")

    async def _ended(self, state: str) -> str:
        if state != "failed_rejected" or self.way != REJECTED_LATE:
            return state
        order = await self.run.order(schema.VOID, reason="rejected")
        sidecar = await self.run.sidecar()
        await orders.through_void_workflow(self.run.stack.settings, RunRecord.of(sidecar["run"]), order)

        async def voided() -> bool:
            return (await self.run.state()).startswith("voided_")

        await until(voided, what="the drafts of a rejected run are withdrawn")
        return await self.run.state()


# --- the campaign


async def play(
    stack: Stack, *, number: int, steps: int, seed: int, documents: int = DOCUMENTS
) -> tuple[list[Json], list[str]]:
    """One sequence on a stack; its steps, and the damages that its judge does not see at the end."""
    laws = {name: Law(document_id=name) for name in (f"ICX-P32-{n}" for n in range(documents))}
    judge = Judge(laws=laws)
    async with running_workers(stack) as made:
        course = Course(stack=stack, worker=made, dice=Dice(seed, number), judge=judge)
        rows = []
        for _ in range(steps):
            rows.append({"sequence": number, **await course.step()})
            if rows[-1]["problems"]:
                break
    with contextlib.closing(stack.database.connect("postgres")) as connection:
        return rows, blindness(judge, connection)


def summary(rows: Sequence[Json], blind: Sequence[str]) -> Summary:
    """A failure is a step after which the database is not the model. A damage counts if any sequence saw it."""
    result = Summary(
        name="P32 changing laws", n=len(rows), failures=sum(bool(row["problems"]) for row in rows),
        control=len(DAMAGES) if not blind else 0, control_n=len(DAMAGES),
    )  # fmt: skip
    result.counts["sequences"] = len({row["sequence"] for row in rows})
    result.counts["kills of the exec worker"] = sum(max(of) for of in _kills(rows).values())
    result.counts.update(f"{row['kind']} by way of {row['way']}: {row['state']}" for row in rows)
    result.counts.update(f"NOT SEEN: {name}" for name in blind)
    result.counts.update(f"PROBLEM: {problem}" for row in rows for problem in row["problems"])
    return result


def _kills(rows: Sequence[Json]) -> dict[int, list[int]]:
    kills: dict[int, list[int]] = {}
    for row in rows:
        kills.setdefault(row["sequence"], []).append(row["kills"])
    return kills


def run(*, sequences: int, steps: int, seed: int, out: Path | None = None) -> Summary:
    """The campaign, each sequence on a stack of its own."""

    async def every() -> tuple[list[Json], list[str]]:
        rows: list[Json] = []
        blind = [*DAMAGES]
        for number in range(sequences):
            async with under.stack(**QUICK) as made:
                more, unseen = await play(made, number=number, steps=steps, seed=seed)
                rows, blind = [*rows, *more], [name for name in blind if name in unseen]
        return rows, blind

    with ground() as under:
        rows, blind = asyncio.run(every())
    write_lines(out, ({"seed": seed, **row} for row in rows))
    return summary(rows, blind)


if __name__ == "__main__":
    raise SystemExit(command_line(run, "P32: changing laws", sequences=20, steps=12))
