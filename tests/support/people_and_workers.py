"""IO: what people and workers do to a run until it has ended, each step as the run's next command says."""

from __future__ import annotations

from collections.abc import Callable

from activities.run.course import void_run
from cutter.approvals import schema
from cutter.catalogue import GATES, Gate, WorkerRole
from cutter.domain.run_record import RunSidecar
from cutter.domain.run_state import RunState
from cutter.messages import VoidInput
from cutter.storage import runs as run_rows
from tests.support.runs import Deployment

STEPS = 30
"""So many steps a run gets."""


def to_its_end(made: Deployment, run_id: str, mend: Callable[[], object] = lambda: None) -> list[str]:
    """The steps, until the run has ended or the last step is done. A person calls `mend` after an error."""
    done: list[str] = []
    while len(done) < STEPS:
        sidecar = run_rows.sidecar(made.settings, run_id)
        if sidecar.run.ended_at:
            break
        gate = next((gate for gate in GATES if gate.name not in sidecar.sealed), GATES[-1])
        try:
            done.append(_step(made, sidecar, gate, patient=len(done) < STEPS // 2))
        except Exception as problem:
            done.append(f"{sidecar.run.state}: {type(problem).__name__}: {str(problem)[:200]}")
            mend()
            if not RunState(sidecar.run.state).stopped:
                _stop(made, run_id, f"stopped_error_{gate.phase}")
    return done


def _step(made: Deployment, sidecar: RunSidecar, gate: Gate, *, patient: bool) -> str:
    run_id, state = sidecar.run.run_id, sidecar.run.state
    if RunState(state).stopped:
        return _go_on(made, run_id, state, patient=patient)
    if sidecar.latch.kind:
        return _stop(made, run_id, f"stopped_{sidecar.latch.kind}")
    approvals = [made.approve(run_id, gate.sovereign, by=by) for by in range(2)] if gate.sovereign else []
    offered = [kb_id for kb_id, verdict in approvals if verdict.accepted]
    outcome = made.gate(gate.name, run_id, offered)
    if outcome.status in ("failed", "refused"):
        _stop(made, run_id, f"failed_{gate.phase}")
    return f"{gate.name}: {outcome.status} {outcome.code}"


def _go_on(made: Deployment, run_id: str, state: str, *, patient: bool) -> str:
    """An acknowledgement or a resume. A void if the stop asks for one, or if these have not helped."""
    if state in ("stopped_cancel", "stopped_drift_base") or not patient:
        kb_id, gate = made.sign_order(run_id, schema.VOID)
        made.judge(run_id, gate, kb_id)
        void = void_run(made.deps[WorkerRole.EXEC], VoidInput(run_id=run_id, kb_id=kb_id))
        return f"{state}: void: {void.code} {void.reason}"
    if RunState(state).drifted:
        report = (made.run_row(run_id)["last_error"] or {}).get("report") or {}
        verdict = made.order(run_id, schema.ACKNOWLEDGE_DRIFT, fingerprint=str(report.get("fingerprint")))
    else:
        verdict = made.order(run_id, schema.RESUME, stopped_state=state)
    resume = "select cutter_governance.fn_run_resume(%s, %s)"
    answer = made.database.value(resume, (run_id, verdict.approval_sha256), role="cutter_read")
    return f"{state}: {verdict.code} {answer['status']}"


def _stop(made: Deployment, run_id: str, state: str) -> str:
    stop = "select cutter_governance.fn_run_stop(%s, %s, 'x')"
    return str(made.database.value(stop, (run_id, state), role="cutter_read")["state"])
