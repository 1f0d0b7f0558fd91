"""Gates 1 to 5 and 7: each invariant of seed 000 §4 by name, passing and violated."""

from __future__ import annotations

import dataclasses
import unicodedata
from datetime import date
from typing import Any

import pytest

from cutter import limits
from cutter.domain.digests import sha256_hex
from cutter.domain.restore_point import RestorePoint
from cutter.gates import backup, cutplan, grant_probe, mark, source_pin, structural_verify
from cutter.marking import Finding, MarkRefusal
from cutter.marking.revision import UnitInForce, plan_revision
from tests.unit.gates import passing
from tests.unit.gates.passing import (
    BACKUP,
    BACKUP_WITH_POINT,
    CUTPLAN,
    GRANT_PROBE,
    IN_FORCE,
    LAW_IN_FORCE,
    MARK,
    MARKING,
    NOTHING_NEW,
    OTHER,
    PLAN,
    REVISION,
    SOURCE_PIN,
    STORED_REVISION,
    STRUCTURAL_VERIFY,
    TEXT,
    UNITS,
    N,
    assert_holds,
    assert_refuses,
    unit,
    without,
)

# --- IG_source_pin ----------------------------------------------------------------------------------------------------


def test_source_document_exists_holds() -> None:
    assert_holds(SOURCE_PIN, "source_document_exists")


def test_source_document_exists_violated_when_there_is_no_row() -> None:
    """Seed 000 §4."""
    assert_refuses(SOURCE_PIN, "source_document_exists", source_document_id=None, version=None)


def test_source_version_exists_holds() -> None:
    assert_holds(SOURCE_PIN, "source_version_exists")


def test_source_version_exists_violated_when_no_version_is_registered() -> None:
    """Seed 000 §4."""
    assert_refuses(SOURCE_PIN, "source_version_exists", version=None)


def test_manifest_digest_matches_holds() -> None:
    assert_holds(SOURCE_PIN, "manifest_digest_matches")


def test_manifest_digest_matches_violated_when_the_pinned_one_differs() -> None:
    """Seed 000 §4."""
    wrong = dataclasses.replace(SOURCE_PIN.version, manifest_digest=OTHER)  # type: ignore[type-var]
    assert_refuses(SOURCE_PIN, "manifest_digest_matches", version=wrong)


def test_a_manifest_digest_that_is_not_pinned_is_recorded_as_computed() -> None:
    """Seed 000 §4."""
    report = source_pin.evaluate(dataclasses.replace(SOURCE_PIN, version=passing.VERSION))
    assert report.passed
    assert report.pins["manifest_digest"] == source_pin.manifest_digest("ICX-LAW-1", passing.VERSION)


def test_snapshot_matches_checksum_holds() -> None:
    assert_holds(SOURCE_PIN, "snapshot_matches_checksum")


def test_snapshot_matches_checksum_violated_when_the_stored_bytes_are_others() -> None:
    assert_refuses(SOURCE_PIN, "snapshot_matches_checksum", snapshot=TEXT + b"more\n")


@pytest.mark.parametrize("asked", ["file:law.md", None])
def test_source_uri_matches_holds(asked: str | None) -> None:
    assert_holds(SOURCE_PIN, "source_uri_matches", requested_uri=asked)


def test_source_uri_matches_violated_when_another_one_is_asked_for() -> None:
    assert_refuses(SOURCE_PIN, "source_uri_matches", requested_uri="https://elsewhere.example/law.md")


def test_snapshot_size_in_bounds_holds() -> None:
    assert_holds(SOURCE_PIN, "snapshot_size_in_bounds")


@pytest.mark.parametrize("snapshot", [b"", b"x" * (limits.SOURCE_BYTES_MAX + 1)])
def test_snapshot_size_in_bounds_violated_when_empty_or_too_large(snapshot: bytes) -> None:
    assert_refuses(SOURCE_PIN, "snapshot_size_in_bounds", snapshot=snapshot)


def test_snapshot_is_utf8_holds() -> None:
    assert_holds(SOURCE_PIN, "snapshot_is_utf8")


def test_snapshot_is_utf8_violated_when_a_byte_is_not_and_the_line_is_named() -> None:
    assert_refuses(SOURCE_PIN, "snapshot_is_utf8", snapshot=b"# A\n\n\xff\n")
    report = source_pin.evaluate(dataclasses.replace(SOURCE_PIN, snapshot=b"# A\n\n\xff\n"))
    assert "line 3" in next(item.observed for item in report.violations if item.name == "snapshot_is_utf8")


def test_snapshot_is_nfc_holds() -> None:
    assert_holds(SOURCE_PIN, "snapshot_is_nfc")


def test_snapshot_is_nfc_violated_when_a_line_is_decomposed() -> None:
    snapshot = unicodedata.normalize("NFD", "# Điều 1\n\nLuật này\n").encode()
    assert_refuses(SOURCE_PIN, "snapshot_is_nfc", snapshot=snapshot)
    assert source_pin.first_line_not_nfc("ok\ne\u0301\n") == 2


def changed(**change: Any) -> source_pin.SourceVersion:
    """The version of the evidence that passes, as another change of the law."""
    version = SOURCE_PIN.version
    assert version is not None
    return dataclasses.replace(version, manifest_digest=None, **change)


@pytest.mark.parametrize(("kind", "base"), [("text", None), ("text", IN_FORCE), ("correction", IN_FORCE)])
def test_change_has_its_base_holds(kind: str, base: source_pin.Base | None) -> None:
    assert_holds(SOURCE_PIN, "change_has_its_base", version=changed(change_kind=kind), base=base)


@pytest.mark.parametrize("kind", ["correction", "repeal"])
def test_change_has_its_base_violated_when_nothing_is_enacted(kind: str) -> None:
    report = source_pin.evaluate(dataclasses.replace(SOURCE_PIN, version=changed(change_kind=kind)))
    assert "change_has_its_base" in {item.name for item in report.violations}


@pytest.mark.parametrize(
    ("kind", "day"), [("text", None), ("text", date(2026, 11, 1)), ("text", date(2027, 1, 1)), ("correction", None)]
)
def test_takes_effect_in_order_holds(kind: str, day: date | None) -> None:
    version = changed(change_kind=kind, effective_from=day)
    assert_holds(SOURCE_PIN, "takes_effect_in_order", version=version, base=IN_FORCE)


@pytest.mark.parametrize(("day", "today"), [(date(2026, 10, 31), date(2026, 11, 21)), (None, date(2026, 10, 31))])
def test_takes_effect_in_order_violated_when_the_law_in_force_begins_later(day: date | None, today: date) -> None:
    version = changed(effective_from=day)
    assert_refuses(SOURCE_PIN, "takes_effect_in_order", version=version, base=IN_FORCE, today=today)


def test_a_repeal_has_no_text() -> None:
    empty = changed(change_kind="repeal", change_reason="no use", size_bytes=0, content_checksum=sha256_hex(b""))
    assert_holds(SOURCE_PIN, "snapshot_size_in_bounds", version=empty, snapshot=b"", base=IN_FORCE)
    report = source_pin.evaluate(dataclasses.replace(SOURCE_PIN, version=empty, base=IN_FORCE))
    assert "snapshot_size_in_bounds" in {item.name for item in report.violations}


def test_the_pins_name_the_base_and_a_first_cut_names_none() -> None:
    report = source_pin.evaluate(dataclasses.replace(SOURCE_PIN, base=IN_FORCE))
    assert report.pins["operation_kind"] == "revision"
    assert (report.pins["base_run_id"], report.pins["base_receipt_hash"]) == (IN_FORCE.run_id, IN_FORCE.receipt_hash)
    assert not [name for name in source_pin.evaluate(SOURCE_PIN).pins if name.startswith(("base", "operation"))]


def test_the_manifest_digest_binds_the_effective_day_and_the_reason() -> None:
    versions = (
        changed(), changed(effective_from=date(2027, 1, 1)),
        changed(change_kind="correction", change_reason="a"), changed(change_kind="correction", change_reason="b"),
    )  # fmt: skip
    assert len({source_pin.manifest_digest("ICX-LAW-1", version) for version in versions}) == 4


# --- IG_mark ----------------------------------------------------------------------------------------------------------


def test_snapshot_matches_pin_holds() -> None:
    assert_holds(MARK, "snapshot_matches_pin")


def test_snapshot_matches_pin_violated_when_the_pin_is_another() -> None:
    assert_refuses(MARK, "snapshot_matches_pin", content_sha256=OTHER)


def test_text_can_be_marked_holds() -> None:
    assert_holds(MARK, "text_can_be_marked")


def test_text_can_be_marked_violated_when_the_profile_refuses_it() -> None:
    refusal = MarkRefusal(code="no_candidates", line=3, message="line 3: nothing to cut")
    assert_refuses(MARK, "text_can_be_marked", marking=refusal)
    assert mark.evaluate(dataclasses.replace(MARK, marking=refusal)).notes == ("line 3: nothing to cut",)


def test_a_refused_text_names_the_command_that_shows_it_by_the_same_profile() -> None:
    refusal = MarkRefusal(code="no_candidates", line=3, message="line 3: nothing to cut")
    preview = "cutter mark FILE --profile vietnamese-law --empty heading_only"
    report = mark.evaluate(dataclasses.replace(MARK, marking=refusal, preview=preview))
    assert f"no_candidates, line 3: see `{preview}`" in report.reason()


def test_region_sha_rebuilt_holds() -> None:
    assert_holds(MARK, "region_sha_rebuilt")


def test_region_sha_rebuilt_violated_when_the_recorded_one_is_another() -> None:
    """Seed 000 §4."""
    assert_refuses(MARK, "region_sha_rebuilt", marking=passing.forged_marking(region_sha=OTHER))


@pytest.mark.parametrize("limit", [N, N + 1])
def test_rowset_size_in_bounds_holds(limit: int) -> None:
    assert_holds(MARK, "rowset_size_in_bounds", max_candidates=limit)


def test_rowset_size_in_bounds_violated_when_there_are_more_than_the_limit() -> None:
    """Seed 000 §4."""
    assert_refuses(MARK, "rowset_size_in_bounds", max_candidates=N - 1)


def test_rowset_size_in_bounds_violated_when_there_is_no_candidate() -> None:
    """Seed 000 §4."""
    assert_refuses(MARK, "rowset_size_in_bounds", marking=passing.forged_marking(candidates=()))


def test_partition_proven_holds() -> None:
    assert_holds(MARK, "partition_proven")


def test_partition_proven_violated_when_a_part_is_missing() -> None:
    assert_refuses(MARK, "partition_proven", marking=passing.forged_marking(candidates=MARKING.candidates[:-1]))


RED = Finding(code="giant_unit", line=3, message="line 3: too large", address="LAW/CHAPTER-1", severity="red")


def test_red_findings_accepted_holds() -> None:
    assert_holds(MARK, "red_findings_accepted")
    accepted = passing.forged_marking(findings=(RED,), accepted=((RED.name, "read in the source"),))
    assert_holds(MARK, "red_findings_accepted", marking=accepted)


@pytest.mark.parametrize("accepted", [(), (("giant_unit:LAW/CHAPTER-2", "another"),), (("giant_unit", "no place"),)])
def test_red_findings_accepted_violated_when_one_waits(accepted: tuple[tuple[str, str], ...]) -> None:
    """A marking that was made by another way than `mark` does not pass the gate either."""
    forged = passing.forged_marking(findings=(RED,), accepted=accepted)
    assert_refuses(MARK, "red_findings_accepted", marking=forged)


# --- IG_cutplan -------------------------------------------------------------------------------------------------------


def test_mark_reproduced_holds() -> None:
    assert_holds(CUTPLAN, "mark_reproduced")


def test_mark_reproduced_violated_when_marking_gives_something_else_now() -> None:
    assert_refuses(CUTPLAN, "mark_reproduced", mark_digest=OTHER)


def test_region_sha_reproduced_holds() -> None:
    assert_holds(CUTPLAN, "region_sha_reproduced")


def test_region_sha_reproduced_violated_when_the_region_is_another_now() -> None:
    assert_refuses(CUTPLAN, "region_sha_reproduced", region_sha=OTHER)


def test_writer_digest_stable_holds() -> None:
    assert_holds(CUTPLAN, "writer_digest_stable")


def test_writer_digest_stable_violated_when_the_second_build_differs() -> None:
    """Seed 000 §4."""
    assert_refuses(CUTPLAN, "writer_digest_stable", rebuilt_writer_digest=OTHER)


def test_exactly_n_rows_holds() -> None:
    assert_holds(CUTPLAN, "exactly_n_rows")


def test_exactly_n_rows_violated_when_a_row_is_missing() -> None:
    """Seed 000 §4."""
    assert_refuses(CUTPLAN, "exactly_n_rows", plan=passing.forged_plan(rows=PLAN.rows[1:]))


def test_vocabulary_complete_holds() -> None:
    assert_holds(CUTPLAN, "vocabulary_complete")


@pytest.mark.parametrize("family", ["unit_kind", "section_type", "owner", "publication_type"])
def test_vocabulary_complete_violated_when_a_word_is_unknown(family: str) -> None:
    """Seed 000 §4."""
    published = tuple(dataclasses.replace(row, publication_type="law") for row in PLAN.rows)
    vocabulary = {**CUTPLAN.vocabulary, family: frozenset({"other"})}
    plan = passing.forged_plan(rows=published)
    assert_refuses(CUTPLAN, "vocabulary_complete", vocabulary=vocabulary, plan=plan)


def test_vocabulary_complete_violated_when_a_family_is_empty() -> None:
    """Seed 000 §4."""
    assert_refuses(CUTPLAN, "vocabulary_complete", vocabulary={})


def test_idempotency_keys_distinct_holds() -> None:
    assert_holds(CUTPLAN, "idempotency_keys_distinct")


def test_idempotency_keys_distinct_violated_when_two_rows_share_one() -> None:
    """Seed 000 §4."""
    rows = (PLAN.rows[0], dataclasses.replace(PLAN.rows[1], idempotency_key=PLAN.rows[0].idempotency_key), PLAN.rows[2])
    assert_refuses(CUTPLAN, "idempotency_keys_distinct", plan=passing.forged_plan(rows=rows))


def test_addresses_distinct_holds() -> None:
    assert_holds(CUTPLAN, "addresses_distinct")


def test_addresses_distinct_violated_when_two_rows_share_one() -> None:
    rows = (PLAN.rows[0], dataclasses.replace(PLAN.rows[1], address=PLAN.rows[0].address), PLAN.rows[2])
    assert_refuses(CUTPLAN, "addresses_distinct", plan=passing.forged_plan(rows=rows))


@pytest.mark.parametrize("most", [None, passing.N, passing.N + 1])
def test_within_max_writes_per_run_holds(most: int | None) -> None:
    assert_holds(dataclasses.replace(CUTPLAN, max_writes=most), "within_max_writes_per_run")


def test_within_max_writes_per_run_violated_when_the_tenant_may_write_one_less() -> None:
    assert_refuses(CUTPLAN, "within_max_writes_per_run", max_writes=passing.N - 1)


# --- IG_backup --------------------------------------------------------------------------------------------------------


def test_backup_target_reachable_holds() -> None:
    assert_holds(BACKUP, "backup_target_reachable")


@pytest.mark.parametrize("stored", ["", OTHER])
def test_backup_target_reachable_violated_when_it_gives_back_nothing_or_something_else(stored: str) -> None:
    """Seed 000 §4."""
    assert_refuses(BACKUP, "backup_target_reachable", stored_sha256=stored)


def test_gpg_fingerprint_pinned_holds() -> None:
    assert_holds(BACKUP, "gpg_fingerprint_pinned")


def test_gpg_fingerprint_pinned_violated_when_it_is_encrypted_for_another_key() -> None:
    """Seed 000 §4."""
    assert_refuses(BACKUP, "gpg_fingerprint_pinned", recipient="B" * 40)


def test_gpg_fingerprint_pinned_violated_when_no_key_is_pinned() -> None:
    """Seed 000 §4."""
    assert_refuses(BACKUP, "gpg_fingerprint_pinned", recipient="", pinned_recipient="")


def test_backup_sha256_recorded_holds() -> None:
    assert_holds(BACKUP, "backup_sha256_recorded")


@pytest.mark.parametrize("recorded", ["", OTHER])
def test_backup_sha256_recorded_violated_when_nothing_or_another_is_recorded(recorded: str) -> None:
    """Seed 000 §4."""
    assert_refuses(BACKUP, "backup_sha256_recorded", recorded_sha256=recorded)


def test_sidecar_json_written_holds() -> None:
    assert_holds(BACKUP, "sidecar_json_written")


@pytest.mark.parametrize("change", [{"sha256": OTHER}, {"size_bytes": 11}, {"taken_utc": "2026-11-21T08:00:00Z"}, None])
def test_sidecar_json_written_violated_when_the_record_is_missing_or_says_something_else(
    change: dict[str, object] | None,
) -> None:
    """Seed 000 §4."""
    beside = dataclasses.replace(BACKUP.beside, **change) if change else None  # type: ignore[type-var]
    assert_refuses(BACKUP, "sidecar_json_written", beside=beside)


def test_restore_equals_snapshot_holds() -> None:
    assert_holds(BACKUP, "restore_equals_snapshot")


def test_restore_equals_snapshot_violated_when_what_was_restored_differs() -> None:
    assert_refuses(BACKUP, "restore_equals_snapshot", restored_fingerprint="f2")


def test_restore_point_marked_holds() -> None:
    assert_holds(BACKUP_WITH_POINT, "restore_point_marked")


def test_restore_point_marked_violated_when_the_deployment_asks_for_one_and_there_is_none() -> None:
    assert_refuses(BACKUP, "restore_point_marked", restore_point_asked=True)


def test_restore_point_recorded_holds() -> None:
    assert_holds(BACKUP_WITH_POINT, "restore_point_recorded")


@pytest.mark.parametrize("recorded", [None, passing.OTHER_POINT])
def test_restore_point_recorded_violated_when_nothing_or_another_is_recorded(recorded: RestorePoint | None) -> None:
    assert_refuses(BACKUP_WITH_POINT, "restore_point_recorded", recorded_restore_point=recorded)


def test_without_a_restore_point_the_report_of_a_backup_does_not_speak_of_any() -> None:
    report = backup.evaluate(BACKUP)
    assert not [invariant.name for invariant in report.invariants if "point" in invariant.name]
    assert not [name for name in report.pins if "point" in name]
    assert backup.evaluate(BACKUP_WITH_POINT).pins.items() >= passing.POINT.as_pins().items()


# --- IG_grant_probe ---------------------------------------------------------------------------------------------------


def test_exec_may_call_writers_holds() -> None:
    assert_holds(GRANT_PROBE, "exec_may_call_writers")


@pytest.mark.parametrize("function", grant_probe.WRITERS)
def test_exec_may_call_writers_violated_when_one_is_not_granted(function: str) -> None:
    """Seed 000 §4."""
    assert_refuses(GRANT_PROBE, "exec_may_call_writers", granted=without(("cutter_exec", function, "EXECUTE")))


def test_verify_may_record_holds() -> None:
    assert_holds(GRANT_PROBE, "verify_may_record")


@pytest.mark.parametrize("verb", ["SELECT", "INSERT"])
def test_verify_may_record_violated_when_a_verb_is_missing(verb: str) -> None:
    """Seed 000 §4."""
    cell = ("cutter_verify", "cutter_governance.verify_result", verb)
    assert_refuses(GRANT_PROBE, "verify_may_record", granted=without(cell))


def test_directus_may_read_decisions_holds() -> None:
    assert_holds(GRANT_PROBE, "directus_may_read_decisions")


def test_directus_may_read_decisions_violated_when_it_may_not() -> None:
    """Seed 000 §4."""
    cell = ("directus", "cutter_governance.review_decision", "SELECT")
    assert_refuses(GRANT_PROBE, "directus_may_read_decisions", granted=without(cell))


def test_no_public_execute_holds() -> None:
    assert_holds(GRANT_PROBE, "no_public_execute")


def test_no_public_execute_violated_when_a_writer_is_granted_to_everyone() -> None:
    """Seed 000 §4."""
    granted = (*passing.GRANTED, ("PUBLIC", "cutter_governance.fn_gate_close", "EXECUTE"))
    assert_refuses(GRANT_PROBE, "no_public_execute", granted=granted)


def test_matrix_as_declared_holds() -> None:
    assert_holds(GRANT_PROBE, "matrix_as_declared")


def test_matrix_as_declared_violated_when_a_cell_differs() -> None:
    assert_refuses(GRANT_PROBE, "matrix_as_declared", differences=("cutter_exec has DELETE on x, not declared",))


def test_matrix_as_declared_violated_when_nothing_was_probed() -> None:
    assert_refuses(GRANT_PROBE, "matrix_as_declared", cells=0)


# --- IG_structural_verify ---------------------------------------------------------------------------------------------


def test_iu_count_holds() -> None:
    assert_holds(STRUCTURAL_VERIFY, "iu_count")


def test_iu_count_violated_when_a_unit_is_missing() -> None:
    """Seed 000 §4."""
    assert_refuses(STRUCTURAL_VERIFY, "iu_count", units=UNITS[1:])


def test_uv_count_holds() -> None:
    assert_holds(STRUCTURAL_VERIFY, "uv_count")


def test_uv_count_violated_when_there_is_a_version_more() -> None:
    """Seed 000 §4."""
    assert_refuses(STRUCTURAL_VERIFY, "uv_count", version_count=N + 1)


def test_distinct_addresses_holds() -> None:
    assert_holds(STRUCTURAL_VERIFY, "distinct_addresses")


def test_distinct_addresses_violated_when_two_units_share_one() -> None:
    """Seed 000 §4."""
    assert_refuses(STRUCTURAL_VERIFY, "distinct_addresses", units=unit(address=UNITS[0].address))


def test_content_hashes_match_plan_holds() -> None:
    assert_holds(STRUCTURAL_VERIFY, "content_hashes_match_plan")


def test_content_hashes_match_plan_violated_when_a_stored_hash_is_another() -> None:
    """Seed 000 §4."""
    assert_refuses(STRUCTURAL_VERIFY, "content_hashes_match_plan", units=unit(content_hash=OTHER))


def test_content_hashes_match_plan_violated_when_a_body_was_edited_behind_its_hash() -> None:
    """Seed 000 §4."""
    assert_refuses(STRUCTURAL_VERIFY, "content_hashes_match_plan", units=unit(body=f"{UNITS[1].body}."))


def test_bodies_match_plan_holds() -> None:
    assert_holds(STRUCTURAL_VERIFY, "bodies_match_plan")


def test_bodies_match_plan_violated_when_two_units_swapped_their_texts() -> None:
    """Seed 000 §4."""
    first, second = UNITS[1], UNITS[2]
    swapped = (
        UNITS[0],
        dataclasses.replace(first, body=second.body, content_hash=second.content_hash),
        dataclasses.replace(second, body=first.body, content_hash=first.content_hash),
    )
    assert_refuses(STRUCTURAL_VERIFY, "bodies_match_plan", units=swapped)


def test_bodies_match_plan_violated_when_two_kept_units_swapped_texts_that_the_database_digested() -> None:
    plain = [dataclasses.replace(stored, body=None) for stored in UNITS]
    assert_holds(STRUCTURAL_VERIFY, "bodies_match_plan", units=tuple(plain))
    plain[1], plain[2] = (
        dataclasses.replace(plain[1], content_hash=plain[2].content_hash),
        dataclasses.replace(plain[2], content_hash=plain[1].content_hash),
    )
    assert_refuses(STRUCTURAL_VERIFY, "bodies_match_plan", units=tuple(plain))


def test_anchors_exact_holds() -> None:
    assert_holds(STRUCTURAL_VERIFY, "anchors_exact")


def test_anchors_exact_violated_when_they_disagree() -> None:
    """Seed 000 §4."""
    assert_refuses(STRUCTURAL_VERIFY, "anchors_exact", units=unit(anchors_agree=False))


def test_versions_first_holds() -> None:
    assert_holds(STRUCTURAL_VERIFY, "versions_first")


def test_versions_first_violated_when_a_unit_was_edited() -> None:
    """Seed 000 §4."""
    assert_refuses(STRUCTURAL_VERIFY, "versions_first", units=unit(version_seq=2))


def test_section_type_cardinality_holds() -> None:
    assert_holds(STRUCTURAL_VERIFY, "section_type_cardinality")


def test_section_type_cardinality_violated_when_a_type_is_another() -> None:
    """Seed 000 §4."""
    assert_refuses(STRUCTURAL_VERIFY, "section_type_cardinality", units=unit(section_type="appendix"))


def test_all_draft_holds() -> None:
    assert_holds(STRUCTURAL_VERIFY, "all_draft")


@pytest.mark.parametrize("field", ["lifecycle", "version_lifecycle"])
def test_all_draft_violated_when_a_unit_or_its_version_is_enacted(field: str) -> None:
    """Seed 000 §4."""
    assert_refuses(STRUCTURAL_VERIFY, "all_draft", units=unit(**{field: "enacted"}))


def test_no_forbidden_ids_holds() -> None:
    assert_holds(STRUCTURAL_VERIFY, "no_forbidden_ids")


def test_no_forbidden_ids_violated_when_a_segment_is_one() -> None:
    """Seed 000 §4."""
    assert_refuses(STRUCTURAL_VERIFY, "no_forbidden_ids", units=unit(address="LAW/KT-A/DIEU-44~2"))


@pytest.mark.parametrize("address", ["LAW/DIEU-4", "LAW/DIEU-445", "LAW/X-DIEU-44", "DIEU-44/A"])
def test_a_forbidden_id_is_a_whole_segment_below_the_prefix(address: str) -> None:
    assert not structural_verify.intrudes(address, ("DIEU-44",))


def test_nothing_outside_prefix_holds() -> None:
    assert_holds(STRUCTURAL_VERIFY, "nothing_outside_prefix")


@pytest.mark.parametrize("address", ["LAW2/ARTICLE-1", "LAW/NOT-PLANNED", "LAW"])
def test_nothing_outside_prefix_violated_when_a_unit_is_foreign(address: str) -> None:
    """Seed 000 §4."""
    assert_refuses(STRUCTURAL_VERIFY, "nothing_outside_prefix", units=unit(address=address))


def test_parents_match_plan_holds() -> None:
    assert_holds(STRUCTURAL_VERIFY, "parents_match_plan")


def test_parents_match_plan_violated_when_a_unit_hangs_elsewhere() -> None:
    assert_refuses(STRUCTURAL_VERIFY, "parents_match_plan", units=unit(parent_address=None))


def test_the_probe_has_eleven_booleans() -> None:
    """Seed 000 §4."""
    assert len(structural_verify.eleven(STRUCTURAL_VERIFY)) == 11
    assert sha256_hex(UNITS[1].body) == UNITS[1].content_hash


REVISED_CUTPLAN = dataclasses.replace(CUTPLAN, revision=REVISION, rebuilt_writer_digest=REVISION.writer_digest)
REVISED_STRUCTURAL = dataclasses.replace(STRUCTURAL_VERIFY, revision=STORED_REVISION)


def test_revision_changes_law_holds() -> None:
    assert_holds(REVISED_CUTPLAN, "revision_changes_law")


def test_revision_changes_law_violated_when_every_unit_is_kept() -> None:
    digest = NOTHING_NEW.writer_digest
    assert_refuses(REVISED_CUTPLAN, "revision_changes_law", revision=NOTHING_NEW, rebuilt_writer_digest=digest)


def test_a_revision_counts_only_what_it_begins_or_ends_against_the_cap() -> None:
    """A tenant's cap is about writes, and a kept unit is not written."""
    digest = NOTHING_NEW.writer_digest
    kept = dataclasses.replace(REVISED_CUTPLAN, revision=NOTHING_NEW, rebuilt_writer_digest=digest, max_writes=0)
    assert "within_max_writes_per_run" not in {item.name for item in cutplan.evaluate(kept).violations}


def test_revision_rows_match_plan_holds() -> None:
    assert_holds(REVISED_STRUCTURAL, "revision_rows_match_plan")


def test_revision_rows_match_plan_violated_when_a_row_is_another_missing_or_too_many() -> None:
    first, *others = STORED_REVISION.rows
    wrong = (
        (dataclasses.replace(first, operation="keep"), *others), tuple(others), (*STORED_REVISION.rows, first),
        (dataclasses.replace(first, continues="LAW/X"), *others), tuple(reversed(STORED_REVISION.rows)),
    )  # fmt: skip
    for rows in wrong:
        revision = structural_verify.StoredRevision(plan=REVISION, rows=rows)
        assert_refuses(REVISED_STRUCTURAL, "revision_rows_match_plan", revision=revision)


@pytest.mark.parametrize(
    ("operation", "unit_status", "version_status", "waits"),
    [
        ("keep", "enacted", "enacted", True), ("keep", "enacted", "draft", False), ("keep", "draft", "draft", False),
        ("revise", "enacted", "draft", True), ("revise", "enacted", "enacted", False),
        ("revise", "draft", "draft", False), ("create", "draft", "draft", True), ("create", "retired", "draft", True),
        ("create", "enacted", "draft", False), ("create", "retired", "retired", False),
    ],
)  # fmt: skip
def test_each_operation_has_its_statuses_before_the_enactment(
    operation: str, unit_status: str, version_status: str, waits: bool
) -> None:
    row = PLAN.rows[0]
    in_force = {"keep": (row.title, row.body_sha256), "revise": (row.title, OTHER)}.get(operation)
    units = (
        ()
        if in_force is None
        else (
            UnitInForce(
                address=row.address, title=in_force[0], body_sha256=in_force[1], unit_kind=row.unit_kind,
                section_type=row.section_type, publication_type=row.publication_type, owner=row.owner,
                parent_address=row.parent_address,
            ),
        )
    )  # fmt: skip
    plan = plan_revision(PLAN, dataclasses.replace(LAW_IN_FORCE, units=units))
    stored = (dataclasses.replace(UNITS[0], lifecycle=unit_status, version_lifecycle=version_status), *UNITS[1:])
    revision = structural_verify.StoredRevision(plan=plan, rows=())
    report = structural_verify.evaluate(dataclasses.replace(STRUCTURAL_VERIFY, units=stored, revision=revision))
    assert ("all_draft" not in {item.name for item in report.violations}) is waits
