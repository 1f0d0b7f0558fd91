"""Pure: the tables of which a backup holds the rows of one document."""

from __future__ import annotations

TABLES: tuple[str, ...] = (
    "cutter_governance.cut_change_set",
    "cutter_governance.cut_change_set_affected_row",
    "cutter_governance.dot_pair_signature",
    "cutter_governance.manifest_envelope",
    "cutter_governance.manifest_unit_block",
    "cutter_governance.review_decision",
    "cutter_governance.revision_row",
    "public.enactment",
    "public.information_unit",
    "public.iu_lifecycle_log",
    "public.unit_version",
)
"""The nine tables of the mutation surface, and two on which enacted law depends: `enactment` chains the versions of a
law, and `revision_row` is the plan of a revision. No other module lists them."""
