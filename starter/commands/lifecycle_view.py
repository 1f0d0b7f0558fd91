"""IO: `cutter status … --as request|run|task|workstream`: shows one run or batch in the terms of a seed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rich.console import Group, RenderableType

from cutter.catalogue import Role
from cutter.domain import ids
from cutter.errors import InvalidInput
from cutter.projections.lifecycle_view import BATCH_VIEW, RUN_VIEWS, batch_as_workstream, run_as
from cutter.projections.run_view import short_time
from cutter.settings import Settings
from cutter.storage import batch_views
from cutter.storage import runs as run_rows
from cutter.storage.pools import session
from starter.console.terminal import Listing, table
from starter.console.watch import follow

View = dict[str, Any]


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
