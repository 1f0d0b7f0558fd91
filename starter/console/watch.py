"""IO: what every --watch does: a live table on a terminal, elsewhere one line (or one JSON document) a change."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from rich.console import RenderableType
from rich.live import Live

from cutter.domain.visible import json_text, visible_line
from starter.console.terminal import out, show, write

WATCH_SECONDS = 0.5
"""Between two looks of --watch; a look is one small query."""

WATCH_SHARE = 4
"""A look that took long is followed by a pause so many times as long: who watches is no load."""

View = dict[str, Any]
Render = Callable[[View], RenderableType]
Lines = Callable[[View], list[str]]
"""All lines of a view; lines that were printed before are not printed again."""


def follow(
    look: Callable[[], View], render: Render, lines: Lines, over: Callable[[View], bool], *, watch: bool, as_json: bool
) -> None:  # fmt: skip
    """Show once, or until it is `over`: a live table on a terminal, else one line a change."""
    if not watch:
        seen = look()
        show(seen, as_json=as_json, render=lambda console: console.print(render(seen), soft_wrap=True))
        return
    with following(render, (lambda view: [_compact(view)]) if as_json else lines, live=not as_json) as tell:
        until(look, tell, over)


def until(look: Callable[[], View], tell: Callable[[View], None], over: Callable[[View], bool]) -> View:
    """Look and tell until it is `over`; the last view."""
    while True:
        began = time.monotonic()
        seen = look()
        tell(seen)
        if over(seen):
            return seen
        time.sleep(max(WATCH_SECONDS, WATCH_SHARE * (time.monotonic() - began)))


@contextmanager
def following(render: Render, lines: Lines, *, live: bool = True) -> Iterator[Callable[[View], None]]:
    """A function for each new view: a live table on a terminal, elsewhere each line that was not there before.

    With `live` false there is no table on a terminal either.
    """
    console = out()
    if live and console.is_terminal:
        with Live(console=console, auto_refresh=False) as table_:
            yield lambda view: table_.update(render(view), refresh=True)
        return
    told: set[str] = set()

    def tell(view: View) -> None:
        new = [line for line in lines(view) if line not in told]
        told.update(new)
        write(*map(visible_line, new))

    yield tell


def _compact(view: View) -> str:
    """A view in one line; when it was looked at is no change."""
    return json_text({name: value for name, value in view.items() if name != "now_utc"})
