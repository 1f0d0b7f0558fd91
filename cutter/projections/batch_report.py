"""Pure: the report of a batch: one self-contained HTML page, without a script and without requests to other servers.

A thousand documents stay readable. The page groups them by outcome, first the documents that need a person. A long
group is closed until the reader opens it. All values come from the batch's view, and the template engine escapes them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from cutter.batch import batch_step
from cutter.projections.batch_view import ShownBatch, ShownBatchRequest, ShownDocument, Span
from cutter.projections.report import DeskBar, template

TEMPLATE, STYLE = "batch_report.html.j2", "batch_report.css"


GROUPS: tuple[tuple[str, str, tuple[str, ...]], ...] = (
    ("failed", "bad", ("failed",)),
    ("stopped", "held", ("stopped",)),
    ("waiting for people", "held", ("at_sg1", "at_sg2")),
    ("on the way", "open", ("planning", "writing", "enacting")),
    ("not begun", "soft", ("pending",)),
    ("left out", "soft", ("blocked", "busy", "voided", "skipped")),
    ("rehearsed", "good", ("rehearsed",)),
    ("enacted", "good", ("enacted",)),
)
"""Title, colour, and the stages and outcomes of each group. The groups that need a person most come first."""

OPEN_ROWS = 60
"""The most rows of a group that is open at first. A longer group is closed at first."""

CHUNK_ROWS = 100
"""The rows in one part of a long group."""

WIDTH = 1000.0
"""The width of a timeline's bar in units of the drawing. The browser stretches the bar to the width of the page."""

SLIVER = 2.0
"""The width of the shortest span. It must be visible next to hours of waiting."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """A part of the page that can be folded."""

    title: str
    tone: str = ""
    open: bool
    rows: Sequence[ShownDocument | ShownBatchRequest]


def render(view: ShownBatch, *, bar: DeskBar | None = None) -> bytes:
    """The page of a batch's view (`cutter.projections.batch_view.batch_view`) in UTF-8.

    One view gives the same bytes. `bar` is the navigation of `cutter desk`.
    """
    page = template(TEMPLATE, STYLE).render(
        bar=bar, batch=view, tone=tone(view), groups=list(groups(view)), axis=axis(view), counts=list(counts(view)),
        tone_of=tone_of, bars=bars(view), chunk=CHUNK_ROWS, queues=batch_step.QUEUES, asked=asked(view),
        slowest=max((gate.slowest_seconds for gate in view.gates), default=0.0) or 1.0,
    )  # fmt: skip
    return page.encode()


def tone(view: ShownBatch) -> str:
    """The kind of the batch's state, for its colour: good, bad, held or open."""
    known = {"batch_closeout": "good", "batch_failed_partial": "bad", "batch_voided": "held"}
    return "held" if view.state.startswith("batch_awaiting_") else known.get(view.state, "open")


def tone_of(shown: str) -> str:
    return next((colour for _, colour, names in GROUPS if shown in names), "soft")


def counts(view: ShownBatch) -> Iterator[tuple[str, str, int]]:
    """(Word, colour, number of documents) for each stage and outcome that has documents."""
    for _, colour, names in GROUPS:
        for name in names:
            number = sum(document.shown == name for document in view.documents)
            if number:
                yield name, colour, number


def groups(view: ShownBatch) -> Iterator[Group]:
    for title, colour, names in GROUPS:
        rows = [document for document in view.documents if document.shown in names]
        if rows:
            small = len(view.documents) <= OPEN_ROWS or (colour in ("bad", "held") and len(rows) <= OPEN_ROWS)
            yield Group(title=title, tone=colour, open=small, rows=rows)


def bars(view: ShownBatch) -> dict[str, list[tuple[str, str, str]]]:
    """The bar of each document on the timeline."""
    start, seconds = _range(view)
    return {document.document_id: bar(document.spans, start, seconds) for document in view.documents}


def bar(spans: Sequence[Span], start: datetime, seconds: float) -> list[tuple[str, str, str]]:
    """(Kind, x, width) of each span on the bar, as texts. A span that covers another span comes after it."""
    drawn = []
    for span in spans:
        left = _place(span.start, start, seconds)
        width = max(_place(span.end, start, seconds) - left, SLIVER)
        drawn.append((span.kind, _number(min(left, WIDTH - width)), _number(width)))
    return drawn


def axis(view: ShownBatch) -> list[float]:
    """The seconds since the beginning at each of the five marks of the timeline."""
    _, seconds = _range(view)
    return [seconds * quarter / 4 for quarter in range(5)]


def asked(view: ShownBatch) -> list[Group]:
    """The requests of each sovereign gate."""
    by_gate = {
        gate: [request for request in view.requests if request.gate == gate]
        for gate in batch_step.SOVEREIGN_STAGES.values()
    }
    return [Group(title=gate, open=len(rows) <= OPEN_ROWS, rows=rows) for gate, rows in by_gate.items() if rows]


def _range(view: ShownBatch) -> tuple[datetime, float]:
    """(The beginning of the timeline, its length in seconds). The length is never zero."""
    start = datetime.fromisoformat(view.created_utc)
    return start, max((datetime.fromisoformat(view.until_utc) - start).total_seconds(), 0.001)


def _place(text: str, start: datetime, seconds: float) -> float:
    share = (datetime.fromisoformat(text) - start).total_seconds() / seconds
    return WIDTH * min(max(share, 0.0), 1.0)


def _number(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")
