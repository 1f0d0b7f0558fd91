"""IO: register a run or find it: what a workflow goes on from, also after Temporal's data was lost."""

from __future__ import annotations

from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any

import uuid_utils
from psycopg.types.json import Jsonb
from temporalio import activity

from activities.deps import Deps
from activities.escalate import command_of
from activities.gate import facts_of
from cutter.domain import ids, tenants
from cutter.errors import Conflict, Refused
from cutter.gates.catalogue import GATES, Role
from cutter.messages import BeginInput, Caps, RunView
from cutter.settings import Settings
from cutter.storage.faults import translated
from cutter.storage.gate_transaction import call


def mint_run_id() -> str:
    """A new run id: `ictr-<YYYYMMDDTHHMMSSZ>-<uuid7>`."""
    return f"ictr-{datetime.now(UTC):%Y%m%dT%H%M%SZ}-{uuid_utils.uuid7()}"


def caps_of(settings: Settings) -> Caps:
    """The limits of the settings, as they are pinned in a run."""
    return Caps(
        soft_seconds={gate.phase: settings.cap_seconds(gate.phase) for gate in GATES},
        hard_seconds=settings.hard_cap_minutes * 60,
        heartbeat_seconds=settings.heartbeat_timeout_seconds,
        retry_delays_seconds=settings.retry_delays_seconds,
        worker_wait_seconds=settings.worker_wait_minutes * 60,
        ttl_cut_seconds=settings.ttl_sg1_hours * 3600,
        ttl_lifecycle_seconds=settings.ttl_sg2_hours * 3600,
        backup_max_age_seconds=settings.backup_max_age_minutes * 60,
        lane_wait_seconds=settings.lane_wait_seconds,
    )


def begin_run(deps: Deps, input: BeginInput) -> RunView:
    """Register the run (idempotent), and answer with its state, its caps and its sealed gates.

    Raises Conflict for a workflow that is not the document's own: two that drive one run would take each other's gates.
    """
    run = input.run
    document_id = ids.document_id(run.document_id)
    if activity.in_activity() and activity.info().workflow_id != f"document/{document_id}":
        raise Conflict(f"{document_id} is driven by the workflow document/{document_id} alone")
    run_id = ids.run_id(run.run_id) if run.run_id else mint_run_id()
    with translated(), deps.pool(Role.READ).connection() as connection:
        answer = call(
            connection,
            "select cutter_governance.fn_run_register(%s, %s, %s, %s, %s, %s, %s, %s)",
            (
                run_id, document_id, run.mode, run.starter[:100], Jsonb(asdict(caps_of(deps.settings))),
                input.first_execution_id if run.run_id is None else None, run.batch_id, run.amends,
            ),
        )  # fmt: skip
        sidecar = call(
            connection,
            "select cutter_governance.fn_run_sidecar(cutter_governance.fn_run_version(%s, %s))",
            (registered(answer), deps.build_id),
        )
    return view_of(sidecar)


def registered(answer: dict[str, Any]) -> str:
    """Run id from what fn_run_register answered.

    Refused: STOP_RUN_BUSY names the run that is open instead; STOP_TENANT_CONCURRENCY and STOP_TENANT_RATE the cap of
    its tenant, and when there is room again.
    """
    run_id, document_id = str(answer["run_id"]), answer["document_id"]
    if answer["status"] == "busy":
        raise Refused(
            f"{document_id} has the open run {run_id} ({answer['state']}): see `cutter status {run_id}`; "
            f"`cutter orchestrate resume --run-id {run_id}` goes on with it, "
            f"`cutter void {run_id} --reason TEXT` ends it",
            code="STOP_RUN_BUSY",
        )
    if answer["status"] == "waits":
        raise Refused(tenants.no_room(answer), code=answer["code"])
    if answer["status"] == "conflict":
        raise Conflict(f"run {run_id} is of {document_id} in mode {answer['mode']}")
    return run_id


def view_of(sidecar: dict[str, Any]) -> RunView:
    """A run as the workflow needs it."""
    run = sidecar["run"]
    pins: dict[str, Any] = {}
    for receipt in sidecar["receipts"]:
        pins |= receipt["result"]["pins"]
    return RunView(
        run_id=run["run_id"],
        document_id=run["document_id"],
        mode=run["mode"],
        state=run["state"],
        caps=Caps(**{**run["caps"], "retry_delays_seconds": tuple(run["caps"]["retry_delays_seconds"])}),
        sealed=tuple(receipt["gate"] for receipt in sidecar["receipts"]),
        outcome=run["outcome"],
        facts=facts_of(pins),
        next_command=command_of(sidecar),
    )
