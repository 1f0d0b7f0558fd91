"""IO: a sovereign's sitting: every request of a batch shown, the chosen ones signed, the set handed over.

Of a batch that was only rehearsed, the same sitting signs both gates beforehand, for the night.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import uuid_utils

from cutter import limits
from cutter.approvals import schema
from cutter.approvals.request import RequestDocument
from cutter.batch import documents, steering
from cutter.errors import CutterError, NotFound, Refused
from cutter.kb.ids import signature_of
from cutter.kb.store import Store
from cutter.settings import Settings
from cutter.storage.faults import translated
from cutter.storage.gate_transaction import call
from cutter.storage.pools import connect as connect_database
from starter import batch_resume, batches, signing
from starter.known_runs import OPERATOR
from starter.signing import Signing
from starter.terminal import Listing, asks, err, progress

Json = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """One request of the sitting: its item, its gate, the document and the bytes that were shown."""

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
    chosen, skipped = [], [one.item["document_id"] for one in asked if one not in wanted]
    for one in wanted:
        reason = _unfit(settings, one)
        if reason is None and not yes:
            show(one.document)
            name = one.item["document_id"]
            both = " for both gates" if before else ""
            reason = None if asks(f"approve {name}{both} as {signer.approver}?") else "left out"
        if reason is None:
            chosen.append(one)
        else:
            skipped.append(f"{one.item['document_id']} ({reason})")
    if not chosen:
        raise Refused("nothing was signed", code="not_confirmed")
    answer = (
        _sign_before(settings, batch_id, chosen, signer) if before else _sign_set(settings, batch_id, chosen, signer)
    )
    return {"batch_id": batch_id, "signed": len(chosen), "left_out": skipped, **answer}


def text_of(value: Any) -> str:
    """A field of the answer as people read it: a list one a line."""
    if isinstance(value, list):
        return "\n".join(
            ": ".join(str(part) for part in one.values()) if isinstance(one, dict) else one for one in value
        )
    return str(value)


def _waiting(settings: Settings, batch_id: str) -> tuple[bool, list[Asked]]:
    """(Whether it is a rehearsal, the requests): the live batch's when there is one."""
    try:
        view = batches.view(settings, batch_id)
    except NotFound:
        view = batches.view(settings, f"{batch_id}-dryrun")
    before = view["batch"]["mode"] == "dryrun"
    if before:
        found = [("SG_cut_authz", one) for one in view["items"] if one["outcome"] == "rehearsed"]
    else:
        found = [(gate, one) for gate in documents.GATE_STEMS for one in steering.waiting_at(view, gate)]
    with progress(f"reading {len(found)} requests") as _:
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
    return Listing(columns=columns, rows=rows, title=f"{len(rows)} requests")


def _sign_set(settings: Settings, batch_id: str, chosen: Sequence[Asked], signer: Signing) -> Json:
    """One document, one signature; all of them in a folder of their own, handed over by one update."""
    folder = f"{documents.folder(batch_id)}/sitting-{uuid_utils.uuid7()}"
    with progress("signing") as say:
        for number, one in enumerate(chosen, start=1):
            statement = signing.answer(one.document, one.data, signer, schema.APPROVE)
            signing.sign_and_upload(settings, statement, signer, f"{folder}/{one.item['document_id']}.md")
            say(f"signed {number} of {len(chosen)}")
    folder, listing = batches.upload_set(settings, batch_id, folder)
    seen = batches.view(settings, batch_id)
    return {"folder": folder, **batch_resume.hand_over(settings, seen, folder, listing)}


def _sign_before(settings: Settings, batch_id: str, chosen: Sequence[Asked], signer: Signing) -> Json:
    """Both gates of each document, where the batch looks for them; the decisions are made in one transaction."""
    names = [one.item["document_id"] for one in chosen]
    with translated(), connect_database(settings, OPERATOR) as connection:
        decisions = call(connection, "select cutter_governance.fn_decisions_prepare(%s, %s)", (batch_id, names))
    store, signed = Store(settings.kb), []
    with progress("signing") as say:
        for number, one in enumerate(chosen, start=1):
            for gate in documents.GATE_STEMS:
                statement = signing.answer_before(
                    one.document, one.data, signer, gate=gate, batch_id=batch_id,
                    review_decision_id=decisions[one.item["document_id"]],
                )  # fmt: skip
                kb_id = documents.pre_batched(batch_id, gate, one.item["document_id"])
                if store.exists(kb_id) or store.exists(signature_of(kb_id)):
                    kb_id = f"{kb_id.removesuffix('md')}{signer.approver}-{uuid_utils.uuid7()}.md"
                signed.append(signing.sign_and_upload(settings, statement, signer, kb_id))
            say(f"signed {number} of {len(chosen)}")
    return {"status": "accepted", "pre_batched": signed}
