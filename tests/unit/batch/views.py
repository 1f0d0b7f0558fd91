"""Answers of fn_batch_seen, made by hand."""

from __future__ import annotations

from typing import Any

from cutter.types import Json

BATCH_ID = "0199f1de-7c3d-7e4f-8a9b-0c1d2e3f4a5b"


def item(name: str, state: str | None = None, **more: Any) -> Json:
    ended = state is not None and state.startswith(("failed_", "voided_", "closeout"))
    return {
        "document_id": name, "position": 1, "priority": 5, "depends_on": [], "critical": False, "tenant": "default",
        "source_uri": None, "decided": None, "reason": None, "run_id": state and f"run of {name}", "state": state,
        "outcome": None, "ended": ended, "included": False, "enacted": False, "kept_out": False,
        "latched": False, "latch_kind": None,
        "gate": None, "approved": False, "queue": None, "queue_state": None, "wrote": False,
        "stopped_by": None, "corrected": False, "open_run": None, "failed_run": None, "scope": None, "actor": None,
        **more,
    }  # fmt: skip


def view(
    *items: Json, state: str = "batch_failed_partial", age: float = 1e9, halt_age: float = 0.0, **batch: Any
) -> Json:
    made = {
        "batch_id": BATCH_ID, "mode": "live", "policy": "default", "unattended": False, "lanes": 4, "weights": {},
        "hard_cap_seconds": 3600.0, "state": state, "halted": None, "halted_reason": None, **batch,
    }  # fmt: skip
    halted = halt_age if made["halted"] else None
    placed = [{**one, "position": number} for number, one in enumerate(items, start=1)]
    return {"batch": made, "age_seconds": age, "halted_seconds": halted, "items": placed}
