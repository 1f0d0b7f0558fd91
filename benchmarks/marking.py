"""IO: measures marking: the largest real law, ten times its text, and lines of 82,000 characters.

`python -m benchmarks.marking [--repetitions N] [--output FILE]`. Every case runs once a round, rounds interleaved, and
the median of the rounds is reported; a ratio is the median of the rounds' own ratios. Prints a table and writes JSON
lines. Time is the process's CPU time, since other programs on the machine are not what is measured; the wall clock is
given beside it. The goals: at most 100 ms for the 371 KB code, at most 11 times the time for ten times the text.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from benchmarks.result_file import RESULTS, machine, write
from cutter.marking import Marking, MarkRefusal, Options, build_plan, examine, load_profile
from cutter.marking.suggestion import suggest
from cutter.types import Json

ROOT = Path(__file__).resolve().parents[1]
CODE = "fr-code-minier-nouveau.md"
REGULATION = "eu-2016-679-gdpr.txt"
GOAL_MS = 100.0
GOAL_RATIO = 11.0
LONG_LINE = 82_000
ALL = Options(duplicates="ordinal", empty="heading_only", max_candidates=10_000)


@dataclass(frozen=True, kw_only=True)
class Case:
    """One text and what is done with it; `ten_times` names the case whose text is a tenth of this one's."""

    name: str
    data: bytes
    run: Callable[[bytes], int]
    ten_times: str | None = None


def marked(profile: str) -> Callable[[bytes], int]:
    """Marks and returns the number of units, so that a refusal is noticed."""
    chosen = load_profile(profile)

    def run(data: bytes) -> int:
        marking = examine(data, profile=chosen, docprefix="LAW", options=ALL)
        if not isinstance(marking, Marking):
            raise SystemExit(f"refused: {marking.message}")
        return len(marking.candidates)

    return run


def suggested(data: bytes) -> int:
    """Suggests a profile and returns the number of units that it gives."""
    suggestion = suggest(data, docprefix="LAW")
    if isinstance(suggestion, MarkRefusal) or isinstance(suggestion.result, MarkRefusal):
        raise SystemExit("refused: the model law got no profile")
    return len(suggestion.result.candidates)


def planned(profile: str) -> Callable[[bytes], int]:
    """Marks and builds the plan."""
    chosen = load_profile(profile)

    def run(data: bytes) -> int:
        marking = examine(data, profile=chosen, docprefix="LAW", options=ALL)
        assert isinstance(marking, Marking)
        return len(build_plan(data, marking, docprefix="LAW", source_version_id="v").rows)

    return run


def cases(folder: Path | None) -> list[Case]:
    """Real laws where they are, and made texts anywhere."""
    model = (ROOT / "examples" / "laws" / "reading-rooms-act.en.md").read_bytes()
    body = model[model.index(b"## Part 1") :]
    generic = marked("generic-markdown")
    listed = [
        Case(name="model law x 20", data=body * 20, run=generic),
        Case(name="model law x 200", data=body * 200, run=generic, ten_times="model law x 20"),
        Case(name="suggest, model law x 20", data=body * 20, run=suggested),
        Case(name="suggest, model law x 200", data=body * 200, run=suggested, ten_times="suggest, model law x 20"),
        *hostile(generic),
    ]
    if folder is None:
        return listed
    code = (folder / CODE).read_bytes()
    text = code[code.index(b"# Code minier") :]
    regulation = (folder / REGULATION).read_bytes()
    return [
        Case(name="fr-code-minier", data=code, run=generic),
        Case(name="fr-code-minier, plan", data=code, run=planned("generic-markdown")),
        Case(name="fr-code-minier x 9.5", data=code + b"\n" + tenfold(text), run=generic, ten_times="fr-code-minier"),
        Case(name="eu-gdpr (plain lines)", data=regulation, run=marked("eu-regulation")),
        *listed,
    ]


def tenfold(text: bytes) -> bytes:
    """The text again and again, without going over the number of units that a marking may have."""
    return (text + b"\n") * 8 + text[: len(text) // 2].rpartition(b"\n")[0]


def hostile(run: Callable[[bytes], int]) -> list[Case]:
    """Lines that make careless expressions quadratic, each in 1 and in 10 pieces of 82,000 characters."""
    head = b"# Article 1\nx\n"
    listed = []
    for name, unit in (("[(", b"[("), ("*_`", b"*_`"), ("# [a](", b"[a]("), ("blanks", b" \t"), ("- - -", b"- ")):
        line = unit * (LONG_LINE // len(unit))
        lines = b"".join((line + b"y\n", b"# " + line + b"z\ny\n"))
        listed.append(Case(name=f"long lines {name}", data=head + lines * 10, run=run))
        listed.append(Case(name=f"long lines {name} x 10", data=head + lines * 100, run=run,
                          ten_times=f"long lines {name}"))  # fmt: skip
    return listed


@dataclass(frozen=True, slots=True)
class Took:
    """Milliseconds of one run."""

    cpu: float
    wall: float


def measure(listed: list[Case], repetitions: int) -> dict[str, list[Took]]:
    """Each case in each round; one round before them is not counted. Garbage is collected between runs, not in them."""
    times: dict[str, list[Took]] = {case.name: [] for case in listed}
    for round_number in range(repetitions + 1):
        for case in listed:
            gc.collect()
            wall, cpu = time.perf_counter(), time.process_time()
            case.run(case.data)
            took = Took(1000 * (time.process_time() - cpu), 1000 * (time.perf_counter() - wall))
            if round_number:
                times[case.name].append(took)
    return times


def rows(listed: list[Case], times: dict[str, list[Took]]) -> list[Json]:
    """One record a case."""
    sizes = {case.name: len(case.data) for case in listed}
    records: list[Json] = []
    for case in listed:
        record: Json = {
            "case": case.name,
            "bytes": sizes[case.name],
            "units": case.run(case.data),
            "cpu_ms": round(statistics.median(took.cpu for took in times[case.name]), 1),
            "wall_ms": round(statistics.median(took.wall for took in times[case.name]), 1),
        }
        if case.ten_times is not None:
            pairs = zip(times[case.name], times[case.ten_times], strict=True)
            record["times_the_text"] = round(sizes[case.name] / sizes[case.ten_times], 2)
            record["times_the_time"] = round(statistics.median(large.cpu / small.cpu for large, small in pairs), 2)
        records.append(record)
    return records


def main() -> None:
    """Measure, print the table, write the JSON lines."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--repetitions", type=int, default=5)
    parser.add_argument("--output", type=Path, default=RESULTS / "marking.jsonl")
    chosen = parser.parse_args()
    named = os.environ.get("CUTTER_LAWS")
    folder = Path(named) if named else ROOT.parent / "shared" / "laws"
    listed = cases(folder if folder.is_dir() else None)
    records = rows(listed, measure(listed, chosen.repetitions))
    head = {**machine(), "repetitions": chosen.repetitions}
    print(json.dumps(head))
    print(f"{'case':26} {'bytes':>10} {'units':>6} {'cpu ms':>8} {'wall ms':>8} {'text x':>7} {'time x':>7}")
    for record in records:
        print("{case:26} {bytes:>10} {units:>6} {cpu_ms:>8} {wall_ms:>8} ".format(**record)
              + f"{record.get('times_the_text', '')!s:>7} {record.get('times_the_time', '')!s:>7}")  # fmt: skip
    print(f"goals: fr-code-minier ≤ {GOAL_MS} ms; ten times the text ≤ {GOAL_RATIO} times the time")
    write(chosen.output, (head, *records))


if __name__ == "__main__":
    main()
