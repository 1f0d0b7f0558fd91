"""IO: IG_cut_leg_a_execute: verifies the approvals in this process, then creates exactly the approved units."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace

from activities.gates import recorded_backups
from activities.gates.cutplan import law_read, plan_of, revision_of
from activities.gates.pinned_source import pinned_read
from activities.gates.runner import GatePassed, GateRefused, run_gate
from activities.gates.verified_approvals import Approved, orders_read, resumed_meanwhile, verified_approvals
from activities.worker.dependencies import Deps
from cutter.catalogue import BY_NAME, Role
from cutter.domain import ids
from cutter.domain.run_state import RunState
from cutter.errors import Unavailable
from cutter.gates import cut_leg_a as gate
from cutter.marking.plan import CutPlan, PlanRow
from cutter.marking.revision import RevisionPlan
from cutter.messages import GateInput, GateOutcome
from cutter.policy.rules import Permit
from cutter.storage.approval_facts import FACTS
from cutter.storage.gate_transaction import Attempt, Offer, OpenGate, Read
from cutter.storage.pools import session, single
from cutter.storage.records import Connection, Rows, many, parameters, records, values
from cutter.storage.run_evidence import NEWEST_BACKUPS, RecordedBackup
from cutter.types import Json

TOOL = "DOT-991"


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """The rows that leg A wrote, as its own transaction sees them."""

    not_draft: int
    writer_digest: str
    transaction: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Committed(gate.ReadBack):
    """What another connection sees after COMMIT. `units_created` is -1 if no gate has pinned it."""

    state: str

    @classmethod
    def of(cls, receipt_sealed: bool, units: int, writer_digest: str, pins: Json, state: str) -> Committed:
        return cls(
            receipt_sealed=receipt_sealed, units=units, units_created=int(pins.get("units_created", -1)),
            writer_digest=writer_digest, approved_writer_digest=pins.get("writer_digest", ""), state=state,
        )  # fmt: skip


NOTHING = Committed.of(receipt_sealed=False, units=0, writer_digest="", pins={}, state="")
BEFORE: Rows[int] = values("rows_under_prefix")
DRAFTS: Rows[int] = values("drafts_beside")
KEPT: Rows[str] = values("keep_units")
WRITTEN = records("units_written", Written)
REVISION_WRITTEN = records("revision_written", Written)
COMMITTED = records("units_read_back", Committed.of)


def cut_leg_a(deps: Deps, input: GateInput) -> GateOutcome:
    """Write the units of an approved plan. In a dry run, write them in a transaction that is rolled back."""
    leg = BY_NAME[gate.GATE]
    approved: list[Approved] = []
    stored: dict[str, str] = {}
    rehearse = False

    def prepare(attempt: Attempt, permit: Permit) -> Sequence[Offer] | GateRefused:
        nonlocal rehearse
        rehearse = attempt.run.mode == "dryrun"
        if rehearse:
            return ()
        answer = verified_approvals(deps, attempt, input, permit)
        if isinstance(answer, GateRefused):
            return answer
        approved.append(answer)
        stored.update(_as_stored(deps, attempt))
        return answer.offers

    def body(opened: OpenGate) -> GatePassed | GateRefused:
        if rehearse:
            return _write(deps, opened, None)
        refusal = resumed_meanwhile(opened, approved[0]) or _backup_stale(deps, opened, stored)
        return refusal or _write(deps, opened, approved[0])

    outcome = run_gate(deps, leg, input, body, prepare=prepare, rehearse=lambda: rehearse, reads=_reads, facts=FACTS)
    return _committed(deps, input.run_id, outcome) if outcome.status == "passed" else outcome


def _reads(attempt: Attempt) -> list[Read]:
    return [
        recorded_backups.asked(attempt.run_id),
        (BEFORE, {"docprefix": attempt.pins.get("docprefix")}),
        (DRAFTS, {"docprefix": attempt.pins.get("docprefix")}),
        orders_read(attempt),
        pinned_read(attempt),
        law_read(attempt),
    ]


def _as_stored(deps: Deps, attempt: Attempt) -> dict[str, str]:
    """Maps artifacts of the fresh backups to their present sha256, up to the first that is as recorded. They are read
    before the transaction, whose idle timeout is shorter than the reading of a large backup.
    """
    backups_of, run = recorded_backups.asked(attempt.run_id)
    with single(deps.pool(Role.EXEC)) as connection:
        backups = backups_of.all(connection, run)
    return recorded_backups.as_stored(deps.settings.artifacts, _young(deps, attempt, backups))


def _young(deps: Deps, attempt: Attempt, backups: Sequence[RecordedBackup]) -> list[RecordedBackup]:
    """The backups on which a write can rely, newest first."""
    limit = float(attempt.run.caps.get("backup_max_age_seconds") or deps.settings.backup_max_age_minutes * 60)
    return recorded_backups.young(backups, limit)


def _backup_stale(deps: Deps, opened: OpenGate, stored: Mapping[str, str]) -> GateRefused | None:
    """Why no backup covers the write. `stored` is the result of `_as_stored` just before.

    A record is ignored if its artifact is missing or different. If no usable record is left, the run takes a new
    backup. The run fails only if somebody altered the backup that the gate before sealed.
    """
    backups = opened.rows(NEWEST_BACKUPS)
    if not backups:
        return GateRefused(status="failed", code="backup_missing", reason="this run has no recorded backup")
    young = _young(deps, opened.attempt, backups)
    if not young:
        reason = f"the backup is {backups[0].age_seconds / 60:.0f} minutes old"
        return GateRefused(status="backup_stale", code="backup_stale", reason=reason)
    if young[0].artifact not in stored:
        raise Unavailable(
            f"{young[0].artifact} was recorded a moment ago: the next attempt reads it back", what="backup"
        )
    if recorded_backups.usable(young, stored) is not None:
        return None
    altered = next((backup.artifact for backup in young if backup.sealed and stored.get(backup.artifact)), None)
    if altered is not None:
        return GateRefused(status="failed", code="backup_altered", reason=f"{altered} is not what was recorded")
    reason = f"{young[0].artifact} is not as recorded: a new backup is made"
    return GateRefused(status="backup_stale", code="backup_unusable", reason=reason)


def _write(deps: Deps, opened: OpenGate, approved: Approved | None) -> GatePassed:
    pins, run_id = opened.attempt.pins, opened.attempt.run_id
    _, plan = plan_of(deps, opened)
    revision = revision_of(opened, plan)
    before = opened.row(DRAFTS if revision else BEFORE)
    actor = f"cutter_exec/{TOOL}/{ids.slug(pins['docprefix'])}-cut"
    if revision:
        statuses = write_rows(opened.connection, run_id, revision_calls(revision, run_id, actor))
        written = REVISION_WRITTEN.one(opened.connection, {"run_id": run_id})
    else:
        statuses = create_units(opened.connection, plan, actor=actor)
        written = WRITTEN.one(opened.connection, {"docprefix": pins["docprefix"]})
    authorizations = tuple(
        gate.Authorization(
            approval_sha256=approval_sha256, document_id=statement.document_id,
            writer_digest=statement.writer_digest, change_set_id=statement.change_set_id,
        )
        for approval_sha256, statement in (zip(approved.sha256s, approved.statements, strict=True) if approved else ())
    )  # fmt: skip
    evidence = gate.Evidence(
        authorizations=authorizations,
        threshold=approved.threshold if approved else 0,
        document_id=opened.attempt.run.document_id,
        change_set_id=str(ids.derived(run_id, "change_set")),
        pinned_writer_digest=pins["writer_digest"],
        planned_writer_digest=(revision or plan).writer_digest,
        stored_writer_digest=written.writer_digest,
        rows_before=-1 if before is None else before,
        planned=len(plan.rows),
        revised=revision.counts if revision else None,
        statuses=statuses,
        not_draft=written.not_draft,
        opened_in=opened.transaction,
        written_in=written.transaction,
        autocommit=opened.connection.autocommit,
        rehearsal=approved is None,
    )
    extra = {"approvals": list(approved.sha256s) if approved else []}
    return GatePassed(report=gate.evaluate(evidence), extra=extra)


def create_units(connection: Connection, plan: CutPlan, *, actor: str) -> tuple[str, ...]:
    """Make N calls of fn_iu_create in document order, parents first, in one round trip. Returns their statuses."""
    return many(connection, "create_unit", [{**parameters(row), "actor": actor} for row in plan.rows])


def write_rows(connection: Connection, run_id: str, calls: Sequence[Json]) -> tuple[str, ...]:
    """Write these rows, and return their statuses. Kept rows have no text, so one call writes them all."""
    kept = [call for call in calls if call["operation"] == "keep"]
    places = {"places": [call["place"] for call in kept], "addresses": [call["address"] for call in kept]}
    statuses = KEPT.all(connection, {"run_id": run_id, **places})
    return (*statuses, *many(connection, "revise_unit", [call for call in calls if call["operation"] != "keep"]))


def revision_calls(revision: RevisionPlan, run_id: str, actor: str) -> list[Json]:
    """The arguments of each call of fn_iu_revise. `place` counts from 1. Only a version that begins has a text."""
    no_text: Json = dict.fromkeys(field.name for field in fields(PlanRow))
    calls = []
    for place, row in enumerate(revision.rows, 1):
        new = row.new if row.operation in ("create", "revise") else None
        own = {"operation": row.operation, "address": row.address, "continues": row.continues}
        text = parameters(new) if new is not None else no_text
        calls.append({**text, **own, "run_id": run_id, "actor": actor, "place": place})
    return calls


def _committed(deps: Deps, run_id: str, outcome: GateOutcome) -> GateOutcome:
    """Check on a second connection that the rows exist. A void in between may have withdrawn them: then the run is
    over, and nothing is wrong.
    """
    with session(deps.settings, Role.EXEC) as fresh:
        record = COMMITTED.first(fresh, {"run_id": run_id}) or NOTHING
    if RunState(record.state).voided:
        reason = "the run was voided right after its units were written"
        return replace(outcome, status="ended", code="voided_meanwhile", reason=reason, state=record.state)
    report = gate.read_back(record)
    if report.passed:
        return outcome
    return replace(outcome, status="failed", code=report.violations[0].name, reason=report.reason(),
                   state=f"failed_{BY_NAME[gate.GATE].phase}")  # fmt: skip
