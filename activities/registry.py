"""IO: the activities as a table: functions of (dependencies, input), under the names that the catalogue gives."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, get_type_hints

from temporalio import activity

from activities.batch.advance import halt_batch, steer_batch
from activities.batch.approval_set import judge_set
from activities.batch.register import begin_batch
from activities.batch.scheduled import begin_night
from activities.gates.backup import backup, refresh_backup
from activities.gates.closeout import closeout
from activities.gates.cut_leg_a import cut_leg_a
from activities.gates.cutplan import cutplan
from activities.gates.grant_probe import grant_probe
from activities.gates.leg_b_record import leg_b_record
from activities.gates.lifecycle_enact import lifecycle_enact
from activities.gates.mark import mark
from activities.gates.source_pin import source_pin
from activities.gates.structural_verify import structural_verify
from activities.gates.write_verify import write_verify
from activities.reconciler.activity import reconcile
from activities.run.approval_requests import (
    end_request,
    judge_approval,
    open_request,
    record_refusal,
    resume_run,
    set_stop,
)
from activities.run.begin import begin_run
from activities.run.escalate import escalate
from activities.run.finish import finish_run
from activities.run.void import void_run
from activities.worker.dependencies import Deps
from activities.worker.error_boundary import guarded
from cutter.catalogue import GATES, WorkerRole

Function = Callable[[Deps, Any], Any]

GATE_FUNCTIONS: dict[str, Function] = {
    "IG_source_pin": source_pin,
    "IG_mark": mark,
    "IG_cutplan": cutplan,
    "IG_backup": backup,
    "IG_grant_probe": grant_probe,
    "IG_cut_leg_a_execute": cut_leg_a,
    "IG_structural_verify": structural_verify,
    "IG_leg_b_record": leg_b_record,
    "IG_write_verify": write_verify,
    "IG_lifecycle_enact_execute": lifecycle_enact,
    "IG_closeout": closeout,
}

CONTROL_FUNCTIONS: dict[WorkerRole, tuple[Function, ...]] = {
    WorkerRole.CUTTER: (
        begin_run, open_request, judge_approval, end_request, record_refusal, set_stop, resume_run, escalate,
        refresh_backup, finish_run,
    ),
    WorkerRole.EXEC: (void_run,),
    WorkerRole.VERIFY: (),
}  # fmt: skip


BATCH_FUNCTIONS: tuple[Function, ...] = (begin_batch, begin_night, steer_batch, judge_set, halt_batch, reconcile)
"""On a task queue of their own: some wait long, and must not hold the slots that gates need."""


def build_batch_activities(deps: Deps) -> list[Callable[..., Any]]:
    """The activities of batches, which the cutter worker serves."""
    return [_defined(function.__name__, function, deps) for function in BATCH_FUNCTIONS]


def build_activities(deps: Deps) -> list[Callable[..., Any]]:
    """The activities of one worker: its gates by the catalogue, and its control activities."""
    named = {gate.name: GATE_FUNCTIONS[gate.name] for gate in GATES if gate.worker is deps.worker_role}
    named |= {function.__name__: function for function in CONTROL_FUNCTIONS[deps.worker_role]}
    return [_defined(name, function, deps) for name, function in named.items()]


def _defined(name: str, function: Function, deps: Deps) -> Callable[..., Any]:
    run = guarded(name, lambda argument: function(deps, argument))
    hints = get_type_hints(function)
    # The SDK decodes by annotation, and these closures get theirs from the function they wrap.
    run.__annotations__ = {"argument": hints["input"], "return": hints["return"]}
    return activity.defn(name=name)(run)
