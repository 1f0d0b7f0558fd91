"""Pure: what a resume of a batch would set in motion, and which failed documents need a signature first.

A resume of a batch that has nothing left to do must write nothing; whether it has, is asked before anything is opened.
"""

from __future__ import annotations

from cutter import limits
from cutter.batch import steering
from cutter.batch.state import ENDS
from cutter.domain.run_state import RunState
from cutter.types import Json

ASKED_ANEW = ("busy", "blocked", "voided")
"""Decisions that a resume takes back: the reason may be gone."""


def moves(view: Json) -> bool:
    """True when a resume of this batch would change anything: start, adopt, open a halt, or tell another state."""
    if view["batch"]["state"] not in ENDS or any(_open(one) for one in view["items"]):
        return True
    asked = asked_anew(view)
    orders = steering.decide(asked, window=limits.BATCH_WINDOW)
    halted = orders.halt.kind if orders.halt else None
    if orders.starts or halted != view["batch"]["halted"]:
        return True
    summary = steering.summarise(view, attended=not view["batch"]["unattended"])
    return bool(summary.state.value != view["batch"]["state"])


def unsigned_failures(view: Json) -> list[Json]:
    """Items whose run failed and that nobody has signed in again, each with the command that does it."""
    batch_id = view["batch"]["batch_id"]
    return [
        {
            "document_id": one["document_id"],
            "run_id": one["run_id"],
            "state": one["state"],
            "sign": include_command(batch_id, one["document_id"]),
        }
        for one in view["items"]
        if failed(one) and not one["included"]
    ]


def failed(item: Json) -> bool:
    """True for an item whose newest run of this batch failed."""
    return RunState(item["state"] or "").failed


def include_command(batch_id: str, document_id: str) -> str:
    """What a sovereign types so that a failed document runs again in its batch."""
    return f"cutter approve --batch {batch_id} --decision include_failed --only {document_id} --reason TEXT"


def _open(item: Json) -> bool:
    """A run that may continue by itself once its workflow is open; a stopped one waits for people."""
    return bool(item["run_id"]) and not item["ended"] and not RunState(item["state"]).stopped


def asked_anew(view: Json) -> Json:
    """The view as a resume would make it: without its halt, and without what was decided for a reason that may be gone.

    A document that another run holds up stays busy until that run has ended.
    """
    batch = {**view["batch"], "halted": None, "halted_reason": None}
    items = [
        {**one, "decided": None, "reason": None}
        if one["decided"] in ASKED_ANEW and not one["kept_out"] and not one["open_run"]
        else one
        for one in view["items"]
    ]
    return {**view, "batch": batch, "items": items, "age_seconds": 0.0}
