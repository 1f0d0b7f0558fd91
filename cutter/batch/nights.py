"""Pure: one queue, night after night: each run of it is a batch of its own, with an id that only the time makes.

The same pattern at the same time gives the same id on every machine, so that a night is never run twice, and its id is
known in the afternoon, when its approvals are signed.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime

from cutter.batch.queue import load_queue
from cutter.domain.digests import sha256_hex
from cutter.errors import InvalidInput
from cutter.limits import QUEUE_ITEMS_MAX

_NAME = re.compile(r"overnight([-_.].*)?\.ya?ml", re.IGNORECASE)
_LINE = re.compile(rb"^batch_id[ \t]*:.*$", re.MULTILINE)


def is_named_for_the_night(file: str) -> bool:
    """True for the name of a queue file that begins a night: overnight.yaml, overnight-laws.yaml (seed 001 §7)."""
    return _NAME.fullmatch(file) is not None


def batch_id_of(pattern: bytes, when: datetime) -> str:
    """The batch id of a pattern's run at an instant (to the second, with its zone): a UUID of version 7."""
    if when.tzinfo is None:
        raise InvalidInput(f"{when} has no time zone")
    instant = when.astimezone(UTC).replace(microsecond=0)
    drawn = sha256_hex(pattern + instant.isoformat().encode())
    variant = f"{int(drawn[0], 16) & 3 | 8:x}"
    text = f"{int(instant.timestamp() * 1000):012x}7{drawn[1:4]}{variant}{drawn[4:19]}"
    return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"


def queue_of(pattern: bytes, when: datetime) -> bytes:
    """The pattern's bytes with that time's batch id in place of its own. Raises QueueRefused or InvalidInput."""
    load_queue(pattern, items_max=QUEUE_ITEMS_MAX)
    wanted = batch_id_of(pattern, when)
    made = _LINE.sub(f"batch_id: {wanted}".encode(), pattern, count=1)
    if load_queue(made, items_max=QUEUE_ITEMS_MAX).batch_id != wanted:
        raise InvalidInput("the queue's batch_id must stand on a line of its own that begins with it: write it so")
    return made
