"""The campaigns on the database, small: they run, they find nothing, and their control arms are fooled."""

from __future__ import annotations

from pathlib import Path

from tests.campaigns import (
    p15_tampering,
    p16_grant_matrix,
    p17_immutability,
    p23_edited_exports,
    p27_forged_bundles,
    p33_facts_of_one_role,
)
from tests.cases.tampering import KINDS
from tests.support.database import Database
from tests.support.runs import Keys


def test_tampering_is_detected_and_unrelated_writes_stop_nothing(tmp_path: Path) -> None:
    """Seed 000 §9."""
    one_of_each = tuple({kind.dimension: kind for kind in KINDS}.values())
    result = p15_tampering.run(trials=20, seed=1, out=tmp_path / "p15.jsonl", kinds=one_of_each)
    assert result.accepted, list(result.lines())
    assert len(KINDS) >= 40
    assert (tmp_path / "p15.jsonl").read_text().count("\n") == result.n


def test_the_grants_are_the_declared_ones_and_a_flipped_one_is_noticed() -> None:
    result = p16_grant_matrix.run(trials=20, seed=1)
    assert result.accepted, list(result.lines())


def test_protected_rows_stay_as_they_are() -> None:
    result = p17_immutability.run(trials=200, seed=1)
    assert result.accepted, list(result.lines())
    assert len(p17_immutability.ROUTES) * len(p17_immutability.COLUMNS) >= 60


def test_a_changed_row_a_route_that_tries_nothing_and_guards_that_guard_nothing_fail_p17() -> None:
    refused = {"role": "cutter_exec", "route": "delete", "table": "t", "said": "42501", "changed": False}
    changed = {**refused, "said": "committed", "changed": True}
    assert p17_immutability.summary([refused], [changed]).accepted
    assert not p17_immutability.summary([changed], [changed]).accepted
    assert not p17_immutability.summary([{**refused, "said": "42883"}], [changed]).accepted
    assert not p17_immutability.summary([refused], [refused]).accepted


def test_an_edited_audit_export_is_detected(database: Database, keys: Keys) -> None:
    data = p23_edited_exports.original(database, keys)
    result = p23_edited_exports.run(trials=24, seed=1, data=data)
    assert result.accepted, list(result.lines())
    assert {name.partition(":")[0] for name in result.counts if "detected" in name} >= {
        f"{edit}, rewritten" for edit in p23_edited_exports.EDITS
    }


def test_a_forged_evidence_bundle_does_not_verify(database: Database, keys: Keys) -> None:
    have = p27_forged_bundles.originals(database, keys)
    result = p27_forged_bundles.run(trials=len(have.named()) + 24, seed=1, have=have)
    assert result.accepted, list(result.lines())
    for name in ("none", "digest", "sg2"):
        assert result.counts[f"`{name}` fools the earlier verifier"] == 1


def test_what_one_role_records_keeps_no_run_from_its_end() -> None:
    result = p33_facts_of_one_role.run(trials=40, seed=1)
    assert result.accepted, list(result.lines())
