"""IO: `cutter request`: shows a run's request as a page, Markdown or JSON, built on this machine from the pinned
text.
"""

from __future__ import annotations

import webbrowser
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from cutter.approvals.request import RequestDocument
from cutter.domain.digests import sha256_hex
from cutter.domain.markdown import escape
from cutter.domain.visible import json_text
from cutter.errors import InvalidInput
from cutter.projections import request_page
from cutter.request_view.forms import request_record
from cutter.request_view.view import RequestView
from cutter.settings import Settings, load
from cutter.storage import runs as run_rows
from starter.approver import signing_desk
from starter.commands.options import Out, Run
from starter.console.output_file import write_out
from starter.console.terminal import AsJson, say, show, write
from starter.operator import request_state


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
