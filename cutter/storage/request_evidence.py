"""IO: reads the rows of a run between its two signatures, for the view of a request."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from cutter.domain import recorded_values
from cutter.request_view.view import Check, SealedGate, StoredUnit
from cutter.storage.records import records


@dataclass(frozen=True, slots=True, kw_only=True)
class SealedRow:
    """A sealed receipt with the invariants of its gate, unchanged from the row."""

    gate: str
    role: str
    receipt_hash: str
    invariants: Any


STORED = records("units_stored", StoredUnit)
SEALED = records("gates_sealed_between", SealedRow)
"""Both queries take `run_id` and the request's sovereign `gate`. At the first sovereign gate they give no rows."""


def sealed_gate(row: SealedRow) -> SealedGate:
    """The gate with its checks. A malformed invariant becomes one failed check that says so."""
    report = recorded_values.report({"invariants": row.invariants}) or {}
    checks = (
        Check(name=item["name"], ok=item["ok"], observed=item["observed"], expected=item["expected"])
        for item in report["invariants"]
    )
    return SealedGate(gate=row.gate, role=row.role, receipt_hash=row.receipt_hash, checks=tuple(checks))
