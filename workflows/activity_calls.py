"""Orchestration: calls an activity once at a time. The workflow decides about retries, and every wait is bounded."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from functools import cache
from typing import Any, TypeVar

from temporalio import workflow
from temporalio.exceptions import ActivityError, ApplicationError, TimeoutError, TimeoutType

with workflow.unsafe.imports_passed_through():
    from pydantic import TypeAdapter, ValidationError

    from cutter import limits
    from cutter.catalogue import Sovereign, WorkerRole
    from cutter.domain.retry import Denial, Denied, RetryBudget, decide
    from cutter.messages import Caps, JudgeInput, JudgeResult
    from temporal import names

Result = TypeVar("Result")


class DependencyUnavailable(Exception):
    """A dependency is unavailable and no retry is left. The run stops as stopped_unavailable_<dependency>."""

    def __init__(self, dependency: str, reason: str) -> None:
        super().__init__(reason)
        self.dependency = dependency


class ActivityFailed(Exception):
    """An activity failed, and a retry would not help."""

    def __init__(self, code: str, reason: str) -> None:
        super().__init__(reason)
        self.code = code


def decode_result(answer: Any, kind: type[Result]) -> Result | None:
    """An activity's answer as a value of its type, else None. A stranger can complete an activity with any answer, and
    the SDK's own decoding would fail the workflow task again and again.
    """
    try:
        value: Result = adapter(kind).validate_python(answer)  # type: ignore[arg-type]
    except ValidationError:
        return None
    return value


@cache
def adapter(kind: type[Any]) -> TypeAdapter[Any]:
    """pydantic's adapter of a type. To make one takes milliseconds, so it is made once in a worker."""
    return TypeAdapter(kind)


def classify_failure(error: ActivityError, role: WorkerRole) -> tuple[str, str]:
    """(kind, what) of a failed activity: lost, cap, worker, unavailable, broken."""
    cause = error.cause
    if isinstance(cause, TimeoutError):
        if cause.type == TimeoutType.HEARTBEAT:
            return "lost", f"worker_{role.value}"
        if cause.type == TimeoutType.SCHEDULE_TO_START:
            return "worker", f"worker_{role.value}"
        return "cap", "cap"
    if isinstance(cause, ApplicationError) and cause.type == "OverCap":
        return "cap", "cap"
    if isinstance(cause, ApplicationError) and (cause.type or "").startswith("Unavailable:"):
        return "unavailable", state_suffix((cause.type or "").partition(":")[2])
    if isinstance(cause, ApplicationError) and not cause.non_retryable:
        return "lost", f"worker_{role.value}"
    return "broken", (cause.type if isinstance(cause, ApplicationError) else None) or type(cause).__name__


def failure_reason(error: ActivityError) -> str:
    """The message of the failure in one line."""
    cause = error.cause
    message = cause.message if isinstance(cause, ApplicationError) else type(cause).__name__
    return " ".join(str(message).split())[:300]


def state_suffix(text: str) -> str:
    """A name in the form of the last part of a state."""
    return "".join(c if c.isalnum() and c.isascii() else "_" for c in text.lower())[:40] or "dependency"


async def call_activity(
    name: str, argument: Any, result: type[Result], caps: Caps, *, summary: str, role: WorkerRole = WorkerRole.CUTTER,
    queue: str = "", seconds: float = limits.CONTROL_ACTIVITY_SECONDS, tries: int = limits.RETRIES_A_GATE + 1,
    waits: Callable[[str], None] = lambda _: None,
) -> Result:  # fmt: skip
    """Run a control activity. It is idempotent, so it is tried again after a lost worker or an outage.

    Raises DependencyUnavailable or ActivityFailed.

    `tries` is the greatest number of tries. There is a pause before each further try, and `waits` gets its reason.
    """
    failures = 0
    while True:
        try:
            payload = await workflow.execute_activity(
                name,
                argument,
                task_queue=queue or names.TASK_QUEUES[role],
                start_to_close_timeout=timedelta(seconds=seconds),
                schedule_to_start_timeout=timedelta(seconds=caps.worker_wait_seconds),
                heartbeat_timeout=timedelta(seconds=caps.heartbeat_seconds),
                retry_policy=names.ONCE,
                summary=summary,
            )
        except ActivityError as error:
            kind, what = classify_failure(error, role)
            reason = failure_reason(error)
        else:
            answer = decode_result(payload, result)
            if answer is not None:
                return answer
            kind, what = "lost", f"worker_{role.value}"
            reason = f"the answer of {name} was not a {result.__name__}"
        if kind == "worker":
            raise DependencyUnavailable(what, reason)
        failures += 1
        # Only its own number of tries bounds a control activity.
        delays = lost_worker_delays(caps) if kind == "lost" else caps.retry_delays_seconds
        budget = RetryBudget(max_attempts=tries, max_failures=tries, delays_seconds=delays)
        again = decide(attempts=failures, failures=failures, budget=budget, terminal=kind == "broken")
        if isinstance(again, Denied):
            if again.code is Denial.TERMINAL:
                raise ActivityFailed(what, reason)
            raise DependencyUnavailable(what, f"{again.code}: {reason}")
        pause = again.seconds(workflow.random().random())
        waits(f"{name}: {what} is unavailable, try {failures + 1} in {pause:.0f} s ({reason})")
        await workflow.sleep(timedelta(seconds=pause), summary=f"{name}: {what} is unavailable, try {failures + 1}")


async def judge_order(run_id: str, kb_id: str, summary: str) -> JudgeResult:
    """The recorded verdict on an order for either sovereign gate. Raises DependencyUnavailable or ActivityFailed."""
    for gate in Sovereign:
        judged = JudgeInput(run_id=run_id, gate=gate.value, kb_id=kb_id)
        verdict = await call_activity("judge_approval", judged, JudgeResult, Caps(), summary=summary)
        if verdict.code != "gate_mismatch":
            break
    return verdict


def lost_worker_delays(caps: Caps) -> tuple[float, ...]:
    """The pauses after attempts that died with their worker. None is longer than the pause of a retry."""
    longest = max(caps.retry_delays_seconds)
    # A fault that fails every attempt at once would otherwise use up all tries within a second.
    return tuple(min(seconds, longest) for seconds in (1, 2, 5, 10))
