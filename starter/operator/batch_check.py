"""IO: the marking of each document of a queue as it is registered, for `cutter orchestrate batch --check`."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from cutter import sources
from cutter.batch.queue import Problem, QueueRefused
from cutter.marking import Marking, MarkRefusal
from cutter.settings import Settings
from cutter.storage.batches import Admission
from cutter.storage.records import Connection


@dataclass(frozen=True, slots=True, kw_only=True)
class Marked:
    """The number of units and findings of a document's text."""

    units: int
    findings: int


def mark_all(settings: Settings, connection: Connection, admission: Admission) -> dict[str, Marked]:
    """The marking of each document that would start. Raises QueueRefused with every document that a run could not mark
    or enact.
    """
    problems: list[Problem] = []
    marked: dict[str, Marked] = {}
    starts = {row.document_id for row in admission.rows if row.decided is None}
    for item in (item for item in admission.queue.items if item.document_id in starts):
        result = sources.marking_of_registered(settings, connection, item.document_id)
        if isinstance(result, MarkRefusal):
            text = f"{item.document_id} would be refused ({result.code}): {result.message}"
            problems.append(Problem(
                line=item.line, field=f"items[{item.position - 1}].document_id", text=text,
                document_id=item.document_id, code=result.code, then=result.then,
            ))  # fmt: skip
        elif isinstance(result, Marking):
            marked[item.document_id] = Marked(units=len(result.candidates), findings=len(result.findings))
    if problems:
        raise QueueRefused(tuple(problems))
    return marked


def with_units(rows: Iterable[tuple[object, ...]], marked: dict[str, Marked]) -> list[tuple[object, ...]]:
    """The rows of the check, each with its units and findings. The second cell of a row is the document."""
    counts = {document: (text.units, text.findings) for document, text in marked.items()}
    return [(place, document, *rest, *counts.get(str(document), ("", ""))) for place, document, *rest in rows]
