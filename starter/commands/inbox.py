"""IO: `cutter inbox`: lists the requests and stopped runs that wait for people, oldest first, from PostgreSQL alone."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Group, RenderableType

from cutter.approvals.eligibility import signer_mismatch
from cutter.errors import NotFound, Refused, Unavailable
from cutter.projections.run_view import short_time
from cutter.settings import Settings, load
from cutter.storage.pools import OPERATOR, session
from starter.approver import signing_desk
from starter.console.terminal import Json, Listing, line, show
from starter.operator import inbox_entries
from starter.operator.inbox_entries import Person

COLUMNS = ("document", "waits at", "needs", "since", "accepted", "until", "not by you")


def waiting(settings: Settings, person: Person | None = None) -> list[dict[str, Any]]:
    """The entries of the inbox, read by an operator."""
    with session(settings, OPERATOR) as connection:
        return inbox_entries.entries(connection, person)


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
    stuck = _blocked(settings)
    show(
        {"waiting": found, "blocked": stuck},
        as_json=as_json,
        render=lambda console: console.print(_with_blocked(_rendered(found), stuck), soft_wrap=True),
    )


def _blocked(settings: Settings) -> list[dict[str, str]]:
    with session(settings, OPERATOR) as connection:
        return inbox_entries.blocked(connection)


def _with_blocked(shown: RenderableType, stuck: list[dict[str, str]]) -> RenderableType:
    if not stuck:
        return shown
    return Group(shown, "", *(line(f"{one['reason']}; next: {one['command']}") for one in stuck))


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
        wrong = signer_mismatch(policy, approver, None)
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
