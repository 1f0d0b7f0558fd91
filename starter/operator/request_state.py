"""IO: what became of requests that nobody can answer any more, in words for their pages and for an open session."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from cutter.catalogue import Role
from cutter.domain.run_state import RunState
from cutter.domain.timestamps import readable
from cutter.settings import Settings
from cutter.storage.pools import session
from cutter.storage.records import records
from starter.operator import rejections


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
        rejected = rejections.read(settings, connection, [run_id]).get(run_id)
    if asked is None or asked.is_open or asked.mode != "live":
        return ""
    if rejected:
        why = rejections.sentence(rejected).rstrip(".")
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
        rejected = rejections.read(settings, connection, [request.run_id for request in ended])
    reasons = {}
    for request in ended:
        rejection = rejected.get(request.run_id)
        if request.is_open and request.approved:
            reasons[request.request_sha256] = "you signed it elsewhere"
        elif request.status == "rejected" and rejection:
            reasons[request.request_sha256] = rejections.sentence(rejection)
        else:
            reasons[request.request_sha256] = _ENDS.get(request.status, f"its run is {request.state}")
    return reasons


_ENDS = {"approved": "it has all its signatures", "expired": "it has expired"}
