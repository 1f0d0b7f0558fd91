"""IO: SG_3: records a stop or a failure and writes its stop-route report (seed 000 §3)."""

from __future__ import annotations

import re

from activities.outbox import publish
from activities.run.triage import case_of, quarantined
from activities.worker.dependencies import Deps, day_of, folder_of
from cutter.batch import triage
from cutter.catalogue import Role
from cutter.domain import recorded_values
from cutter.domain.next_step import next_step
from cutter.domain.run_record import RunSidecar
from cutter.domain.run_state import RunState
from cutter.kb import folder as kb_folder
from cutter.messages import NOT_SO, Escalated, EscalateInput
from cutter.projections.state_file import state_json
from cutter.projections.stop_route import StopRoute, render
from cutter.storage.gate_transaction import Decided, call
from cutter.storage.policies import EPOCH
from cutter.storage.pools import translated
from cutter.storage.run_evidence import sidecar_now

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
        kb_id = kb_folder.stop_report(folder, day_of(run).date(), number=number, quarantined=aside)
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
    """How often the run has stopped or failed. This is the number of its newest report, and every try gives the same
    number.
    """
    reached = [str(recorded_values.parsed(body).get("to_state")) for body in sidecar.transitions]
    return sum(RunState(state).halted for state in reached)


def _view(sidecar: RunSidecar, *, code: str = "", kb_doc_id: str = "") -> Escalated:
    return Escalated(state=sidecar.run.state, code=code, kb_doc_id=kb_doc_id, next_command=command_of(sidecar))


def command_of(sidecar: RunSidecar) -> str:
    """The command that continues this run."""
    return next_step(sidecar.step_facts).command
