"""IO: how long small tenants wait for their first gate beside a large one, against what they get alone.

Two ways to be beside it: all documents in one batch, the large tenant's first in the file; and a batch a tenant, the
small ones begun when the large one is at work. As a control the first way once more with everybody in one tenant.

    python -m benchmarks.fairness --large 100 --small 9 --repetitions 3
"""

from __future__ import annotations

import argparse
import asyncio
import json
import statistics
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import structlog
from temporalio.client import Client

from benchmarks.result_file import RESULTS, machine, write
from cutter import sources
from cutter.catalogue import Role
from cutter.messages import BatchResult
from cutter.registration import caps_of
from cutter.settings import Settings
from cutter.storage import batches as batch_rows
from cutter.storage.batches import Options
from cutter.storage.pools import connect as connect_database
from cutter.types import Json
from starter.commands import demo
from temporal import batches, runs
from temporal.client import connect
from tests.support.batch import queue_yaml
from tests.support.laws import law
from tests.support.processes import stack

OPTIONS = {"duplicates": "refuse", "empty": "refuse", "max_candidates": 10_000}
LANES = 4
ONE_BATCH, OWN_BATCHES, CONTROL = "one batch", "own batches", "one batch, one tenant"

FIRST_GATES = """
select extract(epoch from min(a.started_at) - b.created_at)::float
from cutter_governance.batch b
join cutter_governance.run r on r.batch_id = b.batch_id
join cutter_governance.gate_attempt a on a.run_id = r.run_id
where b.batch_id = any (%s) and r.document_id = any (%s)
group by r.document_id, b.created_at
"""
OPEN = "select count(*) from cutter_governance.run where ended_at is null"


@dataclass(frozen=True, slots=True, kw_only=True)
class Laws:
    """The documents of one large tenant and of the small ones, each of which has one."""

    large: tuple[str, ...]
    small: tuple[str, ...]


class Fairness:
    """A running stack on which batches are begun, looked at, and ended before anybody need sign."""

    def __init__(self, settings: Settings, client: Client) -> None:
        self.settings, self.client = settings, client

    def laws(self, large: int, small: int, *, tenants: bool) -> Laws:
        """Register them; without `tenants` all belong to one."""
        word = "T" if tenants else "C"
        return Laws(
            large=tuple(self._law(f"ICX-{word}-L{n}", "large" if tenants else "all") for n in range(large)),
            small=tuple(self._law(f"ICX-{word}-S{n}", f"small-{n}" if tenants else "all") for n in range(small)),
        )

    def _law(self, document_id: str, tenant: str) -> str:
        owned = self.settings.model_copy(update={"tenant": tenant})
        sources.register(
            owned, law(3, title=document_id).encode(), document_id=document_id, docprefix=document_id,
            profile="generic-markdown", options=OPTIONS,
        )  # fmt: skip
        return document_id

    async def one_batch(self, laws: Laws, *, beside: bool) -> list[float]:
        """Seconds from the batch's beginning to the first gate of each small tenant's document."""
        batch_id = await self._begin([*(laws.large if beside else ()), *laws.small])
        return await self._measured([batch_id], laws.small)

    async def own_batches(self, laws: Laws, *, beside: bool) -> list[float]:
        """The same with a batch a tenant; the large one's has filled its lanes before."""
        others = [await self._begin(laws.large)] if beside else []
        while beside and len(self._first_gates(others, laws.large)) < min(LANES, len(laws.large)):
            await asyncio.sleep(0.1)
        mine = [await self._begin([name]) for name in laws.small]
        return await self._measured(mine, laws.small, others)

    async def _begin(self, documents: Sequence[str]) -> str:
        data = queue_yaml([{"document_id": name} for name in documents])
        with connect_database(self.settings, Role.OPERATOR) as connection:
            choice = Options(lanes=LANES, items_max=1000)
            admission = batch_rows.admit(connection, data, choice)
            caps = asdict(caps_of(self.settings))
            batch_id, _ = batch_rows.register(connection, admission, choice, run_caps=caps, starter="bench")
        await batches.start(self.client, batch_id, "bench")
        return batch_id

    async def _measured(self, mine: Sequence[str], small: Sequence[str], others: Sequence[str] = ()) -> list[float]:
        while len(waits := self._first_gates(mine, small)) < len(small):
            await asyncio.sleep(0.1)
        for batch_id in (*mine, *others):
            batches.halt(self.settings, batch_id, "cancel", "measured")
        for batch_id in (*mine, *others):
            await runs.result_of(await batches.start(self.client, batch_id, "bench"), BatchResult)
        while self._rows(OPEN)[0][0]:
            await asyncio.sleep(0.1)
        return waits

    def _first_gates(self, batch_ids: Sequence[str], documents: Sequence[str]) -> list[float]:
        return [float(seconds) for (seconds,) in self._rows(FIRST_GATES, list(batch_ids), list(documents))]

    def _rows(self, statement: Any, *parameters: Any) -> list[tuple[Any, ...]]:
        with connect_database(self.settings, Role.OPERATOR) as connection:
            return connection.execute(statement, parameters).fetchall()


async def _measure(settings: Settings, large: int, small: int, repetitions: int) -> list[Json]:
    bench = Fairness(settings, await connect(settings))
    laws, mixed = (bench.laws(large, small, tenants=tenants) for tenants in (True, False))
    await bench.one_batch(laws, beside=False)
    records: list[Json] = []
    for number in range(repetitions):
        for way, function, documents in (
            (ONE_BATCH, bench.one_batch, laws), (OWN_BATCHES, bench.own_batches, laws),
            (CONTROL, bench.one_batch, mixed),
        ):  # fmt: skip
            # Whoever goes first meets a colder machine, so they take turns in that too.
            for beside in (False, True) if number % 2 == 0 else (True, False):
                waits = await function(documents, beside=beside)
                records.append({
                    "kind": "fairness", "way": way, "beside": beside, "large": large, "small": small,
                    "median_ms": round(statistics.median(waits) * 1000), "worst_ms": round(max(waits) * 1000),
                })  # fmt: skip
                print(line(records[-1]), flush=True)
    return records


def measure(large: int, small: int, repetitions: int) -> list[Json]:
    """Every way alone and beside the large tenant, interleaved, on one stack."""
    with stack("bf") as made:
        made.up()
        # Without a policy a run stops where it would ask, and its lane is free for another reason.
        demo.ensure_approver(made.settings)
        return asyncio.run(_measure(made.settings, large, small, repetitions))


def line(record: Json) -> str:
    """One record in a line."""
    who = f"beside {record['large']}" if record["beside"] else "alone"
    return (
        f"{record['way']:22} {record['small']} small {who:11}: first gate after {record['median_ms']:6} ms (median), "
        f"{record['worst_ms']:6} ms (worst)"
    )


def main() -> None:
    """Measure, print, write JSON lines."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n", 1)[0])
    parser.add_argument("--large", type=int, default=100, help="documents of the large tenant")
    parser.add_argument("--small", type=int, default=9, help="small tenants, each with one document")
    parser.add_argument("--repetitions", type=int, default=3)
    parser.add_argument("--output", type=Path, default=RESULTS / "fairness.jsonl")
    chosen = parser.parse_args()
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(40))
    records = measure(chosen.large, chosen.small, chosen.repetitions)
    head = machine()
    print(json.dumps(head))
    write(chosen.output, (head, *records))


if __name__ == "__main__":
    main()
