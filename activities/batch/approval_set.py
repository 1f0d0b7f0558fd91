"""IO: a set of approvals signed in one sitting: each document judged on its own, for the run that it names."""

from __future__ import annotations

from activities.run.approval_requests import judge_approval
from activities.worker.dependencies import Deps
from cutter import limits
from cutter.approvals import statement
from cutter.batch import steering
from cutter.catalogue import Role
from cutter.domain.run_state import RunState
from cutter.errors import CutterError, InvalidInput, NotFound, Unavailable
from cutter.kb.sets import listing_sha256, set_names
from cutter.messages import JudgeInput, SetAnswer, SetEntry, SetInput
from cutter.storage import batches as registry
from cutter.storage.pools import single
from cutter.types import Json, Refusal


def judge_set(deps: Deps, input: SetInput) -> SetAnswer:
    """Verdicts on a folder's documents, and the items that wait and got none."""
    with single(deps.pool(Role.READ)) as connection:
        view = registry.view(connection, input.batch_id)
    waiting = {
        one["run_id"]: {**one, "gate": gate}
        for gate in steering.SOVEREIGN_STAGES.values()
        for one in steering.waiting_at(view, gate)
    }
    failed = {one["run_id"]: {**one, "gate": "SG_cut_authz"} for one in view["items"] if RunState(one["state"]).failed}
    names = set_names(deps.kb, input.folder)
    if not names:
        return SetAnswer(status="refused", code="set_empty", reason=f"no signed statements in {input.folder}")
    if input.listing_sha256 and input.listing_sha256 != listing_sha256(deps.kb, names):
        return SetAnswer(status="refused", code="set_changed", reason="the folder is not what was handed over")
    entries = [_judged(deps, name, {**failed, **waiting}) for name in names]
    covered = {one.document_id for one in entries if one.accepted}
    missing = [one["document_id"] for one in waiting.values() if one["document_id"] not in covered]
    return SetAnswer(status="read", entries=tuple(entries), missing=tuple(sorted(missing)))


def _judged(deps: Deps, kb_id: str, waiting: dict[str, Json]) -> SetEntry:
    """The document says itself which run it is for; whether that is so, the judge finds."""
    try:
        said = statement.parse(deps.kb.get(kb_id, limit=limits.STATEMENT_BYTES_MAX))
    except (NotFound, InvalidInput) as problem:
        return _refused("", kb_id, problem.code, str(problem))
    if isinstance(said, Refusal):
        return _refused("", kb_id, said.code, said.reason)
    one = waiting.get(said.run_id or "")
    if one is None:
        return _refused(said.document_id or "", kb_id, "not_waiting", "its run waits for no approval in this batch")
    try:
        verdict = judge_approval(deps, JudgeInput(run_id=one["run_id"], gate=one["gate"], kb_id=kb_id))
    except Unavailable:
        raise
    except CutterError as problem:
        return _refused(one["document_id"], kb_id, problem.code, str(problem))
    return SetEntry(
        document_id=one["document_id"],
        kb_id=kb_id,
        accepted=verdict.accepted,
        code=verdict.code,
        reason=verdict.reason[:300],
    )


def _refused(document_id: str, kb_id: str, code: str, reason: str) -> SetEntry:
    return SetEntry(document_id=document_id, kb_id=kb_id, accepted=False, code=code, reason=reason[:300])
