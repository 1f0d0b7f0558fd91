"""IO: `cutter status`: shows the states of runs and their next commands, also in the terms of a seed (`--as`). It reads
only PostgreSQL, so it works while Temporal is down.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Annotated, Any

import typer
from rich.console import Group, RenderableType

from cutter.catalogue import GATES, Role
from cutter.domain import ids, lanes
from cutter.domain.amounts import counted
from cutter.domain.tenants import TenantRooms
from cutter.errors import InvalidInput, NotFound
from cutter.notifications import channels
from cutter.projections.lifecycle_view import BATCH_VIEW, RUN_VIEWS, batch_as_workstream, run_as
from cutter.projections.run_view import ShownRun, short_time
from cutter.settings import Settings, load
from cutter.storage import batch_views
from cutter.storage import runs as run_rows
from cutter.storage.policies import EPOCH
from cutter.storage.pools import session
from cutter.storage.records import Rows, values
from starter.commands import tenants
from starter.commands.options import RUN_OR_BATCH, WATCH
from starter.console.terminal import AsJson, Listing, line, table
from starter.console.watch import follow
from starter.operator import run_status
from starter.operator.batch_status import ListedBatch, open_batches, status_of_batch, table_of_batches
from starter.operator.run_status import RunLine, with_holds

View = dict[str, Any]
FIRST_DOCUMENT: Rows[str] = values("first_document")


@dataclass(frozen=True, slots=True, kw_only=True)
class Overview:
    """All that `cutter status` shows without a name: rows of runs and open batches, tenants, and one sentence for each
    lane in use, undelivered message and blocked worker.

    `next` is the first command of a deployment without a run, else None.
    """

    runs: list[RunLine]
    next: str | None
    batches: list[ListedBatch]
    tenants: list[TenantRooms]
    lanes: list[str]
    messages: list[str]
    blocked: list[str]

    def as_json(self) -> View:
        """The form of `cutter status --json`."""
        return {**asdict(self), "runs": [run.as_json() for run in self.runs]}


def status(
    run: Annotated[str | None, RUN_OR_BATCH] = None,
    as_kind: Annotated[
        str | None, typer.Option("--as", help="In a seed's terms: request, run or task; for a batch: workstream")
    ] = None,
    watch: Annotated[bool, WATCH] = False,
    as_json: AsJson = False,
) -> None:
    """Show one run or one batch; or all open batches, the newest run of every document, and tenants with their caps.

    Example: cutter status ICX-LAW-2026-001
    """
    settings = load()
    if as_kind is not None:
        status_as(settings, as_kind, run, watch=watch, as_json=as_json)
        return
    if run is None:
        follow(
            lambda: newest(settings), _table_of_all,
            lambda view: [
                f"{short_time(run.since_utc)} {run.document_id} {run.state}{_ended_as(run.outcome)}"
                for run in reversed(view.runs)
            ],
            lambda view: all(run.ended_utc is not None for run in view.runs), watch=watch, as_json=as_json,
        )  # fmt: skip
        return
    if ids.is_batch_id(run):
        status_of_batch(settings, run, watch=watch, as_json=as_json)
        return
    try:
        run_id = run_rows.run_id_of(settings, run)
    except NotFound:
        # Temporal's client is imported only here, because the import is slow and only a name without a run needs it.
        run_id = str(importlib.import_module("temporal.executions").run_id_of(settings, run))
    follow(
        lambda: view_of(settings, run_id), render_run, lines_of_run, lambda view: view.ended_utc is not None,
        watch=watch, as_json=as_json,
    )  # fmt: skip


def view_of(settings: Settings, run_id: str) -> ShownRun:
    """One run in the form for people, read by an operator. Raises STOP_RUN_NOT_FOUND if there is none."""
    with session(settings, Role.OPERATOR) as connection:
        (view,) = with_holds(settings, connection, [run_status.view_of(settings, connection, run_id)])
    return view


def newest(settings: Settings) -> Overview:
    """The open batches, one run of each document (the open run, else the newest one), newest first, and the tenants'
    caps.
    """
    with session(settings, Role.OPERATOR) as connection:
        runs = with_holds(settings, connection, run_status.newest_runs(connection))
        undelivered = list(channels.sentences(channels.health(connection)))
        stuck = [worker.sentence for worker in run_rows.BLOCKED_WORKERS.all(connection)]
        first, document_id = None, FIRST_DOCUMENT.first(connection) if not runs else None
        if not runs:
            first = "cutter source add FILE --document-id DOCUMENT --profile PROFILE"
            if EPOCH.first(connection) is None:
                first = "cutter approvers init --approver NAME=KEY.asc"
            elif document_id is not None:
                first = f"cutter run {document_id}"
    return Overview(
        runs=runs,
        next=first,
        batches=open_batches(settings),
        tenants=tenants.apart(settings),
        lanes=list(lanes.sentences(run_rows.lanes(settings))),
        messages=undelivered,
        blocked=stuck,
    )


def lines_of_run(view: ShownRun) -> list[str]:
    first = f"{short_time(view.created_utc)} {view.document_id} pending"
    moves = [
        f"{short_time(move.at)} {view.document_id} {move.to}{f' ({move.reason})' if move.reason else ''}"
        for move in view.timeline
    ]
    retries = [
        f"{short_time(retry.started_utc)} {view.document_id} {retry.gate} attempt {retry.attempt}: {retry.outcome}"
        for retry in view.retries
        if retry.outcome != "no outcome"
    ]
    return [first, *moves, *retries]


def _ended_as(outcome: str | None) -> str:
    if outcome == "skipped":
        return " (this version is enacted already)"
    return f" ({outcome})" if outcome else ""


def _table_of_all(view: Overview) -> RenderableType:
    above: list[RenderableType] = [table_of_batches(view.batches), ""] if view.batches else []
    below = ["", tenants.listing(view.tenants)] if view.tenants else []
    held: list[RenderableType] = ["", *map(line, view.lanes)] if view.lanes else []
    unheard: list[RenderableType] = ["", *map(line, view.messages)] if view.messages else []
    unheard += [line("next: cutter notify check")] if unheard else []
    stuck: list[RenderableType] = ["", *map(line, view.blocked)] if view.blocked else []
    runs: RenderableType = f"no runs yet\nnext: {view.next}"
    if view.runs:
        runs = Listing(
            columns=("document", "state", "gates", "since", "expires"),
            rows=[
                (run.document_id, run.state + _ended_as(run.outcome), f"{run.gates_passed}/{len(GATES)}",
                 short_time(run.since_utc), short_time(run.expires_utc))
                for run in view.runs
            ],
            commands=[run.next for run in view.runs],
        )  # fmt: skip
    return Group(*above, runs, *below, *held, *stuck, *unheard)


def render_run(view: ShownRun) -> RenderableType:
    """One run as tables. Empty parts are left out."""
    states = [("✓" if state.at else "·", state.state, short_time(state.at)) for state in view.states]
    marks = {"passed": "✓", "": "·", "running": "▶", "rehearsed": "✓"}
    units = next((gate.pins["candidate_count"] for gate in view.gates if "candidate_count" in gate.pins), 0)
    gates = [
        (marks.get(gate.outcome, "✗"), gate.number, gate.name,
         f"rehearsed, rolled back: {counted(int(units), 'unit')}" if gate.outcome == "rehearsed" else gate.outcome,
         _cell(gate.seconds), gate.attempts or "", (gate.receipt_hash or "")[:16])
        for gate in view.gates
    ]  # fmt: skip
    parts: list[RenderableType] = [
        _head(view), "", table(("", "state", "reached"), states), "",
        table(("", "#", "gate", "outcome", "seconds", "attempts", "receipt"), gates),
    ]  # fmt: skip
    for title, columns, names, entries in _SECTIONS:
        if getattr(view, entries):
            rows = [[_field(view, name, getattr(entry, name)) for name in names] for entry in getattr(view, entries)]
            parts += ["", Listing(columns=columns, rows=rows, title=title)]
    first = [line(f"first: {view.first}")] if view.first else []
    return Group(*parts, "", line(f"needs: {view.needs}"), *first, line(f"next: {view.next}"))


_SECTIONS: tuple[tuple[str, tuple[str, ...], tuple[str, ...], str], ...] = (
    ("requests", ("gate", "status", "expires", "request", "challenge"),
     ("gate", "status", "expires_at", "kb_id", "challenge"), "requests"),
    ("approvals and orders", ("decision", "gate", "approver", "key", "approval sha256", "consumed"),
     ("decision", "gate", "approver", "fingerprint", "approval_sha256", "consumed_at"), "approvals"),
    ("refused", ("at", "what", "code", "reason"), ("at", "what", "code", "reason"), "refusals"),
    ("retries", ("gate", "attempt", "outcome", "reason", "next try"),
     ("gate", "attempt", "outcome", "reason", "next_eligible_at"), "retries"),
    ("documents", ("kb id", "kind", "about", "sha256"), ("kb_id", "kind", "subject", "sha256"), "documents"),
)  # fmt: skip
"""For each table: title, columns, their fields, and the part of the view."""


_TIMES = frozenset({"at", "expires_at", "consumed_at", "next_eligible_at"})
_DOCUMENTS = frozenset({"kb_id", "what"})


def _field(view: ShownRun, name: str, value: Any) -> str:
    """The text of a cell. Times are cut to the second, and documents are shown without the folder that the heading
    names.
    """
    if name in _TIMES:
        return short_time(value)
    return _cell(value).removeprefix(view.kb_folder + "/") if name in _DOCUMENTS else _cell(value)


def _head(view: ShownRun) -> RenderableType:
    stop = view.stop
    rows = [
        ("document", view.document_id),
        ("run", view.run_id),
        ("mode", view.mode),
        ("state", view.state + _ended_as(view.outcome)),
        ("code", view.code),
        ("reason", view.reason),
        ("stop latch", stop and f"{stop.kind} by {stop.set_by}: {stop.reason}"),
        ("lane", view.lane),
        ("waits for", view.blocked),
        ("newer version", view.newer),
        ("started", f"{short_time(view.created_utc)} by {view.starter}"),
        ("ended", short_time(view.ended_utc)),
        ("batch", view.batch_id),
        ("amends", view.amends),
        ("request document", view.request_flaw),
        ("audit head", view.audit_head),
        ("newest event", view.newest_event if view.newest_event != view.audit_head else None),
        ("kb folder", view.kb_folder),
    ]
    return table(("field", "value"), [(name, value) for name, value in rows if value])


def _cell(value: object) -> str:
    return "" if value is None else str(value)


def status_as(settings: Settings, kind: str, name: str | None, *, watch: bool, as_json: bool) -> None:
    """Show one run or batch in the form of a seed. Raises InvalidInput if it does not have that form."""
    follow(_looks(settings, kind, name), _render, _lines, lambda view: view["ended_utc"] is not None, watch=watch,
           as_json=as_json)  # fmt: skip


def _looks(settings: Settings, kind: str, name: str | None) -> Callable[[], View]:
    kinds = ", ".join([*RUN_VIEWS, BATCH_VIEW])
    if kind not in (*RUN_VIEWS, BATCH_VIEW):
        raise InvalidInput(f"--as {kind}: it is one of {kinds}")
    if name is None:
        raise InvalidInput(f"--as {kind}: name a run or a batch:", then=f"cutter status ICX-LAW-2026-001 --as {kind}")
    if ids.is_batch_id(name) != (kind == BATCH_VIEW):
        raise InvalidInput(f"--as {kind}: a batch is a {BATCH_VIEW}, a run is a {', a '.join(RUN_VIEWS)}")
    if kind == BATCH_VIEW:

        def workstream() -> View:
            with session(settings, Role.OPERATOR) as connection:
                return batch_as_workstream(batch_views.facts(connection, ids.batch_id(name)))

        return workstream
    run_id = run_rows.run_id_of(settings, name)
    return lambda: run_as(kind, run_rows.sidecar(settings, run_id))


def _render(view: View) -> RenderableType:
    shown = ("as", "entity_id", "status", "document_id", "run_id", "batch_id", "state", "reason")
    rows = [(name, view[name]) for name in shown if view.get(name)]
    if view.get("stopped"):
        rows.insert(3, ("flag", "stopped"))
    parts: list[RenderableType] = [table(("field", "value"), rows)]
    for title, columns in _PARTS.items():
        if view.get(title):
            cells = [
                [short_time(entry[name]) if name == "at" else "" if entry[name] is None else str(entry[name])
                 for name in columns]
                for entry in view[title]
            ]  # fmt: skip
            parts += ["", Listing(columns=columns, rows=cells, title=title)]
    return Group(*parts)


_PARTS = {
    "transitions": ("at", "from", "to", "trigger", "cause"),
    "steps": ("step_index", "step", "tool_name", "status"),
    "approvals": ("request_id", "gate", "status", "tier", "two_person"),
    "tasks": ("document_id", "state", "critical", "task", "workstream_id"),
}


def _lines(view: View) -> list[str]:
    return [
        f"{short_time(transition['at'])} {view['entity_id']} {transition['to']} ({transition['cause']})"
        for transition in view["transitions"]
    ]
