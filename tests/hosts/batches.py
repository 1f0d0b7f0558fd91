"""IO: documents and batches as the operator and the approver of the cluster see them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from time import sleep
from typing import LiteralString

import uuid_utils

from cutter.domain.run_state import BatchState
from cutter.stack.processes import until
from tests.hosts.cluster import APPROVER, Cluster
from tests.hosts.ground import give
from tests.support.batch import law, queue_yaml
from tests.support.processes import WAITS_IN

UNITS = 3
"""Of each law: an act and two articles."""

WAIT_SECONDS = 420
SIGN_AGAIN_SECONDS = 2


@dataclass(slots=True)
class Desk:
    """What people typed is counted: `signed` has the signatures, `tried` the commands that had to be typed again."""

    cluster: Cluster
    signed: int = 0
    tried: Counter[str] = field(default_factory=Counter)

    def register(self, documents: Sequence[str]) -> None:
        """`cutter source add` for each, two at a time."""
        with ThreadPoolExecutor(2) as typists:
            list(typists.map(self._registered, documents))

    def _registered(self, document: str) -> None:
        operator = self.cluster.operator
        file = operator.folder / "state" / f"{document}.md"
        file.write_bytes(law(sum(document.encode()), UNITS - 1))
        give(file, operator.user)
        operator.cutter("source", "add", file, "--document-id", document, "--profile", "generic-markdown")

    def start_batch(self, documents: Sequence[str]) -> str:
        """Start a batch by day, which asks for signatures; its id."""
        operator, batch_id = self.cluster.operator, str(uuid_utils.uuid7())
        queue = operator.folder / "state" / f"{batch_id}.yaml"
        queue.write_bytes(queue_yaml([{"document_id": name} for name in documents], batch_id))
        give(queue, operator.user)
        operator.cutter("orchestrate", "batch", "--queue", queue, "--json")
        return batch_id

    def start_run(self, document: str) -> str:
        """Start one document; the id of its run."""
        return str(self.cluster.operator.json("run", document)["run_id"])

    def sign_batch(self, batch_id: str, state: BatchState) -> None:
        """Wait until the batch asks, then sign all its requests in one session."""
        self.until_batch(batch_id, state)
        self._sign("--batch", batch_id)

    def sign_some(self, batch_id: str, documents: Sequence[str]) -> None:
        """Sign the requests of these documents in one session."""
        if documents:
            self._sign("--batch", batch_id, *(word for name in documents for word in ("--only", name)))

    def sign_run(self, run_id: str, state: str) -> None:
        """Wait until the run asks, then sign its request."""
        asked = until(lambda: self.waits_in(run_id) == state, seconds=WAIT_SECONDS)
        assert asked, f"{run_id}: {self.waits_in(run_id) or 'moves'} instead of {state}"
        self._sign(run_id)

    def until_enacted(self, run_id: str) -> None:
        closed = until(lambda: self.waits_in(run_id) == "closeout_reported", seconds=WAIT_SECONDS)
        assert closed, f"{run_id}: {self.waits_in(run_id) or 'moves'}"

    def batch_state(self, batch_id: str) -> str:
        return str(self.cluster.value("select state from cutter_governance.batch where batch_id = %s", (batch_id,)))

    def waits_in(self, run_id: str) -> str:
        """The state in which a run waits or has ended; empty while it moves or its documents are on their way."""
        return str(self.cluster.value(WAITS_IN, (run_id,)) or "")

    def sealed(self, batch_id: str) -> int:
        """Gates of the batch that are sealed. -1 while the database does not answer."""
        count = self.cluster.value(
            "select count(*) from cutter_governance.gate_receipt join cutter_governance.run using (run_id)"
            " where sealed_at is not null and batch_id = %s", (batch_id,),
        )  # fmt: skip
        return -1 if count is None else int(count)

    def until_batch(self, batch_id: str, state: BatchState) -> None:
        there = until(lambda: self.batch_state(batch_id) == state, seconds=WAIT_SECONDS)
        assert there, f"the batch is {self.batch_state(batch_id)} instead of {state}: {self._not_moving(batch_id)}"

    def _not_moving(self, batch_id: str) -> list[str]:
        query: LiteralString = "select document_id, state from cutter_governance.run where batch_id = %s"
        rows = self.cluster.rows(query, (batch_id,))
        return sorted(f"{row['document_id']} {row['state']}" for row in rows)

    def _sign(self, *what: str) -> None:
        """`cutter approve`, typed again while a part is unavailable. Each try after the first is counted."""
        operator = self.cluster.operator
        for number in range(WAIT_SECONDS // SIGN_AGAIN_SECONDS):
            done = operator.cutter("approve", *what, "--yes", "--approver", APPROVER, "--gpg-home",
                                   operator.approver_home, code=None)  # fmt: skip
            if done.returncode == 0:
                self.signed += 1
                return
            self.tried[(done.stderr or done.stdout).strip()[-200:]] += 1
            assert number < 20, f"cutter approve {what}: {done.stdout[-500:]}{done.stderr[-1000:]}"
            sleep(SIGN_AGAIN_SECONDS)
