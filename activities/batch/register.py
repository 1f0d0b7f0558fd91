"""IO: finds a batch, or registers it from the queue.yaml in its folder. The batch's workflow begins with this
activity.
"""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

from activities import effects
from activities.worker.dependencies import Deps
from cutter import limits
from cutter.batch import documents
from cutter.catalogue import Role
from cutter.domain import ids
from cutter.errors import InvalidInput, NotFound
from cutter.kb.ids import signature_of
from cutter.messages import BatchInput, BatchStep
from cutter.projections import batch_queue_file
from cutter.registration import caps_of
from cutter.storage import batch_views, effect_policy
from cutter.storage import batches as batch_rows
from cutter.storage.batches import Options
from cutter.storage.faults import translated
from cutter.storage.pools import CLOCK, Connection


def begin_batch(deps: Deps, input: BatchInput) -> BatchStep:
    """The batch's state. If the batch is not registered, it is registered from `<batch dir>/<batch id>/queue.yaml`."""
    batch_id = ids.batch_id(input.batch_id)
    with translated(), deps.pool(Role.READ).connection() as connection:
        there = batch_views.state_and_mode(connection, batch_id)
        if there is not None:
            return BatchStep(state=there.state, seen="", mode=there.mode)
        path = batch_queue_file.find(deps.settings.batches, batch_id) / batch_queue_file.QUEUE
        try:
            data = batch_queue_file.read_queue(path)
        except OSError:
            raise NotFound(
                f"no batch {batch_id}, and no {path}: put the queue there, or type",
                then="cutter orchestrate batch --queue FILE",
                code="STOP_BATCH_NOT_FOUND",
            ) from None
        options = options_of(input, batch_id, deps.settings.batch_items_max)
        admission = batch_rows.admit(connection, data, options)
        if batch_rows.name_of(admission.queue, options) != batch_id:
            raise InvalidInput(f"{path} is of batch {admission.queue.batch_id}, not of {batch_id}")
        caps = asdict(caps_of(deps.settings))
        batch_rows.register(connection, admission, options, run_caps=caps, starter=input.starter[:100])
        # A lost folder is restored from the queue.yaml in the knowledge base. Its receipt is in the open transaction.
        context, policy = effects.of_batch(CLOCK.one(connection), batch_id), effect_policy.in_force(connection)
        put = effects.put(deps, context, documents.queue_id(batch_id), data, policy)
        connection.execute(*effects.receipt_of_put(context, put, "queue"))
        _put_approvals(deps, connection, batch_id, path.parent)
        there = batch_views.state_and_mode(connection, batch_id)
    return BatchStep(state=there.state if there else "", seen="", mode=there.mode if there else "")


def _put_approvals(deps: Deps, connection: Connection, batch_id: str, folder: Path) -> None:
    """Copy pre-batched approvals from the folder of the queue file (seed 001 §7) to the place where the documents' runs
    look.
    """
    context = effects.of_batch(CLOCK.one(connection), batch_id)
    for name in documents.PRE_BATCHED.values():
        for statement in sorted((folder / name).glob("*.md")):
            signature = statement.with_name(f"{statement.name}.asc")
            kb_id = ids.kb_id(f"{documents.folder(batch_id)}/{name}/{statement.name}")
            pair = ((statement, kb_id), (signature, signature_of(kb_id))) if signature.is_file() else ()
            policy = effect_policy.in_force(connection)
            for file, put_as in pair:
                with file.open("rb") as opened:
                    put = effects.put(deps, context, put_as, opened.read(limits.STATEMENT_BYTES_MAX), policy)
                connection.execute(*effects.receipt_of_put(context, put, "approval"))


def options_of(input: BatchInput, batch_id: str, items_max: int) -> Options:
    """The options that a start gives for the batch. `Options` has the defaults for the others."""
    dryrun = batch_id.endswith("-dryrun")
    if input.overnight:
        options = Options.overnight("dryrun" if dryrun else "live", items_max)
    else:
        options = Options(mode="dryrun" if dryrun else "live", policy=input.policy, items_max=items_max)
    return batch_rows.with_lanes(options, min(input.lanes, limits.BATCH_LANES_MAX) or None)
