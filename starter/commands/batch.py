"""IO: `cutter orchestrate batch` and `resume-batch`: a queue of documents as one batch (seed 001 §2, §9)."""

from __future__ import annotations

import asyncio
import getpass
from dataclasses import asdict, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from cutter import limits
from cutter.batch import plan, ways
from cutter.batch.queue import is_named_for_the_night, queue_of
from cutter.batch.view import BatchView, FailurePolicy
from cutter.catalogue import Role
from cutter.domain.amounts import counted
from cutter.errors import InvalidInput, Refused
from cutter.messages import Mode
from cutter.projections import run_folder
from cutter.projections.run_view import law_already
from cutter.settings import Settings, load
from cutter.storage import batches as batch_rows
from cutter.storage import runs as run_rows
from cutter.storage.batches import Options
from cutter.storage.pools import session
from cutter.storage.runs import caps_of
from starter.approver import orders
from starter.commands.options import BATCH_ID, WATCH, ApprovalSet, RunMode, Wait
from starter.console.terminal import AsJson, Listing, show
from starter.operator import batch_outcome
from starter.operator.batch_outcome import go_on, hand_over, outcome, resting
from temporal import batches, runs
from temporal.client import connect


def batch(
    queue: Annotated[Path, typer.Option("--queue", help="queue.yaml")],
    max_concurrent: Annotated[
        int | None, typer.Option("--max-concurrent", help="Documents planned at once; 4, or 2 overnight")
    ] = None,
    stop_on_first_failure: Annotated[bool, typer.Option("--stop-on-first-failure/--no-stop-on-first-failure")] = False,
    quarantine: Annotated[bool, typer.Option("--quarantine", help="Set failed documents aside and continue")] = False,
    overnight: Annotated[
        bool | None,
        typer.Option(
            "--overnight/--no-overnight",
            help="2 lanes, quarantine, 6 hours, nobody to ask; default for a file named overnight….yaml",
        ),
    ] = None,
    mode: RunMode = "live",
    skip_completed: Annotated[bool, typer.Option("--skip-completed", help="Leave out enacted documents")] = False,
    resume: Annotated[bool, typer.Option("--resume", help="Continue this queue's batch")] = False,
    include_failed: Annotated[
        bool,
        typer.Option("--include-failed", help="Include failed documents, each after a signature; names unsigned ones"),
    ] = False,
    nightly: Annotated[
        bool, typer.Option("--nightly", help="Use the queue as a pattern with a new batch_id for this minute; for cron")
    ] = False,
    check: Annotated[
        bool, typer.Option("--check", help="Mark each text and show what would start, in which order; start nothing")
    ] = False,
    wait: Wait = False,
    watch: Annotated[bool | None, WATCH] = None,
    as_json: AsJson = False,
) -> None:
    """Start a batch: plan its documents in parallel, collect their requests, write one document at a time.

    On a terminal it is followed, unless you type --no-watch.

    Example: cutter orchestrate batch --queue queue.yaml --check
    """
    settings = load()
    night, by_name = _night(queue, overnight, strict=stop_on_first_failure)
    options = _options(settings, mode, max_concurrent, strict=stop_on_first_failure, quarantine=quarantine,
                       overnight=night, skip_completed=skip_completed or nightly)  # fmt: skip
    data = batches.read_queue(queue)
    if nightly:
        data = queue_of(data, datetime.now(UTC))
    if check:
        _check(settings, data, options, by_name=by_name, as_json=as_json)
        return
    answer = _register(settings, data, options, resume=resume)
    if not answer["new"] and skip_completed:
        batches.again(settings, answer["batch_id"])
    beside = queue.parent if options.mode == "live" else None
    answer |= _started(settings, answer["batch_id"], data, beside, by_name=by_name)
    if include_failed:
        # The failed documents that only a signature includes again, in this batch or where they failed.
        view = batches.view(settings, answer["batch_id"])
        kept_out = [item.document_id for item in view.items if item.kept_out]
        with session(settings, Role.OPERATOR) as connection:
            needed = ways.unsigned_failures(view) + batch_rows.FAILED.all(connection, {"document_ids": kept_out})
        answer |= {"needs_signature": [asdict(failure) for failure in needed]} if needed else {}
    outcome(settings, answer, wait=wait, watch=watch, as_json=as_json)


def _night(queue: Path, overnight: bool | None, *, strict: bool) -> tuple[bool, bool]:
    """Whether the batch runs overnight, and whether only the name of its file says so."""
    if overnight is not None:
        return overnight, False
    by_name = is_named_for_the_night(queue.name)
    if by_name and strict:
        raise InvalidInput(
            f"{queue.name} is an overnight queue by its name, and a night sets failed documents aside: add "
            "--no-overnight to run it by day under --stop-on-first-failure"
        )
    return by_name, by_name


def _check(settings: Settings, data: bytes, options: Options, *, by_name: bool, as_json: bool) -> None:
    """Show what the batch would start. Nothing is registered."""
    with session(settings, Role.OPERATOR) as connection:
        admission = batch_rows.admit(connection, data, options)
        marked = batch_outcome.mark_all(settings, connection, admission)
        tenants = sorted({item.tenant for item in admission.items})
        weights = batch_rows.WEIGHTS.one(connection, {"tenants": tenants})
    enacted = {name: f"{law_already(run_id)}: its run will end as skipped" for name, run_id in admission.law_by.items()}
    by_id = {row.document_id: row for row in admission.rows}
    rows = [
        (place.number or "–", place.document_id, by_id[place.document_id].tenant,
         by_id[place.document_id].reason or enacted.get(place.document_id) or place.reason)
        for place in plan.order(admission.items, weights=weights)
    ]  # fmt: skip
    columns = ("place", "document_id", "tenant", "why", "units", "findings")
    counts = batch_outcome.with_units(rows, marked)
    answer = {
        "batch_id": batch_rows.name_of(admission.queue, options), "mode": options.mode, "policy": options.policy,
        "lanes": options.lanes, "unattended": options.unattended, "hard_cap_minutes": options.hard_cap_minutes,
        "order": [dict(zip(columns, row, strict=True)) for row in counts], **_runs_as(options, by_name=by_name),
    }  # fmt: skip

    def render(out: Console) -> None:
        out.print(Listing(columns=("#", "document", "tenant", "why", "units", "findings"), rows=counts))
        out.print(answer["runs"], soft_wrap=True, markup=False)
        out.print(
            f"batch {answer['batch_id']} · {options.mode} · policy {options.policy} · "
            f"{counted(options.lanes, 'lane')} · nothing was started: the same command without --check starts it"
        )

    show(answer, as_json=as_json, render=render)


def _register(settings: Settings, data: bytes, options: Options, *, resume: bool) -> dict[str, Any]:
    """Register the batch, or find the batch of this queue, which only a resume continues."""
    caps = asdict(caps_of(settings))
    with session(settings, Role.OPERATOR) as connection:
        admission = batch_rows.admit(connection, data, options)
        batch_id, new = batch_rows.register(connection, admission, options, run_caps=caps, starter=getpass.getuser())
        if not new and not resume:
            nightly = "; --nightly makes a new batch from the same queue every night" if options.unattended else ""
            raise Refused(
                f"batch {batch_id} exists already: see",
                then=f"cutter status {batch_id}",
                rest=f", or continue it by --resume{nightly}",
                code="STOP_BATCH_EXISTS",
            )
    return {"batch_id": batch_id, "new": new, "items": len(admission.rows)}


def _started(settings: Settings, batch_id: str, data: bytes, beside: Path | None, *, by_name: bool) -> dict[str, Any]:
    """Start the batch's workflow, with the files next to its queue file. A finished batch is not changed."""
    view = batches.view(settings, batch_id)
    # Its registered options may differ from those of this command.
    options = Options(
        mode=view.batch.mode, policy=view.batch.policy, lanes=view.batch.lanes, unattended=view.batch.unattended,
        hard_cap_minutes=view.batch.hard_cap_seconds / 60,
    )  # fmt: skip
    runs_as = _runs_as(options, by_name=by_name)
    if not ways.moves(view):
        return {**runs_as, "note": resting(view)}
    batches.keep_queue(settings, batch_id, data)
    uploaded: dict[str, int] = {}
    for place in (beside, run_folder.find_batch(settings.batches, batch_id)) if beside else ():
        uploaded |= batches.upload_pre_batched(settings, batch_id, place)
    return {**runs_as, **uploaded, **go_on(settings, view)}


def _runs_as(options: Options, *, by_name: bool) -> dict[str, Any]:
    """Whether somebody can be asked for signatures, in words and for machines."""
    hours = options.hard_cap_minutes / 60
    how = f"{options.lanes} lanes, policy {options.policy}, {hours:g} hours"
    if not options.unattended:
        return {"unattended": False, "runs": f"attended: {how}; it waits for the signatures that it needs"}
    why = " (by the queue's name; --no-overnight runs it by day)" if by_name else ""
    return {
        "unattended": True,
        "runs": f"overnight{why}: {how}; documents that nobody has signed go to human review",
    }


def _options(
    settings: Settings, mode: Mode, lanes: int | None, *, strict: bool, quarantine: bool, overnight: bool,
    skip_completed: bool,
) -> Options:  # fmt: skip
    if strict and (quarantine or overnight):
        raise InvalidInput("--stop-on-first-failure and --quarantine exclude each other: name one")
    if overnight:
        options = Options.overnight(mode, settings.batch_items_max)
    else:
        policy: FailurePolicy = "strict" if strict else "quarantine" if quarantine else "default"
        options = Options(mode=mode, policy=policy, items_max=settings.batch_items_max)
    if lanes is not None and not 1 <= lanes <= limits.BATCH_LANES_MAX:
        raise InvalidInput(f"--max-concurrent {lanes}: 1 to {limits.BATCH_LANES_MAX}")
    return replace(options, lanes=lanes or options.lanes, skip_completed=skip_completed)


def resume_batch(
    batch_id: Annotated[str, BATCH_ID],
    approval_set: ApprovalSet = None,
    wait: Wait = False,
    watch: Annotated[bool | None, WATCH] = None,
    as_json: AsJson = False,
) -> None:
    """Continue a batch: hand over approvals of a signing session, or start its workflow again.

    Example: cutter orchestrate resume-batch --batch-id 0199… --approval-set SG1-approvals/
    """
    settings = load()
    view = batches.view(settings, batch_id)
    answer: dict[str, Any] = {"batch_id": batch_id}
    if approval_set is not None and (ways.moves(view) or any(item.failed for item in view.items)):
        folder, listing = batches.upload_set(settings, batch_id, approval_set)
        answer |= {"folder": folder, **hand_over(settings, view, folder, listing).as_json()}
    else:
        again = asyncio.run(_resumed(settings, view))
        answer |= {**({"resumed": again} if again else {}), **go_on(settings, view)}
    outcome(settings, answer, wait=wait, watch=watch, as_json=as_json)


async def _resumed(settings: Settings, view: BatchView) -> list[str]:
    """Resume each document whose workflow was terminated or lost, and return their ids."""
    lost = ways.interrupted(view)
    if not lost:
        return []
    client = await connect(settings)
    for item in lost:
        run = run_rows.sidecar(settings, item.run_id or "").run
        await orders.ensure_open(settings, client, run)
        await runs.resume(client, run.document_id, None)
    return [item.document_id for item in lost]
