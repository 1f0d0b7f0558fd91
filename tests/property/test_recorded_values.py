"""Rows as the database answers them: any value gives the form that readers take, and a well-formed one stays."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cutter.domain import recorded_values
from cutter.lifecycle.history import of_audit

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=10),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
NAMED = st.dictionaries(
    st.sampled_from(["invariants", "pins", "notes", "diff", "policy", "decisions", "sha256", "violations", "tier"]),
    JSON,
)


@given(value=JSON | NAMED)
def test_any_report_has_invariants_pins_and_notes_of_their_types(value: Any) -> None:
    receipt = recorded_values.receipt({"result": value})["result"]
    assert all(
        isinstance(invariant["name"], str) and isinstance(invariant["ok"], bool) for invariant in receipt["invariants"]
    )
    assert all(
        isinstance(invariant["observed"], str) and isinstance(invariant["expected"], str)
        for invariant in receipt["invariants"]
    )
    assert isinstance(receipt["pins"], dict)
    assert all(isinstance(note, str) for note in receipt["notes"])
    assert recorded_values.report(recorded_values.report(value)) == recorded_values.report(value)


@given(value=JSON | NAMED)
def test_any_policy_has_a_sha256_and_decisions_that_are_objects(value: Any) -> None:
    policy = recorded_values.policy(value)
    if policy is not None:
        assert isinstance(policy["sha256"], str)
        assert all(isinstance(decision, dict) for decision in policy["decisions"])


@given(error=JSON | NAMED, caps=JSON)
def test_any_run_has_an_error_that_is_an_object_and_caps_that_are_numbers(error: Any, caps: Any) -> None:
    run = recorded_values.run({"last_error": error, "caps": caps})
    assert run["last_error"] is None or isinstance(run["last_error"].get("reason"), str | None)
    assert isinstance(run["caps"], dict)
    assert recorded_values.run(run) == run


@given(value=JSON)
def test_any_queues_are_objects_whose_slots_are_counts(value: Any) -> None:
    assert all(
        queue["slots"] >= 0 <= queue["used"] and isinstance(queue["queue"], str)
        for queue in recorded_values.queues(value)
    )


@given(value=JSON)
def test_any_text_of_an_event_is_an_event_or_none(value: Any) -> None:
    assert of_audit(json.dumps(value)) is None
    assert of_audit(str(value)) is None


def test_a_malformed_value_is_named_as_malformed_with_its_beginning() -> None:
    assert recorded_values.report(5) == {
        "invariants": [{"name": "malformed", "ok": False, "observed": "malformed: 5", "expected": "a report"}],
        "pins": {}, "notes": [], "malformed": "malformed: 5",
    }  # fmt: skip
    assert recorded_values.policy({"sha256": "a", "decisions": [5]}) == {
        "sha256": "", "decisions": [{"malformed": 'malformed: {"sha256": "a", "decisions": [5]}'}]
    }  # fmt: skip


def test_a_role_s_limit_that_is_no_number_counts_as_no_limit() -> None:
    """PostgreSQL does not check the limits of single gates, and cutter_read registers runs."""
    assert recorded_values.run({"caps": {"hard_seconds": 60, "soft_seconds": {"mark": "x"}}})["caps"] == {}


@pytest.mark.parametrize(
    "report",
    [
        {"invariants": [], "pins": {"units_created": 3, "backup_sha256": "a", "other": [1]}, "cpu_ms": 1.5},
        {"policy": {"sha256": "", "decisions": [{"connector": "kb"}]}, "tier": "low", "history": {}},
        {"dimension": "grants", "fingerprint": "f", "diff": ["a"], "expected": {}, "invariants": []},
    ],
)
def test_a_well_formed_report_stays_as_it_is(report: Any) -> None:
    assert recorded_values.report(report) == report
