"""Pure: what a document may cost, what was measured, and why a missed target is missed."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

from benchmarks import growth, steady
from benchmarks import peers as peer
from cutter.types import Json

READING = ("IG_source_pin", "IG_mark", "IG_cutplan", "IG_grant_probe", "IG_structural_verify", "IG_closeout")
CPU_MS, PER_MINUTE, DOCUMENT_MS, MEMORY_MIB, EVENTS, HISTORY_BYTES, TRIPS = 700, 130, 1000, 200, 123, 32 * 1024, 5
OPEN_RUNS, QUEUE = 5000, 10_000

WHY = {
    "CPU of a document": "the section about the CPU of a document says what takes it.",
    "documents a minute, batch of 100": (
        "both cores are always busy, so the CPU of a document limits the speed. At 130 documents a minute, each "
        "document may use 0.92 s of CPU."
    ),
    "documents a minute, compared with DBOS": (
        "DBOS keeps its records in the same PostgreSQL. Temporal is a server of its own, which takes a quarter of a "
        "document's CPU. Temporal without governance is about as fast as the product. Next: fewer tasks a document."
    ),
    "one document of 60 units": (
        "the gates alone, without the engine, take about as long as the goal. The backup takes the largest part: it "
        "encrypts the rows with gpg, decrypts them again and restores them. Next: fewer gpg processes."
    ),
    "Temporal's share": (
        "between two gates Temporal hands out a workflow task and an activity task, and writes both to its disk. Next: "
        "leave out tasks, without hiding a gate or waiting longer for a lost worker."
    ),
    "leg A of": (
        "the gate also verifies the approvals, makes the cut plan of the pinned text, and surveys the definitions. At "
        "COMMIT, PostgreSQL checks each new row again: a gate was open, the anchors agree, and the backup counts the "
        "change. The calls alone do none of this. Next: let one check at COMMIT read what several of them read."
    ),
    "round trips, leg A": (
        "enactment makes nine at most. Leg A reads the approvals and the backups before its transaction, each on a "
        "connection of its own, and the written rows after COMMIT. Next: read the approvals and the backups together."
    ),
    "round trips of": (
        "most gates that read make five; IG_backup is not counted. IG_cutplan makes seven, because it reads the text "
        "again on a connection of its own. IG_closeout makes nine, because it also publishes waiting documents, reads "
        "the evidence that it seals, and writes the index of runs. Next: let its two first reads share a round trip."
    ),
    "worker's memory": (
        "much of it was free memory that the allocator kept. Since this measurement a worker gives it back. Next: "
        "measure it again."
    ),
    "one queue of": (
        "while 300 documents were signed, a third of PostgreSQL's time and a quarter of the cutter worker's went into "
        "looks of the batch at its items. Since this measurement a look counts signatures only where there are some, "
        "and visits the items less often. The folder of a working batch needs no look of its own. Next: measure "
        "it again."
    ),
}
"""Why a target is missed and what would help, by the beginning of its name."""

Results = Mapping[str, list[Json]]
"""The records of each result file, by its name without the ending."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """One row of the table. `met` is None if it was not measured."""

    name: str
    asked: str
    measured: str = "not measured"
    met: bool | None = None

    def row(self) -> str:
        """The row in Markdown."""
        word = {None: "–", True: "yes", False: "**no**"}[self.met]
        return f"| {self.name} | {self.asked} | {self.measured} | {word} |"


def targets(results: Results) -> list[Target]:
    """Every target in the order of the table."""
    return [
        *_growth(results["growth"]),
        _steady(results["steady"]),
        _cpu(results["cpu"]),
        _per_minute(results["batch"]),
        _peers(results["peers"]),
        *_document(results["document"]),
        _marking(results["marking"]),
        *_queue(results["queue"]),
    ]


def missed(found: Collection[Target]) -> Iterator[str]:
    """A line for each reason, with the first target that it is about."""
    for start, why in WHY.items():
        names = [one.name for one in found if one.met is False and one.name.startswith(start)]
        if names:
            yield f"- **{names[0]}**: {why}"


def _growth(measured: list[Json]) -> Iterator[Target]:
    for axis, size in (("units", 1_000_000), ("runs", 100_000)):
        name = f"60-unit document with {size:,} {axis}, compared with an empty database"
        asked = f"≤ {growth.GOAL} times"
        found = [one for one in measured[1:] if (one["axis"], one["size"]) == (axis, size)]
        if not found:
            yield Target(name=name, asked=asked)
            continue
        worst = max(growth.ratios(found[0]).values())
        yield Target(name=name, asked=asked, measured=f"{worst:.2f} times", met=worst <= growth.GOAL)


def _steady(measured: list[Json]) -> Target:
    name, asked = "documents a minute after 200 documents of 60 units, compared with a new database", "≥ 0.95 times"
    if len(measured) < 2:
        return Target(name=name, asked=asked)
    records = measured[1:]
    speed, cpu = steady.ratio(records), steady.cpu_ratio(records)
    return Target(name=name, asked=asked, measured=f"{speed:.2f} times (CPU {cpu:.2f})", met=speed >= steady.GOAL)


def _cpu(measured: list[Json]) -> Target:
    name, asked = "CPU of a document, batch of documents of 3 units", f"≤ {CPU_MS} ms"
    if not measured:
        return Target(name=name, asked=asked)
    spent = sum(ms for process, ms in measured[-1]["cpu_ms"].items() if process != "client")
    return Target(name=name, asked=asked, measured=f"{spent:.0f} ms", met=spent <= CPU_MS)


def _per_minute(measured: list[Json]) -> Target:
    name, asked = "documents a minute, batch of 100 of 3 units", f"≥ {PER_MINUTE}"
    found = [one for one in measured if (one["kind"], one.get("documents"), one.get("units")) == ("batch", 100, 3)]
    if not found:
        return Target(name=name, asked=asked)
    speed = found[-1]["per_minute"]
    return Target(name=name, asked=asked, measured=f"{speed:.0f}", met=speed >= PER_MINUTE)


def _peers(measured: list[Json]) -> Target:
    name, asked = "documents a minute, compared with DBOS and the same gates", "≥ 1.0 times"
    found = [one for one in peer.summary(measured[1:]) if one["arm"] == "dbos"] if measured else []
    if not found or not found[0]["speed_ratio"]:
        return Target(name=name, asked=asked)
    times = 1 / found[0]["speed_ratio"]
    return Target(name=name, asked=asked, measured=f"{times:.2f} times", met=times >= 1.0)


def _document(measured: list[Json]) -> Iterator[Target]:
    full = {one["units"]: one for one in measured if one.get("kind") == "full"}
    floor = {one["units"]: one for one in measured if one.get("kind") == "floor"}
    spent = full[60]["total_ms"]
    yield Target(
        name="one document of 60 units, without people", asked=f"≤ {DOCUMENT_MS / 1000:.1f} s",
        measured=f"{spent / 1000:.1f} s", met=spent <= DOCUMENT_MS,
    )  # fmt: skip
    for units, most in ((60, 0.25), (1000, 0.10)):
        share = 1 - floor[units]["total_ms"] / full[units]["total_ms"]
        yield Target(
            name=f"Temporal's share of a document of {units:,} units", asked=f"≤ {most:.0%}", measured=f"{share:.0%}",
            met=share <= most,
        )  # fmt: skip
    large = max(full)
    bare = floor[large]["gates_ms"]["IG_cut_leg_a_execute"] / floor[large]["bare_calls_ms"]
    yield Target(
        name=f"leg A of {large:,} units, compared with only its SQL calls", asked="≤ 1.2 times",
        measured=f"{bare:.2f} times", met=bare <= 1.2,
    )  # fmt: skip
    trips = max(one["round_trips"][gate] for one in floor.values() for gate in READING)
    yield Target(
        name="round trips of a reading gate", asked=f"≤ {TRIPS}", measured=f"{trips} at most", met=trips <= TRIPS
    )
    events = max(one["more"]["history events"] for one in full.values())
    size = max(one["more"]["history bytes"] for one in full.values())
    yield Target(
        name="history of a run", asked=f"≤ {EVENTS} events, ≤ 32 KB",
        measured=f"{events:.0f} events, {size:,.0f} bytes", met=events <= EVENTS and size <= HISTORY_BYTES,
    )  # fmt: skip


def _marking(measured: list[Json]) -> Target:
    name, asked = "marking 371 KB, CPU", "≤ 100 ms"
    found = [one["cpu_ms"] for one in measured if str(one.get("case", "")).startswith("fr-code-minier")]
    if not found:
        return Target(name=name, asked=asked)
    return Target(name=name, asked=asked, measured=f"{found[0]} ms", met=found[0] <= 100)


def _queue(measured: list[Json]) -> Iterator[Target]:
    memory = Target(name=f"worker's memory with {OPEN_RUNS:,} open runs", asked=f"≤ {MEMORY_MIB} MiB")
    cost = Target(name=f"one queue of {QUEUE:,} documents compared with 100, CPU of a document", asked="≤ +15 %")
    found = {one["documents"]: one for one in measured if one.get("kind") == "queue"}
    if QUEUE not in found:
        yield from (memory, cost)
        return
    large, small = found[QUEUE], found[min(found)]
    mib = large["rss_mib"]["worker-cutter"]
    more = sum(large["cpu_ms"].values()) / sum(small["cpu_ms"].values()) - 1
    if large["open"] < OPEN_RUNS:
        yield memory
    else:
        yield Target(name=memory.name, asked=memory.asked, measured=f"{mib:.0f} MiB", met=mib <= MEMORY_MIB)
    yield Target(name=cost.name, asked=cost.asked, measured=f"{more:+.0%}", met=more <= 0.15)
