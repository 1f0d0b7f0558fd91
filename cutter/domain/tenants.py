"""Pure: what a tenant may have and has, in words (seed 003 §3.4; spec 05 "Caps and fairness").

The database counts and decides (`fn_tenant_room`); its answer holds `tenant`, `workflow`, `weight`, the caps (None: no
cap), `at_work`, `last_minute`, `room`, `code` and `again_utc`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from cutter import limits
from cutter.types import Json

NAME = re.compile(rf"[A-Za-z0-9._@-]{{1,{limits.TENANT_CHARACTERS_MAX}}}")
"""A tenant's name; the database has the same form."""

CAPS = {
    "weight": limits.WEIGHT_MAX,
    "max_concurrency": 1_000_000,
    "max_runs_per_min": 1_000_000,
    "max_writes_per_run": 1_000_000,
}
"""What can be set, and how much at most; at least 1. The database has the same bounds."""

WORKFLOWS = ("any", "document", "batch")
"""Whom a number is for: all of a tenant's runs, or instead of that those outside batches, or those in them."""

CONCURRENCY = "STOP_TENANT_CONCURRENCY"
RATE = "STOP_TENANT_RATE"


def held(room: Json) -> str:
    """Which cap leaves no room, and how it is used."""
    tenant = room["tenant"]
    if room["code"] == CONCURRENCY:
        return f"tenant {tenant} has {room['at_work']} of {room['max_concurrency']} runs at work (max_concurrency)"
    begun = f"{room['last_minute']} of {room['max_runs_per_min']} runs in the last minute (max_runs_per_min)"
    return f"tenant {tenant} began {begun}"


def no_room(room: Json) -> str:
    """Why a run may not begin now, when it may, and what shows more."""
    when = f"at {room['again_utc']}" if room["code"] == RATE else "when one of them has ended or waits for a person"
    return f"{held(room)}: type the same command again {when}; see `cutter tenants`"


def shown(found: Sequence[Json]) -> list[Json]:
    """The tenants that `cutter status` shows: those with caps or a weight, and those with runs at work.

    None where no tenant is set apart from others: a deployment of one tenant need not know the word.
    """
    capped = [one["tenant"] for one in found if any(_is_set(one[workflow]) for workflow in WORKFLOWS[1:])]
    working = [one["tenant"] for one in found if one["document"]["at_work"]]
    if not capped and len(working) < 2:
        return []
    return [one for one in found if one["tenant"] in (*capped, *working)]


def _is_set(room: Json) -> bool:
    return room["weight"] != 1 or any(room[cap] is not None for cap in CAPS if cap != "weight")


def cells(one: Json) -> tuple[str, ...]:
    """A tenant in a row: weight, at work, in the last minute, writes a run; an override is in brackets."""
    alone = one["document"]
    return (
        one["tenant"],
        _told(one, "weight"),
        f"{alone['at_work']}{_of(_told(one, 'max_concurrency'))}",
        f"{alone['last_minute']}{_of(_told(one, 'max_runs_per_min'))}",
        _told(one, "max_writes_per_run"),
    )


COLUMNS = ("tenant", "weight", "at work", "in the last minute", "writes a run")


def _of(cap: str) -> str:
    return f" of {cap}" if cap else ""


def _told(one: Json, cap: str) -> str:
    """The number of single runs, and that of runs in batches where it is another one."""
    alone, batch = one["document"][cap], one["batch"][cap]
    if alone == batch:
        return "" if alone is None else str(alone)
    return f"{_number(alone)} (in batches {_number(batch)})"


def _number(cap: int | None) -> str:
    return "any" if cap is None else str(cap)
