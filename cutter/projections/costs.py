"""Pure: what a run has cost, phase by phase, as far as it is on record (seed 003 §8, "cost rollups").

Whole milliseconds, bytes, rows and counts. No provider or model is called by a run, so there is nothing to pay for but
time: `wall` is from the end of the phase before (or the run's beginning) to its own, `active` the time of its attempts,
`waiting` the rest: people, lanes, backoff, the queue. `cpu` is that of the worker's thread where a receipt has it, and
not of PostgreSQL or of programs that were started.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta

from cutter.catalogue import GATES
from cutter.domain import recorded_values
from cutter.types import Json

ROWS = {"cut_leg_a": "units_created", "lifecycle_enact": "units_enacted"}
"""Pins that count what a phase wrote into the law's own tables."""

SUMMED = ("wall_ms", "active_ms", "waiting_ms", "cpu_ms", "attempts", "actions", "bytes", "rows")


def rollup(facts: Json) -> Json:
    """Costs of the phases that were entered and of the run; `facts` is what `fn_run_evidence` answers."""
    receipts = {one["gate"]: one for one in facts["receipts"]}
    began = facts["run"]["created_at"]
    phases = []
    for gate in GATES:
        attempts = [one for one in facts["attempts"] if one["gate"] == gate.name]
        receipt = receipts.get(gate.name)
        if attempts or receipt:
            places = {gate.name, gate.sovereign.value if gate.sovereign else None}
            actions = [one for one in facts["actions"] if one["gate"] in places]
            phases.append(_phase(gate.phase, began, receipt, attempts, actions))
        began = receipt["sealed_at"] if receipt else began
    total = {name: sum(phase[name] or 0 for phase in phases) for name in SUMMED}
    return {"phases": phases, "total": total, "providers": []}


def _phase(name: str, began: str, receipt: Json | None, attempts: list[Json], actions: Iterable[Json]) -> Json:
    actions = list(actions)
    ends = [one["finished_at"] for one in attempts if one["finished_at"]]
    end = receipt["sealed_at"] if receipt else max(ends, default=None)
    result = (
        recorded_values.report(recorded_values.parsed(receipt["sealed_body"]).get("result")) or {} if receipt else {}
    )
    wall = _between(began, end) if end else 0
    active = sum(_between(one["started_at"], one["finished_at"]) for one in attempts if one["finished_at"])
    return {
        "phase": name,
        "wall_ms": wall,
        "active_ms": active,
        "waiting_ms": max(wall - active, 0),
        "cpu_ms": recorded_values.count(result["cpu_ms"]) if "cpu_ms" in result else None,
        "attempts": len(attempts),
        "actions": len(actions),
        "bytes": sum(
            recorded_values.count(recorded_values.mapping(one["response_metadata"]).get("size_bytes"))
            for one in actions
        ),
        "rows": recorded_values.count(result.get("pins", {}).get(ROWS.get(name), 0)),
    }


def _between(start: str, end: str) -> int:
    return round((datetime.fromisoformat(end) - datetime.fromisoformat(start)) / timedelta(milliseconds=1))
