"""IO: which messages have not arrived, and when each channel was served."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from cutter import limits
from cutter.domain.amounts import counted
from cutter.storage.pools import Connection
from cutter.storage.records import records


@dataclass(frozen=True, slots=True, kw_only=True)
class Undelivered:
    """A message that no channel has taken; `of` is its run or batch."""

    channel: str
    kind: str
    phase: str
    of: str
    attempts: int
    last_error: str | None
    outcome: str | None
    created_at: datetime
    next_eligible_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ChannelHealth:
    """A channel that was served: how many messages wait, since when, and how many were given up."""

    name: str
    waiting: int
    waiting_seconds: int | None
    given_up: int
    served_seconds_ago: int


UNDELIVERED = records("notification_undelivered", Undelivered)
HEALTH = records("notification_health", ChannelHealth)


def undelivered(connection: Connection, channel: str | None = None) -> list[Undelivered]:
    """Messages that wait for a try, and those that were given up lately; of one channel or of all."""
    asked = {"channel": channel, "days": limits.NOTIFICATION_DAYS, "most": limits.NOTIFICATIONS_SHOWN}
    return UNDELIVERED.all(connection, asked)


def health(connection: Connection) -> list[ChannelHealth]:
    """Each channel that was ever served: what waits, what was given up, when it was served."""
    return HEALTH.all(connection, {"days": limits.NOTIFICATION_DAYS})


def sentences(channels: Sequence[ChannelHealth]) -> Iterator[str]:
    """What is wrong with the channels, a sentence each; nothing if every message arrives."""
    for one in channels:
        minutes, days = (one.waiting_seconds or 0) // 60, limits.NOTIFICATION_DAYS
        if one.waiting and minutes:
            yield f"{one.name}: {counted(one.waiting, 'message')} undelivered, the oldest for {minutes} minutes"
        if one.given_up:
            yield f"{one.name}: {counted(one.given_up, 'message')} given up within {days} days"
        if one.served_seconds_ago > limits.NOTIFICATION_SILENT_SECONDS:
            yield f"{one.name}: no pass for {one.served_seconds_ago // 60} minutes"
