"""IO: P24: our own guards are taken out one at a time, and a test must turn red each time.

    python -m tests.campaigns.p24_removed_guards --seed 1 --out p24.jsonl
    python -m tests.campaigns.p24_removed_guards --only living_law --jobs 2

Each trial changes one text of a copy of the checkout (guards.py) and runs the one test that is about it, in a process
of its own. Only a test that fails counts: one that is skipped, hangs, or could not even be set up does not. The control
arm runs the same tests with every guard in place: all of them must be green, or the red ones mean nothing. With
`--jobs 2` two copies of the checkout are tried at the same time.
"""

from __future__ import annotations

import itertools
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path
from queue import SimpleQueue
from typing import Any

from tests.campaigns.guards import GUARDS, Guard
from tests.cases.trials import Summary, command_line, write_lines

ROOT = Path(__file__).resolve().parents[2]
SHARE_SEEN = 0.98
"""Of the guards whose removal must be seen."""

TEST_SECONDS = 300
CONTROL_SECONDS = 3_600
RED, GREEN, GONE = "red", "green", "the guard's text is not there"

# Compiled files are copied too: they go by the time of their source, which is kept.
_NOT_COPIED = shutil.ignore_patterns(".git", ".venv*", ".cutter", ".*_cache", ".hypothesis", "results")

_LATER = itertools.count(10)
"""Seconds after the time of a file, another number for each change."""

Row = dict[str, Any]


@contextmanager
def copied() -> Iterator[Path]:
    """A copy of the checkout, beside nothing that it could be taken for."""
    with tempfile.TemporaryDirectory(prefix="p24") as folder:
        copy = Path(folder) / "checkout"
        shutil.copytree(ROOT, copy, ignore=_NOT_COPIED, symlinks=True)
        yield copy


@contextmanager
def removed(guard: Guard, copy: Path) -> Iterator[bool]:
    """The copy without the guard; False, and nothing changed, when its text does not stand there exactly once."""
    path = copy / guard.file
    text = path.read_text(encoding="utf-8")
    if text.count(guard.old) != 1:
        yield False
        return
    was = path.stat()
    path.write_text(text.replace(guard.old, guard.new), encoding="utf-8")
    # Compiled files go by size and time. So each change has a time of its own: another one of the same size is seen.
    os.utime(path, (was.st_atime, was.st_mtime + next(_LATER)))
    try:
        yield True
    finally:
        path.write_text(text, encoding="utf-8")
        os.utime(path, (was.st_atime, was.st_mtime))


def judged(copy: Path, tests: Sequence[str], *, seconds: float = TEST_SECONDS, jobs: int = 1) -> str:
    """What became of these tests in the copy: red, green, or why it shows neither."""
    words = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", "-rfEs", "--no-header", "--tb=no"]
    # What needs no server needs none of its fixtures either, whose imports would take most of the time.
    words += ["--noconftest", "-p", "tests.support.hypothesis_profile"] if all(map(_is_pure, tests)) else []
    words += ["-n", str(jobs), "--dist", "loadgroup"] if jobs > 1 else []
    try:
        done = subprocess.run(
            [*words, *(f"tests/{test}" for test in tests)],
            cwd=copy, env=_environment(), capture_output=True, text=True, check=False, timeout=seconds,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return f"not over after {seconds:.0f} s"
    counts = Counter(re.findall(r"^(FAILED|ERROR|SKIPPED) ", done.stdout, re.MULTILINE))
    if done.returncode == 0 and not counts:
        return GREEN
    if done.returncode == 1 and set(counts) == {"FAILED"}:
        return RED
    return f"exit {done.returncode}: {(done.stdout + done.stderr)[-400:].strip()}"


def _is_pure(test: str) -> bool:
    return test.startswith(("unit/", "property/"))


def _environment() -> dict[str, str]:
    """Nothing of a test run that this may be part of: its cluster holds what is not mutated."""
    ours = ("PYTEST", "TEST_", "CUTTER_", "TEMPORAL_", "PYTHON")
    return {name: value for name, value in os.environ.items() if not name.startswith(ours)}


def imported_from(copy: Path) -> Path:
    """Where Python finds the product when it is started in the copy."""
    words = [sys.executable, "-c", "import cutter; print(cutter.__file__)"]
    done = subprocess.run(words, cwd=copy, env=_environment(), capture_output=True, text=True, check=True)
    return Path(done.stdout.strip())


def trial(guard: Guard, copy: Path) -> Row:
    """One guard away; what its test says."""
    began = time.monotonic()
    with removed(guard, copy) as changed:
        verdict = judged(copy, [guard.test]) if changed else GONE
    seconds = round(time.monotonic() - began)
    return {"guard": guard.what, "file": guard.file, "test": guard.test, "said": verdict, "seconds": seconds}


def trials(guards: Sequence[Guard], copies: Sequence[Path]) -> list[Row]:
    """A trial of each guard, as many at a time as there are copies; a copy lacks one guard at a time."""
    free: SimpleQueue[Path] = SimpleQueue()
    for copy in copies:
        free.put(copy)

    def one(guard: Guard) -> Row:
        copy = free.get()
        try:
            return trial(guard, copy)
        finally:
            free.put(copy)

    with ThreadPoolExecutor(len(copies)) as pool:
        return list(pool.map(one, guards))


def untouched(copy: Path, tests: Sequence[str], jobs: int) -> str:
    """The control arm: green when all tests are with every guard in place, else what the first others say."""
    groups = [[test for test in tests if _is_pure(test) is pure] for pure in (True, False)]
    verdicts = (judged(copy, group, seconds=CONTROL_SECONDS, jobs=jobs) for group in groups if group)
    return next((verdict for verdict in verdicts if verdict != GREEN), GREEN)


def run(
    *, seed: int, out: Path | None = None, guards: Sequence[Guard] = GUARDS, only: str = "", jobs: int = 1
) -> Summary:
    """Every guard, or those whose file or test has `only` in its name. The seed changes nothing: nothing is drawn."""
    guards = [guard for guard in guards if only in guard.file or only in guard.test]
    if not guards:
        raise SystemExit(f"--only {only}: no guard's file or test has this in its name (tests/campaigns/guards.py)")
    tests = sorted({guard.test for guard in guards})
    with ExitStack() as folders:
        copies = [folders.enter_context(copied()) for _ in range(jobs)]
        if not all(imported_from(copy).is_relative_to(copy) for copy in copies):
            raise AssertionError("the tests of the copy would not run the copy")
        control = untouched(copies[0], tests, jobs)
        rows = trials(guards, copies) if control == GREEN else []
    write_lines(out, ({"seed": seed, **row} for row in rows))
    return summary(rows, tests=len(tests), control=control)


def summary(rows: Sequence[Row], *, tests: int, control: str) -> Summary:
    """Up to a fiftieth may go unseen and is listed; a guard that is not found, or a test that cannot run, may not."""
    unseen = [row for row in rows if row["said"] == GREEN]
    broken = [row for row in rows if row["said"] not in (RED, GREEN)]
    allowed = len(unseen) <= (1 - SHARE_SEEN) * len(rows)
    result = Summary(
        name="P24 removed guards",
        n=len(rows),
        failures=len(broken) + (0 if allowed else len(unseen)),
        control=tests if control == GREEN and rows else 0,
        control_n=tests,
        counts=Counter(f"{row['file'].rpartition('/')[2]}: seen" for row in rows if row["said"] == RED),
    )
    result.counts["removals that a test has seen"] = sum(row["said"] == RED for row in rows)
    result.counts["removals that nothing has seen"] = len(unseen)
    result.counts[f"tests with every guard in place: {control}"] = tests
    result.counts.update(f"NOT SEEN: {row['guard']} ({row['file']})" for row in unseen)
    result.counts.update(f"BROKEN: {row['guard']} ({row['file']}): {row['said']}" for row in broken)
    return result


if __name__ == "__main__":
    raise SystemExit(command_line(run, "P24: removed guards", only="", jobs=1))
