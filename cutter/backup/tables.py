"""Pure: the nine tables of the mutation surface that a backup holds (facts-domain, "the nine backup tables")."""

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
