"""IO: what people must know about segments: problems that the scrub has found, and verifications that are too old."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from cutter import limits
from cutter.domain.amounts import counted
from cutter.storage.pools import Connection
from cutter.storage.records import records


@dataclass(frozen=True, slots=True, kw_only=True)
class Health:
    """The documents in segments, how many of them have a damaged one, the first of these with its problem, and the age
    of the oldest verification.
    """

    sealed: int
    damaged: int
    first: str | None
    oldest_seconds: float | None

    @property
    def oldest_days(self) -> float:
        """The age of the oldest verification in days; 0 if there is no segment."""
        return (self.oldest_seconds or 0) / limits.DAY_SECONDS


HEALTH = records("backup_health", Health)


def health(connection: Connection) -> Health:
    """The health of all segments."""
    return HEALTH.one(connection)


def sentences(state: Health, days: float) -> Iterator[str]:
    """One sentence for each reason why no gate takes a backup, now or soon. `days` limits the oldest verification."""
    if state.damaged:
        what = counted(state.damaged, "document")
        yield f"the segments of {what} failed their verification, such as {state.first}; no run may change law"
    age = f"a segment was last verified {state.oldest_days:.0f} days ago, the limit is {days:g}"
    if state.oldest_days > days:
        yield f"{age}: no backup is taken"
    elif state.oldest_days > limits.SCRUB_LATE_SHARE * days:
        left = counted(max(1, round(days - state.oldest_days)), "day")
        yield f"the scrub is too slow: {age}, and in {left} no backup is taken"
