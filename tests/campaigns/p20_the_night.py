"""IO: P20: the night: a queue with poisoned, dependent and badly approved documents, kills, the knowledge base away.

    python -m tests.campaigns.p20_the_night --documents 100 --poisoned 10 --lanes 4 --kills 2 --outages 1 --plain

In the afternoon the queue is rehearsed and signed for the night; then one document's approval has expired, another's
text is changed, two are left out (none of this with --plain). In the night worker and server are killed and `cutter up`
typed, and the knowledge base goes away for some seconds. In the morning exactly the right documents are law and the
others stand in the right queues; the commands that the queues show are typed and must work; nothing is doubled. The
control arm is the question of overlaps, asked of gates that have no lane: there it must find some.
"""

from __future__ import annotations

import shlex
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import timedelta
from pathlib import Path
from time import monotonic
from typing import Any, LiteralString

import psycopg
import uuid_utils

from cutter import sources
from cutter.batch import batch_step, documents
from cutter.batch.item import REVIEW
from cutter.batch.view import BatchView
from cutter.catalogue import GATES, PLANNED
from cutter.types import Json
from starter.approver import signing_desk
from starter.commands import demo
from temporal import batches
from tests.cases.faults import WORKERS, Faults
from tests.cases.trials import Dice, Summary, command_line, write_lines
from tests.support.batch import CUT, OVERLAPS, law, queue_yaml
from tests.support.processes import CUTTER_WORKER, TEMPORAL, Stack, stack, wait
from tests.support.stack import OPTIONS

UNITS = 3
"""Of each good law: an act and two articles."""
POISON = b"A text that has no heading at all.\n"
LANED = ("IG_cut_leg_a_execute", "IG_lifecycle_enact_execute")
COMMAND_SECONDS = 240


@dataclass(frozen=True, slots=True, kw_only=True)
class Cast:
    """Who is who in the queue, by document id."""

    good: tuple[str, ...]
    poisoned: tuple[str, ...]
    dependent: tuple[str, ...] = ()
    unsigned: tuple[str, ...] = ()
    expired: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    stepped: tuple[str, ...] = ()
    """Signed by somebody whose clock is hours off."""

    @property
    def all(self) -> tuple[str, ...]:
        return (*self.poisoned, *self.dependent, *self.late, *self.good)

    @property
    def late(self) -> tuple[str, ...]:
        """Those that no approval covers when it is needed."""
        return (*self.unsigned, *self.expired, *self.changed, *self.stepped)

    def expected(self) -> dict[str, tuple[str, str | None]]:
        """Each document's outcome in the morning, and the queue that it stands in."""
        outcomes: dict[str, tuple[str, str | None]] = dict.fromkeys(self.good, ("enacted", None))
        outcomes |= dict.fromkeys(self.poisoned, ("failed", batch_step.QUARANTINE))
        outcomes |= dict.fromkeys(self.dependent, ("blocked", None))
        return outcomes | dict.fromkeys(self.late, ("at_sg1", REVIEW))


def cast(count: int, poisoned: int, *, plain: bool) -> Cast:
    """That many documents; the special ones are among them."""
    names = [f"NIGHT-{number:03d}" for number in range(1, count + 1)]
    bad, rest = tuple(names[:poisoned]), tuple(names[poisoned:])
    if plain:
        return Cast(poisoned=bad, good=rest)
    few = 2 if count >= 20 else 1
    return Cast(
        poisoned=bad, dependent=rest[:1], unsigned=rest[1 : 1 + few], expired=rest[1 + few : 2 + few],
        changed=rest[2 + few : 3 + few], good=rest[3 + few :],
    )  # fmt: skip


@dataclass(slots=True, kw_only=True)
class Night:
    """One night from the afternoon before to the morning after."""

    stack: Stack
    cast: Cast
    lanes: int
    dice: Dice
    faults: Faults
    seconds: float
    batch_id: str = field(default_factory=lambda: str(uuid_utils.uuid7()))
    problems: list[str] = field(default_factory=list)
    events: list[Json] = field(default_factory=list)

    @property
    def home(self) -> Path:
        return self.stack.state / "demo" / "gpg"

    @property
    def queue(self) -> Path:
        return self.stack.state / "night" / f"{self.batch_id}.yaml"

    # --- the afternoon --------------------------------------------------------------------------------------------

    def afternoon(self) -> None:
        """Register, rehearse, sign; then what was signed for one document is no longer what it says."""
        for number, name in enumerate(self.cast.all, start=1):
            self._register(name, POISON if name in self.cast.poisoned else law(number, UNITS - 1))
        items = [{"document_id": name, **self._needs(name)} for name in self.cast.all]
        self.queue.parent.mkdir(exist_ok=True)
        self.queue.write_bytes(queue_yaml(items, self.batch_id))
        rehearsed = self.stack.cutter(
            "orchestrate", "batch", "--queue", str(self.queue), "--mode", "dryrun", "--quarantine", "--wait",
            seconds=self.seconds,
        )  # fmt: skip
        view = asdict(batches.view(self.stack.settings, f"{self.batch_id}-dryrun"))
        ready = {item["document_id"] for item in view["items"] if item["outcome"] == "rehearsed"}
        wanted = {*self.cast.good, *self.cast.late}
        if ready != wanted:
            self.problems.append(f"rehearsed {sorted(ready ^ wanted)[:5]} wrongly: {rehearsed.stderr[-300:]}")
        self._sign(view)

    def _register(self, name: str, data: bytes) -> None:
        sources.register(
            self.stack.settings, data, document_id=name, docprefix=name, profile="generic-markdown", options=OPTIONS
        )  # fmt: skip

    def _needs(self, name: str) -> Json:
        return {"depends_on": [self.cast.poisoned[0]]} if name in self.cast.dependent else {}

    def _sign(self, view: Json) -> None:
        chosen = [name for name in self.cast.all if name in (*self.cast.good, *self.cast.changed)]
        only = [word for name in chosen for word in ("--only", name)]
        self._typed(["cutter", "approve", "--batch", self.batch_id, *only])
        for item in view["items"]:
            if item["document_id"] in self.cast.expired:
                self._sign_for_a_second(item)
        for name in self.cast.changed:
            self._register(name, law(1000, UNITS))

    def _sign_for_a_second(self, item: Json) -> None:
        settings = self.stack.settings
        document, data = signing_desk.read_request(settings, item["run_id"], item["request_kb_id"])
        who = signing_desk.who(settings, demo.APPROVER, None, self.home)
        statement = signing_desk.answer_before(
            document, data, who, gate=CUT, batch_id=self.batch_id, review_decision_id=""
        )
        statement = replace(statement, not_after=statement.signed_utc + timedelta(seconds=1))
        signing_desk.sign_and_upload(
            settings, statement, who, documents.pre_batched(self.batch_id, CUT, item["document_id"])
        )  # fmt: skip

    # --- the night ------------------------------------------------------------------------------------------------

    def fall(self) -> None:
        """Start it."""
        self.stack.json(
            "orchestrate", "batch", "--queue", str(self.queue), "--overnight", "--max-concurrent", str(self.lanes),
            code=None,
        )  # fmt: skip

    def night(self, kills: int, outages: int) -> None:
        """Start it, do it harm while it goes on, wait until nothing moves any more."""
        self.fall()
        harms = [self._kill] * kills + [self._outage] * outages
        gates = len(self.cast.good) * len(GATES) + len(self.cast.late) * len(PLANNED)
        began = monotonic()
        for number, harm in enumerate(harms, start=1):
            wanted = gates * number // (len(harms) + 1)
            wait(lambda wanted=wanted: self.sealed() >= wanted, seconds=self.seconds, what=f"{wanted} gates")
            harm(number)
        wait(lambda: self.over() and not self._unpublished(), seconds=self.seconds, what="the end of the night")
        self._say("morning", seconds=round(monotonic() - began))

    def sealed(self) -> int:
        """Gates of the batch that are sealed."""
        return self._count(
            "select count(*) from cutter_governance.gate_receipt g join cutter_governance.run r using (run_id)"
            " where g.sealed_at is not null and r.batch_id = %s", self.batch_id,
        )  # fmt: skip

    def _kill(self, number: int) -> None:
        worker = self.dice.choose(WORKERS) if number > 1 else CUTTER_WORKER
        sealed = self.sealed()
        self.faults.kill(worker, TEMPORAL)
        self._say(f"killed {worker} and {TEMPORAL}", sealed=sealed)

    def _outage(self, _number: int) -> None:
        sealed = self.sealed()
        self.faults.away()
        self._say("knowledge base away", sealed=sealed)

    def over(self) -> bool:
        """Nothing moves any more, and the report says so; what is said of it may still be on its way."""
        try:
            view = self.view()
        except psycopg.Error:
            return False
        attended = not view["batch"]["unattended"]
        if not batch_step.summarise(BatchView.of(view), attended=attended).over:
            return False
        reports = "select count(*) from cutter_governance.outbox where batch_id = %s and kind = 'batch_report'"
        return self._count(reports, self.batch_id) > 0

    def _unpublished(self) -> int:
        return self._count("select count(*) from cutter_governance.outbox where done_at is null")

    # --- the morning ----------------------------------------------------------------------------------------------

    def morning(self) -> None:
        """Who is law, who waits where; then type what the queues say."""
        view = self.view()
        items = batch_step.items_of(BatchView.of(view))
        outcomes = {item.document_id: (item.outcome or item.stage).value for item in items}
        queues = {item["document_id"]: item["queue"] for item in view["items"]}
        for name, (outcome, queue) in self.cast.expected().items():
            if (outcomes[name], queues[name]) != (outcome, queue):
                item = next(item for item in view["items"] if item["document_id"] == name)
                self.problems.append(
                    f"{name}: {outcomes[name]} in {queues[name]} instead of {outcome} in {queue}:"
                    f" {item['state']} {item['reason']}"
                )
        self.problems += self.doubled(len(self.cast.good))
        if not self.problems:
            self._type_what_the_queues_say()
            # What was put right waits for its first approval, as a document that was added by day does.
            left = len(self.cast.poisoned)
            wait(lambda: len(self._queued()) == left, seconds=COMMAND_SECONDS, what="only the corrected ones in queues")
            self.problems += self.doubled(len(self.cast.good) + len(self.cast.late), reports=None)

    def _queued(self) -> list[Json]:
        """What `cutter queues` shows. A row may outlive its wait until the batch looks again; this does not."""
        return list(self.stack.json("queues", "--batch", self.batch_id)["waiting"])

    def doubled(self, enacted: int, *, reports: int | None = 1) -> list[str]:
        """What is not there exactly once; empty when all is.

        `reports`: how many reports the batch has. None after people moved its documents, because each look of the batch
        then reports what has changed; even then, no two reports say the same.
        """
        row = self.stack.rows(
            """
            select (select count(*) from public.information_unit where lifecycle_status = 'enacted') as enacted,
                (select count(*) from public.information_unit) as units,
                (select count(distinct canonical_address) from public.information_unit) as addresses,
                (select count(*) from cutter_governance.gate_receipt where sealed_at is null) as unsealed,
                (select count(*) from cutter_governance.approval_consumption) as consumed,
                (select count(distinct (document_id, gate)) from cutter_governance.approval_consumption) as opened,
                (select count(*) from (select 1 from cutter_governance.batch_queue where batch_id = %(batch)s
                    group by document_id, queue, state having count(*) > 1) as twice) as queued_twice,
                (select count(*) from cutter_governance.outbox
                    where batch_id = %(batch)s and kind = 'batch_report') as reports,
                (select count(distinct body) from cutter_governance.outbox
                    where batch_id = %(batch)s and kind = 'batch_report') as different_reports
            """,
            {"batch": self.batch_id},
        )[0]
        units = enacted * UNITS + sum(name in self.cast.changed for name in self.cast.late) * self._changed(enacted)
        unsettled = len(self.cast.poisoned) + len(self.cast.late) - (enacted - len(self.cast.good))
        wanted = {
            "enacted": units, "units": units, "addresses": units, "unsealed": 0, "consumed": 2 * enacted,
            "opened": 2 * enacted, "queued_twice": 0, "reports": reports or row["different_reports"],
        }  # fmt: skip
        problems = [f"{name}: {row[name]} instead of {value}" for name, value in wanted.items() if row[name] != value]
        if len(self._queued()) != unsettled:
            problems.append(f"queued: {len(self._queued())} instead of {unsettled}")
        overlaps = {gate: self._count(OVERLAPS, gate) for gate in LANED}
        return problems + [f"{gate}: {count} times two at once" for gate, count in overlaps.items() if count]

    def _changed(self, enacted: int) -> int:
        """The changed text has one unit more."""
        return int(enacted > len(self.cast.good))

    def _type_what_the_queues_say(self) -> None:
        entries = self._queued()
        for entry in entries:
            shown = self.stack.cutter("queues", "show", entry["run_id"])
            if shown.returncode != 0 or entry["commands"][0] not in shown.stdout:
                self.problems.append(f"queues show {entry['run_id']}: {shown.stderr[-200:]}")
            (self._review if entry["queue"] == REVIEW else self._correct)(entry)
        self._say("commands typed", entries=len(entries))

    def _review(self, entry: Json) -> None:
        """Sign and hand over, at both gates: by the one line that the document shows, then by the command."""
        run_id = entry["run_id"]
        kb_id = self.stack.approve(run_id)
        line = f"cutter orchestrate resume --run-id {run_id} --approval-kb-id {kb_id}"
        shown = self.stack.cutter("queues", "show", run_id).stdout
        if line not in shown:
            self.problems.append(f"{entry['document_id']}: its document does not say `{line}`")
        self._typed(shlex.split(line))
        self._until(run_id, "awaiting_lifecycle_authorization")
        wait(lambda: self._signable(run_id), seconds=60, what="the second request")
        self._typed(["cutter", "approve", run_id])
        self._until(run_id, "closeout_reported")

    def _correct(self, entry: Json) -> None:
        """Put the text right, and type the commands in their order."""
        file = self.stack.state / "corrected.md"
        file.write_bytes(law(int(entry["document_id"][-3:]), UNITS - 1))
        for command in entry["commands"]:
            words = {"FILE": str(file), "PROFILE": "generic-markdown", "TEXT": "a corrected text follows"}
            self._typed([words.get(word, word) for word in shlex.split(command)])

    def _until(self, run_id: str, state: str) -> None:
        wait(lambda: self.stack.waits_in(run_id) == state, seconds=COMMAND_SECONDS, what=f"{run_id} {state}")

    def _signable(self, run_id: str) -> bool:
        return not self.stack.unpublished(run_id)

    def _typed(self, words: Sequence[str]) -> None:
        """A command as a person types it; who signs says with which key, and is not asked again."""
        signs = words[1] in ("approve", "void")
        more = ("--yes", "--approver", demo.APPROVER, "--gpg-home", str(self.home)) if signs else ()
        done = self.stack.cutter(*words[1:], *more, seconds=COMMAND_SECONDS)
        if done.returncode != 0:
            self.problems.append(f"{shlex.join(words)}: exit {done.returncode}: {(done.stderr or done.stdout)[-300:]}")

    # --- looking --------------------------------------------------------------------------------------------------

    def view(self) -> Json:
        return asdict(batches.view(self.stack.settings, self.batch_id))

    def overlaps_without_a_lane(self) -> int:
        """The control: the same question of gates that may run beside each other."""
        return sum(self._count(OVERLAPS, gate.name) for gate in GATES if gate.name not in LANED)

    def _count(self, query: LiteralString, *parameters: str) -> int:
        return int(self.stack.value(query, parameters))

    def _say(self, what: str, **more: Any) -> None:
        self.events.append({"event": what, **more})
        print(f"  {what} {more or ''}", file=sys.stderr, flush=True)


def run(
    *, documents: int, poisoned: int, lanes: int, kills: int, outages: int, plain: bool, seed: int,
    out: Path | None = None, seconds: float = 3600, setting: Callable[[], Any] = lambda: stack("cn"),
) -> Summary:  # fmt: skip
    """One night on a stack of its own."""
    with setting() as made:
        made.up()
        made.approver()
        dice = Dice(seed, "night")
        night = Night(
            stack=made, cast=cast(documents, poisoned, plain=plain), lanes=lanes, dice=dice, seconds=seconds,
            faults=Faults(stack=made, dice=dice),
        )  # fmt: skip
        night.afternoon()
        if not night.problems:
            night.night(kills, outages)
            night.morning()
        control = night.overlaps_without_a_lane()
        rows = list(_rows(night))
    write_lines(out, ({"seed": seed, **row} for row in rows))
    return _summary(night, rows, control)


def _rows(night: Night) -> Iterator[Json]:
    outcomes = {
        item.document_id: (item.outcome or item.stage).value for item in batch_step.items_of(BatchView.of(night.view()))
    }
    for name, (outcome, queue) in night.cast.expected().items():
        mine = [problem for problem in night.problems if name in problem]
        yield {"document": name, "expected": outcome, "queue": queue, "at_last": outcomes.get(name), "problems": mine}
    named = {problem for name in night.cast.all for problem in night.problems if name in problem}
    yield {"events": night.events, "problems": [problem for problem in night.problems if problem not in named]}


def _summary(night: Night, rows: list[Json], control: int) -> Summary:
    result = Summary(
        name="P20 the night", n=len(night.cast.all), failures=len(night.problems), control=control, control_n=control
    )
    result.counts = Counter(f"in the morning {row['expected']}" for row in rows if "document" in row)
    result.counts.update(f"problem: {problem}"[:300] for problem in night.problems)
    result.counts.update(f"{event['event']}" for event in night.events)
    return result


if __name__ == "__main__":
    raise SystemExit(
        command_line(run, "P20: the night", documents=30, poisoned=2, lanes=2, kills=2, outages=1, plain=False)
    )
