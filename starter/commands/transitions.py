"""IO: `cutter transitions export`: writes all transitions of the database as one stream."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager, nullcontext
from pathlib import Path
from time import sleep
from typing import Annotated, Any, TextIO

import typer
from psycopg import Connection, IsolationLevel

from cutter.catalogue import Role
from cutter.limits import TRANSITIONS_PAUSE_SECONDS
from cutter.projections.transitions_corpus import Follower, gathered
from cutter.settings import Settings, load
from cutter.storage.pools import session
from starter.commands.options import Out
from starter.console.terminal import AsJson, output, say, show

app = typer.Typer(help="Files of transitions (transitions.jsonl).", no_args_is_help=True, add_completion=False)


@app.command()
def export(
    out: Out = None,
    follow: Annotated[bool, typer.Option("--follow", help="Continue with new transitions until Ctrl-C.")] = False,
    as_json: AsJson = False,
) -> None:
    """Write every transition of all runs, batches, tasks and workers as one stream, in the order of time.

    It goes to standard output without --out. Each line is one JSON object. The stream is one snapshot of the database.
    It is sorted on disk, so memory does not grow with the database. With --follow, each later transition follows when
    no earlier one can come.

    Example: cutter transitions export --out transitions.jsonl
    """
    settings, count = load(), 0
    if follow:
        with closing(Follower()) as follower, _target(out) as stream:
            while True:
                with _snapshot(settings) as connection:
                    stream.writelines(f"{line}\n" for line in follower.look(connection))
                stream.flush()
                sleep(TRANSITIONS_PAUSE_SECONDS)
    with _snapshot(settings) as connection:
        spool = gathered(connection)
    with closing(spool), _target(out) as stream:
        for line in spool.ordered():
            count += stream.write(f"{line}\n") > 0
    if out is None:
        return  # the stream itself is JSON lines
    check = f"cutter verify {out}"
    answer = {"transitions": count, "out": str(out), "next": check}
    show(answer, as_json=as_json, render=lambda _: say(f"{count} transitions in {out}; to check them: {check}"))


@contextmanager
def _snapshot(settings: Settings) -> Iterator[Connection[Any]]:
    with session(settings, Role.OPERATOR) as connection:
        connection.isolation_level = IsolationLevel.REPEATABLE_READ
        connection.read_only = True
        with connection.transaction():
            yield connection


@contextmanager
def _target(out: Path | None) -> Iterator[TextIO]:
    with output(out), nullcontext(sys.stdout) if out is None else out.open("w", encoding="utf-8") as stream:
        yield stream
