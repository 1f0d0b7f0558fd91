"""AG-ORCH-03: a retry is decided by attempts, failures and a budget alone: after how long, or why not."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cutter import limits
from cutter.catalogue import GATES
from cutter.domain.retry import Denial, Denied, RetryAfter, RetryBudget, decide
from cutter.errors import ProgrammingError
from cutter.lifecycle.views import Began, Change, Moved, RunFacts, Tried, request_status
from cutter.lifecycle.views import after as facts_after

GATE = RetryBudget(
    max_attempts=limits.RETRIES_A_GATE + 1, max_failures=limits.FAILURE_BUDGET_A_RUN,
    delays_seconds=limits.RETRY_DELAYS_SECONDS,
)  # fmt: skip
"""What a gate of a document run has."""


def after(shortest: float, longest: float) -> RetryAfter:
    return RetryAfter(shortest_seconds=shortest, longest_seconds=longest)


@pytest.mark.parametrize(
    ("attempts", "failures", "terminal", "decision"),
    [
        (1, 1, False, after(4, 6)),
        (2, 2, False, after(24, 36)),
        (3, 3, False, after(96, 144)),
        (4, 4, False, after(480, 720)),
        (5, 5, False, Denied(code=Denial.MAX_ATTEMPTS)),
        (6, 6, False, Denied(code=Denial.MAX_ATTEMPTS)),
        (1, 6, False, after(4, 6)),
        (1, 7, False, Denied(code=Denial.MAX_FAILURES)),
        (5, 7, False, Denied(code=Denial.MAX_ATTEMPTS)),
        (1, 1, True, Denied(code=Denial.TERMINAL)),
        (5, 7, True, Denied(code=Denial.TERMINAL)),
    ],
)
def test_the_decision_matrix(attempts: int, failures: int, terminal: bool, decision: RetryAfter | Denied) -> None:
    """Seeds 002 "Retry and Failure Budget Policy", 003 §6.2."""
    assert decide(attempts=attempts, failures=failures, budget=GATE, terminal=terminal) == decision


GATE_ONE = GATES[0].name
RUNNING = facts_after(RunFacts(), Began(gate=GATE_ONE, attempt=1))
STOPPED = Moved(to="stopped_unavailable_database")


@pytest.mark.parametrize(
    ("attempts", "failures", "code", "recorded", "becomes"),
    [
        pytest.param(1, 1, None, Tried(gate=GATE_ONE, attempt=1, outcome="unavailable", again=True), "awaiting_tool",
                     id="within budget"),
        pytest.param(5, 5, Denial.MAX_ATTEMPTS, STOPPED, "failed", id="max_attempts exhausted"),
        pytest.param(1, 7, Denial.MAX_FAILURES, STOPPED, "failed", id="max_failures exhausted"),
    ],
)  # fmt: skip
def test_the_retry_decision_matrix_leads_to_the_seed_s_states(
    attempts: int, failures: int, code: Denial | None, recorded: Change, becomes: str
) -> None:
    """Seed 002 "Retry Decision Matrix": the decision, and what the request is once it is recorded.

    Seed 002 "Retry and Failure Budget Policy".
    """
    decision = decide(attempts=attempts, failures=failures, budget=GATE)
    assert getattr(decision, "code", None) is code
    assert request_status(facts_after(RUNNING, recorded)) == becomes


@pytest.mark.parametrize("later", [Began(gate=GATE_ONE, attempt=2), Moved(to="stopped_stop")])
def test_a_request_whose_retries_ran_out_stays_failed_whatever_is_tried(later: Change) -> None:
    """Seed 002 "Retry Decision Matrix", its last row; a person's resume is another request.

    Seed 002 "Retry and Failure Budget Policy".
    """
    assert decide(attempts=1, failures=1, budget=GATE, terminal=True) == Denied(code=Denial.TERMINAL)
    failed = facts_after(RUNNING, STOPPED)
    assert request_status(facts_after(failed, later)) == "failed"
    resumed = facts_after(failed, Moved(to="pending"))
    assert (request_status(resumed), resumed.request) == ("queued", failed.request + 1)


def test_the_reason_codes_are_the_seed_s() -> None:
    """Seed 002 "Retry and Failure Budget Policy"."""
    assert [code.value for code in Denial] == ["max_attempts_exhausted", "max_failures_exhausted", "terminal"]


@pytest.mark.parametrize(("left", "bounds"), [(5.0, (4, 5)), (3.0, (3, 3)), (0.2, (1, 1)), (-9.0, (1, 1))])
def test_a_delay_is_cut_to_what_the_caps_leave_and_never_to_nothing(left: float, bounds: tuple[float, float]) -> None:
    """Seed 003 §6.2."""
    budget = RetryBudget(max_attempts=5, max_failures=6, delays_seconds=(5,), left_seconds=left)
    assert decide(attempts=1, failures=1, budget=budget) == after(*bounds)


def test_the_last_delay_is_used_again_and_again() -> None:
    budget = RetryBudget(max_attempts=9, max_failures=9, delays_seconds=(1, 10))
    assert [decide(attempts=n, failures=n, budget=budget) for n in (1, 2, 3, 8)] == [
        after(0.8, 1.2),
        *[after(8, 12)] * 3,
    ]


@pytest.mark.parametrize(("attempts", "failures"), [(0, 1), (1, 0), (-1, 1)])
def test_a_retry_without_a_failure_is_a_mistake_of_ours(attempts: int, failures: int) -> None:
    with pytest.raises(ProgrammingError, match="a retry follows a failure"):
        decide(attempts=attempts, failures=failures, budget=GATE)


@given(
    st.integers(1, 99), st.integers(1, 99), st.lists(st.floats(0.1, 600), min_size=1, max_size=4), st.floats(-10, 1e6),
    st.floats(0, 1, exclude_max=True),
)  # fmt: skip
def test_a_delay_is_bounded_and_jittered_within_its_share(
    attempts: int, failures: int, delays: list[float], left: float, chance: float
) -> None:
    """Seeds 002 "Retry and Failure Budget Policy", 003 §6.2."""
    budget = RetryBudget(max_attempts=100, max_failures=99, delays_seconds=delays, left_seconds=left)
    decision = decide(attempts=attempts, failures=failures, budget=budget)
    assert isinstance(decision, RetryAfter)
    wait, base = decision.seconds(chance), delays[min(attempts, len(delays)) - 1]
    share = limits.RETRY_JITTER_PERCENT / 100
    assert decision.shortest_seconds <= wait <= decision.longest_seconds <= max(1.0, left)
    assert wait <= base * (1 + share) * (1 + 1e-9)
    assert wait >= min(base * (1 - share), max(1.0, left)) * (1 - 1e-9)
    assert decide(attempts=attempts, failures=failures, budget=budget) == decision
