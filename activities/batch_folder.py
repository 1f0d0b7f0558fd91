"""IO: writes a batch's folder from the database, with its queue.yaml from the knowledge base where it lacks one."""

from __future__ import annotations

from pathlib import Path

import structlog

from activities.deps import Deps
from cutter.batch.documents import queue_id
from cutter.errors import CutterError
from cutter.gates.catalogue import Role
from cutter.storage import batch_folder
from cutter.storage.faults import translated

log = structlog.get_logger()


def project_batch(deps: Deps, batch_id: str) -> tuple[Path, bool]:
    """Write the folder; (where it stands, whether the registered queue.yaml is in it)."""
    settings = deps.settings
    with translated(), deps.pool(Role.READ).connection() as connection:
        contents, queue_sha256 = batch_folder.read_contents(connection, batch_id)
    queue = _queue(deps, batch_id, queue_sha256)
    folder = batch_folder.write(settings.batches, settings.runs, contents, queue=queue)
    return folder, batch_folder.has_queue(folder, queue_sha256)


def follow_batch(deps: Deps, batch_id: str) -> None:
    """Write the folder, unless something is in the way."""
    # It follows the database: whatever is wrong with it, the batch has ended as it did. `cutter rebuild` catches up.
    try:
        project_batch(deps, batch_id)
    except Exception as problem:
        log.warning("batch_folder.behind", batch_id=batch_id, code=getattr(problem, "code", type(problem).__name__))


def _queue(deps: Deps, batch_id: str, sha256: str) -> bytes | None:
    try:
        body = deps.kb.get(queue_id(batch_id))
    except CutterError:
        return None
    return batch_folder.queue_of(body, sha256)
