"""Pure: how long a wait pauses between two looks, so that looking does not slow down what the test waits for."""

from __future__ import annotations

PAUSE_MIN_SECONDS, PAUSE_MAX_SECONDS = 0.05, 0.25
PAUSE_SHARE = 4
"""A pause is so many times as long as the look before it: a look at a run in a new connection costs 20 ms of CPU."""


def pause(looked: float) -> float:
    """The seconds until the next look, after one that took `looked` seconds."""
    return min(max(PAUSE_MIN_SECONDS, PAUSE_SHARE * looked), PAUSE_MAX_SECONDS)
