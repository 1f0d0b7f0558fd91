"""IO: what every command shares at the terminal: exit codes, output for people and for machines, progress.

Results go to standard output, everything said on the way to standard error, so `--json` prints one JSON document and
nothing else. Colours appear only on a terminal; NO_COLOR is respected.

Every text leaves through this module, and a test holds that. Here each character that a reader cannot see becomes its
code, and no text is markup. Colours are added after that.
"""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from enum import IntEnum
from itertools import zip_longest
from pathlib import Path
from time import monotonic
from typing import Annotated, Any, Final, TextIO

import typer
from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.measure import Measurement
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
from rich.segment import Segment
from rich.table import Table
from rich.text import Text

from cutter.domain.visible import json_text, visible, visible_line
from cutter.domain.word_diff import SIGNS, Kind, Piece
from cutter.errors import InvalidInput, Unavailable
from cutter.storage import private

AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON document instead of a table.")]
"""The option that every command has."""


WIDTH_ELSEWHERE = 10_000
"""Characters of a line if there is no terminal. No row has more; its commands alone may have 300."""


class ExitCode(IntEnum):
    """The exit codes of all commands. Our errors carry theirs (`cutter.errors`)."""

    DONE = 0
    FAILED = 1
    USAGE = 2
    WAITING = 3
    STOPPED = 4
    UNAVAILABLE = 5
    INTERRUPTED = 130


EXIT_CODES = {
    ExitCode.DONE: "done: also a run that was started, without --wait or --watch",
    ExitCode.FAILED: "failed: a gate refused the run, a check found a fault, or what was named does not exist",
    ExitCode.USAGE: "usage: what was typed must be corrected; nothing was done",
    ExitCode.WAITING: "waiting: the run waits for a person; with --wait or --watch",
    ExitCode.STOPPED: "stopped or refused: a rule said no, and a person must decide or sign",
    ExitCode.UNAVAILABLE: "unavailable: a part does not answer; when it is back, the same command works",
    ExitCode.INTERRUPTED: "interrupted: by Ctrl-C; everything that was started continues",
}
"""The meaning of each exit code: a word, then the case."""


class SafeConsole(Console):
    """A console that shows hidden characters as their codes, and treats no text as markup, emoji or a link."""

    def __init__(self, file: TextIO, *, width: int | None) -> None:
        super().__init__(file=file, width=width, highlight=False, markup=False, emoji=False)

    def render_str(self, text: str, **how: Any) -> Text:
        """A plain text that rich measures and wraps with the codes of its hidden characters."""
        return super().render_str(visible(text), **how)

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """Everything that is printed passes here. The codes with which rich steers the terminal are not texts."""
        for segment in super().render(renderable, options):
            yield segment if segment.control else Segment(visible(segment.text), segment.style)


def plain(value: object, style: str = "") -> Text:
    """A text of several lines, shown unchanged. rich's own `Text` would silently drop some control characters."""
    return Text(visible(str(value)), style=style)


def line(value: object, style: str = "") -> Text:
    """A text that stays on its line. A line feed in it cannot begin a line that looks like one of ours."""
    return Text(visible_line(str(value)), style=style)


def quoted(text: Text) -> Text:
    """A text from outside, with each line indented, so that no line of it looks like one of ours."""
    return Text("\n").join(Text(INDENT) + text_line for text_line in text.split("\n", allow_blank=True))


def out() -> Console:
    """The present standard output, which tests and pipes replace."""
    return _console(sys.stdout)


INDENT = "  "

_WORKING: ContextVar[Console | None] = ContextVar("working", default=None)
"""The console whose last line shows progress. Only this console can print above that line."""


def err() -> Console:
    return _WORKING.get() or _console(sys.stderr)


def _console(stream: TextIO) -> Console:
    """A console as wide as the terminal. Without a terminal it is so wide that no line is folded, because `grep` and
    logs read it.
    """
    return SafeConsole(stream, width=None if stream.isatty() else WIDTH_ELSEWHERE)


def fills_the_screen() -> bool:
    """True if a person sits at a terminal on which a program can draw."""
    streams = (sys.stdin, sys.stdout, sys.stderr)
    return all(stream.isatty() for stream in streams) and os.environ.get("TERM", "dumb") != "dumb"


def show(value: Any, *, as_json: bool, render: Callable[[Console], None]) -> None:
    """Print `value` as one JSON document, or let `render` print it for a person."""
    if as_json:
        write(json_text(value, indent=2))
    else:
        render(out())


def write(*texts: str) -> None:
    """Write texts to standard output, one line each. They are never folded, because programs read them."""
    for text in texts:
        print(visible(text), file=sys.stdout)
    sys.stdout.flush()


def table(columns: Sequence[str], rows: Iterable[Sequence[object]], *, title: str | None = None) -> Table:
    """A plain table. The first cell of a row stays on one line, so that no text can add a row."""
    made = Table(title=title, title_justify="left", box=None, pad_edge=False, header_style="bold")
    for column in columns:
        made.add_column(column, overflow="fold")
    for row in rows:
        made.add_row(*map(line, row[:1]), *map(plain, row[1:]))
    return made


def fields(record: Mapping[str, object]) -> Group:
    """The fields of one thing that are not empty, and below them its next command, which can be copied whole.

    Print it with `soft_wrap=True`.
    """
    rows = [(key, value) for key, value in record.items() if value not in (None, "", {}) and key != "next"]
    return Group(table(("field", "value"), rows), *([line(f"next: {record['next']}")] if record.get("next") else []))


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing:
    """A table if it fits. Otherwise each row becomes a block of `column: cell` pairs, which are not cut.

    `commands` has a command for each row. It is a last column if there is no terminal, else a line that a person can
    copy (print with `soft_wrap=True`). The first column names the row.
    """

    columns: Sequence[str]
    rows: Sequence[Sequence[object]]
    title: str | None = None
    commands: Sequence[str] = ()

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        whole, below = self._table(copied=console.is_terminal)
        if Measurement.get(console, options.update(max_width=WIDTH_ELSEWHERE), whole).maximum <= options.max_width:
            yield whole
            yield from map(line, below)
            return
        yield from [plain(self.title, "italic")] if self.title else []
        for row, command in zip_longest(self.rows, self.commands):
            yield from map(line, block(self.columns, row, options.max_width))
            yield from [line(f"  {command}")] if command else []

    def _table(self, *, copied: bool) -> tuple[Table, list[str]]:
        """The table, and the lines below it: each command once, with the numbers of its rows."""
        if not self.commands:
            return table(self.columns, self.rows, title=self.title), []
        if not copied:
            rows = [(*row, command) for row, command in zip(self.rows, self.commands, strict=True)]
            return table((*self.columns, "next"), rows, title=self.title), []
        numbered = [(number, *row) for number, row in enumerate(self.rows, start=1)]
        of_command: dict[str, list[str]] = {}
        for number, command in enumerate(self.commands, start=1):
            of_command.setdefault(command, []).append(str(number))
        below = [f"{', '.join(numbers)}  {command}" for command, numbers in of_command.items()]
        return table(("#", *self.columns), numbered, title=self.title), below


def block(columns: Sequence[str], row: Sequence[object], width: int) -> list[str]:
    """One row as lines: its name, then as many `column: cell` pairs on each line as fit. Empty cells are left out."""
    name, *cells = (str(cell) for cell in row)
    lines = [name]
    for column, cell in zip(columns[1:], cells, strict=True):
        pair = f"{column}: {cell}"
        if not cell:
            continue
        if len(lines) > 1 and len(lines[-1]) + len(pair) + 2 <= width:
            lines[-1] += f"  {pair}"
        else:
            lines.append(f"  {pair}")
    return lines


@contextmanager
def progress(text: str) -> Iterator[Callable[[str], None]]:
    """A status line during work that takes time. Yields a function that changes its text.

    Without a terminal each text becomes one line with the seconds since the start, so a log shows how long each step
    took.
    """
    console = err()
    if not console.is_terminal:
        began = monotonic()

        def log(step: str) -> None:
            console.print(f"{monotonic() - began:4.0f} s  {step}", soft_wrap=True)

        log(text)
        yield log
        return
    with console.status(line(text)) as status:
        before = _WORKING.set(console)
        try:
            yield lambda other: status.update(line(other))
        finally:
            _WORKING.reset(before)


@contextmanager
def progress_bar(text: str, total: int) -> Iterator[Callable[[str], None]]:
    """A progress bar for work on `total` things. Yields a function that takes the name of the thing that is done.

    It draws only when something is done, because gpg may ask for a passphrase in between. Without a terminal each name
    becomes one line.
    """
    console = err()
    if not console.is_terminal:
        yield lambda name: console.print(f"{text} {name}", soft_wrap=True)
        return
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, console=console, auto_refresh=False) as bar:
        task = bar.add_task(text, total=total)

        def done(name: str) -> None:
            bar.update(task, advance=1, description=visible_line(f"{text} {name}"), refresh=True)

        yield done


def say(text: str) -> None:
    """Print one sentence next to the result."""
    err().print(text, soft_wrap=True)


def end(code: ExitCode) -> None:
    """Leave the command with this exit code."""
    if code is not ExitCode.DONE:
        raise typer.Exit(int(code))


_STYLES: Final[dict[Kind, str]] = {"removed": "red strike", "added": "green", "same": ""}


def by_word(pieces: Sequence[Piece]) -> Text:
    """The pieces as one indented text; a text that is unchanged is not repeated."""
    if [piece.kind for piece in pieces] == ["same"]:
        return line("  the same text")
    shown = plain("")
    for piece in pieces:
        before, after = SIGNS[piece.kind]
        shown.append_text(plain(f"{before}{piece.text}{after}", _STYLES[piece.kind]))
    shown.rstrip()
    return quoted(shown)


FULL = (errno.ENOSPC, errno.EDQUOT)


@contextmanager
def output(path: Path | None, option: str = "--out") -> Iterator[None]:
    """Raise Unavailable if the disk is full, and InvalidInput if nothing can be written there for another reason."""
    try:
        yield
    except OSError as problem:
        where = f"{option} {path}: {problem.strerror or problem}"
        if problem.errno in FULL:
            raise Unavailable(f"{where}: make room, or name a place on another disk", what="disk") from None
        raise InvalidInput(f"{where}: name a file in a folder that exists and can be written") from None


def write_out(out: Path | None, default: Path, data: bytes) -> Path:
    """Write to `out`, or to `default` in a private folder that is made if needed, and return the path.

    Raises InvalidInput if no file can be written there, and Unavailable if the disk is full.
    """
    path = (out or default).absolute()
    with output(path):
        if out is None:
            private.own_folder(path.parent)
        private.write(path, data)
    return path
