"""Pure: the result of a gate's evaluation, and the names of the seed for it. A refusal is a value, and an empty report
refuses.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Invariant:
    """One named check of seed 000 §4: the value seen and the value expected, both short and without law text."""

    name: str
    ok: bool
    observed: str
    expected: str

    def as_json(self) -> dict[str, Any]:
        return {"name": self.name, "ok": self.ok, "observed": self.observed, "expected": self.expected}


@dataclass(frozen=True, slots=True, kw_only=True)
class GateReport:
    """Every invariant of one gate, and the pins that later gates read from the receipt."""

    gate: str
    invariants: tuple[Invariant, ...]
    pins: Mapping[str, Any] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    @property
    def passed(self) -> bool:
        """True if there is at least one invariant and none is false."""
        return bool(self.invariants) and all(item.ok for item in self.invariants)

    @property
    def violations(self) -> tuple[Invariant, ...]:
        return tuple(item for item in self.invariants if not item.ok)

    def reason(self) -> str:
        """One sentence that names the first violated invariant."""
        if not self.invariants:
            return f"{self.gate}: nothing was checked"
        if self.passed:
            return f"{self.gate}: passed"
        first = self.violations[0]
        more = f" (and {len(self.violations) - 1} more)" if len(self.violations) > 1 else ""
        return f"{first.name}: observed {first.observed}, expected {first.expected}{more}"

    def as_json(self) -> dict[str, Any]:
        """The part that is sealed: invariants, pins and notes. It holds only ids, counts and digests."""
        return {
            "gate": self.gate,
            "invariants": [item.as_json() for item in self.invariants],
            "pins": dict(self.pins),
            "notes": list(self.notes),
        }


def equal(name: str, observed: object, expected: object) -> Invariant:
    """An invariant that holds if both values are equal and not None."""
    return Invariant(
        name=name, ok=observed is not None and observed == expected, observed=shown(observed), expected=shown(expected)
    )


def holds(name: str, ok: bool, observed: object, expected: object) -> Invariant:
    """An invariant that holds if `ok` is true, for checks that compare no two values."""
    return Invariant(name=name, ok=bool(ok), observed=shown(observed), expected=shown(expected))


def shown(value: object) -> str:
    """A value in at most 120 characters."""
    text = str(value)
    return text if len(text) <= 120 else text[:117] + "..."


OURS: Mapping[str, frozenset[str]] = {
    gate: frozenset(names.split())
    for gate, names in {
        "IG_source_pin": "snapshot_matches_checksum source_uri_matches snapshot_size_in_bounds snapshot_is_utf8"
        " snapshot_is_nfc change_has_its_base takes_effect_in_order",
        "IG_mark": "snapshot_matches_pin text_can_be_marked partition_proven red_findings_accepted",
        "IG_cutplan": "mark_reproduced region_sha_reproduced addresses_distinct within_max_writes_per_run"
        " revision_changes_law",
        "IG_backup": "restore_equals_snapshot restore_point_marked restore_point_recorded",
        "IG_grant_probe": "matrix_as_declared",
        "IG_cut_leg_a_execute": "plan_reproduced g_cut_once stored_writer_digest",
        "IG_structural_verify": "parents_match_plan revision_rows_match_plan",
        "IG_leg_b_record": "",
        "IG_write_verify": "executor_dsn_absent executor_signature_verified principals_differ axis_1_round_trip"
        " writer_digest_rebuilt writer_digest_stored affected_rows_match",
        "IG_lifecycle_enact_execute": "approval_resolves_to_signed_document verify_result_passed",
        "IG_closeout": "units_enacted receipts_sealed approvals_consumed audit_chain_intact evidence_bundle_sealed",
    }.items()
}
"""The invariants of each of the seed's gates that seed 000 §4 does not list. docs/reference/invariants.md marks them
*ours*. A gate that no seed has needs no entry, because all its invariants are ours."""

PROBED = "IG_structural_verify"
"""The gate whose invariants are the probe of the seed."""

PROBE: Mapping[str, tuple[str, ...]] = {
    "OD-W2": ("iu_count", "uv_count"),
    "OD-W3": ("parents_match_plan",),
    "OD-W4": ("distinct_addresses", "nothing_outside_prefix"),
    "OD-W5": ("anchors_exact", "versions_first"),
    "OD-W6": ("section_type_cardinality",),
    "OD-W7": ("all_draft",),
    "OD-W8": ("no_forbidden_ids",),
    "OD-W9": ("content_hashes_match_plan", "bodies_match_plan"),
}
"""The seed's number → our names in IG_structural_verify: the eleven booleans, and for OD-W3 the one that we added."""

PROBE_RULES: Mapping[str, str] = {
    "OD-W2": "each row is one law unit with one version",
    "OD-W3": "each unit has its parent",
    "OD-W4": "addresses are those of the plan",
    "OD-W5": "a second write would show: one anchor and one first version a unit",
    "OD-W6": "section types are of the vocabulary, as many as planned",
    "OD-W7": "nothing is more than a draft yet",
    "OD-W8": "no forbidden id came in",
    "OD-W9": "title and body are the law's own",
}


def parted(gate: str, invariants: Iterable[tuple[str, bool]]) -> tuple[dict[str, bool], dict[str, bool]]:
    """(What the seed lists, our additions) of a gate's invariants, each by name."""
    ours = OURS.get(gate)
    seeds: dict[str, bool] = {}
    added: dict[str, bool] = {}
    for name, ok in invariants:
        (added if ours is None or name in ours else seeds)[name] = ok
    return seeds, added


def probe_lines() -> tuple[str, ...]:
    """One line a number of the seed, for the report of IG_structural_verify."""
    return tuple(f"{number} ({PROBE_RULES[number]}): {', '.join(names)}" for number, names in PROBE.items())
