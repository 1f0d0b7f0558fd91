"""IO: judges a set of approvals from one signing session. Each document is judged separately, for the run that it
names.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from activities import approval_judge
from activities.run.approval_requests import judge_read
from activities.worker.dependencies import Deps
from cutter import limits
from cutter.approvals.policy import ApproverPolicy
from cutter.approvals.reader import authenticated, read_approval
from cutter.approvals.verdict import ApprovalDocument
from cutter.approvals.verify import said_in
from cutter.batch import batch_step
from cutter.catalogue import Role, Sovereign
from cutter.domain.digests import canonical_digest
from cutter.errors import CutterError, InvalidInput, NotFound, Unavailable
from cutter.gpg import Gpg
from cutter.kb.store import set_names
from cutter.messages import JudgeInput, SetAnswer, SetEntry, SetInput
from cutter.storage import batch_views
from cutter.storage.pools import single
from cutter.types import Refusal


def judge_set(deps: Deps, input: SetInput) -> SetAnswer:
    """Judge the documents of a folder, each read once. The answer also names waiting items without a document."""
    with single(deps.pool(Role.READ)) as connection:
        view = batch_views.view(connection, input.batch_id)
        policy, ring = approval_judge.policy_of(deps, approval_judge.epoch_in_force(connection))
    # If a worker was killed while it judged the set, some documents are approved but not handed over. They wait too.
    asking = view.without_approvals()
    waiting = {
        item.run_id: _Wanted(document_id=item.document_id, run_id=item.run_id, gate=gate)
        for gate in batch_step.SOVEREIGN_STAGES.values()
        for item in batch_step.waiting_at(asking, gate)
        if item.run_id
    }
    failed = {
        item.run_id: _Wanted(document_id=item.document_id, run_id=item.run_id, gate=Sovereign.CUT.value)
        for item in view.items
        if item.run_id and item.failed
    }
    names = set_names(deps.kb, input.folder)
    if not names:
        return SetAnswer(status="refused", code="set_empty", reason=f"no signed statements in {input.folder}")
    if len(names) > limits.SET_STATEMENTS_MAX:
        most = f"{input.folder} has {len(names)} statements: hand over at most {limits.SET_STATEMENTS_MAX} in a folder"
        return SetAnswer(status="refused", code="set_too_large", reason=most)
    documents: dict[str, ApprovalDocument | CutterError] = {}
    for name in names:
        try:
            documents[name] = read_approval(deps.kb, name)
        except (NotFound, InvalidInput) as problem:
            documents[name] = problem
    # An unreadable document has no digest, so that the set matches no listing.
    read = {name: file.approval_sha256 for name, file in documents.items() if isinstance(file, ApprovalDocument)}
    listing = canonical_digest(read) if len(read) == len(documents) else ""
    if input.listing_sha256 and input.listing_sha256 != listing:
        return SetAnswer(status="refused", code="set_changed", reason="the folder is not what was handed over")
    wanted = {**failed, **waiting}
    entries = [_judged(deps, policy, ring, wanted, name, document) for name, document in documents.items()]
    covered = {entry.document_id for entry in entries if entry.accepted}
    covered |= {item.document_id for item in view.items if item.approved}
    missing = [run.document_id for run in waiting.values() if run.document_id not in covered]
    return SetAnswer(status="read", entries=tuple(entries), missing=tuple(sorted(missing)))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Wanted:
    """A waiting run of the batch that a document may be for, with the gate at which it waits."""

    document_id: str
    run_id: str
    gate: str


def _judged(
    deps: Deps, policy: ApproverPolicy, ring: Gpg, waiting: Mapping[str, _Wanted], kb_id: str,
    document: ApprovalDocument | CutterError,
) -> SetEntry:  # fmt: skip
    """Find the run of a document, which the signed statement names. The name of an unsigned file only says where the
    refusal is recorded.
    """
    if isinstance(document, CutterError):
        return _refused("", kb_id, document.code, str(document))
    authentication = authenticated(document, ring, policy)
    statement = said_in(authentication)
    if isinstance(statement, Refusal):
        return _refused("", kb_id, statement.code, statement.reason)
    if statement is not None:
        run = waiting.get(statement.run_id or "")
    else:
        stem = kb_id.rpartition("/")[2].partition(".")[0]
        run = next((run for run in waiting.values() if run.document_id == stem), None)
    if run is None and authentication.refusal is not None:
        return _refused("", kb_id, authentication.refusal.code, authentication.refusal.reason)
    if run is None:
        document_id = statement.document_id if statement else ""
        return _refused(document_id, kb_id, "not_waiting", "its run waits for no approval in this batch")
    try:
        order = JudgeInput(run_id=run.run_id, gate=run.gate, kb_id=kb_id)
        verdict = judge_read(deps, order, authentication)
    except Unavailable:
        raise
    except CutterError as problem:
        return _refused(run.document_id, kb_id, problem.code, str(problem))
    return SetEntry(
        document_id=run.document_id,
        kb_id=kb_id,
        accepted=verdict.accepted,
        code=verdict.code,
        reason=verdict.reason[:300],
    )


def _refused(document_id: str, kb_id: str, code: str, reason: str) -> SetEntry:
    return SetEntry(document_id=document_id, kb_id=kb_id, accepted=False, code=code, reason=reason[:300])
