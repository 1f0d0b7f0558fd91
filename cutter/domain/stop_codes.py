"""Pure: the code by which the specification calls a stop (seed 000 §6 and §8)."""

from __future__ import annotations

from cutter.domain.run_state import RunState


def stop_code(state: str) -> str | None:
    """STOP_DRIFT_<dimension> or STOP_AND_ESCALATE, or None if the specification gives the state no code."""
    run = RunState(state)
    if run.drifted:
        return f"STOP_DRIFT_{run.reason.removeprefix('drift_')}"
    return "STOP_AND_ESCALATE" if run.over_cap else None
