"""Properties of a batch's plan over generated batches, and whole nights played through from start to end."""

from __future__ import annotations

import random  # noqa: TID251 - tests may roll dice
from collections import Counter
from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from cutter.batch.item import GOOD, Item, Outcome, Stage
from cutter.batch.plan import blocked, circles, in_turn, next_starts, order
from cutter.batch.queue import QueueRefused, load_queue
from cutter.batch.state import ENDS, batch_state, is_partial, workstream_state
from cutter.domain.run_state import BatchState, WorkstreamState

unhurried = settings(deadline=None, max_examples=60)
"""A busy machine is no reason to fail."""

WAY = (Stage.PLANNING, Stage.AT_SG1, Stage.WRITING, Stage.AT_SG2, Stage.ENACTING)
ENDINGS = [*[Outcome.ENACTED] * 8, Outcome.FAILED, Outcome.STOPPED, Outcome.VOIDED, Outcome.SKIPPED]


@st.composite
def queues(draw: st.DrawFn, *, most: int = 14) -> list[Item]:
    """Pending items; each may need some that were made before it, which may stand anywhere in the file."""
    count = draw(st.integers(1, most))
    places = draw(st.permutations(range(1, count + 1)))
    items: list[Item] = []
    for number, place in enumerate(places):
        names = [item.document_id for item in items]
        needs = draw(st.lists(st.sampled_from(names), max_size=2, unique=True)) if names else []
        items.append(
            Item(
                document_id=f"LAW-{number}",
                position=place,
                priority=draw(st.integers(0, 2)),
                depends_on=tuple(needs),
                tenant=draw(st.sampled_from("abc")),
                critical=draw(st.booleans()),
            )
        )
    return sorted(items, key=lambda item: item.position)


@st.composite
def any_items(draw: st.DrawFn) -> list[Item]:
    """Items in any stage with any dependency, also ones that no checked queue has."""
    count = draw(st.integers(0, 7))
    names = [f"LAW-{number}" for number in range(count)]
    items = []
    for position, name in enumerate(names, start=1):
        stage = draw(st.sampled_from(Stage))
        outcome = draw(st.sampled_from(Outcome)) if stage is Stage.SETTLED else None
        held = (None, Stage.AT_SG1, Stage.AT_SG2) if outcome is Outcome.STOPPED else (None,)
        items.append(
            Item(
                document_id=name,
                position=position,
                depends_on=tuple(draw(st.lists(st.sampled_from([*names, "GONE"]), max_size=2, unique=True))),
                critical=draw(st.booleans()),
                tenant=draw(st.sampled_from("ab")),
                stage=stage,
                outcome=outcome,
                in_review=draw(st.booleans()),
                held_at=draw(st.sampled_from(held)),
            )
        )
    return items


class Night:
    """A batch played to its end: starts what the plan says, then moves one item, chosen by chance, one step."""

    def __init__(self, items: list[Item], *, lanes: int, window: int, seed: int, reviewed: frozenset[str]) -> None:
        self.items = {item.document_id: item for item in items}
        self.lanes, self.window = lanes, window
        self.chance = random.Random(seed)
        self.reviewed = reviewed
        self.begun: list[str] = []

    @property
    def all(self) -> list[Item]:
        return list(self.items.values())

    def play(self) -> None:
        for _ in range(20 * len(self.items) + 20):
            self.start()
            self.settle_blocked()
            if not self.step():
                return
        raise AssertionError("the night has no end")

    def start(self) -> None:
        good = {item.document_id for item in self.all if item.good}
        for name in next_starts(self.all, lanes=self.lanes, window=self.window):
            assert self.items[name].stage is Stage.PENDING
            assert good.issuperset(self.items[name].depends_on)
            self.items[name] = replace(self.items[name], stage=Stage.PLANNING)
            self.begun.append(name)
        assert sum(item.stage is Stage.PLANNING for item in self.all) <= self.lanes
        assert sum(item.started and not item.in_review for item in self.all) <= self.window

    def settle_blocked(self) -> None:
        for name in blocked(self.all):
            self.items[name] = replace(self.items[name], stage=Stage.SETTLED, outcome=Outcome.BLOCKED)

    def step(self) -> bool:
        movable = [item for item in self.all if item.started and not item.in_review]
        if not movable:
            return False
        item = self.chance.choice(movable)
        if item.document_id in self.reviewed and item.stage is Stage.AT_SG1:
            self.items[item.document_id] = replace(item, in_review=True)
        elif item.stage is Stage.ENACTING or self.chance.random() < 0.1:
            outcome = self.chance.choice(ENDINGS)
            self.items[item.document_id] = replace(item, stage=Stage.SETTLED, outcome=outcome)
        else:
            self.items[item.document_id] = replace(item, stage=WAY[WAY.index(item.stage) + 1])
        return True


nights = st.builds(
    Night,
    queues(),
    lanes=st.integers(1, 4),
    window=st.integers(1, 6),
    seed=st.integers(0, 2**32),
    reviewed=st.frozensets(st.integers(0, 13).map("LAW-{}".format), max_size=3),
)


@unhurried
@given(nights)
def test_every_night_comes_to_an_end_within_its_lanes(night: Night) -> None:
    night.play()
    state = batch_state(night.all, window=night.window)
    reviewed = [item for item in night.all if item.in_review and item.started]
    assert Counter(night.begun).most_common(1) == [] or max(Counter(night.begun).values()) == 1
    for item in night.all:
        waits = item.stage is Stage.PENDING
        assert item.stage is Stage.SETTLED or item in reviewed or waits
        if waits:  # only for what waits for a person
            assert reviewed
            assert any(not night.items[need].good for need in item.depends_on)
    assert state is BatchState.AWAITING_CUT if reviewed else state in ENDS
    if not reviewed:
        assert (state is BatchState.CLOSEOUT) == all(item.outcome in GOOD for item in night.all)


@unhurried
@given(st.lists(st.integers(0, 3), min_size=1, max_size=12), st.integers(1, 4), st.randoms(use_true_random=False))
def test_ag_orch_02_the_lower_number_begins_first_and_the_same_number_in_the_order_of_the_file(
    priorities: list[int], lanes: int, chance: random.Random
) -> None:
    """Whenever lanes come free, and in whatever order the items are given.

    Seed 002 "Queue and Cancellation Controls".
    """
    items = {
        f"LAW-{place}": Item(document_id=f"LAW-{place}", position=place, priority=priority)
        for place, priority in enumerate(priorities, start=1)
    }
    begun: list[str] = []
    while len(begun) < len(items):
        given = list(items.values())
        chance.shuffle(given)
        for name in next_starts(given, lanes=lanes):
            begun.append(name)
            items[name] = replace(items[name], stage=Stage.PLANNING)
        done = chance.choice([item for item in items.values() if item.stage is Stage.PLANNING])
        items[done.document_id] = replace(done, stage=Stage.SETTLED, outcome=Outcome.ENACTED)
    places = [(items[name].priority, items[name].position) for name in begun]
    assert places == sorted(places)


@unhurried
@given(queues(), st.integers(1, 4))
def test_within_a_tenant_nothing_that_could_begin_is_passed_over(items: list[Item], lanes: int) -> None:
    begun = next_starts(items, lanes=lanes)
    for tenant in "abc":
        ready = sorted(
            (item for item in items if item.tenant == tenant and not item.depends_on),
            key=lambda item: (item.priority, item.position),
        )
        mine = [name for name in begun if name in {item.document_id for item in ready}]
        assert mine == [item.document_id for item in ready][: len(mine)]
    could = sum(not item.depends_on for item in items)
    assert len(begun) == min(lanes, could)


@unhurried
@given(queues(), st.integers(1, 6))
def test_no_tenant_holds_two_lanes_more_than_one_that_still_waits(items: list[Item], lanes: int) -> None:
    begun = set(next_starts(items, lanes=lanes))
    held = Counter(item.tenant for item in items if item.document_id in begun)
    waits = {item.tenant for item in items if not item.depends_on and item.document_id not in begun}
    for tenant in waits:
        assert all(count <= held[tenant] + 1 for count in held.values())


@unhurried
@given(st.integers(1, 8), st.randoms(use_true_random=False))
def test_nine_small_tenants_begin_within_the_first_lanes(lanes: int, chance: random.Random) -> None:
    """One tenant with 100 documents stands first in the file and has the better priority."""
    items = {
        item.document_id: item
        for item in (
            *(Item(document_id=f"BIG-{n}", position=n, tenant="big", priority=1) for n in range(1, 101)),
            *(Item(document_id=f"SMALL-{n}", position=100 + n, tenant=f"small-{n}") for n in range(1, 10)),
        )
    }
    begun: list[str] = []
    while len(begun) < 40:
        for name in next_starts(list(items.values()), lanes=lanes):
            begun.append(name)
            items[name] = replace(items[name], stage=Stage.PLANNING)
        done = chance.choice([item for item in items.values() if item.stage is Stage.PLANNING])
        items[done.document_id] = replace(done, stage=Stage.SETTLED, outcome=Outcome.ENACTED)
    assert begun[0] == "BIG-1"
    # Nine of their own, and the big one's turns between them: one for each of its lanes that came free meanwhile.
    assert sum(name.startswith("SMALL") for name in begun[:10]) == 9


weights_of = st.fixed_dictionaries(dict.fromkeys("abc", st.integers(1, 5)))


@unhurried
@given(weights_of, st.integers(1, 3))
def test_in_each_round_every_tenant_gets_exactly_its_weight(weights: dict[str, int], rounds: int) -> None:
    """Seed 003 §3.4: one lane, every tenant has enough to do."""
    size = sum(weights.values())
    items = [
        Item(document_id=f"{tenant}-{n}", position=1 + n + 100 * "abc".index(tenant), tenant=tenant)
        for tenant in "abc"
        for n in range(5 * rounds)
    ]
    turns = [place.document_id[0] for place in order(items, weights=weights)]
    for number in range(rounds):
        assert Counter(turns[number * size : (number + 1) * size]) == weights


@unhurried
@given(queues(), weights_of, st.integers(1, 6))
def test_a_tenant_that_waits_holds_as_much_for_its_weight_as_any_other_would_without_its_last_lane(
    items: list[Item], weights: dict[str, int], lanes: int
) -> None:
    begun = set(next_starts(items, lanes=lanes, weights=weights))
    held = Counter(item.tenant for item in items if item.document_id in begun)
    waits = {item.tenant for item in items if not item.depends_on and item.document_id not in begun}
    for tenant in waits:
        for other, count in held.items():
            assert (count - 1) / weights[other] <= held[tenant] / weights[tenant]


@unhurried
@given(queues(), st.dictionaries(st.sampled_from("abc"), st.integers(0, 3)), st.integers(1, 6))
def test_no_tenant_begins_more_than_its_room_and_no_lane_stays_free_for_it(
    items: list[Item], rooms: dict[str, int], lanes: int
) -> None:
    begun = next_starts(items, lanes=lanes, rooms=rooms)
    held = Counter(item.tenant for item in items if item.document_id in begun)
    assert all(held[tenant] <= room for tenant, room in rooms.items())
    ready = Counter(item.tenant for item in items if not item.depends_on)
    assert len(begun) == min(lanes, sum(min(count, rooms.get(tenant, count)) for tenant, count in ready.items()))
    for tenant in "abc":
        mine = [item for item in items if item.tenant == tenant and not item.depends_on]
        mine.sort(key=lambda item: (item.priority, item.position))
        assert [name for name in begun if name in {item.document_id for item in mine}] == [
            item.document_id for item in mine
        ][: held[tenant]], "within a tenant: priority, then first in, first out"


@unhurried
@given(queues(), weights_of)
def test_no_tenant_starves(items: list[Item], weights: dict[str, int]) -> None:
    """One lane: between two turns of a tenant each other one has no more than its weight's part, and one for a tie.

    Seed 003 §3.4.
    """
    state = {item.document_id: replace(item, depends_on=()) for item in items}
    waits = dict.fromkeys({item.tenant for item in items}, 0)
    while any(item.stage is Stage.PENDING for item in state.values()):
        begun = next_starts(list(state.values()), lanes=1, weights=weights)
        for tenant in waits:
            pending = any(item.tenant == tenant and item.stage is Stage.PENDING for item in state.values())
            waits[tenant] = waits[tenant] + 1 if pending and state[begun[0]].tenant != tenant else 0
            others = (weights[rival] for rival in waits if rival != tenant)
            assert waits[tenant] <= sum(weight / weights[tenant] + 1 for weight in others)
        state[begun[0]] = replace(state[begun[0]], stage=Stage.SETTLED, outcome=Outcome.ENACTED)


@unhurried
@given(queues(), st.data())
def test_a_poisoned_item_blocks_exactly_what_depends_on_it(items: list[Item], data: st.DataObject) -> None:
    poisoned = data.draw(st.sampled_from(items)).document_id
    outcome = data.draw(st.sampled_from(sorted(set(Outcome) - GOOD)))
    after = [
        replace(item, stage=Stage.SETTLED, outcome=outcome) if item.document_id == poisoned else item for item in items
    ]
    needs = {item.document_id: set(item.depends_on) for item in items}
    reached: set[str] = {poisoned}
    while more := {name for name, wanted in needs.items() if wanted & reached} - reached:
        reached |= more
    blocks = blocked(after)
    assert set(blocks) == reached - {poisoned}
    for block in blocks.values():
        assert block.dependency in needs[block.document_id]
        assert block.dependency in reached
        assert block.cause == poisoned


@unhurried
@given(any_items(), st.booleans(), st.booleans(), st.integers(0, 3))
def test_every_batch_has_one_state(items: list[Item], started: bool, halted: bool, window: int) -> None:
    state = batch_state(items, started=started, halted=halted, window=window)
    assert isinstance(state, BatchState)
    assert isinstance(workstream_state(items, started=started, halted=halted), WorkstreamState)
    assert isinstance(is_partial(items), bool)
    if state in ENDS:
        assert not any(item.started or item.held_at for item in items)
    if state is BatchState.CLOSEOUT:
        assert all(item.good for item in items)
    if state is BatchState.PLANNING and not any(item.stage is Stage.PLANNING for item in items):
        assert next_starts(items, lanes=1, window=window)


@unhurried
@given(any_items())
def test_blocked_and_startable_are_apart(items: list[Item]) -> None:
    assert not set(blocked(items)) & set(next_starts(items, lanes=len(items)))


@unhurried
@given(queues())
def test_the_order_has_each_item_once_after_what_it_needs(items: list[Item]) -> None:
    places = order(items)
    assert sorted(place.document_id for place in places) == sorted(item.document_id for item in items)
    assert [place.number for place in places] == list(range(1, len(items) + 1))
    number_of = {place.document_id: place.number for place in places}
    for place in places:
        assert all(number_of[need] < place.number for need in place.after)
    assert [place.wave for place in places] == sorted(place.wave for place in places)


@unhurried
@given(queues())
def test_the_answers_do_not_depend_on_the_order_in_which_items_are_given(items: list[Item]) -> None:
    back = list(reversed(items))
    assert next_starts(back, lanes=3) == next_starts(items, lanes=3)
    assert [p for p in order(back) if p.number] == [p for p in order(items) if p.number]
    assert blocked(back) == blocked(items)
    assert batch_state(back) is batch_state(items)


@unhurried
@given(st.dictionaries(st.sampled_from("ABCDEFG"), st.lists(st.sampled_from("ABCDEFGX"), max_size=3)))
def test_names_are_in_turn_or_behind_a_circle(needs: dict[str, list[str]]) -> None:
    turn = in_turn(needs)
    for place, name in enumerate(turn):
        assert all(need in turn[:place] for need in needs[name] if need in needs)
    loops = list(circles(needs))
    assert bool(loops) == (len(turn) < len(needs))
    for circle in loops:
        assert not set(circle) & set(turn)
        assert all(after in needs[before] for before, after in zip(circle, [*circle[1:], circle[0]], strict=True))


HEAD = (
    "schema_version: 1\nbatch_id: 0199f1de-7c3d-7e4f-8a9b-0c1d2e3f4a5b\n"
    "created_by: ops\ncreated_utc: 2026-11-21T22:00:00Z\nitems:\n"
)


@unhurried
@given(queues())
def test_a_queue_reads_back_as_it_was_written(items: list[Item]) -> None:
    text = HEAD + "".join(
        f"  - document_id: {item.document_id}\n    priority: {item.priority}\n    tenant: {item.tenant}\n"
        f"    critical: {str(item.critical).lower()}\n    depends_on: [{', '.join(item.depends_on)}]\n"
        for item in items
    )
    read = load_queue(text.encode()).items
    assert [
        (item.document_id, item.priority, item.tenant, item.critical, item.depends_on, item.position) for item in read
    ] == [
        (item.document_id, item.priority, item.tenant, item.critical, item.depends_on, item.position) for item in items
    ]


LINES = [
    "items:", "  - document_id: LAW-1", "  - document_id: LAW-2", "    depends_on: [LAW-1]", "    priority: 1",
    "    password: x1y2z3", "    source_uri: postgres://u:x1y2z3@h/d", "&a", "*a", "---", "...", "<<: *a", "!!str",
    "\t", "    - x", "? k", "schema_version: 1", "  - [", "  - {", "''", '"', "%TAG ! x", "\u202e", "\x85", "\ufeff",
    "#",
]  # fmt: skip


@unhurried
@given(st.lists(st.sampled_from(LINES), max_size=8).map("\n".join) | st.text(max_size=80) | st.binary(max_size=80))
def test_any_bytes_are_a_queue_or_refused_with_reasons(more: str | bytes) -> None:
    data = HEAD.encode() + (more.encode("utf-8", "surrogatepass") if isinstance(more, str) else more)
    refusal = refusal_of(data)
    if refusal is None:
        assert load_queue(data).items
        assert b"x1y2z3" not in data
    else:
        assert refusal.problems
        assert "x1y2z3" not in str(refusal)


def refusal_of(data: bytes) -> QueueRefused | None:
    try:
        load_queue(data)
    except QueueRefused as refusal:
        return refusal
    return None
