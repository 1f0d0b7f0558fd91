"""IO: `cutter inbox`: what waits for people, oldest first, from PostgreSQL alone."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from psycopg.rows import dict_row
from rich.console import RenderableType

from cutter.domain.next_step import next_step
from cutter.evidence.run_view import short_time
from cutter.settings import Settings, load
from cutter.storage.faults import translated
from cutter.storage.pools import connect
from cutter.storage.queries import query
from starter.terminal import Json, Listing, show

OPERATOR = "cutter_operator"
COLUMNS = ("document", "waits at", "needs", "since", "accepted", "until")


def waiting(settings: Settings) -> list[dict[str, Any]]:
    """Open requests and stopped runs, the longest waiting first. Times are UTC texts; `command` moves the entry."""
    with translated(), connect(settings, OPERATOR) as connection:
        rows = connection.cursor(row_factory=dict_row).execute(query("inbox"), {}).fetchall()
    return [_entry(row) for row in rows]


def _entry(row: dict[str, Any]) -> dict[str, Any]:
    step = next_step(
        run_id=row["run_id"], document_id=row["document_id"], state=row["state"], outcome=row["outcome"],
        latched=row["latched"],
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
        "stop_latched": row["latched"],
        # A workflow that lives ends an expired request by itself.
        "command": "cutter reconcile" if row["expired"] else step.command,
    }


def inbox(as_json: Json = False) -> None:
    """List what waits for people, oldest first: requests to sign, and stopped runs, each with its command.

    Example: cutter inbox
    """
    found = waiting(load())
    show({"waiting": found}, as_json=as_json, render=lambda console: console.print(_rendered(found), soft_wrap=True))


def _rendered(found: list[dict[str, Any]]) -> RenderableType:
    if not found:
        return "nothing waits"
    return Listing(columns=COLUMNS, rows=[_line(one) for one in found], commands=[one["command"] for one in found])


def _line(one: dict[str, Any]) -> tuple[object, ...]:
    accepted = f"{len(one['approvers_accepted'])} of {one['approvers_needed']}" if one["gate"] else ""
    names = f" ({', '.join(one['approvers_accepted'])})" if one["approvers_accepted"] else ""
    return (
        one["document_id"], one["gate"] or one["state"], one["needs"], short_time(one["since_utc"]), accepted + names,
        short_time(one["expires_utc"]),
    )  # fmt: skip


def utc(moment: datetime | None) -> str | None:
    """A database time for machines, to the second; None stays None."""
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ") if moment else None
