"""IO: what became of a request that nobody can answer any more, in one sentence for its page and its document."""

from __future__ import annotations

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
    """The newest request of a run, with the state of the run."""

    status: str
    is_open: bool
    expires_at: datetime
    mode: str
    state: str


STATE = records("state_of_newest_request", RequestState)


def over(settings: Settings, run_id: str, *, role: Role = Role.OPERATOR) -> str:
    """Why nobody can answer the request that is shown of a run. Empty while it is open, and for a rehearsal."""
    with session(settings, role) as connection:
        asked = STATE.first(connection, {"run_id": run_id})
        rejected = rejections.read(settings, connection, [run_id]).get(run_id)
    if asked is None or asked.is_open or asked.mode != "live":
        return ""
    why = rejections.sentence(rejected).rstrip(".") if rejected else _why(asked)
    return f"This request is over: {why}. Nothing waits for an answer."


def _why(asked: RequestState) -> str:
    if RunState(asked.state).voided:
        return "the run was voided"
    if asked.status == "expired":
        return f"nobody answered it before {readable(asked.expires_at)}"
    if asked.status == "approved":
        return "it was approved"
    return f"the run has ended as {asked.state}"
