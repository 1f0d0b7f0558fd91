"""A queue that is right, to be made wrong in one place."""

from __future__ import annotations

import pytest

from cutter.batch.queue import QueueRefused, load_queue

HEAD = """\
schema_version: 1
batch_id: 0199f1de-7c3d-7e4f-8a9b-0c1d2e3f4a5b
created_by: ops@example
created_utc: 2026-11-21T22:00:00Z
default_scope: enacted_only
default_actor: sovereign@example
items:
"""

GOOD = (
    HEAD
    + """\
  - document_id: ICX-LAW-2026-001
    source_uri: null
  - document_id: ICX-LAW-2026-002
    source_uri: https://example.org/laws/2?lang=de
    priority: 7
    depends_on: [ICX-LAW-2026-001]
    critical: true
    tenant: north
    marking_profile: generic-markdown
"""
)


def changed(old: str, new: str) -> str:
    """The good queue with its first `old` replaced."""
    assert old in GOOD
    return GOOD.replace(old, new, 1)


def many(count: int, extra: str = "") -> str:
    """A queue of that many documents."""
    return HEAD + "".join(f"  - document_id: ICX-LAW-{number:05}\n{extra}" for number in range(count))


def refused(text: str | bytes, *, items_max: int = 100) -> QueueRefused:
    """The refusal of a queue that must not be read."""
    with pytest.raises(QueueRefused) as caught:
        load_queue(text.encode() if isinstance(text, str) else text, items_max=items_max)
    return caught.value
