"""IO: `cutter report`: writes the page of a run or of a batch."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated, Any, TypeVar

from cutter.catalogue import Role
from cutter.domain import ids
from cutter.domain.digests import sha256_hex
from cutter.projections import batch_report
from cutter.projections.batch_view import QueueEntry, ShownDocument, batch_view
from cutter.projections.report import render
from cutter.settings import load
from cutter.storage import batch_views
from cutter.storage import runs as run_rows
from cutter.storage.pools import session
from starter.commands.options import RUN_OR_BATCH, Out
from starter.commands.status import view_of
from starter.console.output_file import write_out
from starter.console.terminal import AsJson, show
from starter.operator import request_state
from starter.operator.pinned_law import pinned_law

Listed = TypeVar("Listed", ShownDocument, QueueEntry)


def report(
    run: Annotated[str, RUN_OR_BATCH],
    out: Out = None,
    as_json: AsJson = False,
) -> None:
    """Write the report of a run or a batch: one page for a browser, a phone or paper; print its path.

    The default file is <state_dir>/reports/<id>.html.

    Example: cutter report ICX-LAW-2026-001
    """
    settings = load()
    answer: dict[str, Any]
    if ids.is_batch_id(run):
        with session(settings, Role.OPERATOR) as connection:
            batch = batch_view(batch_views.shown_facts(connection, run))
            named = [document.run_id for document in batch.documents]
            named += [entry.run_id for waiting in batch.queues.values() for entry in waiting]
            rejected = request_state.rejections(settings, connection, filter(None, named))
        reasons = {run_id: request_state.rejection_sentence(rejection) for run_id, rejection in rejected.items()}
        batch = replace(
            batch, documents=_with_reasons(batch.documents, reasons),
            queues={queue: _with_reasons(waiting, reasons) for queue, waiting in batch.queues.items()},
        )  # fmt: skip
        answer, page = {"batch_id": run, "state": batch.state}, batch_report.render(batch)
    else:
        run_id = run_rows.run_id_of(settings, run)
        view = view_of(settings, run_id)
        answer, page = {"run_id": view.run_id, "state": view.state}, render(view, pinned_law(settings, run_id))
    name = answer.get("batch_id") or answer["run_id"]
    answer |= {
        "file": str(write_out(out, settings.state / "reports" / f"{name}.html", page)),
        "sha256": sha256_hex(page),
    }
    show(answer, as_json=as_json, render=lambda console: console.print(answer["file"], soft_wrap=True))


def _with_reasons(rows: list[Listed], reasons: Mapping[str, str]) -> list[Listed]:
    """The rows, those of rejected runs with the signed reason."""
    return [replace(row, reason=reasons.get(row.run_id or "", row.reason)) for row in rows]
