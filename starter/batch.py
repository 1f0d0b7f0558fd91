"""IO: `cutter orchestrate batch|resume-batch`: a queue of documents as one batch (seed 001 §2, §9)."""

from __future__ import annotations

import asyncio
import getpass
from dataclasses import asdict, replace
from pathlib import Path
from typing import Annotated, Any, cast

import typer
from rich.console import Console

from activities.begin import caps_of
from cutter.batch import plan, registry
from cutter.batch.queue import load_queue
from cutter.batch.registry import Admission, Options
from cutter.errors import InvalidInput, NotFound, Refused
from cutter.messages import Mode
from cutter.settings import Settings, load
from cutter.stack.addresses import ui_url
from cutter.storage.faults import translated
from cutter.storage.pools import connect as connect_database
from starter import batch_status, batches
from starter.batch_watch import until_people_or_end
from starter.client import connect
from starter.runs import OPERATOR
from starter.terminal import ExitCode, Json, Listing, end, fields, show
from starter.terminal import out as terminal

Wait = Annotated[bool, typer.Option("--wait", help="Wait until it ends or waits for people (exit 3)")]
Watch = Annotated[
    bool | None,
    typer.Option("--watch/--no-watch", help="--wait with a live table, or one line a change; default on a terminal"),
]
QueueFile = Annotated[Path, typer.Option("--queue", help="queue.yaml")]


def batch(
    queue: QueueFile,
    max_concurrent: Annotated[int | None, typer.Option(help="Documents planned at once; 4, or 2 overnight")] = None,
    stop_on_first_failure: Annotated[bool, typer.Option("--stop-on-first-failure/--no-stop-on-first-failure")] = False,
    quarantine: Annotated[bool, typer.Option("--quarantine", help="Set failed documents aside and go on")] = False,
    overnight: Annotated[bool, typer.Option("--overnight", help="2 lanes, quarantine, 6 hours, nobody to ask")] = False,
    mode: Annotated[str, typer.Option(help="live, or dryrun: rehearse and write the requests")] = "live",
    skip_completed: Annotated[bool, typer.Option("--skip-completed", help="Leave out what is law already")] = False,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with this queue's batch")] = False,
    check: Annotated[
        bool, typer.Option("--check", help="Show what would start, in which order; start nothing")
    ] = False,
    wait: Wait = False,
    watch: Watch = None,
    as_json: Json = False,
) -> None:
    """Start a batch: plan in parallel lanes, collect the requests, write one document at a time.

    Example: cutter orchestrate batch --queue queue.yaml --check
    """
    settings = load()
    options = _options(settings, mode, max_concurrent, strict=stop_on_first_failure, quarantine=quarantine,
                       overnight=overnight, skip_completed=skip_completed)  # fmt: skip
    data = _read(queue)
    with translated(), connect_database(settings, OPERATOR) as connection:
        admission = registry.admit(connection, load_queue(data, items_max=options.items_max), options)
        if check:
            _show_check(admission, options, as_json=as_json)
            return
        caps = registry.per_document(asdict(caps_of(settings)), options)
        batch_id, new = registry.register(connection, admission, options, run_caps=caps, starter=getpass.getuser())
        if not new and not resume:
            raise Refused(
                f"batch {batch_id} is there already: see `cutter status {batch_id}`, or go on with it by --resume",
                code="STOP_BATCH_EXISTS",
            )
    batches.keep_queue(settings, batch_id, data)
    uploaded = batches.upload_pre_batched(settings, batch_id, queue.parent) if options.mode == "live" else {}
    asyncio.run(_go_on(settings, batches.view(settings, batch_id)))
    found: dict[str, Any] = {"batch_id": batch_id, "new": new, "items": len(admission.rows), **uploaded}
    _outcome(settings, found, wait=wait, watch=watch, as_json=as_json)


def resume_batch(
    batch_id: Annotated[str, typer.Option(help="The batch's id")],
    approval_set: Annotated[str | None, typer.Option(help="Folder of signed approvals, here or in the KB")] = None,
    wait: Wait = False,
    watch: Watch = None,
    as_json: Json = False,
) -> None:
    """Go on with a batch: hand over approvals signed in one sitting, or start its workflow again.

    Example: cutter orchestrate resume-batch --batch-id 0199… --approval-set SG1-approvals/
    """
    settings = load()
    seen = batches.view(settings, batch_id)
    found: dict[str, Any] = {"batch_id": batch_id}
    if approval_set is not None:
        folder, listing = batches.upload_set(settings, batch_id, approval_set)
        found |= {"folder": folder, **asyncio.run(_hand_over(settings, batch_id, folder, listing))}
    else:
        asyncio.run(_go_on(settings, seen))
    _outcome(settings, found, wait=wait, watch=watch, as_json=as_json)


def _options(
    settings: Settings, mode: str, lanes: int | None, *, strict: bool, quarantine: bool, overnight: bool,
    skip_completed: bool,
) -> Options:  # fmt: skip
    if mode not in ("live", "dryrun"):
        raise InvalidInput(f"--mode {mode}: live or dryrun")
    if strict and (quarantine or overnight):
        raise InvalidInput("--stop-on-first-failure and --quarantine exclude each other: name one")
    kind = cast(Mode, mode)
    if overnight:
        options = Options.overnight(kind, settings.batch_items_max)
    else:
        policy = "strict" if strict else "quarantine" if quarantine else "default"
        options = Options(mode=kind, policy=cast(registry.Policy, policy), items_max=settings.batch_items_max)
    if lanes is not None and not 1 <= lanes <= 64:
        raise InvalidInput(f"--max-concurrent {lanes}: 1 to 64")
    return replace(registry.with_lanes(options, lanes), skip_completed=skip_completed)


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as problem:
        raise NotFound(f"--queue {path}: {problem.strerror or problem}", code="STOP_QUEUE_NOT_FOUND") from None


async def _go_on(settings: Settings, seen: dict[str, Any]) -> None:
    """Whatever had halted it, and whoever was busy or blocked, is asked anew; its workflow is opened if need be."""
    batch_id = seen["batch"]["batch_id"]
    await asyncio.to_thread(batches.halt, settings, batch_id, None, f"resumed by {getpass.getuser()}")
    await batches.start(await connect(settings), batch_id, seen["batch"]["starter"])


async def _hand_over(settings: Settings, batch_id: str, folder: str, listing: str) -> dict[str, Any]:
    return await batches.hand_over_set(await connect(settings), batch_id, getpass.getuser(), folder, listing)


def _outcome(settings: Settings, found: dict[str, Any], *, wait: bool, watch: bool | None, as_json: bool) -> None:
    # On a terminal somebody looks on, who asked for no exit code: that a person's turn has come is no news to them.
    live = not as_json and (terminal().is_terminal if watch is None else watch)
    batch_id = found["batch_id"]
    waited = wait or live or bool(watch)
    seen = until_people_or_end(settings, batch_id, watch=live) if waited else batch_status.look(settings, batch_id)
    found |= {name: seen[name] for name in ("state", "totals", "partial", "next")} | {"ui": ui_url(settings)}
    shown = {name: _text(value) for name, value in found.items() if value not in (False, None, "", {}, [])}
    show(found, as_json=as_json, render=lambda out: out.print(fields(shown), soft_wrap=True))
    end(exit_code(found, waited=waited, asked=wait or bool(watch)))


def exit_code(found: dict[str, Any], *, waited: bool, asked: bool) -> ExitCode:
    """0 started or done, 1 ended with failures, 3 waiting for people (with --wait or --watch), 4 the set was refused.

    `asked`: by --wait or --watch; `waited`: also because somebody looks on.
    """
    if found.get("status") == "refused":
        return ExitCode.STOPPED
    if found["state"] in ("batch_failed_partial", "batch_voided"):
        return ExitCode.FAILED if waited else ExitCode.DONE
    return ExitCode.WAITING if asked and found["state"].startswith("batch_awaiting_") else ExitCode.DONE


def _text(value: Any) -> str:
    if isinstance(value, dict):
        return " · ".join(f"{name} {count}" for name, count in value.items())
    if isinstance(value, list):
        return "\n".join(_text(one) if isinstance(one, dict) else str(one) for one in value)
    return str(value)


def _show_check(admission: Admission, options: Options, *, as_json: bool) -> None:
    placed = plan.order(admission.items)
    by_id = {row["document_id"]: row for row in admission.rows}
    rows = [
        (place.number or "–", place.document_id, by_id[place.document_id]["tenant"],
         by_id[place.document_id]["reason"] or place.reason)
        for place in placed
    ]  # fmt: skip
    found = {
        "batch_id": registry.name_of(admission.queue, options), "mode": options.mode, "policy": options.policy,
        "lanes": options.lanes, "unattended": options.unattended, "hard_cap_minutes": options.hard_cap_minutes,
        "order": [dict(zip(("place", "document_id", "tenant", "why"), row, strict=True)) for row in rows],
    }  # fmt: skip

    def render(out: Console) -> None:
        out.print(Listing(columns=("#", "document", "tenant", "why"), rows=rows))
        out.print(
            f"batch {found['batch_id']} · {options.mode} · policy {options.policy} · {options.lanes} lanes · "
            "nothing was started"
        )

    show(found, as_json=as_json, render=render)
