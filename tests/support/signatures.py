"""IO: what a person signs: the answer to a request, or an order about a run, at its place in the knowledge base."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from cutter.approvals import schema
from cutter.settings import Settings
from cutter.storage import runs as run_rows
from starter.approver import signing_desk
from starter.approver.signing_desk import Signing


def sign_answer(
    settings: Settings, who: Signing, run_id: str, request: str, *,
    decision: str = schema.APPROVE, text: str = "", kb_id: str = "",
) -> str:  # fmt: skip
    """Sign the answer to this request and put it where the request says, or under `kb_id`. Its KB id."""
    document, data = signing_desk.read_request(settings, run_id, request)
    statement = signing_desk.answer(document, data, who, decision, text=text)
    return signing_desk.sign_and_upload(settings, statement, who, kb_id or document.approval_kb_id)


def sign_order(
    settings: Settings, who: Signing, run_id: str, decision: str, reason: str, *, kb_id: str = "", **fields: str
) -> str:
    """Sign an order (resume, void, acknowledge_drift, revoke) about the run as it is now, and put it. Its KB id."""
    run = run_rows.sidecar(settings, run_id).run
    if decision == schema.RESUME:
        fields = {"stopped_state": run.state, **fields}
    if decision == schema.ACKNOWLEDGE_DRIFT:
        fields = {"fingerprint": run.error["report"]["fingerprint"], **fields}
    deployment_id, gate = signing_desk.gate_ahead(settings, run_id)
    statement = signing_desk.order(run, deployment_id, gate, who, decision, reason, **fields)
    life = timedelta(seconds=min(run.caps["ttl_cut_seconds"], run.caps["ttl_lifecycle_seconds"]))
    statement = replace(statement, not_after=min(statement.not_after, statement.signed_utc + life))
    own = f"knowledge/dev/orders/{run_id}/{decision}-{who.approver}.md"
    return signing_desk.sign_and_upload(settings, statement, who, kb_id or own)
