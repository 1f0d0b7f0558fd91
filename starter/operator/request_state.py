"""IO: what became of requests and their runs, in words: who rejected and why, a newer version, and why one is over.

PostgreSQL records who rejected a run. Only the signed statement has the reason.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache

from cutter import limits
from cutter.approvals import statement
from cutter.approvals.statement import Statement
from cutter.catalogue import Role, Sovereign
from cutter.domain.digests import sha256_hex
from cutter.domain.run_state import RunState
from cutter.domain.timestamps import readable
from cutter.errors import InvalidInput, NotFound, Unavailable
from cutter.kb.store import Store
from cutter.projections.run_view import ShownRejection
from cutter.settings import Settings
from cutter.storage.pools import session
from cutter.storage.records import Connection, records

SHORT = {Sovereign.CUT.value: "SG_1", Sovereign.LIFECYCLE.value: "SG_2"}
"""The short names of the sovereign gates."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rejected:
    """A recorded rejection: the gate, the approver, and the statement that was judged."""

    gate: str
    approver: str
    kb_id: str
    approval_sha256: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RejectedRun(Rejected):
    """A recorded rejection with its run."""

    run_id: str


REJECTED = records("rejections", RejectedRun)


def rejections(settings: Settings, connection: Connection, run_ids: Iterable[str]) -> dict[str, ShownRejection]:
    """The rejections of these runs by run: the gate, the approver and the reason. Other runs are left out."""
    rows = REJECTED.all(connection, {"run_ids": sorted(run_ids)})
    return with_reasons(settings, {row.run_id: row for row in rows})


def rejection_sentence(rejection: ShownRejection) -> str:
    """Such as `rejected at SG_1 by anna: article 4 is missing`."""
    return f"rejected at {SHORT.get(rejection.gate, rejection.gate)} by {rejection.approver}: {rejection.reason}"


def with_reasons(settings: Settings, recorded: Mapping[str, Rejected]) -> dict[str, ShownRejection]:
    """Each recorded rejection with the reason from its statement, by run."""
    shown = {}
    for run_id, rejection in recorded.items():
        try:
            reason = _signed_reason(settings.kb, rejection.kb_id, rejection.approval_sha256) or "no reason was given"
        except (NotFound, InvalidInput, Unavailable):
            reason = f"the reason cannot be read; the signed statement was {rejection.kb_id}"
        shown[run_id] = ShownRejection(gate=rejection.gate, approver=rejection.approver, reason=reason)
    return shown


@lru_cache(maxsize=1000)
def _signed_reason(kb: str, kb_id: str, approval_sha256: str) -> str:
    """The text of the statement on one line. A file that is not the judged statement is InvalidInput."""
    body = Store(kb).get(kb_id, limit=limits.STATEMENT_BYTES_MAX)
    judged = statement.parse(body) if sha256_hex(body) == approval_sha256 else None
    if not isinstance(judged, Statement):
        raise InvalidInput(f"{kb_id} is not the statement that was judged")
    return " ".join(judged.text.split())[: limits.REASON_CHARACTERS_MAX]


@dataclass(frozen=True, slots=True, kw_only=True)
class NewerVersion:
    """The version that a run has pinned, and the newest registered one. No run has taken the newest one yet."""

    run_id: str
    pinned: int
    newest: int
    registered_by: str | None
    registered_at: datetime


NEWER = records("newer_versions", NewerVersion)


def newer_versions(connection: Connection, run_ids: Sequence[str]) -> dict[str, str]:
    """A sentence for each of these runs whose document has a newer version."""
    sentences = {}
    for row in NEWER.all(connection, {"run_ids": list(run_ids)}):
        by = f" by {row.registered_by}" if row.registered_by else ""
        registered = f"registered{by} on {row.registered_at.astimezone(UTC):%Y-%m-%d}"
        sentences[row.run_id] = f"version {row.newest} was {registered}, and this run has version {row.pinned}"
    return sentences


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestState:
    """A run's open request, else its newest one. `is_open`: somebody can still answer it."""

    kb_id: str
    status: str
    is_open: bool
    expires_at: datetime
    mode: str
    state: str


@dataclass(frozen=True, slots=True, kw_only=True)
class StateOfOne:
    """A request by the digest of its document, with the state of its run. `approved`: one approver has approved it."""

    request_sha256: str
    run_id: str
    status: str
    state: str
    is_open: bool
    approved: bool

    @property
    def waits(self) -> bool:
        """Whether the approver can answer it. A stopped run takes no answer before it continues."""
        return self.is_open and not self.approved and not RunState(self.state).stopped


STATE = records("newest_request", RequestState)
STATES = records("state_of_requests", StateOfOne)


def over(settings: Settings, run_id: str, *, role: Role = Role.OPERATOR) -> str:
    """Why nobody can answer the request that is shown of a run. Empty while it is open, and for a rehearsal."""
    with session(settings, role) as connection:
        asked = STATE.first(connection, {"run_id": run_id})
        rejected = rejections(settings, connection, [run_id]).get(run_id)
    if asked is None or asked.is_open or asked.mode != "live":
        return ""
    if rejected:
        why = rejection_sentence(rejected).rstrip(".")
    elif RunState(asked.state).voided:
        why = "the run was voided"
    elif asked.status == "expired":
        why = f"nobody answered it before {readable(asked.expires_at)}"
    elif asked.status == "approved":
        why = "it was approved"
    else:
        why = f"the run has ended as {asked.state}"
    return f"This request is over: {why}. Nothing waits for an answer."


def gone(settings: Settings, requests: Sequence[tuple[str, str]], approver: str) -> dict[str, str]:
    """Which of these requests (run, digest) no longer wait for this approver: the reason by the digest."""
    asked = {"run_ids": [run for run, _ in requests], "requests": [key for _, key in requests], "approver": approver}
    with session(settings, Role.OPERATOR) as connection:
        ended = [request for request in STATES.all(connection, asked) if not request.waits]
        rejected = rejections(settings, connection, [request.run_id for request in ended])
    reasons = {}
    for request in ended:
        rejection = rejected.get(request.run_id)
        if request.is_open and request.approved:
            reasons[request.request_sha256] = "you signed it elsewhere"
        elif request.status == "rejected" and rejection:
            reasons[request.request_sha256] = rejection_sentence(rejection)
        else:
            reasons[request.request_sha256] = _ENDS.get(request.status, f"its run is {request.state}")
    return reasons


_ENDS = {"approved": "it has all its signatures", "expired": "it has expired"}
