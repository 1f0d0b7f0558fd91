"""Pure: a request as one self-contained HTML page: first the findings, then the tree with the text of each unit.

The page loads nothing from other servers. It shows everything even without its script, which only filters and opens
parts. The page's content policy lets no other script run. The template engine escapes every text.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterator
from dataclasses import dataclass

from markupsafe import Markup

from cutter.approvals.request import RequestDocument, digest_rows, title_of
from cutter.domain.timestamps import readable
from cutter.projections import report
from cutter.projections.report import DeskBar, page_file, template
from cutter.request_view.forms import UNREAD
from cutter.request_view.view import LeftOut, RequestView, ShownUnit

TEMPLATE = "request.html.j2"
STYLE = "request.css"
SCRIPT = "request.js"


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """A line of the source. `is_target` is true if no earlier piece of the same line has the link target."""

    number: int
    text: str
    is_target: bool
    is_heading: bool
    findings: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A piece of the text on the page: a unit, a piece that becomes no unit, or a blank piece."""

    unit: ShownUnit | None
    left_out: LeftOut | None
    lines: tuple[Line, ...]
    change: str


def render(document: RequestDocument, view: RequestView, *, over: str = "", bar: DeskBar | None = None) -> bytes:
    """The page of a request and its view, in UTF-8. The same values give the same bytes.

    `over` says why nobody can answer the request; it is empty while the request is open. `bar` is the navigation of
    `cutter desk`.
    """
    script = page_file(SCRIPT)
    changes: dict[str, str] = {}
    if document.changes.changed_count or document.changes.removed_count:  # If all units are new, a mark tells nothing.
        changes |= {unit.address: "added" for unit in document.changes.added}
        changes |= {unit.address: "changed" for unit in document.changes.changed}
    page = template(TEMPLATE, STYLE, report.LAW_TEMPLATE).render(
        report.parts(view, linked=True, changes=changes), bar=bar,
        document=document, request=document.request, title=view.title or document.request.document_id,
        asks=title_of(document), rows=list(rows(view, changes)),
        facts=[("request", document.kb_id), *digest_rows(document), ("mark_digest", view.digests.mark_digest)],
        expires=readable(document.expires_utc), script=Markup(script),
        # In the form of the page's content policy.
        script_digest=base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(), over=over,
    )  # fmt: skip
    return page.encode()


def rows(view: RequestView, changes: dict[str, str]) -> Iterator[Row]:
    """Every piece of the source in order, with its numbered lines. Together the pieces are the whole text."""
    marked: dict[int, list[int]] = {}
    for place, finding in enumerate(view.findings):
        marked.setdefault(finding.line, []).append(place)
    last = 0
    for piece in view.pieces:
        unit = piece if isinstance(piece, ShownUnit) else None
        shown = view.body(piece).removesuffix("\n").split("\n")
        lines = tuple(
            Line(
                number=place, text=text.removesuffix("\r"), is_target=place > last,
                is_heading=unit is not None and place == unit.line,
                findings=tuple(marked.get(place, ())) if place > last else (),
            )
            for place, text in enumerate(shown, start=piece.first_line)
            if text or place > last  # A piece can begin with the line feed of the line before it.
        )  # fmt: skip
        last = piece.last_line
        left_out = piece if isinstance(piece, LeftOut) and piece.reason not in UNREAD else None
        yield Row(unit=unit, left_out=left_out, lines=lines, change=changes.get(unit.address, "") if unit else "")
