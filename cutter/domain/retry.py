"""Pure: whether what failed is tried again, and after how long (seed 002 AG-ORCH-03, 003 §6)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from math import inf

from cutter import limits
from cutter.errors import ProgrammingError


class Denial(StrEnum):
    """Why there is no further try. The first two end a request as failed; a person's resume renews the budget."""

    MAX_ATTEMPTS = "max_attempts_exhausted"
    MAX_FAILURES = "max_failures_exhausted"
    TERMINAL = "terminal"


@dataclass(frozen=True, slots=True, kw_only=True)
class RetryBudget:
    """What may be spent. `max_attempts` bounds the tries of one thing, the first one included; `max_failures` the
    failures of all things together. `left_seconds` is the time that the caps leave.
    """

    max_attempts: int
    max_failures: int
    delays_seconds: Sequence[float]
    left_seconds: float = inf


@dataclass(frozen=True, slots=True, kw_only=True)
class RetryAfter:
    """It is tried again after a time between these two bounds."""

    shortest_seconds: float
    longest_seconds: float

    def seconds(self, chance: float) -> float:
        """The time for a chance in [0, 1), so that many who failed together do not come back together."""
        return self.shortest_seconds + chance * (self.longest_seconds - self.shortest_seconds)


@dataclass(frozen=True, slots=True, kw_only=True)
class Denied:
    """It is not tried again."""

    code: Denial


def decide(*, attempts: int, failures: int, budget: RetryBudget, terminal: bool = False) -> RetryAfter | Denied:
    """The decision after a failure, which is counted in both: the n-th try of this thing, the m-th failure of all.

    `terminal`: no retry helps, or nothing may be tried any more. The n-th failed try is followed by the n-th delay,
    the last one again and again, jittered, cut to the time that is left, but never to less than a second.
    """
    if attempts < 1 or failures < 1:
        raise ProgrammingError(f"{attempts} attempts and {failures} failures: a retry follows a failure")
    if terminal:
        return Denied(code=Denial.TERMINAL)
    if attempts >= budget.max_attempts:
        return Denied(code=Denial.MAX_ATTEMPTS)
    if failures > budget.max_failures:
        return Denied(code=Denial.MAX_FAILURES)
    delay = budget.delays_seconds[min(attempts, len(budget.delays_seconds)) - 1]
    spread = delay * limits.RETRY_JITTER_PERCENT / 100
    most = max(1.0, budget.left_seconds)
    return RetryAfter(shortest_seconds=min(delay - spread, most), longest_seconds=min(delay + spread, most))
