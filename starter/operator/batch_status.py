"""IO: `cutter status BATCH`: one row for each document, the totals and the progress, once or live; and the open
batches.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from rich.console import Group, RenderableType
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from cutter.batch.view import BatchView
from cutter.domain import ids
from cutter.domain.amounts import counted
from cutter.domain.next_step import Needs
from cutter.domain.timestamps import utc
from cutter.projections.batch_summary import by_need, glance
from cutter.projections.run_view import short_time
from cutter.settings import Settings
from cutter.storage import batch_views, likely_names
from cutter.storage.pools import OPERATOR, Connection, session
from cutter.storage.records import records
from cutter.types import Json
from starter.console.terminal import Listing, line, out, plain
from starter.console.watch import follow
from starter.operator.rejections import SHORT, sentence, with_reasons

View = dict[str, Any]

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
class Glance:
    """A batch at one moment. `sealed` has the number of receipts of each run, and `rooms` what each tenant may begin.

    `rejections` has the gate, the approver and the signed statement of each rejected run.
    """

    view: Json | None
    now: datetime
    sealed: dict[str, int]
    rooms: list[Json]
    rejections: dict[str, Json]


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchLine:
    """A batch in the list, with the number of its items and of the entries in its queues."""

    batch_id: str
    mode: str
    state: str
    policy: str
    created_at: datetime
    ended_at: datetime | None
    halted: str | None
    items: int
    queued: int


GLANCE = records("batch_glance", Glance)
BATCHES = records("batches", BatchLine)


def look(settings: Settings, batch_id: str) -> View:
    """The batch now. Raises STOP_BATCH_NOT_FOUND if the database has no such batch."""
    with session(settings, OPERATOR) as connection:
        row = GLANCE.one(connection, {"batch_id": ids.batch_id(batch_id)})
        if row.view is None:
            raise likely_names.with_batches_meant(connection, batch_views.unknown(batch_id), batch_id)
    batch, now = BatchView.of(row.view), row.now.isoformat()
    rejections = with_reasons(settings, row.rejections)
    return glance(batch, row.sealed, now, rejections=rejections, rooms=row.rooms)


def status_of_batch(settings: Settings, batch_id: str, *, watch: bool, as_json: bool) -> None:
    """Show a batch once, or until it is over."""
    render = live if watch else whole
    follow(lambda: look(settings, batch_id), render, lines, lambda view: bool(view["over"]), watch=watch,
           as_json=as_json)  # fmt: skip


# --- pictures ---------------------------------------------------------------------------------------------------------


def whole(view: View) -> RenderableType:
    """Every document, then the totals and the next commands."""
    terminal = out().is_terminal
    rows = view["documents"]
    commands = [next(iter(row["commands"]), "") for row in rows]
    listing = Listing(columns=COLUMNS, rows=[_cells(view, row) for row in rows], commands=() if terminal else commands)
    wanted = _wanted(view) if terminal else [line(_rejection(row)) for row in rows if row["rejected"]]
    return Group(_head(view), Text(), listing, *([Text(), *wanted] if wanted else []), Text(), _next(view))


def live(view: View) -> RenderableType:
    """As many documents as the screen holds. Documents that move or need a person come first; the rest are counted."""
    room = max(out().size.height - LINES_BESIDE - bool(view["held"]), ROWS_MIN)
    ordered = by_need(view["documents"])
    rows, rest = (ordered, []) if len(ordered) <= room else (ordered[: room - 1], ordered[room - 1 :])
    listing = _lines_of_table([_cells(view, row) for row in rows])
    more = [line(f"… and {len(rest)} more: {_counted(rest)}")] if rest else []
    return Group(_head(view), _bar(view), "", listing, *more, "", _next(view))


def lines(view: View) -> list[str]:
    """A line for the state of the batch and one for each document. The printer leaves out lines that it has printed."""
    moved = f"{short_time(view['state_utc'])} batch {view['batch_id']} {_state(view)}"
    return [
        *(
            _line(view, document)
            for document in view["documents"]
            if document["since_utc"] or document["shown"] != "pending"
        ),
        moved,
    ]


def _line(view: View, document: View) -> str:
    queue = f" ({document['queue']})" if document["queue"] else ""
    ended = (
        f" ({document['shown']})"
        if document["shown"] in ("rehearsed", "skipped") and document["state"] != document["shown"]
        else ""
    )
    moment = short_time(document["since_utc"] or view["state_utc"])
    text = _rejection(document) if document["rejected"] else f"{document['document_id']} {document['state']}"
    return f"{moment} {text}{ended}{queue}"


def _rejection(view: View) -> str:
    """The person who rejected a document, the gate and the reason."""
    return f"{view['document_id']} was {sentence(view['rejected'])}"


def _state(view: View) -> str:
    return f"{view['state']}{' (partial)' if view['partial'] else ''}{' (halted)' if view['halted'] else ''}"


def _head(view: View) -> RenderableType:
    mode = "" if view["mode"] == "live" else f" · {view['mode']}"
    counts = " · ".join(f"{name} {count}" for name, count in view["totals"].items() if name != "settled")
    halted = [line(f"halted: {view['halted_reason'] or view['halted']}")] if view["halted"] else []
    held = [line(f"held by caps: {'; '.join(hold['reason'] for hold in view['held'])}")] if view["held"] else []
    head = plain(f"batch {view['batch_id']}{mode}\n{_state(view)}", "bold")
    return Group(head, *halted, line(f"{counted(len(view['documents']), 'document')}: {counts}"), *held)


def _bar(view: View) -> RenderableType:
    done, gates = view["gates_done"], max(view["gates"], 1)
    grid = Table.grid(padding=(0, 1), expand=True)
    grid.add_column(ratio=1)
    grid.add_column(no_wrap=True)
    grid.add_row(ProgressBar(total=gates, completed=done), f"{100 * done // gates} %  {done} of {view['gates']} gates")
    return grid


def _next(view: View) -> Text:
    return line(f"next: {view['next']}")


def _wanted(view: View) -> list[Text]:
    """The failures of documents, and the commands of documents that need a person, each to be copied whole.

    If the batch waits for signatures, one signing session gives them, by its own command.
    """
    by_sitting = (Needs.NOTHING.value, *([Needs.APPROVAL.value] if view["awaits"] else []))
    texts = []
    for document in view["documents"]:
        commands = document["commands"] if document["needs"] not in by_sitting else []
        if commands or document["reason"]:
            texts += [line(_trouble(document)), *(line(f"  {each}") for each in commands)]
    return texts


def _trouble(view: View) -> str:
    reason = f": {view['reason']}" if view["reason"] else ""
    return _rejection(view) if view["rejected"] else f"{view['document_id']} {view['state']}{reason}"


def _lines_of_table(rows: Sequence[Sequence[object]]) -> Table:
    """One line for each row on a terminal of any width. Text that does not fit is cut. Without --watch it is whole."""
    made = Table(box=None, pad_edge=False, header_style="bold")
    for column in COLUMNS:
        made.add_column(column, no_wrap=True, overflow="ellipsis")
    for row in rows:
        made.add_row(*map(line, row))
    return made


def _cells(view: View, document: View) -> tuple[object, ...]:
    age = "" if document["ended_utc"] or not document["since_utc"] else age_text(document["since_utc"], view["now_utc"])
    queue = (document["queue"] or "").removesuffix("_queue")
    gate = SHORT.get(document["gate"], document["gate"])
    shown = "rejected" if document["rejected"] else document["shown"]
    return document["document_id"], shown, gate, document["gates_passed"] or "", age, queue


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


def _counted(rows: Sequence[View]) -> str:
    shown = [row["shown"] for row in rows]
    return ", ".join(f"{shown.count(word)} {word}" for word in dict.fromkeys(shown))


# --- all batches ------------------------------------------------------------------------------------------------------


def open_batches(settings: Settings) -> list[View]:
    """The batches that have not ended, newest first."""
    with session(settings, OPERATOR) as connection:
        return newest_batches(connection)


def newest_batches(connection: Connection, *, ended: bool = False) -> list[View]:
    """The newest batches that have not ended, or with `ended` the newest of all."""
    return [_batch(batch) for batch in BATCHES.all(connection, {"limit": OPEN_MAX, "ended": ended})]


def _batch(row: BatchLine) -> View:
    return {
        "batch_id": row.batch_id,
        "mode": row.mode,
        "state": row.state,
        "policy": row.policy,
        "halted": row.halted,
        "documents": row.items,
        "queued": row.queued,
        "created_utc": utc(row.created_at),
        "ended_utc": utc(row.ended_at),
        "next": f"cutter status {row.batch_id}",
    }


def table_of_batches(batches: Sequence[View]) -> RenderableType:
    """The open batches as a table, with the command that shows each."""
    return Listing(
        columns=("batch", "state", "documents", "in queues"),
        rows=[(batch["batch_id"], batch["state"], batch["documents"], batch["queued"] or "") for batch in batches],
        commands=[batch["next"] for batch in batches],
        title="open batches",
    )
