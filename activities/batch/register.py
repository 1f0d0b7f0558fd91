"""IO: find a batch, or register it from the queue.yaml in its folder; what its workflow begins with."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

from activities import effects as commands
from activities.worker.dependencies import Deps
from cutter import limits
from cutter.batch import documents
from cutter.catalogue import Role
from cutter.domain import ids
from cutter.errors import InvalidInput, NotFound
from cutter.kb.ids import signature_of
from cutter.messages import BatchInput, Steering
from cutter.projections import batch_folder_files as batch_folder
from cutter.registration import caps_of
from cutter.storage import batches as registry
from cutter.storage.batches import Options
from cutter.storage.faults import translated
from cutter.storage.pools import Connection
from cutter.storage.queries import query


def begin_batch(deps: Deps, input: BatchInput) -> Steering:
    """The batch's state. One that is not registered is made from `<batch dir>/<batch id>/queue.yaml`."""
    batch_id = ids.batch_id(input.batch_id)
    with translated(), deps.pool(Role.READ).connection() as connection:
        there = registry.state_and_mode(connection, batch_id)
        if there is None:
            _register(deps, connection, batch_id, input)
            there = registry.state_and_mode(connection, batch_id) or ("", "")
    return Steering(state=there[0], seen="", mode=there[1])


def _register(deps: Deps, connection: Connection, batch_id: str, input: BatchInput) -> None:
    path = batch_folder.find(deps.settings.batches, batch_id) / batch_folder.QUEUE
    try:
        data = batch_folder.read_queue(path)
    except OSError:
        raise NotFound(
            f"no batch {batch_id}, and no {path}: put the queue there, or type `cutter orchestrate batch --queue FILE`",
            code="STOP_BATCH_NOT_FOUND",
        ) from None
    options = options_of(input, batch_id, deps.settings.batch_items_max)
    admission = registry.admit(connection, data, options)
    if registry.name_of(admission.queue, options) != batch_id:
        raise InvalidInput(f"{path} is of batch {admission.queue.batch_id}, not of {batch_id}")
    caps = asdict(caps_of(deps.settings))
    registry.register(connection, admission, options, run_caps=caps, starter=input.starter[:100])
    put_queue(deps, connection, batch_id, data)
    _put_approvals(deps, connection, batch_id, path.parent)


def _put_approvals(deps: Deps, connection: Connection, batch_id: str, folder: Path) -> None:
    """Pre-batched approvals from the folder of the queue file (seed 001 §7), put where the documents' runs look."""
    row = connection.execute(query("database_clock")).fetchone()
    context = commands.of_batch(row[0] if row else "", batch_id)  # type: ignore[arg-type]
    for name in documents.PRE_BATCHED.values():
        for statement in sorted((folder / name).glob("*.md")):
            signature = statement.with_name(f"{statement.name}.asc")
            kb_id = ids.kb_id(f"{documents.folder(batch_id)}/{name}/{statement.name}")
            pair = ((statement, kb_id), (signature, signature_of(kb_id))) if signature.is_file() else ()
            for file, put_as in pair:
                with file.open("rb") as opened:
                    put = commands.put(deps, context, put_as, opened.read(limits.STATEMENT_BYTES_MAX))
                connection.execute(*commands.receipt_of_put(context, put, "approval"))


def put_queue(deps: Deps, connection: Connection, batch_id: str, data: bytes) -> None:
    """queue.yaml into the knowledge base, from which a lost folder gets it; its receipt in the open transaction."""
    row = connection.execute(query("database_clock")).fetchone()
    context = commands.of_batch(row[0] if row else "", batch_id)  # type: ignore[arg-type]
    put = commands.put(deps, context, documents.queue_id(batch_id), documents.queue_document(data))
    connection.execute(*commands.receipt_of_put(context, put, "queue"))


def options_of(input: BatchInput, batch_id: str, items_max: int) -> Options:
    """What a start says of how the batch is to run; see `Options` for what it leaves out."""
    dryrun = batch_id.endswith("-dryrun")
    if input.overnight:
        options = Options.overnight("dryrun" if dryrun else "live", items_max)
    else:
        options = Options(mode="dryrun" if dryrun else "live", policy=input.policy, items_max=items_max)
    return registry.with_lanes(options, min(input.lanes, limits.BATCH_LANES_MAX) or None)
