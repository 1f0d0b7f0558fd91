"""IO: the requests of a signing session of a batch."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from cutter import limits
from cutter.approvals import schema
from cutter.approvals.request import RequestDocument, request_sha256
from cutter.batch import batch_step, documents
from cutter.batch.view import BatchView, ItemRecord
from cutter.domain.amounts import counted
from cutter.errors import NotFound
from cutter.kb.sets import set_names
from cutter.kb.store import Store
from cutter.settings import Settings
from starter.approver import signing_desk
from starter.console.terminal import Listing, progress
from temporal import batches


@dataclass(frozen=True, kw_only=True)
class Asked:
    """One request of the session: its item, its gate, the document and the bytes that were read."""

    item: ItemRecord
    gate: str
    document: RequestDocument
    data: bytes

    @property
    def name(self) -> str:
        """Id of the document."""
        return self.item.document_id

    @property
    def accepted(self) -> int:
        """The number of red findings that a person accepted by name."""
        names = self.document.request.accepted_findings
        return 0 if names == schema.NO_FINDINGS else len(names.split())

    @property
    def findings(self) -> str:
        """Such as `3, 1 red accepted`."""
        return f"{self.document.findings_count}{f', {self.accepted} red accepted' if self.accepted else ''}"

    @cached_property
    def key(self) -> str:
        """SHA-256 of the request document."""
        return request_sha256(self.data)


def view_of(settings: Settings, batch_id: str) -> BatchView:
    """The requests of the live batch if there is one, else those of its rehearsal."""
    try:
        return batches.view(settings, batch_id)
    except NotFound as missing:
        try:
            return batches.view(settings, f"{batch_id}-dryrun")
        except NotFound:
            raise missing from None


@dataclass(frozen=True, kw_only=True)
class SessionRequests:
    """The requests of a session. `before` says that they come from a rehearsal.

    `left_out` names the waiting documents that nobody asked for, and `others` counts those that need another session.
    """

    before: bool
    asked: list[Asked]
    left_out: list[str]
    others: int


def waiting(settings: Settings, batch_id: str, only: Sequence[str] = ()) -> SessionRequests:
    """The requests that wait in a batch, or only those of some documents. A session has a limited number of them."""
    view = view_of(settings, batch_id)
    before = view.batch.mode == "dryrun"
    if before:
        signed = _signed_before(settings, batch_id)
        rehearsed = [one for one in view.items if one.outcome == "rehearsed"]
        # A signature in advance changes no item. So those that have the fewest signatures come first.
        found = [("SG_cut_authz", one) for one in sorted(rehearsed, key=lambda item: signed[item.document_id])]
    else:
        # The request of a run that has just arrived at its gate may not be in the knowledge base yet.
        asking = [(gate, one) for gate in documents.GATE_STEMS for one in batch_step.waiting_at(view, gate)]
        found = [(gate, one) for gate, one in asking if one.request_kb_id]
        # The first of two people finds requests that nobody has signed before those that wait for the second.
        found.sort(key=lambda asked: asked[1].signed)
    wanted = [(gate, one) for gate, one in found if not only or one.document_id in only]
    left_out = [one.document_id for _, one in found if only and one.document_id not in only]
    some = wanted[: limits.SET_STATEMENTS_MAX]
    with progress(f"reading {counted(len(some), 'request')}"):
        asked = [_asked(settings, one, gate) for gate, one in some]
    return SessionRequests(before=before, asked=asked, left_out=left_out, others=len(wanted) - len(some))


def _signed_before(settings: Settings, batch_id: str) -> Counter[str]:
    """The number of approvals of each document that were signed in advance for its last gate."""
    last = list(documents.PRE_BATCHED.values())[-1]
    names = set_names(Store(settings.kb), f"{documents.folder(batch_id)}/{last}")
    return Counter(name.rpartition("/")[2].partition(".")[0] for name in names)


def _asked(settings: Settings, item: ItemRecord, gate: str) -> Asked:
    document, data = signing_desk.read_request(settings, item.run_id or "", item.request_kb_id or "")
    return Asked(item=item, gate=gate, document=document, data=data)


def listing(asked: Sequence[Asked]) -> Listing:
    """The requests as a table."""
    rows = [
        (
            one.name, one.gate, one.document.request.candidate_count, one.document.changes.added_count,
            one.document.changes.changed_count, one.document.changes.removed_count, one.document.findings_count,
            one.document.request.writer_digest[:16],
        )
        for one in asked
    ]  # fmt: skip
    columns = ("document", "gate", "units", "added", "changed", "removed", "findings", "writer_digest")
    return Listing(columns=columns, rows=rows, title=counted(len(rows), "request"))
