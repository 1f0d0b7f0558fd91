"""IO: what PostgreSQL holds of a run between its two signatures, as the view of a request shows it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from cutter.domain import recorded_values
from cutter.request_view import Check, SealedGate, StoredUnit
from cutter.storage.records import records


@dataclass(frozen=True, slots=True, kw_only=True)
class SealedRow:
    """A sealed receipt with the invariants of its gate as they are in the row."""

    gate: str
    role: str
    receipt_hash: str
    invariants: Any


STORED = records("units_stored", StoredUnit)
SEALED = records("gates_sealed_between", SealedRow)
"""Both take `run_id` and the sovereign `gate` of the request; at the first one they answer nothing."""


def sealed_gate(row: SealedRow) -> SealedGate:
    """The gate with its checks; what is no invariant is one check that failed and says so."""
    report = recorded_values.report({"invariants": row.invariants}) or {}
    checks = (
        Check(name=item["name"], ok=item["ok"], observed=item["observed"], expected=item["expected"])
        for item in report["invariants"]
    )
    return SealedGate(gate=row.gate, role=row.role, receipt_hash=row.receipt_hash, checks=tuple(checks))
