"""IO: what people read in a browser: the request of a run, the report of a run or of a batch, and the desk.

`cutter request` builds the request on this machine from the pinned text. The pages of `cutter desk` only read.
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
import webbrowser
from collections.abc import Mapping
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, TypeVar

import typer

from cutter.approvals.request import RequestDocument
from cutter.catalogue import Role
from cutter.domain import ids
from cutter.domain.digests import sha256_hex
from cutter.domain.markdown import escape
from cutter.domain.visible import json_text
from cutter.errors import InvalidInput
from cutter.projections import batch_report, request_page
from cutter.projections.batch_view import QueueEntry, ShownDocument, batch_view
from cutter.projections.report import render
from cutter.request_view.forms import request_record
from cutter.request_view.view import RequestView
from cutter.settings import Settings, load
from cutter.stack.addresses import LOOPBACK
from cutter.storage import batch_views
from cutter.storage import runs as run_rows
from cutter.storage.pools import session
from starter.approver import signing_desk
from starter.commands.options import RUN_OR_BATCH, Host, Out, Port, Run
from starter.commands.status import view_of
from starter.console.terminal import AsJson, fields, say, show, write, write_out
from starter.operator import request_state
from starter.operator.pinned_law import pinned_law


class Form(StrEnum):
    """The forms of one request. All forms are built from the same data and name its view_digest."""

    HTML = "html"
    MARKDOWN = "md"
    JSON = "json"


def request(
    run: Run,
    form: Annotated[Form, typer.Option(help="html: a page to read; md: the request document; json: for tools")]
    = Form.HTML,
    out: Out = None,
    open_page: Annotated[bool, typer.Option("--open", help="Open the page in your browser.")] = False,
    as_json: AsJson = False,
) -> None:  # fmt: skip
    """Compute every digest of a request again on this machine, then show its findings, tree and text.

    The page needs no network, and its default file is below <state_dir>/requests. Markdown and JSON go to standard
    output unless --out names a file.

    Example: cutter request ICX-LAW-2026-001 --open
    """
    if open_page and form is not Form.HTML:
        raise InvalidInput(f"--open shows the page: leave out --form {form.value}")
    settings = load()
    run_id = run_rows.run_id_of(settings, run)
    over = request_state.over(settings, run_id)
    if form is Form.MARKDOWN:
        document, body, newer = document_of(settings, run_id)
        first = f"> **{escape(over)}** `cutter report {run_id}` shows the run.\n\n" if over else ""
        first += f"> **{escape(newer)}**\n\n" if newer else ""
        shown = first.encode() + body
    else:
        document, data, view = signing_desk.read_view(settings, run_id)
        shown = rendered(form, document, data, view, over)
    if form is not Form.HTML and out is None and not as_json:
        write(shown.decode().removesuffix("\n"))
        return
    path = saved(settings, document, shown, form, out)
    if open_page and not webbrowser.open(path.as_uri()):
        say(f"no browser was found: open {path}")
    answer: dict[str, Any] = {
        "run_id": run_id, "gate": document.request.gate, "form": form.value, "file": str(path),
        "sha256": sha256_hex(shown), "view_digest": document.view_digest,
    }  # fmt: skip
    show(answer, as_json=as_json, render=lambda console: console.print(str(path), soft_wrap=True))


def document_of(settings: Settings, run_id: str) -> tuple[RequestDocument, bytes, str | None]:
    """The request document, its bytes, and the newer version if one is registered.

    PostgreSQL has the digest of the bytes, so an old one is shown as people signed it. What it shows is built again
    only while somebody can still sign it.
    """
    document, data, is_open = signing_desk.read_newest(settings, run_id)
    newer = signing_desk.recompute(settings, document).newer if is_open else None
    return document, data, newer


def rendered(form: Form, document: RequestDocument, data: bytes, view: RequestView, over: str = "") -> bytes:
    """The request in one of its forms. `data` is the request document, which is the Markdown form. `over` says why
    nobody can answer the request.
    """
    if form is Form.MARKDOWN:
        return data
    if form is Form.HTML:
        return request_page.render(document, view, over=over)
    return f"{json_text(request_record(document, view), indent=2, sort_keys=False)}\n".encode()


def saved(settings: Settings, document: RequestDocument, shown: bytes, form: Form, out: Path | None) -> Path:
    """Write the form and return its path. Raises InvalidInput if no file can be written there."""
    name = f"{document.request.run_id}-{document.request.gate}.{form.value}"
    return write_out(out, settings.state / "requests" / name, shown)


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


EXTRA = ("fastapi", "uvicorn")


def desk(port: Port = 8585, host: Host = LOOPBACK, as_json: AsJson = False) -> None:
    """Serve web pages of what waits, laws, runs, batches and queues until you interrupt it; they change nothing.

    Each address also answers JSON: add .json, or ask with the header Accept: application/json.

    Example: cutter desk --port 8585
    """
    if not all(map(importlib.util.find_spec, EXTRA)):
        raise InvalidInput("`cutter desk` needs FastAPI: install it with `pip install fastapi uvicorn`")
    # A command that another module of this table names must not wait for FastAPI's import.
    server = importlib.import_module("starter.desk.server")
    settings = load()
    server.require_safe(settings, host)
    with server.listening(host, port) as listener:
        base = f"http://{f'[{host}]' if ':' in host else host}:{listener.getsockname()[1]}"
        addresses = {"page": f"{base}/", "openapi": f"{base}/openapi.json", "end": "Ctrl-C"}

        def begun() -> None:
            show(addresses, as_json=as_json, render=lambda out: out.print(fields(addresses), soft_wrap=True))
            sys.stdout.flush()

        server.serve(settings, listener, begun=begun)
