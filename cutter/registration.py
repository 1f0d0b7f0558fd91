"""IO: registers a run: its id from the clock, its caps from the settings, and the answer of the database."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime

import uuid_utils

from cutter import limits
from cutter.catalogue import GATES
from cutter.domain import recorded_values, tenants
from cutter.domain.tenants import Room
from cutter.errors import Conflict, Refused
from cutter.messages import Caps
from cutter.settings import Settings
from cutter.types import Json


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
        ttl_lifecycle_seconds=limits.TTL_SG2_HOURS * 3600,
        backup_max_age_seconds=settings.backup_max_age_minutes * 60,
        lane_wait_seconds=settings.lane_wait_seconds,
        outage_look_seconds=settings.outage_look_seconds,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Registration:
    """The answer of the database to the registration of a run.

    `status` is `registered`, `found`, `busy`, `not_in_batch`, `waits`, `conflict` or `refused`. `run_id` is the run, or
    for `busy` the open run of the document. `code` says why it was refused. `room` is the room that the tenant's caps
    leave. It is given for `waits`.
    """

    status: str
    run_id: str = ""
    document_id: str = ""
    mode: str = ""
    state: str = ""
    batch_id: str = ""
    code: str = ""
    room: Room | None = None

    @classmethod
    def of(cls, answer: Json) -> Registration:
        """The registration from an answer of `fn_run_register` or `fn_batch_item_start`."""
        room = {"room": Room.of(answer)} if answer["status"] == "waits" else {}
        return recorded_values.sparse(cls, {**answer, **room})

    def require_run(self) -> str:
        """The run id.

        Raises Refused. STOP_RUN_BUSY names the open run of the document. STOP_TENANT_CONCURRENCY and STOP_TENANT_RATE
        name the cap of its tenant and the time when there is room again. Raises Conflict for a run of another document.
        """
        run_id, document_id = self.run_id, self.document_id
        if self.status == "busy":
            raise Refused(
                f"{document_id} has the open run {run_id} ({self.state}): see",
                then=f"cutter status {run_id}",
                rest=f"; `cutter orchestrate resume --run-id {run_id}` continues it, "
                f"`cutter void {run_id} --reason TEXT` ends it",
                code="STOP_RUN_BUSY",
            )
        if self.status == "not_in_batch":
            raise Refused(
                f"{run_id} is no run of the batch {self.batch_id}, which alone begins its runs: see",
                then=f"cutter status {self.batch_id}",
                rest=f", or `cutter run {document_id}` for a run of its own",
                code="STOP_NOT_IN_BATCH",
            )
        if self.room is not None:
            raise Refused(f"{tenants.no_room(self.room)}; see", then="cutter tenants", code=self.code)
        if self.status == "conflict":
            raise Conflict(f"run {run_id} is of {document_id} in mode {self.mode}")
        return run_id
