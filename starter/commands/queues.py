"""IO: `cutter queues`: lists the documents in the batches' three queues (seed 001 §10, §11), from PostgreSQL alone."""

from __future__ import annotations

from dataclasses import asdict
from itertools import zip_longest
from textwrap import shorten
from typing import Annotated

import typer
from rich.console import RenderableType

from cutter.batch.batch_step import QUEUES
from cutter.catalogue import Role
from cutter.domain import ids
from cutter.errors import NotFound
from cutter.settings import Settings, load
from cutter.storage import runs as run_rows
from cutter.storage.pools import session
from starter.commands.options import Run
from starter.console.terminal import AsJson, Listing, show
from starter.operator import inbox_entries
from starter.operator.inbox_entries import QueueEntry

WHY_WIDTH = 60
"""The width of a reason in the list. `cutter queues show` prints the whole reason."""

app = typer.Typer(add_completion=False)


@app.callback(invoke_without_command=True)
def queues(
    context: typer.Context,
    batch: Annotated[str | None, typer.Option(help="Only this batch's entries")] = None,
    as_json: AsJson = False,
) -> None:
    """List the documents in the error, quarantine and human review queues, oldest first, each with its command.

    Example: cutter queues
    """
    if context.invoked_subcommand is not None:
        return
    entries = waiting(load(), batch_id=ids.batch_id(batch) if batch else None)
    listing: RenderableType = "no document is in a queue; requests that wait for a signature: cutter inbox"
    if entries:
        ordered = sorted(entries, key=lambda entry: QUEUES.index(entry.queue))
        rows = [
            (
                entry.document_id,
                f"…{entry.batch_id[-12:]}",  # the id of a rehearsal ends with -dryrun
                entry.queue.removesuffix("_queue"),
                entry.age,
                entry.state,
                shorten(entry.reason or entry.code, WHY_WIDTH, placeholder="…"),
            )
            for entry in ordered
        ]
        columns = ("document", "batch", "queue", "age", "state", "why")
        listing = Listing(columns=columns, rows=rows, commands=[entry.commands[0] for entry in ordered])
    view = {"waiting": [asdict(entry) for entry in entries]}
    show(view, as_json=as_json, render=lambda out: out.print(listing, soft_wrap=True))


@app.command("show")
def show_entry(
    run: Run,
    as_json: AsJson = False,
) -> None:
    """Print the document about one run in a queue, and the one command that continues the run.

    Example: cutter queues show ICX-LAW-2026-001
    """
    settings = load()
    run_id = run_rows.run_id_of(settings, run)
    entries = waiting(settings, run_id=run_id)
    if not entries:
        raise NotFound(
            f"{run_id} is in no queue: see",
            then="cutter queues",
            rest=f", or `cutter status {run_id}`",
            code="NOT_QUEUED",
        )
    entry = entries[-1]
    with session(settings, Role.OPERATOR) as connection:
        document = inbox_entries.queue_document(connection, entry.kb_id)
    view = {**asdict(entry), "document": document}
    steps = [f"{word}: {command}" for word, command in zip_longest(("next",), entry.commands, fillvalue="then")]
    show(view, as_json=as_json, render=lambda out: out.print(document, *steps, sep="\n", soft_wrap=True))


def waiting(settings: Settings, *, batch_id: str | None = None, run_id: str | None = None) -> list[QueueEntry]:
    """The open entries, read by an operator."""
    with session(settings, Role.OPERATOR) as connection:
        return inbox_entries.queue_entries(settings, connection, batch_id=batch_id, run_id=run_id)
