"""IO: the worker's boundary. It sends heartbeats, turns our errors into Temporal failures, and hides the text of all
other exceptions.

Only the class name of an unexpected exception crosses the boundary, because its text could hold a row, a path or law
text. This is the only place that catches every exception.
"""

from __future__ import annotations

import contextvars
import errno
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import fields, is_dataclass, replace
from typing import Any

import structlog
from temporalio import activity
from temporalio.exceptions import ApplicationError, CancelledError

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
    """Send heartbeats from a separate thread until the block ends, also while a subprocess or a statement runs.

    So Temporal notices a dead worker in seconds and not only at the cap.
    """
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
