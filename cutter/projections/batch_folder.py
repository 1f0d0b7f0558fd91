"""Pure: the content of a batch's folder (seed 001 §8): the bytes of its files, its links, and whether it is archived.

The folder is a projection of the database, so the same rows give the same bytes.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from cutter.batch import batch_step, plan
from cutter.batch.state import ENDS
from cutter.batch.view import BatchFacts
from cutter.lifecycle.events import lines
from cutter.lifecycle.history import batch_events
from cutter.projections import batch_report
from cutter.projections.batch_view import ShownBatch, batch_view, planned_items
from cutter.types import Json

SCHEMA_VERSION = 1

STATE, TRANSITIONS, DAG, PLAN = "state.json", "transitions.jsonl", "dag.mmd", "plan.json"
REPORT, PAGE = "batch_report.md", "report.html"
RUNS, RUN = "runs", "run"
FILES = (STATE, TRANSITIONS, DAG, PLAN, REPORT, PAGE)
FOLDERS = (RUNS, *batch_step.QUEUES)
"""The folders in which cutter writes and removes files. Everything else in a batch's folder belongs to people."""

_STATE_FIELDS = (
    "batch_id", "state", "workstream", "mode", "policy", "unattended", "partial", "totals", "halted", "halted_reason",
    "created_by", "created_utc", "ended_utc", "queue_sha256", "next",
)  # fmt: skip
_ITEM_FIELDS = (
    "position", "document_id", "run_id", "shown", "state", "gates_passed", "queue", "reason", "depends_on", "critical",
    "needs", "commands",
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Contents:
    """The files by their paths in the folder, and the links.

    A link maps its path to the id of the run that it shows.
    """

    batch_id: str
    archived: bool
    files: Mapping[str, bytes]
    links: Mapping[str, str]


def contents(facts: BatchFacts, texts: Sequence[Sequence[str]]) -> Contents:
    """The content of a batch's folder, from its facts and the rows of `batch_texts` (kind, KB id, body).

    If the facts lack the history of the documents, the folder has neither the transitions nor the page.
    """
    view = batch_view(facts)
    items = planned_items(facts)
    files = {
        STATE: _json(state_json(view)),
        DAG: plan.dag_mermaid(items).encode(),
        PLAN: _json(plan.execution_plan(items, weights=facts.view.batch.weights)),
    }
    if facts.with_history:
        files |= {TRANSITIONS: lines(batch_events(facts)), PAGE: batch_report.render(view)}
    links = {f"{RUNS}/{run.run_id}": run.run_id for run in facts.runs}
    bodies = {kb_id: body for _, kb_id, body in texts}
    for report in (body for kind, _, body in texts if kind == "batch_report"):
        files[REPORT] = report.encode()
    for queue, rows in view.queues.items():
        for row in rows:
            name, kb_id = row.run_id or row.document_id, row.kb_id
            if kb_id in bodies:
                file = kb_id.rpartition("/")[2]
                if not file.startswith(name):  # Each file name begins with the subject of the document.
                    file = f"{name}-{file}"
                files[f"{queue}/{name}/{file}"] = bodies[kb_id].encode()
            if row.run_id:
                links[f"{queue}/{name}/{RUN}"] = row.run_id
    archived = view.state in ENDS
    return Contents(batch_id=view.batch_id, archived=archived, files=files, links=links)


def state_json(view: ShownBatch) -> Json:
    """The batch's state for programs, in schema_version 1."""
    return {
        "schema_version": SCHEMA_VERSION,
        **{name: getattr(view, name) for name in _STATE_FIELDS},
        "items": [{name: getattr(document, name) for name in _ITEM_FIELDS} for document in view.documents],
    }


def _json(value: Json) -> bytes:
    return (json.dumps(value, indent=2, sort_keys=True, ensure_ascii=False) + "\n").encode()
