"""IO: signs the statements of a signing session one after the other, and hands them over."""

from __future__ import annotations

from dataclasses import dataclass, field

import uuid_utils

from cutter.approvals import schema
from cutter.batch import documents
from cutter.kb.ids import signature_of
from cutter.kb.store import Store
from cutter.settings import Settings
from cutter.storage import runs as known_runs
from cutter.storage.gate_transaction import call
from cutter.storage.pools import OPERATOR, session
from cutter.types import Json
from starter.approver import orders, signing_desk
from starter.approver.session_requests import Asked
from starter.approver.signing_desk import Signing
from starter.operator import batch_resume
from temporal import batches


@dataclass(slots=True, kw_only=True)
class Signatures:
    """One signer and one batch. `before` is true after a rehearsal, when both gates are signed in advance."""

    settings: Settings
    batch_id: str
    signer: Signing
    before: bool
    signed: int = 0
    folder: str = ""
    """The folder of this session. It is handed over as one set."""
    uploaded: list[str] = field(default_factory=list)

    def approve(self, one: Asked, note: str = "") -> list[str]:
        """Sign one request, or after a rehearsal both of its gates. Returns the KB ids of the statements."""
        if self.before:
            names = _sign_before(self.settings, self.batch_id, one, self.signer, note)
            self.uploaded += names
        else:
            self.folder = self.folder or f"{documents.folder(self.batch_id)}/sitting-{uuid_utils.uuid7()}"
            statement = signing_desk.answer(one.document, one.data, self.signer, schema.APPROVE, text=note)
            name = f"{self.folder}/{one.name}.md"
            names = [signing_desk.sign_and_upload(self.settings, statement, self.signer, name)]
        self.signed += 1
        return names

    def reject(self, one: Asked, reason: str) -> list[str]:
        """Sign the rejection of one request. Returns the KB id of the statement, which `hand_over_rejection` gives to
        the run.
        """
        signing_desk.require_fit(
            self.settings, self.signer, one.gate, schema.REJECT, run_id=one.document.request.run_id,
            starter=one.document.starter,
        )  # fmt: skip
        statement = signing_desk.answer(one.document, one.data, self.signer, schema.REJECT, text=reason)
        return [signing_desk.sign_and_upload(self.settings, statement, self.signer, one.document.approval_kb_id)]

    def hand_over_rejection(self, one: Asked, kb_id: str) -> Json:
        """The run's answer to a signed rejection."""
        run = known_runs.sidecar(self.settings, one.document.request.run_id).run
        return orders.hand_over(self.settings, run, kb_id)

    def hand_over(self) -> Json:
        """Hand the approvals over and return the answer of the batch. Approvals for a night are already where the night
        looks for them.
        """
        if self.before:
            return {"status": "accepted", "pre_batched": self.uploaded}
        folder, listing = batches.upload_set(self.settings, self.batch_id, self.folder)
        seen = batches.view(self.settings, self.batch_id)
        return {"folder": folder, **batch_resume.hand_over(self.settings, seen, folder, listing)}


def _sign_before(settings: Settings, batch_id: str, one: Asked, signer: Signing, note: str) -> list[str]:
    """Sign both gates of a document, and put the statements where the batch looks for them. Returns their KB ids."""
    name = one.name
    with session(settings, OPERATOR) as connection:
        decisions = call(connection, "select cutter_governance.fn_decisions_prepare(%s, %s)", (batch_id, [name]))
    store, signed = Store(settings.kb), []
    for gate in documents.GATE_STEMS:
        statement = signing_desk.answer_before(
            one.document, one.data, signer, gate=gate, batch_id=batch_id, review_decision_id=decisions[name], text=note
        )
        kb_id = documents.pre_batched(batch_id, gate, name)
        if store.exists(kb_id) or store.exists(signature_of(kb_id)):
            kb_id = f"{kb_id.removesuffix('md')}{signer.approver}-{uuid_utils.uuid7()}.md"
        signed.append(signing_desk.sign_and_upload(settings, statement, signer, kb_id))
    return signed
