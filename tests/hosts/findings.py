"""Pure: what is not exactly as it must be after the batch; nothing lost, nothing doubled."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from cutter.catalogue import GATES
from cutter.types import Json

EXACTLY = {
    "runs": 1, "closed": 1, "enactments": 1, "stops": 0, "unsealed": 0, "unpublished": 0, "receipts": len(GATES),
    "gates": len(GATES), "consumed": 2, "opened": 2,
}  # fmt: skip
"""What the database must say of each document. `gates` are different gates, `opened` different sovereign gates.
A stopped run would need a person."""

FACTS = r"""
select d.document_id,
    (select count(*) from cutter_governance.run r where r.document_id = d.document_id) as runs,
    (select count(*) from cutter_governance.run r where r.document_id = d.document_id and state = 'closeout_reported')
        as closed,
    (select count(*) from cutter_governance.audit_event a join cutter_governance.run r using (run_id)
        where r.document_id = d.document_id and a.kind = 'transition' and a.body like '%%stopped\_%%') as stops,
    (select count(*) from public.enactment e where e.source_document_ref = d.document_id) as enactments,
    (select count(*) from public.information_unit u where u.canonical_address like d.document_id || '/%%'
        and u.lifecycle_status = 'enacted') as enacted,
    (select count(*) from public.information_unit u where u.canonical_address like d.document_id || '/%%') as units,
    (select count(distinct u.canonical_address) from public.information_unit u
        where u.canonical_address like d.document_id || '/%%') as addresses,
    (select count(*) from cutter_governance.gate_receipt g join cutter_governance.run r using (run_id)
        where r.document_id = d.document_id and g.sealed_at is null) as unsealed,
    (select count(*) from cutter_governance.gate_receipt g join cutter_governance.run r using (run_id)
        where r.document_id = d.document_id) as receipts,
    (select count(distinct g.gate) from cutter_governance.gate_receipt g join cutter_governance.run r using (run_id)
        where r.document_id = d.document_id) as gates,
    (select count(*) from cutter_governance.approval_consumption c where c.document_id = d.document_id) as consumed,
    (select count(distinct c.gate) from cutter_governance.approval_consumption c
        where c.document_id = d.document_id) as opened,
    (select count(*) from cutter_governance.outbox o join cutter_governance.run r using (run_id)
        where r.document_id = d.document_id and o.done_at is null) as unpublished,
    (select coalesce(array_agg(distinct w.build_id), '{}') from cutter_governance.gate_attempt a
        join cutter_governance.run r using (run_id) join cutter_governance.worker_heartbeat w
        on w.worker_id = a.lease_owner where r.document_id = d.document_id) as builds
from unnest(%s::text[]) as d (document_id) order by 1
"""


def shortcomings(rows: Sequence[Json], units: int, builds: Mapping[str, str]) -> list[str]:
    """One sentence for each value that is wrong. `builds`: the one build that may have worked on a document."""
    exactly = {**EXACTLY, "enacted": units, "units": units, "addresses": units}
    wrong = [
        f"{row['document_id']}: {name} {row[name]} instead of {value}"
        for row in rows for name, value in exactly.items() if row[name] != value
    ]  # fmt: skip
    others = [
        f"{row['document_id']}: worked on by {row['builds']}" for row in rows
        if row["builds"] != [builds[row["document_id"]]]
    ]  # fmt: skip
    absent = [f"{name}: unknown" for name in builds if name not in {row["document_id"] for row in rows}]
    return wrong + others + absent


def lost(rows: Sequence[Json], units: int) -> int:
    """Documents of which something is missing."""
    return sum(row["enacted"] < units or row["enactments"] < 1 or row["receipts"] < len(GATES) for row in rows)


def doubled(rows: Sequence[Json], units: int) -> int:
    """Documents of which something is there twice."""
    twice = {"enacted": units, "units": units, "enactments": 1, "receipts": len(GATES), "consumed": 2}
    return sum(any(row[name] > value for name, value in twice.items()) for row in rows)
