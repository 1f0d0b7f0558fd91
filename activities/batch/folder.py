"""IO: writes a batch's folder from the database. If the folder has no queue.yaml, the knowledge base gives it."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import structlog

from activities.worker.dependencies import Deps
from cutter.batch.documents import PRE_BATCHED, queue_id
from cutter.batch.documents import folder as kb_folder
from cutter.batch.view import BatchView
from cutter.catalogue import Role
from cutter.domain.digests import sha256_hex
from cutter.errors import CutterError
from cutter.kb.ids import signature_of
from cutter.kb.sets import set_names
from cutter.projections import batch_folder, run_folder
from cutter.storage.pools import translated

log = structlog.get_logger()


def project_batch(deps: Deps, batch_id: str, view: BatchView | None = None) -> tuple[Path, bool]:
    """Write the folder. Returns its path, and whether it holds the registered queue.yaml. `view` is a view of a moment
    ago, and saves the reading of a large batch's items.
    """
    settings = deps.settings
    with translated(), deps.pool(Role.READ).connection() as connection:
        contents, queue_sha256 = batch_folder.read_contents(connection, batch_id, view)
    queue = None
    if not run_folder.has_queue(run_folder.find_batch(settings.batches, batch_id), queue_sha256):
        with suppress(CutterError):
            queue = deps.kb.get(queue_id(batch_id))
            if sha256_hex(queue) != queue_sha256:
                queue = None
    folder = batch_folder.write(settings.batches, settings.runs, contents, queue=queue)
    _copy_approvals(deps, batch_id, folder)
    return folder, run_folder.has_queue(folder, queue_sha256)


def keep_up(deps: Deps, view: BatchView, *, news: bool) -> None:
    """Write the folder of a running batch if it differs from the view, but not at every change."""
    batch_id = view.batch_id
    folder = run_folder.find_batch(deps.settings.batches, batch_id)
    if batch_folder.is_behind(folder, view, news=news):
        follow_batch(deps, batch_id, view)


def follow_batch(deps: Deps, batch_id: str, view: BatchView | None = None) -> None:
    """Write the folder if that is possible. A failure is only logged."""
    # The folder is only a projection of the database, so a fault in it does not change how the batch ended. `cutter
    # rebuild` writes it again.
    try:
        project_batch(deps, batch_id, view)
    except Exception as problem:
        log.warning("batch_folder.behind", batch_id=batch_id, code=getattr(problem, "code", type(problem).__name__))


def _copy_approvals(deps: Deps, batch_id: str, folder: Path) -> None:
    """Put pre-batched approvals next to the queue file (seed 001 §8); an existing copy is not read again."""
    for name in PRE_BATCHED.values():
        for kb_id in set_names(deps.kb, f"{kb_folder(batch_id)}/{name}"):
            for file_id in (kb_id, signature_of(kb_id)):
                place = f"{name}/{file_id.rpartition('/')[2]}"
                if not (folder / place).exists():
                    batch_folder.keep_beside(folder, place, deps.kb.get(file_id))
