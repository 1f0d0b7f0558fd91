"""Pure: everything that is shown of a batch, as the database holds it at one moment (the query `batch_facts`).

Times are the database's own texts. A malformed value is kept unchanged, so that views show it as malformed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from cutter.batch.view import BatchView
from cutter.domain.recorded_values import record
from cutter.domain.run_record import AttemptRecord, RunCore
from cutter.types import Json


class RunMove(NamedTuple):
    """A move of a run: its time in the audit chain, the new state, and the time that the event itself names."""

    at: str
    to_state: str
    stamp: str


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchRequest:
    """A request of a run of the batch. `units` is the number of units to write."""

    n: int
    gate: str
    kb_id: str | None
    units: Any
    run_id: str
    status: str
    expires_at: str
    document_id: str
    requested_at: str
    writer_digest: Any
    request_sha256: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchApproval:
    """An accepted approval. `consumed_at` is the time when a gate used it."""

    gate: str
    run_id: str
    revoked: bool
    approver: str
    decision: str
    consumed_at: str | None
    fingerprint: str
    recorded_at: str
    approval_sha256: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RefusedDocument:
    """A document that was handed over as an approval and refused."""

    code: str
    gate: str
    kb_id: str
    reason: str
    document_id: str
    recorded_at: str


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueRow:
    """An entry of one of the batch's queues. `left_at` is None while it waits."""

    batch_id: str
    document_id: str
    run_id: str | None
    queue: str
    state: str
    code: str
    reason: str
    kb_id: str
    entered_at: str
    left_at: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchFacts:
    """A batch with the rows of its runs.

    By run id: `receipts` has the time of the seal of each passed gate, `attempts` the attempts and `moves` the moves,
    all by time. `batch_moves` has the bodies of audit events.
    """

    view: BatchView
    runs: tuple[RunCore, ...]
    receipts: Mapping[str, Mapping[str, str]]
    attempts: Mapping[str, tuple[AttemptRecord, ...]]
    moves: Mapping[str, tuple[RunMove, ...]]
    batch_moves: tuple[str, ...]
    requests: tuple[BatchRequest, ...]
    approvals: tuple[BatchApproval, ...]
    refused: tuple[RefusedDocument, ...]
    queue: tuple[QueueRow, ...]
    with_history: bool = True
    """False if attempts, moves, requests and approvals were not read, because the batch is large."""

    @classmethod
    def without_history(cls, view: BatchView, answer: Json) -> BatchFacts:
        """The facts of a large batch: its view, and the answer of the query `batch_facts`."""
        history: Json = {"attempts": {}, "moves": {}, "requests": (), "approvals": (), "refused": ()}
        return replace(cls._of(view, {**history, **answer}), with_history=False)

    @classmethod
    def of(cls, answer: Json) -> BatchFacts:
        """The facts from an answer of the query about an existing batch."""
        return cls._of(BatchView.of(answer["view"]), answer)

    @classmethod
    def _of(cls, view: BatchView, answer: Json) -> BatchFacts:
        return cls(
            view=view,
            runs=tuple(record(RunCore, run) for run in answer["runs"]),
            receipts=answer["receipts"],
            attempts={run: tuple(map(AttemptRecord.of, rows)) for run, rows in answer["attempts"].items()},
            moves={run: tuple(RunMove(*row) for row in rows) for run, rows in answer["moves"].items()},
            batch_moves=tuple(answer["batch_moves"]),
            requests=tuple(record(BatchRequest, request) for request in answer["requests"]),
            approvals=tuple(record(BatchApproval, approval) for approval in answer["approvals"]),
            refused=tuple(record(RefusedDocument, document) for document in answer["refused"]),
            queue=tuple(record(QueueRow, row) for row in answer["queue"]),
        )
