"""IO: registers a run: its id from the clock, its caps from the settings, and the answer of the database."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import uuid_utils

from cutter.catalogue import GATES
from cutter.domain import tenants
from cutter.errors import Conflict, Refused
from cutter.messages import Caps
from cutter.settings import Settings


def mint_run_id() -> str:
    """A new run id, `ictr-<YYYYMMDDTHHMMSSZ>-<uuid7>`."""
    return f"ictr-{datetime.now(UTC):%Y%m%dT%H%M%SZ}-{uuid_utils.uuid7()}"


def caps_of(settings: Settings) -> Caps:
    """The caps from the settings, in the form that a run pins."""
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
        outage_look_seconds=settings.outage_look_seconds,
    )


def registered(answer: dict[str, Any]) -> str:
    """The run id from an answer of fn_run_register.

    Raises Refused. STOP_RUN_BUSY names the open run of the document. STOP_TENANT_CONCURRENCY and STOP_TENANT_RATE name
    the cap of its tenant and the time when there is room again.
    """
    run_id, document_id = str(answer["run_id"]), answer["document_id"]
    if answer["status"] == "busy":
        raise Refused(
            f"{document_id} has the open run {run_id} ({answer['state']}): see `cutter status {run_id}`; "
            f"`cutter orchestrate resume --run-id {run_id}` continues it, "
            f"`cutter void {run_id} --reason TEXT` ends it",
            code="STOP_RUN_BUSY",
        )
    if answer["status"] == "not_in_batch":
        raise Refused(
            f"{run_id} is no run of the batch {answer['batch_id']}, which alone begins its runs: see"
            f" `cutter status {answer['batch_id']}`, or `cutter run {document_id}` for a run of its own",
            code="STOP_NOT_IN_BATCH",
        )
    if answer["status"] == "waits":
        raise Refused(tenants.no_room(answer), code=answer["code"])
    if answer["status"] == "conflict":
        raise Conflict(f"run {run_id} is of {document_id} in mode {answer['mode']}")
    return run_id
