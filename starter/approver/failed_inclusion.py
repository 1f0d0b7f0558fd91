"""IO: `cutter approve --decision include_failed`: runs failed documents again after a signature for each."""

from __future__ import annotations

from collections.abc import Sequence

import uuid_utils

from cutter.approvals import schema
from cutter.batch import documents, ways
from cutter.batch.ways import UnsignedFailure
from cutter.catalogue import Sovereign
from cutter.domain.amounts import counted
from cutter.errors import NotFound, Refused
from cutter.settings import Settings
from cutter.storage import runs as run_rows
from cutter.types import Json
from starter.approver import orders, signing_desk
from starter.console.confirmation import require_yes
from starter.console.terminal import Listing, err, progress
from starter.operator import batch_resume
from temporal import batches

LIFTED = ("failure", "critical")
"""Halts that the failed document itself caused. If it is included again, the others continue too."""


def include(
    settings: Settings, batch_id: str, keys: orders.Keys, *, only: Sequence[str], reason: str, yes: bool, each: bool
) -> Json:
    """Sign for the failed documents (or `only` for some), and hand the set over. Returns what became of each."""
    view = batches.view(settings, batch_id)
    failed = [
        unsigned_failure
        for unsigned_failure in ways.unsigned_failures(view)
        if not only or unsigned_failure.document_id in only
    ]
    others = sorted(set(only) - {failure.document_id for failure in failed})
    if others or not failed:
        raise NotFound(
            f"{', '.join(others) or 'no document'} of batch {batch_id} failed without being signed in again: see",
            then=f"cutter status {batch_id}",
            code="nothing_failed",
        )
    err().print(Listing(columns=("document", "state", "run"), title=counted(len(failed), "failed document"),
                        rows=[(failure.document_id, failure.state, failure.run_id) for failure in failed]))  # fmt: skip
    ready, left_out = _prepared(settings, failed, keys, reason, yes=yes)
    folder = f"{documents.folder(batch_id)}/include-failed-{uuid_utils.uuid7()}"
    with progress(f"signing {len(ready)}") as _:
        for part in [[order] for order in ready] if each else [ready]:
            files = signing_desk.sign([order.statement for order in part], part[0].signer)
            for order, file in zip(part, files, strict=True):
                signing_desk.upload(settings, file, f"{folder}/{order.statement.document_id}.md")
    folder, listing = batches.upload_set(settings, batch_id, folder)
    reply = batch_resume.hand_over(settings, view, folder, listing)
    # Only the batch's halt is reported, because the person who includes a failed document knows that others wait for
    # their own approvals.
    answer = {name: value for name, value in reply.as_json().items() if name != "missing"}
    accepted = reply.status == "accepted"
    if accepted and view.batch.halted in LIFTED:
        answer |= batch_resume.go_on(settings, batches.view(settings, batch_id))
    step = {"next": f"cutter status {batch_id} --watch"} if accepted else {}
    return {"batch_id": batch_id, "signed": len(ready), "left_out": left_out, "folder": folder, **answer, **step}


def _prepared(
    settings: Settings, failed: Sequence[UnsignedFailure], keys: orders.Keys, reason: str, *, yes: bool
) -> tuple[list[orders.Order], list[str]]:
    """(Orders to sign, left-out documents with the reason). Each document gets its own question."""
    ready, left_out = [], []
    for failure in failed:
        try:
            sidecar = run_rows.sidecar(settings, failure.run_id)
            if sidecar.step_facts.wrote:
                raise Refused(
                    "its drafts exist: type",
                    then=f"cutter void {failure.run_id} --reason TEXT",
                    rest=", then resume the queue with --skip-completed",
                    code="drafts_stand",
                )
            gate = Sovereign.CUT.value
            order = orders.prepare(settings, sidecar.run, schema.INCLUDE_FAILED, reason, keys, gate=gate)
            require_yes(f"sign include_failed of {failure.document_id} as {order.signer.approver}?", yes=yes)
            ready.append(order)
        except Refused as problem:
            if problem.code not in ("not_confirmed", "drafts_stand"):
                raise
            left_out.append(f"{failure.document_id} ({problem})")
    if not ready:
        raise Refused("; ".join(["nothing was signed", *left_out]), code="not_confirmed")
    return ready, left_out
