"""IO: the same steps driven by DBOS: one process, a durable step for each gate, a queue, and messages for approvals.

python -m benchmarks.peer_dbos STATE, after `pip install dbos`.
"""

from __future__ import annotations

import signal
import sys
from pathlib import Path

from dbos import DBOS, DBOSConfig

from benchmarks.peer_steps import AT_ONCE, PLAN, Steps
from tests.support.processes import Stack

NAME, QUEUE, WORKFLOW, VERSION = "peers", "documents", "document", "1"
POLL_SECONDS = 0.05
WAIT_SECONDS = 600
DATABASE = "dbos"


def url(state: Path) -> str:
    """The database in which DBOS keeps its own records, in the same cluster as the product's."""
    return f"{Stack(state=state).superuser().rsplit('/', 1)[0]}/{DATABASE}"


def register(steps: Steps) -> None:
    """Make the steps durable, and name the workflow."""
    request = DBOS.step(name="request")(lambda approval, run_id: steps.request(approval, run_id))
    verdict = DBOS.step(name="verdict")(lambda approval, run_id, kb_id: steps.verdict(approval, run_id, kb_id))
    gate = DBOS.step(name="gate")(lambda name, run_id, kb_id: steps.gate(name, run_id, kb_id))

    def document(run_id: str) -> None:
        for name, approval in PLAN:
            kb_id = ""
            if approval:
                request(approval, run_id)
                kb_id = DBOS.recv(approval, timeout_seconds=WAIT_SECONDS)
                verdict(approval, run_id, kb_id)
            gate(name, run_id, kb_id)

    DBOS.workflow(name=WORKFLOW)(document)


def main() -> None:
    """Serve until a signal ends this process."""
    state = Path(sys.argv[1])
    config: DBOSConfig = {
        "name": NAME, "system_database_url": url(state), "application_version": VERSION, "log_level": "ERROR",
    }  # fmt: skip
    DBOS(config=config)
    register(Steps(state))
    DBOS.launch()
    DBOS.register_queue(QUEUE, global_concurrency=AT_ONCE, polling_interval_sec=POLL_SECONDS)
    print("ready", flush=True)
    signal.pause()


if __name__ == "__main__":
    main()
