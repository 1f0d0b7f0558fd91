"""IO: `cutter report`: a run's self-contained HTML page."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from cutter.domain.digests import sha256_hex
from cutter.errors import InvalidInput
from cutter.evidence.report import render
from cutter.settings import load
from starter import runs
from starter.status import view_of
from starter.terminal import Json, show


def report(
    run: Annotated[str, typer.Argument(help="Run id, or document id (its open run, else its newest)")],
    out: Annotated[
        Path | None, typer.Option(help="File to write; default: <state_dir>/reports/<run id>.html", dir_okay=False)
    ] = None,
    as_json: Json = False,
) -> None:
    """Write a run's report: one page that stands alone, for a browser, a phone or paper; print its path.

    Example: cutter report ICX-LAW-2026-001
    """
    settings = load()
    view = view_of(settings, runs.run_id_of(settings, run))
    path = (out or settings.state / "reports" / f"{view['run_id']}.html").absolute()
    page = render(view)
    try:
        if out is None:
            path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(page)
    except OSError as problem:
        raise InvalidInput(f"--out {path}: {problem.strerror}: name a file in a folder that exists") from None
    found = {"run_id": view["run_id"], "state": view["state"], "file": str(path), "sha256": sha256_hex(page)}
    show(found, as_json=as_json, render=lambda console: console.print(str(path), markup=False, soft_wrap=True))
