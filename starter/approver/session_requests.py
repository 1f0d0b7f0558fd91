"""IO: the requests of a signing session of a batch, and the statements that answer them, with one signature for all."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from time import monotonic

import uuid_utils

from cutter import limits
from cutter.approvals import reader, schema, statement
from cutter.approvals.request import RequestDocument, request_sha256
from cutter.approvals.statement import Statement
from cutter.batch import batch_step, documents
from cutter.batch.view import BatchView, ItemRecord
from cutter.catalogue import Role
from cutter.domain.amounts import counted
from cutter.errors import CutterError, InvalidInput, NotFound, Unavailable
from cutter.gpg import Gpg
from cutter.kb.ids import signature_of
from cutter.kb.store import Store, set_names
from cutter.openpgp import Outcome
from cutter.settings import Settings
from cutter.storage.gate_transaction import call
from cutter.storage.pools import session
from cutter.storage.records import Rows, values
from starter.approver import signing_desk
from starter.approver.signing_desk import Signing
from starter.console.terminal import Listing, progress
from starter.operator import batch_outcome
from temporal import batches
from temporal.batches import SetReply

SIGNED_BY: Rows[str] = values("runs_signed_by")

LAST_GATE = list(documents.PRE_BATCHED)[-1]
"""A session signs both gates of a document. A statement about the last one shows that it is complete."""


@dataclass(frozen=True, kw_only=True)
class Asked:
    """One request of the session: the document and the bytes that were read."""

    document: RequestDocument
    data: bytes

    @property
    def name(self) -> str:
        """Id of the document."""
        return self.document.request.document_id

    @property
    def gate(self) -> str:
        return self.document.request.gate

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

    `left_out` names the waiting documents that nobody asked for, `others` counts those that need another session, and
    `done` those that this approver has signed.
    """

    before: bool
    asked: list[Asked]
    left_out: list[str]
    others: int
    done: int


def waiting(
    settings: Settings, batch_id: str, only: Sequence[str] = (), signer: Signing | None = None
) -> SessionRequests:
    """The requests of a batch that wait for a signer, or of some documents, up to the limit of a session."""
    view = view_of(settings, batch_id)
    before = view.batch.mode == "dryrun"
    rows = _rehearsed(settings, view, batch_id, None if only else signer) if before else _asking(settings, view, signer)
    wanted = [item for item, done in rows if (item.document_id in only if only else not done)]
    left_out = [item.document_id for item, _ in rows if only and item.document_id not in only]
    some = wanted[: limits.SET_STATEMENTS_MAX]
    with progress(f"reading {counted(len(some), 'request')}"):
        asked = [asked_of(settings, item.run_id or "", item.request_kb_id or "") for item in some]
    return SessionRequests(
        before=before, asked=asked, left_out=left_out, others=len(wanted) - len(some),
        done=sum(done for _, done in rows),
    )  # fmt: skip


def _asking(settings: Settings, view: BatchView, signer: Signing | None) -> list[tuple[ItemRecord, bool]]:
    """The items of a batch that have an open request, each with whether this signer has signed it."""
    approver = signer.approver if signer else ""
    with session(settings, Role.OPERATOR) as connection:
        mine = SIGNED_BY.all(connection, {"batch_id": view.batch.batch_id, "approver": approver})
    # The request of a run that has just arrived at its gate may not be in the knowledge base yet.
    rows = [
        (item, item.run_id in mine and item.signed > 0)
        for gate in documents.GATE_STEMS for item in batch_step.waiting_at(view, gate) if item.request_kb_id
    ]  # fmt: skip
    # The first of two people finds requests that nobody has signed before those that wait for the second.
    return sorted(rows, key=lambda asked: asked[0].signed)


def _rehearsed(
    settings: Settings, view: BatchView, batch_id: str, signer: Signing | None
) -> list[tuple[ItemRecord, bool]]:  # fmt: skip
    """The rehearsed documents, as `_asking` gives the requests. A signature in advance changes no item."""
    store = Store(settings.kb)
    signed = statements(store, batch_id)
    items = sorted(
        (item for item in view.items if item.outcome == "rehearsed"), key=lambda i: len(signed[i.document_id])
    )
    mine = approved_in_advance(store, batch_id, signer, items, signed) if signer is not None else set()
    return [(item, item.document_id in mine) for item in items]


def statements(store: Store, batch_id: str) -> Mapping[str, list[str]]:
    """The KB ids of the statements about each document that were signed in advance, in the order of their names."""
    by_document: defaultdict[str, list[str]] = defaultdict(list)
    for name in set_names(store, f"{documents.folder(batch_id)}/{documents.PRE_BATCHED[LAST_GATE]}"):
        by_document[name.rpartition("/")[2].partition(".")[0]].append(name)
    return by_document


def approved_in_advance(
    store: Store, batch_id: str, signer: Signing, items: Sequence[ItemRecord], signed: Mapping[str, list[str]]
) -> set[str]:
    """The documents that the signer has approved for the night as they are now, among the `signed` statements.

    It only decides what a session offers, so the signer's own gpg judges, without a policy. It looks for at most
    SIGNED_LOOK_SECONDS, however many files there are, and offers again what it did not reach.
    """
    gpg = Gpg(signer.home, interactive=signer.home is None)
    end, mine = monotonic() + limits.SIGNED_LOOK_SECONDS, set()

    def approves(kb_id: str, item: ItemRecord) -> bool:
        """Whether a statement has a good signature of the signer's key and approves the newest request of an item."""
        try:
            document = reader.read_approval(store, kb_id)
            is_signed = any(
                record.outcomes == (Outcome.GOOD,) and record.primary_fingerprint == signer.fingerprint
                for record in reader.evidence_of(document, gpg).records
            )
            approval = statement.parse(document.body) if is_signed else None
            if not isinstance(approval, Statement) or item.request_kb_id is None:
                return False
            request = request_sha256(store.get(item.request_kb_id))
        except (InvalidInput, NotFound, Unavailable):
            return False
        about = (
            approval.decision, approval.gate, approval.batch_id, approval.document_id, approval.request_sha256,
        )  # fmt: skip
        wanted = (schema.APPROVE, LAST_GATE, batch_id, item.document_id, request)
        return about == wanted and approval.not_after > datetime.now(UTC)

    with progress("looking for what you have signed"):
        for item in items:
            if monotonic() > end:
                break
            names = signed[item.document_id]
            first = documents.pre_batched(batch_id, LAST_GATE, item.document_id)
            later = f"{first.removesuffix('md')}{signer.approver}-"
            # A name ends with a UUID of version 7, so that the newest name is the last one in order.
            own = [first] * (first in names)
            own += sorted((name for name in names if name.startswith(later)), reverse=True)
            if any(approves(name, item) for name in own[: limits.SIGNED_LOOK_STATEMENTS]):
                mine.add(item.document_id)
    return mine


def asked_of(settings: Settings, run_id: str, kb_id: str) -> Asked:
    document, data = signing_desk.read_request(settings, run_id, kb_id)
    return Asked(document=document, data=data)


def listing(asked: Sequence[Asked]) -> Listing:
    rows = [
        (
            request.name, request.gate, request.document.request.candidate_count, request.document.changes.added_count,
            request.document.changes.changed_count, request.document.changes.removed_count,
            request.document.findings_count, request.document.request.writer_digest[:16],
        )
        for request in asked
    ]  # fmt: skip
    columns = ("document", "gate", "units", "added", "changed", "removed", "findings", "writer_digest")
    return Listing(columns=columns, rows=rows, title=counted(len(rows), "request"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """The statements about one request, each with the KB id that it should get: two for a night, else one."""

    one: Asked
    statements: tuple[tuple[Statement, str], ...]
    approves: bool


@dataclass(slots=True, kw_only=True)
class Signatures:
    """One signer, and one batch or a run that is signed alone (no `batch_id`). `before` is true after a rehearsal, when
    both gates are signed in advance.
    """

    settings: Settings
    signer: Signing
    batch_id: str = ""
    before: bool = False
    folder: str = ""
    """The folder of this session. It is handed over as one set."""

    def approval(self, asked: Asked, note: str = "") -> Answer:
        """The approval of one request, or after a rehearsal of both of its gates. It is not signed yet."""
        if self.before:
            return Answer(one=asked, approves=True, statements=tuple(self._in_advance(asked, note)))
        statement = signing_desk.answer(asked.document, asked.data, self.signer, schema.APPROVE, text=note)
        if not self.batch_id:
            return Answer(one=asked, approves=True, statements=((statement, asked.document.approval_kb_id),))
        self.folder = self.folder or f"{documents.folder(self.batch_id)}/session-{uuid_utils.uuid7()}"
        return Answer(one=asked, approves=True, statements=((statement, f"{self.folder}/{asked.name}.md"),))

    def rejection(self, asked: Asked, reason: str) -> Answer:
        """The rejection of one request. It is not signed yet."""
        signing_desk.require_fit(
            self.settings, self.signer, asked.gate, schema.REJECT, run_id=asked.document.request.run_id,
            starter=asked.document.starter,
        )  # fmt: skip
        statement = signing_desk.answer(asked.document, asked.data, self.signer, schema.REJECT, text=reason)
        return Answer(one=asked, approves=False, statements=((statement, asked.document.approval_kb_id),))

    def sign(self, answers: Sequence[Answer]) -> Iterator[tuple[Answer, list[str] | CutterError]]:
        """Sign all answers, and upload one after the other. Yields each with the KB ids of its statements, or with the
        problem. Raises if gpg does not sign the one signature for all.
        """
        statements = [statement for answer in answers for statement, _ in answer.statements]
        files = iter(signing_desk.sign(statements, self.signer))
        for answer in answers:
            own = [(next(files), kb_id) for _, kb_id in answer.statements]
            try:
                kb_ids = [signing_desk.upload(self.settings, file, kb_id) for file, kb_id in own]
            except CutterError as problem:
                yield answer, problem
            else:
                yield answer, kb_ids

    def _in_advance(self, asked: Asked, note: str) -> Iterator[tuple[Statement, str]]:
        """The statements for both gates of a document, with the KB ids where the batch looks for them."""
        with session(self.settings, Role.OPERATOR) as connection:
            prepared = (self.batch_id, [asked.name])
            decisions = call(connection, dict, "select cutter_governance.fn_decisions_prepare(%s, %s)", prepared)
        store = Store(self.settings.kb)
        for gate in documents.GATE_STEMS:
            statement = signing_desk.answer_before(
                asked.document, asked.data, self.signer, gate=gate, batch_id=self.batch_id,
                review_decision_id=decisions[asked.name], text=note,
            )  # fmt: skip
            kb_id = documents.pre_batched(self.batch_id, gate, asked.name)
            if store.exists(kb_id) or store.exists(signature_of(kb_id)):
                kb_id = f"{kb_id.removesuffix('md')}{self.signer.approver}-{uuid_utils.uuid7()}.md"
            yield statement, kb_id

    def hand_over(self) -> tuple[str, SetReply]:
        """Hand the approvals of this session over to the batch. Returns their folder, and the batch's reply."""
        folder, listing = batches.upload_set(self.settings, self.batch_id, self.folder)
        view = batches.view(self.settings, self.batch_id)
        return folder, batch_outcome.hand_over(self.settings, view, folder, listing)
