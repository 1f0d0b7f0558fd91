"""No invariant and no evidence is decorative: each field, set to a wrong value, makes its gate refuse by name."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cutter.gates.report import GateReport, equal, holds, shown
from tests.unit.gates import passing
from tests.unit.gates.passing import OTHER, PASSING, UNITS, N, unit

_NONE_LEFT: tuple[Any, ...] = ()

FLIPS: dict[str, dict[str, tuple[Any, str]]] = {
    "IG_source_pin": {
        "document_id": ("ICX-LAW-2", "manifest_digest_matches"),
        "source_document_id": (None, "source_document_exists"),
        "docprefix": (None, ""),
        "registered_uri": ("file:other.md", "source_uri_matches"),
        "requested_uri": ("file:other.md", "source_uri_matches"),
        "version": (None, "source_version_exists"),
        "snapshot": (b"# Other\n", "snapshot_matches_checksum"),
        "enacted_version_id": ("v0", "document_not_enacted"),
    },
    "IG_mark": {
        "snapshot": (b"# Other\n", "snapshot_matches_pin"),
        "content_sha256": (OTHER, "snapshot_matches_pin"),
        "marking": (passing.forged_marking(region_sha=OTHER), "region_sha_rebuilt"),
        "max_candidates": (N - 1, "rowset_size_in_bounds"),
    },
    "IG_cutplan": {
        "plan": (passing.forged_plan(rows=()), "exactly_n_rows"),
        "rebuilt_writer_digest": (OTHER, "writer_digest_stable"),
        "mark_digest": (OTHER, "mark_reproduced"),
        "pinned_mark_digest": (OTHER, "mark_reproduced"),
        "region_sha": (OTHER, "region_sha_reproduced"),
        "pinned_region_sha": (OTHER, "region_sha_reproduced"),
        "candidate_count": (N + 1, "exactly_n_rows"),
        "vocabulary": ({}, "vocabulary_complete"),
        "same_digest_runs": (("another run",), ""),
        "max_writes": (N - 1, "within_max_writes_per_run"),
    },
    "IG_backup": {
        "artifact_id": ("elsewhere.gpg", ""),
        "stored_sha256": (OTHER, "backup_target_reachable"),
        "backup_sha256": (OTHER, "backup_target_reachable"),
        "recorded_sha256": (OTHER, "backup_sha256_recorded"),
        "size_bytes": (0, "sidecar_json_written"),
        "taken_utc": ("", "sidecar_json_written"),
        "beside": (None, "sidecar_json_written"),
        "recipient": ("B" * 40, "gpg_fingerprint_pinned"),
        "pinned_recipient": ("B" * 40, "gpg_fingerprint_pinned"),
        "snapshot_fingerprint": ("f2", "restore_equals_snapshot"),
        "restored_fingerprint": ("f2", "restore_equals_snapshot"),
    },
    "IG_grant_probe": {
        "cells": (_NONE_LEFT, "exec_may_call_writers"),
        "grants_sha256": (OTHER, ""),
        "differences": (("one",), "matrix_as_declared"),
    },
    "IG_cut_leg_a_execute": {
        "authorizations": (_NONE_LEFT, "approval_resolves_to_signed_document"),
        "threshold": (2, "approval_resolves_to_signed_document"),
        "document_id": ("ICX-LAW-2", "approval_authorizes_cut"),
        "change_set_id": ("c2", "approval_authorizes_cut"),
        "pinned_writer_digest": (OTHER, "plan_reproduced"),
        "planned_writer_digest": (OTHER, "approval_authorizes_cut"),
        "stored_writer_digest": (OTHER, "stored_writer_digest"),
        "rows_before": (1, "g_cut_once"),
        "planned": (N + 1, "exactly_n_created"),
        "statuses": (_NONE_LEFT, "exactly_n_created"),
        "not_draft": (1, "zero_units_not_draft"),
        "opened_in": ("8", "transaction_unbroken"),
        "written_in": ("8", "transaction_unbroken"),
        "autocommit": (True, "transaction_unbroken"),
        "rehearsal": (True, ""),
    },
    "IG_cut_leg_a_execute after COMMIT": {
        "receipt_sealed": (False, "transaction_committed"),
        "units": (0, "transaction_committed"),
        "units_created": (N + 1, "transaction_committed"),
        "writer_digest": (OTHER, "transaction_committed"),
        "approved_writer_digest": (OTHER, "transaction_committed"),
    },
    "IG_structural_verify": {
        "docprefix": ("LAW2", "nothing_outside_prefix"),
        "units": (UNITS[:-1], "iu_count"),
        "version_count": (N + 1, "uv_count"),
        "plan": (passing.forged_plan(rows=passing.PLAN.rows[:-1]), "iu_count"),
        "section_type_cardinality": ({}, "section_type_cardinality"),
        "forbidden_ids": ((UNITS[1].address.rsplit("/", 1)[-1],), "no_forbidden_ids"),
    },
    "IG_leg_b_record": {
        "change_set_id": ("", "change_set_id_present_and_unique"),
        "manifest_envelope_id": ("", "envelope_and_signature_present"),
        "executor_signature_id": ("", "envelope_and_signature_present"),
        "rows_before": ({"cut_change_set": 1}, "g_leg_b_once"),
        "rows_after": ({}, "g_leg_b_once"),
        "change_sets": (2, "change_set_id_present_and_unique"),
        "units_in_blocks": (N - 1, "g_leg_b_once"),
        "units_affected": (N - 1, "g_leg_b_once"),
        "units": (N + 1, "g_leg_b_once"),
        "executor_tool_revision": ("cutter/1+verify", "lane_overlap_invariants"),
        "verifier_tool_revision": ("cutter/1+exec", "lane_overlap_invariants"),
        "verifier_signatures": (1, "lane_overlap_invariants"),
    },
    "IG_write_verify": {
        "principal": ("cutter_exec", "verifier_principal"),
        "holds_executor_dsn": (True, "executor_dsn_absent"),
        "executor_signature_good": (False, "executor_signature_verified"),
        "executor_fingerprint": ("F" * 40, "principals_differ"),
        "verifier_fingerprint": ("E" * 40, "principals_differ"),
        "executor_tool_revision": ("cutter/1+verify", "principals_differ"),
        "verifier_tool_revision": ("cutter/1+exec", "principals_differ"),
        "structural": (passing.BROKEN, "axis_1_round_trip"),
        "rebuilt_writer_digest": (OTHER, "writer_digest_rebuilt"),
        "stored_writer_digest": (OTHER, "writer_digest_stored"),
        "pinned_writer_digest": (OTHER, "writer_digest_rebuilt"),
        "affected_rows": (N - 1, "affected_rows_match"),
        "units": (N + 1, "affected_rows_match"),
        "results_before": (1, "g_verify_once"),
    },
    "IG_write_verify as recorded": {
        "results": (2, "g_verify_once"),
        "this_result": (0, "verify_result_inserted"),
        "verifier_signatures": (0, "verifier_signature_inserted"),
    },
    "IG_lifecycle_enact_execute": {
        "approvals": (_NONE_LEFT, "approval_resolves_to_signed_document"),
        "threshold": (2, "approval_resolves_to_signed_document"),
        "approved_review_decisions": (("r0",), "review_decision_matches"),
        "open_review_decision": ("r0", "review_decision_matches"),
        "consumed_review_decision": ("r0", "review_decision_matches"),
        "statuses": (_NONE_LEFT, "exactly_n_enacted"),
        "units": (N + 1, "exactly_n_enacted"),
        "not_enacted": (1, "zero_partial"),
        "log_rows": (N - 1, "lifecycle_log_rows"),
        "verdict": ("fail", "verify_result_passed"),
        "triggers": ({}, "immutability_triggers_enabled"),
        "opened_in": ("8", "single_transaction"),
        "written_in": ("8", "single_transaction"),
        "autocommit": (True, "single_transaction"),
    },
    "IG_closeout": {
        "documents": (passing.DOCUMENTS[1:], "kb_documents_uploaded"),
        "units_enacted": (N - 1, "units_enacted"),
        "units_planned": (N + 1, "units_enacted"),
        "receipts_sealed": (9, "receipts_sealed"),
        "approvals_consumed": (frozenset(), "approvals_consumed"),
        "audit_head": (OTHER, ""),
        "chain_intact": (False, "audit_chain_intact"),
        "bundle_id": ("another", ""),
        "bundle_sha256": (OTHER, "evidence_bundle_sealed"),
        "bundle_found_sha256": (OTHER, "evidence_bundle_sealed"),
        "history_sha256": (OTHER, ""),
    },
    "IG_closeout after COMMIT": {
        "run_id": ("another", "sidecar_finalized"),
        "sidecar_run_id": (None, "sidecar_finalized"),
        "sidecar_status": (None, "sidecar_finalized"),
        "index_line": (b"", "run_id_in_runs_index"),
        "index_line_found": (None, "run_id_in_runs_index"),
        "documents_waiting": (1, "kb_documents_complete"),
    },
}
"""Report → field of its evidence → (a wrong value, the invariant that must say so)."""

ONLY_SHOWN = {
    ("IG_source_pin", "docprefix"): "a pin; its column is NOT NULL and it enters every address",
    ("IG_cutplan", "same_digest_runs"): "a note for people: another run may plan the same rows",
    ("IG_backup", "artifact_id"): "a pin; its bytes are what is checked",
    ("IG_grant_probe", "grants_sha256"): "a pin; the cells are what is checked",
    ("IG_cut_leg_a_execute", "rehearsal"): "waives the approvals of what the database never commits",
    ("IG_closeout", "audit_head"): "a pin; the chain to it is what is checked",
    ("IG_closeout", "bundle_id"): "a pin; its bytes are what is checked",
    ("IG_closeout", "history_sha256"): "a pin: Temporal is not believed, its history is only kept",
}

CASES = [
    (report, field, wrong, name)
    for report, fields in FLIPS.items()
    for field, (wrong, name) in fields.items()
    if (report, field) not in ONLY_SHOWN
]

INSIDE: list[tuple[str, str, Any, str]] = [
    ("IG_mark", "marking", passing.forged_marking(candidates=passing.MARKING.candidates[:-1]), "partition_proven"),
    ("IG_source_pin", "snapshot", b"", "snapshot_size_in_bounds"),
    ("IG_source_pin", "snapshot", b"\xff", "snapshot_is_utf8"),
    ("IG_source_pin", "snapshot", "e\u0301".encode(), "snapshot_is_nfc"),
    ("IG_cutplan", "plan", passing.forged_plan(rows=passing.PLAN.rows[:1] * N), "addresses_distinct"),
    ("IG_cutplan", "plan", passing.forged_plan(rows=passing.PLAN.rows[:1] * N), "idempotency_keys_distinct"),
    ("IG_grant_probe", "cells", (), "verify_may_record"),
    ("IG_grant_probe", "cells", (), "directus_may_read_decisions"),
    ("IG_grant_probe", "cells", (*passing.CELLS, ("PUBLIC", "x", "EXECUTE", True)), "no_public_execute"),
    ("IG_structural_verify", "units", unit(address=UNITS[0].address), "distinct_addresses"),
    ("IG_structural_verify", "units", unit(content_hash=OTHER), "content_hashes_match_plan"),
    ("IG_structural_verify", "units", unit(body="other"), "bodies_match_plan"),
    ("IG_structural_verify", "units", unit(anchors_agree=False), "anchors_exact"),
    ("IG_structural_verify", "units", unit(version_seq=2), "versions_first"),
    ("IG_structural_verify", "units", unit(section_type="appendix"), "section_type_cardinality"),
    ("IG_structural_verify", "units", unit(lifecycle="enacted"), "all_draft"),
    ("IG_structural_verify", "units", unit(version_lifecycle="enacted"), "all_draft"),
    ("IG_structural_verify", "units", unit(parent_address=None), "parents_match_plan"),
    ("IG_structural_verify", "units", unit(address="OTHER/X"), "nothing_outside_prefix"),
]
"""Fields with parts of their own: one flip for each further invariant that looks into them."""


WORDS = {"IG_mark": {"preview"}}
"""Fields that only word a refusal: no invariant judges them."""


def flipped(report: str, field: str, wrong: Any) -> GateReport:
    evidence, evaluate = PASSING[report]
    return evaluate(dataclasses.replace(evidence, **{field: wrong}))


@pytest.mark.parametrize("report", sorted(PASSING))
def test_the_evidence_passes_before_anything_is_flipped(report: str) -> None:
    evidence, evaluate = PASSING[report]
    assert evaluate(evidence).passed, evaluate(evidence).reason()


@pytest.mark.parametrize("report", sorted(PASSING))
def test_every_field_of_the_evidence_has_a_flip(report: str) -> None:
    evidence, _ = PASSING[report]
    judged = {field.name for field in dataclasses.fields(evidence)} - WORDS.get(report, set())
    assert set(FLIPS[report]) == judged


@pytest.mark.parametrize(("report", "field", "wrong", "name"), [*CASES, *INSIDE])
def test_a_wrong_value_in_one_field_refuses_by_name(report: str, field: str, wrong: Any, name: str) -> None:
    """Seed 000 §4."""
    answer = flipped(report, field, wrong)
    assert not answer.passed
    assert name in {item.name for item in answer.violations}, answer.reason()


@pytest.mark.parametrize(("report", "field"), sorted(ONLY_SHOWN))
def test_what_is_only_shown_is_shown_and_refuses_nothing(report: str, field: str) -> None:
    answer = flipped(report, field, FLIPS[report][field][0])
    assert answer.passed
    before = PASSING[report][1](PASSING[report][0])
    assert (answer.pins, answer.notes, answer.invariants) != (before.pins, before.notes, before.invariants)


def test_every_invariant_of_every_gate_is_named_by_a_flip() -> None:
    named = {name for *_, name in (*CASES, *INSIDE)} | {"text_can_be_marked"}
    seen = {item.name for evidence, evaluate in PASSING.values() for item in evaluate(evidence).invariants}
    assert seen - named == set()


@given(st.sampled_from(sorted(FLIPS)), st.data())
def test_however_many_fields_are_wrong_the_gate_refuses(report: str, data: st.DataObject) -> None:
    """At most one wrong value for each invariant, since two could agree with each other. Seed 000 §4."""
    mine = [(field, wrong, name) for one, field, wrong, name in CASES if one == report]
    chosen = data.draw(st.lists(st.sampled_from(mine), min_size=1, unique_by=lambda case: case[2]))
    evidence, evaluate = PASSING[report]
    answer = evaluate(dataclasses.replace(evidence, **{field: wrong for field, wrong, _ in chosen}))
    assert not answer.passed
    assert answer.reason().startswith(answer.violations[0].name)
    assert all(len(item.observed) <= 120 and len(item.expected) <= 120 for item in answer.invariants)


def test_an_empty_report_refuses() -> None:
    """Seed 000 §4."""
    report = GateReport(gate="IG_mark", invariants=())
    assert not report.passed
    assert report.reason() == "IG_mark: nothing was checked"


def test_one_false_invariant_among_true_ones_refuses() -> None:
    """Seed 000 §4."""
    good = equal("a", 1, 1)
    assert not GateReport(gate="g", invariants=(good, holds("b", False, "seen", "wanted"), good)).passed


def test_two_missing_values_are_not_equal() -> None:
    assert not equal("digest", None, None).ok


@given(st.text(max_size=300))
def test_what_is_shown_has_at_most_120_characters(text: str) -> None:
    assert len(shown(text)) <= 120
    assert text.startswith(shown(text).removesuffix("...")) or len(text) <= 120
