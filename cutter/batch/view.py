"""Pure: a batch with its items (`fn_batch_seen`) and with all that is shown of it (the query `batch_facts`).

Times are the database's own texts. A malformed value is kept unchanged, so that views show it as malformed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal, NamedTuple

from cutter.batch.item import BATCH, REVIEW, Item, Outcome, Stage, outcome_of, stage_of
from cutter.domain.next_step import StepFacts
from cutter.domain.recorded_values import record
from cutter.domain.run_record import AttemptRecord, RunCore
from cutter.domain.run_state import RunState
from cutter.messages import Mode
from cutter.types import Json

FailurePolicy = Literal["default", "strict", "quarantine"]
"""How a batch reacts to a failure."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchRecord:
    """A batch's row. `halted` is the reason for a halt in one word. `weights` holds the weight of each tenant."""

    batch_id: str
    queue_sha256: str
    mode: Mode
    policy: FailurePolicy
    unattended: bool
    lanes: int
    weights: dict[str, int]
    hard_cap_seconds: float
    created_by: str
    starter: str
    created_at: str
    state: str
    state_at: str
    halted: str | None
    halted_reason: str | None
    began_at: str
    ended_at: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class FailedRun:
    """The newest failed run of a document, and the batch of that run if it had one."""

    run_id: str
    batch_id: str | None


@dataclass(frozen=True, kw_only=True)
class ItemRecord:
    """An item of a batch, with its newest run in the batch, its open request and its open queue entry.

    `included` says that a signature includes the failed document again. `latched`, `wrote`, `enacted`, `law_by`,
    `corrected`, `approved` and `exec_worker` are facts of the run, as `fn_step_facts` answers them (`step_facts`).
    `decided` says why the item gets no run. `kept_out` says that the reason is an earlier failure, in `failed_run`.
    `open_run` is the run of another batch or person that keeps the document busy. `stopped_by` names who set the latch.
    `signed` is the number of people who approved the open request.
    """

    run_id: str | None
    document_id: str
    state: str | None
    outcome: str | None
    latched: bool
    wrote: bool
    enacted: bool
    law_by: str | None
    exec_worker: bool
    included: bool
    corrected: bool
    position: int
    priority: int
    depends_on: list[str]
    critical: bool
    tenant: str
    source_uri: str | None
    scope: str | None
    actor: str | None
    decided: str | None
    reason: str | None
    ended: bool
    created_at: str | None
    state_at: str | None
    ended_at: str | None
    kept_out: bool
    failed_run: FailedRun | None
    open_run: str | None
    latch_kind: str | None
    stopped_by: str | None
    gate: str | None
    request_kb_id: str | None
    expires_at: str | None
    signed: int
    approved: bool
    queue: str | None
    queue_code: str | None
    queue_kb_id: str | None
    queue_state: str | None

    @property
    def step_facts(self) -> StepFacts:
        """What decides the next step of an item that has a run."""
        return StepFacts(
            run_id=self.run_id or "", document_id=self.document_id, state=self.state or "", outcome=self.outcome,
            latched=self.latched, wrote=self.wrote, enacted=self.enacted, law_by=self.law_by, corrected=self.corrected,
            approved=self.approved, exec_worker=self.exec_worker,
        )  # fmt: skip

    @property
    def stopped(self) -> bool:
        """True when the run is stopped and waits for a resume."""
        return RunState(self.state or "").stopped

    @property
    def failed(self) -> bool:
        """True when the newest run in this batch failed."""
        return RunState(self.state or "").failed

    @property
    def voided(self) -> bool:
        return RunState(self.state or "").voided

    @property
    def held(self) -> bool:
        """True while a person holds the run with a stop or a cancel. A stop by its own batch does not count."""
        return RunState(self.state or "").on_order and self.stopped_by != BATCH and not self.ended

    @cached_property
    def item(self) -> Item:
        """The item in the form that the planner takes. A view keeps most records from one look to the next."""
        stage = stage_of(self.state, outcome=self.outcome, ended=self.ended, approved=self.approved)
        outcome = outcome_of(self.state, outcome=self.outcome, ended=self.ended)
        if self.run_id is None and self.decided:
            stage, outcome = Stage.SETTLED, Outcome(self.decided)
        return Item(
            document_id=self.document_id, position=self.position, priority=self.priority,
            depends_on=tuple(self.depends_on), critical=self.critical, tenant=self.tenant, stage=stage,
            outcome=outcome, in_review=self.queue == REVIEW, law=self.enacted,
            held_at=(Stage.AT_SG2 if self.wrote else Stage.AT_SG1) if self.held else None,
        )  # fmt: skip

    @classmethod
    def of(cls, row: Json) -> ItemRecord:
        before = row["failed_run"]
        return record(cls, {**row, "failed_run": None if before is None else record(FailedRun, before)})


@dataclass(frozen=True, kw_only=True)
class BatchView:
    """A batch with its items in the order of the queue, and the seconds since it began and since it was halted."""

    batch: BatchRecord
    items: tuple[ItemRecord, ...]
    age_seconds: float
    halted_seconds: float | None

    @classmethod
    def of(cls, answer: Json) -> BatchView:
        """The view from an answer of `fn_batch_seen` for an existing batch."""
        return cls(
            batch=record(BatchRecord, answer["batch"]), items=tuple(map(ItemRecord.of, answer["items"])),
            age_seconds=answer["age_seconds"], halted_seconds=answer["halted_seconds"],
        )  # fmt: skip

    @property
    def batch_id(self) -> str:
        return self.batch.batch_id

    @property
    def attended(self) -> bool:
        """True if people attend the batch, so that it can ask them for signatures."""
        return not self.batch.unattended

    @cached_property
    def by_document(self) -> dict[str, ItemRecord]:
        return {item.document_id: item for item in self.items}

    def without_approvals(self) -> BatchView:
        """This view as if nobody had signed an open request yet."""
        return replace(
            self, items=tuple(replace(item, approved=False) if item.approved else item for item in self.items)
        )

    def with_newer(self, newer: BatchView) -> BatchView:
        """This view with a newer batch's row, and with the newer items in the places of the same documents."""
        by_document = newer.by_document
        return replace(newer, items=tuple(by_document.get(item.document_id, item) for item in self.items))


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
    """A batch with the rows of its runs. By run id and time: the seals of passed gates, attempts and moves.
    `batch_moves` has the bodies of audit events.
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
