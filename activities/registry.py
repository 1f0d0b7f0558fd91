"""IO: the table of activities: functions of (dependencies, input) under the names that the catalogue gives."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any, get_type_hints

from temporalio import activity

from activities.batch.advance import begin_batch, halt_batch, steer_batch
from activities.batch.approval_set import judge_set
from activities.gates.backup import refresh_backup
from activities.reconciler.runs import reconcile
from activities.run.approval_requests import (
    end_request,
    judge_approval,
    open_request,
    record_refusal,
    resume_run,
    set_stop,
)
from activities.run.course import begin_run, escalate, finish_run, void_run
from activities.worker.dependencies import Deps
from activities.worker.error_boundary import guarded
from cutter.catalogue import GATES, WorkerRole

Function = Callable[[Deps, Any], Any]

GATE_FUNCTIONS: dict[str, Function] = {
    gate.name: getattr(import_module(f"activities.gates.{gate.phase}"), gate.phase) for gate in GATES
}
"""Each gate's function has the name of its phase, in the module of that name."""

CONTROL_FUNCTIONS: dict[WorkerRole, tuple[Function, ...]] = {
    WorkerRole.CUTTER: (
        begin_run, open_request, judge_approval, end_request, record_refusal, set_stop, resume_run, escalate,
        refresh_backup, finish_run,
    ),
    WorkerRole.EXEC: (void_run,),
    WorkerRole.VERIFY: (),
}  # fmt: skip


BATCH_FUNCTIONS: tuple[Function, ...] = (begin_batch, steer_batch, judge_set, halt_batch, reconcile)
"""These activities have their own task queue, because some wait for a long time and must not take the slots that gates
need.
"""


def build_batch_activities(deps: Deps) -> list[Callable[..., Any]]:
    """The activities of batches, which the cutter worker serves."""
    return [_defined(function.__name__, function, deps) for function in BATCH_FUNCTIONS]


def build_activities(deps: Deps) -> list[Callable[..., Any]]:
    """The activities of one worker: the gates that the catalogue gives it, and its control activities."""
    named = {gate.name: GATE_FUNCTIONS[gate.name] for gate in GATES if gate.worker is deps.worker_role}
    named |= {function.__name__: function for function in CONTROL_FUNCTIONS[deps.worker_role]}
    return [_defined(name, function, deps) for name, function in named.items()]


def _defined(name: str, function: Function, deps: Deps) -> Callable[..., Any]:
    run = guarded(name, lambda argument: function(deps, argument))
    hints = get_type_hints(function)
    # The SDK decodes inputs by annotation. So each closure takes over the annotations of the function that it wraps.
    run.__annotations__ = {"argument": hints["input"], "return": hints["return"]}
    return activity.defn(name=name)(run)
