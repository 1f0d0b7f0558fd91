"""Pure: how a time is written: `2026-11-21T09:00:00Z` in a statement, a request and a policy; and for people."""

from __future__ import annotations

import re
from datetime import UTC, datetime

_INSTANT = re.compile(r"20[0-9]{2}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z")
_FORMAT = "%Y-%m-%dT%H:%M:%SZ"

EXAMPLE = "2026-11-21T09:00:00Z"


def parse_instant(text: str) -> datetime | None:
    """The time in UTC, or None when the text is not exactly of that form, or no such day or hour exists."""
    if not _INSTANT.fullmatch(text):
        return None
    try:
        return datetime.strptime(text, _FORMAT).replace(tzinfo=UTC)
    except ValueError:
        return None


def render_instant(moment: datetime) -> str:
    """The text of a time; fractions of a second are dropped."""
    return moment.astimezone(UTC).strftime(_FORMAT)


def readable(moment: datetime) -> str:
    """The text of a time for people, everywhere the same: `2026-11-21 09:00:00Z`."""
    return moment.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%SZ")


def utc(moment: datetime | None) -> str | None:
    """A database time for machines, to the second; None stays None."""
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ") if moment else None
