"""Pure: every value that crosses a boundary to or from Temporal. Append-only: new fields last, with a default.

Ids, counts and digests only; never document text, a digest's input, a connection string or a secret.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from cutter import limits
from cutter.domain import ids, tenants
from cutter.domain.task_priority import Urgency

Mode = Literal["dryrun", "live"]

NOT_SO = "not_so"
"""The code of an answer that changed nothing, because the database disagrees with the claim."""

VOIDED_BEFORE = "voided_before"
"""The code of a void that an earlier try has already carried out."""

_YEARS = (2000, 2200)
"""The years in which a request may expire. The workflow cannot compute with times outside this range."""


def _document_id(text: str) -> str:
    try:
        return ids.document_id(text)
    except ids.InvalidId as problem:
        raise ValueError(str(problem)) from None


def _run_id(text: str) -> str:
    if not ids.is_run_id(text):
        raise ValueError("no run id")
    return text


def _tenant(name: str) -> str:
    if name and not tenants.NAME.fullmatch(name):
        raise ValueError("no name of a tenant")
    return name


def _counted(facts: dict[str, str]) -> dict[str, str]:
    # People filter by this value as a number.
    count = facts.get("candidate_count", "0")
    if not (count.isascii() and count.isdigit() and int(count) <= limits.CANDIDATES_MAX):
        raise ValueError("no count of candidates")
    return facts


DocumentId = Annotated[str, AfterValidator(_document_id)]
RunId = Annotated[str, AfterValidator(_run_id)]
Name = Annotated[str, Field(max_length=limits.NAME_CHARACTERS_MAX)]
Text = Annotated[str, Field(max_length=limits.ANSWER_CHARACTERS_MAX)]
Span = Annotated[float, Field(gt=0, le=limits.CAP_SECONDS_MAX)]
"""Seconds that a timer can hold."""
Few = Field(max_length=limits.ANSWER_ENTRIES_MAX)
Facts = Annotated[dict[Name, Name], Few, AfterValidator(_counted)]
Orders = Field(max_length=limits.BATCH_ORDERS_AT_ONCE + limits.BATCH_LANES_MAX)
Count = Annotated[int, Field(ge=0, le=limits.QUEUE_ITEMS_MAX)]
"""A stranger may answer a workflow in place of an activity. pydantic checks these bounds when the workflow decodes the
answer, because a larger one could cause commands that the server refuses again and again.
"""

GateStatus = Literal[
    "passed",  # sealed, or found sealed
    "rehearsed",  # leg A was rehearsed and rolled back
    "skipped",  # the source version is already enacted
    "failed",  # an invariant was violated, or the database refused: terminal
    "drift",  # the database is not what the last receipt left
    "stopped",  # the stop latch is set
    "approval_refused",  # the approval did not open the gate; the run waits on
    "lane_busy",  # another run holds the lane of leg A, or of the enactment
    "backup_stale",  # the backup is too old for a write
    "needs_approval",  # the policy asks for people where no sovereign gate does
    "ended",  # the run is over
    "out_of_order",  # the gate before it has no sealed receipt: go back to the first one that lacks it
]


@dataclass(frozen=True, kw_only=True)
class Caps:
    """The limits that are pinned in a run at its start, in seconds (spec "Caps, retries, resume")."""

    soft_seconds: Annotated[dict[Name, Span], Few] = field(default_factory=dict)
    hard_seconds: Span = limits.HARD_CAP_MINUTES * 60
    heartbeat_seconds: Span = limits.HEARTBEAT_TIMEOUT_SECONDS
    retry_delays_seconds: Annotated[tuple[Span, ...], Few, Field(min_length=1)] = limits.RETRY_DELAYS_SECONDS
    worker_wait_seconds: Span = limits.WORKER_WAIT_MINUTES * 60
    ttl_cut_seconds: Span = limits.TTL_SG1_HOURS * 3600
    ttl_lifecycle_seconds: Span = limits.TTL_SG2_HOURS * 3600
    backup_max_age_seconds: Span = limits.BACKUP_MAX_AGE_MINUTES * 60
    lane_wait_seconds: Span = limits.LANE_WAIT_SECONDS
    outage_look_seconds: Span = limits.OUTAGE_LOOK_SECONDS


@dataclass(frozen=True, kw_only=True)
class RunInput:
    """The input that starts a document run. A start without `run_id` makes one from the id of the first execution."""

    document_id: str
    run_id: str | None = None
    mode: Mode = "live"
    starter: str = "unknown"
    source_uri: str | None = None
    batch_id: str | None = None
    amends: str | None = None
    active_seconds: Annotated[float, Field(ge=0, le=limits.CAP_SECONDS_MAX)] = 0.0
    """The active time that earlier executions of the run have counted against the hard cap."""
    waiting: tuple[str, ...] = ()
    """KB ids of the approvals that waited for their gate when the run continued in a new execution."""


@dataclass(frozen=True, kw_only=True)
class BeginInput:
    """The run input and the id of the workflow's first execution."""

    run: RunInput
    first_execution_id: str


@dataclass(frozen=True, kw_only=True)
class RunView:
    """A run as the database holds it. Each workflow starts from this view, also after Temporal's data was lost."""

    run_id: RunId
    document_id: DocumentId
    mode: Mode
    state: Name
    caps: Caps
    sealed: Annotated[tuple[Name, ...], Few] = ()
    outcome: Name | None = None
    facts: Facts = field(default_factory=dict)
    next_command: Text = ""


@dataclass(frozen=True, kw_only=True)
class GateInput:
    """The input of a gate: the run, and the places where approvals may be found. Gates 6 and 10 use nothing else.

    `retry_seconds` is the time that the workflow will wait if this attempt meets an outage. None for the last attempt.
    """

    run_id: str
    approval_kb_ids: tuple[str, ...] = ()
    source_uri: str | None = None
    retry_seconds: float | None = None


@dataclass(frozen=True, kw_only=True)
class GateOutcome:
    """The outcome of one attempt of a gate. `facts` holds the pins that people read (digests, counts)."""

    gate: Name
    status: GateStatus
    attempt: Annotated[int, Field(ge=0, lt=2**31)] = 0
    code: Text = ""
    reason: Text = ""
    state: Name = ""
    kb_doc_id: Text = ""
    sha256: Text = ""
    facts: Facts = field(default_factory=dict)

    @property
    def said(self) -> str:
        """The code and the sentence. If the sentence begins with the code, the code is not repeated."""
        return self.reason if self.reason.startswith(f"{self.code}:") else f"{self.code}: {self.reason}"


@dataclass(frozen=True, kw_only=True)
class BackupRefreshed(GateOutcome):
    """The answer to the order for a new backup: it passed, or why there is none. `facts` holds the backup's sha256.

    It has the fields of `GateOutcome`, because workers of earlier builds decode it as one.
    """


@dataclass(frozen=True, kw_only=True)
class RequestInput:
    """Open (or find) the request of a sovereign gate."""

    run_id: str
    gate: str


@dataclass(frozen=True, kw_only=True)
class OpenedRequest:
    """An open request, or why there is none (`status` other than `requested`).

    `accepted` maps each approver to the KB id of an approval that was accepted before and need not be sent again.
    `offered` holds statements that were signed for the request in advance. They are judged like any other document.
    """

    status: Literal["requested", "refused", "stopped", "drift", "denied"]
    gate: Name
    code: Name = ""
    reason: Text = ""
    kb_id: Text = ""
    approval_kb_id: Text = ""
    challenge: Text = ""
    expires_utc: str = ""
    approvers_needed: Annotated[int, Field(ge=1, le=limits.APPROVALS_A_GATE_MAX)] = 1
    review_decision_id: Text = ""
    accepted: Annotated[dict[Text, Text], Few] = field(default_factory=dict)
    offered: Annotated[tuple[Text, ...], Few] = ()

    def __post_init__(self) -> None:
        if self.status == "requested":
            expires = datetime.fromisoformat(self.expires_utc)
            if expires.tzinfo is None:
                raise ValueError("a time without its zone")
            if not _YEARS[0] <= expires.year < _YEARS[1]:
                raise ValueError("a request that expires at no time of ours")


@dataclass(frozen=True, kw_only=True)
class JudgeInput:
    """Judge one signed document in the context of a run: at a sovereign gate, or while it is stopped."""

    run_id: str
    gate: str
    kb_id: str


@dataclass(frozen=True, kw_only=True)
class JudgeResult:
    """The verdict in the form that people see. `approver` is the signer's name in the policy. `state` is the run's
    state at the time of the verdict.
    """

    accepted: bool
    code: Text
    reason: Text
    kb_id: Text
    decision: Text = ""
    approver: Text = ""
    approval_sha256: Text = ""
    duplicate: bool = False
    state: Name = ""


@dataclass(frozen=True, kw_only=True)
class StopInput:
    """Set the stop latch (`kind` stop or cancel)."""

    run_id: str
    kind: Literal["stop", "cancel"]
    reason: str
    by: str


@dataclass(frozen=True, kw_only=True)
class EscalateInput:
    """SG_3: record a stop or failure and write its stop-route report."""

    run_id: str
    state: str
    reason: str
    gate: str = ""


@dataclass(frozen=True, kw_only=True)
class StateAnswer:
    """The run's state after an activity. `code` is `not_so` if the activity changed nothing, because the database
    disagrees with the claim.
    """

    state: Name
    code: Text = ""

    @property
    def not_so(self) -> bool:
        return self.code == NOT_SO


@dataclass(frozen=True, kw_only=True)
class StopSet(StateAnswer):
    """The stop latch is set. `code` is `wrote` if leg A has written units, else empty."""

    @property
    def wrote(self) -> bool:
        """True if the run has written units. Then a cancel only stops it."""
        return self.code == "wrote"


@dataclass(frozen=True, kw_only=True)
class Resumed:
    """The database's answer to a resume. `code` is the status. `reason` is the decision, or the signatures that are
    missing.
    """

    state: Name
    code: Text
    reason: Text = ""

    @property
    def goes_on(self) -> bool:
        """True when the run is not stopped now."""
        return self.code in ("resumed", "not_stopped")


@dataclass(frozen=True, kw_only=True)
class RequestEnded(StateAnswer):
    """A request has ended. `code` is `not_so` if it has not expired yet by the database's clock."""


@dataclass(frozen=True, kw_only=True)
class RefusalRecorded:
    """A refused message was recorded under this code."""

    code: Text


@dataclass(frozen=True, kw_only=True)
class Escalated(StateAnswer):
    """A stop or failure, its stop-route report, and the command that continues the run. `code` is `ended` if the run is
    over.
    """

    kb_doc_id: Text = ""
    next_command: Text = ""


@dataclass(frozen=True, kw_only=True)
class RunFinished(StateAnswer):
    """A run that writes nothing has ended with the outcome `code`. `not_so`: no attempt of a gate had that outcome."""

    code: Text


@dataclass(frozen=True, kw_only=True)
class VoidResult:
    """The state of a voided run, or why it was not voided."""

    state: Name
    code: Text
    reason: Text = ""

    @property
    def voided(self) -> bool:
        """True when the run is voided, by this order or before it."""
        return self.code in ("voided", VOIDED_BEFORE)


@dataclass(frozen=True, kw_only=True)
class ResumeInput:
    """Resume a stopped run. `statement_sha256` names the accepted signed statement, if the resume needs one."""

    run_id: str
    statement_sha256: str | None = None


@dataclass(frozen=True, kw_only=True)
class EndRequestInput:
    """End an open request as rejected or expired."""

    run_id: str
    gate: str
    status: Literal["rejected", "expired"]
    approval_sha256: str | None = None


@dataclass(frozen=True, kw_only=True)
class RefusalInput:
    """A message that was refused, to be recorded."""

    run_id: str
    gate: str
    message: str
    code: str
    reason: str


@dataclass(frozen=True, kw_only=True)
class VoidInput:
    """End a run as voided. `kb_id` names the signed void statement. `document_id` is given if the run's workflow may be
    open.
    """

    run_id: str
    kb_id: str
    document_id: str = ""


@dataclass(frozen=True, kw_only=True)
class RevokeInput:
    """Revoke an approval of a run. `kb_id` names the signed revocation, which names the approval."""

    run_id: str
    kb_id: str


@dataclass(frozen=True, kw_only=True)
class RunResult:
    run_id: str
    document_id: str
    state: str
    outcome: str = ""
    reason: str = ""
    kb_doc_id: str = ""
    facts: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class FinishInput:
    """End a run without a write."""

    run_id: str
    outcome: Literal["rehearsed", "skipped"]


@dataclass(frozen=True, kw_only=True)
class BatchInput:
    """The input that starts a batch, whose queue is in the database.

    `policy`, `overnight` and `lanes` are in inputs of earlier builds, and nothing reads them.
    `adopt` says that the workflows of all open items must be open. If an execution ends before it has named all of
    them, `adopt_after` tells the next one the place of the last one.
    """

    batch_id: str
    starter: str = "unknown"
    policy: Literal["default", "strict", "quarantine"] = "default"
    overnight: bool = False
    lanes: int = 0
    adopt: bool = True
    adopt_after: int = 0


@dataclass(frozen=True, kw_only=True)
class ReconcileInput:
    """The reconciler's input. It is empty, because the database alone decides what the reconciler examines."""


@dataclass(frozen=True, kw_only=True)
class Reconciled:
    """The runs that were marked or that got a message, the batches that had no workflow, and the counts of everything
    else.
    """

    marked: tuple[str, ...] = ()
    told: tuple[str, ...] = ()
    differs: tuple[str, ...] = ()
    """Runs whose workflow waits for the end of an outage that PostgreSQL had not recorded. They got a message to record
    it.
    """
    batches_woken: tuple[str, ...] = ()
    batches_without_workflow: tuple[str, ...] = ()
    left_alone: int = 0
    documents_put: int = 0
    documents_waiting: int = 0


@dataclass(frozen=True, kw_only=True)
class BatchStart:
    """An item with a registered run whose workflow must be open. The last three fields give its place among the tasks
    of others.
    """

    document_id: DocumentId
    run_id: RunId
    mode: Mode = "live"
    starter: Text = "unknown"
    source_uri: Text | None = None
    tenant: Annotated[str, AfterValidator(_tenant)] = ""
    weight: Annotated[float, Field(ge=1, le=limits.WEIGHT_MAX)] = 1.0
    urgency: Annotated[int, Field(ge=min(Urgency), le=max(Urgency))] = Urgency.BATCH


@dataclass(frozen=True, kw_only=True)
class BatchStop:
    """An item whose run must stop at its next boundary."""

    document_id: DocumentId
    kind: Literal["stop", "cancel"]
    reason: Text


@dataclass(frozen=True, kw_only=True)
class SteerInput:
    """Wait until the batch differs from `seen`, then say what to do.

    With `adopt`, the answer names open items again: those after the place `adopt_after` of the queue.
    """

    batch_id: str
    seen: str = ""
    adopt: bool = False
    adopt_after: int = 0


@dataclass(frozen=True, kw_only=True)
class BatchStep:
    """The next actions of a batch's workflow, and the data that it shows. `totals` counts items by stage, queue and
    outcome. `adopted` is the place of the last open item that is named again, or 0 if no further one is left.
    """

    state: Name
    seen: Text
    starts: Annotated[tuple[BatchStart, ...], Orders] = ()
    stops: Annotated[tuple[BatchStop, ...], Orders] = ()
    totals: Annotated[dict[Name, Count], Few] = field(default_factory=dict)
    over: bool = False
    partial: bool = False
    mode: Name = ""
    gate: Name = ""
    overview: Text = ""
    report: Text = ""
    note: Text = ""
    next_command: Text = ""
    adopted: Count = 0


@dataclass(frozen=True, kw_only=True)
class HaltInput:
    """Start nothing more and stop what runs."""

    batch_id: str
    kind: Literal["stop", "cancel"]
    reason: str


@dataclass(frozen=True, kw_only=True)
class BatchHalted:
    """The halt of the batch as `code`. An earlier halt may outweigh the new one."""

    code: Text


@dataclass(frozen=True, kw_only=True)
class SetInput:
    """Approvals of one signing session: a folder of the knowledge base, and the sha256 of its listing when known."""

    batch_id: str
    folder: str
    listing_sha256: str = ""


@dataclass(frozen=True, kw_only=True)
class SetEntry:
    """One document of a set, with its item and the verdict."""

    document_id: Text
    kb_id: Text
    accepted: bool
    code: Text
    reason: Text

    def __post_init__(self) -> None:
        if self.accepted:
            _document_id(self.document_id)


@dataclass(frozen=True, kw_only=True)
class SetAnswer:
    """The outcome of a set: an entry for each document, and the waiting items that the set lacks."""

    status: Literal["read", "refused"]
    code: Text = ""
    reason: Text = ""
    entries: Annotated[tuple[SetEntry, ...], Field(max_length=limits.SET_STATEMENTS_MAX)] = ()
    missing: Annotated[tuple[Text, ...], Field(max_length=limits.QUEUE_ITEMS_MAX)] = ()


@dataclass(frozen=True, kw_only=True)
class BatchResult:
    batch_id: str
    state: str
    totals: dict[str, int] = field(default_factory=dict)
    report: str = ""
    reason: str = ""
