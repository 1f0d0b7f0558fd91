"""A batch as people see it: where each document is, how far all are, what comes first on a small screen."""

from __future__ import annotations

import pytest

from cutter.batch.view import BatchView
from cutter.projections.batch_summary import ShownBatch, by_need, shown_batch
from tests.unit.evidence import batches as made

NAMES = [f"ICX-LAW-2026-{number:03d}" for number in range(1, 11)]


def seen(facts: made.Facts | None = None) -> ShownBatch:
    whole = (facts or made.night(NAMES)).whole()
    sealed = {run_id: len(receipts) for run_id, receipts in whole["receipts"].items()}
    return shown_batch(BatchView.of(whole["view"]), sealed, made.at(3600), rejections={})


def test_each_document_is_at_the_gate_it_passes_next_waits_at_or_was_stopped_before() -> None:
    assert [(document.shown, document.gate) for document in seen().documents] == [
        ("enacted", ""), ("at_sg1", "SG_cut_authz"), ("at_sg2", "SG_lifecycle_authz"), ("failed", "mark"),
        ("stopped", "structural_verify"), ("blocked", ""), ("skipped", ""), ("pending", ""), ("at_sg1", "SG_cut_authz"),
        ("planning", "backup"),
    ]  # fmt: skip


def test_progress_counts_gates_and_what_is_settled_as_done() -> None:
    view = seen()
    # enacted, failed, blocked and skipped have nothing before them; of the others, one is pending.
    sealed = made.AT_SG1 + made.AT_SG2 + made.WRITTEN + 0 + made.AT_SG1 + made.BEFORE_BACKUP
    assert (view.gates_done, view.gates) == (4 * made.ALL + sealed, 10 * made.ALL)


def test_a_rehearsal_is_done_after_the_gates_before_people_are_asked() -> None:
    facts = made.Facts(mode="dryrun", batch_id=f"{made.BATCH_ID}-dryrun")
    facts.add("ICX-1", gates=made.AT_SG1, outcome="rehearsed")
    facts.add("ICX-2", gates=2)
    view = seen(facts)
    assert (view.gates_done, view.gates) == (made.AT_SG1 + 2, 2 * made.AT_SG1)


def test_a_batch_is_over_for_people_when_the_recorded_state_says_so() -> None:
    facts = made.Facts(state="batch_enacting")
    facts.add("ICX-1", gates=made.ALL)
    assert seen(facts).over is False
    facts.batch["state"] = "batch_closeout"
    assert seen(facts).over is True


def test_it_awaits_people_when_the_recorded_state_says_so() -> None:
    facts = made.Facts(state="batch_planning")
    facts.add("ICX-1", gates=made.AT_SG1)
    assert seen(facts).awaits == ""
    facts.batch["state"] = "batch_awaiting_cut_authz_set"
    view = seen(facts)
    assert (view.awaits, view.next) == ("SG_cut_authz", f"cutter approve --batch {made.BATCH_ID}")


@pytest.mark.parametrize(("gates", "voided"), [(made.AT_SG1, False), (made.WRITTEN, True)])
def test_what_has_written_is_voided_first(gates: int, voided: bool) -> None:
    facts = made.Facts()
    facts.add("ICX-1", gates=gates, state="failed_cut_leg_a")
    (document,) = seen(facts).documents
    assert document.commands[0].startswith("cutter void") is voided


def test_what_moves_or_needs_somebody_comes_first() -> None:
    shown = [document.shown for document in by_need(seen().documents)]
    assert shown == [
        "planning", "failed", "stopped", "at_sg2", "at_sg1", "at_sg1", "pending", "blocked", "skipped", "enacted",
    ]  # fmt: skip


def test_a_document_that_is_not_started_or_was_stopped_has_its_code() -> None:
    facts = made.Facts()
    facts.add("ICX-1", started=False, decided="busy", reason="STOP_RUN_BUSY: its run ictr-x is open")
    facts.add("ICX-2", gates=1, state="failed_mark", queue="error_queue", queue_code="failed_mark")
    facts.add("ICX-3", gates=1)
    assert [document.code for document in seen(facts).documents] == ["STOP_RUN_BUSY", "failed_mark", None]
