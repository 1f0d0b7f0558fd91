"""Pure: a run with all its rows, as the database holds them at one moment (`fn_run_sidecar`).

Times are the database's own texts. Documents that have no fixed form stay JSON: a gate's report, the last error, the
caps, a request's tuple, a signed statement.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Final, Literal

from cutter.catalogue import GATES
from cutter.domain import recorded_values
from cutter.domain.next_step import StepFacts
from cutter.domain.recorded_values import record, sparse
from cutter.types import Json

_ON_THE_WAY = frozenset(state for gate in GATES for state in (gate.from_state.value, gate.to_state.value)) - {
    gate.from_state.value for gate in GATES if gate.sovereign is not None
}


@dataclass(frozen=True, slots=True, kw_only=True)
class RunCore:
    """The facts of a run that the answers about a run and about a batch have in common."""

    run_id: str
    document_id: str
    state: str
    outcome: str | None
    created_at: str
    ended_at: str | None

    @property
    def moves(self) -> bool:
        """Whether the run waits for nobody and is not over. The database says the same (`fn_run_moves`)."""
        return self.state in _ON_THE_WAY and self.ended_at is None and self.outcome is None


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRecord(RunCore):
    """The row of a run. `docprefix` is None before the first gate. `caps` are the limits that the run pinned."""

    docprefix: str | None
    tenant: str
    mode: Literal["dryrun", "live"]
    state_at: str
    starter: str
    batch_id: str | None
    amends: str | None
    priority: int
    caps: Json
    last_error: Json | None
    first_execution_id: str | None
    source_document_id: str | None
    source_version_id: str | None

    @classmethod
    def of(cls, row: Json) -> RunRecord:
        return record(cls, recorded_values.run(row))

    @property
    def error(self) -> Json:
        """The last error, which a run that continued keeps. Empty if there was none."""
        return self.last_error or {}


@dataclass(frozen=True, slots=True, kw_only=True)
class Latch:
    """The stop latch: who set it last, when and why."""

    stopped: bool = False
    kind: str | None = None
    reason: str | None = None
    set_by: str | None = None
    set_at: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Receipt:
    """A sealed receipt. `policy` holds the decisions of the effect policy."""

    run_id: str
    gate: str
    attempt: int
    role: str
    payload_sha256: str
    receipt_hash: str
    opened_at: str
    sealed_at: str
    result: Json
    policy: Json | None

    @classmethod
    def of(cls, row: Json) -> Receipt:
        return record(cls, recorded_values.receipt(row))

    @property
    def pins(self) -> Json:
        """The values that the gate pinned."""
        pins: Json = self.result["pins"]
        return pins


@dataclass(frozen=True, slots=True, kw_only=True)
class AttemptRecord:
    """An attempt of a gate. Its outcome is None while it works, and after its worker died."""

    gate: str
    n: int
    outcome: str | None
    reason: str | None
    lease_owner: str | None
    started_at: str
    finished_at: str | None
    next_eligible_at: str | None
    report: Json | None

    @classmethod
    def of(cls, row: Json) -> AttemptRecord:
        """The attempt from its row. The rows of a batch have neither a reason nor a report."""
        return record(cls, {"reason": None, **row, "report": recorded_values.report(row.get("report"))})


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestRecord:
    """A request for approval. Its document has no name before it was written."""

    request_id: str
    gate: str
    n: int
    status: str
    tier: str | None
    requested_at: str
    expires_at: str
    kb_id: str | None
    request_sha256: str | None
    challenge: str
    review_decision_id: str | None
    tuple: Json

    @classmethod
    def of(cls, row: Json) -> RequestRecord:
        return record(cls, {**row, "tuple": recorded_values.mapping(row["tuple"])})


@dataclass(frozen=True, slots=True, kw_only=True)
class VerdictRecord:
    """The verdict on a document that was handed over. `statement` is the signed text, if it could be read."""

    gate: str
    kb_id: str
    accepted: bool
    code: str
    reason: str | None
    decision: str | None
    challenge: str | None
    approver: str | None
    fingerprint: str | None
    approval_sha256: str | None
    recorded_at: str
    not_after: str | None
    statement: Json

    @classmethod
    def of(cls, row: Json) -> VerdictRecord:
        return record(cls, {**row, "statement": recorded_values.mapping(row["statement"])})


@dataclass(frozen=True, slots=True, kw_only=True)
class Consumption:
    """An approval that a gate used."""

    gate: str
    request_id: str
    approval_sha256: str
    approver: str
    fingerprint: str
    writer_digest: str
    consumed_at: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentRecord:
    """A document about the run. Its sha256 is None until it is in the knowledge base."""

    kind: str
    kb_id: str
    sha256: str | None
    subject: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSidecar:
    """A run with its rows in order. `transitions` and `approval_moves` are the bodies of audit events. `unseen_by` is
    the run's batch if it has not seen the run's newest state (`fn_batch_unseen`).
    """

    run: RunRecord
    latch: Latch
    step_facts: StepFacts
    receipts: tuple[Receipt, ...]
    attempts: tuple[AttemptRecord, ...]
    requests: tuple[RequestRecord, ...]
    verdicts: tuple[VerdictRecord, ...]
    consumptions: tuple[Consumption, ...]
    documents: tuple[DocumentRecord, ...]
    transitions: tuple[str, ...]
    approval_moves: tuple[str, ...]
    audit_head: str | None
    unseen_by: str | None = None

    @classmethod
    def of(cls, answer: Json) -> RunSidecar:
        """The run from an answer of `fn_run_sidecar`."""
        return cls(
            run=RunRecord.of(answer["run"]),
            latch=record(Latch, answer["latch"]) if answer["latch"] else Latch(),
            # Nobody asks for the next step of a run that moves.
            step_facts=sparse(StepFacts, answer["step_facts"] or answer["run"]),
            receipts=tuple(map(Receipt.of, answer["receipts"])),
            attempts=tuple(map(AttemptRecord.of, answer["attempts"])),
            requests=tuple(map(RequestRecord.of, answer["requests"])),
            verdicts=tuple(map(VerdictRecord.of, answer["verdicts"])),
            consumptions=tuple(record(Consumption, consumption) for consumption in answer["consumptions"]),
            documents=tuple(record(DocumentRecord, document) for document in answer["documents"]),
            transitions=tuple(answer["transitions"]),
            approval_moves=tuple(answer["approval_moves"]),
            audit_head=answer["audit_head"],
            unseen_by=answer.get("unseen_by"),
        )

    @classmethod
    def published(cls, answer: Json) -> RunSidecar:
        """The run from an answer of `fn_run_published`. Of a run that moves it has the run and documents."""
        return cls.of({**_MOVING, **answer})

    @property
    def pins(self) -> Json:
        """The pins of all sealed gates."""
        return {name: value for receipt in self.receipts for name, value in receipt.pins.items()}

    @property
    def sealed(self) -> tuple[str, ...]:
        return tuple(receipt.gate for receipt in self.receipts)


_MOVING: Final[Json] = {
    "latch": None, "step_facts": None, "receipts": (), "attempts": (), "requests": (), "verdicts": (),
    "consumptions": (), "transitions": (), "approval_moves": (), "audit_head": None,
}  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class FrozenHistory:
    """The digest of the first `events` events of one execution, to which Temporal gave `execution_id`."""

    workflow_id: str
    execution_id: str | None
    events: int
    sha256: str

    def as_json(self) -> Json:
        """The history as a receipt and a bundle name it."""
        return asdict(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class PinnedCounts:
    """The rows of a run's plan, which are one for each unit of a first cut. `changing` counts those that begin or end a
    version. The enactment begins the versions of `begun` units and ends those of `retired` units.
    """

    planned: int
    changing: int
    begun: int
    retired: int

    @classmethod
    def of(cls, pins: Json) -> PinnedCounts:
        """The numbers from the pins of the gates up to the plan. Raises KeyError for pins of an earlier gate."""
        if "revision_rows" not in pins:
            count = int(pins["candidate_count"])
            return cls(planned=count, changing=count, begun=count, retired=0)
        rows = pins["revision_rows"]
        planned = sum(rows.values())
        return cls(
            planned=planned, changing=planned - rows["keep"], begun=rows["create"] + rows["revise"],
            retired=rows["repeal"],
        )  # fmt: skip
