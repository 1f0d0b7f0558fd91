"""Pure: the tables of a backup: the nine of the mutation surface (facts-domain, "the nine backup tables"), and two more
for a segment.
"""

from __future__ import annotations

BACKUP_TABLES: tuple[str, ...] = (
    "cutter_governance.cut_change_set",
    "cutter_governance.cut_change_set_affected_row",
    "cutter_governance.dot_pair_signature",
    "cutter_governance.manifest_envelope",
    "cutter_governance.manifest_unit_block",
    "cutter_governance.review_decision",
    "public.information_unit",
    "public.iu_lifecycle_log",
    "public.unit_version",
)
"""The nine tables with their schemas, in the order of the fingerprint. No other module lists them."""

SEGMENT_TABLES: tuple[str, ...] = tuple(sorted((*BACKUP_TABLES, "cutter_governance.revision_row", "public.enactment")))
"""The tables of a segment: the nine, and two on which enacted law depends. `enactment` chains the versions of a law.
`revision_row` is the plan of a revision."""
