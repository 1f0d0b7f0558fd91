"""Pure: a tenant's caps and its use, and words for them (seed 003 §3.4; spec 05 "Caps and fairness"). The database
decides.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from cutter import limits
from cutter.domain.recorded_values import record
from cutter.types import Json

# Characters of a tenant's name. Temporal's fairness keys are not longer. The database has the same limit.
NAME = re.compile(r"[A-Za-z0-9._@-]{1,64}")
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Room:
    """How much a tenant may begin now in a workflow: `room`, or None without a cap. `at_work` counts the runs at work,
    and `last_minute` those that began in the last minute. `code` is CONCURRENCY or RATE if that cap leaves no room.
    With RATE, `again_utc` is the time when there is room again.
    """

    tenant: str
    workflow: str
    weight: int
    max_concurrency: int | None
    max_runs_per_min: int | None
    max_writes_per_run: int | None
    at_work: int
    last_minute: int
    room: int | None
    code: str | None
    again_utc: str | None

    @classmethod
    def of(cls, answer: Json) -> Room:
        """An answer of `fn_tenant_room`, also with further fields. Raises KeyError if a field is absent."""
        return record(cls, answer)


@dataclass(frozen=True, slots=True, kw_only=True)
class TenantRooms:
    """A tenant with its room for single runs (`document`) and for runs in batches (`batch`)."""

    tenant: str
    document: Room
    batch: Room

    @classmethod
    def of(cls, tenant: str, document: Json, batch: Json) -> TenantRooms:
        return cls(tenant=tenant, document=Room.of(document), batch=Room.of(batch))


def held(room: Room) -> str:
    """The cap that leaves no room, and how much of it is used."""
    if room.code == CONCURRENCY:
        return f"tenant {room.tenant} has {room.at_work} of {room.max_concurrency} runs at work (max_concurrency)"
    begun = f"{room.last_minute} of {room.max_runs_per_min} runs in the last minute (max_runs_per_min)"
    return f"tenant {room.tenant} began {begun}"


def no_room(room: Room) -> str:
    """The reason why a run may not begin now, and the time when it may begin."""
    when = f"at {room.again_utc}" if room.code == RATE else "when one of them has ended or waits for a person"
    return f"{held(room)}: type the same command again {when}"


def shown(rows: Sequence[TenantRooms]) -> list[TenantRooms]:
    """The tenants with caps, a weight or runs at work. Empty for one tenant alone, which need not know the word."""
    capped = [row.tenant for row in rows if _is_set(row.document) or _is_set(row.batch)]
    working = [row.tenant for row in rows if row.document.at_work]
    if not capped and len(working) < 2:
        return []
    return [row for row in rows if row.tenant in (*capped, *working)]


def _is_set(room: Room) -> bool:
    caps = (room.max_concurrency, room.max_runs_per_min, room.max_writes_per_run)
    return room.weight != 1 or any(cap is not None for cap in caps)


def cells(rooms: TenantRooms) -> tuple[str, ...]:
    """A tenant as a row: weight, runs at work, runs of the last minute, writes of a run. An override is in brackets."""
    alone, batch = rooms.document, rooms.batch
    return (
        rooms.tenant,
        _both(alone.weight, batch.weight),
        f"{alone.at_work}{_of(_both(alone.max_concurrency, batch.max_concurrency))}",
        f"{alone.last_minute}{_of(_both(alone.max_runs_per_min, batch.max_runs_per_min))}",
        _both(alone.max_writes_per_run, batch.max_writes_per_run),
    )


COLUMNS = ("tenant", "weight", "at work", "in the last minute", "writes a run")


def _of(cap: str) -> str:
    return f" of {cap}" if cap else ""


def _both(alone: int | None, batch: int | None) -> str:
    """The number for single runs, and in brackets the number for runs in batches if it differs."""
    if alone == batch:
        return "" if alone is None else str(alone)
    return f"{_number(alone)} (in batches {_number(batch)})"


def _number(cap: int | None) -> str:
    return "any" if cap is None else str(cap)
