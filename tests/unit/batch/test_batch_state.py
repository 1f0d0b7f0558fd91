"""The nine states of a batch and the seven of a workstream, each from the items that make it."""

from __future__ import annotations

import pytest

from cutter.batch.item import Item, Outcome, Stage
from cutter.batch.state import batch_state, is_partial, stops_the_rest, workstream_state
from cutter.domain.run_state import BatchState, WorkstreamState

S, O = Stage, Outcome  # noqa: E741 - two letters for two tables


def batch(*places: Stage | Outcome, **more: object) -> list[Item]:
    """Items in these stages, or settled with these outcomes."""
    return [
        Item(
            document_id=f"D{number}",
            position=number,
            stage=place if isinstance(place, Stage) else Stage.SETTLED,
            outcome=place if isinstance(place, Outcome) else None,
            **more,  # type: ignore[arg-type]
        )
        for number, place in enumerate(places, start=1)
    ]


def test_the_nine_names_are_the_seeds() -> None:
    """Seeds 001 §3, 001 §12."""
    assert [state.value for state in BatchState] == [
        "batch_pending", "batch_planning", "batch_awaiting_cut_authz_set", "batch_writing",
        "batch_awaiting_lifecycle_authz_set", "batch_enacting", "batch_closeout", "batch_failed_partial",
        "batch_voided",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("items", "state"),
    [
        (batch(), BatchState.PENDING),
        (batch(S.PENDING), BatchState.PLANNING),
        (batch(S.PLANNING, S.WRITING, S.AT_SG1), BatchState.PLANNING),
        (batch(S.PENDING, S.ENACTING), BatchState.PLANNING),
        (batch(S.AT_SG1, S.WRITING, S.ENACTING, S.AT_SG2), BatchState.WRITING),
        (batch(S.AT_SG1, S.AT_SG2, S.ENACTING), BatchState.ENACTING),
        (batch(S.AT_SG1, S.AT_SG2, O.ENACTED), BatchState.AWAITING_LIFECYCLE),
        (batch(S.AT_SG1, S.AT_SG1, O.FAILED), BatchState.AWAITING_CUT),
        (batch(O.ENACTED, O.SKIPPED, O.REHEARSED), BatchState.CLOSEOUT),
        (batch(O.ENACTED, O.FAILED), BatchState.FAILED_PARTIAL),
        (batch(O.ENACTED, O.STOPPED), BatchState.FAILED_PARTIAL),
        (batch(O.ENACTED, O.BLOCKED), BatchState.FAILED_PARTIAL),
        (batch(O.ENACTED, O.BUSY), BatchState.FAILED_PARTIAL),
        (batch(O.ENACTED, O.VOIDED), BatchState.FAILED_PARTIAL),
        (batch(O.VOIDED, O.VOIDED), BatchState.VOIDED),
    ],
)
def test_the_state_is_what_the_items_make_it(items: list[Item], state: BatchState) -> None:
    """Seed 001 §3."""
    assert batch_state(items) is state


def test_a_batch_whose_workflow_has_not_begun_is_pending() -> None:
    assert batch_state(batch(S.PENDING), started=False) is BatchState.PENDING


def test_a_dependent_that_waits_does_not_make_the_batch_plan() -> None:
    waiting = Item(document_id="X", position=9, depends_on=("D1",))
    assert batch_state([*batch(S.AT_SG1), waiting]) is BatchState.AWAITING_CUT
    assert batch_state([*batch(O.ENACTED), waiting]) is BatchState.PLANNING
    assert batch_state([*batch(O.FAILED), waiting]) is BatchState.FAILED_PARTIAL


def test_a_full_window_waits_for_people_and_not_for_lanes() -> None:
    items = batch(S.AT_SG1, S.AT_SG1, S.PENDING)
    assert batch_state(items, window=2) is BatchState.AWAITING_CUT
    assert batch_state(items, window=3) is BatchState.PLANNING


def test_a_halted_batch_begins_nothing_more() -> None:
    assert batch_state(batch(S.PENDING, S.WRITING), halted=True) is BatchState.WRITING
    assert batch_state(batch(S.PENDING, O.FAILED), halted=True) is BatchState.FAILED_PARTIAL


def test_what_is_in_human_review_names_the_state_only_when_nothing_else_waits() -> None:
    (reviewed,) = batch(S.AT_SG2, in_review=True)
    ordinary = Item(document_id="X", position=9, stage=S.AT_SG1)
    assert batch_state([reviewed, ordinary]) is BatchState.AWAITING_CUT
    assert batch_state([reviewed, *batch(O.ENACTED)]) is BatchState.AWAITING_LIFECYCLE


AWAITED = [(S.AT_SG1, BatchState.AWAITING_CUT), (S.AT_SG2, BatchState.AWAITING_LIFECYCLE)]


@pytest.mark.parametrize(("at", "state"), AWAITED)
def test_what_a_person_holds_makes_the_batch_wait_at_its_gate_after_all_others(at: Stage, state: BatchState) -> None:
    """Seed 001 §6 on_sovereign_stop."""
    held = batch(O.STOPPED, held_at=at)
    for others in ([O.ENACTED], [O.FAILED], [O.VOIDED], []):
        assert batch_state([*held, *batch(*others)]) is state
        assert workstream_state([*held, *batch(*others)]) is WorkstreamState.EXECUTING
    assert batch_state([*held, *batch(S.ENACTING)]) is BatchState.ENACTING
    for waits, awaited in AWAITED:
        for in_review in (False, True):
            assert batch_state([*held, *batch(waits, in_review=in_review)]) is awaited


@pytest.mark.parametrize(
    ("items", "partial"),
    [
        (batch(S.AT_SG1, S.AT_SG1), False),
        (batch(S.AT_SG1, S.PLANNING), False),
        (batch(S.AT_SG1, S.WRITING), True),
        (batch(S.AT_SG1, S.AT_SG2), True),
        (batch(S.AT_SG1, O.ENACTED), True),
        (batch(S.AT_SG1, O.SKIPPED), False),
        (batch(S.AT_SG1, O.FAILED), False),
        (batch(S.AT_SG2, S.AT_SG2, S.WRITING), False),
        (batch(S.AT_SG2, S.ENACTING), True),
        (batch(S.AT_SG2, O.ENACTED), True),
        (batch(O.ENACTED, O.ENACTED), False),
    ],
)
def test_a_batch_is_partial_while_one_waits_where_another_has_passed(items: list[Item], partial: bool) -> None:
    """Seed 001 §4."""
    assert is_partial(items) is partial


def test_a_failure_stops_the_rest_when_it_is_critical_or_the_policy_strict() -> None:
    """Seed 001 §6."""
    plain, critical = batch(O.ENACTED, O.FAILED), batch(S.WRITING, O.STOPPED, critical=True)
    assert stops_the_rest(plain, strict=False) is None
    assert stops_the_rest(plain, strict=True) is plain[1]
    assert stops_the_rest(critical, strict=False) is critical[1]
    for harmless in (O.BUSY, O.BLOCKED, O.VOIDED, O.SKIPPED):
        assert stops_the_rest(batch(harmless, critical=True), strict=True) is None


def test_a_stop_by_a_person_stops_nothing_else() -> None:
    """Seed 001 §6 on_sovereign_stop."""
    assert stops_the_rest(batch(S.WRITING, O.STOPPED, critical=True, held_at=S.AT_SG1), strict=True) is None


@pytest.mark.parametrize(
    ("items", "state"),
    [
        (batch(), WorkstreamState.PLANNED),
        (batch(S.PLANNING, S.PENDING), WorkstreamState.EXECUTING),
        (batch(S.PENDING, O.ENACTED), WorkstreamState.EXECUTING),
        (batch(S.AT_SG1, O.FAILED), WorkstreamState.EXECUTING),
        (batch(O.ENACTED, O.ENACTED), WorkstreamState.VALIDATING),
        (batch(O.ENACTED, O.FAILED), WorkstreamState.FAILED),
        (batch(O.VOIDED, O.VOIDED), WorkstreamState.CANCELLED),
        (batch(S.AT_SG1, O.FAILED, critical=True), WorkstreamState.EXECUTING),
        (batch(S.PENDING, O.FAILED, critical=True), WorkstreamState.FAILED),
    ],
)
def test_the_workstream_is_seen_through_its_tasks(items: list[Item], state: WorkstreamState) -> None:
    """Seeds 004 "Workstream Lifecycle" Transition Details, 004 "Workstream Lifecycle" Invariants."""
    assert workstream_state(items) is state


def test_a_workstream_is_ready_before_and_completed_after() -> None:
    """Seed 004 "Workstream Lifecycle" Transition Details."""
    assert workstream_state([], started=False) is WorkstreamState.PLANNED
    assert workstream_state(batch(S.PENDING), started=False) is WorkstreamState.READY
    assert workstream_state(batch(S.PENDING), started=True) is not WorkstreamState.READY
    assert workstream_state(batch(O.ENACTED), closed=False) is WorkstreamState.VALIDATING, "its report is not written"
    assert workstream_state(batch(O.ENACTED), closed=True) is WorkstreamState.COMPLETED
    for closed in (False, True):
        assert workstream_state(batch(O.ENACTED, O.FAILED), closed=closed) is WorkstreamState.FAILED
