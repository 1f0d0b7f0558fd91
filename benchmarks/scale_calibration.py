"""Pure: what the simulation needs, from the records of `benchmarks.scale`, and the places of all parts on hosts."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

from benchmarks.scale_simulation import WORKER_ROLES, Costs, Deployment, Load, Step
from cutter.types import Json

LANES: dict[str, Literal["", "write", "enact"]] = {
    "IG_cut_leg_a_execute": "write",
    "IG_lifecycle_enact_execute": "enact",
}
"""The gates that hold a lane, as in the table of gates of the database."""
INSIDE_MAX = 0.95
"""The largest share of a step inside its transaction. Registering the attempt is always outside."""
GIVEN_SIGNALS = 2
"""Turns of a workflow that an approval begins, in addition to those after its steps."""
LOOK_MS = 0.2 * 1000
"""The pause between two looks of the client of a measured batch, which waits until all documents ask."""


def costs_of(record: Json, looks: Sequence[Json] = ()) -> Costs:
    """The costs of a document.

    The time of a step is that of a document that runs alone. The processor time is that of the same function without
    the engine. The rest of the processor time of a batch is spread: of the cutter worker over the turns of workflows,
    of the other workers over their steps, of PostgreSQL and Temporal over all turns.
    """
    batch = record["batch"]
    spent = {name: _without_idle(record, name) for name in batch["cpu_ms"]}
    raw = [_step(step, _shares(record)) for step in record["steps"]]
    backup = next(step for step in record["steps"] if step["name"] == "IG_backup")
    fresh = 1 / batch["documents"]
    turns = len(raw) + 1 + GIVEN_SIGNALS
    spent["postgres"] -= backup["postgres_ms"] * fresh
    spent["cutter"] -= backup["python_ms"] * fresh
    steps, turn_python = _with_workers(raw, spent, turns)
    steps, background = _with_postgres(steps, spent["postgres"], turns)
    services = [step["shared_ms"] if step["name"] == "IG_backup" else step["service_ms"] for step in record["steps"]]
    steps = [
        replace(step, rest=max(0.0, service - step.service)) for step, service in zip(steps, services, strict=True)
    ]
    gap = statistics.median(step["turn_ms"] for step in record["steps"] if step["turn_ms"] is not None)
    gap += statistics.median(step["queue_ms"] for step in record["steps"])
    temporal = spent["temporal"] / turns
    awaited = min(temporal, max(0.0, gap - turn_python))
    plan, write, enact = _phases(steps)
    look, look_item = _look(looks)
    verdict = next(step for step in steps if step.name == "judge_approval")
    return Costs(
        plan=plan, write=write, enact=enact, new_backup=_new_backup(backup),
        turn_python=turn_python, turn_temporal=awaited, turn_rest=max(0.0, gap - turn_python - awaited),
        engine=temporal - awaited, background=background,
        judge=verdict.part(batch["judge_set_ms"] / verdict.service), look=look, look_item=look_item,
        sign=batch["people_seconds"] * 1000 / batch["documents"] / 2,
    )  # fmt: skip


def _without_idle(record: Json, name: str) -> float:
    """Processor milliseconds of a document, without what the process uses while nothing happens."""
    batch = record["batch"]
    idle = float(record["idle_cores"][name]) * (batch["seconds"] + batch["people_seconds"]) * 1000
    used: float = batch["cpu_ms"][name] - idle / batch["documents"]
    return max(0.0, used)


def _shares(record: Json) -> tuple[float, float]:
    """The shares of Python and PostgreSQL in the time of those steps of which both are known."""
    known = [step for step in record["steps"] if step["python_ms"] is not None and step["name"] != "IG_backup"]
    total = sum(step["service_ms"] for step in known)
    return sum(step["python_ms"] for step in known) / total, sum(step["postgres_ms"] for step in known) / total


def _step(record: Json, shares: tuple[float, float]) -> Step:
    """A step with its processor time without the engine. What was not measured takes the usual shares of its time."""
    service: float = record["shared_ms"] if "shared_ms" in record else record["service_ms"]
    known = record["python_ms"] is not None and "shared_ms" not in record
    python, postgres = (
        (record["python_ms"], record["postgres_ms"]) if known else (service * shares[0], service * shares[1])
    )
    inside = min(INSIDE_MAX, record["hold_ms"] / service) if service else 0.0
    return Step(name=record["name"], worker=record["worker"], python=python, postgres=postgres, inside=inside,
                lane=LANES.get(record["name"], ""))  # fmt: skip


def _with_workers(steps: list[Step], spent: dict[str, float], turns: int) -> tuple[list[Step], float]:
    """The steps with the processor time that the workers used in a batch, and the cutter worker's time of a turn."""
    turn_python, charged = 0.0, steps
    for role in WORKER_ROLES:
        mine = [step for step in charged if step.worker == role]
        programs, known = spent[f"{role} programs"], sum(step.python for step in mine)
        total = spent[role] + programs
        factor, more = min(1.0, total / known), max(0.0, total - known)
        if role == "cutter":
            turn_python, more = more / turns, 0.0
        share = programs / total if total else 0.0
        charged = [
            _divided(step, step.python * factor + more / len(mine), share) if step.worker == role else step
            for step in charged
        ]
    return charged, turn_python


def _divided(step: Step, processor: float, programs: float) -> Step:
    return replace(step, python=processor * (1 - programs), programs=processor * programs)


def _with_postgres(steps: list[Step], total: float, turns: int) -> tuple[list[Step], float]:
    """The steps with the processor time that PostgreSQL used in a batch, and what nobody waited for in each turn."""
    known = sum(step.postgres for step in steps)
    factor = min(1.0, total / known)
    return [replace(step, postgres=step.postgres * factor) for step in steps], max(0.0, total - known) / turns


def _phases(steps: Sequence[Step]) -> tuple[tuple[Step, ...], tuple[Step, ...], tuple[Step, ...]]:
    """The steps until the first request, until the second one, and to the end."""
    first, second = (place + 1 for place, step in enumerate(steps) if step.name == "open_request")
    return tuple(steps[:first]), tuple(steps[first:second]), tuple(steps[second:])


def _new_backup(backup: Json) -> Step:
    rest = backup["service_ms"] - backup["shared_ms"] - backup["python_ms"] - backup["postgres_ms"]
    return Step(name="new backup", python=backup["python_ms"], postgres=backup["postgres_ms"], rest=max(0.0, rest))


def _look(looks: Sequence[Json]) -> tuple[float, float]:
    """The milliseconds of a look, and those that each document of the batch adds, by a line through all looks."""
    if len({look["documents"] for look in looks}) < 2:
        return 0.0, 0.0
    item, base = statistics.linear_regression([look["documents"] for look in looks], [look["ms"] for look in looks])
    return max(0.0, base), max(0.0, item)


def measured_load(record: Json) -> Load:
    """The load of a measured batch. The time of the people who signed is not counted, so here they need none."""
    return Load(documents=record["documents"], people=record["documents"], hand_over=LOOK_MS / 2)


def one_host(cores: int, workers: int = 1) -> Deployment:
    """Everything on one host, with so many workers of each role."""
    own = (0,) * workers
    return Deployment(cores=cores, cutter=own, exec=own, verify=own)


def deployment(costs: Costs, hosts: int, cores: int, workers: int = 1_000) -> Deployment:
    """The places of all parts on so many hosts. From four hosts on, PostgreSQL, Temporal, the exec workers, and the
    cutter workers with the verify workers each have hosts of their own. Each further host goes where the processors are
    busiest. A host has a cutter worker or an exec worker for each core, and one verify worker. There are at most
    `workers` workers of each role.
    """
    if hosts < 4:
        return one_host(cores)
    demand = demands(costs)
    wanted = {"temporal": demand["temporal"], "exec": demand["exec"], "cutter": demand["cutter"] + demand["verify"]}
    given = dict.fromkeys(wanted, 1)
    for _ in range(hosts - 4):
        given[max(wanted, key=lambda name: wanted[name] / given[name])] += 1
    numbers = iter(range(1, hosts))
    places = {name: tuple(next(numbers) for _ in range(count)) for name, count in given.items()}
    cutter, executing = (tuple(host for host in places[name] for _ in range(cores)) for name in ("cutter", "exec"))
    return Deployment(cores=cores, postgres=0, temporal=places["temporal"], cutter=cutter[:workers],
                      exec=executing[:workers], verify=places["cutter"][:workers])  # fmt: skip


def demands(costs: Costs) -> dict[str, float]:
    """Processor milliseconds of a document by part."""
    turns = len(costs.steps) + 1 + GIVEN_SIGNALS
    spent = {
        role: sum(step.python + step.programs for step in costs.steps if step.worker == role) for role in WORKER_ROLES
    }
    spent["cutter"] += costs.turn_python * turns
    spent["temporal"] = (costs.turn_temporal + costs.engine) * turns
    spent["postgres"] = sum(step.postgres for step in costs.steps) + costs.background * turns
    return spent
