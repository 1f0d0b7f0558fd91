"""IO: a batch's folder (seed 001 §8): `<batches>/<batch_id>`, and after the end `<batches>/archive/<batch_id>`.

The folder is a projection of the database, so the same rows give the same bytes, and one call writes it again. It has
relative links to the run folders, because copies would become stale, and every program can follow a link. Files of
people stay, even if the folder moves.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from cutter import limits
from cutter.batch import batch_step, plan
from cutter.batch.state import ENDS
from cutter.batch.view import BatchFacts, BatchView
from cutter.lifecycle.events import lines
from cutter.lifecycle.history import batch_events
from cutter.projections import batch_report
from cutter.projections.batch_view import ShownBatch, batch_view, planned_items
from cutter.projections.run_folder import QUEUE, folder_of, locked, replace, writable
from cutter.storage import batch_views, private
from cutter.storage.records import Connection, records
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


LOCK = "state.lock"


@dataclass(frozen=True, slots=True, kw_only=True)
class Text:
    kind: str
    kb_id: str
    body: str


TEXTS = records("batch_texts", Text)


def read_contents(connection: Connection, batch_id: str, view: BatchView | None = None) -> tuple[Contents, str]:
    """(The content of the batch's folder, the sha256 of its queue file). `view` is a view of a moment ago, and
    saves the reading of a large batch's items.
    """
    facts = batch_views.shown_facts(connection, batch_id, view)
    texts = [(text.kind, text.kb_id, text.body) for text in TEXTS.all(connection, {"batch_id": batch_id})]
    return contents(facts, texts), facts.view.batch.queue_sha256


def is_behind(folder: Path, view: BatchView, *, news: bool = False, pace: bool = True) -> bool:
    """True if the folder must be written again because the view has another batch state, run or queue.

    Between two writes there is a pause that grows with the batch. The pause is shorter if `news` is true. There is no
    pause if `pace` is false.
    """
    path = folder / STATE
    pause = limits.BATCH_FOLDER_PAUSE_SECONDS + limits.BATCH_FOLDER_ITEM_SECONDS * len(view.items)
    try:
        # If the clock was set back, the age is negative. Then the folder is written.
        age = datetime.now(UTC).timestamp() - path.stat().st_mtime
        if pace and 0 <= age < (pause / limits.BATCH_FOLDER_NEWS if news else pause):
            return False
        shown = json.loads(path.read_bytes())
        items = [(item["document_id"], item["run_id"], item["state"], item["queue"]) for item in shown["items"]]
        now = [(item.document_id, item.run_id, item.state, item.queue) for item in view.items]
        return (shown["state"], shown["halted"], items) != (view.batch.state, view.batch.halted, now)
    except (OSError, ValueError, KeyError, TypeError):
        return True


def keep_beside(folder: Path, name: str, data: bytes) -> None:
    """Write a document next to the queue file, such as `SG1-pre-batched-approvals/X.md`. An existing one stays."""
    path = folder / name
    if not path.exists():
        private.make_folder(path.parent)
        replace(path, data)


def write(
    batches: Path,
    runs: Path,
    contents: Contents,
    *,
    queue: bytes | None = None,
    lock_seconds: float = limits.STATE_LOCK_SECONDS,
) -> Path:
    """Write a batch's folder at its path, and return the path. `queue` is the queue.yaml to write if there is none.

    A folder at the other path is moved there, or its files are moved into the existing one.

    Raises Refused (STOP_RUN_BUSY) if another process writes the folder, and Unavailable if the disk refuses the write.
    """
    with writable(batches):
        private.make_folder(batches)
        with locked(batches / LOCK, contents.batch_id, lock_seconds):
            folder = folder_of(batches, contents.batch_id, archived=contents.archived)
            other = folder_of(batches, contents.batch_id, archived=not contents.archived)
            private.make_folder(folder.parent)
            if other.is_dir() and not folder.exists():
                other.rename(folder)
            elif other.is_dir():
                _prune(other, set())
                _empty_into(other, folder)
            private.make_folder(folder)
            for name, data in contents.files.items():
                private.make_folder((folder / name).parent)
                replace(folder / name, data)
            for name, run_id in contents.links.items():
                _link(folder / name, runs / run_id)
            if queue is not None and not (folder / QUEUE).exists():
                replace(folder / QUEUE, queue)
            _prune(folder, {*contents.files, *contents.links})
    return folder


def _empty_into(old: Path, new: Path) -> None:
    """Move the files of people.

    If both folders have a file with different bytes, both files stay for people to check.
    """
    for child in sorted(old.iterdir()):
        target = new / child.name
        if not os.path.lexists(target):
            child.rename(target)
        elif child.is_dir() and not child.is_symlink() and target.is_dir():
            _empty_into(child, target)
        elif child.is_file() and target.is_file() and child.read_bytes() == target.read_bytes():
            child.unlink()
    with suppress(OSError):
        old.rmdir()


def _link(path: Path, target: Path) -> None:
    private.make_folder(path.parent)
    text = os.path.relpath(target, path.parent)
    if path.is_symlink():
        if path.readlink() == Path(text):
            return
        path.unlink()
    path.symlink_to(text)


def _prune(folder: Path, wanted: set[str]) -> None:
    """Remove files that cutter wrote earlier and would not write now, and folders that are empty after that."""
    ours = [path for name in FILES if (path := folder / name).is_file()]
    ours += [path for path in (folder / RUNS).glob("*") if path.is_symlink()]
    for queue in FOLDERS[1:]:
        for path in (folder / queue).glob("*/*"):
            named_after = path.suffix == ".md" and path.name.startswith(path.parent.name)
            if named_after or (path.name == RUN and path.is_symlink()):
                ours.append(path)
    for path in ours:
        if path.relative_to(folder).as_posix() not in wanted:
            path.unlink()
    for name in FOLDERS:
        for path in [*(folder / name).glob("*"), folder / name]:
            if path.is_dir() and not path.is_symlink():
                with suppress(OSError):
                    path.rmdir()
