"""IO: the pace of this machine: how long a test may take here, and how long a wait pauses between two looks."""

from __future__ import annotations

import os
from time import perf_counter

PAUSE_MIN_SECONDS, PAUSE_MAX_SECONDS = 0.05, 0.25
PAUSE_SHARE = 4
"""A pause is so many times as long as the look before it: a look at a run in a new connection costs 20 ms of CPU."""

ROUNDS, STEPS, ROUND_SECONDS = 10, 400_000, 0.045
"""The work that measures the machine, and the seconds of one round on a free core of the slowest machine on which the
suite is known to pass within its limits.
"""


def _slowness() -> float:
    """How many times longer than on that free core the work takes here and now. At least 1."""
    began = perf_counter()
    for _ in range(ROUNDS):
        total = 0
        for number in range(STEPS):
            total += number * number % 7
    return max(1.0, (perf_counter() - began) / (ROUNDS * ROUND_SECONDS))


SLOWNESS = float(os.environ.setdefault("TESTS_SLOWNESS", f"{_slowness():.2f}"))
"""The limits of tests and waits are so many times longer here. The processes of one suite share the measured value."""


def patient(seconds: float) -> float:
    """The seconds that a wait may take here, of those that suffice on a free machine."""
    return seconds * SLOWNESS


def pause(looked: float) -> float:
    """The seconds until the next look, after one that took `looked` seconds."""
    return min(max(PAUSE_MIN_SECONDS, PAUSE_SHARE * looked), PAUSE_MAX_SECONDS)
