"""Batches as the database shows them, made by hand."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from cutter.batch.view import BatchRecord, BatchView, FailedRun, ItemRecord

BATCH_ID = "0199f1de-7c3d-7e4f-8a9b-0c1d2e3f4a5b"
BEGAN = "2026-11-21T22:00:00+00:00"


def item(name: str, state: str | None = None, **more: Any) -> ItemRecord:
    ended = state is not None and state.startswith(("failed_", "voided_", "closeout"))
    made: dict[str, Any] = {
        "document_id": name, "position": 1, "priority": 5, "depends_on": [], "critical": False, "tenant": "default",
        "source_uri": None, "decided": None, "reason": None, "run_id": state and f"run of {name}", "state": state,
        "outcome": None, "ended": ended, "created_at": None, "state_at": None, "ended_at": None, "included": False,
        "enacted": False, "kept_out": False, "latched": False, "latch_kind": None, "gate": None, "request_kb_id": None,
        "expires_at": None, "signed": 0, "approved": False, "queue": None, "queue_code": None,
        "queue_state": None, "wrote": False, "stopped_by": None, "corrected": False, "open_run": None,
        "queue_kb_id": None, "law_by": None, "exec_worker": True,
        "failed_run": None, "scope": None, "actor": None,
    }  # fmt: skip
    return ItemRecord(**{**made, **more})


def failed_run(run_id: str, batch_id: str | None) -> FailedRun:
    return FailedRun(run_id=run_id, batch_id=batch_id)


def view(
    *items: ItemRecord, state: str = "batch_failed_partial", age: float = 1e9, halt_age: float = 0.0, **batch: Any
) -> BatchView:
    made: dict[str, Any] = {
        "batch_id": BATCH_ID, "queue_sha256": "0" * 64, "mode": "live", "policy": "default", "unattended": False,
        "lanes": 4, "weights": {}, "hard_cap_seconds": 3600.0, "created_by": "olga", "starter": "olga",
        "created_at": BEGAN, "state": state, "state_at": BEGAN, "halted": None, "halted_reason": None,
        "began_at": BEGAN, "ended_at": None,
    }  # fmt: skip
    record = BatchRecord(**{**made, **batch})
    placed = tuple(replace(entry, position=number) for number, entry in enumerate(items, start=1))
    halted = halt_age if record.halted else None
    return BatchView(batch=record, items=placed, age_seconds=age, halted_seconds=halted)
