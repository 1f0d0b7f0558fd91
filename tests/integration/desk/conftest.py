"""A real deployment as people meet it, which the tests of this folder only read, and `cutter desk` on it.

It has a law of two versions, a law of hostile text, a request that waits for its second signature, one that waits for
its first, and a batch with a document in a queue.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import psycopg
import pytest

from cutter.catalogue import Sovereign
from cutter.storage import batches
from tests.support import batch, desks
from tests.support.database import TestCluster
from tests.support.desks import Desk
from tests.support.runs import Deployment, Driven, Keys, deployment, drive, law

LAW, HOSTILE, ASKED, DRAFTED, BATCH = "ICX-ACT-1", "ICX-HOSTILE-1", "ICX-ASKED-1", "ICX-DRAFT-1", "ICX-NIGHT-1"
QUEUED = "ICX-QUEUED-1"
SECOND = law(4).replace("The text of article 2.", "The words of article 2 are new.")
MARK = "<script>window.taken = 1</script><img src=x onerror=alert(1)> & \"quoted\" '{{ 7 * 7 }}'"
HOSTILE_LAW = f"# Act {MARK}\n\nPreamble {MARK} \u202e\n\n## Article 1. {MARK}\n\nThe text {MARK} of article 1.\n"
WHY = "a profile that </pre><script>window.taken = 1</script> nobody knows"


@dataclass(frozen=True, slots=True, kw_only=True)
class Office:
    """The deployment, the runs in it, and the running server."""

    made: Deployment
    desk: Desk
    enacted: Driven
    amended: Driven
    asked: str
    drafted: str
    batch_id: str
    queued: str


@pytest.fixture(scope="session")
def office(cluster: TestCluster, keys: Keys) -> Iterator[Office]:
    with cluster.database(prefix="desk") as database, deployment(database, keys) as made:
        made.register(law(4), document_id=LAW)
        enacted = drive(made, document_id=LAW)
        made.register(SECOND, document_id=LAW)
        amended = drive(made, document_id=LAW)
        made.register(HOSTILE_LAW, document_id=HOSTILE)
        drive(made, document_id=HOSTILE)
        made.register(HOSTILE_LAW.replace("Act", "Bill"), document_id=ASKED)
        asked = drive(made, document_id=ASKED, until="IG_grant_probe").run_id
        made.request(asked, Sovereign.CUT)
        made.register(law(3), document_id=DRAFTED)
        drafted = drive(made, document_id=DRAFTED, until="IG_write_verify").run_id
        made.request(drafted, Sovereign.LIFECYCLE)
        batch_id, queued = _batch(made)
        with desks.desk(made.settings) as desk:
            yield Office(
                made=made, desk=desk, enacted=enacted, amended=amended, asked=asked, drafted=drafted,
                batch_id=batch_id, queued=queued,
            )  # fmt: skip


def _batch(made: Deployment) -> tuple[str, str]:
    """A registered batch whose one document has failed and waits in a queue: (batch id, run id)."""
    made.register("Only words, and no heading.\n", document_id=QUEUED)
    options = batches.Options()
    with made.database.connect("cutter_operator") as connection:
        admission = batches.admit(connection, batch.queue_yaml([{"document_id": QUEUED}]), options)
        caps = {"hard_seconds": 3600, "retries": 1}
        batch_id, _ = batches.register(connection, admission, options, run_caps=caps, starter="olga")
    run_id = made.begin(QUEUED)
    made.database.run("update cutter_governance.run set batch_id = %s where run_id = %s", (batch_id, run_id))
    for gate in ("IG_source_pin", "IG_mark"):
        made.gate(gate, run_id)
    enter = "select cutter_governance.fn_queue_enter(%s, %s, 'error_queue', 'failed_mark', 'no_units', %s, %s, %s)"
    with psycopg.connect(made.database.url("cutter_read")) as connection:
        connection.execute(
            enter, (batch_id, QUEUED, WHY, f"knowledge/dev/batches/{batch_id}/queue.md", f"# Why\n\n{WHY}\n")
        )
    return batch_id, run_id
