"""Pure: writes a time as `2026-11-21T09:00:00Z` in statements, requests and policies, and otherwise for people."""

from __future__ import annotations

import re
from datetime import UTC, datetime

_INSTANT = re.compile(r"20[0-9]{2}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z")
_FORMAT = "%Y-%m-%dT%H:%M:%SZ"

EXAMPLE = "2026-11-21T09:00:00Z"


def parse_instant(text: str) -> datetime | None:
    """The time in UTC. None if the text does not have exactly this form, or if there is no such day or hour."""
    if not _INSTANT.fullmatch(text):
        return None
    try:
        return datetime.strptime(text, _FORMAT).replace(tzinfo=UTC)
    except ValueError:
        return None


def render_instant(moment: datetime) -> str:
    """The text of a time. Fractions of a second are dropped."""
    return moment.astimezone(UTC).strftime(_FORMAT)


def readable(moment: datetime) -> str:
    """The text of a time for people, in the same form everywhere: `2026-11-21 09:00:00Z`."""
    return moment.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%SZ")


def utc(moment: datetime | None) -> str | None:
    """A time of the database for machines, to the second. None stays None."""
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ") if moment else None
