"""IO: a request's transaction: opened with everything that its document shows, then bound and committed.

Two round trips, however long the law is. What the document needs is asked for right after the opening, in the same
transaction; where no document is to be written, the snapshot stays where it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, LiteralString
from uuid import UUID

from psycopg.pq import TransactionStatus

from cutter.catalogue import Sovereign
from cutter.errors import NotFound, ProgrammingError
from cutter.storage.pools import Connection
from cutter.storage.queries import query
from cutter.types import Json

Row = tuple[Any, ...]
Receipt = tuple[LiteralString, Sequence[Any]]
"""A statement that records a receipt, and its parameters."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What the database answered: `answer` of fn_request_open, and what was read in its transaction.

    `epoch` is the policy in force (sha256, thresholds) or None, `now` the database's clock. `accepted`: KB ids of the
    request's approvals that still hold, by approver: who has sent one need not send it again. `snapshot` and `enacted`
    (address, content hash, title) are there only when a document is to be written.
    """

    answer: Json
    run: Json
    pins: Json
    epoch: Json | None
    now: str
    accepted: dict[str, str]
    snapshot: Row | None
    enacted: tuple[Row, ...]


def ask(connection: Connection, run_id: str, gate: str, change_set_id: UUID) -> Asked:
    """Open a run's request at a sovereign gate, or find it open. The transaction stays open."""
    ttl = "ttl_cut_seconds" if gate == Sovereign.CUT else "ttl_lifecycle_seconds"
    named = {"run_id": run_id, "gate": gate}
    with connection.pipeline():
        opened = connection.execute(query("request_open"), {**named, "ttl": ttl, "change_set_id": change_set_id})
        facts = connection.execute(query("request_facts"), named)
        snapshot = connection.execute(query("request_snapshot"), named)
        enacted = connection.execute(query("units_enacted_last"), named)
    row, answer = facts.fetchone(), opened.fetchone()
    if row is None or answer is None:
        raise NotFound(f"no run {run_id}: see `cutter status`", code="STOP_RUN_NOT_FOUND")
    run, pins, epoch, now, accepted = row
    return Asked(
        answer=answer[0],  # type: ignore[arg-type]
        run=run,  # type: ignore[arg-type]
        pins=pins,  # type: ignore[arg-type]
        epoch=epoch,  # type: ignore[arg-type]
        now=str(now),
        accepted=accepted,  # type: ignore[arg-type]
        snapshot=snapshot.fetchone(),
        enacted=tuple(enacted.fetchall()),
    )


def bind(
    connection: Connection, request_id: str, kb_id: str, body: str, *, tier: str | None, receipts: Sequence[Receipt]
) -> None:
    """Bind the rendered document to its request and COMMIT; a request that has its document already rolls back.

    `tier` is what the policy asks for, `receipts` are of what was stored with the document.
    """
    with connection.pipeline():
        connection.execute(
            "select cutter_governance.fn_request_document(%s, %s, %s, %s)", (request_id, kb_id, body, tier)
        )
        for statement, parameters in receipts:
            connection.execute(statement, parameters)
        connection.execute("commit")
    if connection.info.transaction_status != TransactionStatus.IDLE:
        raise ProgrammingError("the request is bound, but its transaction is still open")
