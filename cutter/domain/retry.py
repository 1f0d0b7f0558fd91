"""Pure: decides whether a failed thing is tried again, and after how long (seed 002 AG-ORCH-03, 003 §6)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from math import inf

from cutter import limits
from cutter.errors import ProgrammingError


class Denial(StrEnum):
    """The reasons for no further try. The first two end a request as failed. A person's resume renews the budget."""

    MAX_ATTEMPTS = "max_attempts_exhausted"
    MAX_FAILURES = "max_failures_exhausted"
    TERMINAL = "terminal"


@dataclass(frozen=True, slots=True, kw_only=True)
class RetryBudget:
    """The allowed tries of one thing (`max_attempts`), failures of all things, and the time that the caps leave."""

    max_attempts: int
    max_failures: int
    delays_seconds: Sequence[float]
    left_seconds: float = inf


@dataclass(frozen=True, slots=True, kw_only=True)
class RetryAfter:
    """There is another try, after a time between these two bounds."""

    shortest_seconds: float
    longest_seconds: float

    def seconds(self, chance: float) -> float:
        """The pause for a random number in [0, 1), so that things that failed together are not tried again together."""
        return self.shortest_seconds + chance * (self.longest_seconds - self.shortest_seconds)


@dataclass(frozen=True, slots=True, kw_only=True)
class Denied:
    """There is no further try."""

    code: Denial


def decide(*, attempts: int, failures: int, budget: RetryBudget, terminal: bool = False) -> RetryAfter | Denied:
    """The decision after the n-th failed try of this thing, which is the m-th failure of all things.

    `terminal` says that nothing may be tried any more. The n-th delay follows the n-th failed try, and the last delay
    follows all later ones. A random part is added. A delay is never longer than the time that is left, but at least a
    second.
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
