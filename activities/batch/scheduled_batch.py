"""IO: makes tonight's batch from the pattern that a schedule names. The schedule's workflow begins with this
activity.
"""

from __future__ import annotations

from dataclasses import asdict, replace
from datetime import datetime

from activities.batch.register import put_queue
from activities.worker.dependencies import Deps
from cutter import limits
from cutter.batch import documents, scheduled_batches
from cutter.catalogue import Role
from cutter.domain.digests import sha256_hex
from cutter.errors import InvalidInput, NotFound
from cutter.messages import BatchInput, NightStart
from cutter.projections.batch_queue_file import keep_queue
from cutter.registration import caps_of
from cutter.storage import batches as batch_rows
from cutter.storage.batches import Options
from cutter.storage.faults import translated


def begin_night(deps: Deps, input: NightStart) -> BatchInput:
    """Register the batch of the night. A second call for the same night finds the registered batch.

    Raises the errors of a refused queue. Then the schedule's workflow fails, and the schedule pauses until a person has
    corrected the cause.
    """
    night = input.night
    data = scheduled_batches.queue_of(_pattern(deps, night.queue_sha256), _instant(input.when))
    options = _options(night.lanes, deps.settings.batch_items_max)
    with translated(), deps.pool(Role.READ).connection() as connection:
        admission = batch_rows.admit(connection, data, options)
        caps = asdict(caps_of(deps.settings))
        batch_id, _ = batch_rows.register(connection, admission, options, run_caps=caps, starter=night.starter[:100])
        put_queue(deps, connection, batch_id, data)
    keep_queue(deps.settings.batches, batch_id, data)
    return BatchInput(batch_id=batch_id, starter=night.starter)


def _pattern(deps: Deps, sha256: str) -> bytes:
    name = documents.pattern_id(sha256)
    pattern = documents.queue_in(deps.kb.get(name))
    if pattern is None or sha256_hex(pattern) != sha256:
        raise NotFound(f"{name} is not the queue that the schedule was installed with: install it again")
    return pattern


def _instant(text: str) -> datetime:
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        raise InvalidInput("the schedule's time is no ISO 8601 time") from None


def _options(lanes: int, items_max: int) -> Options:
    """The options of an overnight batch. It leaves out enacted documents, because the pattern is the same every
    night.
    """
    night = replace(Options.overnight("live", items_max), skip_completed=True)
    return batch_rows.with_lanes(night, min(lanes, limits.BATCH_LANES_MAX) if lanes > 0 else None)
