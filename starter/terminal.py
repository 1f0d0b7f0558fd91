"""IO: what every command shares at the terminal: exit codes, output for people and for machines, progress.

Results go to standard output, everything said on the way to standard error, so `--json` prints one JSON document and
nothing else. Colours appear only on a terminal; NO_COLOR is respected.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from enum import IntEnum
from typing import Annotated, Any, TextIO

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

Json = Annotated[bool, typer.Option("--json", help="Print one JSON document instead of a table.")]
"""The option that every command has."""


WIDTH_ELSEWHERE = 240
"""Characters of a line where there is no terminal."""


class ExitCode(IntEnum):
    """Spec "Commands"."""

    DONE = 0
    FAILED = 1
    USAGE = 2
    WAITING = 3
    STOPPED = 4
    UNAVAILABLE = 5
    INTERRUPTED = 130


def out() -> Console:
    """Standard output, as it is now (tests and pipes replace it)."""
    return _console(sys.stdout)


def err() -> Console:
    return _console(sys.stderr)


def _console(stream: TextIO) -> Console:
    """As wide as the terminal; without one, wide enough that nothing is folded, since `grep` and logs read it."""
    return Console(file=stream, highlight=False, width=None if stream.isatty() else WIDTH_ELSEWHERE)


def show(value: Any, *, as_json: bool, render: Callable[[Console], None]) -> None:
    """Print `value` as one JSON document, or let `render` print it for a person."""
    if as_json:
        print(json.dumps(value, ensure_ascii=False, indent=2, sort_keys=True, default=str), file=sys.stdout, flush=True)
    else:
        render(out())


def table(columns: Sequence[str], rows: Iterable[Sequence[object]], *, title: str | None = None) -> Table:
    """A plain table; cells are texts, never markup, so nothing from outside can colour or link."""
    made = Table(title=title, title_justify="left", box=None, pad_edge=False, header_style="bold")
    for column in columns:
        made.add_column(column, overflow="fold")
    for row in rows:
        made.add_row(*(escape(str(cell)) for cell in row))
    return made


@contextmanager
def progress(text: str) -> Iterator[Callable[[str], None]]:
    """A status line while something takes time; yields a function that changes its text.

    Without a terminal each text is one line, so a log shows what took how long.
    """
    console = err()
    if not console.is_terminal:
        console.print(escape(text), soft_wrap=True)
        yield lambda other: console.print(escape(other), soft_wrap=True)
        return
    with console.status(escape(text)) as status:
        yield lambda other: status.update(escape(other))


def say(text: str) -> None:
    """One sentence beside the result."""
    err().print(escape(text), soft_wrap=True)


def end(code: ExitCode) -> None:
    """Leave the command with this exit code."""
    if code is not ExitCode.DONE:
        raise typer.Exit(int(code))
