"""IO: whether a newer version of a law is registered than the one that a run has pinned."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from cutter.storage.records import Connection, records


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
    sentences = {}
    for row in NEWER.all(connection, {"run_ids": list(run_ids)}):
        by = f" by {row.registered_by}" if row.registered_by else ""
        registered = f"registered{by} on {row.registered_at.astimezone(UTC):%Y-%m-%d}"
        sentences[row.run_id] = f"version {row.newest} was {registered}, and this run has version {row.pinned}"
    return sentences
