"""IO: a gate's transaction: attempt, open, seal, refuse (spec 04 "A gate's transaction"). The database decides."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, LiteralString

import psycopg
from psycopg.pq import TransactionStatus
from psycopg.rows import class_row, scalar_row
from psycopg.types.json import Jsonb

from cutter.catalogue import Gate
from cutter.domain.digests import canonical_digest
from cutter.domain.run_record import Receipt, RunRecord
from cutter.errors import Conflict, ProgrammingError, Unavailable
from cutter.gates.report import GateReport
from cutter.policy.rules import EffectPolicy, InvalidPolicy
from cutter.storage import policies
from cutter.storage.pools import Pool, single, translated
from cutter.storage.records import Connection, Rows, T, the_row
from cutter.storage.records import answer as value_of
from cutter.types import Json

if TYPE_CHECKING:
    # Only the two gates that judge approvals load them.
    from cutter.storage.approval_facts import ApprovalFacts

from cutter.domain import recorded_values


@dataclass(frozen=True, slots=True, kw_only=True)
class Drift:
    """The first difference between the database and the state that a run expects.

    `fingerprint` is the digest of the whole survey, and `lines` name what differs. `report` is the database's own
    answer, which the row of the attempt keeps.
    """

    dimension: str
    fingerprint: str
    lines: tuple[str, ...]
    report: Json

    @classmethod
    def of(cls, answer: Json) -> Drift:
        return cls(
            dimension=answer["dimension"], fingerprint=answer["fingerprint"], lines=tuple(answer["diff"]), report=answer
        )

    @property
    def reason(self) -> str:
        """The fingerprint and the differences in one line."""
        return f"fingerprint {self.fingerprint}: {'; '.join(self.lines)[:400]}"


@dataclass(frozen=True, slots=True, kw_only=True)
class NotOpened:
    """The database did not open or seal a gate, or did not open a request. `status` is the database's word.

    `code` is the kind of a stop, or the code of another refusal. `reason` is given for a stop. `drift` is given if the
    status is `drift`.
    """

    status: str
    code: str
    reason: str
    drift: Drift | None

    @classmethod
    def of(cls, answer: Json) -> NotOpened:
        """The refusal from an answer of `fn_gate_open`, `fn_gate_close` or `fn_request_open`."""
        return cls(
            status=answer["status"], code=answer.get("code") or answer.get("kind") or "",
            reason=answer.get("reason") or "",
            drift=Drift.of(answer["drift"]) if answer["status"] == "drift" else None,
        )  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Decided:
    """What a function of the database decided about a run: a status such as `recorded`, and the run's state.

    `code` says why it refused. `decision` is the decision that a person must sign. `have` of the `needed` people have
    signed it, or approve without a signature. `wrote` is true if leg A has written units. `withdrawn` is the number of
    a void's drafts.
    """

    status: str = ""
    code: str = ""
    state: str = ""
    decision: str = ""
    have: int = 0
    needed: int = 0
    wrote: bool = False
    withdrawn: int = 0

    @classmethod
    def of(cls, answer: Json) -> Decided:
        """A field that the answer does not have keeps its default."""
        return recorded_values.sparse(cls, answer)


Read = tuple[Rows[Any], Mapping[str, Any]]
"""A named query and its parameters."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """A registered attempt: its number (the fence), the run's row, the pins of all sealed gates, the database's clock,
    and the effect policy in force.

    `approval_facts` are the facts for judging approvals, from the same round trip. They are None if the gate needs no
    approvals. `approvers` is the number of people who have approved the gate's work, by tier, and `needed` is the
    number that each tier needs.
    """

    gate: Gate
    run_id: str
    number: int
    run: RunRecord
    pins: Json
    prev_hash: str
    now: str
    policy: EffectPolicy | InvalidPolicy
    approval_facts: ApprovalFacts | None = None
    approvers: Mapping[str, int] = field(default_factory=dict)
    needed: Mapping[str, int] = field(default_factory=dict)

    @property
    def payload_sha256(self) -> str:
        """The digest of run, gate and the predecessor's hash, which covers all input pins. All attempts have it."""
        return canonical_digest({"run_id": self.run_id, "gate": self.gate.name, "prev_hash": self.prev_hash})


@dataclass(frozen=True, slots=True, kw_only=True)
class Sealed:
    """A receipt as the database sealed it, also with the pins of the earlier gates.

    If this attempt sealed the receipt, `kb_id` is the KB id of its report, and `policy` is the effect policy in force
    at that time. Both are None if the receipt was found sealed.
    """

    receipt: Receipt
    run: RunRecord
    pins: Json = field(default_factory=dict)
    kb_id: str | None = None
    policy: EffectPolicy | InvalidPolicy | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RunClosed:
    """No attempt was registered: the run is over or unknown, the role is wrong, or the gate before is not sealed."""

    status: str
    state: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """An approval that a gate consumes: the sha256 of the signed document, and the challenge that it answers."""

    approval_sha256: str
    challenge: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class GateTerms:
    """The terms for opening a gate. `reads` are sent right after the opening."""

    policy: Json | None = None
    approvals: Sequence[Offer] = ()
    rehearse: bool = False
    cap_seconds: float
    reads: Sequence[Read] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenGate:
    """An open gate: the connection in its transaction, and the answers of the first queries.

    `principal` is the user of the session. `transaction` is the transaction's id, and a gate that writes compares it
    with the transaction of its writes.
    """

    connection: Connection
    attempt: Attempt
    principal: str
    transaction: str
    answers: Mapping[str, list[Any]] = field(default_factory=dict)

    def rows(self, asked: Rows[T]) -> list[T]:
        """All rows of a query in `reads`. A KeyError is a programmer's mistake."""
        return self.answers[asked.name]

    def row(self, asked: Rows[T]) -> T | None:
        return next(iter(self.rows(asked)), None)


def begin_attempt(
    pool: Pool, gate: Gate, run_id: str, *, worker: str, lease_seconds: int, facts: Rows[ApprovalFacts] | None = None
) -> Attempt | Sealed | RunClosed:
    """Register an attempt, or find the sealed receipt. It takes one round trip and commits at once.

    `facts` is the query of the facts by which a gate judges approvals.
    """
    judged = None
    with single(pool) as connection, connection.pipeline():
        attempted = connection.cursor(row_factory=scalar_row).execute(
            "select cutter_governance.fn_gate_attempt(%s, %s, %s, %s)", (run_id, gate.name, worker, lease_seconds)
        )
        if facts is not None and gate.sovereign is not None:
            judged = facts.sent(connection, {"run_id": run_id, "gate": gate.sovereign.value})
        policy = policies.TEXT.sent(connection)
    answer = _json(attempted.fetchone())
    if answer["status"] == "registered":
        return Attempt(
            gate=gate,
            run_id=run_id,
            number=answer["attempt"],
            run=RunRecord.of(answer["run"]),
            pins=answer["pins"],
            prev_hash=answer["prev_hash"],
            now=answer["now"],
            policy=policies.of(policy),
            approval_facts=the_row(facts.name, judged) if facts and judged else None,
            approvers=answer["approvers"],
            needed=answer["needed"],
        )
    if answer["status"] == "sealed":
        expected = canonical_digest({"run_id": run_id, "gate": gate.name, "prev_hash": answer["prev_hash"] or ""})
        receipt = _same_payload(answer["receipt"], expected)
        return Sealed(receipt=receipt, run=RunRecord.of(answer["run"]), pins=answer["pins"])
    return RunClosed(status=answer["status"], state=answer["run"]["state"] if "run" in answer else "")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Opening:
    """The answer of `fn_gate_open`, with the user and the role of its session."""

    answer: Json
    session: str
    role: str
    transaction: str


_OPEN = """
select cutter_governance.fn_gate_open(%s, %s, %s, %s, %s, %s, %s) as answer, session_user as session,
    current_user as role, pg_current_xact_id()::text as transaction
"""


@contextmanager
def gate_transaction(pool: Pool, attempt: Attempt, terms: GateTerms) -> Iterator[OpenGate | NotOpened | Sealed]:
    """Open the gate's transaction. Only `seal` commits it. At the end of the block it rolls back."""
    with translated(), pool.connection() as connection:
        # The pool ignores an error of its own rollback. So an error of gpg or a store stays the cause, even if the
        # server has ended the transaction because of that wait.
        yield _open(connection, attempt, terms)
        if not connection.closed and connection.info.transaction_status != TransactionStatus.IDLE:
            connection.rollback()


def margin_seconds(cap_seconds: float) -> float:
    """The seconds between the limit of a gate's transaction and its cap. A smaller cap has a smaller margin."""
    # The time by which transaction_timeout is shorter than the gate's cap, so that nothing writes after the cap.
    return min(5, cap_seconds / 4)


def _open(connection: Connection, attempt: Attempt, terms: GateTerms) -> OpenGate | NotOpened | Sealed:
    if connection.autocommit:
        raise ProgrammingError("a gate's transaction needs autocommit off")
    limit = f"{int((terms.cap_seconds - margin_seconds(terms.cap_seconds)) * 1000)}ms"
    gate = attempt.gate.name
    with connection.pipeline():
        connection.execute(
            "select set_config('transaction_timeout', %s, true), set_config('statement_timeout', %s, true)",
            (limit, limit),
        )
        cursor = connection.cursor(row_factory=class_row(_Opening)).execute(
            _OPEN,
            (
                attempt.run_id,
                gate,
                attempt.number,
                attempt.payload_sha256,
                Jsonb([asdict(offer) for offer in terms.approvals]),
                terms.rehearse,
                Jsonb(terms.policy) if terms.policy is not None else None,
            ),
        )
        cursors = [(asked.name, asked.sent(connection, parameters)) for asked, parameters in terms.reads]
    opening = the_row("fn_gate_open", cursor)
    if (opening.session, opening.role) != (attempt.gate.role.value,) * 2:
        raise ProgrammingError(f"{gate} runs as {attempt.gate.role.value}, not as {opening.session}/{opening.role}")
    if connection.info.transaction_status != TransactionStatus.INTRANS:
        raise ProgrammingError("the gate's transaction is not open")
    answer = opening.answer
    if answer["status"] in ("sealed", "conflict"):
        receipt = _same_payload(answer["receipt"], attempt.payload_sha256)
        if answer["status"] == "sealed":
            return Sealed(receipt=receipt, run=attempt.run, pins=attempt.pins)
    if answer["status"] != "opened":
        return NotOpened.of(answer)
    return OpenGate(
        connection=connection,
        attempt=attempt,
        principal=opening.session,
        transaction=opening.transaction,
        answers={name: read.fetchall() for name, read in cursors},
    )


def seal(opened: OpenGate, report: GateReport, *, extra: Mapping[str, Any], kb_id: str | None) -> Sealed | NotOpened:
    """Make the second survey, seal the gate, read the effect policy and COMMIT, in one round trip. Only a passed report
    may be sealed.

    Between seal and COMMIT, a statement fails if the gate was not sealed. Then PostgreSQL does not run the COMMIT.
    """
    if not report.passed:
        raise ProgrammingError(f"{report.gate}: a report that did not pass is refused, not sealed")
    attempt, connection = opened.attempt, opened.connection
    result = Jsonb({**report.as_json(), **extra})
    with suppress(psycopg.errors.DivisionByZero), connection.pipeline():
        cursor = connection.cursor(row_factory=scalar_row).execute(
            _CLOSE, (attempt.run_id, attempt.gate.name, attempt.number, result, kb_id)
        )
        connection.execute(_ONLY_WHEN_SEALED)
        policy = policies.TEXT.sent(connection)
        connection.execute("commit")
    answer: Json = the_row("fn_gate_close", cursor)
    if answer["status"] != "sealed":
        return NotOpened.of(answer)
    if connection.info.transaction_status != TransactionStatus.IDLE:
        raise ProgrammingError("the gate is sealed, but its transaction is still open")
    pins = {**attempt.pins, **report.pins}
    return Sealed(
        receipt=Receipt.of(answer["receipt"]), run=attempt.run, pins=pins, kb_id=kb_id,
        policy=policies.of(policy),
    )  # fmt: skip


_CLOSE = """
with closed as materialized (select cutter_governance.fn_gate_close(%s, %s, %s, %s, %s) as answer)
select answer, set_config('cutter.closed', answer ->> 'status', true) as status from closed
"""
"""The answer of `fn_gate_close`. Its status is kept for the next statement."""
_ONLY_WHEN_SEALED = "select 1 / (current_setting('cutter.closed', true) = 'sealed')::integer"


def refuse(
    pool: Pool, attempt: Attempt, *, outcome: str, reason: str, report: Json | None, state: str | None,
    retry_seconds: float | None = None,
) -> None:  # fmt: skip
    """Record the outcome of an attempt in a separate transaction, and move the run to `state`, if it is given.

    The next attempt is due in `retry_seconds`. None means that no attempt follows automatically.
    """
    with single(pool) as connection:
        connection.execute(
            "select cutter_governance.fn_gate_refuse(%s, %s, %s, %s, %s, %s, %s, %s)",
            (
                attempt.run_id,
                attempt.gate.name,
                attempt.number,
                outcome,
                reason,
                Jsonb(report) if report is not None else None,
                state,
                retry_seconds,
            ),
        )


def call(connection: Connection, read: Callable[[Json], T], statement: LiteralString, parameters: Sequence[Any]) -> T:
    """Call a security-definer function that answers with JSON. `read` makes the answer a record."""
    return read(_json(value_of(connection, statement, parameters)))


def _json(answer: Any) -> Json:
    if not isinstance(answer, dict):
        raise Unavailable("the database answered nothing", what="database")
    return answer


def _same_payload(row: Json, expected: str) -> Receipt:
    receipt = Receipt.of(row)
    if receipt.payload_sha256 != expected:
        raise Conflict(
            f"{receipt.gate} of {receipt.run_id} is sealed for payload {receipt.payload_sha256}, "
            f"asked for {expected}: nothing was overwritten; see",
            then="cutter status",
        )
    return receipt
