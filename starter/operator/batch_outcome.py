"""IO: a batch that a command starts or resumes: its marking, a resume, a set of approvals, and the outcome."""

from __future__ import annotations

import asyncio
import getpass
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from cutter import sources
from cutter.batch import ways
from cutter.batch.queue import Problem, QueueRefused
from cutter.batch.view import BatchView
from cutter.marking import Marking, MarkRefusal
from cutter.projections.batch_summary import ShownBatch
from cutter.settings import Settings
from cutter.stack.addresses import ui_url
from cutter.storage.batches import Admission
from cutter.storage.records import Connection
from starter.console.failures import as_failure
from starter.console.terminal import ExitCode, end, fields, progress, show
from starter.console.terminal import out as terminal
from starter.console.watch import following, until
from starter.operator import batch_status
from temporal import batches
from temporal.batches import SetReply
from temporal.client import connect


@dataclass(frozen=True, slots=True, kw_only=True)
class Marked:
    """The number of units and findings of a document's text."""

    units: int
    findings: int


def mark_all(settings: Settings, connection: Connection, admission: Admission) -> dict[str, Marked]:
    """The marking of each document that would start. Raises QueueRefused with every document that a run could not mark
    or enact.
    """
    problems: list[Problem] = []
    marked: dict[str, Marked] = {}
    starts = {row.document_id for row in admission.rows if row.decided is None}
    for item in (item for item in admission.queue.items if item.document_id in starts):
        result = sources.marking_of_registered(settings, connection, item.document_id)
        if isinstance(result, MarkRefusal):
            text = f"{item.document_id} would be refused ({result.code}): {result.message}"
            problems.append(Problem(
                line=item.line, field=f"items[{item.position - 1}].document_id", text=text,
                document_id=item.document_id, code=result.code, then=result.then,
            ))  # fmt: skip
        elif isinstance(result, Marking):
            marked[item.document_id] = Marked(units=len(result.candidates), findings=len(result.findings))
    if problems:
        raise QueueRefused(tuple(problems))
    return marked


def with_units(rows: Iterable[tuple[object, ...]], marked: dict[str, Marked]) -> list[tuple[object, ...]]:
    """The rows of the check, each with its units and findings. The second cell of a row is the document."""
    counts = {document: (text.units, text.findings) for document, text in marked.items()}
    return [(place, document, *rest, *counts.get(str(document), ("", ""))) for place, document, *rest in rows]


def until_people_or_end(settings: Settings, batch_id: str, *, watch: bool = False) -> ShownBatch:
    """Wait until the batch's workflow has nothing to do or needs signatures. Returns the batch as people see it."""
    with following(batch_status.live, batch_status.lines) if watch else _said(batch_id) as tell:
        return until(lambda: batch_status.look(settings, batch_id), tell, rests)


def rests(view: ShownBatch) -> bool:
    """True if the batch is over, or if only people can continue it. A rehearsal passes SG_1 and waits for nobody."""
    return view.over or (bool(view.awaits) and view.mode == "live")


@contextmanager
def _said(batch_id: str) -> Iterator[Callable[[ShownBatch], None]]:
    shown = ""
    with progress(f"{batch_id}: looking") as say:

        def tell(view: ShownBatch) -> None:
            nonlocal shown
            text = line_of(view)
            if text != shown:
                shown = text
                say(text)

        yield tell


def line_of(view: ShownBatch) -> str:
    """The batch in one line."""
    counts = " · ".join(f"{name} {count}" for name, count in view.totals.items())
    return f"{view.batch_id[:8]} {view.state}: {counts}"


def outcome(settings: Settings, answer: dict[str, Any], *, wait: bool, watch: bool | None, as_json: bool) -> None:
    """Show the outcome of the start or resume of a batch. Wait for it first if asked. Then end with its exit code."""
    # On a terminal somebody looks on, who asked for no exit code: that a person's turn has come is no news to them.
    live = not as_json and (terminal().is_terminal if watch is None else watch)
    batch_id = answer["batch_id"]
    waited = wait or live or bool(watch)
    view = until_people_or_end(settings, batch_id, watch=live) if waited else batch_status.look(settings, batch_id)
    answer |= {
        "state": view.state, "totals": view.totals, "partial": view.partial, "next": view.next, "ui": ui_url(settings),
    }  # fmt: skip
    code = exit_code(answer, waited=waited, asked=wait or bool(watch))
    if code in (ExitCode.FAILED, ExitCode.STOPPED):
        why = f"the batch is {answer['state']}: {_text(answer['totals'])}"
        if answer.get("status") == "refused":
            why = str(answer.get("reason") or "the set was refused")
        answer = as_failure(answer, code=str(answer.get("code") or answer["state"]), message=why)
    shown = {name: _text(value) for name, value in answer.items() if value not in (False, None, "", {}, [])}
    show(answer, as_json=as_json, render=lambda out: out.print(fields(shown), soft_wrap=True))
    end(code)


def exit_code(answer: dict[str, Any], *, waited: bool, asked: bool) -> ExitCode:
    """0: started or done. 1: ended with failures. 3: waits for people (with --wait or --watch), or for a signature that
    --include-failed needs. 4: the set was refused.

    `asked` is true with --wait or --watch. `waited` is also true if a person watches.
    """
    if answer.get("status") == "refused":
        return ExitCode.STOPPED
    if answer.get("needs_signature"):
        return ExitCode.WAITING
    if answer["state"] in ("batch_failed_partial", "batch_voided"):
        return ExitCode.FAILED if waited else ExitCode.DONE
    return ExitCode.WAITING if asked and answer["state"].startswith("batch_awaiting_") else ExitCode.DONE


def _text(value: Any) -> str:
    if isinstance(value, dict) and "sign" in value:
        return f"{value['document_id']} {value['state']}: {value['sign']}"
    if isinstance(value, dict):
        return " · ".join(f"{name} {count}" for name, count in value.items())
    if isinstance(value, list):
        return "\n".join(_text(entry) if isinstance(entry, dict) else str(entry) for entry in value)
    return str(value)


FINISHED = "it is finished: nothing was started, and nothing was written"

HELD_BY_A_DECISION = ("stop", "cancel", "failure", "critical")
"""Halts that a set of approvals does not lift. It lifts the halt of a night that reached its cap."""


def go_on(settings: Settings, view: BatchView) -> dict[str, Any]:
    """Ask again about every halt, and about busy and blocked documents. Open the batch's workflow if none is open.

    A batch that has nothing left to do stays unchanged, and the answer says so.
    """
    if not ways.moves(view):
        return {"note": resting(view)}
    batch_id = view.batch_id
    return {"workflow_id": asyncio.run(_opened(settings, batch_id, view.batch.starter))}


def resting(view: BatchView) -> str:
    """The reason why a resume of this batch starts nothing: it is finished, or people must act first."""
    waiting = sum(1 for _ in ways.needing_people(view))
    if not waiting:
        return FINISHED
    documents = "a document needs" if waiting == 1 else f"{waiting} documents need"
    return f"nothing was started, and nothing was written: {documents} a person first, by the command below"


async def _opened(settings: Settings, batch_id: str, starter: str) -> str:
    # The client comes first. If Temporal does not answer, the batch keeps everything that holds it.
    client = await connect(settings)
    await asyncio.to_thread(batches.go_on, settings, batch_id, f"resumed by {getpass.getuser()}")
    return (await batches.start(client, batch_id, starter)).id


def hand_over(settings: Settings, view: BatchView, folder: str, listing: str) -> SetReply:
    """Give a set of approvals to the batch, and return its reply. If the batch's time had run out, it gets new time,
    because its people have come.
    """
    return asyncio.run(_hand_over(settings, view, folder, listing))


async def _hand_over(settings: Settings, view: BatchView, folder: str, listing: str) -> SetReply:
    client, batch_id, who = await connect(settings), view.batch_id, getpass.getuser()
    if view.batch.halted not in HELD_BY_A_DECISION:
        await asyncio.to_thread(batches.go_on, settings, batch_id, f"signed for by {who}")
    return await batches.hand_over_set(client, batch_id, who, folder, listing)
