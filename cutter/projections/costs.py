"""Pure: the recorded costs of a run, phase by phase (seed 003 §8, "cost rollups").

Costs are whole milliseconds, bytes, rows and counts. A run calls no provider and no model, so its only cost is time:

- `wall` is from the end of the previous phase, or from the beginning of the run, to the end of this phase.
- `active` is the time of the attempts.
- `waiting` is the rest: waiting for people, lanes, retries and queues.
- `cpu` is the time of the worker's thread, if a receipt has it. It excludes PostgreSQL and started programs.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from cutter.catalogue import GATES
from cutter.domain import recorded_values
from cutter.types import Json

ROWS = {"cut_leg_a": "units_created", "lifecycle_enact": "units_enacted"}
"""For each phase, the pin that counts its rows in the tables of the law."""

SUMMED = ("wall_ms", "active_ms", "waiting_ms", "cpu_ms", "attempts", "actions", "bytes", "rows")


def rollup(facts: Json) -> Json:
    """The costs of each phase that began, and of the run. `facts` is the answer of `fn_run_evidence`.

    `cpu_ms` is None if it is unknown.
    """
    receipts = {row["gate"]: row for row in facts["receipts"]}
    began = facts["run"]["created_at"]
    phases: list[Json] = []
    for gate in GATES:
        attempts = [attempt for attempt in facts["attempts"] if attempt["gate"] == gate.name]
        receipt = receipts.get(gate.name)
        if attempts or receipt:
            places = {gate.name, gate.sovereign.value if gate.sovereign else None}
            answers = [
                recorded_values.mapping(action["response_metadata"])
                for action in facts["actions"]
                if action["gate"] in places
            ]
            ended = [(attempt["started_at"], attempt["finished_at"]) for attempt in attempts if attempt["finished_at"]]
            end = receipt["sealed_at"] if receipt else max((finished for _, finished in ended), default=None)
            sealed = recorded_values.parsed(receipt["sealed_body"]) if receipt else {}
            result = recorded_values.report(sealed.get("result")) or {}
            wall = _between(began, end) if end else 0
            active = sum(_between(started, finished) for started, finished in ended)
            phases.append(
                {
                    "phase": gate.phase,
                    "wall_ms": wall,
                    "active_ms": active,
                    "waiting_ms": max(wall - active, 0),
                    "cpu_ms": recorded_values.count(result["cpu_ms"]) if "cpu_ms" in result else None,
                    "attempts": len(attempts),
                    "actions": len(answers),
                    "bytes": sum(recorded_values.count(answer.get("size_bytes")) for answer in answers),
                    "rows": recorded_values.count(result.get("pins", {}).get(ROWS.get(gate.phase), 0)),
                }
            )
        began = receipt["sealed_at"] if receipt else began
    total = {name: sum(phase[name] or 0 for phase in phases) for name in SUMMED}
    return {"phases": phases, "total": total, "providers": []}


def _between(start: str, end: str) -> int:
    return round((datetime.fromisoformat(end) - datetime.fromisoformat(start)) / timedelta(milliseconds=1))
