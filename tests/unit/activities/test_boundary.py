"""The worker's boundary: what crosses of an error, and heartbeats while a function blocks."""

from __future__ import annotations

import dataclasses
import threading
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from temporalio.exceptions import ApplicationError
from temporalio.testing import ActivityEnvironment

from activities.registry import failure_of, guarded
from cutter.errors import Conflict, CutterError, InvalidInput, NotFound, OverCap, ProgrammingError, Refused, Unavailable

SECRET = "Article 9 which nobody may see"


def environment(heartbeat_seconds: float | None = None) -> ActivityEnvironment:
    made = ActivityEnvironment()
    timeout = timedelta(seconds=heartbeat_seconds) if heartbeat_seconds is not None else None
    made.info = dataclasses.replace(made.info, heartbeat_timeout=timeout)
    return made


def failed(problem: BaseException) -> ApplicationError:
    def function(_argument: Any) -> None:
        raise problem

    with pytest.raises(ApplicationError) as caught:
        environment().run(guarded("IG_mark", function), "x")
    return caught.value


@pytest.mark.parametrize("kind", [ValueError, KeyError, RuntimeError, OSError, UnicodeError])
def test_an_unexpected_exception_crosses_as_its_class_name_alone(kind: type[Exception]) -> None:
    error = failed(kind(SECRET))
    assert error.type == f"Unexpected:{kind.__name__}"
    assert error.non_retryable
    assert SECRET not in str(error)
    assert SECRET not in repr(error)
    assert error.details == ()
    assert error.__cause__ is None
    assert error.__suppress_context__


@pytest.mark.parametrize(
    ("problem", "kind"),
    [
        (Unavailable("away", what="kb"), "Unavailable:kb"),
        (OverCap("too long"), "OverCap"),
        (Conflict("other bytes"), "Conflict"),
        (InvalidInput("bad id"), "InvalidInput"),
        (ProgrammingError("out of order"), "ProgrammingError"),
        (Refused("no", code="STOP_RUN_BUSY"), "Refused:STOP_RUN_BUSY"),
        (NotFound("none", code="STOP_RUN_NOT_FOUND"), "Refused:STOP_RUN_NOT_FOUND"),
    ],
)
def test_each_of_our_errors_crosses_with_its_kind_and_is_not_retried_by_the_engine(
    problem: CutterError, kind: str
) -> None:
    error = failed(problem)
    assert (error.type, error.message, error.non_retryable) == (kind, str(problem), True)


def test_a_long_message_is_cut() -> None:
    assert len(failure_of(Refused("x" * 10_000)).message) == 500


def beats_until(
    count: int, heartbeat_seconds: float | None, *, late: int = 0
) -> tuple[list[Any], Callable[[Any], str]]:
    """A function that blocks until that many heartbeats were seen; it fails when they do not come.

    The event loop is late for the first ones, as that of a busy worker is.
    """
    heartbeats: list[Any] = []
    enough = threading.Event()

    def on_heartbeat(*details: Any) -> None:
        heartbeats.append(details)
        if len(heartbeats) >= count:
            enough.set()
        if len(heartbeats) <= late:
            raise TimeoutError

    def blocks(_argument: Any) -> str:
        return "done" if enough.wait(timeout=20) else "no heartbeats came"

    made = environment(heartbeat_seconds)
    made.on_heartbeat = on_heartbeat
    return heartbeats, lambda argument: str(made.run(guarded("IG_mark", blocks), argument))


def test_heartbeats_go_on_while_a_function_blocks() -> None:
    """Seed 003 §3.2."""
    heartbeats, run = beats_until(3, 0.1)
    assert run("x") == "done"
    assert len(heartbeats) >= 3


def test_heartbeats_go_on_after_one_that_the_event_loop_was_late_for() -> None:
    heartbeats, run = beats_until(3, 0.1, late=2)
    assert run("x") == "done"
    assert len(heartbeats) >= 3


def test_heartbeats_end_with_the_function() -> None:
    heartbeats, run = beats_until(1, 0.1)
    run("x")
    count = len(heartbeats)
    assert not [thread for thread in threading.enumerate() if thread.name == "heartbeat"]
    assert len(heartbeats) == count


def test_heartbeats_end_when_the_function_raises() -> None:
    def function(_argument: Any) -> None:
        raise ValueError(SECRET)

    with pytest.raises(ApplicationError):
        environment(0.1).run(guarded("IG_mark", function), "x")
    assert not [thread for thread in threading.enumerate() if thread.name == "heartbeat"]


def test_without_a_heartbeat_timeout_nothing_beats() -> None:
    made = environment(None)
    heartbeats: list[Any] = []
    made.on_heartbeat = lambda *details: heartbeats.append(details)
    assert made.run(guarded("IG_mark", lambda argument: argument), "x") == "x"
    assert heartbeats == []
