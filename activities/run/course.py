"""IO: the course of a run outside its gates: it is registered, stopped with a report (SG_3), voided, or ended.

Each workflow of a run begins by registering it, also after Temporal's data was lost.
"""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass, fields

import structlog
from psycopg.types.json import Jsonb
from pydantic import TypeAdapter, ValidationError
from temporalio import activity

from activities import approval_judge, permission
from activities.gates.runner import facts_of
from activities.outbox import publish
from activities.worker.dependencies import Deps, day_of, folder_of
from cutter.approvals import schema
from cutter.batch import triage, ways
from cutter.batch.triage import Source, Triage, disposition
from cutter.catalogue import Role
from cutter.domain import ids, recorded_values
from cutter.domain.next_step import next_step
from cutter.domain.run_record import RunRecord, RunSidecar
from cutter.domain.run_state import RunState, void_state
from cutter.errors import Conflict, CutterError, PolicyDenied
from cutter.kb import ids as kb_ids
from cutter.marking import PROFILES
from cutter.messages import (
    NOT_SO,
    BeginInput,
    Caps,
    Escalated,
    EscalateInput,
    FinishInput,
    RunFinished,
    RunView,
    VoidInput,
    VoidResult,
)
from cutter.policy.command import KB_PUT, WITHDRAW_DRAFTS
from cutter.projections.state_file import render_state, state_json
from cutter.projections.stop_route import StopRoute, render
from cutter.storage import policies
from cutter.storage.gate_transaction import Decided, call
from cutter.storage.policies import EPOCH
from cutter.storage.pools import translated
from cutter.storage.records import Connection, Rows, records, values
from cutter.storage.run_evidence import sidecar_now
from cutter.storage.runs import Registration, caps_of, mint_run_id
from cutter.types import Json


def begin_run(deps: Deps, input: BeginInput) -> RunView:
    """Register the run (idempotent). Returns its state, caps and sealed gates. Raises Conflict for a foreign workflow,
    because two workflows of one run would fence out each other's attempts.
    """
    run = input.run
    document_id = ids.document_id(run.document_id)
    if activity.in_activity() and activity.info().workflow_id != f"document/{document_id}":
        raise Conflict(f"{document_id} is driven by the workflow document/{document_id} alone")
    run_id = ids.run_id(run.run_id) if run.run_id else mint_run_id()
    with translated(), deps.pool(Role.READ).connection() as connection:
        registration = call(
            connection,
            Registration.of,
            "select cutter_governance.fn_run_register(%s, %s, %s, %s, %s, %s, %s, %s)",
            (
                run_id, document_id, run.mode, run.starter[:100], Jsonb(asdict(caps_of(deps.settings))),
                input.first_execution_id if run.run_id is None else None, run.batch_id, run.amends,
            ),
        )  # fmt: skip
        sidecar = call(
            connection,
            RunSidecar.of,
            "select cutter_governance.fn_run_sidecar(cutter_governance.fn_run_version(%s, %s))",
            (registration.require_run(), deps.build_id),
        )
    return view_of(sidecar)


def view_of(sidecar: RunSidecar) -> RunView:
    """A run as the workflow needs it. If a pinned limit is invalid, all limits are the shipped ones."""
    run = sidecar.run
    pinned = {field.name: run.caps[field.name] for field in fields(Caps) if run.caps.get(field.name) is not None}
    try:
        caps = TypeAdapter(Caps).validate_python(pinned)
    except ValidationError:
        caps = Caps()
    return RunView(
        run_id=run.run_id,
        document_id=run.document_id,
        mode=run.mode,
        state=run.state,
        caps=caps,
        sealed=sidecar.sealed,
        outcome=run.outcome,
        facts=facts_of(sidecar.pins),
        next_command=command_of(sidecar),
    )


def finish_run(deps: Deps, input: FinishInput) -> RunFinished:
    """Record the outcome if an attempt of a gate had it. Any other outcome gets the answer `not_so`."""
    with translated(), deps.pool(Role.READ).connection() as connection:
        sidecar = sidecar_now(connection, input.run_id)
        if not any(attempt.outcome == input.outcome for attempt in sidecar.attempts):
            return RunFinished(state=sidecar.run.state, code=NOT_SO)
        connection.execute("select cutter_governance.fn_run_outcome(%s, %s)", (input.run_id, input.outcome))
    publish(deps, Role.READ, input.run_id)
    return RunFinished(state="", code=input.outcome)


_STOPPED = re.compile(r"stopped_[a-z0-9_]{1,80}")
"""The form of a stopped state. Its tail may be twice as long as the longest tail that a workflow makes. It is bounded
because a state is shown, signed and stored everywhere.
"""


def escalate(deps: Deps, input: EscalateInput) -> Escalated:
    """Move the run if it has not been moved yet, then write the report: sidecar dump, evidence, restart command.

    The database checks each claim: only a gate's own refusal fails a run, only the database's own survey finds drift,
    and only a run that has written nothing is cancelled. A claim that the database does not share changes nothing and
    gets the answer `not_so`.
    """
    with translated(), deps.pool(Role.READ).connection() as connection:
        before = sidecar_now(connection, input.run_id)
        if input.state == "voided_cancelled":
            possible = before.latch.stopped and before.latch.kind == "cancel" and not before.step_facts.wrote
        else:
            possible = _STOPPED.fullmatch(input.state) is not None
        if before.run.state != input.state and not possible:
            return _view(before, code=NOT_SO)
        state = call(
            connection, Decided.of, "select cutter_governance.fn_run_stop(%s, %s, %s)",
            (input.run_id, input.state, input.reason),
        ).state  # fmt: skip
        sidecar = sidecar_now(connection, input.run_id)
        if state != input.state:
            return _view(sidecar, code="ended" if sidecar.run.ended_at else NOT_SO)
        number = max(1, stops_of(sidecar))
        run = sidecar.run
        pins = state_json(sidecar)["context_pins"]
        aside = quarantined(connection, run)
        folder = folder_of(run, pins.get("content_sha256"))
        kb_id = kb_ids.stop_report(folder, day_of(run).date(), number=number, quarantined=aside)
        epoch = EPOCH.first(connection)
        route = StopRoute(
            sidecar=sidecar, gate=input.gate, reason=input.reason, kb_id=kb_id, number=number,
            deployment_id=epoch.deployment_id if epoch else None,
        )  # fmt: skip
        case = case_of(connection, sidecar, max_candidates=deps.settings.max_candidates) if aside else None
        connection.execute(
            "select cutter_governance.fn_stop_route_record(%s, %s, %s)",
            (input.run_id, kb_id, render(route, triage.sections(case) if case else "")),
        )
    publish(deps, Role.READ, input.run_id)
    return _view(sidecar, kb_doc_id=kb_id)


def stops_of(sidecar: RunSidecar) -> int:
    """How often the run has stopped or failed, which is the number of its newest report."""
    reached = [str(recorded_values.parsed(body).get("to_state")) for body in sidecar.transitions]
    return sum(RunState(state).halted for state in reached)


def _view(sidecar: RunSidecar, *, code: str = "", kb_doc_id: str = "") -> Escalated:
    return Escalated(state=sidecar.run.state, code=code, kb_doc_id=kb_doc_id, next_command=command_of(sidecar))


def command_of(sidecar: RunSidecar) -> str:
    """The command that continues this run."""
    return next_step(sidecar.step_facts).command


log = structlog.get_logger()


def void_run(deps: Deps, input: VoidInput) -> VoidResult:
    """Verify the statement in this process, then open the void, withdraw the drafts and close it."""
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


@dataclass(frozen=True, slots=True, kw_only=True)
class MarkedBy:
    """The profile and options with which a run's version is marked."""

    profile: str
    docprefix: str
    options: Json | None
    forbidden_ids: list[str] | None


POLICY: Rows[str] = values("batch_policy")
MARKED_BY = records("marked_by", MarkedBy)


def quarantined(connection: Connection, run: RunRecord) -> bool:
    """True for a run of a batch that sets failed documents aside: its queue entry is the only document about it."""
    state = RunState(run.state)
    if run.batch_id is None or state.on_order or state.voided:
        return False
    return POLICY.first(connection, {"batch_id": run.batch_id}) == "quarantine"


def case_of(connection: Connection, sidecar: RunSidecar, *, max_candidates: int, code: str = "") -> Triage:
    """The known facts about the run's failure. Without a `code`, the code is the seeds' word for the run's state.

    `max_candidates` is the number of units that the workers allow. The printed command asks for at most as many.
    """
    run, error = sidecar.run, sidecar.run.error
    last = sidecar.attempts[-1].gate if sidecar.attempts else ""
    # How the run's text was registered. Nobody can reproduce a profile that is not a shipped one.
    marked = MARKED_BY.first(connection, {"run_id": run.run_id})
    source: Source | None = None
    if marked is not None and marked.profile in PROFILES:
        options = marked.options or {}
        if "max_candidates" in options:
            options = {**options, "max_candidates": min(options["max_candidates"], max_candidates)}
        source = Source(
            profile=marked.profile, docprefix=marked.docprefix, options=options,
            forbidden=tuple(marked.forbidden_ids or ()),
        )  # fmt: skip
    reproduction = triage.reproduction(run_id=run.run_id, document_id=run.document_id, state=run.state, source=source)
    return Triage(
        run_id=run.run_id, document_id=run.document_id, state=run.state,
        gate=error.get("gate") or last, code=code or RunState(run.state).stop_code or run.state, error=error,
        sidecar=render_state(sidecar).decode(), reproduction=reproduction,
        advice=disposition(sidecar.step_facts, code_of(error)),
        remedy=ways.run_step(run.batch_id or "", sidecar.step_facts),
    )  # fmt: skip


def code_of(error: Json) -> str:
    """The reason code of a run's last error: the first violated invariant, or else the beginning of its reason."""
    invariants = (error.get("report") or {}).get("invariants") or []
    violated = [invariant for invariant in invariants if not invariant.get("ok")]
    return str(violated[0]["name"]) if violated else str(error.get("reason") or "").partition(":")[0]
