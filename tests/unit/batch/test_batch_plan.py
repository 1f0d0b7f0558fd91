"""Which items begin, which never will, and in what order; each rule by the smallest batch that shows it."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cutter.batch.item import Item, Outcome, Stage, outcome_of, stage_of
from cutter.batch.plan import blocked, circles, dag_mermaid, execution_plan, in_turn, next_starts, order
from cutter.catalogue import State, seed_state
from cutter.errors import ProgrammingError


def item(position: int, name: str, stage: Stage = Stage.PENDING, *needs: str, **more: object) -> Item:
    return Item(document_id=name, position=position, stage=stage, depends_on=needs, **more)  # type: ignore[arg-type]


def settled(position: int, name: str, outcome: Outcome, *needs: str) -> Item:
    return item(position, name, Stage.SETTLED, *needs, outcome=outcome)


PLANNING = ["pending", "source_pinned", "marked", "cutplan_ok", "pre_write_backup_taken", "grants_probed"]
WRITING = ["cut_leg_a_committed", "structural_verified", "leg_b_recorded", "write_verified"]
STAGES = {
    None: Stage.PENDING,
    **dict.fromkeys(PLANNING, Stage.PLANNING),
    "awaiting_cut_authorization": Stage.AT_SG1,
    **dict.fromkeys(WRITING, Stage.WRITING),
    "awaiting_lifecycle_authorization": Stage.AT_SG2,
    "lifecycle_enacted": Stage.ENACTING,
    "closeout_reported": Stage.SETTLED,
}


def test_every_state_has_its_stage() -> None:
    assert set(STAGES) == {None, *map(seed_state, State)}
    for state in (None, *State):
        assert stage_of(state) is STAGES[state and seed_state(state)]


@pytest.mark.parametrize(
    ("state", "outcome"),
    [
        ("closeout_reported", Outcome.ENACTED),
        ("failed_mark", Outcome.FAILED),
        ("failed_rejected", Outcome.FAILED),
        ("stopped_drift_row_content", Outcome.STOPPED),
        ("stopped_cancel", Outcome.STOPPED),
        ("voided_cancelled", Outcome.VOIDED),
    ],
)
def test_an_ending_state_has_its_outcome(state: str, outcome: Outcome) -> None:
    assert (stage_of(state), outcome_of(state)) == (Stage.SETTLED, outcome)


@pytest.mark.parametrize("word", ["rehearsed", "skipped"])
def test_a_run_that_ended_without_a_write_says_so_itself(word: str) -> None:
    assert outcome_of("awaiting_cut_authorization", outcome=word, ended=True) == Outcome(word)
    assert stage_of("awaiting_cut_authorization", outcome=word, ended=True) is Stage.SETTLED


@given(st.sampled_from([state.value for state in State if state is not State.CLOSEOUT_REPORTED]))
def test_a_run_that_ended_on_its_way_never_counts_as_done(state: str) -> None:
    assert outcome_of(state, ended=True) is Outcome.STOPPED
    assert outcome_of(state) is None


def test_an_approved_item_waits_for_nobody() -> None:
    assert stage_of("awaiting_cut_authorization", approved=True) is Stage.WRITING
    assert stage_of("awaiting_lifecycle_authorization", approved=True) is Stage.ENACTING
    assert stage_of("marked", approved=True) is Stage.PLANNING
    assert stage_of("stopped_stop", approved=True) is Stage.SETTLED


def test_a_state_that_nobody_knows_is_an_error() -> None:
    with pytest.raises(ProgrammingError):
        stage_of("half_done")


@pytest.mark.parametrize(("stage", "outcome"), [(Stage.SETTLED, None), (Stage.WRITING, Outcome.ENACTED)])
def test_only_a_settled_item_has_an_outcome(stage: Stage, outcome: Outcome | None) -> None:
    with pytest.raises(ProgrammingError):
        Item(document_id="A", position=1, stage=stage, outcome=outcome)


def test_lower_priority_begins_first_then_the_files_order() -> None:
    """Seed 001 §5."""
    items = [item(1, "A"), item(2, "B", priority=1), item(3, "C"), item(4, "D", priority=1)]
    assert next_starts(items, lanes=10) == ["B", "D", "A", "C"]


def test_lanes_bound_what_is_planned_and_not_what_waits() -> None:
    """Seed 001 §5."""
    busy = [item(1, "A", Stage.PLANNING), item(2, "B", Stage.AT_SG1), item(3, "C", Stage.WRITING)]
    waiting = [item(4, "D"), item(5, "E"), item(6, "F")]
    assert next_starts(busy + waiting, lanes=3) == ["D", "E"]
    assert next_starts(busy + waiting, lanes=1) == []
    assert next_starts(busy + waiting, lanes=0) == []


def test_the_window_bounds_what_is_open_without_what_is_in_review() -> None:
    opened = [item(1, "A", Stage.AT_SG1), item(2, "B", Stage.AT_SG1, in_review=True), settled(3, "C", Outcome.FAILED)]
    waiting = [item(4, "D"), item(5, "E")]
    assert next_starts(opened + waiting, lanes=4, window=2) == ["D"]
    assert next_starts(opened + waiting, lanes=4, window=1) == []


@pytest.mark.parametrize("outcome", [Outcome.ENACTED, Outcome.REHEARSED, Outcome.SKIPPED])
def test_a_dependent_begins_when_all_it_needs_is_law(outcome: Outcome) -> None:
    """Seeds 004 "Task Lifecycle" Transition Details, 004 "Task Lifecycle" Invariants."""
    needs = item(3, "C", Stage.PENDING, "A", "B")
    assert next_starts([settled(1, "A", outcome), settled(2, "B", Outcome.ENACTED), needs], lanes=4) == ["C"]
    assert next_starts([settled(1, "A", outcome), item(2, "B", Stage.ENACTING), needs], lanes=4) == []


BAD = [Outcome.FAILED, Outcome.STOPPED, Outcome.VOIDED, Outcome.BUSY]


@pytest.mark.parametrize("outcome", BAD)
def test_what_ends_otherwise_blocks_all_that_need_it_however_far(outcome: Outcome) -> None:
    """Seed 004 "Task Lifecycle" Transition Details."""
    items = [
        settled(1, "A", outcome),
        item(2, "B", Stage.PENDING, "A"),
        item(3, "C", Stage.PENDING, "OK", "B"),
        item(4, "D", Stage.PENDING, "OK"),
        settled(5, "OK", Outcome.ENACTED),
    ]
    blockages = blocked(items)
    assert [(blockage.document_id, blockage.dependency, blockage.cause) for blockage in blockages.values()] == [
        ("B", "A", "A"),
        ("C", "B", "A"),
    ]
    assert next_starts(items, lanes=4) == ["D"]


@pytest.mark.parametrize("outcome", [Outcome.FAILED, Outcome.STOPPED])
def test_law_whose_run_stopped_or_failed_behind_its_enactment_blocks_nothing(outcome: Outcome) -> None:
    behind = item(1, "A", Stage.SETTLED, outcome=outcome, law=True)
    items = [behind, item(2, "B", Stage.PENDING, "A")]
    assert (next_starts(items, lanes=10), blocked(items), behind.good) == (["B"], {}, False)
    at_work = [item(1, "A", Stage.ENACTING, law=True), items[1]]
    assert next_starts(at_work, lanes=10) == [], "its closeout is waited for"


def test_what_a_person_holds_blocks_nothing() -> None:
    held = item(1, "A", Stage.SETTLED, outcome=Outcome.STOPPED, held_at=Stage.AT_SG1)
    needs = item(2, "B", Stage.PENDING, "A")
    assert (next_starts([held, needs], lanes=10), blocked([held, needs])) == ([], {})


def test_the_cause_is_found_through_what_was_blocked_before() -> None:
    items = [settled(1, "A", Outcome.FAILED), settled(2, "B", Outcome.BLOCKED, "A"), item(3, "C", Stage.PENDING, "B")]
    assert (blocked(items)["C"].dependency, blocked(items)["C"].cause) == ("B", "A")
    alone = [settled(2, "B", Outcome.BLOCKED), item(3, "C", Stage.PENDING, "B")]
    assert blocked(alone)["C"].cause == "B"


def test_what_can_never_become_law_blocks_too() -> None:
    items = [item(1, "A", Stage.PENDING, "GONE"), item(2, "B", Stage.PENDING, "C"), item(3, "C", Stage.PENDING, "B")]
    assert {name: blockage.dependency for name, blockage in blocked(items).items()} == {"A": "GONE", "B": "C", "C": "B"}


def test_lanes_are_shared_between_tenants() -> None:
    items = [item(number, f"BIG-{number}", tenant="big") for number in range(1, 9)]
    items += [item(20 + number, f"S{number}", tenant=f"s{number}") for number in range(2)]
    assert next_starts(items, lanes=4) == ["BIG-1", "S0", "S1", "BIG-2"]


def test_a_share_counts_lanes() -> None:
    items = [item(number, f"A{number}", tenant="a") for number in range(9)]
    items += [item(20 + number, f"B{number}", tenant="b") for number in range(9)]
    begun = next_starts(items, lanes=8, weights={"a": 3})
    assert sum(name.startswith("A") for name in begun) == 6


def test_lanes_that_are_held_now_count_before_those_that_were_given() -> None:
    given = [settled(number, f"A{number}", Outcome.ENACTED) for number in range(1, 6)]
    items = [*given, item(6, "B1", Stage.PLANNING, tenant="b"), item(7, "B2", tenant="b"), item(8, "A8")]
    assert next_starts(items, lanes=2) == ["A8"]


def test_with_one_lane_tenants_take_turns_by_what_they_were_given() -> None:
    items = [settled(1, "A1", Outcome.FAILED), item(2, "A2"), item(3, "B1", tenant="b")]
    assert next_starts(items, lanes=1) == ["B1"]
    items[0] = settled(1, "A1", Outcome.BUSY)
    assert next_starts(items, lanes=1) == ["A2"]


def test_a_tenant_without_room_waits_and_the_others_take_its_lanes() -> None:
    items = [item(number, f"A{number}", tenant="a", priority=1) for number in range(3)]
    items += [item(20 + number, f"B{number}", tenant="b") for number in range(3)]
    assert next_starts(items, lanes=4, rooms={"a": 1}) == ["A0", "B0", "B1", "B2"]
    assert next_starts(items, lanes=4, rooms={"a": 0, "b": 2}) == ["B0", "B1"]
    assert next_starts(items, lanes=4, rooms={"a": 0, "b": 0}) == []


def test_a_share_of_nothing_is_an_error() -> None:
    with pytest.raises(ProgrammingError):
        next_starts([item(1, "A")], lanes=1, weights={"default": 0})


def test_the_order_tells_why() -> None:
    items = [
        item(1, "A"),
        item(2, "B", priority=1),
        item(3, "C", Stage.PENDING, "D", priority=1),
        item(4, "D"),
        item(5, "E", tenant="t"),
        settled(6, "X", Outcome.BUSY),
        item(7, "Y", Stage.PENDING, "X"),
    ]
    assert [(entry.number, entry.wave, entry.document_id, entry.reason) for entry in order(items)] == [
        (1, 1, "B", "priority 1"),
        (2, 1, "E", "the turn of tenant t"),
        (3, 1, "A", "priority 100, earlier in the file"),
        (4, 1, "D", "priority 100"),
        (5, 2, "C", "after D; priority 1"),
        (0, 0, "X", "busy"),
        (0, 0, "Y", "X is not enacted and will not be"),
    ]


def test_the_picture_has_each_document_and_each_dependency() -> None:
    """Seed 004 "Workstream Lifecycle" Transition Details."""
    items = [item(1, "LAW-A"), item(2, "LAW-B", Stage.PENDING, "LAW-A", critical=True)]
    assert dag_mermaid(items).splitlines() == [
        "flowchart LR",
        '    d1["LAW-A"]',
        '    d2["LAW-B"]',
        "    d1 --> d2",
        "    classDef critical stroke-width:4px",
        "    class d2 critical",
    ]


def test_the_execution_plan_is_json_with_the_order_in_waves() -> None:
    """Seed 004 "Workstream Lifecycle" Transition Details."""
    items = [item(1, "A", Stage.PENDING, "B"), item(2, "B"), settled(3, "C", Outcome.SKIPPED)]
    plan = json.loads(json.dumps(execution_plan(items)))
    assert (plan["schema_version"], plan["documents"]) == (1, 3)
    assert [[entry["document_id"] for entry in wave["items"]] for wave in plan["waves"]] == [["B"], ["A"]]
    assert plan["waves"][1]["items"][0] == {
        "order": 2, "document_id": "A", "priority": 100, "tenant": "default", "critical": False, "depends_on": ["B"],
        "reason": "after B; priority 100",
    }  # fmt: skip
    assert plan["not_begun"] == [{"document_id": "C", "reason": "skipped"}]


def test_names_come_after_what_they_need_and_circles_are_left_out() -> None:
    needs = {"A": ["B"], "B": ["C"], "C": [], "D": ["E"], "E": ["D"], "F": ["E"], "G": ["OUTSIDE"]}
    assert sorted(in_turn(needs)) == ["A", "B", "C", "G"]
    assert [name for name in in_turn(needs) if name in "ABC"] == ["C", "B", "A"]
    assert list(circles(needs)) == [["D", "E"]]


def test_a_chain_of_any_length_needs_no_stack() -> None:
    chain = {f"L{number}": [f"L{number + 1}"] for number in range(5_000)}
    assert len(in_turn(chain)) == 5_000
    assert len(next(circles({**chain, "L5000": ["L0"]}))) == 5_001
