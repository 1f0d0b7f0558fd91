"""What becomes of an activity that failed: tried again, tried at once, waited for, or never."""

from __future__ import annotations

import pytest
from temporalio.exceptions import ActivityError, ApplicationError, TimeoutError, TimeoutType

from activities.registry import failure_of
from cutter.catalogue import WorkerRole
from cutter.errors import Conflict, CutterError, InvalidInput, NotFound, OverCap, PolicyDenied, Refused, Unavailable
from workflows.activity_calls import classify_failure


def kind_of(cause: BaseException) -> tuple[str, str]:
    error = ActivityError(
        "failed", scheduled_event_id=1, started_event_id=2, identity="w", activity_type="IG_mark", activity_id="1",
        retry_state=None,
    )  # fmt: skip
    error.__cause__ = cause
    return classify_failure(error, WorkerRole.EXEC)


@pytest.mark.parametrize("what", ["database", "kb", "backup", "gpg"])
def test_what_is_away_is_tried_again(what: str) -> None:
    """Seed 003 §6.1, "retryable": a network that times out, a server that is away or has too much to do."""
    assert kind_of(failure_of(Unavailable("away", what=what))) == ("unavailable", what)


@pytest.mark.parametrize(
    "problem",
    [InvalidInput("bad id"), NotFound("none"), Refused("rejected"), PolicyDenied("no"), Conflict("other bytes")],
    ids=lambda problem: type(problem).__name__,
)
def test_what_no_retry_helps_is_not_tried_again(problem: CutterError) -> None:
    """Seeds 000 §3, 003 §6.1, "terminal": a wrong payload, a policy that denies, a refused approval."""
    assert kind_of(failure_of(problem))[0] == "broken"


@pytest.mark.parametrize(
    ("cause", "kind"),
    [
        (TimeoutError("t", type=TimeoutType.HEARTBEAT, last_heartbeat_details=[]), "lost"),
        (TimeoutError("t", type=TimeoutType.SCHEDULE_TO_START, last_heartbeat_details=[]), "worker"),
        (TimeoutError("t", type=TimeoutType.START_TO_CLOSE, last_heartbeat_details=[]), "cap"),
        (failure_of(OverCap("too long")), "cap"),
        (ApplicationError("the worker left", non_retryable=False), "lost"),
    ],
)
def test_a_lost_worker_and_a_cap_are_told_apart_from_both(cause: BaseException, kind: str) -> None:
    assert kind_of(cause)[0] == kind
