"""IO: docs/internals/performance.md from the newest results: every figure comes from a file that a benchmark wrote.

python -m benchmarks.page
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from benchmarks import growth, page_costs
from benchmarks import peers as peer
from benchmarks.document import LEG_A
from benchmarks.page_text import listed, paragraph
from benchmarks.result_file import RESULTS, code_of, origin
from benchmarks.revision import ENOUGH as REVISION_SHARE
from benchmarks.targets import HEAD, REVISION, Results, Target, batch_goals, missed, reasons, targets
from cutter.types import Json

PAGE = Path(__file__).resolve().parents[1] / "docs" / "internals" / "performance.md"

QUICK_LOOK = "**A quick look with few samples: only large differences mean something.**"

RECORDS = ("document", "batch", "cpu", "queue", "revision", "marking", "growth", "peers")
"""The result files of the page. `benchmarks.NAME` writes the file NAME."""

SERVERS = ("peers-oldest-server", "peers-tested-server")
"""The records of `benchmarks.peers --output` with `temporal` of the oldest and of the tested server on PATH."""

WRITING = (LEG_A, "IG_lifecycle_enact_execute")


def read(name: str) -> list[Json]:
    """The records of one result file; none if it was not measured."""
    file = RESULTS / f"{name}.jsonl"
    lines = file.read_text(encoding="utf-8").splitlines() if file.exists() else []
    return [json.loads(line) for line in lines]


def everything() -> Results:
    """The records of every result file of the page."""
    return {name: read(name) for name in RECORDS}


def goals(results: Results) -> list[Target]:
    """Every goal of the page that is a row of a table of targets."""
    return [*targets(results), *other_goals(results["document"]), *batch_goals(results["batch"])]


def records(results: Results) -> Iterator[str]:
    """A table that says which code each record measured."""
    yield from ("## Records", "")
    yield from paragraph(
        "A record is one run of a benchmark at one commit. The code can have changed since. An older record is from a "
        "time when records named no commit, so it does not say which code it measured."
    )
    yield from ("| record | day | commit | load at the end |", "| --- | --- | --- | --- |")
    for name, measured in results.items():
        head = measured[0] if measured else {"at": "not measured"}
        code = code_of(head) if measured else "–"
        yield f"| `{name}` | {head.get('at', 'not named')} | {code} | {head.get('load', '–')} |"
    yield ""


def other_goals(document: list[Json]) -> Iterator[Target]:
    """Goals of a single document that the table of targets does not have."""
    full = {record["units"]: record for record in document if record.get("kind") == "full"}
    trips = [record["round_trips"] for record in document if record.get("kind") == "floor"]
    waits = [value for record in full.values() for name, value in record["more"].items() if "signal to gate" in name]
    sizes = [record["more"]["history bytes"] for record in full.values()]
    spread, writing = max(sizes) / min(sizes) - 1, max(trip[name] for trip in trips for name in WRITING)
    yield Target(name="approval signal to the next gate's start, medians", asked="p50 ≤ 200 ms",
                 measured=f"{max(waits):.0f} ms at most", met=max(waits) <= 200, record="document")  # fmt: skip
    yield Target(name=f"history of a document of {max(full):,} units, compared with one of {min(full)}", asked="± 5 %",
                 measured=f"{spread:+.1%}", met=spread <= 0.05, record="document")  # fmt: skip
    yield Target(name="round trips, leg A and enactment", asked="≤ 10", measured=f"{writing:.0f} at most",
                 met=writing <= 10, record="document")  # fmt: skip


def _explained(section: list[str], results: Results) -> list[str]:
    """A section whose rows are in no table of targets, with the reason of each missed goal at its end."""
    rows = [line.split("|")[1].strip() for line in section if "**no**" in line]
    known = reasons(results)
    return [*section, *listed(f"**{name}**: {known[name].why} Next: {known[name].next}" for name in rows)]


def revisions(measured: list[Json]) -> list[str]:
    """The section about a revision next to its first cut; empty where it was not measured."""
    if not measured:
        return []
    head, first, second = measured
    lines = [
        "## Revisions", "",
        *paragraph(
            f"A revision that changes one unit in a hundred of a law of {first['units']:,} units, next to the first "
            f"cut: every gate's function in one loop without the engine, medians of {first['n']} interleaved runs. CPU "
            "is that of Python, gpg and PostgreSQL.", origin(head),
        ),
        "| measure | first cut | revision | ratio | asked for | met |", "| --- | --- | --- | --- | --- | --- |",
    ]  # fmt: skip
    for name, key in ((REVISION, "cpu_total_ms"), ("wall", "wall_ms")):
        ratio = second[key] / first[key]
        asked = f"< {REVISION_SHARE} | {'yes' if ratio < REVISION_SHARE else '**no**'}" if name == REVISION else "– | –"
        lines.append(f"| {name} | {first[key]:,.0f} ms | {second[key]:,.0f} ms | {ratio:.2f} | {asked} |")
    lines += ["", "| gate, CPU | first cut | revision |", "| --- | --- | --- |"]
    lines += [
        f"| {name} | {spent:.0f} ms | {second['gates_cpu_ms'][name]:.0f} ms |"
        for name, spent in first["gates_cpu_ms"].items()
    ]
    return [*lines, ""]


def grown(measured: list[Json]) -> list[str]:
    """The section about filled databases; empty if none was measured."""
    if not measured:
        return []
    lines = [
        "## Growth", "",
        *paragraph(
            "A document of 60 units through all gates without the engine, and a batch of 12 documents of 3 units. Each "
            "figure is first of an empty database, then of a filled one; medians, in turn. The goal is at most 1.2 "
            "times.", origin(measured[0]),
        ),
        *paragraph(QUICK_LOOK) * (measured[1]["n"] < 5),
        "What this does not show:", "", *listed(growth.LIMITS),
        "| filled with | units, runs, MiB | gates, ms | PostgreSQL, CPU ms | batch, a minute | PostgreSQL, CPU ms a "
        "document | worst ratio | met |",
        "| --- | --- | --- | --- | --- | --- | --- | --- |",
    ]  # fmt: skip
    for row in measured[1:]:
        empty, full, filled = row["empty"], row["grown"], row["filled"]
        worst = max(growth.ratios(row).values())
        pairs = " | ".join(
            f"{empty[name]} → {full[name]}"
            for name in ("document_ms", "document_postgres_ms", "per_minute", "batch_postgres_ms")
        )
        lines.append(
            f"| {growth.size_of(row)} | {filled['units']:,}, {filled['runs']:,}, {filled['mib']:,} | {pairs} | "
            f"{worst:.2f} | {'yes' if worst <= growth.GOAL else '**no**'} |"
        )
    return [*lines, "", *_what_grew(measured[1:])]


def _what_grew(measured: list[Json]) -> list[str]:
    """For each size that misses the goal, the three worst tables and functions. If the goal is met, they are noise."""
    lines = []
    for row in measured:
        missed = max(growth.ratios(row).values()) > growth.GOAL
        for suspect in row["suspects"][: 3 * missed]:
            unit = "rows by sequential scans" if suspect["kind"] == "table" else "ms"
            lines.append(
                f"- {growth.size_of(row)}: {suspect['kind']} `{suspect['name']}`: {suspect['before']:,} to "
                f"{suspect['after']:,} {unit} a document"
            )
    return [*lines, ""] if lines else []


def peers(measured: list[Json]) -> list[str]:
    """The section about other engines; empty if none was measured."""
    if not measured:
        return []
    records = measured[1:]
    first = records[0]
    lines = [
        "## Next to other engines", "",
        *paragraph(
            "The same gate functions, SQL, gpg and backup for each document. The product has three workers and all of "
            "its governance; the others have one process and none. Each arm has a stack of its own, so the databases "
            f"are equally large. {first['documents']} documents of {first['units']} units a sample, rounds in balanced "
            f"order: {max(r['round'] for r in records) + 1}. CPU is without the approver's. The last two "
            "columns are the medians of the ratios within each round.", origin(measured[0]),
        ),
        *paragraph(QUICK_LOOK) * (len(records) < 16),
        "| arm | documents a minute | CPU ms a document | by process | speed, product = 1 | CPU, product = 1 |",
        "| --- | --- | --- | --- | --- | --- |",
    ]  # fmt: skip
    for arm in peer.summary(records):
        parts = page_costs.by_process(arm["processes_ms"])
        lines.append(
            f"| {arm['arm']} | {arm['per_minute']} | {arm['cpu_ms']:,} | {parts} | {arm['speed_ratio']} | "
            f"{arm['cpu_ratio']} |"
        )
    return [*lines, ""]


def servers(measured: list[list[Json]]) -> list[str]:
    """The section about two versions of Temporal's server; empty if none was measured."""
    if not all(measured):
        return []
    lines = [
        "## Two versions of Temporal's server", "",
        *paragraph(
            "The product and plain Temporal, first on the oldest supported server and then on the tested one, on the "
            "same machine. Medians.", *dict.fromkeys(origin(records[0]) for records in measured),
        ),
        "| server | arm | documents a minute | CPU ms a document | of it Temporal's server |",
        "| --- | --- | --- | --- | --- |",
    ]  # fmt: skip
    for arm in ("product", "plain temporal"):
        for head, *records in measured:
            (row,) = (row for row in peer.summary(records) if row["arm"] == arm)
            lines.append(
                f"| {head['temporal']} | {arm} | {row['per_minute']} | {row['cpu_ms']:,} | "
                f"{row['processes_ms']['temporal']:,} |"
            )
    return [*lines, ""]


def page() -> str:
    """The whole page."""
    results = everything()
    all_goals = [*targets(results), *other_goals(results["document"])]
    lines = [
        "# Performance", "",
        *paragraph(
            "This page is made by `python -m benchmarks.page` from the files in `benchmarks/results`. The benchmarks "
            "write them ([benchmarks/README.md](../../benchmarks/README.md)).",
        ),
        "## Targets", "",
        *HEAD,
        *(goal.row(results) for goal in all_goals), "",
        *listed(missed(goals(results), results)),
        *records(results),
        *page_costs.one_document(results["document"]),
        *page_costs.batches(results),
        *page_costs.cpu(results["cpu"]),
        *page_costs.queues(results["queue"]),
        *_explained(revisions(results["revision"]), results),
        *grown(results["growth"]),
        *peers(results["peers"]),
        *servers([read(name) for name in SERVERS]),
    ]  # fmt: skip
    return "\n".join(lines)


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
    print(PAGE)
