"""What the Web UI shows of a batch: state, counts by stage, outcome and queue, the documents about it, the command."""

from __future__ import annotations

from cutter.batch import batch_step
from cutter.batch.item import Outcome, Stage
from cutter.messages import BatchStep
from workflows import batch_display as view

BATCH_ID = "0199f1de-7c3d-7e4f-8a9b-0c1d2e3f4a5b"
TOTALS = {"at_sg1": 3, "blocked": 1, "enacted": 11, "error_queue": 1, "failed": 1, "settled": 13}


def display(**more: object) -> view.BatchDisplay:
    step = BatchStep(state="batch_awaiting_cut_authz_set", seen="", totals=TOTALS, **more)  # type: ignore[arg-type]
    return view.BatchDisplay(batch_id=BATCH_ID, steering=step)


def test_the_words_are_those_of_the_batch() -> None:
    assert tuple(Stage) == view.STAGES
    assert set(view.OUTCOMES) == set(Outcome)
    assert view.QUEUES == batch_step.QUEUES


def test_the_details_carry_the_totals_and_the_command() -> None:
    shown = view.details(display(partial=True, next_command=f"cutter approve --batch {BATCH_ID}", overview="kb/x.md"))
    assert shown.splitlines() == [
        f"### {BATCH_ID} · batch_awaiting_cut_authz_set · partial", "",
        f"- documents: 16, one row each: `cutter status {BATCH_ID}`",
        "- stage: at_sg1 3 · settled 13",
        "- outcome: enacted 11 · failed 1 · blocked 1",
        "- queue: error_queue 1",
        "- overview: `kb/x.md`", "",
        "#### What to do", "",
        "```", f"cutter approve --batch {BATCH_ID}", "```",
    ]  # fmt: skip


def test_a_rehearsal_says_so() -> None:
    assert " · dryrun" in view.details(display(mode="dryrun")).splitlines()[0]
    assert "live" not in view.details(display(mode="live")).splitlines()[0]


def test_nothing_from_outside_is_markup() -> None:
    shown = view.details(display(note="<img src=x>", next_command="```\n# x"))
    assert "<img" not in shown
    assert shown.count("```") == 2
