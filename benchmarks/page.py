"""IO: docs/internals/performance.md from the newest results: every figure comes from a file that a benchmark wrote.

python -m benchmarks.page
"""

from __future__ import annotations

import json
import statistics
from collections.abc import Iterator
from pathlib import Path
from textwrap import wrap

from benchmarks import growth
from benchmarks import peers as peer
from benchmarks.desk import met as page_met
from benchmarks.revision import ENOUGH as REVISION_SHARE
from benchmarks.targets import CPU_MS, Target, missed, targets
from cutter.types import Json

HERE = Path(__file__).resolve().parent
PAGE = HERE.parent / "docs" / "internals" / "performance.md"


QUICK_LOOK = "\n\n**A quick look with few samples: only large differences mean something.**"

CPU_WHY = (
    "Temporal and PostgreSQL alone take about the goal, so a document needs fewer steps, not only cheaper ones. Of the",
    "functions of PostgreSQL that do not depend on the size of a law, the survey of definitions takes the most: 25",
    "surveys of 2 to 3 ms. Two thirds of a survey read `pg_proc` and `pg_class` in full, as neither has an index by",
    "schema. Next: measure what the tasks of the workflow cost beside its activities.", "",
)  # fmt: skip
REVISION_WHY = (
    "Half of a revision's cost does not depend on how much it changes: the text is marked three times, two of which",
    "must be independent; two requests show every unit; and a backup is taken and restored. The texts themselves are",
    "read only by the two gates that change the law (`fn_rows_fingerprint`). Next: the segment of a revised law holds",
    "all of its earlier versions again, so the backup after a revision costs more than the one after a first cut.", "",
)  # fmt: skip

RESULTS = ("document", "marking", "batch", "cpu", "growth", "peers", "steady", "queue")
"""The result files that the targets are judged by."""

WRITING = ("IG_cut_leg_a_execute", "IG_lifecycle_enact_execute")


def read(name: str) -> list[Json]:
    """The records of one result file."""
    file = HERE / "results" / name
    lines = file.read_text(encoding="utf-8").splitlines() if file.exists() else []
    return [json.loads(line) for line in lines]


def other_goals(document: list[Json]) -> Iterator[Target]:
    """Goals of a single document that the table of targets does not have."""
    full = {one["units"]: one for one in document if one.get("kind") == "full"}
    trips = [one["round_trips"] for one in document if one.get("kind") == "floor"]
    waits = [value for one in full.values() for name, value in one["more"].items() if "signal to gate" in name]
    sizes = [one["more"]["history bytes"] for one in full.values()]
    spread, writing = max(sizes) / min(sizes) - 1, max(one[name] for one in trips for name in WRITING)
    yield Target(name="approval signal to the next gate's start, medians", asked="p50 ≤ 200 ms",
                 measured=f"{max(waits):.0f} ms at most", met=max(waits) <= 200)  # fmt: skip
    yield Target(name=f"history of a document of {max(full):,} units, compared with one of {min(full)}", asked="± 5 %",
                 measured=f"{spread:+.1%}", met=spread <= 0.05)  # fmt: skip
    yield Target(name="round trips, leg A and enactment", asked="≤ 10", measured=f"{writing:.0f} at most",
                 met=writing <= 10)  # fmt: skip


def gates(document: list[Json]) -> list[str]:
    """Per gate: floor and full wall, round trips, bytes, for each size."""
    full = {one["units"]: one for one in document if one.get("kind") == "full"}
    floor = {one["units"]: one for one in document if one.get("kind") == "floor"}
    sizes = sorted(full)
    head = "| gate | " + " | ".join(f"{u} units: floor, full, trips, KiB" for u in sizes) + " |"
    lines = [head, "| --- |" + " --- |" * len(sizes)]
    for name in floor[sizes[0]]["gates_ms"]:
        cells = []
        for units in sizes:
            engine = full[units]["gates_ms"].get(name)
            cells.append(
                f"{floor[units]['gates_ms'][name]:.0f} ms, {f'{engine:.0f} ms' if engine else '–'}, "
                f"{floor[units]['round_trips'][name]}, {floor[units]['bytes'][name] / 1024:.0f}"
            )
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    totals = [f"{floor[u]['total_ms']:.0f} ms, {full[u]['total_ms']:.0f} ms, , " for u in sizes]
    return [*lines, "| **total, without people** | " + " | ".join(totals) + " |"]


def batch_goals(batch: list[Json]) -> list[tuple[str, str, str, bool]]:
    """The goals of a batch, judged from the figures that there are."""
    found = {(one["documents"], one["units"]): one for one in batch if one["kind"] == "batch"}
    serial: dict[int, list[float]] = {}
    for one in batch:
        if one["kind"] == "serial":
            serial.setdefault(one["units"], []).append(one["per_minute"])
    rows = []
    for (count, units), one in sorted(found.items()):
        best = max(serial[units])
        rows.append((
            f"{count:,} documents of {units} units, documents a minute", f"≥ the serial loop's {best:.0f}",
            f"{one['per_minute']:.0f}", one["per_minute"] >= best,
        ))  # fmt: skip
        if (100, units) in found and count == 1000:
            share = sum(one["cpu_ms"].values()) / sum(found[100, units]["cpu_ms"].values()) - 1
            rows.append((f"cost of a document at 1,000 against 100, {units} units, CPU", "± 15 %", f"{share:+.0%}",
                         abs(share) <= 0.15))  # fmt: skip
        if count == 1000:
            mib = one["rss_while_all_wait_mib"]["worker-cutter"]
            rows.append(
                ("a worker's memory while all that may be open wait", "≤ 150 MiB", f"{mib:.0f} MiB", mib <= 150)
            )
    return rows


def batches(runs: list[list[Json]]) -> list[str]:
    """The section about batches, a table for each run of the benchmark; empty where none was measured."""
    if not runs:
        return []
    lines = [
        "## Batches", "",
        "The benchmark approves each request at once, and does not count the signing. The batch has four lanes, and",
        "the runs that need a backup at the same time share one. The serial loop runs the same functions for one",
        "document after the other, each with its own backup, on the same stack. Its record is a JSON file under a",
        "lock. The machine's speed changes from day to day, so compare only figures of one day. Only",
        "the newest date measures the present code. An older one is kept for sizes that were not measured again.", "",
    ]  # fmt: skip
    for records in runs:
        lines += _batch_run(records)
    return lines


def _batch_run(records: list[Json]) -> list[str]:
    """What one run of the benchmark showed: goals, then each size."""
    lines = [
        f"{records[0]['at']}, load {records[0]['load']} at the end:", "",
        "| goal | asked for | measured | met |", "| --- | --- | --- | --- |",
        *(f"| {' | '.join((*row[:3], 'yes' if row[3] else '**no**'))} |" for row in batch_goals(records)), "",
        "| documents × units | a minute | CPU ms a document | events, bytes | parent's events, bytes | RSS, MiB |",
        "| --- | --- | --- | --- | --- | --- |",
    ]  # fmt: skip
    for one in records[1:]:
        cpu = ", ".join(f"{name} {value:.0f}" for name, value in one["cpu_ms"].items())
        if one["kind"] == "batch":
            rss = ", ".join(f"{name} {value:.0f}" for name, value in one["rss_mib"].items())
            tail = (
                f"{one['history_events']}, {one['history_bytes']:,} | {one['parent_events']}, {one['parent_bytes']:,}"
            )
            lines.append(f"| {one['documents']:,} × {one['units']} | {one['per_minute']} | {cpu} | {tail} | {rss} |")
        else:
            lines.append(f"| serial, {one['documents']} × {one['units']} | {one['per_minute']} | {cpu} | | | |")
    return [*lines, ""]


def cpu(measured: list[Json]) -> list[str]:
    """The section about the CPU of a document of a batch; empty where it was not measured."""
    if not measured:
        return []
    first, records = measured[1], measured[1:]
    lines = [
        "## CPU of a document", "",
        f"A batch of {first['documents']} documents of {first['units']} units, each on a stack of its own, by",
        f"`benchmarks.cpu`; medians of {first['n']} runs, interleaved. Load {measured[0]['load']} at the end,",
        f"{measured[0]['at']}. The goal is at most 700 ms without the client.", "",
        "*before* and *after* are two checkouts of that day. The record does not name their commits.", "",
        "| code | CPU ms a document | by process | a minute | events, bytes |", "| --- | --- | --- | --- | --- |",
    ]  # fmt: skip
    for one in records:
        total = sum(ms for name, ms in one["cpu_ms"].items() if name != "client")
        parts = ", ".join(f"{name} {ms:.0f}" for name, ms in one["cpu_ms"].items())
        sizes = f"{one['history_events']:.0f}, {one['history_bytes']:,.0f}"
        lines.append(f"| {one['name']} | {total:.0f} | {parts} | {one['per_minute']:.0f} | {sizes} |")
    return [*lines, "", *CPU_WHY * (total > CPU_MS)]


def fairness(measured: list[Json]) -> list[str]:
    """The section about small tenants beside a large one; empty where it was not measured."""
    if not measured:
        return []
    one, runs = measured[1], len(measured[1:]) // 6
    lines = [
        "## Fairness", "",
        f"{one['small']} tenants with one document each, alone and beside one with {one['large']}: from the beginning",
        "of their batch to their first gate. Each figure is the median of the small tenants, and then of",
        f"{runs} run{'s, interleaved' * (runs > 1)}. Four lanes; load {measured[0]['load']} at the end. In one batch",
        "the large tenant is first in the file. With own batches, it fills its lanes first. The control puts everybody",
        "into one tenant, as if there were no turns.", "",
        "| how | asked for | alone, ms | beside, ms | times | met |", "| --- | --- | --- | --- | --- | --- |",
    ]  # fmt: skip
    for way in dict.fromkeys(one["way"] for one in measured[1:]):
        alone, beside = (_median_wait(measured[1:], way, beside=beside) for beside in (False, True))
        times, control = beside / alone, "one tenant" in way
        asked, met = ("–", "–") if control else ("≤ 1.5 times", "yes" if times <= 1.5 else "**no**")
        lines.append(f"| {way} | {asked} | {alone:.0f} | {beside:.0f} | {times:.2f} | {met} |")
    return [*lines, ""]


def _median_wait(records: list[Json], way: str, *, beside: bool) -> float:
    return float(statistics.median(one["median_ms"] for one in records if (one["way"], one["beside"]) == (way, beside)))


def revisions(measured: list[Json]) -> list[str]:
    """The section about a revision next to its first cut; empty where it was not measured."""
    if not measured:
        return []
    head, first, second = measured
    lines = [
        "## Revisions", "",
        f"A revision that changes one unit in a hundred of a law of {first['units']:,} units, next to the first cut:",
        f"every gate's function in one loop without the engine, medians of {first['n']} interleaved runs;",
        f"{head['at']}, load {head['load']} at the end. CPU is that of Python, gpg and PostgreSQL.", "",
        "| measure | first cut | revision | ratio | asked for | met |", "| --- | --- | --- | --- | --- | --- |",
    ]  # fmt: skip
    for name, key in (("CPU", "cpu_total_ms"), ("wall", "wall_ms")):
        ratio = second[key] / first[key]
        asked = f"< {REVISION_SHARE} | {'yes' if ratio < REVISION_SHARE else '**no**'}" if name == "CPU" else "– | –"
        lines.append(f"| {name} | {first[key]:,.0f} ms | {second[key]:,.0f} ms | {ratio:.2f} | {asked} |")
    lines += ["", "| gate, CPU | first cut | revision |", "| --- | --- | --- |"]
    lines += [
        f"| {name} | {spent:.0f} ms | {second['gates_cpu_ms'][name]:.0f} ms |"
        for name, spent in first["gates_cpu_ms"].items()
    ]
    return [*lines, "", *REVISION_WHY]


def desk(measured: list[Json]) -> list[str]:
    """The section about the first page of a law in `cutter desk`; empty where it was not measured."""
    if not measured:
        return []
    head, *laws = measured
    lines = [
        "## Pages of cutter desk", "",
        "The first page of a law, next to the bare SQL query for the same rows, in turn on open connections. Times are",
        f"medians of {laws[0]['n']} rounds; CPU is that of the server with PostgreSQL, or of PostgreSQL alone.",
        f"{head['at']}, load {head['load']} at the end.", "",
        "| units | page | time, CPU | query: time, CPU | asked for | met |", "| --- | --- | --- | --- | --- | --- |",
    ]  # fmt: skip
    for one in laws:
        page, query = (
            f"{one[f'{name}_median_ms']:.0f} ms, {one[f'{name}_cpu_ms']:.0f} ms" for name in ("page", "query")
        )
        goal = f"< 300 KB, < 200 ms | {'yes' if page_met(one) else '**no**'}" if one["units"] == 1000 else "– | –"
        lines.append(f"| {one['units']:,} | {one['bytes']:,} bytes | {page} | {query} | {goal} |")
    return [*lines, ""]


def grown(measured: list[Json]) -> list[str]:
    """The section about filled databases; empty if none was measured."""
    if not measured:
        return []
    lines = [
        "## Growth", "",
        "A document of 60 units through all gates without the engine, and a batch of 12 documents of 3 units. Each",
        "figure is first of an empty database, then of a filled one; medians, in turn. The goal is at most 1.2 times.",
        f"Load {measured[0]['load']} at the end.{QUICK_LOOK * (measured[1]['n'] < 5)}", "",
        "| filled with | units, runs, MiB | gates, ms | PostgreSQL, CPU ms | batch, a minute | PostgreSQL, CPU ms a "
        "document | worst ratio | met |",
        "| --- | --- | --- | --- | --- | --- | --- | --- |",
    ]  # fmt: skip
    for one in measured[1:]:
        empty, full, filled = one["empty"], one["grown"], one["filled"]
        worst = max(growth.ratios(one).values())
        pairs = " | ".join(
            f"{empty[name]} → {full[name]}"
            for name in ("document_ms", "document_postgres_ms", "per_minute", "batch_postgres_ms")
        )
        lines.append(
            f"| {one['size']:,} {one['axis']} | {filled['units']:,}, {filled['runs']:,}, {filled['mib']:,} | {pairs} | "
            f"{worst:.2f} | {'yes' if worst <= growth.GOAL else '**no**'} |"
        )
    return [*lines, "", *_what_grew(measured[1:])]


def _what_grew(measured: list[Json]) -> list[str]:
    """For each size that misses the goal, the three worst tables and functions. If the goal is met, they are noise."""
    lines = []
    for one in measured:
        missed = max(growth.ratios(one).values()) > growth.GOAL
        for found in one["suspects"][: 3 * missed]:
            unit = "rows by sequential scans" if found["kind"] == "table" else "ms"
            lines.append(
                f"- {one['size']:,} {one['axis']}: {found['kind']} `{found['name']}`: {found['before']:,} to "
                f"{found['after']:,} {unit} a document"
            )
    return [*lines, ""] if lines else []


def rebuilt(measured: list[Json]) -> list[str]:
    """The section about a database that was destroyed and rebuilt; empty if none was measured."""
    if not measured:
        return []
    machine, one = measured
    return [
        "## Rebuild", "",
        f"A database of {one['units']:,} units in {one['documents']:,} documents ({one['rows']:,} rows of the tables",
        "that segments hold) was backed up, destroyed, and rebuilt by the steps of "
        "[Restore](../runbooks/restore.md). The first",
        f"backup of everything, with a companion of {one['companion_bytes'] / 1e6:,.0f} MB, took "
        f"{one['backup_seconds']:,} s. The rebuild from {one['segments']} segments with {one['jobs']} jobs",
        f"took **{one['rebuild_seconds']:,.0f} s**. Content fingerprint and all other tables equal: "
        f"**{'yes' if one['equal'] else 'no'}**. {machine['at']}, load {machine['load']} at the end.", "",
    ]  # fmt: skip


def peers(measured: list[Json]) -> list[str]:
    """The section about other engines; empty if none was measured."""
    if not measured:
        return []
    records = measured[1:]
    one = records[0]
    lines = [
        "## Beside other engines", "",
        "The same gate functions, SQL, gpg and backup for each document. The product has three workers and all of its",
        "governance; the others have one process and none. Each arm has a stack of its own, so the databases are",
        f"equally large. {one['documents']} documents of {one['units']} units a sample, "
        f"rounds in balanced order: {max(r['round'] for r in records) + 1}; load {measured[0]['load']} at the end.",
        f"CPU is without the approver's.{QUICK_LOOK * (len(records) < 16)}", "",
        "| arm | documents a minute | CPU ms a document | speed, product = 1 | CPU, product = 1 |",
        "| --- | --- | --- | --- | --- |",
    ]  # fmt: skip
    for arm in peer.summary(records):
        lines.append(
            f"| {arm['arm']} | {arm['per_minute']} | {arm['cpu_ms']:,} | {arm['speed_ratio']} | {arm['cpu_ratio']} |"
        )
    return [*lines, ""]


def page() -> str:
    """The whole page."""
    results = {name: read(f"{name}.jsonl") for name in RESULTS}
    document = results["document"]
    machine = document[0]
    found = [*targets(results), *other_goals(document)]
    lines = [
        "# Performance",
        "",
        "This page is made by `python -m benchmarks.page` from the files in `benchmarks/results`. The benchmarks write",
        "them ([benchmarks/README.md](../../benchmarks/README.md)).",
        "",
        "## Targets",
        "",
        "| what | target | measured | met |",
        "| --- | --- | --- | --- |",
        *(one.row() for one in found),
        "",
        *(line for reason in missed(found) for line in wrap(reason, 112, subsequent_indent="  ")),
        "",
        "## Per gate",
        "",
        "The floor is the same functions, SQL and subprocesses in one loop without the engine. Full is the run on",
        f"Temporal with three workers. Machine: {machine['cpus']} cores, {machine['machine']}, Python "
        f"{machine['python']}, {machine['at']};",
        f"load {machine['load']} at the end. Medians of {document[1]['n']} interleaved runs.",
        "",
        *gates(document),
        "",
        "A dash: the step is no gate and has no attempt of its own in the full run. A gate of the full run is timed by",
        "its attempt in the database, and one of the floor with everything that its function does before and after it.",
        "So a gate can take less time in the full run, whose total also has the time between the gates. Trips and",
        "bytes are counted in a pass of their own, which is not timed.",
        "",
        *batches([read(path.name) for path in sorted((HERE / "results").glob("batch*.jsonl"))]),
        *cpu(read("cpu.jsonl")),
        *fairness(read("fairness.jsonl")),
        *revisions(read("revision.jsonl")),
        *desk(read("desk.jsonl")),
        *grown(read("growth.jsonl")),
        *rebuilt(read("rebuild.jsonl")),
        *peers(read("peers.jsonl")),
    ]  # fmt: skip
    return "\n".join(lines)


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
    print(PAGE)
