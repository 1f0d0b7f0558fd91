"""IO: collects what a request document shows: the frozen tuple, what changes, findings, digests, commands."""

from __future__ import annotations

from datetime import datetime

from activities import approval_judge as approving
from activities import effects as commands
from activities.effects import Context, Put
from activities.gates.pinned_source import mark_pinned, pinned_of
from activities.worker.dependencies import Deps, day_of, folder_of
from cutter import limits
from cutter.approvals.policy import Tier
from cutter.approvals.request import Changes, RequestDocument, RequestTuple, UnitLine
from cutter.batch import documents
from cutter.catalogue import Sovereign
from cutter.domain.digests import sha256_hex
from cutter.errors import NotFound
from cutter.kb import folder as kb_folder
from cutter.marking import Marking, build_plan
from cutter.storage.request_transaction import Asked
from cutter.types import Json


def request_document(deps: Deps, asked: Asked, context: Context, tier: Tier | None) -> tuple[RequestDocument, Put]:
    """The document of a request that was opened in a transaction still open; puts the snapshot's copy.

    `tier` is what the policy asks for; the gate's own may be higher. Raises PolicyDenied.
    """
    run, pins, request = asked.run, asked.pins, asked.answer["request"]
    folder, day = folder_of(run, pins["content_sha256"]), day_of(run).date()
    pinned = pinned_of(asked.snapshot, pins["source_version_id"])
    marking = mark_pinned(pinned, pins["docprefix"], deps.settings.max_candidates)
    if not isinstance(marking, Marking):
        raise NotFound("the marked text is gone")
    wanted = kb_folder.snapshot_copy(folder, pins["content_sha256"])
    snapshot = commands.put_free(deps, context, wanted, pinned.data)
    gate = request["gate"]
    policy, _ = approving.policy_of(deps, {"epoch": asked.epoch})
    caps = run["caps"]
    kb_id = _free(deps, kb_folder.request(folder, gate, day, number=request["n"]), request["challenge"])
    # What is signed after a rehearsal is for the batch itself.
    batch_id = run["batch_id"].removesuffix("-dryrun") if run["batch_id"] else None
    document = RequestDocument(
        request=RequestTuple(**request["tuple"]),
        mode=run["mode"],
        created_utc=_seconds(request["requested_at"]),
        expires_utc=_seconds(request["expires_at"]),
        ttl_seconds=_life(run, gate, caps),
        kb_id=kb_id,
        approval_kb_id=documents.pre_batched(batch_id, gate, run["document_id"])
        if batch_id and run["mode"] == "dryrun"
        else kb_id.replace("-request-", "-approval-"),
        snapshot_kb_id=snapshot.kb_id,
        snapshot_sha256=pins["content_sha256"],
        profile_id=pins["profile_id"],
        profile_sha256=pins["profile_sha256"],
        backup_sha=pins.get("backup_sha256"),
        sidecar_path=str(deps.settings.runs / run["run_id"] / "state.json"),
        starter=run["starter"],
        tier=_highest(policy.tier_of(gate) or Tier.MEDIUM, tier),
        approvers_needed=policy.needed(gate, tier),
        changes=_changes(asked, pinned.data, marking),
        findings=tuple(f"line {one.line}: {one.code}: {one.message}" for one in marking.findings)[
            : limits.FINDINGS_SHOWN_MAX
        ],
        findings_count=len(marking.findings),
        batch_id=batch_id,
        amends_run_id=run["amends"],
    )
    return document, snapshot


def _free(deps: Deps, kb_id: str, challenge: str) -> str:
    """The first name that nothing has: the request says its own name, so it is chosen before the text is made."""
    names = kb_folder.names_for(kb_id, sha256_hex(challenge))
    return next((name for name in names if not deps.kb.taken(name)), kb_id)


def _highest(own: Tier, asked: Tier | None) -> str:
    return max(own, asked or own, key=list(Tier).index).value


def _life(run: Json, gate: str, caps: Json) -> int:
    seconds = int(caps["ttl_cut_seconds"] if gate == Sovereign.CUT else caps["ttl_lifecycle_seconds"])
    return min(seconds, limits.PRE_BATCHED_HOURS * 3600) if run["mode"] == "dryrun" and run["batch_id"] else seconds


def _changes(asked: Asked, data: bytes, marking: Marking) -> Changes:
    pins = asked.pins
    plan = build_plan(data, marking, docprefix=pins["docprefix"], source_version_id=pins["source_version_id"])
    enacted = {str(address): (str(sha), str(title)) for address, sha, title in asked.enacted}
    planned = {row.address: row for row in plan.rows}
    return Changes.of(
        added=(UnitLine(address=a, title=row.title) for a, row in planned.items() if a not in enacted),
        changed=(
            UnitLine(address=a, title=row.title)
            for a, row in planned.items()
            if a in enacted and enacted[a][0] != row.body_sha256
        ),
        removed=(UnitLine(address=a, title=title) for a, (_, title) in enacted.items() if a not in planned),
    )


def _seconds(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(microsecond=0)
