"""The one command of a batch: it names what holds the batch, and what it names changes what is named next."""

from __future__ import annotations

from dataclasses import replace

import pytest

from cutter.batch import batch_step, ways
from cutter.batch.item import REVIEW
from cutter.batch.view import BatchView
from cutter.domain.run_state import BatchState
from tests.unit.batch.views import BATCH_ID, failed_run, item, view

RESUME = f"cutter orchestrate resume-batch --batch-id {BATCH_ID}"
REPORT = f"cutter report {BATCH_ID}"
LAW = item("A", "closeout_reported", enacted=True)
VOIDED = item("C", decided="voided")


def sign(name: str) -> str:
    return f"cutter approve --batch {BATCH_ID} --decision include_failed --only {name} --reason TEXT"


def next_of(batch_view: BatchView) -> str:
    return ways.next_command(batch_view, batch_step.summarise(batch_view, attended=batch_view.attended))


def test_a_strict_batch_names_the_correction_then_the_signature_then_its_own_resume() -> None:
    """Seed 001 §6."""
    strict = {"policy": "strict", "halted": "failure"}
    text = f"cutter source add FILE --document-id B --profile PROFILE    # then: {sign('B')}"
    assert next_of(view(item("B", "failed_mark"), VOIDED, **strict)) == text
    assert next_of(view(item("B", "failed_mark", corrected=True), VOIDED, **strict)) == sign("B")
    assert next_of(view(item("B", "failed_mark", included=True), VOIDED, **strict)) == RESUME


@pytest.mark.parametrize("halted", ["failure", "critical"])
def test_what_the_batch_itself_has_stopped_does_not_halt_it_again(halted: str) -> None:
    strict = {"policy": "strict" if halted == "failure" else "default", "halted": halted}
    ours = item("C", "stopped_stop", latched=True, latch_kind="stop", stopped_by="batch", critical=True)
    signed = view(item("B", "failed_mark", included=True, critical=True), ours, item("D"), **strict)
    assert next_of(signed) == RESUME
    going = view(item("B", "failed_mark", included=True), ours, item("D"), policy="strict", age=1.0)
    assert (batch_step.decide(going, window=9).halt, batch_step.decide(going, window=9).starts) == (None, ("B", "D"))
    drifted = view(item("C", "stopped_drift_source"), item("D"), policy="strict", age=1.0)
    assert batch_step.decide(drifted, window=9).starts == ()


@pytest.mark.parametrize("policy", ["strict", "quarantine"])
def test_after_a_stop_by_a_person_the_batch_names_its_resume_and_nothing_is_halted(policy: str) -> None:
    """Seed 001 §6 on_sovereign_stop."""
    resume = "cutter approve B --decision resume --reason TEXT"
    held = item("B", "stopped_stop", latched=True, latch_kind="stop", stopped_by="olga", critical=True)
    waits = view(LAW, held, state="batch_awaiting_cut_authz_set", policy=policy, age=1.0)
    assert next_of(waits) == resume
    assert batch_step.decide(waits, window=9) == batch_step.BatchActions()
    summary = batch_step.summarise(waits, attended=True)
    assert (summary.state, summary.over, summary.gate) == (BatchState.AWAITING_CUT, False, "")
    failed = view(item("A", "failed_mark"), held, state="batch_awaiting_cut_authz_set", age=1.0)
    assert next_of(failed) == resume, "the batch has not ended"
    drafts = replace(held, state="stopped_cancel", latch_kind="cancel", wrote=True)
    cancelled = view(LAW, drafts, state="batch_awaiting_lifecycle_authz_set", policy=policy, age=1.0)
    assert next_of(cancelled) == "cutter void B --reason TEXT"
    asked = item("A", "awaiting_cut_authorization", gate="SG_cut_authz", request_kb_id="k")
    assert next_of(view(asked, held, state="batch_awaiting_cut_authz_set")) == f"cutter approve --batch {BATCH_ID}"
    gone = replace(held, ended=True)
    assert batch_step.summarise(view(LAW, gone, age=1.0), attended=True).state is BatchState.FAILED_PARTIAL


def test_at_night_a_document_that_a_person_holds_waits_in_human_review() -> None:
    night = {"policy": "quarantine", "unattended": True, "state": "batch_awaiting_cut_authz_set", "age": 1.0}
    held = item("B", "stopped_stop", latched=True, latch_kind="stop", stopped_by="olga", reason="look")
    quarantined = replace(held, queue="quarantine_queue", queue_state="stopped_stop")
    for entered in (held, quarantined):
        batch_view = view(LAW, entered, **night)
        (entry,) = batch_step.decide(batch_view, window=9).enters
        assert (entry.document_id, entry.queue, entry.state, entry.reason) == ("B", REVIEW, "stopped_stop", "look")
        assert not batch_step.summarise(batch_view, attended=False).over
    assert batch_step.decide(view(LAW, quarantined, **night), window=9).leaves == (("B", "stopped_stop"),)
    rests = view(LAW, replace(held, queue=REVIEW, queue_state="stopped_stop"), **night)
    assert batch_step.decide(rests, window=9) == batch_step.BatchActions()
    summary = batch_step.summarise(rests, attended=False)
    assert (summary.state, summary.over) == (BatchState.AWAITING_CUT, True)
    assert next_of(rests) == "cutter approve B --decision resume --reason TEXT"
    resumed = replace(rests.items[1], state="marked", stopped_by=None, latched=False)
    assert batch_step.decide(view(LAW, resumed, **night), window=9).leaves == (("B", "marked"),)


def test_a_document_that_stopped_under_strict_is_seen_to_before_the_batch_is_resumed() -> None:
    strict = {"policy": "strict", "halted": "failure"}
    drift = item("B", "stopped_drift_source")
    assert next_of(view(drift, VOIDED, **strict)) == "cutter approve B --decision acknowledge_drift --reason TEXT"
    assert next_of(view(item("B", "marked"), VOIDED, **strict)) == RESUME
    failed_too = view(item("B", "marked"), item("D", "failed_mark", corrected=True), VOIDED, **strict)
    assert next_of(failed_too) == sign("D"), "a resume would stop what goes on"


def test_drafts_are_withdrawn_before_a_document_is_cut_again() -> None:
    command = next_of(view(LAW, item("B", "failed_write_verify", wrote=True)))
    void, queue = command.split("    # then: ")
    assert void == "cutter void run of B --reason TEXT"
    assert queue == "cutter orchestrate batch --queue QUEUE --skip-completed --resume"


def test_a_partial_batch_names_its_documents_one_after_the_other_the_failed_ones_first() -> None:
    stopped = item("C", "stopped_unavailable_database")
    assert next_of(view(LAW, stopped, item("B", "failed_rejected", corrected=True))) == sign("B")
    assert next_of(view(LAW, stopped)) == "cutter orchestrate resume --document-id C"
    assert next_of(view(LAW, item("C", "marked"))) == RESUME, "it goes on and nobody steers the batch"


def test_what_another_run_holds_up_is_not_asked_again_before_that_run_has_ended() -> None:
    busy = item("C", decided="busy", open_run="ictr-x")
    assert next_of(view(LAW, busy)) == REPORT
    assert ways.command_of(BATCH_ID, busy) == "cutter status ictr-x"
    assert next_of(view(LAW, replace(busy, open_run=None))) == RESUME


@pytest.mark.parametrize(
    ("batch_id", "command"),
    [(None, "cutter run C --amends ictr-x"), (BATCH_ID, sign("C"))],
    ids=["a single run", "a batch"],
)
def test_what_was_passed_over_is_taken_in_where_it_failed(batch_id: str | None, command: str) -> None:
    before = failed_run("ictr-x", batch_id)
    passed_over = item("C", decided="blocked", kept_out=True, failed_run=before)
    assert next_of(view(LAW, passed_over)) == command


@pytest.mark.parametrize(
    ("batch_view", "command"),
    [
        (view(LAW, state="batch_closeout"), REPORT),
        (view(item("A", "voided_cancelled"), VOIDED, state="batch_voided", halted="cancel"), REPORT),
        (view(item("A", "marked"), state="batch_planning", age=1.0), f"cutter status {BATCH_ID} --watch"),
        (view(item("A", "awaiting_cut_authorization"), state="batch_awaiting_cut_authz_set", age=1.0),
         f"cutter approve --batch {BATCH_ID}"),
        (view(LAW, item("C"), halted="hard_cap"), RESUME),
        (view(item("A", "stopped_stop", latched=True, stopped_by="batch"), VOIDED, halted="stop"), RESUME),
        (view(item("A", "stopped_stop", latched=True, stopped_by="batch")),
         "cutter approve A --decision resume --reason TEXT"),
    ],
    ids=["closed", "cancelled", "at work", "awaiting people", "over its cap", "stopped by people", "its documents"],
)  # fmt: skip
def test_each_situation_has_its_own_command(batch_view: BatchView, command: str) -> None:
    assert next_of(batch_view) == command


def test_nobody_is_asked_again_for_a_document_with_all_its_signatures() -> None:
    waiting = item("ICX-A", "awaiting_cut_authorization", run_id="ictr-a")
    assert ways.command_of(BATCH_ID, waiting) == "cutter approve ICX-A"
    assert ways.command_of(BATCH_ID, replace(waiting, approved=True)) == "cutter status ICX-A --watch"
