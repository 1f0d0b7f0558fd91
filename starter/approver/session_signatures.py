"""IO: signs the statements of a signing session with one signature for all, and hands them over."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import uuid_utils

from cutter.approvals import schema
from cutter.approvals.statement import Statement
from cutter.batch import documents
from cutter.catalogue import Role
from cutter.errors import CutterError
from cutter.kb.ids import signature_of
from cutter.kb.store import Store
from cutter.settings import Settings
from cutter.storage.gate_transaction import call
from cutter.storage.pools import session
from starter.approver import signing_desk
from starter.approver.session_requests import Asked
from starter.approver.signing_desk import Signing
from starter.operator import batch_resume
from temporal import batches
from temporal.batches import SetReply


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
        return folder, batch_resume.hand_over(self.settings, view, folder, listing)
