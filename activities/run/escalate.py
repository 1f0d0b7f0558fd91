"""IO: SG_3: record a stop or a failure and write its stop-route report (seed 000 §3)."""

from __future__ import annotations

import re

from activities.outbox import publish
from activities.run.triage import case_of, quarantined
from activities.worker.dependencies import Deps, day_of, folder_of
from cutter.batch import triage
from cutter.catalogue import Role
from cutter.domain import recorded
from cutter.domain.next_step import Step, next_step
from cutter.domain.run_state import RunState
from cutter.kb import folder as kb_folder
from cutter.messages import EscalateInput, StateView
from cutter.projections.state_file import state_json
from cutter.projections.stop_route import StopRoute, render
from cutter.storage.faults import translated
from cutter.storage.gate_transaction import call
from cutter.storage.queries import query
from cutter.types import Json

_STOPPED = re.compile(r"stopped_[a-z0-9_]{1,80}")
"""Twice as long as the longest tail that a workflow makes; a state is shown, signed and stored everywhere."""


def escalate(deps: Deps, input: EscalateInput) -> StateView:
    """Move the run when it has not been moved, then report: sidecar dump, evidence, restart command.

    Only a gate's own refusal fails a run, only the database's own survey finds drift, and only a run that has written
    nothing is cancelled: a claim that the database does not share is answered with `not_so` and changes nothing.
    """
    with translated(), deps.pool(Role.READ).connection() as connection:
        before = call(connection, "select cutter_governance.fn_run_sidecar(%s)", (input.run_id,))
        if _impossible(before, input.state):
            return _view(before, code="not_so")
        state = call(
            connection, "select cutter_governance.fn_run_stop(%s, %s, %s)", (input.run_id, input.state, input.reason)
        )["state"]
        sidecar = call(connection, "select cutter_governance.fn_run_sidecar(%s)", (input.run_id,))
        if state != input.state:
            return _view(sidecar, code="ended" if sidecar["run"]["ended_at"] else "not_so")
        number = max(1, stops_of(sidecar))
        run = sidecar["run"]
        pins = state_json(sidecar)["context_pins"]
        aside = quarantined(connection, run)
        folder = folder_of(run, pins.get("content_sha256"))
        kb_id = kb_folder.stop_report(folder, day_of(run).date(), number=number, quarantined=aside)
        epoch = connection.execute(query("policy_in_force")).fetchone()
        route = StopRoute(
            sidecar=sidecar, step=step_of(sidecar), wrote=wrote(sidecar), gate=input.gate, reason=input.reason,
            kb_id=kb_id, number=number, deployment_id=str(epoch[3]) if epoch else None,
        )  # fmt: skip
        case = case_of(connection, sidecar, max_candidates=deps.settings.max_candidates) if aside else None
        connection.execute(
            "select cutter_governance.fn_stop_route_record(%s, %s, %s)",
            (input.run_id, kb_id, render(route, triage.sections(case) if case else "")),
        )
    publish(deps, Role.READ, input.run_id)
    return _view(sidecar, kb_doc_id=kb_id)


def stops_of(sidecar: Json) -> int:
    """How often the run has stopped or failed: the number of its newest report, the same at every try."""
    reached = [str(recorded.parsed(body).get("to_state")) for body in sidecar["transitions"]]
    return sum(RunState(state).halted for state in reached)


def _impossible(sidecar: Json, state: str) -> bool:
    if sidecar["run"]["state"] == state:
        return False
    if state == "voided_cancelled":
        latch = sidecar["latch"]
        return wrote(sidecar) or not latch["stopped"] or latch["kind"] != "cancel"
    return _STOPPED.fullmatch(state) is None


def _view(sidecar: Json, *, code: str = "", kb_doc_id: str = "") -> StateView:
    return StateView(state=sidecar["run"]["state"], code=code, kb_doc_id=kb_doc_id, next_command=command_of(sidecar))


def wrote(sidecar: Json) -> bool:
    """True when leg A is sealed, so that drafts may exist."""
    return any(receipt["gate"] == "IG_cut_leg_a_execute" for receipt in sidecar["receipts"])


def enacted(sidecar: Json) -> bool:
    """True when the enactment is sealed: enacted law is never voided."""
    return any(receipt["gate"] == "IG_lifecycle_enact_execute" for receipt in sidecar["receipts"])


def command_of(sidecar: Json) -> str:
    """What is typed to move this run on."""
    return step_of(sidecar).command


def step_of(sidecar: Json) -> Step:
    """What moves this run on, by everything that the database says of it."""
    run, latch = sidecar["run"], sidecar["latch"] or {}
    return next_step(
        run_id=run["run_id"], document_id=run["document_id"], state=run["state"], outcome=run["outcome"],
        latched=bool(latch.get("stopped")), wrote=wrote(sidecar), enacted=enacted(sidecar),
        law_by=run["document_id"] if _is_law_already(run) else None,
    )  # fmt: skip


def _is_law_already(run: Json) -> bool:
    """True when the run failed because another version of its document is enacted."""
    report = (run["last_error"] or {}).get("report") or {}
    return any(one["name"] == "document_not_enacted" and not one["ok"] for one in report.get("invariants") or [])
