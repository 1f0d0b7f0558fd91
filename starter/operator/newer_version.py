"""IO: whether a newer version of a law is registered than the one that a run has pinned."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from cutter.storage.pools import Connection
from cutter.storage.records import records


@dataclass(frozen=True, slots=True, kw_only=True)
class NewerVersion:
    """The version that a run has pinned, and the newest registered one. No run has taken the newest one yet."""

    run_id: str
    pinned: int
    newest: int
    registered_by: str | None
    registered_at: datetime


NEWER = records("newer_versions", NewerVersion)


def newer_versions(connection: Connection, run_ids: Sequence[str]) -> dict[str, str]:
    """A sentence for each of these runs whose document has a newer version."""
    return {row.run_id: _sentence(row) for row in NEWER.all(connection, {"run_ids": list(run_ids)})}


def _sentence(row: NewerVersion) -> str:
    by = f" by {row.registered_by}" if row.registered_by else ""
    day = f"{row.registered_at.astimezone(UTC):%Y-%m-%d}"
    return f"version {row.newest} was registered{by} on {day}, and this run has version {row.pinned}"
