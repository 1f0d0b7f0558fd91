"""IO: in which functions PostgreSQL and the workers spend the time, for the records of benchmarks and for the page.

The embedded server has no `pg_stat_statements`, so single statements are not listed. A function's own time is a wall
time without the functions that it calls. To count it costs time too, so a profile has a run of its own.

Of a worker, `py-spy` looks a hundred times a second at the thread that holds the interpreter. A look counts for our
function that is deepest in the stack, so the libraries that it calls are in its share.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence

import psycopg

from cutter.types import Json

TRACK = "alter system set track_functions = 'all'"
UNTRACK = "alter system reset track_functions"
RELOAD = "select pg_reload_conf()"
RESET = "select pg_stat_reset()"
TOP = 12
"""Functions that a record keeps."""

FUNCTIONS = """
select funcname as name, calls::float8 as calls, self_time::float8 as self_ms,
    (self_time / nullif(sum(self_time) over (), 0))::float8 as share
from pg_stat_user_functions order by self_time desc
"""
"""Every function, the costliest first. `share` is its share of the time in all functions."""


def top(rows: Sequence[Json], documents: int, most: int = TOP) -> list[Json]:
    """The costliest functions, with calls and own milliseconds for each document."""
    return [
        {
            "name": row["name"], "calls": round(row["calls"] / documents, 1),
            "self_ms": round(row["self_ms"] / documents, 2), "share": round(row["share"] or 0, 3),
        }
        for row in rows[:most]
    ]  # fmt: skip


def counted(connection: psycopg.Connection[psycopg.rows.DictRow]) -> list[Json]:
    """What PostgreSQL has counted since it was reset."""
    return connection.execute(FUNCTIONS).fetchall()


FRAME = re.compile(r"(?P<function>\S+) \((?P<file>\S+):\d+\)")
OURS = ("activities/", "cutter/", "temporal/", "workflows/")
WAITS = re.compile(r"select \(selectors\.py|wait \(threading\.py|_worker \(concurrent/futures/thread\.py")
"""Innermost frames of a thread that waits. Such a look is not counted."""


def python_top(raw: str, most: int = TOP) -> list[Json]:
    """The costliest of our functions in a file of `py-spy record --format raw`, each with its share of the looks."""
    looks: Counter[str] = Counter()
    for line in raw.splitlines():
        stack, _, count = line.rpartition(" ")
        frames = stack.split(";")
        if not WAITS.search(frames[-1]):
            looks[_deepest(frames)] += int(count)
    total = looks.total()
    return [{"name": name, "share": round(count / total, 3)} for name, count in looks.most_common(most)]


def _deepest(frames: Sequence[str]) -> str:
    """Our innermost function, such as `cutter/gpg.py: verify`. Without one, the library of the innermost frame."""
    known = [match for match in map(FRAME.search, reversed(frames)) if match]
    for frame in known:
        if frame["file"].startswith(OURS):
            return f"{frame['file']}: {frame['function']}"
    return known[0]["file"].split("/")[0].removesuffix(".py") if known else frames[-1]


def python_table(workers: Mapping[str, Sequence[Json]]) -> list[str]:
    """The functions of each worker in Markdown."""
    lines = ["| worker | function, with the libraries that it calls | share of the worker's Python |"]
    lines.append("| --- | --- | --- |")
    for worker, functions in workers.items():
        lines += [f"| {worker} | `{function['name']}` | {function['share']:.0%} |" for function in functions]
    return [*lines, ""]


def table(functions: Sequence[Json]) -> list[str]:
    """The functions in Markdown."""
    head = "| function of PostgreSQL | calls a document | own ms a document | share of the time in functions |"
    rows = [
        f"| `{function['name']}` | {function['calls']:g} | {function['self_ms']:.1f} | {function['share']:.0%} |"
        for function in functions
    ]
    return [head, "| --- | --- | --- | --- |", *rows, ""]
