"""Pure: IG_lifecycle_enact_execute: all units enacted in one transaction (seed 000 §4)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from cutter.gates.report import GateReport, Invariant, equal, holds

GATE = "IG_lifecycle_enact_execute"

TRIGGERS = {
    "information_unit.trg_iu_enacted_immut": "O",
    "unit_version.trg_uv_enacted_immut": "O",
    "information_unit.trg_iu_enacted_immut_always": "A",
    "unit_version.trg_uv_enacted_immut_always": "A",
}
"""The two triggers that the seed names, enabled 'O', and their twins that replica mode does not skip."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """The approvals, the functions' answers, and what was counted in the same transaction after them.

    `approved_review_decisions` are in the signed documents, one a slot; `open_review_decision` was made with the
    request, `consumed_review_decision` with the approval's use.
    """

    approvals: tuple[str, ...]
    threshold: int
    approved_review_decisions: tuple[str | None, ...]
    open_review_decision: str
    consumed_review_decision: str
    statuses: tuple[str, ...]
    units: int
    not_enacted: int
    log_rows: int
    verdict: str
    triggers: Mapping[str, str]
    opened_in: str
    written_in: str
    autocommit: bool
    retired: int = 0
    """Units that a revision repeals; `units` are those that it begins."""


def evaluate(evidence: Evidence) -> GateReport:
    """Refuses unless all of these hold (seed 000 §4, in its words where it has them):

    - approval_resolves_to_signed_document: one verified by this process for each slot (ours)
    - review_decision_matches: review_decision_id matches the SG_2 approval document
    - verify_result_passed: the cut was verified by the other principal (ours)
    - exactly_n_enacted: fn_iu_enact called exactly N times, all N return status='enacted'; a repealed unit 'retired'
    - single_transaction: in a single transaction
    - zero_partial: 0 partial, of units and of their versions
    - lifecycle_log_rows: iu_lifecycle_log row count == N
    - immutability_triggers_enabled: trg_iu_enacted_immut and trg_uv_enacted_immut both enabled 'O', their twins 'A'
    """
    enacted = Counter(evidence.statuses)
    decision = evidence.open_review_decision
    decisions = {*evidence.approved_review_decisions, evidence.consumed_review_decision}
    statuses = {"enacted": evidence.units, "retired": evidence.retired}
    return GateReport(
        gate=GATE,
        invariants=(
            holds(
                "approval_resolves_to_signed_document",
                len(set(evidence.approvals)) >= max(1, evidence.threshold),
                f"{len(set(evidence.approvals))} approvals",
                f"{max(1, evidence.threshold)} verified by this process",
            ),
            holds(
                "review_decision_matches",
                bool(decision) and bool(evidence.approved_review_decisions) and decisions == {decision},
                f"approved {', '.join(map(str, evidence.approved_review_decisions)) or 'none'}, "
                f"used {evidence.consumed_review_decision or 'none'}",
                decision or "a review decision",
            ),
            equal("verify_result_passed", evidence.verdict, "pass"),
            equal("exactly_n_enacted", dict(enacted), {name: count for name, count in statuses.items() if count}),
            holds(
                "single_transaction",
                bool(evidence.opened_in) and evidence.opened_in == evidence.written_in and not evidence.autocommit,
                f"{evidence.written_in or 'none'}{', autocommit' if evidence.autocommit else ''}",
                evidence.opened_in or "the id of a transaction",
            ),
            equal("zero_partial", evidence.not_enacted, 0),
            equal("lifecycle_log_rows", evidence.log_rows, evidence.units + evidence.retired),
            _triggers(evidence.triggers),
        ),
        pins={"units_enacted": enacted["enacted"], "review_decision_id": decision},
    )


def _triggers(states: Mapping[str, str]) -> Invariant:
    wrong = {name: states.get(name, "missing") for name, state in TRIGGERS.items() if states.get(name) != state}
    return holds(
        "immutability_triggers_enabled",
        dict(states) == TRIGGERS,
        ", ".join(f"{name} {state}" for name, state in wrong.items()) or f"{len(states)} enabled",
        "two enabled 'O', their twins 'A'",
    )
