"""Pure: IG_leg_b_record: the governance rows of one cut, once (seed 000 §4)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from cutter.gates.report import GateReport, holds

GATE = "IG_leg_b_record"

SINGLE = (
    "decision_backlog_entry", "decision_backlog_history", "manifest_envelope", "review_decision",
    "dot_pair_signature", "cut_change_set",
)  # fmt: skip
PER_UNIT = ("manifest_unit_block", "cut_change_set_affected_row")
"""Tables of leg B: one row a change set, and one row a unit of it: 2N + 6 (facts-domain "leg B count")."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """Rows of the change set by table before and after, counted in the gate's own transaction.

    `change_sets` counts the rows with this change_set_id, `units_in_blocks` and `units_affected` distinct units. Each
    of the `units` has a block, and each of the `changing` ones an affected row; a first cut changes all of its units.
    """

    change_set_id: str
    manifest_envelope_id: str
    executor_signature_id: str
    rows_before: Mapping[str, int]
    rows_after: Mapping[str, int]
    change_sets: int
    units_in_blocks: int
    units_affected: int
    units: int
    changing: int
    executor_tool_revision: str
    verifier_tool_revision: str
    verifier_signatures: int


def evaluate(evidence: Evidence) -> GateReport:
    """Refuses unless all of these hold (seed 000 §4, in its words where it has them):

    - change_set_id_present_and_unique: change_set_id present and unique
    - envelope_and_signature_present: manifest_envelope_id and executor_signature_id present, with their rows
    - g_leg_b_once: count(rows for change_set_id) == expected, no duplicates; none existed before
    - lane_overlap_invariants: the executor signs the change set only, nobody has verified, the revisions differ
    """
    changes = dict(zip(PER_UNIT, (evidence.units, evidence.changing), strict=True))
    after, expected = evidence.rows_after, {**dict.fromkeys(SINGLE, 1), **changes}
    distinct = (evidence.units_in_blocks, evidence.units_affected)
    return GateReport(
        gate=GATE,
        invariants=(
            holds(
                "change_set_id_present_and_unique",
                bool(evidence.change_set_id) and evidence.change_sets == 1,
                f"{evidence.change_sets} with {evidence.change_set_id or 'no id'}",
                "exactly one",
            ),
            holds(
                "envelope_and_signature_present",
                bool(evidence.manifest_envelope_id and evidence.executor_signature_id)
                and after.get("manifest_envelope") == after.get("dot_pair_signature") == 1,
                f"{evidence.manifest_envelope_id or 'none'}, {evidence.executor_signature_id or 'none'}",
                "both, with one row each",
            ),
            holds(
                "g_leg_b_once",
                sum(evidence.rows_before.values()) == 0
                and dict(after) == expected
                and distinct == (evidence.units, evidence.changing),
                f"before {sum(evidence.rows_before.values())}, after {sum(after.values())}, distinct units {distinct}",
                f"before 0, after {sum(expected.values())}, each unit once",
            ),
            holds(
                "lane_overlap_invariants",
                after.get("dot_pair_signature") == 1
                and evidence.verifier_signatures == 0
                and bool(evidence.executor_tool_revision)
                and evidence.executor_tool_revision != evidence.verifier_tool_revision,
                f"{evidence.executor_tool_revision} / {evidence.verifier_tool_revision}, "
                f"{evidence.verifier_signatures} verifier signatures",
                "the executor signs the change set only, revisions differ",
            ),
        ),
        pins={
            "change_set_id": evidence.change_set_id,
            "manifest_envelope_id": evidence.manifest_envelope_id,
            "executor_signature_id": evidence.executor_signature_id,
            "leg_b_rows": sum(after.values()),
        },
    )
