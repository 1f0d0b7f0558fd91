"""The sections about a failed document: its diff, the command that shows the failure again, and the remedy."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from cutter.batch.triage import SIDECAR_LINES, Source, Triage, disposition, invariant_diff, reproduction, sections
from cutter.domain.next_step import Needs, Step, StepFacts
from cutter.domain.run_state import RunState

SOURCE = Source(profile="generic-markdown", docprefix="ICX-1", options={}, forbidden=())


def case(**changed: Any) -> Triage:
    state = changed.get("state", "failed_mark")
    return Triage(**{
        "run_id": "ictr-x", "document_id": "ICX-1", "state": state, "gate": "IG_mark", "code": "c", "error": {},
        "sidecar": "{}", "advice": disposition(StepFacts(run_id="R", document_id="D", state=state)),
        "reproduction": "cutter mark FILE",
        "remedy": Step(needs=Needs.CORRECTION, commands=("cutter a", "cutter b"), first="correct it"), **changed,
    })  # fmt: skip


def test_the_diff_has_a_hunk_for_each_violated_invariant_and_for_no_other() -> None:
    """Seed 001 §10."""
    invariants = [
        {"name": "n_rows", "ok": False, "expected": "3", "observed": "2"},
        {"name": "parents", "ok": True, "expected": "x", "observed": "x"},
        {"name": "two\nlines", "ok": False, "expected": "`a`", "observed": "b"},
    ]
    assert list(invariant_diff({"report": {"invariants": invariants}})) == [
        "--- expected", "+++ observed", "@@ n_rows @@", "-3", "+2", "@@ two lines @@", "-`a`", "+b",
    ]  # fmt: skip


def test_a_failure_without_invariants_shows_its_reason_as_observed() -> None:
    assert list(invariant_diff({"gate": "IG_backup", "reason": "no disk"}))[2:] == ["@@ IG_backup @@", "+no disk"]
    assert list(invariant_diff({}))[2:] == ["@@ reason @@", "+nothing was recorded"]


@pytest.mark.parametrize(
    ("state", "source", "command"),
    [
        ("failed_mark", SOURCE, "cutter mark FILE --profile generic-markdown --docprefix ICX-1"),
        ("failed_mark", None, "cutter run ICX-1 --mode dryrun"),
        ("failed_source_pin", SOURCE, "cutter run ICX-1 --mode dryrun"),
        ("failed_cut_leg_a", SOURCE, "cutter run ICX-1 --mode dryrun"),
        ("failed_write_verify", SOURCE, "cutter report ictr-x"),
        ("failed_rejected", SOURCE, "cutter report ictr-x"),
        ("stopped_drift_units", SOURCE, "cutter report ictr-x"),
    ],
)
def test_each_failure_has_a_command_that_shows_it_again(state: str, source: Source | None, command: str) -> None:
    """Seed 001 §10."""
    assert reproduction(run_id="ictr-x", document_id="ICX-1", state=state, source=source) == command


def test_the_options_of_a_registration_are_options_of_the_reproduction() -> None:
    source = replace(SOURCE, options={"max_candidates": 7, "empty": "heading_only"}, forbidden=("DIEU-4",))
    command = reproduction(run_id="r", document_id="ICX-1", state="failed_mark", source=source)
    assert command.endswith("--empty heading_only --max-candidates 7 --forbid DIEU-4")


def test_commands_stand_line_by_line_and_the_sidecar_is_cut() -> None:
    """Seed 001 §10."""
    text = sections(case(sidecar="\n".join(map(str, range(SIDECAR_LINES + 9)))))
    assert "## remedy\n\nFirst: correct it. Then:\n\n```\ncutter a\ncutter b\n```\n" in text
    assert f"\n{SIDECAR_LINES - 1}\n```" in text
    drift = sections(case(state="stopped_drift_units", error={"report": {"diff": ["x"]}}))
    assert '"diff": [\n    "x"\n  ]' in drift.partition("## drift_evidence")[2]


HEADINGS = ["reproduction_command", "remedy", "invariant_diff", "drift_evidence", "sidecar_snapshot_truncated"]
"""The sections of a triage document, each with one block."""


@given(
    st.recursive(
        st.none() | st.text() | st.integers(),
        lambda children: st.lists(children) | st.dictionaries(st.text(), children),
    )
)
def test_no_recorded_error_breaks_a_document_or_ends_a_block_of_it(value: Any) -> None:
    errors = (
        {"reason": value, "gate": value},
        {"report": {"invariants": [{"name": value, "ok": False, "expected": value, "observed": value}]}},
        {"report": value if isinstance(value, dict) else {}},
    )
    for error in errors:
        tokens = MarkdownIt().parse(sections(case(error=json.loads(json.dumps(error)))))
        assert [after.content for token, after in pairwise(tokens) if token.type == "heading_open"] == HEADINGS
        assert sum(token.type == "fence" for token in tokens) == len(HEADINGS)


@pytest.mark.parametrize(
    ("state", "code"),
    [
        ("stopped_drift_units", "STOP_DRIFT_units"), ("stopped_soft_cap_mark", "STOP_AND_ESCALATE"),
        ("stopped_hard_cap", "STOP_AND_ESCALATE"), ("failed_mark", "failed_mark"), ("stopped_stop", "stopped_stop"),
    ],
)  # fmt: skip
def test_a_stop_has_the_seeds_code(state: str, code: str) -> None:
    """Seeds 000 §6, 000 §8."""
    assert (RunState(state).stop_code or state) == code
