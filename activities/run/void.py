"""IO: ends a run as voided: consumes the signed statement and withdraws the drafts in one transaction (cutter_exec)."""

from __future__ import annotations

import structlog
from psycopg.types.json import Jsonb

from activities import approval_judge, permission
from activities.outbox import publish
from activities.worker.dependencies import Deps
from cutter.approvals import schema
from cutter.catalogue import Role
from cutter.domain.void_state import void_state
from cutter.errors import CutterError, PolicyDenied
from cutter.messages import VoidInput, VoidResult
from cutter.policy.command import KB_PUT, WITHDRAW_DRAFTS
from cutter.storage import policies
from cutter.storage.gate_transaction import Decided, call
from cutter.storage.pools import translated

log = structlog.get_logger()


def void_run(deps: Deps, input: VoidInput) -> VoidResult:
    """Verify the statement in this process, then open the void, withdraw the drafts and close it. The verdict was
    recorded before.
    """
    gate = approval_judge.sovereign_ahead(deps, Role.EXEC, input.run_id)
    verdict, facts = approval_judge.judge(deps, Role.EXEC, input.run_id, gate, input.kb_id)
    if not verdict.accepted or verdict.decision != schema.VOID or verdict.statement is None:
        return VoidResult(state="", code=verdict.code, reason=verdict.reason)
    state = void_state(verdict.statement.reason or "")
    with translated(), deps.pool(Role.EXEC).connection() as connection:
        pins = call(connection, dict, "select cutter_governance.fn_run_pins(%s)", (input.run_id,))
        context = permission.of_run(facts.run, pins, facts.now, None)
        permit = permission.decided(deps, context, (WITHDRAW_DRAFTS, KB_PUT), policies.in_force(connection))
        if permit.denied is not None:
            connection.rollback()
            return VoidResult(state="", code=PolicyDenied.code, reason=permit.denied.why)
        opened = call(
            connection,
            Decided.of,
            "select cutter_governance.fn_void_open(%s, %s, %s)",
            (input.run_id, verdict.approval_sha256, Jsonb(permit.record())),
        )
        if opened.status != "opened":
            connection.rollback()
            return VoidResult(state=opened.state, code=opened.code or opened.status)
        call(connection, dict, "select public.fn_iu_withdraw_drafts(%s)", (input.run_id,))
        closed = call(
            connection,
            Decided.of,
            "select cutter_governance.fn_void_close(%s, %s)",
            (input.run_id, state),
        )
        connection.commit()
    try:
        publish(deps, Role.EXEC, input.run_id)
    except CutterError as problem:
        # The void is recorded, so an unavailable knowledge base must not hide it from the open run.
        log.warning("outbox.waiting", run_id=input.run_id, code=problem.code)
    return VoidResult(state=closed.state, code="voided", reason=f"{closed.withdrawn} drafts withdrawn")
