"""IO: `cutter report`: the self-contained HTML page of a run or of a batch."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from cutter.domain import ids
from cutter.domain.digests import sha256_hex
from cutter.errors import InvalidInput
from cutter.projections import batch_folder_files as batch_folder
from cutter.projections import batch_report
from cutter.projections.batch_view import batch_view
from cutter.projections.report import render
from cutter.settings import Settings, load
from cutter.storage import private
from cutter.storage import runs as known_runs
from cutter.storage.pools import OPERATOR, session
from starter.commands.status import view_of
from starter.console.terminal import Json, show


def report(
    run: Annotated[str, typer.Argument(help="Run id, batch id, or document id (its open run, else its newest)")],
    out: Annotated[
        Path | None, typer.Option(help="File to write; default: <state_dir>/reports/<id>.html", dir_okay=False)
    ] = None,
    as_json: Json = False,
) -> None:
    """Write the report of a run or a batch: one page for a browser, a phone or paper; print its path.

    Example: cutter report ICX-LAW-2026-001
    """
    settings = load()
    found, page = _batch(settings, run) if ids.is_batch_id(run) else _run(settings, known_runs.run_id_of(settings, run))
    name = found.get("batch_id") or found["run_id"]
    path = (out or settings.state / "reports" / f"{name}.html").absolute()
    try:
        if out is None:
            private.own_folder(path.parent)
        private.write(path, page)
    except OSError as problem:
        raise InvalidInput(f"--out {path}: {problem.strerror}: name a file in a folder that exists") from None
    found |= {"file": str(path), "sha256": sha256_hex(page)}
    show(found, as_json=as_json, render=lambda console: console.print(str(path), soft_wrap=True))


def _run(settings: Settings, run_id: str) -> tuple[dict[str, Any], bytes]:
    view = view_of(settings, run_id)
    return {"run_id": view["run_id"], "state": view["state"]}, render(view)


def _batch(settings: Settings, batch_id: str) -> tuple[dict[str, Any], bytes]:
    with session(settings, OPERATOR) as connection:
        view = batch_view(batch_folder.read_facts(connection, batch_id))
    return {"batch_id": batch_id, "state": view["state"]}, batch_report.render(view)
