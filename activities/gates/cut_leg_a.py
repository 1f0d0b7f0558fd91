"""IO: IG_cut_leg_a_execute: verify the approvals in this process, then create exactly the approved units."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from activities.gates import recorded_backups
from activities.gates.cutplan import plan_of
from activities.gates.pinned_source import pinned_read
from activities.gates.recorded_backups import Recorded
from activities.gates.runner import Passed, Refusal, run_gate
from activities.gates.verified_approvals import Approved, orders_read, resumed_meanwhile, verified_approvals
from activities.worker.dependencies import Deps
from cutter.approvals.statement import Statement
from cutter.catalogue import BY_NAME, Role
from cutter.domain import ids
from cutter.domain.run_state import RunState
from cutter.errors import Unavailable
from cutter.gates import cut_leg_a as gate
from cutter.marking.plan import CutPlan
from cutter.messages import GateInput, GateOutcome
from cutter.policy.rules import Permit
from cutter.storage.gate_transaction import Attempt, Open, Read, Row
from cutter.storage.many import many, many_then
from cutter.storage.pools import Connection, session, single
from cutter.storage.queries import query
from cutter.types import Json

TOOL = "DOT-991"


BEFORE = "rows_under_prefix"


def cut_leg_a(deps: Deps, input: GateInput) -> GateOutcome:
    """Write the units of an approved plan; in a dry run, rehearse it in a transaction that is rolled back."""
    leg = BY_NAME[gate.GATE]
    approved: list[Approved] = []
    stored: dict[str, str] = {}
    rehearse = False

    def prepare(attempt: Attempt, permit: Permit) -> Sequence[Json] | Refusal:
        nonlocal rehearse
        rehearse = attempt.run["mode"] == "dryrun"
        if rehearse:
            return ()
        answer = verified_approvals(deps, attempt, input, permit)
        if isinstance(answer, Refusal):
            return answer
        approved.append(answer)
        stored.update(_as_stored(deps, attempt))
        return answer.offers

    def body(opened: Open) -> Passed | Refusal:
        if rehearse:
            return _write(deps, opened, None)
        refusal = resumed_meanwhile(opened, approved[0]) or _backup_stale(deps, opened, stored)
        return refusal or _write(deps, opened, approved[0])

    outcome = run_gate(deps, leg, input, body, prepare=prepare, rehearse=lambda: rehearse, reads=_reads)
    return _committed(deps, input.run_id, outcome) if outcome.status == "passed" else outcome


def _reads(attempt: Attempt) -> list[Read]:
    return [
        recorded_backups.asked(attempt.run_id),
        (BEFORE, {"docprefix": attempt.pins.get("docprefix")}),
        orders_read(attempt),
        pinned_read(attempt),
    ]


def _as_stored(deps: Deps, attempt: Attempt) -> dict[str, str]:
    """Artifact → its present sha256, of the backups that are young enough, until one is as recorded.

    Read here and not in the transaction, whose idle timeout a large backup would outlast.
    """
    name, parameters = recorded_backups.asked(attempt.run_id)
    with single(deps.pool(Role.EXEC)) as connection:
        backups = recorded_backups.read(connection.execute(query(name), parameters).fetchall())
    return recorded_backups.as_stored(deps.settings.artifacts, _young(deps, attempt, backups))


def _young(deps: Deps, attempt: Attempt, backups: Sequence[Recorded]) -> list[Recorded]:
    """The backups that are young enough for a write, the newest first."""
    limit = float(attempt.run["caps"].get("backup_max_age_seconds") or deps.settings.backup_max_age_minutes * 60)
    return [one for one in backups if one.age_seconds <= limit]


def _backup_stale(deps: Deps, opened: Open, stored: Json) -> Refusal | None:
    """Why no backup covers the write; `stored` is what was read back just before (`_as_stored`).

    A record whose artifact is not there, or is another one, is passed over; where no other is left, a new backup is
    made. Only when the very backup was altered that the gate before sealed, the run fails.
    """
    backups = recorded_backups.read(opened.rows(recorded_backups.BACKUPS))
    if not backups:
        return Refusal(status="failed", code="backup_missing", reason="this run has no recorded backup")
    young = _young(deps, opened.attempt, backups)
    if not young:
        minutes = backups[0].age_seconds / 60
        return Refusal(status="backup_stale", code="backup_stale", reason=f"the backup is {minutes:.0f} minutes old")
    if young[0].artifact not in stored:
        raise Unavailable(
            f"{young[0].artifact} was recorded a moment ago: it is read back at the next attempt", what="backup"
        )
    if recorded_backups.usable(young, stored) is not None:
        return None
    altered = next((one.artifact for one in young if one.sealed and stored.get(one.artifact)), None)
    if altered is not None:
        return Refusal(status="failed", code="backup_altered", reason=f"{altered} is not what was recorded")
    reason = f"{young[0].artifact} is not as recorded: a new backup is made"
    return Refusal(status="backup_stale", code="backup_unusable", reason=reason)


def _write(deps: Deps, opened: Open, approved: Approved | None) -> Passed:
    pins, run_id = opened.attempt.pins, opened.attempt.run_id
    before = opened.row(BEFORE)
    _, plan = plan_of(deps, opened)
    actor = f"cutter_exec/{TOOL}/{ids.slug(pins['docprefix'])}-cut"
    counted = ("units_written", {"docprefix": pins["docprefix"]})
    statuses, written = many_then(opened.connection, "create_unit", rows_of(plan, actor), counted)
    evidence = gate.Evidence(
        authorizations=tuple(_authorization(*one) for one in zip(approved.sha256s, approved.statements, strict=True))
        if approved
        else (),
        threshold=approved.threshold if approved else 0,
        document_id=opened.attempt.run["document_id"],
        change_set_id=str(ids.derived(run_id, "change_set")),
        pinned_writer_digest=pins["writer_digest"],
        planned_writer_digest=plan.writer_digest,
        stored_writer_digest=str(written[1]),
        rows_before=int(before[0]) if before else -1,
        planned=len(plan.rows),
        statuses=statuses,
        not_draft=int(written[0]),
        opened_in=opened.transaction,
        written_in=str(written[2]),
        autocommit=opened.connection.autocommit,
        rehearsal=approved is None,
    )
    extra = {"approvals": list(approved.sha256s) if approved else []}
    return Passed(report=gate.evaluate(evidence), extra=extra)


def _authorization(approval_sha256: str, said: Statement) -> gate.Authorization:
    return gate.Authorization(
        approval_sha256=approval_sha256,
        document_id=said.document_id,
        writer_digest=said.writer_digest,
        change_set_id=said.change_set_id,
    )


def create_units(connection: Connection, plan: CutPlan, *, actor: str) -> tuple[str, ...]:
    """N calls of fn_iu_create in document order, in one round trip; their statuses."""
    return many(connection, "create_unit", rows_of(plan, actor))


def rows_of(plan: CutPlan, actor: str) -> list[Json]:
    """The arguments of each call, parents first."""
    return [
        {
            "address": row.address,
            "title": row.title,
            "body": row.body,
            "actor": actor,
            "unit_kind": row.unit_kind,
            "section_type": row.section_type,
            "owner": row.owner,
            "publication_type": row.publication_type,
            "parent_address": row.parent_address,
        }
        for row in plan.rows
    ]


def _committed(deps: Deps, run_id: str, outcome: GateOutcome) -> GateOutcome:
    """COMMIT was acknowledged; whether the rows are there, a connection of its own says.

    A void that came in between has withdrawn them again, in a transaction of its own: then the run is over, and its
    rows are nobody's fault.
    """
    with session(deps.settings, Role.EXEC) as fresh:
        row: Row | None = fresh.execute(query("units_read_back"), {"run_id": run_id}).fetchone()
    sealed, units, writer_digest, pins, state = row or (False, 0, "", {}, "")
    if RunState(state).voided:
        reason = "the run was voided right after its units were written"
        return replace(outcome, status="ended", code="voided_meanwhile", reason=reason, state=state)
    report = gate.read_back(
        gate.ReadBack(
            receipt_sealed=bool(sealed),
            units=units,
            units_created=int(pins.get("units_created", -1)),
            writer_digest=writer_digest,
            approved_writer_digest=pins.get("writer_digest", ""),
        )
    )
    if report.passed:
        return outcome
    return replace(outcome, status="failed", code=report.violations[0].name, reason=report.reason(),
                   state=f"failed_{BY_NAME[gate.GATE].phase}")  # fmt: skip
