"""IO: P21: approvals signed before the night that expire while it goes on: consumed exactly once, or not at all.

    python -m tests.campaigns.p21_ttl_edge --trials 60 --seed 1 --out p21.jsonl

Each round rehearses a queue, signs it, and lets its approvals for the cut end within a second before and after the
moment at which the documents need them. By the database's own clock none may be consumed after its end, none twice;
what is uncovered writes nothing and waits in human review, and a late signature takes it to its end. The control arm
counts the approvals that were good when signed and too old when needed: a judge without a clock would have used them.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path

import uuid_utils

from cutter.batch import documents
from cutter.catalogue import Role
from cutter.storage.batches import Options
from cutter.storage.gate_transaction import call
from cutter.storage.pools import connect
from cutter.types import Json
from starter.approver import signing_desk
from tests.cases.trials import Dice, Summary, command_line, write_lines
from tests.support import batch as support
from tests.support.batch import CUT, LIFECYCLE, Batch
from tests.support.stack import Stack, played
from tests.support.temporal import until

A_ROUND = 6
SIGNING_SECONDS = 10
"""Between the choice of the approvals' ends and the night's start: the twelve signatures of a round."""

FIRST_NEED_SECONDS, LAST_NEED_SECONDS = 2, 9
"""After the night's start the first documents need their approvals, and the last ones; measured, and corrected by the
rounds before."""

SEEN = """
select i.document_id, q.queue, r.state, c.n as consumed, c.at as consumed_at, c.late,
    (select count(*) from public.information_unit u
     where starts_with(u.canonical_address, i.document_id || '/')) as units,
    extract(epoch from coalesce(c.at, (
        select min(a.requested_at) from cutter_governance.approval_request a
        where a.run_id = r.run_id and a.gate = 'SG_cut_authz')) - b.created_at) as needed
from cutter_governance.batch b join cutter_governance.batch_item i using (batch_id)
join cutter_governance.run r on r.batch_id = i.batch_id and r.document_id = i.document_id
left join cutter_governance.batch_queue q
    on q.batch_id = i.batch_id and q.document_id = i.document_id and q.left_at is null
cross join lateral (
    select count(*) as n, min(k.consumed_at) as at, count(*) filter (where k.consumed_at > v.not_after) as late
    from cutter_governance.approval_consumption k
    join cutter_governance.approval_verdict v
        on v.approval_sha256 = k.approval_sha256 and v.run_id = k.run_id and v.accepted
    where k.run_id = r.run_id and k.gate = 'SG_cut_authz') as c
where b.batch_id = %s
"""


def _sign(stack: Stack, batch_id: str, items: Sequence[Json], ends: dict[str, datetime]) -> None:
    """Both gates of each document; the cut's approval ends at its document's time."""
    names = [item["document_id"] for item in items]
    with connect(stack.settings, Role.OPERATOR) as connection:
        decisions = call(connection, dict, "select cutter_governance.fn_decisions_prepare(%s, %s)", (batch_id, names))
    for row in items:
        document, data = signing_desk.read_request(stack.settings, row["run_id"], row["request_kb_id"])
        for gate in (CUT, LIFECYCLE):
            statement = signing_desk.answer_before(
                document, data, stack.kit.alice, gate=gate, batch_id=batch_id,
                review_decision_id=decisions[row["document_id"]],
            )  # fmt: skip
            if gate == CUT:
                statement = replace(statement, not_after=ends[row["document_id"]])
            kb_id = documents.pre_batched(batch_id, gate, row["document_id"])
            signing_desk.sign_and_upload(stack.settings, statement, stack.kit.alice, kb_id)


async def one_round(stack: Stack, number: int, dice: Dice, need: tuple[float, float]) -> tuple[list[Json], Batch]:
    """Rehearse, sign, let it run to its end; a row a document."""
    names = [f"ICX-T-{number}-{place}" for place in range(A_ROUND)]
    for place, name in enumerate(names):
        stack.register(name, support.law(number * A_ROUND + place))
    queue = [{"document_id": name} for name in names]
    batch_id = str(uuid_utils.uuid7())
    rehearsal = await support.start(stack, queue, Options(mode="dryrun"), batch_id)
    await rehearsal.result()
    items = (await rehearsal.view())["items"]
    # Signing takes its time, so the edge is counted from a moment that lies behind it.
    starts = (datetime.now(UTC) + timedelta(seconds=SIGNING_SECONDS)).replace(microsecond=0)
    ends = {}
    for place, name in enumerate(names):
        needed = need[0] + (need[1] - need[0]) * place / (A_ROUND - 1)
        ends[name] = starts + timedelta(seconds=round(needed) + dice.between(-1, 1))
    await asyncio.to_thread(_sign, stack, batch_id, items, ends)
    await until(partial(_come, stack, starts), seconds=4 * SIGNING_SECONDS, what="the approvals are near their ends")
    night = await support.start(stack, queue, Options.overnight(), batch_id)
    await asyncio.wait_for(night.result(), 240)
    rows = await asyncio.to_thread(_seen, stack, batch_id)
    return [{"round": number, **row, "ends": f"{ends[row['document']]:%H:%M:%S}"} for row in rows], night


async def _come(stack: Stack, when: datetime) -> bool:
    """True from that moment on, by the clock that judges the approvals."""
    return bool(await asyncio.to_thread(stack.database.value, "select clock_timestamp() >= %s", (when,)))


def _seen(stack: Stack, batch_id: str) -> list[Json]:
    with stack.database.connect("postgres") as connection:
        items = connection.execute(SEEN, (batch_id,)).fetchall()
    rows = []
    for name, queue, state, consumed, _, late, units, needed in items:
        covered = state == "closeout_reported"
        wanted = (1, 0, 3, None) if covered else (0, 0, 0, "human_review_queue")
        problems = [] if (consumed, late, units, queue) == wanted else [f"{state}: {(consumed, late, units, queue)}"]
        rows.append({"document": name, "covered": covered, "needed": float(needed or 0), "problems": problems})
    return rows


async def sign_late(night: Batch) -> list[str]:
    """In the morning the uncovered ones are signed and go to their end."""
    await night.hand_over_late(await night.sign(CUT))
    await night.until_state("batch_closeout", seconds=240)
    twice = night.stack.database.value(
        "select count(*) from (select 1 from cutter_governance.approval_consumption k join cutter_governance.run r"
        " using (run_id) where r.batch_id = %s group by k.run_id, k.gate having count(*) <> 1) as wrong",
        (night.batch_id,),
    )  # fmt: skip
    return [f"{twice} gates not opened by exactly one approval"] if twice else []


async def play(stack: Stack, *, trials: int, seed: int) -> list[Json]:
    """Rounds until there were so many documents."""
    rows: list[Json] = []
    need: tuple[float, float] = (FIRST_NEED_SECONDS, LAST_NEED_SECONDS)
    async with stack.workers():
        while len(rows) < trials:
            number = len(rows) // A_ROUND
            round_rows, night = await one_round(stack, number, Dice(seed, "edge", number), need)
            if not all(row["covered"] for row in round_rows):
                round_rows[-1]["problems"] += await sign_late(night)
            rows += round_rows
            times = sorted(row["needed"] for row in round_rows)
            need = (times[0], times[-1])
    return rows


def summary(rows: Sequence[Json]) -> Summary:
    """Failures are documents with a consumption too many, too few or too late, or in no queue."""
    uncovered = sum(not row["covered"] for row in rows)
    result = Summary(
        name="P21 the edge of the TTL", n=len(rows), failures=sum(bool(row["problems"]) for row in rows),
        control=uncovered if uncovered < len(rows) else 0, control_n=len(rows),
    )  # fmt: skip
    result.counts = Counter("consumed once" if row["covered"] else "in human review" for row in rows)
    return result


def run(*, trials: int, seed: int, out: Path | None = None) -> Summary:
    """The campaign on a stack of its own."""
    rows = played(play, trials=trials, seed=seed)
    write_lines(out, ({"seed": seed, **row} for row in rows))
    return summary(rows)


if __name__ == "__main__":
    raise SystemExit(command_line(run, "P21: approvals at the edge of their time", trials=60))
