"""IO: finds the messages that have not arrived, and the time of each channel's last pass."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from cutter import limits
from cutter.domain.amounts import counted
from cutter.storage.records import Connection, records


@dataclass(frozen=True, slots=True, kw_only=True)
class Undelivered:
    """A message that its channel has not delivered. `of` is the id of its run or batch."""

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
    """A channel: its waiting messages, the age of the oldest, its given-up messages, and the age of its last pass."""

    name: str
    waiting: int
    waiting_seconds: int | None
    given_up: int
    served_seconds_ago: int


UNDELIVERED = records("notification_undelivered", Undelivered)
HEALTH = records("notification_health", ChannelHealth)


def undelivered(connection: Connection, channel: str | None = None) -> list[Undelivered]:
    """The messages that wait for a try, and those given up within NOTIFICATION_DAYS. None means all channels."""
    # Undelivered messages that a command lists. Its counts include all of them.
    asked = {"channel": channel, "days": limits.NOTIFICATION_DAYS, "most": 200}
    return UNDELIVERED.all(connection, asked)


def health(connection: Connection) -> list[ChannelHealth]:
    """The health of each channel that has had a pass."""
    return HEALTH.all(connection, {"days": limits.NOTIFICATION_DAYS})


def sentences(channels: Sequence[ChannelHealth]) -> Iterator[str]:
    """One sentence for each problem of the channels. There is no sentence if every message arrives."""
    for channel in channels:
        minutes, days = (channel.waiting_seconds or 0) // 60, limits.NOTIFICATION_DAYS
        if channel.waiting and minutes:
            yield f"{channel.name}: {counted(channel.waiting, 'message')} undelivered, the oldest for {minutes} minutes"
        if channel.given_up:
            yield f"{channel.name}: {counted(channel.given_up, 'message')} given up within {days} days"
        # A channel is of use only with at least one pass an hour.
        if channel.served_seconds_ago > 3_600:
            yield f"{channel.name}: no pass for {channel.served_seconds_ago // 60} minutes"
