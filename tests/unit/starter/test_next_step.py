"""What moves a run: the same rule as the database's `fn_run_resume`, as words and a command."""

from __future__ import annotations

import shlex
from typing import Any

import pytest
import typer
from hypothesis import given
from hypothesis import strategies as st
from typer.core import TyperGroup

from cutter.catalogue import GATES, State
from cutter.domain.next_step import Needs, Step, StepFacts, next_step
from starter import cli

RUN, DOCUMENT = "ictr-1", "ICX-LAW-1"


def step(state: str, **facts: Any) -> Step:
    return next_step(StepFacts(run_id=RUN, document_id=DOCUMENT, state=state, **facts))


@pytest.mark.parametrize("state", ["awaiting_cut_authorization", "awaiting_lifecycle_authorization"])
def test_a_run_at_a_sovereign_gate_waits_for_a_signature(state: str) -> None:
    assert step(state) == Step(needs=Needs.APPROVAL, commands=(f"cutter approve {DOCUMENT}",))


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
    assert step(state) == Step(needs=Needs.RESUME, commands=(f"cutter orchestrate resume --document-id {DOCUMENT}",))
    assert step(state, latched=True).needs is Needs.SIGNED_RESUME


@pytest.mark.parametrize("state", ["stopped_stop", "stopped_hard_cap", "stopped_never_seen_before"])
def test_every_other_stop_needs_a_signed_resume(state: str) -> None:
    signed = Step(needs=Needs.SIGNED_RESUME, commands=(f"cutter approve {DOCUMENT} --decision resume --reason TEXT",))
    assert step(state) == signed


@pytest.mark.parametrize("latched", [False, True])
def test_what_was_cancelled_after_it_had_written_is_voided(latched: bool) -> None:
    assert step("stopped_cancel", latched=latched) == Step(
        needs=Needs.SIGNED_VOID, commands=(f"cutter void {DOCUMENT} --reason TEXT",)
    )


@pytest.mark.parametrize("latched", [False, True])
def test_drift_needs_a_signed_acknowledgement(latched: bool) -> None:
    advice = step("stopped_drift_row_content", latched=latched)
    assert advice == Step(
        needs=Needs.SIGNED_ACKNOWLEDGEMENT,
        commands=(f"cutter approve {DOCUMENT} --decision acknowledge_drift --reason TEXT",),
    )


@pytest.mark.parametrize("latched", [False, True])
def test_a_base_that_is_no_longer_in_force_is_voided_and_cut_again(latched: bool) -> None:
    advice = step("stopped_drift_base", latched=latched)
    assert advice.needs == Needs.SIGNED_VOID
    assert advice.commands == (f"cutter void {DOCUMENT} --reason TEXT", f"cutter run {DOCUMENT}")


VOID, AMEND = f"cutter void {RUN} --reason TEXT", f"cutter run {DOCUMENT} --amends {RUN}"


@pytest.mark.parametrize("wrote", [False, True])
@pytest.mark.parametrize("state", ["failed_source_pin", "failed_mark", "failed_cutplan", "failed_rejected"])
def test_a_failure_of_the_text_says_correct_it_void_add_and_run(state: str, wrote: bool) -> None:
    advice = step(state, wrote=wrote)
    add = f"cutter source add FILE --document-id {DOCUMENT} --profile PROFILE"
    assert advice.first.startswith("correct the text")
    assert advice.commands == ((VOID, add, AMEND) if wrote else (add, AMEND)), "a void withdraws drafts"
    assert advice.command.endswith(f"{add}    # then: {AMEND}")


def test_another_failure_is_voided_only_when_drafts_stand() -> None:
    assert step("failed_backup").commands == (AMEND,)
    assert step("failed_write_verify", wrote=True).commands == (VOID, AMEND)


def test_law_that_is_enacted_is_never_told_to_be_voided_or_cut_again() -> None:
    assert not {VOID, AMEND} & set(step("failed_closeout", wrote=True).commands)
    assert not {VOID, AMEND} & set(step("failed_policy", wrote=True, enacted=True).commands)


def test_a_corrected_text_runs_again_and_is_not_asked_for_a_second_time() -> None:
    assert step("failed_mark", corrected=True) == Step(needs=Needs.CORRECTION, commands=(AMEND,))
    assert step("failed_rejected", corrected=True, wrote=True).commands == (VOID, AMEND)
    assert step("failed_mark", corrected=True, enacted=True) == step("failed_mark", enacted=True)
    assert step("failed_backup", corrected=True) == step("failed_backup")


def test_what_the_policy_denied_begins_with_the_policy() -> None:
    assert "cutter policy explain" in step("failed_policy").first
    assert step("failed_policy", wrote=True).commands == (VOID, AMEND)


@pytest.mark.parametrize("state", ["marked", "awaiting_cut_authorization", "pending"])
def test_a_latched_stop_that_the_workflow_has_not_heard_of_is_delivered(state: str) -> None:
    assert step(state, latched=True) == Step(needs=Needs.DELIVERY, commands=("cutter reconcile",))


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
    assert step(state, outcome=outcome) == Step(needs=Needs.NOTHING, commands=(command,))


EVERY = [
    *(state.value for state in State),
    *(f"failed_{gate.phase}" for gate in GATES),
    "failed_rejected",
    "failed_policy",
    *(f"stopped_soft_cap_{gate.phase}" for gate in GATES),
    *(f"stopped_error_{gate.phase}" for gate in GATES),
    *(f"stopped_drift_{dimension}" for dimension in ("row_count", "row_content", "functions", "receipts", "base")),
    *(f"stopped_unavailable_{what}" for what in ("kb", "database", "backup", "gpg", "worker_exec", "policy")),
    "stopped_stop", "stopped_cancel", "stopped_hard_cap", "stopped_expired", "stopped_signal_flood",
    "stopped_terminated", "stopped_never_seen_before", "voided_cancelled", "voided_wrong_source",
]  # fmt: skip
RUNNING = {state.value for state in State} - {State.CLOSEOUT_REPORTED.value}
REAL_RUN = "ictr-20261121T090000Z-0190a5b2-7c3d-7e4f-8a9b-0c1d2e3f4a5b"


def typed(line: str) -> None:
    """Parse a command as `cutter` does, with own words for placeholders; an unknown command, option or form raises."""
    own = {"FILE": __file__, "TEXT": "it is right", "PROFILE": "generic-markdown"}
    words = [own.get(word, word) for word in shlex.split(line)]
    assert words[0] == "cutter"
    command = cli.app()
    words = words[1:]
    while isinstance(command, TyperGroup):
        subcommand = command.get_command(typer.Context(command), words[0])
        assert subcommand is not None, f"{line}: there is no command {words[0]}"
        command, words = subcommand, words[1:]
    command.make_context(command.name, words)


@pytest.mark.parametrize("latched", [False, True])
@pytest.mark.parametrize("wrote", [False, True])
@pytest.mark.parametrize("state", EVERY)
def test_every_state_has_a_way_forward_that_the_command_line_takes(state: str, wrote: bool, latched: bool) -> None:
    advice = next_step(StepFacts(run_id=REAL_RUN, document_id=DOCUMENT, state=state, latched=latched, wrote=wrote))
    assert advice.commands
    for command in advice.commands:
        typed(command)
    looks_only = {command.split()[1] for command in advice.commands} <= {"status", "report", "audit"}
    if state not in RUNNING | {State.CLOSEOUT_REPORTED.value, "failed_closeout"}:
        assert not looks_only, "a command that only shows moves nothing"


FAMILIES = st.builds(
    str.__add__, st.sampled_from(["failed_", "stopped_", "voided_"]), st.from_regex(r"[a-z_]{1,20}", fullmatch=True)
)


@given(st.sampled_from([state.value for state in State]) | FAMILIES, st.booleans(), st.booleans())
def test_every_state_has_one_command_that_begins_with_cutter(state: str, latched: bool, wrote: bool) -> None:
    assert step(state, latched=latched, wrote=wrote).command.startswith("cutter ")
