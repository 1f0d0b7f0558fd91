"""IO: `cutter inbox`: what waits for people, oldest first, from PostgreSQL alone."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any

import typer
from psycopg.rows import dict_row
from rich.console import Group, RenderableType

from cutter.approvals.foresight import misfit, why_not
from cutter.approvals.policy import Approver, Policy
from cutter.approvals.schema import APPROVE, RESUME
from cutter.catalogue import Sovereign
from cutter.domain import lanes
from cutter.domain.next_step import Needs, next_step
from cutter.domain.timestamps import utc
from cutter.errors import NotFound, Refused, Unavailable
from cutter.projections.run_view import short_time
from cutter.settings import Settings, load
from cutter.storage.answered_runs import Answered, answered
from cutter.storage.pools import OPERATOR, session
from cutter.storage.queries import query
from starter.approver import signing
from starter.console.terminal import Json, Listing, line, show

COLUMNS = ("document", "waits at", "needs", "since", "accepted", "until", "not by you")


Person = tuple[Policy, Approver]
"""Who looks, when that is known, and the policy that names them."""


def waiting(settings: Settings, person: Person | None = None) -> list[dict[str, Any]]:
    """Open requests and stopped runs, the longest waiting first. Times are UTC texts; `command` moves the entry."""
    with session(settings, OPERATOR) as connection:
        rows = connection.cursor(row_factory=dict_row).execute(query("inbox"), {}).fetchall()
        people = answered(connection)
        held: Any = connection.execute(query("lanes")).fetchone()
    return [_entry(row, person, people) | {"lane": lanes.of_run(held[0], row["run_id"])} for row in rows]


def _entry(row: dict[str, Any], person: Person | None, people: Answered) -> dict[str, Any]:
    step = next_step(
        run_id=row["run_id"], document_id=row["document_id"], state=row["state"], outcome=row["outcome"],
        latched=row["latched"], wrote=row["wrote"], approved=row["run_id"] in people.runs,
        exec_worker=people.exec_worker,
    )  # fmt: skip
    return {
        "run_id": row["run_id"],
        "document_id": row["document_id"],
        "batch_id": row["batch_id"],
        "state": row["state"],
        "gate": row["gate"],
        "needs": "expired" if row["expired"] else step.needs.value,
        "reason": row["reason"] if row["gate"] is None else None,
        "since_utc": utc(row["since"]),
        "expires_utc": utc(row["expires_at"]),
        "approvers_needed": row["needed"],
        "approvers_accepted": row["accepted"],
        "request_kb_id": row["kb_id"],
        "you_may_not": _why_not(row, step.needs, person),
        "stop_latched": row["latched"],
        # A workflow that lives ends an expired request by itself.
        "command": "cutter reconcile" if row["expired"] else step.command,
    }


SIGNED = (Needs.APPROVAL, Needs.SIGNED_RESUME, Needs.SIGNED_VOID, Needs.SIGNED_ACKNOWLEDGEMENT)
"""What a person gives with a key of theirs."""


def _why_not(row: dict[str, Any], needs: Needs, person: Person | None) -> str | None:
    """Why that person may not sign what is needed; None when they may, when nothing is signed, and for nobody."""
    if person is None or needs not in SIGNED:
        return None
    gate = row["gate"] or (Sovereign.LIFECYCLE if row["wrote"] else Sovereign.CUT).value
    decision = APPROVE if needs is Needs.APPROVAL else RESUME
    return why_not(*person, gate, decision, starter=row["starter"], now=datetime.now(UTC))


def inbox(
    approver: Annotated[str | None, typer.Option(help="Your name in the policy; default: by your GnuPG keys")] = None,
    as_json: Json = False,
) -> None:
    """List what waits for people, oldest first: requests to sign, and stopped runs, each with its command.

    Requests that you may not sign yourself are marked with the reason.

    Example: cutter inbox --approver an
    """
    settings = load()
    found = waiting(settings, _person(settings, approver))
    show({"waiting": found}, as_json=as_json, render=lambda console: console.print(_rendered(found), soft_wrap=True))


def _rendered(found: list[dict[str, Any]]) -> RenderableType:
    if not found:
        return "nothing waits"
    rows = [_line(one) for one in found]
    # Most people may sign everything that waits; an empty column would only take width.
    shown = len(COLUMNS) if any(one["you_may_not"] for one in found) else len(COLUMNS) - 1
    commands = [one["command"] for one in found]
    listing = Listing(columns=COLUMNS[:shown], rows=[row[:shown] for row in rows], commands=commands)
    return Group(listing, *(line(f"{one['document_id']} {one['lane']}") for one in found if one.get("lane")))


def _person(settings: Settings, approver: str | None) -> Person | None:
    """Whom the policy knows by that name, else by the one key of theirs; None when that is nobody or several."""
    try:
        policy = signing.policy_in_force(settings)
    except NotFound:
        return None
    if approver is not None:
        wrong = misfit(policy, approver, None)
        if wrong is not None:
            raise Refused(wrong, code="no_such_approver")
        return policy, next(one for one in policy.approvers if one.name == approver)
    # gpg would make a home if there is none; looking into the inbox must create nothing.
    if not Path(os.environ.get("GNUPGHOME") or Path.home() / ".gnupg").is_dir():
        return None
    try:
        mine = signing.own(policy, None)
    except Unavailable:
        return None
    return (policy, mine[0]) if len(mine) == 1 else None


def _line(one: dict[str, Any]) -> tuple[object, ...]:
    accepted = f"{len(one['approvers_accepted'])} of {one['approvers_needed']}" if one["gate"] else ""
    names = f" ({', '.join(one['approvers_accepted'])})" if one["approvers_accepted"] else ""
    return (
        one["document_id"], one["gate"] or one["state"], one["needs"], short_time(one["since_utc"]), accepted + names,
        short_time(one["expires_utc"]), one["you_may_not"] or "",
    )  # fmt: skip
