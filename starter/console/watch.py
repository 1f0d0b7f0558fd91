"""IO: follows something for --watch: a live table on a terminal, else one line (or JSON document) for each change."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Protocol, TypeVar

from rich.console import RenderableType
from rich.live import Live

from cutter.domain.visible import json_text, visible_line
from cutter.types import Json
from starter.console.terminal import out, show, write

WATCH_SECONDS = 0.5
"""The time between two looks of --watch. A look is one small query."""

WATCH_SHARE = 4
"""The pause after a slow look is so many times as long as the look, so that a watcher causes little load."""


class Record(Protocol):
    """A view as a record, which knows its JSON form."""

    def as_json(self) -> Json: ...


View = TypeVar("View", bound=Json | Record)
Render = Callable[[View], RenderableType]
Lines = Callable[[View], list[str]]
"""All lines of a view. Lines that were printed before are not printed again."""


def follow(
    look: Callable[[], View], render: Render[View], lines: Lines[View], over: Callable[[View], bool], *, watch: bool,
    as_json: bool,
) -> None:  # fmt: skip
    """Show once. With `watch`, show until it is `over`: a live table on a terminal, else one line for each change."""
    if not watch:
        snapshot = look()
        show(
            _json_of(snapshot) if as_json else {}, as_json=as_json,
            render=lambda console: console.print(render(snapshot), soft_wrap=True),
        )  # fmt: skip
        return
    with following(render, (lambda view: [compact(view)]) if as_json else lines, live=not as_json) as tell:
        until(look, tell, over)


def until(look: Callable[[], View], tell: Callable[[View], None], over: Callable[[View], bool]) -> View:
    """Look and tell until it is `over`. Returns the last view."""
    while True:
        began = time.monotonic()
        view = look()
        tell(view)
        if over(view):
            return view
        time.sleep(max(WATCH_SECONDS, WATCH_SHARE * (time.monotonic() - began)))


@contextmanager
def following(render: Render[View], lines: Lines[View], *, live: bool = True) -> Iterator[Callable[[View], None]]:
    """Yields a function that takes each new view. It shows a live table on a terminal, else each line that is new.

    If `live` is false, there is no table on a terminal either.
    """
    console = out()
    if live and console.is_terminal:
        with Live(console=console, auto_refresh=False) as table_:
            yield lambda view: table_.update(render(view), refresh=True)
        return
    shown_lines: set[str] = set()

    def tell(view: View) -> None:
        new = [line for line in lines(view) if line not in shown_lines]
        shown_lines.update(new)
        write(*map(visible_line, new))

    yield tell


def _json_of(view: Json | Record) -> Json:
    return view if isinstance(view, dict) else view.as_json()


def compact(view: Json | Record) -> str:
    """A view in one line. It does not contain the time of the look, because that is no change."""
    return json_text({name: value for name, value in _json_of(view).items() if name != "now_utc"})
