"""IO: collects the content of a request document: the frozen tuple, the changes, findings, digests, commands."""

from __future__ import annotations

from datetime import datetime

from activities import approval_judge, effects
from activities.effects import Put
from activities.gates.pinned_source import mark_pinned, plan_pinned, require_pinned, revision_pinned
from activities.permission import Context
from activities.worker.dependencies import Deps, day_of, folder_of
from cutter import limits
from cutter.approvals.policy import Tier
from cutter.approvals.request import Changes, RequestDocument, RequestTuple, UnitLine
from cutter.batch import documents
from cutter.catalogue import Sovereign
from cutter.domain.digests import sha256_hex
from cutter.domain.restore_point import line_of_pins
from cutter.errors import NotFound
from cutter.kb import ids as kb_ids
from cutter.marking import Marking
from cutter.marking.revision import OPERATIONS
from cutter.request_view.builder import build_view
from cutter.request_view.forms import markdown, view_digest
from cutter.request_view.view import RequestView
from cutter.storage.request_transaction import Asked


def request_document(
    deps: Deps, asked: Asked, context: Context, tier: Tier | None, restrictions: str | None
) -> tuple[RequestDocument, Put]:
    """Make the document of a request whose transaction is still open. Also puts the copy of the snapshot.

    `tier` is the tier that the policy asks for. The gate's own tier may be higher. `restrictions` says what the policy
    decides by the time of the day. Raises PolicyDenied.
    """
    run, pins, request = asked.facts.run, asked.facts.pins, asked.request
    folder, day = folder_of(run, pins["content_sha256"]), day_of(run).date()
    pinned = require_pinned(asked.snapshot, pins["source_version_id"])
    marking = mark_pinned(pinned, pins["docprefix"], deps.settings.max_candidates)
    if not isinstance(marking, Marking):
        raise NotFound("the marked text is gone")
    plan = plan_pinned(pinned, marking, pins["docprefix"], pins["source_version_id"], deps.settings.max_candidates)
    view = build_view(
        pinned.data, marking, docprefix=pins["docprefix"], source_version_id=pins["source_version_id"], plan=plan,
        stored=asked.stored, sealed=asked.sealed, revision=revision_pinned(plan, asked.terms.base(list(asked.law))),
        effective_from=asked.terms.day, reason=asked.terms.change_reason,
        registered=asked.terms.registration, removed_pages=asked.terms.removed_pages,
    )  # fmt: skip
    wanted = kb_ids.snapshot_copy(folder, pins["content_sha256"])
    snapshot = effects.put_free(deps, context, wanted, pinned.data, asked.policy)
    gate = request.gate
    policy, _ = approval_judge.policy_of(deps, asked.facts.epoch_sha256)
    own_tier = policy.tier_of(gate) or Tier.MEDIUM
    # The first free name is chosen before the text is made, because the request contains its own name.
    kb_id = kb_ids.request(folder, gate, day, number=request.n)
    names = kb_ids.names_for(kb_id, sha256_hex(request.challenge))
    kb_id = next((name for name in names if not deps.kb.taken(name)), kb_id)
    seconds = int(run.caps["ttl_cut_seconds" if gate == Sovereign.CUT else "ttl_lifecycle_seconds"])
    if run.mode == "dryrun" and run.batch_id:
        seconds = min(seconds, limits.PRE_BATCHED_HOURS * 3600)
    # An approval that is signed after a rehearsal is for the live batch.
    batch_id = run.batch_id.removesuffix("-dryrun") if run.batch_id else None
    document = RequestDocument(
        request=RequestTuple(**request.tuple),
        mode=run.mode,
        created_utc=_seconds(request.requested_at),
        expires_utc=_seconds(request.expires_at),
        ttl_seconds=seconds,
        kb_id=kb_id,
        approval_kb_id=documents.pre_batched(batch_id, gate, run.document_id)
        if batch_id and run.mode == "dryrun"
        else kb_id.replace("-request-", "-approval-"),
        snapshot_kb_id=snapshot.kb_id,
        snapshot_sha256=pins["content_sha256"],
        profile_id=pins["profile_id"],
        profile_sha256=pins["profile_sha256"],
        backup_sha=pins.get("backup_sha256"),
        restore_point=line_of_pins(pins),
        sidecar_path=str(deps.settings.runs / run.run_id / "state.json"),
        starter=run.starter,
        tier=max(own_tier, tier or own_tier, key=list(Tier).index).value,
        approvers_needed=policy.needed(gate, tier),
        changes=_changes(asked, view),
        view_digest=view_digest(view),
        shown=markdown(view),
        findings_count=len(marking.findings),
        batch_id=batch_id,
        amends_run_id=run.amends,
        operation=view.revision.base.operation_kind if view.revision else None,
        effect_policy=restrictions,
    )
    return document, snapshot


def _changes(asked: Asked, view: RequestView) -> Changes:
    if view.revision is not None:
        lines: dict[str, list[UnitLine]] = {operation: [] for operation in OPERATIONS}
        for row in view.revision.rows:
            shown = row.new or row.old
            lines[row.operation].append(UnitLine(address=row.address, title=shown.title if shown else ""))
        return Changes.of(added=lines["create"], changed=lines["revise"], removed=lines["repeal"])
    enacted = {unit.address: unit for unit in asked.enacted}
    planned = {unit.address: unit for unit in view.units}
    return Changes.of(
        added=(UnitLine(address=a, title=row.title) for a, row in planned.items() if a not in enacted),
        changed=(
            UnitLine(address=a, title=row.title)
            for a, row in planned.items()
            if a in enacted and enacted[a].content_hash != row.body_sha256
        ),
        removed=(UnitLine(address=a, title=unit.title) for a, unit in enacted.items() if a not in planned),
    )


def _seconds(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(microsecond=0)
