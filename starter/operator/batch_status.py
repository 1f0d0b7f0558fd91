"""IO: `cutter status BATCH`: one row for each document, the totals and the progress, once or live; and the open
batches.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from rich.console import Group, RenderableType
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from cutter.batch.view import BatchView
from cutter.catalogue import Role
from cutter.domain import ids
from cutter.domain.amounts import counted
from cutter.domain.next_step import Needs
from cutter.domain.recorded_values import record
from cutter.domain.tenants import Room
from cutter.domain.timestamps import utc
from cutter.projections.batch_summary import BatchLine, ShownBatch, by_need, shown_batch
from cutter.projections.run_view import short_time
from cutter.settings import Settings
from cutter.storage import batch_views, runs
from cutter.storage.pools import session
from cutter.storage.records import Connection, records
from cutter.types import Json
from starter.console.terminal import Listing, line, out, plain
from starter.console.watch import follow
from starter.operator.request_state import SHORT, Rejected, rejection_sentence, with_reasons

COLUMNS = ("document", "state", "gate", "passed", "age", "queue")

LINES_BESIDE = 9
"""Lines of the live picture that show no document: head, bar, head of the table, rest, next command, blank line. A line
about caps comes in addition.
"""

OPEN_MAX = 1_000
"""The open batches that a list shows at most."""

ROWS_MIN = 5
"""The documents in the live picture at least, even on a small terminal."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchNow:
    """A batch at one moment. The view is None if the batch is unknown. `sealed` has the number of receipts of each run.

    `rooms` has what each tenant may begin, and `rejections` the recorded rejection of each rejected run.
    """

    view: BatchView | None
    now: datetime
    sealed: dict[str, int]
    rooms: list[Room]
    rejections: dict[str, Rejected]

    @classmethod
    def of(
        cls, view: Json | None, now: datetime, sealed: dict[str, int], rooms: list[Json], rejections: dict[str, Json]
    ) -> BatchNow:
        """The answer of the query `batch_now`."""
        return cls(
            view=None if view is None else BatchView.of(view),
            now=now,
            sealed=sealed,
            rooms=[Room.of(room) for room in rooms],
            rejections={run_id: record(Rejected, rejection) for run_id, rejection in rejections.items()},
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedBatch:
    """A batch in a list, with the number of its documents and of those in its queues.

    Times are UTC texts. `next` is the command that shows the batch.
    """

    batch_id: str
    mode: str
    state: str
    policy: str
    halted: str | None
    documents: int
    queued: int
    created_utc: str | None
    ended_utc: str | None
    next: str

    @classmethod
    def of(
        cls, batch_id: str, mode: str, state: str, policy: str, created_at: datetime, ended_at: datetime | None,
        halted: str | None, items: int, queued: int,
    ) -> ListedBatch:  # fmt: skip
        """A row of the query `batches`."""
        return cls(
            batch_id=batch_id, mode=mode, state=state, policy=policy, halted=halted, documents=items, queued=queued,
            created_utc=utc(created_at), ended_utc=utc(ended_at), next=f"cutter status {batch_id}",
        )  # fmt: skip


BATCH_NOW = records("batch_now", BatchNow.of)
BATCHES = records("batches", ListedBatch.of)


def look(settings: Settings, batch_id: str) -> ShownBatch:
    """The batch now. Raises STOP_BATCH_NOT_FOUND if the database has no such batch."""
    with session(settings, Role.OPERATOR) as connection:
        row = BATCH_NOW.one(connection, {"batch_id": ids.batch_id(batch_id)})
        if row.view is None:
            raise runs.with_batches_meant(connection, batch_views.unknown(batch_id), batch_id)
    rejections = with_reasons(settings, row.rejections)
    return shown_batch(row.view, row.sealed, row.now.isoformat(), rejections=rejections, rooms=row.rooms)


def status_of_batch(settings: Settings, batch_id: str, *, watch: bool, as_json: bool) -> None:
    """Show a batch once, or until it is over."""
    render = live if watch else whole
    follow(lambda: look(settings, batch_id), render, lines, lambda view: view.over, watch=watch,
           as_json=as_json)  # fmt: skip


# --- pictures ---------------------------------------------------------------------------------------------------------


def whole(view: ShownBatch) -> RenderableType:
    """Every document, then the totals and the next commands."""
    terminal = out().is_terminal
    rows = view.documents
    commands = [next(iter(row.commands), "") for row in rows]
    listing = Listing(columns=COLUMNS, rows=[_cells(view, row) for row in rows], commands=() if terminal else commands)
    wanted = _wanted(view) if terminal else [line(_rejection(row)) for row in rows if row.rejected]
    return Group(_head(view), Text(), listing, *([Text(), *wanted] if wanted else []), Text(), _next(view))


def live(view: ShownBatch) -> RenderableType:
    """As many documents as the screen holds. Documents that move or need a person come first; the rest are counted."""
    room = max(out().size.height - LINES_BESIDE - bool(view.held), ROWS_MIN)
    ordered = by_need(view.documents)
    rows, rest = (ordered, []) if len(ordered) <= room else (ordered[: room - 1], ordered[room - 1 :])
    # One line for each row on a terminal of any width. Text that does not fit is cut. Without --watch it is whole.
    listing = Table(box=None, pad_edge=False, header_style="bold")
    for column in COLUMNS:
        listing.add_column(column, no_wrap=True, overflow="ellipsis")
    for row in rows:
        listing.add_row(*map(line, _cells(view, row)))
    left = [row.shown for row in rest]
    counts = ", ".join(f"{left.count(word)} {word}" for word in dict.fromkeys(left))
    more = [line(f"… and {len(rest)} more: {counts}")] if rest else []
    done, gates = view.gates_done, max(view.gates, 1)
    bar = Table.grid(padding=(0, 1), expand=True)
    bar.add_column(ratio=1)
    bar.add_column(no_wrap=True)
    bar.add_row(ProgressBar(total=gates, completed=done), f"{100 * done // gates} %  {done} of {view.gates} gates")
    return Group(_head(view), bar, "", listing, *more, "", _next(view))


def lines(view: ShownBatch) -> list[str]:
    """A line for the state of the batch and one for each document. The printer leaves out lines that it has printed."""
    texts = []
    for document in view.documents:
        if not document.since_utc and document.shown == "pending":
            continue
        text = _rejection(document) or f"{document.document_id} {document.state}"
        if document.shown in ("rehearsed", "skipped") and document.state != document.shown:
            text += f" ({document.shown})"
        queue = f" ({document.queue})" if document.queue else ""
        texts.append(f"{short_time(document.since_utc or view.state_utc)} {text}{queue}")
    return [*texts, f"{short_time(view.state_utc)} batch {view.batch_id} {_state(view)}"]


def _rejection(document: BatchLine) -> str:
    """The person who rejected a document, the gate and the reason. Empty if nobody rejected it."""
    return f"{document.document_id} was {rejection_sentence(document.rejected)}" if document.rejected else ""


def _state(view: ShownBatch) -> str:
    return f"{view.state}{' (partial)' if view.partial else ''}{' (halted)' if view.halted else ''}"


def _head(view: ShownBatch) -> RenderableType:
    mode = "" if view.mode == "live" else f" · {view.mode}"
    counts = " · ".join(f"{name} {count}" for name, count in view.totals.items() if name != "settled")
    halted = [line(f"halted: {view.halted_reason or view.halted}")] if view.halted else []
    held = [line(f"held by caps: {'; '.join(hold.reason for hold in view.held)}")] if view.held else []
    head = plain(f"batch {view.batch_id}{mode}\n{_state(view)}", "bold")
    return Group(head, *halted, line(f"{counted(len(view.documents), 'document')}: {counts}"), *held)


def _next(view: ShownBatch) -> Text:
    return line(f"next: {view.next}")


def _wanted(view: ShownBatch) -> list[Text]:
    """The failures of documents, and the commands of documents that need a person, each to be copied whole.

    If the batch waits for signatures, one signing session gives them, by its own command.
    """
    by_session = (Needs.NOTHING.value, *([Needs.APPROVAL.value] if view.awaits else []))
    texts = []
    for document in view.documents:
        commands = document.commands if document.needs not in by_session else []
        if commands or document.reason:
            reason = f": {document.reason}" if document.reason else ""
            trouble = _rejection(document) or f"{document.document_id} {document.state}{reason}"
            texts += [line(trouble), *(line(f"  {each}") for each in commands)]
    return texts


def _cells(view: ShownBatch, document: BatchLine) -> tuple[object, ...]:
    age = "" if document.ended_utc or not document.since_utc else age_text(document.since_utc, view.now_utc)
    queue = (document.queue or "").removesuffix("_queue")
    gate = SHORT.get(document.gate, document.gate)
    shown = "rejected" if document.rejected else document.shown
    return document.document_id, shown, gate, document.gates_passed or "", age, queue


def age_text(since: str, now: str) -> str:
    """The time that has passed: 7 s, 4 min, 2 h 5 min, 3 d 4 h."""
    passed = (datetime.fromisoformat(now) - datetime.fromisoformat(since)).total_seconds()
    minutes, seconds = divmod(int(max(passed, 0)), 60)
    hours, minutes = divmod(minutes, 60)
    if hours >= 24:
        return f"{hours // 24} d {hours % 24} h"
    if hours:
        return f"{hours} h {minutes} min"
    return f"{minutes} min" if minutes else f"{seconds} s"


# --- all batches ------------------------------------------------------------------------------------------------------


def open_batches(settings: Settings) -> list[ListedBatch]:
    """The batches that have not ended, newest first."""
    with session(settings, Role.OPERATOR) as connection:
        return newest_batches(connection)


def newest_batches(connection: Connection, *, ended: bool = False) -> list[ListedBatch]:
    """The newest batches that have not ended, or with `ended` the newest of all."""
    return BATCHES.all(connection, {"limit": OPEN_MAX, "ended": ended})


def table_of_batches(batches: Sequence[ListedBatch]) -> RenderableType:
    """The open batches as a table, with the command that shows each."""
    return Listing(
        columns=("batch", "state", "documents", "in queues"),
        rows=[(batch.batch_id, batch.state, batch.documents, batch.queued or "") for batch in batches],
        commands=[batch.next for batch in batches],
        title="open batches",
    )
