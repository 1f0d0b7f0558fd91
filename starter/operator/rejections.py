"""IO: the reasons of rejected runs. PostgreSQL records who rejected; only the signed statement has the reason."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache

from cutter import limits
from cutter.approvals import statement
from cutter.approvals.statement import Statement
from cutter.catalogue import Sovereign
from cutter.domain.digests import sha256_hex
from cutter.errors import InvalidInput, NotFound, Unavailable
from cutter.kb.store import Store
from cutter.projections.run_view import ShownRejection
from cutter.settings import Settings
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


def read(settings: Settings, connection: Connection, run_ids: Iterable[str]) -> dict[str, ShownRejection]:
    """The rejections of these runs by run: the gate, the approver and the reason. Other runs are left out."""
    rows = REJECTED.all(connection, {"run_ids": sorted(run_ids)})
    return with_reasons(settings, {row.run_id: row for row in rows})


def sentence(rejection: ShownRejection) -> str:
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
