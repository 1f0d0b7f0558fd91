"""IO: the page that names every key of a page of a signing session. It reads them from the bindings themselves."""

from __future__ import annotations

from typing import Any, ClassVar

from rich.table import Table
from textual.app import ComposeResult
from textual.binding import ActiveBinding, Binding, BindingType
from textual.containers import VerticalScroll
from textual.screen import Screen
from textual.widgets import Footer, Static, TextArea

from starter.console.terminal import line

ALL_KEYS = Binding("question_mark", "app.page_keys", "All keys", tooltip="Show the keys of the page", key_display="?")
"""The binding with which a page opens its `PageKeys`. A page lists it last, so that it ends the footer."""

MOVES = "Move and select where the focus is"


class PageKeys(Screen[None]):
    """The keys that work on a page now, each with what it does. No key of this page decides anything."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "dismiss", "Back"),
        Binding("question_mark", "dismiss", "Back", show=False),
    ]

    def __init__(self, page: Screen[Any]) -> None:
        super().__init__()
        self.rows = rows(page)

    def compose(self) -> ComposeResult:
        shown = Table.grid(padding=(0, 2))
        for keys, does in self.rows:
            shown.add_row(line(keys, "bold"), line(does))
        yield Static(line("The keys of this page", "bold"), id="heading")
        with VerticalScroll():
            yield Static(shown, id="keys")
        yield Footer(compact=True)


def rows(page: Screen[Any]) -> list[tuple[str, str]]:
    """(keys, what they do) of the keys that work on the page now. Those of the footer come first.

    What a key does is the tooltip of its binding. Keys that do the same share a row. The bindings without a tooltip are
    those of textual, of which only the plain keys of a list or a tree are of use here.
    """
    active = [active_binding for active_binding in page.active_bindings.values() if active_binding.enabled]
    ours = sorted((key for key in active if key.binding.tooltip), key=lambda key: not key.binding.show)
    moves = [key for key in active if not key.binding.tooltip and _moves(page, key)]
    groups: dict[str, list[ActiveBinding]] = {}
    for own_key in ours:
        groups.setdefault(own_key.binding.tooltip, []).append(own_key)
    if moves:
        groups[MOVES] = moves
    return [(" ".join(page.app.get_key_display(key.binding) for key in same), does) for does, same in groups.items()]


def _moves(page: Screen[Any], active_binding: ActiveBinding) -> bool:
    """A key without a modifier, of the part with the focus. The keys of a text edit it, but our texts are read-only."""
    return (
        active_binding.node is page.focused
        and not isinstance(active_binding.node, TextArea)
        and "+" not in active_binding.binding.key
    )
