"""Pure: the sections of docs/internals/performance.md about what a document costs, from the records of benchmarks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from benchmarks import profile, queue
from benchmarks.document import LEG_A
from benchmarks.page_text import paragraph
from benchmarks.result_file import code_of, origin
from benchmarks.targets import CPU_MS, HEAD, Results, batch_goals
from cutter.types import Json


def by_process(cpu_ms: Json) -> str:
    """Milliseconds of each process, the costliest first."""
    return ", ".join(f"{name} {ms:.0f}" for name, ms in sorted(cpu_ms.items(), key=lambda item: -item[1]))


def of_kind(measured: Sequence[Json], kind: str) -> dict[int, Json]:
    """The records of a kind by their number of units."""
    return {record["units"]: record for record in measured if record.get("kind") == kind}


def one_document(document: list[Json]) -> list[str]:
    """Per gate: floor and full, round trips, bytes; then leg A and the CPU of the whole run by process."""
    machine = document[0]
    return [
        "## One document", "",
        *paragraph(
            "The floor is the same functions, SQL and subprocesses in one loop without the engine. Full is the run on "
            f"Temporal with three workers. Medians of {document[1]['n']} interleaved runs.", origin(machine),
            f"Machine: {machine['cpus']} cores, {machine['machine']}, Python {machine['python']}.",
        ),
        *gates(of_kind(document, "floor"), of_kind(document, "full")), "",
        *paragraph(
            "A dash: the step is no gate and has no attempt of its own in the full run. A gate of the full run is "
            "timed by its attempt in the database, and one of the floor with everything that its function does before "
            "and after it. So a gate can take less time in the full run, whose total also has the time between the "
            "gates. Trips and bytes are counted in a pass of their own, which is not timed.",
        ),
        *leg_a(document), *document_cpu(of_kind(document, "cpu")),
    ]  # fmt: skip


def gates(floor: dict[int, Json], full: dict[int, Json]) -> list[str]:
    """Per gate: floor and full wall, round trips, bytes, for each size."""
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


def leg_a(document: list[Json]) -> list[str]:
    """Leg A in both arms, and the functions of PostgreSQL that it spends its time in."""
    lines = ["| units | leg A, whole gate | only its SQL calls | times |", "| --- | --- | --- | --- |"]
    for units, record in of_kind(document, "floor").items():
        whole, bare = record["gates_ms"][LEG_A], record["bare_calls_ms"]
        lines.append(f"| {units:,} | {whole:.0f} ms | {bare:.0f} ms | {whole / bare:.2f} |")
    lines.append("")
    for units, record in of_kind(document, "leg A").items():
        lines += [f"Leg A of {units:,} units, in a run of its own:", "", *profile.table(record["functions"])]
    return lines


def document_cpu(measured: dict[int, Json]) -> list[str]:
    """The CPU of one document by process."""
    if not measured:
        return ["The CPU of one document by process is not measured: this record is older than the figure.", ""]
    lines = ["| units | CPU ms of one document | by process |", "| --- | --- | --- |"]
    for units, record in measured.items():
        total = sum(ms for name, ms in record["cpu_ms"].items() if name != "approver")
        lines.append(f"| {units:,} | {total:.0f}, without the approver | {by_process(record['cpu_ms'])} |")
    return [*lines, ""]


def batches(results: Results) -> list[str]:
    """The section about batches: goals, then each size."""
    measured = results["batch"]
    if not measured:
        return []
    return [
        "## Batches", "",
        *paragraph(
            "The benchmark approves each request at once, and does not count the signing. The batch has four lanes. "
            "The serial loop runs the same functions for one document after the other, on the same stack. Its record "
            "is a JSON file under a lock. The CPU of the loop is that of its own process. The target of a batch is "
            "the speed of the faster of its two loops. The machine's speed changes from day to day, so compare only "
            "figures of one day.",
            origin(measured[0]),
        ),
        *HEAD, *(goal.row(results) for goal in batch_goals(measured)), "", *_batches(measured[1:]),
    ]  # fmt: skip


def _batches(measured: Sequence[Json]) -> Iterator[str]:
    yield "| documents × units | a minute | CPU ms a document | events, bytes | parent's events, bytes | RSS, MiB |"
    yield "| --- | --- | --- | --- | --- | --- |"
    for row in measured:
        cpu = by_process(row["cpu_ms"])
        if row["kind"] == "batch":
            rss = ", ".join(f"{name} {value:.0f}" for name, value in row["rss_mib"].items())
            tail = (
                f"{row['history_events']}, {row['history_bytes']:,} | {row['parent_events']}, {row['parent_bytes']:,}"
            )
            yield f"| {row['documents']:,} × {row['units']} | {row['per_minute']} | {cpu} | {tail} | {rss} |"
        else:
            yield f"| serial, {row['documents']} × {row['units']} | {row['per_minute']} | {cpu} | | | |"
    yield ""


def cpu(measured: list[Json]) -> list[str]:
    """The section about the CPU of a document of a batch; empty where it was not measured."""
    if not measured:
        return []
    first, records = measured[1], measured[1:]
    runs = "one run" if first["n"] == 1 else f"medians of {first['n']} runs, interleaved"
    lines = [
        "## CPU of a document", "",
        *paragraph(
            f"A batch of {first['documents']} documents of {first['units']} units, each on a stack of its own, by "
            f"`benchmarks.cpu`; {runs}. The goal is at most {CPU_MS} ms for a batch "
            "of 100, without the client. The table of targets has the CPU of the section about batches, not of this "
            "run.", origin(measured[0]),
        ),
        "| code | CPU ms a document | by process | a minute | events, bytes |", "| --- | --- | --- | --- | --- |",
    ]  # fmt: skip
    for record in records:
        total = sum(ms for name, ms in record["cpu_ms"].items() if name != "client")
        sizes = f"{record['history_events']:.0f}, {record['history_bytes']:,.0f}"
        name = f"{record['name']} ({code_of(record)})"
        lines.append(
            f"| {name} | {total:.0f} | {by_process(record['cpu_ms'])} | {record['per_minute']:.0f} | {sizes} |"
        )
    return [*lines, "", *_profile(records[-1])]


def _profile(record: Json) -> list[str]:
    if not record.get("functions"):
        return ["This record has no profile of PostgreSQL's functions, because it is older than the profile.", ""]
    return [
        *paragraph(
            "In another batch PostgreSQL counted the time in its functions. It is a wall time, so the time in which a "
            "function waits for a lock or for a core is in it. Statements outside of functions are not counted.",
        ),
        *profile.table(record["functions"]),
        *_python(record.get("python")),
    ]  # fmt: skip


def _python(workers: Json | None) -> list[str]:
    if not workers:
        return []
    return [
        *paragraph(
            "`py-spy` looked at the workers in the same batch, at the thread that holds the interpreter. A look counts "
            "for the innermost function of ours, or for a library if there is none of ours. Threads that wait and the "
            "Rust part of Temporal's library are not in it.",
        ),
        *profile.python_table(workers),
    ]  # fmt: skip


def queues(measured: list[Json]) -> list[str]:
    """The section about one large queue next to a small one; empty where it was not measured."""
    if len(measured) < 2:
        return []
    head, *records = measured
    lines = [
        "## A large queue and a small one", "",
        *paragraph(f"Documents of {records[0]['units']} units.", queue.METHOD, origin(head)),
        "| documents | open at once | documents a minute | CPU ms a document | by process | worker-cutter, MiB |",
        "| --- | --- | --- | --- | --- | --- |",
    ]  # fmt: skip
    for record in records:
        memory = (record.get("rss_while_all_wait_mib") or record["rss_mib"])["worker-cutter"]
        lines.append(
            f"| {record['documents']:,} | {record.get('open', record['documents']):,} | {record['per_minute']} | "
            f"{sum(record['cpu_ms'].values()):.0f} | {by_process(record['cpu_ms'])} | {memory:.0f} |"
        )
    return [*lines, ""]
