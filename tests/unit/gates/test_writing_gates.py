"""Gates 6, 8, 9, 10 and 11: each invariant of seed 000 §4 by name, passing and violated."""

from __future__ import annotations

import dataclasses
import json

import pytest

from cutter.gates import closeout, cut_leg_a, leg_b_record, lifecycle_enact, write_verify
from tests.unit.gates import passing
from tests.unit.gates.passing import (
    AUTHORIZED,
    CLOSEOUT,
    CUT_LEG_A,
    DOCUMENTS,
    FINISH,
    LEG_B,
    LIFECYCLE_ENACT,
    OTHER,
    READ_BACK,
    RECORDED,
    RUN,
    WRITE_VERIFY,
    N,
    assert_holds,
    assert_refuses,
)

# --- IG_cut_leg_a_execute ---------------------------------------------------------------------------------------------


def test_approval_resolves_to_signed_document_holds() -> None:
    assert_holds(CUT_LEG_A, "approval_resolves_to_signed_document")
    assert_holds(LIFECYCLE_ENACT, "approval_resolves_to_signed_document")


def test_approval_resolves_to_signed_document_violated_when_there_is_none() -> None:
    """Seed 000 §4."""
    assert_refuses(CUT_LEG_A, "approval_resolves_to_signed_document", authorizations=())
    assert_refuses(LIFECYCLE_ENACT, "approval_resolves_to_signed_document", approvals=())


@pytest.mark.parametrize("threshold", [0, -1])
def test_approval_resolves_to_signed_document_violated_when_an_empty_threshold_asks_for_none(threshold: int) -> None:
    """Seed 000 §4."""
    assert_refuses(CUT_LEG_A, "approval_resolves_to_signed_document", authorizations=(), threshold=threshold)
    assert_refuses(LIFECYCLE_ENACT, "approval_resolves_to_signed_document", approvals=(), threshold=threshold)


def test_approval_resolves_to_signed_document_violated_when_one_document_fills_two_slots() -> None:
    """Seed 000 §4."""
    twice = (AUTHORIZED, AUTHORIZED)
    assert_refuses(CUT_LEG_A, "approval_resolves_to_signed_document", authorizations=twice, threshold=2)
    two = LIFECYCLE_ENACT.approvals * 2
    assert_refuses(LIFECYCLE_ENACT, "approval_resolves_to_signed_document", approvals=two, threshold=2)


def test_approval_authorizes_cut_holds() -> None:
    assert_holds(CUT_LEG_A, "approval_authorizes_cut")


def test_approval_authorizes_cut_holds_for_one_that_was_signed_before_there_was_a_change_set() -> None:
    before = dataclasses.replace(AUTHORIZED, change_set_id=None)
    assert_holds(CUT_LEG_A, "approval_authorizes_cut", authorizations=(before,))


@pytest.mark.parametrize(
    "change",
    [{"document_id": "ICX-LAW-2"}, {"writer_digest": OTHER}, {"writer_digest": None}, {"change_set_id": "c2"}],
)
def test_approval_authorizes_cut_violated_when_it_says_something_else(change: dict[str, object]) -> None:
    """Seed 000 §4."""
    other = dataclasses.replace(AUTHORIZED, **change)  # type: ignore[arg-type]
    assert_refuses(CUT_LEG_A, "approval_authorizes_cut", authorizations=(AUTHORIZED, other))


def test_plan_reproduced_holds() -> None:
    assert_holds(CUT_LEG_A, "plan_reproduced")


def test_plan_reproduced_violated_when_the_pinned_one_is_another() -> None:
    assert_refuses(CUT_LEG_A, "plan_reproduced", pinned_writer_digest=OTHER)


def test_g_cut_once_holds() -> None:
    assert_holds(CUT_LEG_A, "g_cut_once")


@pytest.mark.parametrize("rows", [1, -1])
def test_g_cut_once_violated_when_rows_stood_before_or_were_not_counted(rows: int) -> None:
    assert_refuses(CUT_LEG_A, "g_cut_once", rows_before=rows)


def test_exactly_n_created_holds() -> None:
    assert_holds(CUT_LEG_A, "exactly_n_created")


@pytest.mark.parametrize(
    "statuses",
    [("created",) * (N - 1), ("created",) * (N + 1), ("created",) * (N - 1) + ("exists_complete",), ()],
)
def test_exactly_n_created_violated_when_one_is_missing_extra_or_existed(statuses: tuple[str, ...]) -> None:
    """Seed 000 §4."""
    assert_refuses(CUT_LEG_A, "exactly_n_created", statuses=statuses)


def test_zero_units_not_draft_holds() -> None:
    assert_holds(CUT_LEG_A, "zero_units_not_draft")


def test_zero_units_not_draft_violated_when_one_was_born_enacted() -> None:
    """Seed 000 §4."""
    assert_refuses(CUT_LEG_A, "zero_units_not_draft", not_draft=1)


def test_stored_writer_digest_holds() -> None:
    assert_holds(CUT_LEG_A, "stored_writer_digest")


def test_stored_writer_digest_violated_when_the_stored_rows_digest_to_another() -> None:
    assert_refuses(CUT_LEG_A, "stored_writer_digest", stored_writer_digest=OTHER)


def test_transaction_unbroken_holds() -> None:
    assert_holds(CUT_LEG_A, "transaction_unbroken")


@pytest.mark.parametrize(
    "change", [{"written_in": "8"}, {"autocommit": True}, {"opened_in": "", "written_in": ""}, {"opened_in": "6"}]
)
def test_transaction_unbroken_violated_when_autocommit_reset_it(change: dict[str, object]) -> None:
    """Seed 000 §4."""
    assert_refuses(CUT_LEG_A, "transaction_unbroken", **change)


def test_a_rehearsal_needs_no_approval_and_everything_else() -> None:
    rehearsal = dataclasses.replace(CUT_LEG_A, authorizations=(), threshold=0, rehearsal=True)
    assert cut_leg_a.evaluate(rehearsal).passed
    assert_refuses(rehearsal, "exactly_n_created", statuses=())


def test_transaction_committed_holds() -> None:
    assert_holds(READ_BACK, "transaction_committed")


@pytest.mark.parametrize("change", [{"receipt_sealed": False}, {"units": 0}, {"writer_digest": OTHER}])
def test_transaction_committed_violated_when_a_fresh_connection_does_not_see_it(change: dict[str, object]) -> None:
    """Seed 000 §4."""
    assert_refuses(READ_BACK, "transaction_committed", **change)


# --- IG_leg_b_record --------------------------------------------------------------------------------------------------


def test_change_set_id_present_and_unique_holds() -> None:
    assert_holds(LEG_B, "change_set_id_present_and_unique")


@pytest.mark.parametrize("change", [{"change_set_id": ""}, {"change_sets": 0}, {"change_sets": 2}])
def test_change_set_id_present_and_unique_violated_when_absent_or_twice(change: dict[str, object]) -> None:
    """Seed 000 §4."""
    assert_refuses(LEG_B, "change_set_id_present_and_unique", **change)


def test_envelope_and_signature_present_holds() -> None:
    assert_holds(LEG_B, "envelope_and_signature_present")


@pytest.mark.parametrize(
    "change",
    [
        {"manifest_envelope_id": ""},
        {"executor_signature_id": ""},
        {"rows_after": {**LEG_B.rows_after, "manifest_envelope": 0}},
        {"rows_after": {**LEG_B.rows_after, "dot_pair_signature": 0}},
    ],
)
def test_envelope_and_signature_present_violated_when_an_id_or_its_row_is_missing(change: dict[str, object]) -> None:
    """Seed 000 §4."""
    assert_refuses(LEG_B, "envelope_and_signature_present", **change)


def test_g_leg_b_once_holds() -> None:
    assert_holds(LEG_B, "g_leg_b_once")
    assert sum(LEG_B.rows_after.values()) == 2 * N + 6


@pytest.mark.parametrize("table", [*leg_b_record.SINGLE, *leg_b_record.PER_UNIT])
def test_g_leg_b_once_violated_when_a_table_has_a_row_more_or_had_one_before(table: str) -> None:
    """Seed 000 §4."""
    more = {**LEG_B.rows_after, table: LEG_B.rows_after[table] + 1}
    assert_refuses(LEG_B, "g_leg_b_once", rows_after=more)
    assert_refuses(LEG_B, "g_leg_b_once", rows_before={**LEG_B.rows_before, table: 1})


@pytest.mark.parametrize("field", ["units_in_blocks", "units_affected"])
def test_g_leg_b_once_violated_when_a_unit_stands_twice(field: str) -> None:
    """Seed 000 §4."""
    assert_refuses(LEG_B, "g_leg_b_once", **{field: N - 1})


def test_lane_overlap_invariants_holds() -> None:
    assert_holds(LEG_B, "lane_overlap_invariants")


@pytest.mark.parametrize(
    "change",
    [
        {"verifier_signatures": 1},
        {"verifier_tool_revision": LEG_B.executor_tool_revision},
        {"executor_tool_revision": ""},
        {"rows_after": {**LEG_B.rows_after, "dot_pair_signature": 2}},
    ],
)
def test_lane_overlap_invariants_violated_when_the_lanes_meet(change: dict[str, object]) -> None:
    """Seed 000 §4."""
    assert_refuses(LEG_B, "lane_overlap_invariants", **change)


# --- IG_write_verify --------------------------------------------------------------------------------------------------


def test_verifier_principal_holds() -> None:
    assert_holds(WRITE_VERIFY, "verifier_principal")


def test_verifier_principal_violated_when_another_role_verifies() -> None:
    """Seed 000 §4."""
    assert_refuses(WRITE_VERIFY, "verifier_principal", principal="cutter_exec")


def test_executor_dsn_absent_holds() -> None:
    assert_holds(WRITE_VERIFY, "executor_dsn_absent")


def test_executor_dsn_absent_violated_when_this_process_could_write_too() -> None:
    assert_refuses(WRITE_VERIFY, "executor_dsn_absent", holds_executor_dsn=True)


def test_executor_signature_verified_holds() -> None:
    assert_holds(WRITE_VERIFY, "executor_signature_verified")


@pytest.mark.parametrize("change", [{"executor_signature_good": False}, {"executor_fingerprint": ""}])
def test_executor_signature_verified_violated_when_it_is_not_good_or_nobodys(change: dict[str, object]) -> None:
    assert_refuses(WRITE_VERIFY, "executor_signature_verified", **change)


def test_principals_differ_holds() -> None:
    assert_holds(WRITE_VERIFY, "principals_differ")


@pytest.mark.parametrize(
    "change",
    [
        {"verifier_fingerprint": WRITE_VERIFY.executor_fingerprint},
        {"verifier_tool_revision": WRITE_VERIFY.executor_tool_revision},
    ],
)
def test_principals_differ_violated_when_key_or_revision_is_shared(change: dict[str, object]) -> None:
    assert_refuses(WRITE_VERIFY, "principals_differ", **change)


def test_axis_1_round_trip_holds() -> None:
    assert_holds(WRITE_VERIFY, "axis_1_round_trip")


@pytest.mark.parametrize("structural", [(), WRITE_VERIFY.structural[:10], passing.BROKEN])
def test_axis_1_round_trip_violated_when_a_boolean_is_missing_or_false(structural: tuple[object, ...]) -> None:
    assert_refuses(WRITE_VERIFY, "axis_1_round_trip", structural=structural)


def test_writer_digest_rebuilt_holds() -> None:
    assert_holds(WRITE_VERIFY, "writer_digest_rebuilt")


def test_writer_digest_rebuilt_violated_when_the_rebuild_gives_another() -> None:
    assert_refuses(WRITE_VERIFY, "writer_digest_rebuilt", rebuilt_writer_digest=OTHER)


def test_writer_digest_stored_holds() -> None:
    assert_holds(WRITE_VERIFY, "writer_digest_stored")


def test_writer_digest_stored_violated_when_the_stored_rows_give_another() -> None:
    assert_refuses(WRITE_VERIFY, "writer_digest_stored", stored_writer_digest=OTHER)


def test_affected_rows_match_holds() -> None:
    assert_holds(WRITE_VERIFY, "affected_rows_match")


def test_affected_rows_match_violated_when_one_is_missing() -> None:
    assert_refuses(WRITE_VERIFY, "affected_rows_match", affected_rows=N - 1)


def test_verify_result_inserted_holds() -> None:
    assert_holds(RECORDED, "verify_result_inserted")


def test_verify_result_inserted_violated_when_there_is_no_row() -> None:
    """Seed 000 §4."""
    assert_refuses(RECORDED, "verify_result_inserted", this_result=0)


def test_verifier_signature_inserted_holds() -> None:
    assert_holds(RECORDED, "verifier_signature_inserted")


def test_verifier_signature_inserted_violated_when_there_is_no_row() -> None:
    """Seed 000 §4."""
    assert_refuses(RECORDED, "verifier_signature_inserted", verifier_signatures=0)


def test_g_verify_once_holds() -> None:
    assert_holds(RECORDED, "g_verify_once")


def test_g_verify_once_violated_when_there_are_two_or_one_stood_before() -> None:
    """Seed 000 §4."""
    assert_refuses(RECORDED, "g_verify_once", results=2)
    assert_refuses(WRITE_VERIFY, "g_verify_once", results_before=1)


def test_nothing_is_a_verdict_before_it_is_recorded() -> None:
    report = write_verify.evaluate(WRITE_VERIFY, write_verify.NOTHING)
    names = {item.name for item in report.violations}
    assert names == {"verify_result_inserted", "verifier_signature_inserted", "g_verify_once"}


# --- IG_lifecycle_enact_execute ---------------------------------------------------------------------------------------


def test_review_decision_matches_holds() -> None:
    assert_holds(LIFECYCLE_ENACT, "review_decision_matches")


@pytest.mark.parametrize(
    "change",
    [
        {"approved_review_decisions": ("r0",)},
        {"approved_review_decisions": ("r1", "r0")},
        {"approved_review_decisions": (None,)},
        {"approved_review_decisions": ()},
        {"open_review_decision": "r2"},
        {"consumed_review_decision": "r0"},
        {"open_review_decision": "", "consumed_review_decision": "", "approved_review_decisions": ("",)},
    ],
)
def test_review_decision_matches_violated_when_it_is_not_the_approved_one(change: dict[str, object]) -> None:
    """Seed 000 §4."""
    assert_refuses(LIFECYCLE_ENACT, "review_decision_matches", **change)


def test_verify_result_passed_holds() -> None:
    assert_holds(LIFECYCLE_ENACT, "verify_result_passed")


@pytest.mark.parametrize("verdict", ["fail", "needs_human", "None", ""])
def test_verify_result_passed_violated_when_the_verdict_is_another(verdict: str) -> None:
    assert_refuses(LIFECYCLE_ENACT, "verify_result_passed", verdict=verdict)


def test_exactly_n_enacted_holds() -> None:
    assert_holds(LIFECYCLE_ENACT, "exactly_n_enacted")


@pytest.mark.parametrize(
    "statuses", [(), ("enacted",) * (N - 1), ("enacted",) * (N + 1), ("enacted",) * (N - 1) + ("already_enacted",)]
)
def test_exactly_n_enacted_violated_when_a_call_is_missing_extra_or_refused(statuses: tuple[str, ...]) -> None:
    """Seed 000 §4."""
    assert_refuses(LIFECYCLE_ENACT, "exactly_n_enacted", statuses=statuses)


def test_single_transaction_holds() -> None:
    assert_holds(LIFECYCLE_ENACT, "single_transaction")


@pytest.mark.parametrize(
    "change", [{"written_in": "10"}, {"autocommit": True}, {"opened_in": "", "written_in": ""}, {"opened_in": "8"}]
)
def test_single_transaction_violated_when_there_were_two(change: dict[str, object]) -> None:
    """Seed 000 §4."""
    assert_refuses(LIFECYCLE_ENACT, "single_transaction", **change)


def test_zero_partial_holds() -> None:
    assert_holds(LIFECYCLE_ENACT, "zero_partial")


def test_zero_partial_violated_when_a_unit_or_version_is_not_enacted() -> None:
    """Seed 000 §4."""
    assert_refuses(LIFECYCLE_ENACT, "zero_partial", not_enacted=1)


def test_lifecycle_log_rows_holds() -> None:
    assert_holds(LIFECYCLE_ENACT, "lifecycle_log_rows")


@pytest.mark.parametrize("rows", [0, N - 1, N + 1])
def test_lifecycle_log_rows_violated_when_the_log_has_another_count(rows: int) -> None:
    """Seed 000 §4."""
    assert_refuses(LIFECYCLE_ENACT, "lifecycle_log_rows", log_rows=rows)


def test_immutability_triggers_enabled_holds() -> None:
    assert_holds(LIFECYCLE_ENACT, "immutability_triggers_enabled")


@pytest.mark.parametrize("trigger", sorted(lifecycle_enact.TRIGGERS))
@pytest.mark.parametrize("state", ["D", "R", None])
def test_immutability_triggers_enabled_violated_when_one_is_not(trigger: str, state: str | None) -> None:
    """Seed 000 §4."""
    triggers = {name: state if name == trigger else was for name, was in lifecycle_enact.TRIGGERS.items()}
    present = {name: setting for name, setting in triggers.items() if setting is not None}
    assert_refuses(LIFECYCLE_ENACT, "immutability_triggers_enabled", triggers=present)


# --- IG_closeout ------------------------------------------------------------------------------------------------------


def test_kb_documents_uploaded_holds() -> None:
    assert_holds(CLOSEOUT, "kb_documents_uploaded")


@pytest.mark.parametrize("position", range(len(DOCUMENTS)))
def test_kb_documents_uploaded_violated_when_any_one_is_missing(position: int) -> None:
    """Seeds 000 §2, 000 §4."""
    left = DOCUMENTS[:position] + DOCUMENTS[position + 1 :]
    assert_refuses(CLOSEOUT, "kb_documents_uploaded", documents=left)


@pytest.mark.parametrize("change", [{"recorded_sha256": None}, {"found_sha256": None}, {"found_sha256": OTHER}])
def test_kb_documents_uploaded_violated_when_one_was_not_put_is_gone_or_was_altered(change: dict[str, object]) -> None:
    """Seed 000 §4."""
    altered = dataclasses.replace(DOCUMENTS[0], **change)  # type: ignore[arg-type]
    assert_refuses(CLOSEOUT, "kb_documents_uploaded", documents=(altered, *DOCUMENTS[1:]))


def test_kb_documents_uploaded_violated_when_a_stop_report_stands_in_for_a_phase_report() -> None:
    """Seed 000 §4."""
    stop = dataclasses.replace(DOCUMENTS[0], kind="stop_route", subject="SG_failure_escalation")
    assert_refuses(CLOSEOUT, "kb_documents_uploaded", documents=(stop, *DOCUMENTS[1:]))


def test_units_enacted_holds() -> None:
    assert_holds(CLOSEOUT, "units_enacted")


def test_units_enacted_violated_when_the_counts_differ() -> None:
    assert_refuses(CLOSEOUT, "units_enacted", units_enacted=N - 1)


def test_receipts_sealed_holds() -> None:
    assert_holds(CLOSEOUT, "receipts_sealed")


def test_receipts_sealed_violated_when_one_is_missing() -> None:
    assert_refuses(CLOSEOUT, "receipts_sealed", receipts_sealed=closeout.RECEIPTS - 1)


def test_approvals_consumed_holds() -> None:
    assert_holds(CLOSEOUT, "approvals_consumed")


def test_approvals_consumed_violated_when_a_sovereign_gate_had_none() -> None:
    assert_refuses(CLOSEOUT, "approvals_consumed", approvals_consumed=frozenset({"SG_cut_authz"}))


def test_audit_chain_intact_holds() -> None:
    assert_holds(CLOSEOUT, "audit_chain_intact")


def test_audit_chain_intact_violated_when_it_is_broken() -> None:
    assert_refuses(CLOSEOUT, "audit_chain_intact", chain_intact=False)


def test_evidence_bundle_sealed_holds() -> None:
    assert_holds(CLOSEOUT, "evidence_bundle_sealed")


@pytest.mark.parametrize("stored_sha256", ["", "0" * 64])
def test_evidence_bundle_sealed_violated_when_the_store_has_another_or_none(stored_sha256: str) -> None:
    assert_refuses(CLOSEOUT, "evidence_bundle_sealed", bundle_found_sha256=stored_sha256)


def test_evidence_bundle_sealed_violated_when_none_was_built() -> None:
    report = closeout.evaluate(dataclasses.replace(CLOSEOUT, bundle_sha256="", bundle_found_sha256=""))
    assert [violation.name for violation in report.violations] == ["evidence_bundle_sealed"]


def test_the_digest_of_the_history_is_pinned_where_an_engine_ran_the_gate() -> None:
    assert closeout.evaluate(CLOSEOUT).pins["history_sha256"] == CLOSEOUT.history_sha256
    assert "history_sha256" not in closeout.evaluate(dataclasses.replace(CLOSEOUT, history_sha256=None)).pins


def test_kb_documents_complete_holds() -> None:
    assert_holds(FINISH, "kb_documents_complete")


def test_kb_documents_complete_violated_when_one_waits() -> None:
    """Seed 000 §4."""
    assert_refuses(FINISH, "kb_documents_complete", documents_waiting=1)


def test_sidecar_finalized_holds() -> None:
    assert_holds(FINISH, "sidecar_finalized")


@pytest.mark.parametrize(
    "change", [{"sidecar_status": None}, {"sidecar_status": "rehearsed"}, {"sidecar_run_id": None}]
)
def test_sidecar_finalized_violated_when_it_does_not_say_success(change: dict[str, object]) -> None:
    """Seed 000 §4."""
    assert_refuses(FINISH, "sidecar_finalized", **change)


def test_run_id_in_runs_index_holds() -> None:
    assert_holds(FINISH, "run_id_in_runs_index")


@pytest.mark.parametrize("index_line", [None, b"", b"{}\n"])
def test_run_id_in_runs_index_violated_when_there_is_no_line_or_another(index_line: bytes | None) -> None:
    """Seed 000 §4."""
    assert_refuses(FINISH, "run_id_in_runs_index", index_line_found=index_line)


def test_run_id_in_runs_index_violated_when_the_line_is_empty() -> None:
    """Seed 000 §4."""
    assert_refuses(FINISH, "run_id_in_runs_index", index_line=b"", index_line_found=b"")


def test_the_index_line_is_one_line_of_json_that_names_the_run() -> None:
    """Seed 000 §4."""
    line = FINISH.index_line.decode()
    assert line.count("\n") == 1
    assert json.loads(line) == {
        "run_id": RUN, "document_id": "ICX-LAW-1", "state": "closeout_reported", "head": CLOSEOUT.audit_head,
        "date": "2026-11-21",
    }  # fmt: skip
    assert closeout.index_id(RUN).endswith(f"/{RUN}.md")
