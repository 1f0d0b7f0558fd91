"""Pure: what a document may cost, what was measured, and why a missed target is missed."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from benchmarks import growth
from benchmarks import peers as peer
from benchmarks.result_file import code_of
from cutter import limits
from cutter.types import Json

READING = ("IG_source_pin", "IG_mark", "IG_cutplan", "IG_grant_probe", "IG_structural_verify", "IG_closeout")
CPU_MS, PER_MINUTE, DOCUMENT_MS, MEMORY_MIB, EVENTS, HISTORY_BYTES, TRIPS = 700, 130, 1000, 200, 123, 32 * 1024, 5
OPEN_RUNS, QUEUE = 5000, 10_000
REVISION = "CPU of a revision"
WRITERS = ("IG_cut_leg_a_execute", "IG_leg_b_record", "IG_lifecycle_enact_execute")
DOCUMENTS, UNITS = 100, 3
"""The batch that the targets of CPU and of speed name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reason:
    """Why a target is missed, and the next step."""

    why: str
    next: str


WHY = {
    "one document of 60 units": Reason(
        why="the gates alone, without the engine, take about as long as the goal. The backup takes the largest part: "
        "it encrypts the rows with gpg, decrypts them again and restores them.",
        next="fewer gpg processes.",
    ),
    "leg A of": Reason(
        why="the gate also verifies the approvals, makes the cut plan of the pinned text, and surveys the definitions. "
        "At COMMIT, PostgreSQL checks each new row again: a gate was open, and the anchors agree. The calls "
        "alone do none of this.",
        next="let one check at COMMIT read what several of them read.",
    ),
    "round trips, leg A": Reason(
        why="enactment makes nine at most. Leg A reads the approvals and the backups before its transaction, each on a "
        "connection of its own, and the written rows after COMMIT.",
        next="read the approvals and the backups together.",
    ),
    "round trips of": Reason(
        why="most gates that read make five; IG_backup and IG_write_verify are not counted. IG_source_pin makes six "
        "for three units. IG_cutplan makes seven, because it reads the text again on a connection of its own. "
        "IG_closeout makes nine, because it also publishes waiting documents, reads the evidence that it seals, and "
        "writes the index of runs.",
        next="let its two first reads share a round trip.",
    ),
}
"""Why a target is missed and what would help, by the beginning of its name. The others are made from the records."""

Results = Mapping[str, list[Json]]
"""The records of each result file, by its name without the ending."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """One row of the table. `record` is the name of the result file. `met` is None if it was not measured."""

    name: str
    asked: str
    record: str
    measured: str = "not measured"
    met: bool | None = None

    def row(self, results: Results) -> str:
        """The row in Markdown, with the commit that was measured."""
        word = {None: "–", True: "yes", False: "**no**"}[self.met]
        code = "–" if self.met is None else code_of(results[self.record][0])
        return f"| {self.name} | {self.asked} | {self.measured} | {word} | {code} |"


HEAD = ("| what | target | measured | met | commit |", "| --- | --- | --- | --- | --- |")
"""The first lines of a table of targets."""


def targets(results: Results) -> list[Target]:
    """Every target in the order of the table."""
    return [
        *_growth(results["growth"]),
        _cpu(results["batch"]),
        _per_minute(results["batch"]),
        _peers(results["peers"]),
        *_document(results["document"]),
        _marking(results["marking"]),
        *_queue(results["queue"]),
    ]


def missed(all_targets: Collection[Target], results: Results) -> Iterator[str]:
    """A line for each reason, with the first target that it is about."""
    for start, reason in reasons(results).items():
        names = [target.name for target in all_targets if target.met is False and target.name.startswith(start)]
        if names:
            yield f"**{names[0]}**: {reason.why} Next: {reason.next}"


def reasons(results: Results) -> dict[str, Reason]:
    """Every reason, with the figures of the newest records."""
    batch = hundred(results["batch"])
    return {
        **(_reasons_of_batch(results["batch"][0], batch) if batch else {}),
        "Temporal's share": _reason_of_share(results["document"]),
        "documents a minute compared with the serial loop": _reason_of_loop(results["peers"]),
        **({"documents a minute, compared with DBOS": _reason_of_dbos(results["peers"])} if _has_dbos(results) else {}),
        **_reasons_of_queue(results["queue"]),
        **_reasons_of_growth(results["growth"][1:]),
        **({REVISION: _reason_of_revision(*results["revision"][1:])} if results["revision"] else {}),
        **WHY,
    }


def _reasons_of_batch(head: Json, batch: Json) -> dict[str, Reason]:
    spent, total = batch["cpu_ms"], sum(batch["cpu_ms"].values())
    two = spent["temporal"] + spent["postgres"]
    cores = total * batch["per_minute"] / 60_000
    return {
        "CPU of a document": Reason(
            why=f"Temporal and PostgreSQL alone take {two:.0f} ms, and the three workers {total - two:.0f} ms. The "
            "section about the CPU of a document has the parts.",
            next="fewer steps a document, not only cheaper ones: measure what the tasks of the workflow cost next to "
            "its activities, and let a gate need fewer surveys.",
        ),
        "documents a minute, batch of 100": Reason(
            why=f"the processes use {cores:.1f} of {head['cpus']} cores. Without any pause they could cut "
            f"{60_000 * head['cpus'] / total:.0f} documents a minute. So the CPU of a document limits the speed: at "
            f"{PER_MINUTE} documents a minute, each may use {60 * head['cpus'] / PER_MINUTE:.2f} s.",
            next="reduce the CPU of a document. Then look for what the lanes wait for while a core is idle.",
        ),
    }


def _reason_of_share(document: list[Json]) -> Reason:
    tasks = next((record["more"] for record in document if "workflow tasks" in record.get("more", {})), None)
    count = (
        f" A run has {tasks['workflow tasks']:.0f} workflow tasks and {tasks['activity tasks']:.0f} activity tasks."
        if tasks
        else ""
    )
    return Reason(
        why="between two gates Temporal hands out a workflow task and an activity task, and writes both to its disk."
        + count,
        next="leave out tasks, without hiding a gate or waiting longer for a lost worker.",
    )


def _reason_of_loop(peers: list[Json]) -> Reason:
    loop = [row["cpu_ratio"] for row in peer.summary(peers[1:]) if row["arm"] == "loop"]
    share = f" In the comparison of engines below, it uses {loop[0]} times the CPU of the product." if loop else ""
    return Reason(
        why=f"the loop has no engine: it hands out no tasks, and its record is one file.{share} On two cores, four "
        "lanes cannot make up for this.",
        next="reduce the CPU of a document, as for the batch of 100.",
    )


def _has_dbos(results: Results) -> bool:
    return any(record.get("arm") == "dbos" for record in results["peers"])


def _reason_of_dbos(peers: list[Json]) -> Reason:
    arms = {row["arm"]: row for row in peer.summary(peers[1:])}
    product, dbos = arms["product"]["processes_ms"], arms["dbos"]["processes_ms"]
    plain = [
        f" Temporal without governance is {row['speed_ratio']} times as fast as the product."
        for arm, row in arms.items()
        if arm == "plain temporal"
    ]
    return Reason(
        why=f"Temporal is a server of its own, which takes {product['temporal']} ms of CPU a document. DBOS keeps its "
        f"records in the same PostgreSQL, which takes {dbos['postgres']} ms a document there and {product['postgres']} "
        f"ms in the product. The workers take {dbos['workers']} and {product['workers']} ms." + "".join(plain),
        next="fewer tasks a document.",
    )


def _reasons_of_queue(measured: list[Json]) -> dict[str, Reason]:
    queues = {record["documents"]: record for record in measured if record.get("kind") == "queue"}
    if QUEUE not in queues:
        return {}
    large, small = queues[QUEUE]["cpu_ms"], queues[min(queues)]["cpu_ms"]
    more = ", ".join(
        f"{name} {large[name] - small[name]:+.0f} ms" for name in ("worker-cutter", "temporal", "postgres")
    )
    return {
        "one queue of": Reason(
            why=f"the difference by process: {more}. A worker keeps {limits.WORKFLOWS_CACHED} runs in memory. A run "
            "that waited among thousands is not one of them, so the worker reads it from its history after each "
            "approval. A look at a large batch also has more to read.",
            next="measure what reading a history costs Temporal, and what a look costs PostgreSQL. Runs kept in memory "
            "would save CPU, and cost the memory that has a goal of its own.",
        ),
        "worker's memory": Reason(
            why="the worker holds a view of all documents of the batch, and the runs that it keeps between two steps.",
            next="keep fewer runs, or a smaller view.",
        ),
    }


def _reasons_of_growth(measured: list[Json]) -> dict[str, Reason]:
    """A reason for each size that misses the goal, and for the row of targets about this size."""
    missed = [record for record in measured if max(growth.ratios(record).values()) > growth.GOAL]
    return {
        name: _reason_of_growth(record)
        for record in missed
        for name in (growth.size_of(record), f"60-unit document with {growth.size_of(record)}")
    }


def _reason_of_growth(record: Json) -> Reason:
    ratios = growth.ratios(record)
    name = max(ratios, key=lambda part: ratios[part])
    others = ", ".join(f"{part} {times:.2f} times" for part, times in ratios.items() if part != name)
    scans = any(suspect["kind"] == "table" for suspect in record["suspects"])
    return Reason(
        why=f"the largest of the four figures is {name} ({ratios[name]:.2f} times). The others: {others}. Sequential "
        f"scans {'read more rows' if scans else 'do not read more rows'}. The section about growth names the functions "
        "that take longer.",
        next="measure this size again with more `--repetitions`. If it stays, look at the plans of these functions.",
    )


def _reason_of_revision(first: Json, second: Json) -> Reason:
    total, writers = (
        [sum(row["gates_cpu_ms"][gate] for gate in gates) for row in (first, second)]
        for gates in (first["gates_cpu_ms"], WRITERS)
    )
    return Reason(
        why=f"only leg A, leg B and the enactment cost less if little changes: {writers[1]:.0f} ms instead of "
        f"{writers[0]:.0f}. All other gates take {total[1] - writers[1]:.0f} ms in the revision and "
        f"{total[0] - writers[0]:.0f} ms in the first cut. The text is marked three times, two of which must be "
        "independent. Two requests show every unit. A backup is taken and restored.",
        next="keep the earlier versions of a revised law out of its backup, because they make it larger.",
    )


def hundred(batch: list[Json]) -> Json | None:
    """The newest batch that the targets name: 100 documents of 3 units."""
    rows = [
        row for row in batch if (row.get("kind"), row.get("documents"), row.get("units")) == ("batch", DOCUMENTS, UNITS)
    ]
    return rows[-1] if rows else None


def batch_goals(batch: Sequence[Json]) -> Iterator[Target]:
    """Each batch compared with the faster one of the serial loops that ran before and after it."""
    for row in batch:
        if row.get("kind") != "batch":
            continue
        best = max(
            loop["per_minute"] for loop in batch if (loop["kind"], loop.get("units")) == ("serial", row["units"])
        )
        yield Target(
            name=f"documents a minute compared with the serial loop, {row['documents']:,} of {row['units']} units",
            asked=f"≥ {best:.0f}", measured=f"{row['per_minute']:.0f}", met=row["per_minute"] >= best, record="batch",
        )  # fmt: skip


def _growth(measured: list[Json]) -> Iterator[Target]:
    for axis, size in (("units", 1_000_000), ("runs", 100_000)):
        name = f"60-unit document with {size:,} {axis}, compared with an empty database"
        asked = f"≤ {growth.GOAL} times"
        records = [record for record in measured[1:] if (record["axis"], record["size"]) == (axis, size)]
        if not records:
            yield Target(name=name, asked=asked, record="growth")
            continue
        worst = max(growth.ratios(records[0]).values())
        yield Target(name=name, asked=asked, measured=f"{worst:.2f} times", met=worst <= growth.GOAL, record="growth")


def _cpu(measured: list[Json]) -> Target:
    name, asked = f"CPU of a document, batch of {DOCUMENTS} of {UNITS} units", f"≤ {CPU_MS} ms"
    batch = hundred(measured)
    if batch is None:
        return Target(name=name, asked=asked, record="batch")
    spent = sum(batch["cpu_ms"].values())
    return Target(name=name, asked=asked, measured=f"{spent:.0f} ms", met=spent <= CPU_MS, record="batch")


def _per_minute(measured: list[Json]) -> Target:
    name, asked = f"documents a minute, batch of {DOCUMENTS} of {UNITS} units", f"≥ {PER_MINUTE}"
    batch = hundred(measured)
    if batch is None:
        return Target(name=name, asked=asked, record="batch")
    speed = batch["per_minute"]
    return Target(name=name, asked=asked, measured=f"{speed:.0f}", met=speed >= PER_MINUTE, record="batch")


def _peers(measured: list[Json]) -> Target:
    name, asked = "documents a minute, compared with DBOS and the same gates", "≥ 1.0 times"
    rows = [row for row in peer.summary(measured[1:]) if row["arm"] == "dbos"] if measured else []
    if not rows or not rows[0]["speed_ratio"]:
        return Target(name=name, asked=asked, record="peers")
    times = 1 / rows[0]["speed_ratio"]
    return Target(name=name, asked=asked, measured=f"{times:.2f} times", met=times >= 1.0, record="peers")


def _document(measured: list[Json]) -> Iterator[Target]:
    full = {record["units"]: record for record in measured if record.get("kind") == "full"}
    floor = {record["units"]: record for record in measured if record.get("kind") == "floor"}
    spent = full[60]["total_ms"]
    yield Target(
        name="one document of 60 units, without people", asked=f"≤ {DOCUMENT_MS / 1000:.1f} s",
        measured=f"{spent / 1000:.1f} s", met=spent <= DOCUMENT_MS, record="document",
    )  # fmt: skip
    for units, most in ((60, 0.25), (1000, 0.10)):
        share = 1 - floor[units]["total_ms"] / full[units]["total_ms"]
        yield Target(
            name=f"Temporal's share of a document of {units:,} units", asked=f"≤ {most:.0%}", measured=f"{share:.0%}",
            met=share <= most, record="document",
        )  # fmt: skip
    large = max(full)
    bare = floor[large]["gates_ms"]["IG_cut_leg_a_execute"] / floor[large]["bare_calls_ms"]
    yield Target(
        name=f"leg A of {large:,} units, compared with only its SQL calls", asked="≤ 1.2 times",
        measured=f"{bare:.2f} times", met=bare <= 1.2, record="document",
    )  # fmt: skip
    trips = max(record["round_trips"][gate] for record in floor.values() for gate in READING)
    yield Target(
        name="round trips of a reading gate", asked=f"≤ {TRIPS}", measured=f"{trips} at most", met=trips <= TRIPS,
        record="document",
    )  # fmt: skip
    events = max(record["more"]["history events"] for record in full.values())
    size = max(record["more"]["history bytes"] for record in full.values())
    yield Target(
        name="history of a run", asked=f"≤ {EVENTS} events, ≤ 32 KB",
        measured=f"{events:.0f} events, {size:,.0f} bytes", met=events <= EVENTS and size <= HISTORY_BYTES,
        record="document",
    )  # fmt: skip


def _marking(measured: list[Json]) -> Target:
    name, asked = "marking 371 KB, CPU", "≤ 100 ms"
    times = [record["cpu_ms"] for record in measured if str(record.get("case", "")).startswith("fr-code-minier")]
    if not times:
        return Target(name=name, asked=asked, record="marking")
    return Target(name=name, asked=asked, measured=f"{times[0]} ms", met=times[0] <= 100, record="marking")


def _queue(measured: list[Json]) -> Iterator[Target]:
    memory = Target(name=f"worker's memory with {OPEN_RUNS:,} open runs", asked=f"≤ {MEMORY_MIB} MiB", record="queue")
    cost = Target(
        name=f"one queue of {QUEUE:,} documents compared with 100, CPU of a document", asked="≤ +15 %", record="queue"
    )
    queues = {record["documents"]: record for record in measured if record.get("kind") == "queue"}
    if QUEUE not in queues:
        yield from (memory, cost)
        return
    large, small = queues[QUEUE], queues[min(queues)]
    mib = large["rss_mib"]["worker-cutter"]
    more = sum(large["cpu_ms"].values()) / sum(small["cpu_ms"].values()) - 1
    if large["open"] < OPEN_RUNS:
        yield memory
    else:
        yield replace(memory, measured=f"{mib:.0f} MiB", met=mib <= MEMORY_MIB)
    yield replace(cost, measured=f"{more:+.0%}", met=more <= 0.15)
