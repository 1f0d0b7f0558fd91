"""IO: docs/concepts/scale.md from the newest results: every figure comes from a file that a benchmark wrote.

python -m benchmarks.scale_page
"""

from __future__ import annotations

import json
import math
import statistics
from collections.abc import Iterator
from itertools import groupby, pairwise
from pathlib import Path
from textwrap import wrap

from benchmarks.result_file import RESULTS
from benchmarks.scale_forecast import BATCHES, NIGHT, WORKERS_OF_200
from cutter import limits
from cutter.catalogue import Role
from cutter.storage.pools import PERCENT_OF_CONNECTIONS
from cutter.types import Json
from worker import SLOTS

PAGE = Path(__file__).resolve().parents[1] / "docs" / "concepts" / "scale.md"

YEAR = 1_000_000
NIGHTS = 365
WINDOW_MINUTES = limits.OVERNIGHT_HARD_CAP_MINUTES
UNITS = 60
"""Units of a typical law."""
READING_SECONDS = 30
"""The time in which a person decides about a document, for the figures at the top of the page."""
SIGNATURES = 2
SHARDS = 128
"""History shards of docker-compose.temporal.yml."""
SHARD_SHARE = 0.5
"""The share of a shard's time that writes may take."""
WRITES_OF_A_TURN = 3
"""Writes of a shard between the end of an activity and the start of the next one: completed, workflow task started and
completed. The start of the next activity follows.
"""
POOL, BEAT = 4, 1
PARTS = {
    "postgres": "PostgreSQL", "temporal": "Temporal", "cutter": "cutter workers", "exec": "exec workers",
    "verify": "verify workers",
}  # fmt: skip
TEMPORARY = ("temporal", "write-ahead log")
"""What is removed after a while: histories after the retention, the log after a checkpoint unless it is archived."""
GB = 1e9
WIDTH = 118
"""Characters of a line of the page."""

ENOUGH = 0.2
"""The error of the simulation that needs no explanation."""
VALIDATION_WHY = (
    "The simulation is too fast, most of all in the enactment. Probably the runs that wait for the enact lane wake up",
    "together and try again, while the simulation gives the lane to the next one at once. Other programs also used the",
    "processors while the batches were measured, and the simulation has the machine for itself.", "",
)  # fmt: skip
"""Why the simulation differs from the newest measurement."""

LEFT_OUT = f"""
## What the model leaves out

- **The network.** Everything was measured on one machine. Between hosts, each step waits for about seven round trips to
  PostgreSQL and some to Temporal.
- **Temporal on PostgreSQL.** The local server keeps its data in SQLite. A server of your own needs a database, whose
  processor, disk and shards were not measured. Several Temporal nodes are assumed to share the work equally.
- **Memory.** A cutter worker keeps {limits.WORKFLOWS_CACHED} open runs in memory
  ([Limitations](../reference/limitations.md)).
- **Growth.** A database with much enacted law costs somewhat more. The goal is at most 1.2 times as much
  ([Performance](../internals/performance.md#growth)).
- **The disk's own limit.** A write to the disk counts as a pause of fixed length, however many wait for the disk.
- **Failures.** No document fails, no worker dies, and nobody stops a run.
- **Large laws.** Every document has the same number of units. A law of 1,000 units holds the lanes longer
  ([Performance](../internals/performance.md#one-document)), and all others wait for it.
- **Threads of a worker.** A worker's process uses one core at a time in the model. Its parts that are not Python can
  use another one.
- **Schedules.** One schedule makes one batch a night. The model begins ten batches of 1,000 documents at the same
  time. So it needs ten schedules or ten commands, and `CUTTER_BATCH_ITEMS_MAX=1000`.
"""


def read(name: str) -> list[Json]:
    """The records of one result file."""
    return [json.loads(line) for line in (RESULTS / name).read_text(encoding="utf-8").splitlines()]


def of_kind(records: list[Json], kind: str) -> list[Json]:
    """The records of one kind, in their order."""
    return [record for record in records if record["kind"] == kind]


# --- derived figures --------------------------------------------------------------------------------------------------


def bytes_of_a_document(disk: list[Json], units: int) -> dict[str, float]:
    """Bytes on disk of a document with so many units, from a line through the two sizes that were measured. What does
    not grow with the units is the same for every document.
    """
    small, large = sorted(disk, key=lambda record: int(record["units"]))
    slope = {name: (large["bytes"][name] - small["bytes"][name]) / (large["units"] - small["units"])
             for name in small["bytes"]}  # fmt: skip
    return {
        name: float(small["bytes"][name] + max(0.0, each) * (units - small["units"])) for name, each in slope.items()
    }


def connections(places: Json, batches: int) -> dict[Role, int]:
    """The most connections of each database role that the workers of these places may hold at once."""
    return {
        Role.READ: places["cutter"] * (POOL + BEAT) + batches,
        Role.BACKUP: places["cutter"] * (POOL + SLOTS * 3),
        Role.EXEC: places["exec"] * (POOL + BEAT + SLOTS),
        Role.VERIFY: places["verify"] * (POOL + BEAT),
    }


def max_connections(held: dict[Role, int]) -> int:
    """The `max_connections` with which the share of each role suffices, in steps of a hundred."""
    needed = max(count * 100 / PERCENT_OF_CONNECTIONS[role] for role, count in held.items())
    return math.ceil(needed / 100) * 100


def write_ms(costs: Json) -> float:
    """The longest time that one write of a shard can take, with everything else that happens between two steps."""
    turn = statistics.median(step["turn_ms"] for step in costs["steps"] if step["turn_ms"] is not None)
    queue = statistics.median(step["queue_ms"] for step in costs["steps"])
    return float((turn + queue) / WRITES_OF_A_TURN)


def shards(costs: Json, per_minute: float) -> int:
    """Shards that suffice for so many documents a minute."""
    return math.ceil(per_minute / 60 * writes(costs) * write_ms(costs) / 1000 / SHARD_SHARE)


def writes(costs: Json) -> float:
    """Shard writes of a document, with its part of the batch's own workflow: at most one for each of its events."""
    batch = costs["batch"]
    return float(costs["shard_writes"] + batch["parent_events"] / batch["documents"])


def error(record: Json) -> float:
    """How far the simulated throughput is from the measured one."""
    return float(record["per_minute"] / statistics.mean(record["measured"]) - 1)


# --- the page ---------------------------------------------------------------------------------------------------------


def head(machine: Json, forecast: list[Json]) -> list[str]:
    """What the page is for."""
    errors = max(abs(error(record)) for record in of_kind(forecast, "validation"))
    return [
        "# How large a deployment must be", "",
        "This page helps an operator to plan hosts, connections, shards, disks and signing sessions. The figures at",
        f"the top are for {NIGHT:,} documents a night, and for {YEAR:,} documents a year. A document has {UNITS}",
        "units.", "",
        "A benchmark measured what each step of a document costs. A simulation takes documents through lanes, worker",
        "slots, connections, processors and signing people with these times, and names the first bottleneck. Measured",
        f"batches differ from the simulation by at most {errors:.0%} ([Validation](#validation)).", "",
        f"Machine: {machine['cpus']} cores, {machine['machine']}, Python {machine['python']}, {machine['at']};",
        f"load {machine['load']} at the end. Other cores have another speed, so measure on yours",
        "([Measure again](#measure-again)).", "",
    ]  # fmt: skip


def summary(costs: Json, forecast: list[Json], disk: list[Json]) -> list[str]:
    """The answer in one table."""
    sizes = bytes_of_a_document(disk, UNITS)
    kept = sum(size for name, size in sizes.items() if name not in TEMPORARY)
    per_night = {"night": NIGHT, "year": YEAR / NIGHTS}
    total = sum(of_kind(forecast, "costs")[0]["demands_ms"].values()) / 1000
    rows = [
        ("documents a minute, in a window of six hours", *(f"{n / WINDOW_MINUTES:.0f}" for n in per_night.values())),
        ("processor time of a night", *(f"{n * total / 3600:.1f} core hours" for n in per_night.values())),
        ("hosts", *(_hosts(forecast, n / WINDOW_MINUTES) for n in per_night.values())),
        ("batches that run at the same time",
         *(f"{math.ceil(n / NIGHT * BATCHES)}" for n in per_night.values())),
        ("`max_connections`", *(f"{_connections_for(forecast, n / WINDOW_MINUTES)}" for n in per_night.values())),
        ("history shards, at least",
         *(f"{shards(costs, n / WINDOW_MINUTES)}" for n in per_night.values())),
        ("new bytes that stay", f"{NIGHT * kept / GB:.1f} GB a night", f"{YEAR * kept / GB:.0f} GB a year"),
        ("Temporal's histories, kept for 30 days",
         *(f"{30 * n * sizes['temporal'] / GB:.0f} GB" for n in per_night.values())),
        ("statements that people sign", f"{SIGNATURES * NIGHT:,} a night", f"{SIGNATURES * YEAR:,} a year"),
        (f"work of the people who sign, {READING_SECONDS} s a document",
         *(f"{_people_hours(forecast, n):.0f} hours a night" for n in per_night.values())),
        (f"people who sign at the same time, within {limits.PRE_BATCHED_HOURS} hours",
         *(f"{math.ceil(_people_hours(forecast, n) / limits.PRE_BATCHED_HOURS)}" for n in per_night.values())),
    ]  # fmt: skip
    return [
        f"| | {NIGHT:,} documents a night | {YEAR:,} documents a year, {YEAR / NIGHTS:,.0f} a night |",
        "| --- | --- | --- |", *(f"| {' | '.join(row)} |" for row in rows), "",
        "The hosts are those that the processors need. [Trust](trust.md) asks for one more, because the exec worker",
        f"has a host of its own. Each document needs {SIGNATURES} signed statements, one for each sovereign gate,",
        "if the approver policy asks for one person. For a night, a person signs both gates of a document after the",
        "rehearsal.",
        f"The statements are valid for {limits.PRE_BATCHED_HOURS} hours, so this work must fit into the afternoon. The",
        f"rehearsal passes the first five gates and leg A, which take {_rehearsal(costs):.0%} of the time of all",
        "steps. People are the first bottleneck of so many documents, long before the hosts.", "",
    ]  # fmt: skip


def _fits(forecast: list[Json], per_minute: float) -> Json | None:
    """The smallest simulated deployment of small hosts that is fast enough."""
    nights = sorted(of_kind(forecast, "night"), key=lambda row: (row["cores"], row["hosts"], row["postgres_cores"]))
    return next((night for night in nights if night["per_minute"] >= per_minute), None)


def _hosts(forecast: list[Json], per_minute: float) -> str:
    night = _fits(forecast, per_minute)
    if night is None:
        return "more than were simulated"
    return f"{night['hosts']} with {night['cores']} cores"


def _connections_for(forecast: list[Json], per_minute: float) -> str:
    night = _fits(forecast, per_minute)
    return "–" if night is None else f"{max_connections(connections(night['places'], BATCHES)):,}"


def _people_hours(forecast: list[Json], documents: float) -> float:
    sign = float(of_kind(forecast, "costs")[0]["sign_ms"]) / 1000
    return documents * (READING_SECONDS + SIGNATURES * sign) / 3600


def _rehearsal(costs: Json) -> float:
    """The share of a document's steps that its rehearsal passes, by their time."""
    names = [step["name"] for step in costs["steps"]]
    last = names.index("IG_cut_leg_a_execute")
    rehearsed = [step for step in costs["steps"][: last + 1] if step["name"] != "judge_approval"]
    return sum(_service(step) for step in rehearsed) / sum(_service(step) for step in costs["steps"])


def _service(step: Json) -> float:
    return float(step.get("shared_ms") or step["service_ms"])


def processors(costs: Json, forecast: list[Json]) -> list[str]:
    """The processor time of a document by part, and what follows from it."""
    record = of_kind(forecast, "costs")[0]
    demands, held = record["demands_ms"], record["held_ms"]
    most = NIGHT / WINDOW_MINUTES / 60
    lines = [
        "## Processors and lanes", "",
        f"Processor time of one document in a batch of {costs['batch']['documents']}, without what the processes use",
        "while nothing happens. The third column is the number of documents that one core serves in a minute:", "",
        "| part | ms a document | a core's documents a minute | cores for 10,000 in six hours |",
        "| --- | --- | --- | --- |",
    ]  # fmt: skip
    for name, part in PARTS.items():
        ms = demands[name]
        lines.append(f"| {part} | {ms:.0f} | {60_000 / ms:.0f} | {most * ms / 1000:.2f} |")
    lines += [
        "", "A worker's process uses about one core. PostgreSQL is one server: only a larger host makes it faster.", "",
        "| one at a time in the whole deployment | held for | documents a minute, at most |", "| --- | --- | --- |",
        *(f"| the {lane} lane | {ms:.0f} ms | {60_000 / ms:.0f} |" for lane, ms in held.items()), "",
        "The write lane belongs to leg A, and the enact lane to the enactment. A lane of a batch is something else: an",
        f"overnight batch prepares {limits.OVERNIGHT_LANES} documents at once. A document that is alone in the",
        f"deployment waits {record['turn_ms']:.0f} ms between two steps, for Temporal and its workflow.", "",
        "A batch looks at its documents at most twice a second, while they change. A look at the whole batch takes",
        f"{record['look_item_ms']:.2f} ms of PostgreSQL for each document. Such looks take at most",
        f"{1 / limits.WHOLE_LOOK_SHARE:.0%} of the time. In between, a worker reads only the documents that changed.",
        "The forecast below counts both.", "",
    ]  # fmt: skip
    return lines


def nights(forecast: list[Json]) -> list[str]:
    """Nights on 1, 4 and 16 hosts."""
    records = of_kind(forecast, "night")
    lines = [
        "## Nights on 1, 4 and 16 hosts", "",
        f"{BATCHES} overnight batches begin together, with {limits.OVERNIGHT_LANES} lanes each, and every approval was",
        f"signed before. {records[0]['simulated']:,} documents are simulated. From four hosts on, PostgreSQL,",
        "Temporal, the exec workers, and the cutter workers with the verify workers each have hosts of their own. Each",
        "further host goes where the processors are busiest. The first bottleneck is the resource with the highest",
        "utilisation. While a document that holds a resource waits for another resource, the first one does not count",
        "as used.", "",
        "| hosts × cores | PostgreSQL's cores | Temporal, cutter, exec, verify | documents a minute | in six hours | "
        "first bottleneck | next |",
        "| --- | --- | --- | --- | --- | --- | --- |",
    ]  # fmt: skip
    for record in records:
        first, second = list(record["utilisation"].items())[:2]
        rate = record["per_minute"]
        places = ", ".join(str(count) for count in record["places"].values())
        lines.append(
            f"| {record['hosts']} × {record['cores']} | {record['postgres_cores']} | {places} | {rate:.0f} | "
            f"{rate * WINDOW_MINUTES:,.0f} | {_named(*first)} | {_named(*second)} |"
        )
    return [
        *lines, "",
        f"The last row has {WORKERS_OF_200} workers of each role. The shares of 200 connections are enough for these.",
        "",
        *_waits(_ordinary(forecast)), "", *_more_is_less(_ordinary(forecast)),
    ]  # fmt: skip


def _more_is_less(records: list[Json]) -> list[str]:
    """What an operator must know if more hosts are slower."""
    slower = [
        f"{more['hosts']} hosts of {more['cores']} cores are slower than {few['hosts']}"
        for few, more in pairwise(records)
        if few["cores"] == more["cores"]
        and more["per_minute"] < few["per_minute"]
        and few["bottleneck"] == more["bottleneck"] == "processor of PostgreSQL"
    ]
    if not slower:
        return []
    return [
        f"In the simulation, {' and '.join(slower)}. PostgreSQL is the first bottleneck of both. More runs then meet",
        "at the write lane, and each try that finds it busy costs PostgreSQL time. Give PostgreSQL a larger host",
        "first.", "",
    ]  # fmt: skip


def _ordinary(forecast: list[Json]) -> list[Json]:
    """The nights without the two whose PostgreSQL or whose workers differ."""
    return of_kind(forecast, "night")[:-2]


def _named(name: str, share: float) -> str:
    return f"{name.replace('processor of everything', 'processor')}, {share:.0%}"


def _waits(records: list[Json]) -> list[str]:
    """What the documents wait for."""
    lines = ["A document's longest waits, and the tries that found the write lane busy:", "",
             "| hosts × cores | waits | busy tries a document |", "| --- | --- | --- |"]  # fmt: skip
    for record in records:
        waits = ", ".join(f"{name} {ms / 1000:.1f} s" for name, ms in list(record["waits_ms"].items())[:3])
        busy = record["lane_busy"] / record["simulated"]
        lines.append(f"| {record['hosts']} × {record['cores']} | {waits} | {busy:.1f} |")
    return lines


def days(forecast: list[Json]) -> list[str]:
    """Batches by day."""
    records = of_kind(forecast, "day")
    lines = [
        "## People by day", "",
        f"A batch of {records[0]['simulated']} documents on four hosts with 2 cores. People sign each gate as soon as",
        "all documents ask. The time of a person for a document is an assumption, not a measurement. The machine's",
        f"part of a signature was measured: {of_kind(forecast, 'costs')[0]['sign_ms']:.0f} ms.", "",
        "| people | seconds a document and gate | documents a minute | first bottleneck |", "| --- | --- | --- | --- |",
    ]  # fmt: skip
    for record in records:
        first = next(iter(record["utilisation"].items()))
        lines.append(
            f"| {record['people']} | {record['reading']:.0f} | {record['per_minute']:.1f} | {_named(*first)} |"
        )
    return [*lines, ""]


def disks(disk: list[Json]) -> list[str]:
    """Bytes on disk by what they are for."""
    sizes = {units: bytes_of_a_document(disk, units) for units in (3, UNITS, 1000)}
    lines = [
        "## Disk", "",
        "Kilobytes that a document of a batch leaves, measured with",
        " and ".join(f"{record['documents']} documents of {record['units']} units" for record in disk) + ".",
        "The column for 1,000 units continues the line through both. Files count as whole blocks.", "",
        "| part | host | 3 units | 60 units | 1,000 units | a million of 60 units |",
        "| --- | --- | --- | --- | --- | --- |",
    ]  # fmt: skip
    hosts = {
        "tables": "PostgreSQL", "indexes": "PostgreSQL", "write-ahead log": "PostgreSQL, and its archive",
        "temporal": "Temporal, until the retention ends", "evidence bundles": "artifact store",
        "backups": "artifact store", "run folders": "each worker", "batch folders": "cutter worker",
        "knowledge base": "knowledge base",
    }  # fmt: skip
    for name, host in hosts.items():
        cells = " | ".join(f"{sizes[units][name] / 1000:,.1f}" for units in sizes)
        lines.append(f"| {name} | {host} | {cells} | {sizes[UNITS][name] * YEAR / GB:,.0f} GB |")
    return [
        *lines, "",
        "A backup of another kind than `segments` grows with all enacted law ([How a backup stays small](backup.md)).",
        "Point-in-time recovery keeps the write-ahead log until the next base backup.", "",
    ]  # fmt: skip


def connection_table(checked: list[Json], forecast: list[Json]) -> list[str]:
    """Connections that the workers may hold, and those that were seen."""
    lines = [
        "## Connections", "",
        f"The most connections that the workers may hold if each slot takes a backup, with {BATCHES} open batches.",
        "With this `max_connections`, [each role's share](../guides/operations.md#what-a-database-role-may-use)",
        "suffices. If your server allows fewer, start fewer workers on each host.", "",
        "| hosts × cores | cutter_read | cutter_backup | cutter_exec | cutter_verify | `max_connections` |",
        "| --- | --- | --- | --- | --- | --- |",
    ]  # fmt: skip
    for night in _ordinary(forecast):
        held = connections(night["places"], BATCHES)
        cells = " | ".join(f"{count}" for count in held.values())
        lines.append(f"| {night['hosts']} × {night['cores']} | {cells} | {max_connections(held):,} |")
    most = {
        workers: {role: max(record["connections"].get(role, 0) for record in checked if record["workers"] == workers)
                  for role in ("cutter_read", "cutter_backup", "cutter_exec", "cutter_verify")}
        for workers in sorted({int(record["workers"]) for record in checked})
    }  # fmt: skip
    lines += ["", f"The most connections that were seen in batches of {checked[0]['documents']} documents:", "",
              "| workers of each role | cutter_read | cutter_backup | cutter_exec | cutter_verify |",
              "| --- | --- | --- | --- | --- |"]  # fmt: skip
    lines += [f"| {workers} | {' | '.join(str(n) for n in held.values())} |" for workers, held in most.items()]
    return [*lines, ""]


def shard_section(costs: Json, forecast: list[Json]) -> list[str]:
    """History shards."""
    fastest = max(night["per_minute"] for night in of_kind(forecast, "night"))
    return [
        "## History shards", "",
        f"The run of a document has {costs['batch']['history_events']} events in Temporal's history, and Temporal",
        f"writes it {costs['shard_writes']} times. With its part of the batch's workflow, a document needs at most",
        f"{writes(costs):.0f} writes. Between two steps of a document that is alone there are {WRITES_OF_A_TURN}",
        f"writes, so one write takes at most {write_ms(costs):.0f} ms. A shard makes one write after the other. If",
        f"writes may take half of a shard's time, {fastest:.0f} documents a minute, the most of all simulated nights,",
        f"need {shards(costs, fastest)} shards. docker-compose.temporal.yml has {SHARDS}. The number can never be",
        "changed.", "",
    ]  # fmt: skip


def validated(forecast: list[Json]) -> list[str]:
    """Measured batches next to simulated ones."""
    records = of_kind(forecast, "validation")
    lines = [
        "## Validation", "",
        f"Batches of {records[0]['documents']} documents of {UNITS} units on one machine, with one and with two",
        "workers of each role in turn. The time of the signing is taken out. The simulation knows the steps of",
        "documents that ran alone, and the processor time of another batch. It knows no throughput.", "",
        "| workers of each role | documents a minute, measured | simulated | error | plan, write, enact: measured | "
        "simulated | tries that found the write lane busy: measured | simulated | first bottleneck |",
        "| --- | --- | --- | --- | --- | --- | --- | --- | --- |",
    ]  # fmt: skip
    for row in records:
        measured, simulated = (
            ", ".join(f"{row[key][name]:.0f} s" for name in ("plan", "write", "enact"))
            for key in ("measured_phases", "phases")
        )
        each = ", ".join(f"{rate:.1f}" for rate in row["measured"])
        busy = ", ".join(str(tries) for tries in row["measured_busy"])
        lines.append(
            f"| {row['workers']} | {each} | {row['per_minute']:.1f} | {error(row):+.0%} | {measured} | {simulated} | "
            f"{busy} | {row['lane_busy']} | {_named(*next(iter(row['utilisation'].items())))} |"
        )
    return [*lines, "", *VALIDATION_WHY * (max(abs(error(record)) for record in records) > ENOUGH)]


MEASURE = """
## Measure again

```
python -m benchmarks.scale             # measures for about six minutes, on one stack
python -m benchmarks.scale_forecast    # simulates
python -m benchmarks.scale_page        # writes this page
```

Method: [benchmarks/README.md](../../benchmarks/README.md). `benchmarks/scale_simulation.py` is the simulation, and
`tests/property/test_scale_laws.py` has the laws that it must obey.
"""


def page() -> str:
    """The whole page."""
    records, forecast = read("scale.jsonl"), read("scale-forecast.jsonl")
    costs, disk, checked = of_kind(records, "costs")[0], of_kind(records, "disk"), of_kind(records, "validation")
    lines = [
        *head(records[0], forecast), *summary(costs, forecast, disk), *processors(costs, forecast), *nights(forecast),
        *days(forecast), *disks(disk), *connection_table(checked, forecast), *shard_section(costs, forecast),
        *validated(forecast),
    ]  # fmt: skip
    return "\n".join(filled(lines)).rstrip() + "\n" + LEFT_OUT + MEASURE


def filled(lines: list[str]) -> Iterator[str]:
    """The lines, with each paragraph filled to the width of a page."""
    for is_text, group in groupby(lines, key=lambda line: bool(line) and not line.startswith(("|", "#"))):
        if is_text:
            yield from wrap(" ".join(group), WIDTH, break_long_words=False, break_on_hyphens=False)
        else:
            yield from group


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
    print(PAGE)
