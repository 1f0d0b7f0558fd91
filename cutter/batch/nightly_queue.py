"""Pure: runs one queue file every night. Each night is a batch of its own, and its id depends only on the file and the
minute.

The same file in the same minute gives the same id on every machine. So two hosts that start the night in one minute
start one batch.
"""

from __future__ import annotations

import re
from datetime import datetime

from cutter.batch.queue import load_queue
from cutter.domain.digests import sha256_hex
from cutter.errors import InvalidInput
from cutter.limits import QUEUE_ITEMS_MAX

_NAME = re.compile(r"overnight([-_.].*)?\.ya?ml", re.IGNORECASE)
_LINE = re.compile(rb"^batch_id[ \t]*:.*$", re.MULTILINE)


def is_named_for_the_night(file: str) -> bool:
    """True for a queue file whose name makes its batch an overnight batch: overnight.yaml, overnight-laws.yaml (seed
    001 §7).
    """
    return _NAME.fullmatch(file) is not None


def queue_of(pattern: bytes, when: datetime) -> bytes:
    """The pattern's bytes with a batch id of this minute, a UUID of version 7, in place of the pattern's own. `when` is
    in UTC. Raises QueueRefused or InvalidInput.
    """
    load_queue(pattern, items_max=QUEUE_ITEMS_MAX)
    minute = when.replace(second=0, microsecond=0)
    drawn = sha256_hex(pattern + minute.isoformat().encode())
    variant = f"{int(drawn[0], 16) & 3 | 8:x}"
    text = f"{int(minute.timestamp() * 1000):012x}7{drawn[1:4]}{variant}{drawn[4:19]}"
    wanted = f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"
    made = _LINE.sub(f"batch_id: {wanted}".encode(), pattern, count=1)
    if load_queue(made, items_max=QUEUE_ITEMS_MAX).batch_id != wanted:
        raise InvalidInput("the queue's batch_id must be at the beginning of a line of its own: write it there")
    return made
