"""No invariant and no evidence is decorative: each field, set to a wrong value, makes its gate refuse by name."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cutter.gates.report import GateReport, equal, holds, shown
from tests.unit.gates.passing import FLIPS, INSIDE, ONLY_SHOWN, PASSING, WORDS

CASES = [
    (report, field, wrong, name)
    for report, fields in FLIPS.items()
    for field, (wrong, name) in fields.items()
    if (report, field) not in ONLY_SHOWN
]


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
    invariants = {item.name for evidence, evaluate in PASSING.values() for item in evaluate(evidence).invariants}
    assert invariants - named == set()


@given(st.sampled_from(sorted(FLIPS)), st.data())
def test_however_many_fields_are_wrong_the_gate_refuses(report: str, data: st.DataObject) -> None:
    """At most one wrong value for each invariant, since two could agree with each other. Seed 000 §4."""
    mine = [(field, wrong, name) for case_report, field, wrong, name in CASES if case_report == report]
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
