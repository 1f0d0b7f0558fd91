"""IO: `cutter inbox` lists the requests and stopped runs that wait for people, and `cutter queues` the documents in the
batches' three queues (seed 001 §10, §11). Both read PostgreSQL alone.
"""

from __future__ import annotations

import os
from dataclasses import asdict
from itertools import zip_longest
from pathlib import Path
from textwrap import shorten
from typing import Annotated

import typer
from rich.console import Group, RenderableType

from cutter.approvals.eligibility import SHOW, signer_mismatch
from cutter.batch.batch_step import QUEUES
from cutter.catalogue import Role
from cutter.domain import ids
from cutter.errors import NotFound, Refused, Unavailable
from cutter.projections.run_view import short_time
from cutter.settings import Settings, load
from cutter.storage import runs as run_rows
from cutter.storage.pools import session
from starter.approver import signing_desk
from starter.commands.options import Approver, Run
from starter.console.terminal import AsJson, Listing, line, show
from starter.operator import inbox_entries
from starter.operator.inbox_entries import InboxEntry, Person, QueueEntry

COLUMNS = ("document", "waits at", "needs", "since", "accepted", "until", "not by you")


def waiting(settings: Settings, person: Person | None = None) -> list[InboxEntry]:
    """The entries of the inbox, read by an operator."""
    with session(settings, Role.OPERATOR) as connection:
        return inbox_entries.entries(connection, person)


def inbox(
    approver: Approver = None,
    as_json: AsJson = False,
) -> None:
    """List the requests to sign and the stopped runs, oldest first, each with its next command.

    If you may not sign a request yourself, the list says why.

    Example: cutter inbox --approver an
    """
    settings = load()
    entries = waiting(settings, _person(settings, approver))
    with session(settings, Role.OPERATOR) as connection:
        stuck = inbox_entries.blocked(connection)
    shown = _rendered(entries)
    if stuck:
        shown = Group(shown, "", *(line(f"{repair.reason}; next: {repair.command}") for repair in stuck))
    show(
        {"waiting": [asdict(entry) for entry in entries], "blocked": [asdict(repair) for repair in stuck]},
        as_json=as_json,
        render=lambda console: console.print(shown, soft_wrap=True),
    )


def _rendered(entries: list[InboxEntry]) -> RenderableType:
    if not entries:
        return "nothing waits"
    rows: list[tuple[object, ...]] = []
    for entry in entries:
        accepted = f"{len(entry.approvers_accepted)} of {entry.approvers_needed}" if entry.gate else ""
        names = f" ({', '.join(entry.approvers_accepted)})" if entry.approvers_accepted else ""
        rows.append((
            entry.document_id, entry.gate or entry.state, entry.needs, short_time(entry.since_utc),
            accepted + names, short_time(entry.expires_utc), entry.you_may_not or "",
        ))  # fmt: skip
    # Most people may sign every waiting request, and an empty column would only take width.
    shown = len(COLUMNS) if any(entry.you_may_not for entry in entries) else len(COLUMNS) - 1
    commands = [entry.command for entry in entries]
    listing = Listing(columns=COLUMNS[:shown], rows=[row[:shown] for row in rows], commands=commands)
    return Group(
        listing,
        *(line(f"{entry.document_id} {entry.lane}") for entry in entries if entry.lane),
        *(line(f"{entry.document_id}: {entry.newer}") for entry in entries if entry.newer),
    )


def _person(settings: Settings, approver: str | None) -> Person | None:
    """The approver of that name, else the owner of the one local key that the policy knows. None if there is no such
    approver or several.
    """
    try:
        policy = signing_desk.policy_in_force(settings)
    except NotFound:
        return None
    if approver is not None:
        wrong = signer_mismatch(policy, approver, None)
        if wrong is not None:
            raise Refused(wrong, code="no_such_approver").leads_to(SHOW)
        return policy, next(person for person in policy.approvers if person.name == approver)
    # gpg would create a missing home, but looking into the inbox must create nothing.
    if not Path(os.environ.get("GNUPGHOME") or Path.home() / ".gnupg").is_dir():
        return None
    try:
        mine = signing_desk.own(policy, None)
    except Unavailable:
        return None
    return (policy, mine[0]) if len(mine) == 1 else None


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
    entries = queued(load(), batch_id=ids.batch_id(batch) if batch else None)
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
    entries = queued(settings, run_id=run_id)
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


def queued(settings: Settings, *, batch_id: str | None = None, run_id: str | None = None) -> list[QueueEntry]:
    """The open entries, read by an operator."""
    with session(settings, Role.OPERATOR) as connection:
        return inbox_entries.queue_entries(settings, connection, batch_id=batch_id, run_id=run_id)
