"""IO: what a document of a batch costs: documents a minute, CPU by process, history bytes, memory; beside the serial
hand-written loop (the same functions one document after the other, a JSON sidecar under a file lock, no engine).

    python -m benchmarks.batch --documents 10,100 --units 3,60
"""

from __future__ import annotations

import argparse
import asyncio
import fcntl
import json
import time
from dataclasses import asdict
from pathlib import Path
from typing import Any, LiteralString

import psutil
import structlog
import uuid_utils
from temporalio.client import Client

from benchmarks import process_cpu
from benchmarks.document import Bench, pause_reconciler
from benchmarks.result_file import RESULTS, machine, write
from benchmarks.wire import Counted
from cutter import limits
from cutter.approvals import schema
from cutter.batch import batch_step, documents
from cutter.catalogue import Role
from cutter.storage import batches as batch_rows
from cutter.storage.batches import Options
from cutter.storage.pools import connect as connect_database
from cutter.storage.records import answer
from cutter.storage.runs import caps_of
from cutter.types import Json
from starter.approver import signing_desk
from temporal import batches, names
from temporal.client import connect
from tests.support.batch import queue_yaml
from tests.support.processes import Stack, stack

LANES = 4
GATES = ("SG_cut_authz", "SG_lifecycle_authz")
LOOK_SECONDS, LOOK_SHARE = 0.1, 50
"""The pause between two looks at a batch. It is at least this many times as long as a look took, because the looks at
thousands of documents would cost what is measured here.
"""

ASKED: LiteralString = """
select jsonb_build_array(
    (select count(*) from cutter_governance.run r
     join cutter_governance.approval_request a on a.run_id = r.run_id and a.gate = %s and a.status = 'requested'
     join cutter_governance.outbox o on o.kb_id = a.kb_id and o.done_at is not null
     where r.batch_id = b.batch_id),
    (select count(*) from cutter_governance.run r
     where r.batch_id = b.batch_id and (r.state like 'failed\\_%%' or r.state like 'stopped\\_%%')))
from cutter_governance.batch b where b.batch_id = %s
"""
"""How many documents of a batch wait at a gate with a request that can be read, and how many failed or stopped."""


class BatchBench:
    """A running stack, driven as a sovereign and an operator would, with the time of people taken out."""

    def __init__(self, made: Stack) -> None:
        self.stack, self.settings = made, made.settings
        port = int(made.settings.state.joinpath("postgres.url").read_text().rsplit(":", 1)[1].split("/")[0])
        self.bench = Bench(made, port, Counted())

    def batch(self, count: int, units: int) -> Json:
        """One batch of that many new documents."""
        return self.batch_of([self.bench.register(units) for _ in range(count)], units)

    def batch_of(self, registered: list[str], units: int) -> Json:
        """One batch of these documents; all approvals are given at once, as soon as all are asked for."""
        return asyncio.run(self._drive(self.admitted(registered), len(registered), units))

    def admitted(self, registered: list[str]) -> str:
        """The id of a new batch of these documents."""
        data = queue_yaml([{"document_id": name} for name in registered])
        with connect_database(self.settings, Role.OPERATOR) as connection:
            choice = Options(lanes=LANES, items_max=limits.QUEUE_ITEMS_MAX)
            admission = batch_rows.admit(connection, data, choice)
            caps = asdict(caps_of(self.settings))
            batch_id, _ = batch_rows.register(connection, admission, choice, run_caps=caps, starter="bench")
        return batch_id

    async def _drive(self, batch_id: str, count: int, units: int) -> Json:
        client = await connect(self.settings)
        before, began = self.cpu(), time.perf_counter()
        handle = await batches.start(client, batch_id, "bench")
        people, waiting = 0.0, self.rss()
        for gate, size in _sessions(count):
            await self.until_all_ask(batch_id, gate, size)
            waiting = {name: max(mib, waiting[name]) for name, mib in self.rss().items()}
            people += await self.signed(client, batch_id, gate, size)
        result = await handle.result()
        total = time.perf_counter() - began - people
        assert result.totals == {"enacted": count, "settled": count}, result
        after = self.cpu()
        sizes = await self._histories(client, batch_id)
        return {
            "kind": "batch", "documents": count, "units": units, "seconds": round(total, 2),
            "people_seconds": round(people, 2), "per_minute": round(count / total * 60, 1),
            "cpu_ms": process_cpu.per_document(before, after, count),
            "rss_mib": self.rss(), "rss_while_all_wait_mib": waiting, **sizes,
        }  # fmt: skip

    async def signed(self, client: Client, batch_id: str, gate: str, size: int) -> float:
        """Sign that many of the waiting documents and hand them over. Returns the seconds that people needed."""
        began = time.perf_counter()
        folder = await asyncio.to_thread(self._sign, batch_id, gate, size)
        people = time.perf_counter() - began
        handed = await batches.hand_over_set(client, batch_id, "bench", folder, "")
        assert len(handed.accepted) == size, handed
        return people

    async def until_all_ask(self, batch_id: str, gate: str, size: int) -> None:
        """Until that many wait at the gate; of a large batch no more are open at once."""
        with connect_database(self.settings, Role.OPERATOR) as connection:
            while True:
                began = time.perf_counter()
                waiting, failed = await asyncio.to_thread(answer, connection, ASKED, (gate, batch_id))
                assert not failed, f"{failed} documents of {batch_id} failed or stopped"
                if waiting >= size:
                    return
                await asyncio.sleep(max(LOOK_SECONDS, LOOK_SHARE * (time.perf_counter() - began)))

    def _sign(self, batch_id: str, gate: str, size: int) -> str:
        folder = f"{documents.folder(batch_id)}/bench-{uuid_utils.uuid7()}"
        statements = {}
        waiting = batch_step.waiting_at(batches.view(self.settings, batch_id), gate)
        for record in [item for item in waiting if item.request_kb_id][:size]:
            document, data = signing_desk.read_request(self.settings, record.run_id or "", record.request_kb_id or "")
            statements[record.document_id] = signing_desk.answer(document, data, self.bench.signer, schema.APPROVE)
        signed = signing_desk.sign(list(statements.values()), self.bench.signer)
        for name, file in zip(statements, signed, strict=True):
            signing_desk.upload(self.settings, file, f"{folder}/{name}.md")
        return folder

    async def _histories(self, client: Any, batch_id: str) -> Json:
        items = (await asyncio.to_thread(batches.view, self.settings, batch_id)).items
        last = client.get_workflow_handle(names.document_workflow_id(items[-1].document_id))
        parent = client.get_workflow_handle(names.batch_workflow_id(batch_id))
        child, own = [(await handle.describe()).raw_description.workflow_execution_info for handle in (last, parent)]
        return {
            "history_events": child.history_length, "history_bytes": child.history_size_bytes,
            "parent_events": own.history_length, "parent_bytes": own.history_size_bytes,
        }  # fmt: skip

    def serial(self, count: int, units: int) -> Json:
        """The hand-written loop: one document after the other, each with its own backup, under one file lock."""
        before, began = time.process_time(), time.perf_counter()
        people = 0.0
        for _ in range(count):
            with (self.settings.state / "serial.lock").open("w") as lock:
                fcntl.flock(lock, fcntl.LOCK_EX)
                people += self.bench.floor(units).people / 1000
        total = time.perf_counter() - began - people
        return {
            "kind": "serial", "documents": count, "units": units, "seconds": round(total, 2),
            "per_minute": round(count / total * 60, 1),
            "cpu_ms": {"loop": round((time.process_time() - before) * 1000 / count, 1)},
        }  # fmt: skip

    def rss(self) -> dict[str, float]:
        """Memory of each process in MiB."""
        return {name: round(self._process(name).memory_info().rss / 2**20, 1) for name in process_cpu.PROCESSES}

    def _process(self, name: str) -> psutil.Process:
        return psutil.Process(self.stack.process(name).pid)

    def cpu(self) -> dict[str, float]:
        """CPU seconds so far of each process, children that have ended included."""
        return process_cpu.by_process(self.stack)


def _sessions(count: int) -> list[tuple[str, int]]:
    """Which gate is signed next, for how many documents: as many as one set may have, from draft to law."""
    most = min(limits.BATCH_WINDOW, limits.SET_STATEMENTS_MAX)
    left = [min(most, count - first) for first in range(0, count, most)]
    return [(gate, size) for size in left for gate in GATES]


def measure(counts: list[int], sizes: list[int], serial: int) -> list[Json]:
    """Each size beside the serial loop, in one run on one stack."""
    records = []
    with stack("bb") as made:
        made.up()
        pause_reconciler(made)
        bench = BatchBench(made)
        bench.batch(2, 3)
        for units in sizes:
            records.append(bench.serial(serial, units))
            for count in counts:
                records.append(bench.batch(count, units))
                print(line(records[-1]), flush=True)
            records.append(bench.serial(serial, units))
    return records


def line(record: Json) -> str:
    """One record in a line."""
    cpu = " + ".join(f"{name} {value:.0f}" for name, value in record["cpu_ms"].items())
    text = f"{record['kind']:6} {record['documents']:5} × {record['units']:5} units: {record['per_minute']:7.1f}/min"
    more = ""
    if record["kind"] == "batch":
        more = (
            f"; {record['history_events']} events, {record['history_bytes']:,} B; parent {record['parent_events']}, "
            f"{record['parent_bytes']:,} B; RSS {', '.join(f'{n} {v:.0f}' for n, v in record['rss_mib'].items())}"
            f" (all waiting: {', '.join(f'{n} {v:.0f}' for n, v in record['rss_while_all_wait_mib'].items())})"
        )
    return f"{text}; CPU ms a document: {cpu}{more}"


def main() -> None:
    """Measure, print, write JSON lines."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n", 1)[0])
    parser.add_argument("--documents", default="10,100", help="batch sizes, such as 10,100,1000")
    parser.add_argument("--units", default="3,60", help="units of a document, such as 3,60")
    parser.add_argument("--serial", type=int, default=20, help="documents of the serial loop, before and after")
    parser.add_argument("--output", type=Path, default=RESULTS / "batch.jsonl")
    chosen = parser.parse_args()
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(40))
    counts, sizes = ([int(number) for number in text.split(",")] for text in (chosen.documents, chosen.units))
    records = measure(counts, sizes, chosen.serial)
    head = machine()
    print(json.dumps(head))
    print("\n".join(line(record) for record in records))
    write(chosen.output, (head, *records))


if __name__ == "__main__":
    main()
