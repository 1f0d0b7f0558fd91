"""Pure: the code by which the specification calls a stop (seed 000 §6 and §8)."""

from __future__ import annotations

DRIFT = "stopped_drift_"
OVER_A_CAP = ("stopped_soft_cap_", "stopped_hard_cap")


def stop_code(state: str) -> str | None:
    """STOP_DRIFT_<dimension> or STOP_AND_ESCALATE for a state that the specification names so. None for every other
    state.
    """
    if state.startswith(DRIFT):
        return f"STOP_DRIFT_{state.removeprefix(DRIFT)}"
    return "STOP_AND_ESCALATE" if state.startswith(OVER_A_CAP) else None
