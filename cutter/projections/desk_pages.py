"""Pure: the pages of `cutter desk`. Each page works without its script, and the template engine escapes every text.

A long page has parts. A part holds whole entries, at least one, and at most so many bytes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar
from urllib.parse import quote, urlencode

from markupsafe import Markup, escape

from cutter.domain.timestamps import readable
from cutter.domain.visible import visible
from cutter.errors import NotFound
from cutter.law.law_text import OutlineUnit, Unit, UnitTree
from cutter.law.views import legal_time
from cutter.projections.report import DeskBar, page_file, template

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """Which part of a page is shown: its number from 1, the number of parts, and its entries as a slice."""

    number: int
    count: int
    first: int
    end: int
    link: Callable[[int], str] = str
    """The address of another part."""

    def of(self, entries: Sequence[T]) -> Sequence[T]:
        return entries[self.first : self.end]


def part_of(sizes: Sequence[int], number: int, budget: int, link: Callable[[int], str] = str) -> Part:
    """The part with that number, of entries with these sizes. Raises NotFound if there are fewer parts."""
    begins, room = [0], budget  # The place of each part's first entry.
    for place, size in enumerate(sizes):
        if size > room and place > begins[-1]:
            begins.append(place)
            room = budget
        room -= size
    if not 1 <= number <= len(begins):
        raise NotFound(f"this page has {len(begins)} parts: there is no part {number}", code="NO_SUCH_PART")
    ends = [*begins[1:], len(sizes)]
    return Part(number=number, count=len(begins), first=begins[number - 1], end=ends[number - 1], link=link)


SECTIONS = (
    ("Inbox", "/inbox"), ("Requests", "/requests"), ("Laws", "/laws"), ("Search", "/search"), ("Runs", "/runs"),
    ("Batches", "/batches"), ("Queues", "/queues"),
)  # fmt: skip
"""Name and address of each section."""

SHARED = ("desk_page.html.j2", "desk_parts.html.j2", "law_parts.html.j2")
ASSETS = {
    "desk.css": ("report.css", "request.css", "desk.css"),
    **{name: (name,) for name in ("report.css", "request.css", "batch_report.css", "desk.js", "request.js")},
}
"""The style sheets and scripts that pages link, each with the files of which it consists."""

ENTRY_BYTES = 80
"""Markup around an entry of the outline, without its title and the address of its page."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where a reader is: the section, the address of the same page as JSON, and the user whom a proxy names."""

    section: str
    as_json: str
    user: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """An entry of the outline with the entries below it on the same page."""

    unit: OutlineUnit
    title: str
    below: list[Node]


def bar(place: Place) -> DeskBar:
    """The navigation that every page begins with, and the script that copies commands."""
    shown = template("desk_bar.html.j2").render(
        sections=SECTIONS, section=place.section, as_json=place.as_json, user=place.user
    )
    return DeskBar(head=Markup('<script src="/assets/desk.js" defer></script>'), body=Markup(shown))


def _days_in_force(record: Any) -> str:
    """The days, and whether they are to come: a page of the desk knows the present day, and a static page does not."""
    later = getattr(record, "status", None) == "not_yet_in_force"
    return f"{legal_time(record)}{' (not yet in force)' if later else ''}"


def page(name: str, place: Place, *, title: str, **values: Any) -> bytes:
    """One page in UTF-8. `name` is the template's name without `desk_` and its ending."""
    shown = template(f"desk_{name}.html.j2", *SHARED).render(
        bar=bar(place), title=title, time=_days_in_force, moment=readable, **LINKS, **values
    )
    return shown.encode()


def asset(name: str) -> bytes:
    """A style sheet or a script. Raises KeyError for another name."""
    return "".join(map(page_file, ASSETS[name])).encode()


def address(*parts: str, **query: object) -> str:
    """The address of a page. Parts are quoted, except the slashes and tildes of a unit's address. None is left out."""
    given = {name: value for name, value in query.items() if value is not None}
    path = "".join(f"/{quote(part, safe='/~')}" for part in parts)
    return f"{path}?{urlencode(given)}" if given else path


def unit_address(document: str, version: int, unit: str) -> str:
    """The permanent address of a unit's text in one version of its law."""
    return address("laws", document, "units", unit, version=version)


LINKS = {
    "run_link": lambda run: address("runs", run if isinstance(run, str) else run.run_id),
    "request_link": lambda run_id: address("requests", run_id),
    "batch_link": lambda batch_id: address("batches", batch_id),
    "queue_link": lambda run_id: address("queues", run_id),
}
"""Functions that templates call for the address of a page."""


def entry_sizes(tree: UnitTree[OutlineUnit]) -> list[int]:
    """The bytes of each entry of an outline, in the order in which the outline shows them."""
    law = tree.version
    return [
        ENTRY_BYTES
        + len(str(escape(_title(unit))).encode())
        + len(unit_address(law.document, law.version, unit.address))
        for _, unit in tree.outline()
    ]


def nodes(rows: Sequence[tuple[int, OutlineUnit]]) -> list[Node]:
    """Consecutive rows (depth, unit) of an outline as a tree. A unit whose parent is on an earlier part is on top."""
    top: list[Node] = []
    above: list[tuple[int, Node]] = []
    for depth, unit in rows:
        while above and above[-1][0] >= depth:
            above.pop()
        node = Node(unit=unit, title=_title(unit), below=[])
        (above[-1][1].below if above else top).append(node)
        above.append((depth, node))
    return top


def _title(unit: OutlineUnit | Unit) -> str:
    """The title in an outline: long titles are cut."""
    # Characters of a title in an outline; the page of the unit shows the whole title.
    title, most = visible(unit.title), 200
    return title if len(title) <= most else f"{title[:most]}…"
