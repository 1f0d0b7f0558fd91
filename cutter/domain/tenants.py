"""Pure: describes in words what a tenant may use and what it uses (seed 003 §3.4; spec 05 "Caps and fairness").

The database counts and decides (`fn_tenant_room`). Its answer holds `tenant`, `workflow`, `weight`, the caps (None if
there is no cap), `at_work`, `last_minute`, `room`, `code` and `again_utc`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from cutter import limits
from cutter.types import Json

NAME = re.compile(rf"[A-Za-z0-9._@-]{{1,{limits.TENANT_CHARACTERS_MAX}}}")
"""The form of a tenant's name. The database has the same form."""

CAPS = {
    "weight": limits.WEIGHT_MAX,
    "max_concurrency": 1_000_000,
    "max_runs_per_min": 1_000_000,
    "max_writes_per_run": 1_000_000,
}
"""The numbers that a person can set, with their maximum. The minimum is 1. The database has the same bounds."""

WORKFLOWS = ("any", "document", "batch")
"""The runs for which a number holds: all runs of a tenant, or only those outside batches or only those in batches."""

CONCURRENCY = "STOP_TENANT_CONCURRENCY"
RATE = "STOP_TENANT_RATE"


def held(room: Json) -> str:
    """The cap that leaves no room, and how much of it is used."""
    tenant = room["tenant"]
    if room["code"] == CONCURRENCY:
        return f"tenant {tenant} has {room['at_work']} of {room['max_concurrency']} runs at work (max_concurrency)"
    begun = f"{room['last_minute']} of {room['max_runs_per_min']} runs in the last minute (max_runs_per_min)"
    return f"tenant {tenant} began {begun}"


def no_room(room: Json) -> str:
    """The reason why a run may not begin now, the time when it may begin, and the command that shows more."""
    when = f"at {room['again_utc']}" if room["code"] == RATE else "when one of them has ended or waits for a person"
    return f"{held(room)}: type the same command again {when}; see `cutter tenants`"


def shown(rows: Sequence[Json]) -> list[Json]:
    """The tenants that `cutter status` shows: those with caps or a weight, and those with runs at work.

    The answer is empty if no tenant has caps or a weight, and fewer than two tenants have runs at work. So a deployment
    with one tenant need not know the word.
    """
    capped = [row["tenant"] for row in rows if any(_is_set(row[workflow]) for workflow in WORKFLOWS[1:])]
    working = [row["tenant"] for row in rows if row["document"]["at_work"]]
    if not capped and len(working) < 2:
        return []
    return [row for row in rows if row["tenant"] in (*capped, *working)]


def _is_set(room: Json) -> bool:
    return room["weight"] != 1 or any(room[cap] is not None for cap in CAPS if cap != "weight")


def cells(record: Json) -> tuple[str, ...]:
    """A tenant as a row: weight, runs at work, runs of the last minute, writes of a run. An override is in brackets."""
    alone = record["document"]
    return (
        record["tenant"],
        _told(record, "weight"),
        f"{alone['at_work']}{_of(_told(record, 'max_concurrency'))}",
        f"{alone['last_minute']}{_of(_told(record, 'max_runs_per_min'))}",
        _told(record, "max_writes_per_run"),
    )


COLUMNS = ("tenant", "weight", "at work", "in the last minute", "writes a run")


def _of(cap: str) -> str:
    return f" of {cap}" if cap else ""


def _told(record: Json, cap: str) -> str:
    """The number for single runs, and in brackets the number for runs in batches if it differs."""
    alone, batch = record["document"][cap], record["batch"][cap]
    if alone == batch:
        return "" if alone is None else str(alone)
    return f"{_number(alone)} (in batches {_number(batch)})"


def _number(cap: int | None) -> str:
    return "any" if cap is None else str(cap)
