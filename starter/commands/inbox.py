"""IO: `cutter inbox`: lists the requests and stopped runs that wait for people, oldest first, from PostgreSQL alone."""

from __future__ import annotations

import os
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Group, RenderableType

from cutter.approvals.eligibility import misfit, why_not
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
from cutter.storage.records import records
from cutter.storage.runs import LANES
from starter.approver import signing_desk
from starter.console.terminal import Json, Listing, line, show

COLUMNS = ("document", "waits at", "needs", "since", "accepted", "until", "not by you")


@dataclass(frozen=True, slots=True, kw_only=True)
class Waiting:
    """An open run that waits for a person: at a gate with its open request, or stopped (then `gate` is None)."""

    run_id: str
    document_id: str
    starter: str
    state: str
    outcome: str | None
    batch_id: str | None
    reason: str | None
    latched: bool
    gate: str | None
    kb_id: str | None
    expires_at: datetime | None
    expired: bool | None
    since: datetime
    wrote: bool
    needed: int
    accepted: list[str]


INBOX = records("inbox", Waiting)

Person = tuple[Policy, Approver]
"""The person who looks at the inbox, if known, and the policy that names them."""


def waiting(settings: Settings, person: Person | None = None) -> list[dict[str, Any]]:
    """Open requests and stopped runs, the longest waiting first. Times are UTC texts. `command` is the next command for
    the entry.
    """
    with session(settings, OPERATOR) as connection:
        rows = INBOX.all(connection)
        people = answered(connection)
        held = lanes.lanes_of(LANES.one(connection))
    return [_entry(row, person, people) | {"lane": lanes.of_run(held, row.run_id)} for row in rows]


def _entry(row: Waiting, person: Person | None, people: Answered) -> dict[str, Any]:
    step = next_step(
        run_id=row.run_id, document_id=row.document_id, state=row.state, outcome=row.outcome,
        latched=row.latched, wrote=row.wrote, approved=row.run_id in people.runs,
        exec_worker=people.exec_worker,
    )  # fmt: skip
    return {
        "run_id": row.run_id,
        "document_id": row.document_id,
        "batch_id": row.batch_id,
        "state": row.state,
        "gate": row.gate,
        "needs": "expired" if row.expired else step.needs.value,
        "reason": row.reason if row.gate is None else None,
        "since_utc": utc(row.since),
        "expires_utc": utc(row.expires_at),
        "approvers_needed": row.needed,
        "approvers_accepted": row.accepted,
        "request_kb_id": row.kb_id,
        "you_may_not": _why_not(row, step.needs, person),
        "stop_latched": row.latched,
        # A running workflow ends an expired request by itself.
        "command": "cutter reconcile" if row.expired else step.command,
    }


SIGNED = (Needs.APPROVAL, Needs.SIGNED_RESUME, Needs.SIGNED_VOID, Needs.SIGNED_ACKNOWLEDGEMENT)
"""The kinds of decision that need a person's key."""


def _why_not(row: Waiting, needs: Needs, person: Person | None) -> str | None:
    """Why that person may not give the needed signature. None if they may, if no signature is needed, or if the person
    is unknown.
    """
    if person is None or needs not in SIGNED:
        return None
    gate = row.gate or (Sovereign.LIFECYCLE if row.wrote else Sovereign.CUT).value
    decision = APPROVE if needs is Needs.APPROVAL else RESUME
    return why_not(*person, gate, decision, starter=row.starter, now=datetime.now(UTC))


def inbox(
    approver: Annotated[str | None, typer.Option(help="Your name in the policy; default: by your GnuPG keys")] = None,
    as_json: Json = False,
) -> None:
    """List the requests to sign and the stopped runs, oldest first, each with its next command.

    If you may not sign a request yourself, the list says why.

    Example: cutter inbox --approver an
    """
    settings = load()
    found = waiting(settings, _person(settings, approver))
    show({"waiting": found}, as_json=as_json, render=lambda console: console.print(_rendered(found), soft_wrap=True))


def _rendered(found: list[dict[str, Any]]) -> RenderableType:
    if not found:
        return "nothing waits"
    rows = [_line(one) for one in found]
    # Most people may sign every waiting request, and an empty column would only take width.
    shown = len(COLUMNS) if any(one["you_may_not"] for one in found) else len(COLUMNS) - 1
    commands = [one["command"] for one in found]
    listing = Listing(columns=COLUMNS[:shown], rows=[row[:shown] for row in rows], commands=commands)
    return Group(listing, *(line(f"{one['document_id']} {one['lane']}") for one in found if one.get("lane")))


def _person(settings: Settings, approver: str | None) -> Person | None:
    """The approver of that name, else the owner of the one local key that the policy knows. None if there is no such
    approver or several.
    """
    try:
        policy = signing_desk.policy_in_force(settings)
    except NotFound:
        return None
    if approver is not None:
        wrong = misfit(policy, approver, None)
        if wrong is not None:
            raise Refused(wrong, code="no_such_approver")
        return policy, next(one for one in policy.approvers if one.name == approver)
    # gpg would create a missing home, but looking into the inbox must create nothing.
    if not Path(os.environ.get("GNUPGHOME") or Path.home() / ".gnupg").is_dir():
        return None
    try:
        mine = signing_desk.own(policy, None)
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
