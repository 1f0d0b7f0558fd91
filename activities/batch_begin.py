"""IO: find a batch, or register it from the queue.yaml in its folder; what its workflow begins with."""

from __future__ import annotations

from dataclasses import asdict

from activities.begin import caps_of
from activities.deps import Deps
from cutter import limits
from cutter.batch import documents, registry
from cutter.batch.queue import load_queue
from cutter.batch.registry import Options
from cutter.domain import ids
from cutter.errors import InvalidInput, NotFound
from cutter.gates.catalogue import Role
from cutter.messages import BatchInput, Steering
from cutter.storage.faults import translated
from cutter.storage.pools import Connection

QUEUE_FILE = "queue.yaml"


def begin_batch(deps: Deps, input: BatchInput) -> Steering:
    """The batch's state. One that is not registered is made from `<batch dir>/<batch id>/queue.yaml`."""
    batch_id = ids.batch_id(input.batch_id)
    with translated(), deps.pool(Role.READ).connection() as connection:
        row = connection.execute(
            "select state, mode from cutter_governance.batch where batch_id = %s", (batch_id,)
        ).fetchone()
        if row is None:
            _register(deps, connection, batch_id, input)
            row = ("batch_pending", "dryrun" if batch_id.endswith("-dryrun") else "live")
    return Steering(state=str(row[0]), seen="", mode=str(row[1]))


def _register(deps: Deps, connection: Connection, batch_id: str, input: BatchInput) -> None:
    path = deps.settings.batches / batch_id / QUEUE_FILE
    try:
        data = path.read_bytes()
    except OSError:
        raise NotFound(
            f"no batch {batch_id}, and no {path}: put the queue there, or type `cutter orchestrate batch --queue FILE`",
            code="STOP_BATCH_NOT_FOUND",
        ) from None
    options = options_of(input, batch_id, deps.settings.batch_items_max)
    queue = load_queue(data, items_max=options.items_max)
    if registry.name_of(queue, options) != batch_id:
        raise InvalidInput(f"{path} is of batch {queue.batch_id}, not of {batch_id}")
    admission = registry.admit(connection, queue, options)
    caps = registry.per_document(asdict(caps_of(deps.settings)), options)
    registry.register(connection, admission, options, run_caps=caps, starter=input.starter[:100])
    deps.kb.put(documents.queue_id(batch_id), documents.queue_document(data))


def options_of(input: BatchInput, batch_id: str, items_max: int) -> Options:
    """What a start says of how the batch is to run; see `Options` for what it leaves out."""
    dryrun = batch_id.endswith("-dryrun")
    if input.overnight:
        options = Options.overnight("dryrun" if dryrun else "live", items_max)
    else:
        options = Options(mode="dryrun" if dryrun else "live", policy=input.policy, items_max=items_max)
    return registry.with_lanes(options, min(input.lanes, limits.BATCH_LANES_MAX) or None)
