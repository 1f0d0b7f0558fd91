"""IO: reads and registers runs in PostgreSQL as the operator: the names that people type, workers that a run waits for.

It needs neither Temporal nor the import of its SDK.
"""

from __future__ import annotations

import getpass
import shlex
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, date, datetime
from difflib import get_close_matches
from typing import Any

import uuid_utils
from psycopg.types.json import Jsonb

from cutter import limits
from cutter.catalogue import GATES, Role, WorkerRole
from cutter.domain import ids, recorded_values, tenants
from cutter.domain.lanes import Lane, lanes_of
from cutter.domain.run_record import RunSidecar
from cutter.domain.tenants import Room
from cutter.errors import Conflict, CutterError, InvalidInput, NotFound, Refused
from cutter.messages import Caps, Mode
from cutter.settings import Settings
from cutter.storage.gate_transaction import Drift, call
from cutter.storage.pools import session
from cutter.storage.records import Connection, Rows, parsed, records, values
from cutter.storage.records import answer as value_of
from cutter.storage.run_evidence import SIDECAR
from cutter.types import Json

UNKNOWN_DOCUMENT = "STOP_DOCUMENT_UNKNOWN"

KNOWN: Rows[bool] = values("document_known")
DOCUMENTS: Rows[str] = values("document_names")
BATCHES: Rows[str] = values("batch_names")
TENANTS: Rows[str] = values("tenants_declared")


def unknown_document(connection: Connection, document_id: str) -> NotFound:
    """The error for a document that is not registered."""
    known = documents_near(connection, document_id)
    add = f"cutter source add FILE --document-id {shlex.quote(document_id)} --profile PROFILE"
    if not known:
        return NotFound(f"{document_id} is not registered: type", then=add, code=UNKNOWN_DOCUMENT)
    message = f"{document_id} is not registered: {_meant(document_id, known)}see"
    return NotFound(message, then="cutter law show", rest=f", or type `{add}`", code=UNKNOWN_DOCUMENT)


def without_a_run(connection: Connection, document_id: str) -> NotFound:
    """The error for a document without a run, or for a document that is not registered."""
    if not KNOWN.one(connection, {"document_id": document_id}):
        return unknown_document(connection, document_id)
    return NotFound(f"{document_id} has no run: type", then=f"cutter run {document_id}", code="STOP_RUN_NOT_FOUND")


def require_tenant(settings: Settings) -> None:
    """Refuse an undeclared tenant in CUTTER_TENANT, if any tenants are declared."""
    if "tenant" not in settings.model_fields_set:
        return
    with session(settings, Role.OPERATOR) as connection:
        declared = TENANTS.all(connection)
    if declared and settings.tenant not in declared:
        meant = _meant(settings.tenant, declared)
        raise InvalidInput(
            f"CUTTER_TENANT: the tenant {settings.tenant} is unknown: {meant}see",
            then="cutter tenants",
            rest=f", or declare it by `cutter tenants set {settings.tenant} --weight 1`",
        )


def with_batches_meant(connection: Connection, problem: CutterError, batch_id: str) -> CutterError:
    """An error about an unknown batch, with the id that the person probably meant."""
    meant = _meant(batch_id, BATCHES.all(connection, {"limit": limits.NAMES_COMPARED_MAX}))
    return NotFound(f"{problem}; {meant.rstrip()}", code=problem.code).leads_to(problem.then) if meant else problem


def documents_near(connection: Connection, document_id: str) -> list[str]:
    """The registered documents whose names can be compared with this one."""
    return DOCUMENTS.all(connection, {"near": document_id.upper(), "limit": limits.NAMES_COMPARED_MAX})


def alike(name: str, known: list[str]) -> list[str]:
    """The known names that are similar, the most similar one first."""
    # Several, because the most similar document may have no enacted law.
    return get_close_matches(name.upper() if name.upper() in known else name, known, n=5, cutoff=0.7)


def _meant(name: str, known: list[str]) -> str:
    """The beginning of a remedy: the most similar known name. Empty if no name is similar."""
    return next((f"did you mean {other}? " for other in alike(name, known)), "")


@dataclass(frozen=True, slots=True, kw_only=True)
class StillRun:
    """An open run that waits for no person, and the seconds since its last move."""

    run_id: str
    document_id: str
    state: str
    still_seconds: float


LANES = parsed("lanes", lanes_of)
RUN_OF_DOCUMENT: Rows[str] = values("run_of_document")
OPEN_RUN: Rows[str] = values("open_run_of_document")
STILL = records("still_runs", StillRun)


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


def register_run(
    settings: Settings, document_id: str, mode: Mode, *, amends: str | None = None,
    priority: int = limits.PRIORITY_DEFAULT,
) -> str:  # fmt: skip
    """Make a run id and the run's row, before the workflow starts. An open live run of the document is a refusal."""
    run_id = mint_run_id()
    with session(settings, Role.OPERATOR) as connection:
        if not KNOWN.one(connection, {"document_id": ids.document_id(document_id)}):
            raise unknown_document(connection, document_id)
        registration = call(
            connection,
            Registration.of,
            "select cutter_governance.fn_run_register(%s, %s, %s, %s, %s, null, null, %s)",
            (run_id, document_id, mode, getpass.getuser(), Jsonb(asdict(caps_of(settings))), amends),
        )
        if registration.status == "registered" and priority != limits.PRIORITY_DEFAULT:
            connection.execute("select cutter_governance.fn_run_prioritise(%s, %s)", (run_id, priority))
    return registration.require_run()


def sidecar(settings: Settings, run_id: str) -> RunSidecar:
    """All facts of a run from the database. Raises STOP_RUN_NOT_FOUND if the database has no such run."""
    with session(settings, Role.OPERATOR) as connection:
        return sidecar_of(connection, run_id)


def sidecar_of(connection: Connection, run_id: str) -> RunSidecar:
    """The same on an open connection."""
    record = SIDECAR.first(connection, {"run_id": ids.run_id(run_id)})
    if record is None:
        raise NotFound(f"no run {run_id}: see", then="cutter status", code="STOP_RUN_NOT_FOUND")
    return record


def lanes(settings: Settings) -> list[Lane]:
    """The lanes of leg A and of the enactment, with the run that holds each lane and the runs that wait for it."""
    with session(settings, Role.OPERATOR) as connection:
        return LANES.one(connection)


def drift(settings: Settings, run_id: str) -> Drift | None:
    """The present drift of a run that drift has stopped, and its fingerprint. None for any other run."""
    with session(settings, Role.OPERATOR) as connection:
        answer: Json | None = value_of(connection, "select cutter_governance.fn_drift_look(%s)", (ids.run_id(run_id),))
    return None if answer is None else Drift.of(answer)


def run_id_of(settings: Settings, name: str) -> str:
    """The run id for a name that a person types: a run id, or a document id.

    A document stands for its open run, else its newest run if that failed, else the run that enacted it, else its
    newest run.
    """
    if ids.is_run_id(name):
        return ids.run_id(name)
    with session(settings, Role.OPERATOR) as connection:
        return run_meant(connection, name)


def run_meant(connection: Connection, name: str) -> str:
    """The same on an open connection."""
    if ids.is_run_id(name):
        return ids.run_id(name)
    run_id = RUN_OF_DOCUMENT.first(connection, {"document_id": ids.document_id(name)})
    if run_id is None:
        raise without_a_run(connection, name)
    return run_id


def open_run_of_document(settings: Settings, document_id: str) -> str | None:
    """The id of a document's open live run, or None."""
    with session(settings, Role.OPERATOR) as connection:
        return OPEN_RUN.first(connection, {"document_id": document_id})


@dataclass(frozen=True, slots=True, kw_only=True)
class BlockedWorker:
    """A living worker with the failed checks of its last preflight. `waits` says that it serves nothing yet."""

    worker_id: str
    role: str
    waits: bool
    reasons: Any

    @property
    def sentence(self) -> str:
        """The worker and its reasons, each with its remedy."""
        what = "does not serve" if self.waits else "serves, but its host has a fault"
        return f"{self.worker_id} {what}: {' · '.join(recorded_values.texts(self.reasons))}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Living:
    role: str
    number: int


BLOCKED_WORKERS = records("blocked_workers", BlockedWorker)
"""The workers whose preflight failed. A run that needs such a worker waits for a repaired host."""
LIVING_WORKERS = records("living_workers", Living)

SHOW_WORKERS = "cutter workers"
"""The next command. It shows each reason with its remedy. No command is taken from a reason, which a worker wrote."""


def blocked_in_state(workers: Sequence[BlockedWorker], state: str) -> list[BlockedWorker]:
    """The blocked workers that a run in this state needs: that of its next gate, and the cutter worker."""
    needed = {WorkerRole.CUTTER.value} | {gate.worker.value for gate in GATES if gate.from_state.value == state}
    return [worker for worker in workers if worker.role in needed]


@dataclass(frozen=True, slots=True, kw_only=True)
class EnactedVersion:
    """The newest enactment of a document. `is_newest` is true if no later version is registered."""

    run_id: str
    effective_from: date
    is_newest: bool


NEWEST = records("enacted_version", EnactedVersion)


def _enacted(settings: Settings, document_id: str) -> EnactedVersion | None:
    with session(settings, Role.OPERATOR) as connection:
        return NEWEST.first(connection, {"document_id": document_id})


def require_fits(settings: Settings, document_id: str, *, effective: date | None, changes: bool) -> None:
    """Refuse a version that no run can enact on the law in force, which it corrects or repeals if it `changes` it."""
    law = _enacted(settings, document_id)
    if law is None:
        if changes:
            raise Refused(
                f"{document_id} is not enacted, so nothing can be changed: see",
                then=f"cutter status {document_id}",
                code="change_has_its_base",
            )
        return
    if effective is not None and effective < law.effective_from:
        raise Refused(
            f"--effective {effective}: the law in force begins on {law.effective_from}; give that day or a later one, "
            "or correct the law with --correction",
            code="takes_effect_in_order",
        )


def require_can_be_enacted(settings: Settings, document_id: str, *, waits: bool) -> None:
    """Refuse a live run that cannot enact anything, unless the person waits and sees that it is skipped."""
    law = _enacted(settings, document_id)
    if law is not None and law.is_newest and not waits:
        raise Refused(
            f"{document_id} is enacted already, by run {law.run_id}, and its text has not changed: there is nothing to "
            "run;",
            then=f"cutter report {law.run_id}",
            rest=" writes its report",
            code="already_enacted",
        )
