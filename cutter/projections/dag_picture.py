"""Pure: the dependencies of a batch as a drawing (positions of boxes and lines) and as lines of text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from cutter.batch.dependencies import in_turn
from cutter.projections.batch_view import ShownDocument
from cutter.types import Json

DRAWN_MAX = 60
"""The most documents in a drawing. A larger batch has only lines of text, which a person can read and search."""

BOX_WIDTH, BOX_HEIGHT, COLUMN_GAP, ROW_GAP = 176, 26, 44, 10
"""The sizes in pixels of the drawing."""

NAME_CHARACTERS = 22
"""The characters of a document's id that fit into its box. The title of the box has the whole id."""


def picture(documents: Sequence[ShownDocument]) -> Json | None:
    """The boxes, lines and texts of all documents with a dependency in either direction, or None if there are none."""
    needs = {document.document_id: list(document.depends_on) for document in documents}
    touched = {name for name, wanted in needs.items() if wanted} | {
        need for wanted in needs.values() for need in wanted
    }
    shown = [document for document in documents if document.document_id in touched]
    if not shown:
        return None
    texts = [(document.document_id, document.depends_on) for document in shown if document.depends_on]
    drawing = _drawing(shown, needs) if len(shown) <= DRAWN_MAX else None
    return {"documents": len(shown), "alone": len(documents) - len(shown), "texts": texts, "drawing": drawing}


def _drawing(shown: Sequence[ShownDocument], needs: Mapping[str, Sequence[str]]) -> Json:
    """The drawing. The longest chain to a document gives its column, and the order of the queue gives its row."""
    columns = _columns({document.document_id: needs[document.document_id] for document in shown})
    rows: dict[int, int] = {}
    places: dict[str, tuple[int, int]] = {}
    for document in shown:
        column = columns[document.document_id]
        row = rows.setdefault(column, 0)
        rows[column] += 1
        places[document.document_id] = (column * (BOX_WIDTH + COLUMN_GAP) + 2, row * (BOX_HEIGHT + ROW_GAP) + 2)
    width = max(columns.values()) * (BOX_WIDTH + COLUMN_GAP) + BOX_WIDTH + 4
    height = max(rows.values()) * (BOX_HEIGHT + ROW_GAP)
    return {
        "width": width, "height": height, "box_width": BOX_WIDTH, "box_height": BOX_HEIGHT,
        "boxes": [_box(document, *places[document.document_id]) for document in shown],
        "lines": [
            _line(places[need], places[document.document_id])
            for document in shown for need in document.depends_on if need in places
        ],
    }  # fmt: skip


def _columns(needs: Mapping[str, Sequence[str]]) -> dict[str, int]:
    columns: dict[str, int] = {}
    for name in in_turn(needs):
        columns[name] = max((columns[need] + 1 for need in needs[name] if need in columns), default=0)
    return columns


def _box(document: ShownDocument, left: int, top: int) -> Json:
    name = document.document_id
    short = name if len(name) <= NAME_CHARACTERS else name[: NAME_CHARACTERS - 1] + "…"
    return {"x": left, "y": top, "name": name, "short": short, "shown": document.shown, "critical": document.critical}


def _line(start: tuple[int, int], end: tuple[int, int]) -> Json:
    """A curve from the right side of one box to the left side of another box, and its arrow head."""
    left, middle = start[0] + BOX_WIDTH, BOX_HEIGHT / 2
    right, above, below = end[0], start[1] + middle, end[1] + middle
    bend = (right - left) / 2
    return {
        "curve": f"M{left} {above:g}C{left + bend:g} {above:g} {right - bend:g} {below:g} {right - 6} {below:g}",
        "head": f"{right},{below:g} {right - 7},{below - 4:g} {right - 7},{below + 4:g}",
    }
