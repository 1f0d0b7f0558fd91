"""IO: a signing session: every request of a batch shown, the chosen ones signed, the set handed over.

For a batch that was only rehearsed, the same session signs both gates in advance, for the night.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import typer
import uuid_utils

from cutter import limits
from cutter.approvals import schema
from cutter.approvals.request import RequestDocument
from cutter.batch import documents, steering
from cutter.domain.amounts import counted
from cutter.errors import CutterError, NotFound, Refused
from cutter.kb.ids import signature_of
from cutter.kb.store import Store
from cutter.settings import Settings
from cutter.storage.gate_transaction import call
from cutter.storage.pools import OPERATOR, session
from cutter.types import Json
from starter.approver import signing
from starter.approver.orders import Keys
from starter.approver.signing import Signing
from starter.console.confirmation import confirmed
from starter.console.terminal import Listing, err, progress, say
from starter.operator import batch_resume
from temporal import batches


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """One request of the session: its item, its gate, the document and the bytes that were shown."""

    item: Json
    gate: str
    document: RequestDocument
    data: bytes


_BEFORE = (
    "These are the results of a rehearsal. You sign for the live run of batch {batch_id}, and of each document both\n"
    f"gates: its cut and its enactment. Within {limits.PRE_BATCHED_HOURS} hours it becomes law exactly so; nobody is "
    "asked again."
)


def sit(
    settings: Settings, batch_id: str, signer: Signing, *, only: Sequence[str], show: Callable[[RequestDocument], None],
    yes: bool,
) -> Json:  # fmt: skip
    """Walk through what waits, sign what is chosen, hand it over; what was signed, refused and left out."""
    before, asked = _waiting(settings, batch_id)
    wanted = [one for one in asked if not only or one.item["document_id"] in only]
    if not wanted:
        seen = f"{batch_id}-dryrun" if before else batch_id
        raise NotFound(f"batch {batch_id} waits for no approval: see `cutter status {seen}`", code="nothing_waits")
    err().print(_listing(wanted))
    if before:
        err().print(_BEFORE.format(batch_id=batch_id), soft_wrap=True)
    for gate in documents.GATE_STEMS if before else sorted({one.gate for one in wanted}):
        run = {"run_id": wanted[0].item["run_id"], "starter": wanted[0].document.starter}
        signing.require_fit(settings, signer, run, gate, schema.APPROVE)
    sitting = _Sitting(settings=settings, batch_id=batch_id, signer=signer, before=before)
    skipped = [one.item["document_id"] for one in asked if one not in wanted]
    for number, one in enumerate(wanted, start=1):
        name = one.item["document_id"]
        try:
            why = _left_out(settings, one, None if yes else _Question(show, number, len(wanted), before, signer))
        except typer.Abort:
            # Signed statements stay signed and are handed over; the rest keeps waiting.
            left = [other.item["document_id"] for other in wanted[number - 1 :]]
            say(f"stopped at {number} of {len(wanted)}: {counted(sitting.signed, 'document')} signed, the others wait")
            skipped += [f"{each} (not asked)" for each in left]
            break
        if why is None:
            sitting.sign(one)
        else:
            skipped.append(f"{name} ({why})")
    if not sitting.signed:
        raise Refused(f"nothing was signed; `cutter approve --batch {batch_id}` asks again", code="not_confirmed")
    answer = sitting.hand_over()
    return {"batch_id": batch_id, "signed": sitting.signed, "left_out": skipped, **answer}


class _Question(NamedTuple):
    """The question about one document of a session."""

    show: Callable[[RequestDocument], None]
    number: int
    total: int
    before: bool
    signer: Signing

    def answered_yes(self, one: Asked) -> bool:
        self.show(one.document)
        both = " for both gates" if self.before else ""
        where = f"{self.number} of {self.total}"
        return confirmed(f"{where}: approve {one.item['document_id']}{both} as {self.signer.approver}?")


def _left_out(settings: Settings, one: Asked, question: _Question | None) -> str | None:
    """Why a document is not to be signed; None when it is. Without a question everything that is fit is signed."""
    reason = _unfit(settings, one)
    if reason is None and question is not None and not question.answered_yes(one):
        return "left out"
    return reason


def addressed(settings: Settings, batch_id: str, keys: Keys) -> Keys:
    """The keys of whom the queue addresses, when nobody is named and that person's key is at hand (seed 001 §2)."""
    if keys.approver is not None or keys.key is not None:
        return keys
    actors = {one["actor"] for one in _view(settings, batch_id)["items"]}
    own = {one.name for one in signing.own(signing.policy_in_force(settings), keys.home)}
    return keys._replace(approver=actors.pop()) if len(actors) == 1 and actors <= own else keys


def text_of(value: Any) -> str:
    """A field of the answer as people read it: a list one a line."""
    if isinstance(value, list):
        return "\n".join(
            ": ".join(str(part) for part in one.values()) if isinstance(one, dict) else one for one in value
        )
    return str(value)


def _view(settings: Settings, batch_id: str) -> Json:
    """The live batch's when there is one, else its rehearsal's."""
    try:
        return batches.view(settings, batch_id)
    except NotFound:
        return batches.view(settings, f"{batch_id}-dryrun")


def _waiting(settings: Settings, batch_id: str) -> tuple[bool, list[Asked]]:
    """(Whether it is a rehearsal, the requests)."""
    view = _view(settings, batch_id)
    before = view["batch"]["mode"] == "dryrun"
    if before:
        found = [("SG_cut_authz", one) for one in view["items"] if one["outcome"] == "rehearsed"]
    else:
        found = [(gate, one) for gate in documents.GATE_STEMS for one in steering.waiting_at(view, gate)]
    with progress(f"reading {counted(len(found), 'request')}") as _:
        return before, [_asked(settings, one, gate) for gate, one in found]


def _asked(settings: Settings, item: Json, gate: str) -> Asked:
    document, data = signing.read_request(settings, item["run_id"], item["request_kb_id"])
    return Asked(item=item, gate=gate, document=document, data=data)


def _unfit(settings: Settings, one: Asked) -> str | None:
    """Why this one is not to be signed: the digest recomputed here is another one."""
    try:
        signing.recompute(settings, one.document)
    except CutterError as problem:
        return str(problem)
    return None


def _listing(asked: Sequence[Asked]) -> Listing:
    rows = [
        (
            one.item["document_id"], one.gate, one.document.request.candidate_count, one.document.changes.added_count,
            one.document.changes.changed_count, one.document.changes.removed_count, one.document.findings_count,
            one.document.request.writer_digest[:16],
        )
        for one in asked
    ]  # fmt: skip
    columns = ("document", "gate", "units", "added", "changed", "removed", "findings", "writer_digest")
    return Listing(columns=columns, rows=rows, title=counted(len(rows), "request"))


@dataclass(slots=True, kw_only=True)
class _Sitting:
    """Signs one document after the other, each as soon as it was decided, and hands over what was signed."""

    settings: Settings
    batch_id: str
    signer: Signing
    before: bool
    signed: int = 0
    _uploaded: list[str] = field(default_factory=list)
    _folder: str = ""

    def sign(self, one: Asked) -> None:
        """One document; after a rehearsal both of its gates."""
        with progress(f"signing {one.item['document_id']}"):
            if self.before:
                self._uploaded += _sign_before(self.settings, self.batch_id, one, self.signer)
            else:
                # The session's own folder, handed over as one set.
                self._folder = self._folder or f"{documents.folder(self.batch_id)}/sitting-{uuid_utils.uuid7()}"
                statement = signing.answer(one.document, one.data, self.signer, schema.APPROVE)
                name = f"{self._folder}/{one.item['document_id']}.md"
                signing.sign_and_upload(self.settings, statement, self.signer, name)
        self.signed += 1

    def hand_over(self) -> Json:
        """The batch's answer; what was signed for a night lies where the night looks for it."""
        if self.before:
            return {"status": "accepted", "pre_batched": self._uploaded}
        folder, listing = batches.upload_set(self.settings, self.batch_id, self._folder)
        seen = batches.view(self.settings, self.batch_id)
        return {"folder": folder, **batch_resume.hand_over(self.settings, seen, folder, listing)}


def _sign_before(settings: Settings, batch_id: str, one: Asked, signer: Signing) -> list[str]:
    """Both gates of a document, where the batch looks for them; their KB ids."""
    name = one.item["document_id"]
    with session(settings, OPERATOR) as connection:
        decisions = call(connection, "select cutter_governance.fn_decisions_prepare(%s, %s)", (batch_id, [name]))
    store, signed = Store(settings.kb), []
    for gate in documents.GATE_STEMS:
        statement = signing.answer_before(
            one.document, one.data, signer, gate=gate, batch_id=batch_id, review_decision_id=decisions[name]
        )
        kb_id = documents.pre_batched(batch_id, gate, name)
        if store.exists(kb_id) or store.exists(signature_of(kb_id)):
            kb_id = f"{kb_id.removesuffix('md')}{signer.approver}-{uuid_utils.uuid7()}.md"
        signed.append(signing.sign_and_upload(settings, statement, signer, kb_id))
    return signed
