"""IO: simulates the validation, nights and days with the newest measured costs, and writes what came out.

python -m benchmarks.scale_forecast
"""

from __future__ import annotations

import argparse
import json
import statistics
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from benchmarks.result_file import RESULTS
from benchmarks.scale_calibration import costs_of, demands, deployment, measured_load, one_host
from benchmarks.scale_simulation import Costs, Deployment, Load, Result, simulate
from cutter import limits
from cutter.types import Json

HOSTS = (1, 4, 16)
CORES = (2, 8)
"""Processor cores of a host: as the machine that was measured, and a larger one."""
PEOPLE = ((1, 30.0), (4, 30.0), (4, 120.0), (16, 120.0))
"""People who sign by day, and the seconds that each of them needs for a document."""
WORKERS_OF_200 = 2
"""Workers of each role for which a server with 200 connections has room."""
NIGHT, BATCHES = 10_000, 10
"""Documents of a night, and the batches that share them. Each batch has its own planning lanes."""


def validation(costs: Costs, records: list[Json], cores: int) -> Iterator[Json]:
    """Measured batches next to the same batches in the simulation, by the number of workers of each role."""
    for workers in sorted({int(record["workers"]) for record in records}):
        measured = [record for record in records if record["workers"] == workers]
        # The measured seconds have no signing in them.
        result = simulate(replace(costs, sign=0.0), one_host(cores, workers), measured_load(measured[0]))
        yield {
            "kind": "validation", "workers": workers, "documents": measured[0]["documents"], "n": len(measured),
            "measured": [record["per_minute"] for record in measured],
            "measured_phases": {
                name: round(statistics.mean(record["phases_seconds"][name] for record in measured), 1)
                for name in ("plan", "write", "enact")
            },
            "measured_busy": [record["lane_busy"] for record in measured], **_outcome(result),
        }  # fmt: skip


def night(
    costs: Costs, hosts: int, cores: int, documents: int, *, postgres_cores: int | None = None, few: bool = False
) -> Json:
    """A part of a night of 10,000 documents, all signed before. With `few`, there are two workers of each role."""
    lanes = limits.OVERNIGHT_LANES
    most = {"workers": WORKERS_OF_200} if few else {}
    place = replace(deployment(costs, hosts, cores, **most), postgres_cores=postgres_cores)
    load = Load(documents=documents, batches=BATCHES, lanes=lanes, listed=NIGHT // BATCHES)
    return {
        "kind": "night", "hosts": hosts, "cores": cores, "postgres_cores": postgres_cores or cores, "lanes": lanes,
        "simulated": documents, "places": _places(place), **_outcome(simulate(costs, place, load)),
    }  # fmt: skip


def day(costs: Costs, people: int, reading: float, cores: int, documents: int) -> Json:
    """A batch by day, on four hosts: people sign each gate as soon as all documents ask."""
    load = Load(documents=documents, people=people, reading=reading * 1000)
    result = simulate(costs, deployment(costs, 4, cores), load)
    return {"kind": "day", "people": people, "reading": reading, "simulated": documents, **_outcome(result)}


def _places(place: Deployment) -> dict[str, int]:
    """Processes of each part."""
    return {"temporal": len(place.temporal), "cutter": len(place.cutter), "exec": len(place.exec),
            "verify": len(place.verify)}  # fmt: skip


def _outcome(result: Result) -> Json:
    used = sorted(result.utilisation.items(), key=lambda item: -item[1])
    waits = sorted(result.waits.items(), key=lambda item: -item[1])
    return {
        "per_minute": round(result.per_minute, 1), "bottleneck": result.bottleneck,
        "utilisation": {name: round(share, 3) for name, share in used},
        "waits_ms": {name: round(ms) for name, ms in waits if ms >= 1},
        "phases": {name: round(ms / 1000, 1) for name, ms in result.phases.items()},
        "lane_busy": result.busy_lanes,
    }  # fmt: skip


def forecast(records: list[Json], documents: int) -> Iterator[Json]:
    """All simulations, the validation first."""
    machine = records[0]
    measured = next(record for record in records if record["kind"] == "costs")
    checked = [record for record in records if record["kind"] == "validation"]
    costs = costs_of(measured, [record for record in records if record["kind"] == "look"])
    yield {"kind": "costs", "demands_ms": {name: round(ms, 1) for name, ms in demands(costs).items()},
           "sign_ms": round(costs.sign, 1), "held_ms": _held(costs), "turn_ms": _turn(costs),
           "look_item_ms": round(costs.look_item, 3)}  # fmt: skip
    yield from validation(costs, checked, machine["cpus"])
    for cores in CORES:
        for hosts in HOSTS:
            yield night(costs, hosts, cores, documents)
    yield night(costs, max(HOSTS), CORES[0], documents, postgres_cores=CORES[1])
    yield night(costs, max(HOSTS), CORES[1], documents, few=True)
    for people, reading in PEOPLE:
        yield day(costs, people, reading, CORES[0], limits.QUEUE_ITEMS_DEFAULT)


def _held(costs: Costs) -> dict[str, float]:
    """The milliseconds for which a document that never waits holds each lane."""
    return {lane: round(sum(step.service * step.inside for step in costs.steps if step.lane == lane), 1)
            for lane in ("write", "enact")}  # fmt: skip


def _turn(costs: Costs) -> float:
    return round(costs.turn_python + costs.turn_temporal + costs.turn_rest, 1)


def main() -> None:
    """Simulate, print, write JSON lines."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n", 1)[0])
    parser.add_argument("--input", type=Path, default=RESULTS / "scale.jsonl")
    parser.add_argument("--output", type=Path, default=RESULTS / "scale-forecast.jsonl")
    parser.add_argument("--documents", type=int, default=600, help="documents of each simulated night")
    chosen = parser.parse_args()
    records = [json.loads(line) for line in chosen.input.read_text(encoding="utf-8").splitlines()]
    rows = []
    for row in forecast(records, chosen.documents):
        rows.append(row)
        print({name: value for name, value in row.items() if name not in ("waits_ms", "utilisation")}, flush=True)
    chosen.output.write_text("".join(json.dumps(each) + "\n" for each in rows), encoding="utf-8")


if __name__ == "__main__":
    main()
