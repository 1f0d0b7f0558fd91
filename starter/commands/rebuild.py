"""IO: `cutter rebuild`: makes the folders and documents of runs and batches again from PostgreSQL alone.

Gate reports are rendered from receipts. Requests and stop reports come from their outbox rows, and the copy of the
snapshot from the source's bytes. The files of people (approvals and their signatures) are not in the database, so the
command cannot make them again and only lists the missing ones. It overwrites nothing in the knowledge base, because
other bytes under a name are a finding for an auditor. In that case it puts the request of an open gate under another
name, because people wait for the request.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any

import typer

from activities import effects, permission
from activities.batch.documents import project_batch
from activities.gates.closeout import index_entry
from activities.outbox import done, project
from activities.permission import Context
from activities.worker.dependencies import Deps, folder_of
from cutter import log_lines as logs
from cutter.catalogue import Role
from cutter.domain import ids
from cutter.domain.digests import sha256_hex
from cutter.domain.run_record import RunSidecar
from cutter.errors import Conflict, CutterError, InvalidInput, Unavailable
from cutter.kb import ids as kb_ids
from cutter.kb.ids import signature_of
from cutter.projections import state_file
from cutter.projections.run_folder import QUEUE
from cutter.settings import Settings, load
from cutter.storage import runs as run_rows
from cutter.storage.pools import CLOCK, session, single
from cutter.storage.records import Rows, records, values
from starter.commands.options import RUN_OR_BATCH
from starter.commands.reconcile import reading_deps
from starter.console.failures import as_failure
from starter.console.terminal import AsJson, ExitCode, end, progress, show, table

View = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class OfRun:
    """A document of a run. Without a body it is rendered from the receipt of its subject. `sha256` is the digest that
    was recorded when it was put.
    """

    kb_id: str
    kind: str
    subject: str
    body: str | None
    sha256: str | None
    done_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class OfBatch:
    """A document about a batch. `sha256` is the digest that was recorded when it was put."""

    kb_id: str
    body: str
    sha256: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class PinnedBytes:
    """The text that a run pinned."""

    sha256: str
    data: bytes


RUN_IDS: Rows[str] = values("all_run_ids")
BATCH_IDS: Rows[str] = values("all_batch_ids")
OF_RUN = records("documents_of_run", OfRun)
OF_BATCH = records("documents_of_batch", OfBatch)
SNAPSHOT = records("snapshot_of_run", PinnedBytes)


def rebuild(
    run: Annotated[str | None, RUN_OR_BATCH] = None,
    every: Annotated[bool, typer.Option("--all", help="Every run and batch of the database.")] = False,
    as_json: AsJson = False,
) -> None:
    """Write folders and documents of runs or a batch again from the database; exit 4 if a name holds other bytes.

    Example: cutter rebuild ICX-LAW-2026-001
    """
    settings = load()
    if (run is None) == (not every):
        raise InvalidInput("name a run, or --all:", then="cutter rebuild DOCUMENT")
    logs.to_standard_error()
    with reading_deps(settings) as deps, progress("rebuilding") as say:
        runs, batches = [], []
        names = [run] if run is not None else [*_all(settings, RUN_IDS), *_all(settings, BATCH_IDS)]
        for number, name in enumerate(names, start=1):
            say(f"{number} of {len(names)}: {name}")
            if ids.is_batch_id(name):
                batches.append(rebuild_batch(deps, name))
            else:
                runs.append(rebuild_run(deps, run_rows.run_id_of(settings, name)))
    conflicts = [conflict for batch in [*runs, *batches] for conflict in batch["conflicts"]]
    made: dict[str, Any] = {"runs": runs, "batches": batches}
    if conflicts:
        made = as_failure(made, code="STOP_REPLAY_CONFLICT", message=str(conflicts[0]))
    show(made, as_json=as_json, render=lambda out: _render(out, runs, batches))
    end(ExitCode.STOPPED if conflicts else ExitCode.DONE)


def _all(settings: Settings, every: Rows[str]) -> list[str]:
    """Every id, oldest first."""
    with session(settings, Role.READ) as connection:
        return every.all(connection)


def rebuild_run(deps: Deps, run_id: str) -> View:
    """Write one run's folder and put its documents. A document whose name holds other bytes is listed as a conflict."""
    sidecar = run_rows.sidecar(deps.settings, run_id)
    project(deps, sidecar)
    context = permission.of_run(sidecar.run, sidecar.pins, _clock(deps.settings), None)
    every = list(documents_of(deps.settings, sidecar))
    documents, conflicts = _put_all(deps, context, every)
    asked = {request.kb_id for request in sidecar.requests if request.status == "requested"}
    taken, moved = {conflict["kb_id"] for conflict in conflicts}, []
    for name, data, _ in every:
        if name in asked and name in taken:
            # The open request gets a name under which people can read it, and the database gets the name.
            put = effects.put_free(deps, context, name, data)
            with single(deps.pool(Role.READ)) as connection, connection.transaction():
                done(connection, name, put)
            moved.append({"kb_id": name, "now": put.kb_id})
    accepted = sorted({verdict.kb_id for verdict in sidecar.verdicts if verdict.accepted})
    missing = [name for kb_id in accepted for name in (kb_id, signature_of(kb_id)) if not deps.kb.exists(name)]
    return {
        "run_id": run_id, "folder": str(deps.settings.runs / run_id), "documents": documents + len(moved),
        "conflicts": conflicts, "renamed": moved, "missing": missing,
    }  # fmt: skip


def rebuild_batch(deps: Deps, batch_id: str) -> View:
    """Write a batch's folder and put the documents about it. queue.yaml can come only from the knowledge base."""
    with session(deps.settings, Role.READ) as connection:
        rows = OF_BATCH.all(connection, {"batch_id": ids.batch_id(batch_id)})
    bodies = ((row.kb_id, row.body.encode(), row.sha256) for row in rows)
    documents, conflicts = _put_all(deps, permission.of_batch(_clock(deps.settings), batch_id), bodies)
    folder, has_queue = project_batch(deps, batch_id)
    return {
        "batch_id": batch_id, "folder": str(folder), "documents": documents, "conflicts": conflicts,
        "missing": [] if has_queue else [str(folder / QUEUE)],
    }  # fmt: skip


def _clock(settings: Settings) -> datetime:
    with session(settings, Role.READ) as connection:
        return CLOCK.one(connection)


def _put_all(
    deps: Deps, context: Context, documents: Iterable[tuple[str, bytes, str | None]]
) -> tuple[int, list[View]]:
    """(Number of documents that exist now, documents whose name holds other bytes)."""
    put, conflicts = 0, []
    for kb_id, data, recorded in documents:
        try:
            if recorded is not None and sha256_hex(data) != recorded:
                raise Conflict(f"{kb_id}: made again it is {sha256_hex(data)}, but {recorded} was put")
            effects.put(deps, context, kb_id, data)
            put += 1
        except Unavailable:
            raise
        except CutterError as problem:
            conflicts.append({"kb_id": kb_id, "code": problem.code, "reason": str(problem)})
    return put, conflicts


def documents_of(settings: Settings, sidecar: RunSidecar) -> Iterator[tuple[str, bytes, str | None]]:
    """(KB id, bytes, sha256 recorded when it was put) of every document that a run's workers wrote."""
    run, receipts = sidecar.run, {receipt.gate: receipt for receipt in sidecar.receipts}
    with session(settings, Role.READ) as connection:
        entries = OF_RUN.all(connection, {"run_id": run.run_id})
        snapshot = SNAPSHOT.first(connection, {"run_id": run.run_id})
    if snapshot is not None and sidecar.requests:
        sha256 = snapshot.sha256
        yield kb_ids.snapshot_copy(folder_of(run, sha256), sha256), snapshot.data, sha256
    for entry in entries:
        data = entry.body.encode() if entry.body is not None else state_file.render_gate(run, receipts[entry.subject])
        yield entry.kb_id, data, entry.sha256
    if "IG_closeout" in receipts:
        yield *index_entry(sidecar), None


def _render(out: Any, runs: list[View], batches: list[View]) -> None:
    every = [*runs, *batches]
    rows = [(entry.get("run_id") or entry["batch_id"], entry["documents"], entry["folder"]) for entry in every]
    names = "batch" if batches and not runs else "run"
    out.print(table((names, "documents", "folder"), rows) if rows else "no runs yet: type `cutter run DOCUMENT`")
    missing = [(name,) for entry in every for name in entry["missing"]]
    if missing:
        out.print(table(("only the people who made these can put them back",), missing))
    renamed = [(request["kb_id"], request["now"]) for each in runs for request in each["renamed"]]
    if renamed:
        out.print(table(("the open request", "is now under"), renamed))
    lines = [(conflict["kb_id"], conflict["reason"]) for each in every for conflict in each["conflicts"]]
    if lines:
        out.print(table(("document", "other bytes are there"), lines))
