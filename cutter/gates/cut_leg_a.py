"""Pure: IG_cut_leg_a_execute: exactly the approved rows, created once (seed 000 §4)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from cutter.gates.report import GateReport, Invariant, equal, holds

GATE = "IG_cut_leg_a_execute"

_STATUS = {"keep": ("kept",), "revise": ("revised",), "create": ("created", "revived"), "repeal": ("repealed",)}
"""The statuses that fn_iu_revise returns for each operation."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Authorization:
    """What one signed approval authorises, verified by this process. None: it was signed before the run."""

    approval_sha256: str
    document_id: str
    writer_digest: str | None
    change_set_id: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """The approvals, the functions' answers, and what was counted in the same transaction before and after.

    `opened_in` and `written_in` are the transaction's ids when the gate was opened and after the last write.
    """

    authorizations: tuple[Authorization, ...]
    threshold: int
    document_id: str
    change_set_id: str
    pinned_writer_digest: str
    planned_writer_digest: str
    stored_writer_digest: str
    rows_before: int
    planned: int
    statuses: tuple[str, ...]
    not_draft: int
    opened_in: str
    written_in: str
    autocommit: bool
    rehearsal: bool = False
    revised: Mapping[str, int] | None = None
    """The number of planned rows of each operation of a revision. None for a first cut."""


def evaluate(evidence: Evidence) -> GateReport:
    """Refuses unless all of these hold (seed 000 §4, in its words where it has them):

    - approval_resolves_to_signed_document: approval-kb-id resolves to a sovereign-signed document, one a slot
    - approval_authorizes_cut: it explicitly authorises (doc_id, writer_digest, change_set_id-pending)
    - plan_reproduced: the plan built now is the pinned one (ours)
    - g_cut_once: zero rows under the prefix before the cut; zero drafts before a revision (ours)
    - exactly_n_created: exactly N successful fn_iu_create invocations; for a revision, every planned row once
    - zero_units_not_draft: 0 IUs with lifecycle_status != 'draft' after the write
    - stored_writer_digest: the stored rows digest to what was approved (ours)
    - transaction_unbroken: one transaction from the opening to the last write (no silent autocommit reset)

    That it was COMMITTED cannot be said before COMMIT: `read_back` says it.
    """
    created = Counter(evidence.statuses)
    planned = evidence.planned_writer_digest
    statuses, expected = dict(created), {"created": evidence.planned}
    if evidence.revised is not None:
        statuses = {operation: sum(created[status] for status in names) for operation, names in _STATUS.items()}
        statuses["refused"] = created.total() - sum(statuses.values())
        expected = {**evidence.revised, "refused": 0}
    return GateReport(
        gate=GATE,
        invariants=(
            *_approved(evidence),
            equal("plan_reproduced", planned, evidence.pinned_writer_digest),
            equal("g_cut_once", evidence.rows_before, 0),
            equal("exactly_n_created", statuses, expected),
            equal("zero_units_not_draft", evidence.not_draft, 0),
            equal("stored_writer_digest", evidence.stored_writer_digest, planned),
            holds(
                "transaction_unbroken",
                bool(evidence.opened_in) and evidence.opened_in == evidence.written_in and not evidence.autocommit,
                f"{evidence.written_in or 'none'}{', autocommit' if evidence.autocommit else ''}",
                evidence.opened_in or "the id of a transaction",
            ),
        ),
        pins={"units_created": created["created"]},
    )


def _approved(evidence: Evidence) -> tuple[Invariant, Invariant]:
    if evidence.rehearsal:
        # The database never commits a rehearsal; there is nobody yet who could have approved it.
        return (
            holds("approval_resolves_to_signed_document", True, "rehearsal", "nothing is committed"),
            holds("approval_authorizes_cut", True, "rehearsal", "nothing is committed"),
        )
    documents = {
        authorization.approval_sha256 for authorization in evidence.authorizations if authorization.approval_sha256
    }
    others = [
        authorization
        for authorization in evidence.authorizations
        if authorization.document_id != evidence.document_id
        or authorization.writer_digest != evidence.planned_writer_digest
        or authorization.change_set_id not in (None, evidence.change_set_id)
    ]
    return (
        holds(
            "approval_resolves_to_signed_document",
            len(documents) >= max(1, evidence.threshold),
            f"{len(documents)} approvals",
            f"{max(1, evidence.threshold)} verified by this process",
        ),
        holds(
            "approval_authorizes_cut",
            bool(evidence.authorizations) and not others,
            "; ".join(f"{other.document_id} {other.writer_digest} {other.change_set_id}" for other in others)
            or "this cut",
            f"{evidence.document_id} {evidence.planned_writer_digest} {evidence.change_set_id}",
        ),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadBack:
    """The rows that a new connection sees after COMMIT."""

    receipt_sealed: bool
    units: int
    units_created: int
    writer_digest: str
    approved_writer_digest: str


def read_back(evidence: ReadBack) -> GateReport:
    """transaction_committed: after COMMIT a fresh connection sees the receipt and exactly the approved rows."""
    return GateReport(
        gate=GATE,
        invariants=(
            equal(
                "transaction_committed",
                (evidence.receipt_sealed, evidence.units, evidence.writer_digest),
                (True, evidence.units_created, evidence.approved_writer_digest),
            ),
        ),
    )
