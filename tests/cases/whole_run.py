"""IO: what the database must hold of a run from its start to its end, when nothing was lost and nothing doubled."""

from __future__ import annotations

from cutter.catalogue import GATES
from tests.support.processes import Stack


def shortcomings(made: Stack, run_id: str, document_id: str, units: int) -> list[str]:
    """What is not exactly as it must be after a run; empty when nothing was lost and nothing doubled."""
    counts = made.rows(
        """
        select (select state from cutter_governance.run where run_id = %(run)s) as state,
            (select count(*) from public.information_unit
             where canonical_address like %(prefix)s || '/%%' and lifecycle_status = 'enacted') as enacted,
            (select count(*) from public.information_unit where canonical_address like %(prefix)s || '/%%') as units,
            (select count(distinct canonical_address) from public.information_unit
             where canonical_address like %(prefix)s || '/%%') as addresses,
            (select count(*) from cutter_governance.gate_receipt
             where run_id = %(run)s and sealed_at is not null) as receipts,
            (select count(*) from cutter_governance.gate_receipt where run_id = %(run)s) as claims,
            (select count(*) from cutter_governance.approval_consumption where run_id = %(run)s) as consumed,
            (select count(distinct gate) from cutter_governance.approval_consumption where run_id = %(run)s) as opened,
            (select count(*) from cutter_governance.outbox where run_id = %(run)s and done_at is null) as unpublished
        """,
        {"run": run_id, "prefix": document_id},
    )[0]
    wanted = {
        "state": "closeout_reported", "enacted": units, "units": units, "addresses": units, "receipts": len(GATES),
        "claims": len(GATES), "consumed": 2, "opened": 2, "unpublished": 0,
    }  # fmt: skip
    return [f"{name}: {counts[name]} instead of {value}" for name, value in wanted.items() if counts[name] != value]
