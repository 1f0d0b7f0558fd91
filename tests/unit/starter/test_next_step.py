"""What moves a run: the same rule as the database's `fn_run_resume`, as words and a command."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cutter.domain.next_step import Needs, Step, next_step
from cutter.gates.catalogue import State

RUN, DOCUMENT = "ictr-1", "ICX-LAW-1"


def step(state: str, *, latched: bool = False, wrote: bool = False, outcome: str | None = None) -> Step:
    return next_step(run_id=RUN, document_id=DOCUMENT, state=state, latched=latched, wrote=wrote, outcome=outcome)


@pytest.mark.parametrize("state", ["awaiting_cut_authorization", "awaiting_lifecycle_authorization"])
def test_a_run_at_a_sovereign_gate_waits_for_a_signature(state: str) -> None:
    assert step(state) == Step(needs=Needs.APPROVAL, command=f"cutter approve {RUN}")


@pytest.mark.parametrize(
    "state",
    [
        "stopped_unavailable_kb",
        "stopped_soft_cap_mark",
        "stopped_expired",
        "stopped_signal_flood",
        "stopped_terminated",
    ],
)
def test_an_outage_is_resumed_by_the_operator_unless_the_stop_latch_is_set(state: str) -> None:
    assert step(state) == Step(needs=Needs.RESUME, command=f"cutter orchestrate resume --run-id {RUN}")
    assert step(state, latched=True).needs is Needs.SIGNED_RESUME


@pytest.mark.parametrize("state", ["stopped_stop", "stopped_cancel", "stopped_hard_cap", "stopped_never_seen_before"])
def test_every_other_stop_needs_a_signed_resume(state: str) -> None:
    signed = Step(needs=Needs.SIGNED_RESUME, command=f"cutter approve {RUN} --decision resume --reason TEXT")
    assert step(state) == signed


@pytest.mark.parametrize("latched", [False, True])
def test_drift_needs_a_signed_acknowledgement(latched: bool) -> None:
    found = step("stopped_drift_row_content", latched=latched)
    assert found == Step(needs=Needs.SIGNED_ACKNOWLEDGEMENT, command=f"cutter acknowledge-drift {RUN} --reason TEXT")


def test_a_failed_run_that_wrote_is_voided_before_it_is_amended() -> None:
    amend = f"cutter run {DOCUMENT} --amends {RUN}"
    assert step("failed_mark").command == amend
    assert step("failed_write_verify", wrote=True).command == f"cutter void {RUN} --reason TEXT    # then: {amend}"


@pytest.mark.parametrize("state", ["marked", "awaiting_cut_authorization", "pending"])
def test_a_latched_stop_that_the_workflow_has_not_heard_of_is_delivered(state: str) -> None:
    assert step(state, latched=True) == Step(needs=Needs.DELIVERY, command="cutter reconcile")


@pytest.mark.parametrize(
    ("state", "outcome", "command"),
    [
        ("closeout_reported", None, f"cutter report {RUN}"),
        ("voided_wrong_text", None, f"cutter run {DOCUMENT}"),
        ("awaiting_cut_authorization", "rehearsed", f"cutter run {DOCUMENT}"),
        ("source_pinned", "skipped", f"cutter status {DOCUMENT}"),
    ],
)
def test_an_ended_run_needs_nobody(state: str, outcome: str | None, command: str) -> None:
    assert step(state, outcome=outcome) == Step(needs=Needs.NOTHING, command=command)


FAMILIES = st.builds(
    str.__add__, st.sampled_from(["failed_", "stopped_", "voided_"]), st.from_regex(r"[a-z_]{1,20}", fullmatch=True)
)


@given(st.sampled_from([state.value for state in State]) | FAMILIES, st.booleans(), st.booleans())
def test_every_state_has_one_command_that_begins_with_cutter(state: str, latched: bool, wrote: bool) -> None:
    assert step(state, latched=latched, wrote=wrote).command.startswith("cutter ")
