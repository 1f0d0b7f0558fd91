"""IO: collects what a request document shows: the frozen tuple, what changes, findings, digests, commands."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from activities.deps import Deps, day_of, folder_of
from activities.marked import mark_pinned, read_pinned
from cutter import limits
from cutter.approvals.request import Changes, RequestDocument, RequestTuple, UnitLine
from cutter.errors import NotFound
from cutter.gates.catalogue import Sovereign
from cutter.kb import folder as kb_folder
from cutter.marking import Marking, build_plan
from cutter.storage.gate_transaction import call
from cutter.storage.pools import Connection
from cutter.storage.queries import query

Json = dict[str, Any]


def request_document(deps: Deps, connection: Connection, run: Json, request: Json) -> RequestDocument:
    """The document of a request that was just opened in this connection's transaction; puts the snapshot's copy."""
    pins = call(connection, "select cutter_governance.fn_run_pins(%s)", (run["run_id"],))
    folder, day = folder_of(run, pins["content_sha256"]), day_of(run).date()
    pinned = read_pinned(connection, pins["source_version_id"])
    marking = mark_pinned(pinned, pins["docprefix"], deps.settings.max_candidates)
    if not isinstance(marking, Marking):
        raise NotFound("the marked text is gone")
    snapshot_id = kb_folder.snapshot_copy(folder, pins["content_sha256"])
    deps.kb.put(snapshot_id, pinned.data)
    epoch = connection.execute(query("policy_in_force")).fetchone()
    policy_tier = _tier(deps, connection, request["gate"])
    gate = request["gate"]
    caps = run["caps"]
    kb_id = kb_folder.request(folder, gate, day, number=request["n"])
    return RequestDocument(
        request=RequestTuple(**request["tuple"]),
        mode=run["mode"],
        created_utc=_seconds(request["requested_at"]),
        expires_utc=_seconds(request["expires_at"]),
        ttl_seconds=int(caps["ttl_cut_seconds"] if gate == Sovereign.CUT else caps["ttl_lifecycle_seconds"]),
        kb_id=kb_id,
        approval_kb_id=kb_id.replace("-request-", "-approval-"),
        snapshot_kb_id=snapshot_id,
        snapshot_sha256=pins["content_sha256"],
        profile_id=pins["profile_id"],
        profile_sha256=pins["profile_sha256"],
        backup_sha=pins.get("backup_sha256"),
        sidecar_path=str(deps.settings.runs / run["run_id"] / "state.json"),
        starter=run["starter"],
        tier=policy_tier,
        approvers_needed=int((epoch[2] if epoch else {}).get(gate, 1)),  # type: ignore[attr-defined]
        changes=_changes(connection, pinned.data, marking, pins),
        findings=tuple(f"line {one.line}: {one.code}: {one.message}" for one in marking.findings)[
            : limits.FINDINGS_SHOWN_MAX
        ],
        findings_count=len(marking.findings),
        batch_id=run["batch_id"],
        amends_run_id=run["amends"],
    )


def _tier(deps: Deps, connection: Connection, gate: str) -> str:
    row = connection.execute(query("policy_in_force")).fetchone()
    policy, _ = deps.policy(str(row[0])) if row else (None, None)
    tier = policy.tier_of(gate) if policy else None
    return tier.value if tier else "medium"


def _changes(connection: Connection, data: bytes, marking: Marking, pins: Json) -> Changes:
    plan = build_plan(data, marking, docprefix=pins["docprefix"], source_version_id=pins["source_version_id"])
    enacted = {
        str(address): (str(sha), str(title))
        for address, sha, title in connection.execute(query("units_enacted_last"), {"docprefix": pins["docprefix"]})
    }
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
