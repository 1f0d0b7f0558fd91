"""IO: `cutter status`: shows the states of runs and their next commands. It reads only PostgreSQL, so it works while
Temporal is down.
"""

from __future__ import annotations

import importlib
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Annotated, Any

import typer
from rich.console import Group, RenderableType

from cutter import limits
from cutter.approvals import schema
from cutter.catalogue import BY_NAME, GATES
from cutter.domain import ids, lanes
from cutter.domain.amounts import counted
from cutter.domain.digests import sha256_hex
from cutter.domain.next_step import Step, next_step
from cutter.domain.timestamps import utc
from cutter.errors import InvalidInput, NotFound, Unavailable
from cutter.kb.store import Store
from cutter.notifications import health
from cutter.projections.run_view import run_view, short_time
from cutter.settings import Settings, load
from cutter.storage import runs as known_runs
from cutter.storage.answered_runs import Answered, answered
from cutter.storage.likely_names import DOCUMENTS
from cutter.storage.policy_epochs import IN_FORCE
from cutter.storage.pools import OPERATOR, Connection, session
from cutter.storage.records import records
from cutter.storage.still_runs import STILL
from starter.commands import tenants
from starter.commands.lifecycle_view import status_as
from starter.console.terminal import Json, Listing, line, table
from starter.console.watch import follow
from starter.operator import batch_ways, rejections
from starter.operator.batch_status import open_batches, status_of_batch, table_of_batches

RUNS_SHOWN = 200
View = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class RefusedMessage:
    """A message that a run refused."""

    gate: str
    message: str
    code: str
    reason: str
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class NewestRun:
    """The run that represents a document. `sealed` holds its receipts. `law_by` is the run that enacted the
    document.
    """

    run_id: str
    document_id: str
    mode: str
    state: str
    outcome: str | None
    batch_id: str | None
    created_at: datetime
    state_at: datetime
    ended_at: datetime | None
    latched: bool
    wrote: bool
    sealed: int
    expires_at: datetime | None
    law_by: str | None


REFUSED = records("refusals_of_run", RefusedMessage)
NEWEST = records("newest_runs", NewestRun)


def status(
    run: Annotated[
        str | None, typer.Argument(help="Run id, batch id, or document id (its open run, else its newest); none: all")
    ] = None,
    as_kind: Annotated[
        str | None, typer.Option("--as", help="In a seed's terms: request, run or task; for a batch: workstream")
    ] = None,
    watch: Annotated[bool, typer.Option("--watch", help="Follow until everything shown has ended.")] = False,
    as_json: Json = False,
) -> None:
    """Show one run or one batch; or all open batches, the newest run of every document, and tenants with their caps.

    Example: cutter status ICX-LAW-2026-001
    """
    settings = load()
    if as_kind is not None:
        status_as(settings, as_kind, run, watch=watch, as_json=as_json)
        return
    if run is None:
        follow(lambda: newest(settings), _table_of_all, _lines_of_runs, _over, watch=watch, as_json=as_json)
        return
    if ids.is_batch_id(run):
        status_of_batch(settings, run, watch=watch, as_json=as_json)
        return
    run_id = _run_id_of(settings, run)
    follow(lambda: view_of(settings, run_id), render_run, lines_of_run, _over, watch=watch, as_json=as_json)


def _run_id_of(settings: Settings, name: str) -> str:
    try:
        return known_runs.run_id_of(settings, name)
    except NotFound:
        # Temporal's client is imported only here, because the import is slow and only a name without a run needs it.
        return str(importlib.import_module("temporal.foreign_workflows").run_id_of(settings, name))


def view_of(settings: Settings, run_id: str) -> View:
    """One run in the form for people. Raises STOP_RUN_NOT_FOUND if there is none."""
    sidecar = known_runs.sidecar(settings, run_id)
    with session(settings, OPERATOR) as connection:
        refusals = REFUSED.all(connection, {"run_id": run_id})
        still = still_runs(connection, run_id)
        people = answered(connection)
        run = sidecar["run"]
        rejected = rejections.read(settings, connection, run_id=run_id).get(run_id)
        step = batch_ways.step_of(connection, **{name: run[name] for name in _OF_BATCH})
    skipped = run["outcome"] == "skipped"
    law_by = known_runs.enacting_run(settings, run["document_id"]) if skipped else None
    shown = [{**asdict(one), "at": one.at.isoformat()} for one in refusals]
    view = run_view(sidecar, shown, law_by, approved=run_id in people.runs, exec_worker=people.exec_worker)
    lane = lanes.of_run(known_runs.lanes(settings), run_id) if run["ended_at"] is None else None
    flaw = request_flaw(settings, sidecar)
    moved = {"next": f"cutter rebuild {run_id}"} if flaw else _stillness(still.get(run_id))
    return {**_with_rejection(view, rejected), "lane": lane, "request_flaw": flaw, **_as_shown(step), **moved}


_OF_BATCH = ("run_id", "document_id", "state", "batch_id")
"""What the batch of a run must know to name the run's next commands."""


def _as_shown(step: Step | None) -> View:
    return {"needs": step.needs.value, "first": step.first or None, "next": step.command} if step else {}


def _with_rejection(view: View, rejected: View | None) -> View:
    """The view with the signed reason of the rejection, wherever it says that an approver rejected the run."""
    if rejected is None:
        return {**view, "rejected": None}
    said = rejections.sentence(rejected)
    timeline = [{**one, "reason": said} if one["to"] == view["state"] else one for one in view["timeline"]]
    signed = [
        {**one, "reason": rejected["reason"]} if one["decision"] == schema.REJECT else one for one in view["approvals"]
    ]
    return {**view, "rejected": rejected, "reason": said, "timeline": timeline, "approvals": signed}


def still_runs(connection: Connection, run_id: str | None = None) -> dict[str, float]:
    """Seconds since the last move of open runs that wait for nobody, by run id. Runs that have moved lately are left
    out.
    """
    asked = {"run_id": run_id, "seconds": limits.STILL_SECONDS}
    return {one.run_id: one.still_seconds for one in STILL.all(connection, asked)}


def _stillness(seconds: float | None) -> View:
    """The advice for a run that no workflow seems to drive. Its workflow may know of a stop that PostgreSQL does not
    know.
    """
    if seconds is None:
        return {}
    return {"needs": f"a look: nothing has moved for {seconds / 60:.0f} minutes", "next": "cutter reconcile"}


def request_flaw(settings: Settings, sidecar: View) -> str | None:
    """What is wrong with the request document that people must sign. None also if the document cannot be checked."""
    put = {one["kb_id"]: one["sha256"] for one in sidecar["documents"] if one["sha256"]}
    asked = [one["kb_id"] for one in sidecar["requests"] if one["status"] == "requested" and one["kb_id"] in put]
    try:
        differs = [name for name in asked if sha256_hex(Store(settings.kb).get(name)) != put[name]]
    except Unavailable:
        return None
    except (NotFound, InvalidInput) as problem:
        return str(problem)
    return f"{differs[0]} is not the request that the run made" if differs else None


def newest(settings: Settings) -> View:
    """The open batches, one run of each document (the open run, else the newest one), newest first, and the tenants'
    caps.
    """
    with session(settings, OPERATOR) as connection:
        rows = NEWEST.all(connection, {"limit": RUNS_SHOWN})
        still = still_runs(connection)
        people = answered(connection)
        undelivered = list(health.sentences(health.health(connection)))
        first = None if rows else _first_step(connection)
        steps = {row.run_id: _step_in_batch(connection, row) for row in rows}
    return {
        "runs": [{**_run_line(row, people), **steps[row.run_id], **_stillness(still.get(row.run_id))} for row in rows],
        "next": first,
        "batches": open_batches(settings),
        "tenants": tenants.apart(settings),
        "lanes": list(lanes.sentences(known_runs.lanes(settings))),
        "messages": undelivered,
    }


def _step_in_batch(connection: Connection, row: NewestRun) -> View:
    step = batch_ways.step_of(
        connection, run_id=row.run_id, document_id=row.document_id, state=row.state, batch_id=row.batch_id
    )
    return {"needs": step.needs.value, "next": step.command} if step else {}


def _first_step(connection: Connection) -> str:
    """The next command of a deployment that has no run yet."""
    if IN_FORCE.first(connection) is None:
        return "cutter approvers init --approver NAME=KEY.asc"
    document_id = DOCUMENTS.first(connection, {"limit": 1})
    if document_id is None:
        return "cutter source add FILE --document-id DOCUMENT --profile PROFILE"
    return f"cutter run {document_id}"


def _run_line(row: NewestRun, people: Answered) -> View:
    step = next_step(
        run_id=row.run_id, document_id=row.document_id, state=row.state, outcome=row.outcome,
        latched=row.latched, wrote=row.wrote, law_by=row.law_by,
        enacted=row.sealed >= BY_NAME["IG_lifecycle_enact_execute"].number,
        approved=row.run_id in people.runs, exec_worker=people.exec_worker,
    )  # fmt: skip
    return {
        "document_id": row.document_id,
        "run_id": row.run_id,
        "mode": row.mode,
        "state": row.state,
        "outcome": row.outcome,
        "law_by": row.law_by,
        "batch_id": row.batch_id,
        "gates_passed": row.sealed,
        "since_utc": utc(row.state_at),
        "ended_utc": utc(row.ended_at),
        "expires_utc": utc(row.expires_at),
        "needs": step.needs.value,
        "next": step.command,
    }


def _over(view: View) -> bool:
    return all(one["ended_utc"] is not None for one in view.get("runs", [view]))


def _lines_of_runs(view: View) -> list[str]:
    return [
        f"{short_time(one['since_utc'])} {one['document_id']} {one['state']}{_ended_as(one)}"
        for one in reversed(view["runs"])
    ]


def lines_of_run(view: View) -> list[str]:
    first = f"{short_time(view['created_utc'])} {view['document_id']} pending"
    moves = [
        f"{short_time(move['at'])} {view['document_id']} {move['to']}{_because(move)}" for move in view["timeline"]
    ]
    retries = [
        f"{short_time(one['started_utc'])} {view['document_id']} {_retry(one)}"
        for one in view["retries"]
        if one["outcome"] != "no outcome"
    ]
    return [first, *moves, *retries]


def _retry(one: View) -> str:
    return f"{one['gate']} attempt {one['attempt']}: {one['outcome']}"


def _because(move: View) -> str:
    return f" ({move['reason']})" if move["reason"] else ""


def _ended_as(one: View) -> str:
    if one["outcome"] == "skipped":
        return " (this version is enacted already)"
    return f" ({one['outcome']})" if one["outcome"] else ""


def _table_of_all(view: View) -> RenderableType:
    above: list[RenderableType] = [table_of_batches(view["batches"]), ""] if view["batches"] else []
    below = ["", tenants.listing(view["tenants"])] if view["tenants"] else []
    held: list[RenderableType] = ["", *map(line, view["lanes"])] if view.get("lanes") else []
    unheard: list[RenderableType] = ["", *map(line, view["messages"])] if view.get("messages") else []
    unheard += [line("next: cutter notify list")] if unheard else []
    return Group(*above, _table_of_runs(view), *below, *held, *unheard)


def _table_of_runs(view: View) -> RenderableType:
    if not view["runs"]:
        return f"no runs yet\nnext: {view['next']}"
    return Listing(
        columns=("document", "state", "gates", "since", "expires"),
        rows=[
            (one["document_id"], one["state"] + _ended_as(one), f"{one['gates_passed']}/{len(GATES)}",
             short_time(one["since_utc"]), short_time(one["expires_utc"]))
            for one in view["runs"]
        ],
        commands=[one["next"] for one in view["runs"]],
    )  # fmt: skip


def render_run(view: View) -> RenderableType:
    """One run as tables. Empty parts are left out."""
    parts: list[RenderableType] = [_head(view), "", _states(view), "", _gates(view)]
    for title, columns, names, entries in _SECTIONS:
        if view[entries]:
            rows = [[_field(view, name, one[name]) for name in names] for one in view[entries]]
            parts += ["", Listing(columns=columns, rows=rows, title=title)]
    first = [line(f"first: {view['first']}")] if view["first"] else []
    return Group(*parts, "", line(f"needs: {view['needs']}"), *first, line(f"next: {view['next']}"))


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


def _field(view: View, name: str, value: Any) -> str:
    """The text of a cell. Times are cut to the second, and documents are shown without the folder that the heading
    names.
    """
    if name in _TIMES:
        return short_time(value)
    return _cell(value).removeprefix(view["kb_folder"] + "/") if name in _DOCUMENTS else _cell(value)


def _head(view: View) -> RenderableType:
    stop = view["stop"]
    rows = [
        ("document", view["document_id"]),
        ("run", view["run_id"]),
        ("mode", view["mode"]),
        ("state", view["state"] + _ended_as(view)),
        ("code", view["code"]),
        ("reason", view["reason"]),
        ("stop latch", stop and f"{stop['kind']} by {stop['set_by']}: {stop['reason']}"),
        ("lane", view.get("lane")),
        ("started", f"{short_time(view['created_utc'])} by {view['starter']}"),
        ("ended", short_time(view["ended_utc"])),
        ("batch", view["batch_id"]),
        ("amends", view["amends"]),
        ("request document", view.get("request_flaw")),
        ("audit head", view["audit_head"]),
        ("newest event", view["newest_event"] if view["newest_event"] != view["audit_head"] else None),
        ("kb folder", view["kb_folder"]),
    ]
    return table(("field", "value"), [(name, value) for name, value in rows if value])


def _states(view: View) -> RenderableType:
    rows = [("✓" if one["at"] else "·", one["state"], short_time(one["at"])) for one in view["states"]]
    return table(("", "state", "reached"), rows)


def _gates(view: View) -> RenderableType:
    marks = {"passed": "✓", "": "·", "running": "▶", "rehearsed": "✓"}
    rows = [
        (marks.get(one["outcome"], "✗"), one["number"], one["name"], _gate_outcome(view, one), _cell(one["seconds"]),
         one["attempts"] or "", (one["receipt_hash"] or "")[:16])
        for one in view["gates"]
    ]  # fmt: skip
    return table(("", "#", "gate", "outcome", "seconds", "attempts", "receipt"), rows)


def _gate_outcome(view: View, gate: View) -> str:
    """How a gate's newest attempt ended. For a rehearsal, also the rows that were rolled back."""
    if gate["outcome"] != "rehearsed":
        return str(gate["outcome"])
    units = next((one["pins"]["candidate_count"] for one in view["gates"] if "candidate_count" in one["pins"]), 0)
    return f"rehearsed, rolled back: {counted(int(units), 'unit')}"


def _cell(value: object) -> str:
    return "" if value is None else str(value)
