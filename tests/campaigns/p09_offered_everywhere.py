"""IO: P9: every approval is offered to every run and gate, by eight at once: each is accepted exactly once.

    python -m tests.campaigns.p09_offered_everywhere --rounds 8 --seed 1 --out p09.jsonl

A round has runs that wait at either sovereign gate, one that has not come to it and one that is over. The approval of
each is offered to all of them, at both gates and at three doors: the judge of messages, the writing gate's own activity
as anyone may schedule it with Temporal, and the database's function as anyone may call it with the exec worker's
password. The own gate is offered it eight times at each door. Last, runs on Temporal are offered each other's approvals
by message. In the end each approval has one consumption, of its own run and gate, and the right units stand.

The control arm takes whatever is signed well and is not marked as used, and then marks it.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from queue import SimpleQueue
from typing import Any, LiteralString

import structlog

from activities.registry import GATE_FUNCTIONS
from activities.run.approval_requests import judge_approval
from cutter.approvals import schema
from cutter.catalogue import GATES, Gate, WorkerRole
from cutter.domain.digests import canonical_digest, sha256_hex
from cutter.errors import NotFound, Unavailable
from cutter.kb.store import Store
from cutter.messages import GateInput, JudgeInput
from cutter.stack.processes import until
from cutter.types import Json
from starter.approver import signing_desk
from temporal.runs import resume
from tests.cases.trials import Dice, Summary, command_line, write_lines
from tests.support import runs
from tests.support.database import Connection, Database, own_cluster
from tests.support.gate_calls import one, open_gate
from tests.support.stack import Run, Stack, ground

AT_ONCE = 8
WAITING = 6
"""Runs of a round that wait at each of the two gates."""
BY_MESSAGE = 4
"""Runs that are offered each other's approvals on Temporal, each as often: a gate hears twenty refusals, no more."""
UNITS = 3
SETTLE_SECONDS = 60

WRITES: dict[str, Gate] = {gate.sovereign.value: gate for gate in GATES if gate.sovereign}
"""The gate that a sovereign gate's approval authorises."""

CONSUMED: LiteralString = "select approval_sha256, run_id, gate from cutter_governance.approval_consumption"
ROWS: LiteralString = (
    "select array[count(*), count(distinct canonical_address), count(*) filter (where lifecycle_status = 'enacted')]"
    " from public.information_unit"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Approval:
    """A signed document and the one place where it holds."""

    kb_id: str
    sha256: str
    challenge: str
    run_id: str
    gate: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """An approval at a door of a run's gate."""

    approval: Approval
    run_id: str
    gate: str
    door: str

    @property
    def own(self) -> bool:
        return (self.run_id, self.gate) == (self.approval.run_id, self.approval.gate)


@dataclass(slots=True, kw_only=True)
class Hall:
    """One deployment, its runs, their approvals, and the ways in."""

    made: runs.Deployment
    waiting: int = WAITING
    run_ids: list[str] = field(default_factory=list)
    approvals: list[Approval] = field(default_factory=list)
    stolen: SimpleQueue[Connection] = field(default_factory=SimpleQueue)

    def fill(self) -> None:
        """Bring the runs to where they wait and sign; nothing is handed over."""
        for gate in WRITES:
            before = GATES[WRITES[gate].number - 2].name
            for _ in range(self.waiting):
                run_id = runs.drive(self.made, until=before).run_id
                self.run_ids.append(run_id)
                self.approvals.append(self._signed(run_id, gate))
        self.run_ids += [runs.drive(self.made).run_id, runs.drive(self.made, until="IG_mark").run_id]
        for _ in range(AT_ONCE):
            self.stolen.put(self.made.database.connect("cutter_exec"))

    def _signed(self, run_id: str, gate: str) -> Approval:
        document, data = signing_desk.read_request(self.made.settings, run_id, self.made.request(run_id, gate))
        who = self.made.keys.signing()
        kb_id = signing_desk.sign_and_upload(
            self.made.settings, signing_desk.answer(document, data, who, schema.APPROVE), who, document.approval_kb_id
        )
        signed = sha256_hex(Store(self.made.settings.kb).get(kb_id))
        return Approval(
            kb_id=kb_id, sha256=signed, challenge=document.request.challenge, run_id=run_id, gate=gate
        )  # fmt: skip

    def offers(self, dice: Dice) -> list[Offer]:
        """Everything to everyone, and to its own gate eight times; in an order that the dice decide."""
        every = [
            Offer(approval=approval, run_id=run_id, gate=gate, door=door)
            for approval in self.approvals for run_id in self.run_ids for gate in WRITES for door in DOORS
        ]  # fmt: skip
        every += [offer for offer in every if offer.own for _ in range(AT_ONCE - 1)]
        return sorted(every, key=lambda _: dice.below(2**32))

    def make(self, offer: Offer) -> str:
        """One offer at its door; what was said there."""
        try:
            return DOORS[offer.door](self, offer)
        except Unavailable as problem:
            return f"away: {problem.what}"

    def by_message(self, offer: Offer) -> str:
        """What the cutter worker does with a message."""
        asked = JudgeInput(run_id=offer.run_id, gate=offer.gate, kb_id=offer.approval.kb_id)
        return "accepted" if judge_approval(self.made.deps[WorkerRole.CUTTER], asked).accepted else "refused"

    def by_activity(self, offer: Offer) -> str:
        """What the exec worker does when the gate is scheduled; a sealed gate answers with its receipt, whatever."""
        gate = WRITES[offer.gate]
        asked = GateInput(run_id=offer.run_id, approval_kb_ids=(offer.approval.kb_id,))
        return str(GATE_FUNCTIONS[gate.name](self.made.deps[gate.worker], asked).status)

    def by_password(self, offer: Offer) -> str:
        """What the database does; an opened gate is left without a COMMIT."""
        gate, connection = WRITES[offer.gate].name, self.stolen.get()
        try:
            registered = one(
                connection, "select cutter_governance.fn_gate_attempt(%s, %s, 'a thief', 60)", (offer.run_id, gate)
            )
            connection.commit()
            if registered["status"] != "registered":
                return str(registered["status"])
            payload = {"run_id": offer.run_id, "gate": gate, "prev_hash": registered["prev_hash"] or ""}
            opened = open_gate(
                connection, gate, offer.run_id, number=registered["attempt"], payload_sha256=canonical_digest(payload),
                approvals=[{"approval_sha256": offer.approval.sha256, "challenge": offer.approval.challenge}],
            )  # fmt: skip
            return "accepted" if opened["status"] == "opened" else str(opened["status"])
        finally:
            connection.rollback()
            self.stolen.put(connection)

    def settle(self, approval: Approval) -> bool:
        """What the workflow does in the end: it is judged, and its gate is sealed."""
        own = {"approval": approval, "run_id": approval.run_id, "gate": approval.gate}
        self.make(Offer(**own, door="message"))
        return until(lambda: self.make(Offer(**own, door="activity")) == "passed", seconds=SETTLE_SECONDS)

    def problems(self) -> list[str]:
        """What does not stand exactly once, in words."""
        with self.made.database.connect("postgres", autocommit=True) as eye:
            consumed = Counter(eye.execute(CONSUMED).fetchall())
            units = one(eye, ROWS)
        ours = {(approval.sha256, approval.run_id, approval.gate) for approval in self.approvals}
        problems = [f"{count} times: {key}" for key, count in consumed.items() if count != 1]
        # The run that is over and those at the second gate have used what the driver signed for them.
        before = 2 + self.waiting
        strange = [key for key in consumed if key not in ours and key[0] in {each[0] for each in ours}]
        problems += [f"consumed elsewhere: {key}" for key in strange]
        problems += [f"not consumed: {key}" for key in ours if key not in consumed]
        if len(consumed) != len(ours) + before:
            problems.append(f"{len(consumed)} consumptions instead of {len(ours) + before}")
        cut, enacted = UNITS * (2 * self.waiting + 1), UNITS * (self.waiting + 1)
        wanted = [cut, cut, enacted]
        return problems if units == wanted else [*problems, f"units {units} instead of {wanted}"]


DOORS = {"message": Hall.by_message, "activity": Hall.by_activity, "password": Hall.by_password}


def one_round(
    database: Database, keys: runs.Keys, *, number: int, seed: int, waiting: int = WAITING
) -> list[Json]:  # fmt: skip
    """All offers by eight at once; a row an offer, what was wrong in the end at the last one."""
    with runs.deployment(database, keys) as made:
        hall = Hall(made=made, waiting=waiting)
        hall.fill()
        offers = hall.offers(Dice(seed, "offers", number))
        with ThreadPoolExecutor(AT_ONCE) as people:
            answers = list(people.map(hall.make, offers))
            consumed = {row[0] for row in _consumed(database)}
            naive = _naive(database, offers, people)
        problems = [
            f"{approval.gate} of {approval.run_id} is not sealed"
            for approval in hall.approvals
            if not hall.settle(approval)
        ]
        problems += hall.problems()
    rows = [
        {"round": number, "door": offer.door, "own": offer.own, "said": word, "problems": _wrong(offer, word)}
        for offer, word in zip(offers, answers, strict=True)
    ]
    rows[-1] |= {
        "problems": problems + rows[-1]["problems"], "naive": naive, "approvals": len(hall.approvals),
        "meanwhile": sum(approval.sha256 in consumed for approval in hall.approvals),
    }  # fmt: skip
    return rows


def _wrong(offer: Offer, answer: str) -> list[str]:
    return [f"{offer.door}: another run's approval was accepted"] if answer == "accepted" and not offer.own else []


def _consumed(database: Database) -> list[tuple[Any, ...]]:
    with database.connect("postgres", autocommit=True) as eye:
        return eye.execute(CONSUMED).fetchall()


def _naive(database: Database, offers: Sequence[Offer], people: ThreadPoolExecutor) -> int:
    """The control arm: how many approvals a look for a mark, and then a mark, accepts twice or for another run."""
    database.run("create table public.control (sha256 text, run_id text, gate text)")
    eyes: SimpleQueue[Connection] = SimpleQueue()
    for _ in range(AT_ONCE):
        eyes.put(database.connect("postgres", autocommit=True))

    def take(offer: Offer) -> None:
        eye = eyes.get()
        if not one(eye, "select count(*) from public.control where sha256 = %s", (offer.approval.sha256,)):
            place = (offer.approval.sha256, offer.run_id, offer.gate)
            eye.execute("insert into public.control values (%s, %s, %s)", place)
        eyes.put(eye)

    list(people.map(take, offers))
    with database.connect("postgres", autocommit=True) as eye:
        marked = eye.execute("select sha256, run_id, gate from public.control").fetchall()
    database.run("drop table public.control")
    right = {(each.approval.sha256, each.approval.run_id, each.approval.gate) for each in offers}
    times = Counter(mark[0] for mark in marked)
    return len({mark[0] for mark in marked if times[mark[0]] > 1 or mark not in right})


async def by_messages(stack: Stack, seed: int) -> list[Json]:
    """Runs on Temporal, offered each other's approvals at both gates by eight people at once; a row an offer."""
    waiting: list[Run] = []
    for number in range(BY_MESSAGE):
        stack.register(f"ICX-P9-{number}", runs.law(UNITS).encode())
        waiting.append(await stack.start(f"ICX-P9-{number}"))
    rows: list[Json] = []
    signed: list[tuple[Run, str]] = []
    async with stack.workers():
        for gate in WRITES:
            for run in waiting:
                await run.until_requested(gate)
                signed.append((run, await run.sign()))
            dice = Dice(seed, "messages", gate)
            offers = [(run, *each) for run in waiting for each in signed]
            offers += [offer for offer in offers if offer[0] is offer[1] for _ in range(BY_MESSAGE - 1)]
            rows += await _sent(stack, sorted(offers, key=lambda _: dice.below(2**32)))
        ended = [(await run.result()).state for run in waiting]
    consumed = Counter(row[1:] for row in _consumed(stack.database))
    problems = [f"a run ended as {state}" for state in ended if state != "closeout_reported"]
    problems += [f"{key}: consumed {count} times" for key, count in consumed.items() if count != 1]
    accepted = Counter(row["approval"] for row in rows if row["said"] == "accepted")
    problems += [f"{kb_id}: accepted {accepted[kb_id]} times" for _, kb_id in signed if accepted[kb_id] != 1]
    if len(consumed) != 2 * BY_MESSAGE:
        problems.append(f"{len(consumed)} consumptions instead of {2 * BY_MESSAGE}")
    rows[-1]["problems"] = problems + rows[-1]["problems"]
    return rows


async def _sent(stack: Stack, offers: Sequence[tuple[Run, Run, str]]) -> list[Json]:
    people = asyncio.Semaphore(AT_ONCE)

    async def send(target: Run, owner: Run, kb_id: str) -> Json:
        async with people:
            try:
                status = (await resume(stack.client, target.document_id, kb_id))["status"]
            except NotFound:
                status = "over"
        own = target is owner
        wrong = ["Temporal: another run's approval was accepted"] if status == "accepted" and not own else []
        return {"door": "Temporal", "own": own, "said": status, "approval": kb_id, "problems": wrong}

    return list(await asyncio.gather(*(send(*offer) for offer in offers)))


@contextmanager
def _quiet() -> Iterator[None]:
    structlog.configure(logger_factory=structlog.ReturnLoggerFactory())
    yield
    structlog.reset_defaults()


def run(*, rounds: int, seed: int, out: Path | None = None) -> Summary:
    """The campaign on a cluster of its own, then once on Temporal."""

    async def on_temporal() -> list[Json]:
        async with under.stack() as stack:
            return await by_messages(stack, seed)

    rows: list[Json] = []
    with _quiet():
        with own_cluster() as cluster, runs.keyring() as keys:
            for number in range(rounds):
                with cluster.database() as database:
                    rows += one_round(database, keys, number=number, seed=seed)
        with ground() as under:
            rows += asyncio.run(on_temporal())
    write_lines(out, ({"seed": seed, **row} for row in rows))
    return summary(rows)


def summary(rows: Sequence[Json]) -> Summary:
    """A failure is an approval that another run or gate took, that was consumed twice or never."""
    approvals = sum(row.get("approvals", 0) for row in rows)
    result = Summary(
        name="P9 offered to every run and gate", n=len(rows), failures=sum(bool(row["problems"]) for row in rows),
        control=sum(row.get("naive", 0) for row in rows), control_n=approvals,
    )  # fmt: skip
    result.counts = Counter(f"{row['door']}, {'own' if row['own'] else 'another'}: {row['said']}" for row in rows)
    result.counts["approvals, each consumed once"] = approvals
    result.counts["of them consumed while eight offered"] = sum(row.get("meanwhile", 0) for row in rows)
    result.counts.update(f"problem: {problem}" for row in rows for problem in row["problems"])
    return result


if __name__ == "__main__":
    raise SystemExit(command_line(run, "P9: approvals offered to every run and gate", rounds=8))
