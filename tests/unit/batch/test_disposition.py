"""The recommended disposition is computed from the failure, never a constant."""

from __future__ import annotations

from pathlib import Path

import pytest

from cutter.batch.triage import SAME_TWICE, Disposition, disposition
from cutter.catalogue import GATES
from cutter.domain.next_step import StepFacts
from cutter.errors import ProgrammingError

AMEND, VOID, FIX, RESUME = Disposition.AMEND, Disposition.VOID, Disposition.OPEN_FIX_MACRO, Disposition.RESUME


def run(state: str, **facts: bool) -> StepFacts:
    return StepFacts(run_id="R", document_id="D", state=state, **facts)


@pytest.mark.parametrize(
    ("state", "code", "wrote", "expected"),
    [
        ("failed_source_pin", "snapshot_is_nfc", False, AMEND),
        ("failed_mark", "text_can_be_marked", False, AMEND),
        ("failed_mark", "partition_proven", False, FIX),
        ("failed_cutplan", "writer_digest_stable", False, FIX),
        ("failed_cutplan", "vocabulary_mapped", False, AMEND),
        ("failed_cutplan", "within_max_writes_per_run", False, AMEND),
        ("failed_backup", "restore_equals_snapshot", False, FIX),
        ("failed_grant_probe", "no_public_execute", False, FIX),
        ("failed_cut_leg_a", "g_cut_once", False, FIX),
        ("failed_structural_verify", "iu_count", True, VOID),
        ("failed_write_verify", "writer_digest_stored", True, VOID),
        ("failed_lifecycle_enact", "zero_partial", True, VOID),
        ("failed_closeout", "audit_chain_intact", True, FIX),
        ("failed_rejected", "", False, AMEND),
        ("failed_rejected", "", True, VOID),
        ("failed_policy", "", False, VOID),
        ("stopped_drift_functions", "", False, FIX),
        ("stopped_drift_row_content", "", True, VOID),
        ("stopped_drift_source", "", False, AMEND),
        ("stopped_error_mark", "", False, FIX),
        ("stopped_cancel", "", True, VOID),
        ("stopped_stop", "", False, RESUME),
        ("stopped_unavailable_kb", "", True, RESUME),
        ("stopped_soft_cap_mark", "", False, RESUME),
        ("stopped_hard_cap", "", False, RESUME),
        ("stopped_expired", "", False, RESUME),
        ("stopped_terminated", "", False, RESUME),
    ],
)
def test_each_failure_has_its_disposition(state: str, code: str, wrote: bool, expected: Disposition) -> None:
    """Seed 001 §10."""
    recommendation = disposition(run(state, wrote=wrote), code)
    assert recommendation.disposition is expected
    assert recommendation.why


def test_of_a_law_that_is_too_long_for_its_tenant_nobody_says_that_its_text_is_wrong() -> None:
    recommendation = disposition(run("failed_cutplan"), "within_max_writes_per_run")
    assert "max_writes_per_run" in recommendation.why


def test_every_gate_that_can_fail_has_one() -> None:
    for gate in GATES:
        for wrote in (False, True):
            assert disposition(run(f"failed_{gate.phase}", wrote=wrote)).disposition is not RESUME


@pytest.mark.parametrize("state", ["failed_policy", "failed_closeout"])
def test_what_failed_behind_its_enactment_is_never_voided(state: str) -> None:
    assert disposition(run(state, wrote=True, enacted=True)).disposition is FIX


@pytest.mark.parametrize("state", ["marked", "closeout_reported", "voided_cancelled"])
def test_what_did_not_fail_has_none(state: str) -> None:
    with pytest.raises(ProgrammingError):
        disposition(run(state))


def test_the_invariants_that_no_new_version_mends_exist() -> None:
    folder = Path(__file__).parents[3] / "cutter" / "gates"
    source = "\n".join(path.read_text(encoding="utf-8") for path in sorted(folder.glob("*.py")))
    for name in SAME_TWICE:
        assert f'"{name}"' in source
