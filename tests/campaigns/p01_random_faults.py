"""IO: P1: random faults over whole runs: whatever dies and whenever, nothing is lost and nothing is doubled.

    python -m tests.campaigns.p01_random_faults --runs 100 --seed 1 --out p01.jsonl

Batches of small laws are rehearsed and signed as in P20, some of them by people whose clock is hours off. Then the
live batch runs while the faults of the table strike one after the other, in an order and at times that the seed and the
machine decide. When nothing moves any more, each document is judged by the database: what its sealed gates say that
they wrote stands exactly once, each approval was consumed once, and its run is over or waits for people.

The control arm damages what stands (a unit lost, moved, not enacted; approvals consumed twice; a receipt lost; a run
that hangs) in transactions that are rolled back: the judge must see each.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from pathlib import Path
from time import monotonic, sleep
from typing import LiteralString

import psycopg
from psycopg.rows import dict_row

from cutter.approvals.statement import render
from cutter.batch import documents
from cutter.catalogue import GATES
from cutter.gpg import Gpg
from cutter.kb.ids import signature_of
from cutter.kb.store import Store
from cutter.kb.write_once import put
from cutter.stack.processes import until
from cutter.types import Json
from starter.approver import signing_desk
from starter.commands import demo
from tests.campaigns.p20_the_night import UNITS, Cast, Night
from tests.cases.approval_cases import raw_gpg
from tests.cases.faults import KINDS, Faults, own_disk
from tests.cases.trials import Dice, Summary, command_line, write_lines
from tests.support.batch import CUT
from tests.support.processes import Stack, stack
from tests.support.proxy import CommitProxy

A_BATCH = 50
FIRED_PERCENT = 3
"""Of the runs, for each kind of fault."""
SUCCESS_PERCENT = 30
PAUSE_SECONDS = 1.0
STILL_SECONDS = 15.0
"""At least and at most between two faults; in between, the next one waits until something was done that it can hit."""
MORE_BATCHES = 5
MORE_RUNS = 10
"""Played at the end for faults that found nothing to hit, or a batch that was over before they came. A large campaign
plays as many more batches as it had, because each takes only a few of them."""
NIGHT_SECONDS = 1800
CLOCK = "clock of an approver stepped"
CLOCK_HOURS = (-5, -2, 2, 5)

QUICK = {
    "CUTTER_HEARTBEAT_TIMEOUT_SECONDS": "3",
    "CUTTER_RETRY_DELAYS_SECONDS": "[1, 2, 4, 8]",
    "CUTTER_LANE_WAIT_SECONDS": "0.5",
    "CUTTER_OUTAGE_LOOK_SECONDS": "2",
}
"""Waits of seconds and minutes, shrunk; pinned in each run at its start."""

RESTS = re.compile(r"closeout_reported|(failed|voided|stopped)_.+|awaiting_\w+_authorization")
"""States in which a run is over or waits for people."""

SEEN: LiteralString = """
select i.document_id, r.run_id, r.state, r.ended_at is not null as ended, i.decided,
    (select count(*) from cutter_governance.run o where o.document_id = i.document_id and o.mode = 'live') as runs,
    g.claims, g.sealed, g.cut, g.enacted_by, u.units, u.addresses, u.enacted, c.consumed, c.approvals, c.opened,
    (select count(*) from cutter_governance.outbox x where x.run_id = r.run_id and x.done_at is null) as unpublished,
    (select count(*) from cutter_governance.gate_attempt a where a.run_id = r.run_id and a.n > 1) as again
from cutter_governance.batch_item i
left join cutter_governance.run r on r.batch_id = i.batch_id and r.document_id = i.document_id
cross join lateral (
    select count(*) as claims, count(sealed_at) as sealed,
        count(sealed_at) filter (where gate = 'IG_cut_leg_a_execute') as cut,
        count(sealed_at) filter (where gate = 'IG_lifecycle_enact_execute') as enacted_by
    from cutter_governance.gate_receipt where run_id = r.run_id) as g
cross join lateral (
    select count(*) as units, count(distinct canonical_address) as addresses,
        count(*) filter (where lifecycle_status = 'enacted') as enacted
    from public.information_unit where starts_with(canonical_address, i.document_id || '/')) as u
cross join lateral (
    select count(*) as consumed, count(distinct approval_sha256) as approvals, count(distinct gate) as opened
    from cutter_governance.approval_consumption k where k.document_id = i.document_id) as c
where i.batch_id = %s
"""


def judge(row: Json) -> list[str]:
    """What is lost, doubled or hanging of one document; nothing in the row is believed but the sealed gates."""
    sealed, units, gates = row["sealed"], UNITS * row["cut"], row["cut"] + row["enacted_by"]
    wanted = {
        "runs": int(row["run_id"] is not None), "claims": sealed, "units": units, "addresses": units,
        "enacted": UNITS * row["enacted_by"], "consumed": gates, "approvals": gates, "opened": gates, "unpublished": 0,
    }  # fmt: skip
    problems = [f"{name}: {row[name]} instead of {value}" for name, value in wanted.items() if row[name] != value]
    if not (RESTS.fullmatch(row["state"]) if row["run_id"] else row["decided"]):
        problems.append(f"neither over nor waiting: {row['state'] or row['decided']}")
    if (sealed == len(GATES)) is not (row["state"] == "closeout_reported"):
        problems.append(f"{row['state']} with {sealed} sealed gates")
    return problems


DAMAGES: dict[str, tuple[LiteralString, LiteralString]] = {
    "a unit is lost": (
        "public.information_unit",
        "delete from public.information_unit where canonical_address = (select min(canonical_address)"
        " from public.information_unit where starts_with(canonical_address, %(a)s || '/'))",
    ),
    "a unit stands with another document": (
        "public.information_unit",
        "update public.information_unit set canonical_address = %(b)s || '/MOVED' where canonical_address = ("
        " select min(canonical_address) from public.information_unit"
        " where starts_with(canonical_address, %(a)s || '/'))",
    ),
    "a unit is not enacted": (
        "public.information_unit",
        "update public.information_unit set lifecycle_status = 'draft' where canonical_address = ("
        " select min(canonical_address) from public.information_unit"
        " where starts_with(canonical_address, %(a)s || '/'))",
    ),
    "approvals are consumed twice": (
        "cutter_governance.approval_consumption",
        "update cutter_governance.approval_consumption set document_id = %(a)s where document_id = %(b)s",
    ),
    "a receipt is lost": (
        "cutter_governance.gate_receipt",
        "delete from cutter_governance.gate_receipt where gate = 'IG_write_verify' and run_id in (select run_id"
        " from cutter_governance.run where document_id = %(a)s and mode = 'live')",
    ),
    "a run hangs": (
        "cutter_governance.run",
        "update cutter_governance.run set state = 'marked' where document_id = %(a)s and mode = 'live'",
    ),
}
"""By name: the table, and what is done to it; `a` and `b` are documents that became law."""


@dataclass(slots=True, kw_only=True)
class Storm(Night):
    """One batch under faults. `left` are the strikes that are still to come."""

    left: list[str]
    fired: Counter[str] = field(default_factory=Counter)

    def _sign(self, view: Json) -> None:
        super(Storm, self)._sign(view)
        items = {item["document_id"]: item for item in view["items"]}
        for name in self.cast.stepped:
            self._sign_by_another_clock(items[name])
            self.fired[CLOCK] += 1

    def _sign_by_another_clock(self, item: Json) -> None:
        """The cut's approval, signed on a machine whose clock is hours off; it must count for nothing."""
        settings = self.stack.settings
        document, data = signing_desk.read_request(settings, item["run_id"], item["request_kb_id"])
        who = signing_desk.who(settings, demo.APPROVER, None, self.home)
        step = timedelta(hours=self.dice.choose(CLOCK_HOURS))
        statement = signing_desk.answer_before(
            document, data, who, gate=CUT, batch_id=self.batch_id, review_decision_id=""
        )
        statement = replace(statement, signed_utc=statement.signed_utc + step, not_after=statement.not_after + step)
        time = ("--faked-system-time", f"{int(statement.signed_utc.timestamp())}", "--ignore-time-conflict")
        words = ("--armor", "--local-user", who.fingerprint, "--detach-sign", "-")
        kb_id, store = documents.pre_batched(self.batch_id, CUT, item["document_id"]), Store(settings.kb)
        put(store, signature_of(kb_id), raw_gpg(Gpg(self.home), *time, *words, stdin=render(statement)))
        put(store, kb_id, render(statement))

    def rage(self) -> None:
        """Start the batch, strike until nothing is left, wait until nothing moves any more."""
        self.fall()
        spacing = len(self.cast.good) * len(GATES) // (len(self.left) + 1)
        began, last = monotonic(), (0, monotonic())
        while not self.over():
            if monotonic() - began > NIGHT_SECONDS:
                self.problems.append(f"not over after {NIGHT_SECONDS} s")
                return
            sealed, pause = self.sealed() - last[0], monotonic() - last[1]
            if self.left and pause > PAUSE_SECONDS and (sealed >= spacing or pause > STILL_SECONDS):
                self._strike(self.left.pop())
                last = (self.sealed(), monotonic())
            sleep(0.2)
        self._settle()

    def _strike(self, kind: str) -> None:
        sealed, began = self.sealed(), monotonic()
        if self.faults.strike(kind):
            self.fired[kind] += 1
            self._say(kind, sealed=sealed, seconds=round(monotonic() - began, 1))
        else:
            self.left.insert(0, kind)

    def _settle(self) -> None:
        """What a stopped run still has to say is put by the reconciler, as it is every quarter of an hour."""
        if not until(lambda: not self._unpublished(), seconds=20):
            self.stack.cutter("reconcile")

    def rows(self) -> Iterator[Json]:
        """A document a row, judged."""
        for row in self.stack.rows(SEEN, (self.batch_id,)):
            yield {"document": row["document_id"], "state": row["state"], "again": row["again"], "problems": judge(row)}

    def blindness(self) -> list[str]:
        """The control arm: the damages that the judge does not see."""
        law = [row["document"] for row in self.rows() if row["state"] == "closeout_reported"]
        if len(law) < 2:
            return [*DAMAGES]
        asked = {"a": law[0], "b": law[1]}
        return [name for name, damage in DAMAGES.items() if not self._seen(damage, asked)]

    def _seen(self, damage: tuple[LiteralString, LiteralString], asked: Json) -> bool:
        with psycopg.connect(self.stack.superuser(), row_factory=dict_row) as connection:
            connection.execute(f"alter table {damage[0]} disable trigger all")
            connection.execute(damage[1], asked)
            rows = connection.execute(SEEN, (self.batch_id,)).fetchall()
            connection.rollback()
        return any(judge(row) for row in rows)


def cast(batch: int, count: int) -> Cast:
    """Some with a text that cannot be cut, some signed by a wrong clock; the others are good."""
    names = [f"STORM-{batch:02d}-{number:03d}" for number in range(1, count + 1)]
    few = -(-count * FIRED_PERCENT // 100)
    return Cast(poisoned=tuple(names[:1]), stepped=tuple(names[1 : 1 + few]), good=tuple(names[1 + few :]))


def batches_of(runs: int) -> list[int]:
    """Sizes of the batches: as equal as can be, none over A_BATCH."""
    count = -(-runs // A_BATCH)
    return [runs // count + (number < runs % count) for number in range(count)]


def strikes(runs: int, kinds: Sequence[str], dice: Dice) -> list[str]:
    """Each kind as often as it must fire, in a random order."""
    every = [kind for kind in kinds for _ in range(-(-runs * FIRED_PERCENT // 100))]
    return sorted(every, key=lambda _: dice.below(2**32))


def _storms(made: Stack, proxy: CommitProxy, runs: int, seed: int, kinds: Sequence[str]) -> Iterator[Storm]:
    dice = Dice(seed, "storm")
    faults, left = Faults(stack=made, dice=dice, proxy=proxy), strikes(runs, kinds, dice)
    sizes = batches_of(runs)
    more = max(MORE_BATCHES, len(sizes))
    for number, size in enumerate([*sizes, *[MORE_RUNS] * more]):
        if number >= len(sizes) and not left:
            return
        now = -(-len(left) // max(1, len(sizes) - number))
        storm = Storm(
            stack=made, cast=cast(number, size), lanes=4, dice=dice, faults=faults, seconds=NIGHT_SECONDS,
            left=left[:now],
        )  # fmt: skip
        storm.afternoon()
        storm.rage()
        # What found nothing to hit strikes in the next batch.
        left = [*left[now:], *storm.left]
        yield storm


def run(*, runs: int, seed: int, out: Path | None = None) -> Summary:
    """The campaign on a stack of its own, with a small disk of its own where root may mount one."""
    with stack("c1", **QUICK) as made, own_disk(made.state) as refused:
        kinds = [kind for kind in KINDS if kind != "disk full" or not refused]
        made.up()
        try:
            made.approver()
            rows, blind, problems, fired = [], [*DAMAGES], [], Counter[str]()
            with CommitProxy(int((made.state / "postgres" / "port").read_text(encoding="ascii"))) as proxy:
                for number, storm in enumerate(_storms(made, proxy, runs, seed, kinds)):
                    rows += [{"batch": number, **row} for row in storm.rows()]
                    blind = storm.blindness() if len(blind) == len(DAMAGES) else blind
                    problems += storm.problems
                    fired += storm.fired
                    rows.append({"batch": number, "events": storm.events, "problems": storm.problems})
        finally:
            made.down()
    write_lines(out, ({"seed": seed, **row} for row in rows))
    wanted = dict.fromkeys((*kinds, CLOCK), -(-runs * FIRED_PERCENT // 100))
    return summary(rows, fired=fired, wanted=wanted, blind=blind, skipped=refused)


def summary(
    rows: Sequence[Json], *, fired: Counter[str], wanted: dict[str, int], blind: Sequence[str], skipped: str
) -> Summary:
    """A failure is a document that is not right, a batch that was not, a kind of fault that came too seldom, or too
    little success."""
    judged = [row for row in rows if "document" in row]
    law = sum(row["state"] == "closeout_reported" for row in judged)
    problems = [problem for row in rows for problem in row["problems"]]
    problems += [f"{kind}: {fired[kind]} times" for kind, count in wanted.items() if fired[kind] < count]
    if law * 100 < SUCCESS_PERCENT * len(judged):
        problems.append(f"{law} of {len(judged)} became law")
    result = Summary(
        name="P1 random faults over whole runs", n=len(judged), failures=len(problems),
        control=0 if blind else len(DAMAGES), control_n=len(DAMAGES),
    )  # fmt: skip
    result.counts = Counter(f"ended as {row['state']}" for row in judged)
    result.counts.update({f"fault: {kind}": count for kind, count in fired.items()})
    result.counts["gates tried again"] = sum(row["again"] for row in judged)
    result.counts.update(f"problem: {problem}"[:300] for problem in problems)
    result.counts.update(f"control: not seen: {name}" for name in blind)
    if skipped:
        result.counts[f"disk full: skipped: {skipped}"] = 1
    return result


if __name__ == "__main__":
    raise SystemExit(command_line(run, "P1: random faults over whole runs", runs=100))
