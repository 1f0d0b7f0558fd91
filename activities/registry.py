"""IO: the table of activities under the names that the catalogue gives, and the worker's boundary around each of them.

The boundary sends heartbeats, turns our errors into Temporal failures, and hides the text of all other exceptions. Only
the class name of an unexpected exception crosses it, because its text could hold a row, a path or law text. This is the
only place that catches every exception.
"""

from __future__ import annotations

import contextvars
import errno
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import fields, is_dataclass, replace
from importlib import import_module
from typing import Any, get_type_hints

import structlog
from temporalio import activity
from temporalio.exceptions import ApplicationError, CancelledError

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
from cutter.catalogue import GATES, WorkerRole
from cutter.errors import Conflict, CutterError, InvalidInput, OverCap, ProgrammingError, Unavailable

log = structlog.get_logger()

BEATS_A_TIMEOUT = 4
"""Heartbeats within one heartbeat timeout."""


def guarded(name: str, function: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """An activity's function with heartbeats around it and its errors translated."""

    def run(argument: Any) -> Any:
        try:
            with beating():
                result = function(storable(argument))
            _count(str(getattr(result, "status", "done")))
            return result
        except CutterError as problem:
            raise _refused(name, problem) from None
        except CancelledError:
            # The worker shuts down, or Temporal has given up the attempt. Temporal knows which. It is no fault of the
            # gate.
            raise
        except Exception as problem:
            lacking = lacking_of(problem)
            if lacking is not None:
                raise _refused(name, lacking) from None
            _count("unexpected")
            trace = problem.__traceback__
            while trace is not None and trace.tb_next is not None:
                trace = trace.tb_next
            file = trace.tb_frame.f_code.co_filename.rsplit("/", 1)[-1] if trace else ""
            where = f"{file}:{trace.tb_lineno}" if trace else "?"
            log.error("activity.unexpected", activity=name, kind=type(problem).__name__, where=where)
            raise ApplicationError(
                f"unexpected {type(problem).__name__} in {name}: see the worker's log",
                type=f"Unexpected:{type(problem).__name__}",
                non_retryable=True,
            ) from None

    return run


@contextmanager
def beating() -> Iterator[None]:
    """Send heartbeats from a thread until the block ends, so that Temporal notices a dead worker in seconds."""
    timeout = activity.info().heartbeat_timeout
    if timeout is None or timeout.total_seconds() <= 0:
        yield
        return
    done = threading.Event()
    context = contextvars.copy_context()

    def beat() -> None:
        while not done.wait(timeout.total_seconds() / BEATS_A_TIMEOUT):
            # The event loop of a busy worker may be late with one heartbeat. The activity and its heartbeats continue.
            with suppress(TimeoutError):
                context.run(activity.heartbeat)

    thread = threading.Thread(target=beat, name="heartbeat", daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()


LACKING = {
    errno.ENOSPC: "disk", errno.EDQUOT: "disk", errno.EROFS: "disk", errno.EIO: "disk",
    errno.EMFILE: "files", errno.ENFILE: "files", errno.ENOMEM: "memory",
}  # fmt: skip
"""The resource that the worker's machine lacks, by the system's error number. After the operator has made it available,
a retry helps.
"""


def lacking_of(problem: BaseException) -> Unavailable | None:
    """The error for an exhausted machine, without the exception's text, which could hold a path. Else None."""
    what = LACKING.get(problem.errno or 0) if isinstance(problem, OSError) else None
    if what is None:
        return None
    return Unavailable(f"the worker's machine has no {what} left: {errno.errorcode[problem.errno]}", what=what)  # type: ignore[attr-defined]


def _refused(name: str, problem: CutterError) -> ApplicationError:
    _count(type(problem).__name__.lower())
    # The reason of an outage names a part of the environment. Other reasons may quote what a person wrote.
    why = {"reason": str(problem)[:500]} if isinstance(problem, Unavailable) else {}
    log.warning("activity.refused", activity=name, code=problem.code, kind=type(problem).__name__, **why)
    return failure_of(problem)


def _count(outcome: str) -> None:
    """Count one more end of this activity with this outcome. Costs nothing if no metrics are served."""
    meter = activity.metric_meter()
    meter.create_counter("cutter_activity_outcomes", "Activities by how they ended").add(1, {"outcome": outcome})


def storable(value: Any) -> Any:
    """The input without characters that PostgreSQL cannot store, because a message with a NUL must not fail forever."""
    if isinstance(value, str):
        return value.replace("\x00", "\ufffd").encode("utf-8", "replace").decode("utf-8")
    if isinstance(value, tuple):
        return tuple(storable(item) for item in value)
    if is_dataclass(value) and not isinstance(value, type):
        return replace(value, **{field.name: storable(getattr(value, field.name)) for field in fields(value)})
    return value


def failure_of(problem: CutterError) -> ApplicationError:
    """Our error as a Temporal failure. The workflow decides by `type`, and people read the message."""
    if isinstance(problem, Unavailable):
        kind = f"Unavailable:{problem.what}"
    elif isinstance(problem, OverCap):
        kind = "OverCap"
    elif isinstance(problem, Conflict):
        kind = "Conflict"
    elif isinstance(problem, InvalidInput | ProgrammingError):
        kind = type(problem).__name__
    else:
        kind = f"Refused:{problem.code}"
    return ApplicationError(str(problem)[:500], type=kind, non_retryable=True)


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
