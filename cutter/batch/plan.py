"""Pure: decides which items of a batch begin now, which can never begin, and in which order items would begin.

It follows seed 001 §5 and seed 004 "planned → ready" (spec 02, spec 05 "Caps and fairness").

The decisions depend only on the items. So a batch that continues in another execution decides the same.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from heapq import heapify, heappop
from itertools import islice
from operator import attrgetter
from typing import Any

from cutter import limits
from cutter.batch.item import NOT_UNDER_WAY, Item, Outcome, Stage
from cutter.errors import ProgrammingError


def next_starts(
    items: Sequence[Item],
    *,
    lanes: int,
    window: int = limits.BATCH_WINDOW,
    weights: Mapping[str, float] | None = None,
    rooms: Mapping[str, int] | None = None,
) -> list[str]:
    """The documents to start now, in this order.

    A document begins when all its dependencies are enacted. At most `lanes` items plan and at most `window` items are
    open. Items in human review do not count as open, because they would hold up the night. Within a tenant, the item
    with the lower priority number begins first, then the item that is first in the file. Between tenants, see `Shares`.
    `rooms` says how many items a tenant may begin now; a tenant without an entry has no cap.
    """
    free = free_places(items, lanes=lanes, window=window)
    if free <= 0:
        return []
    shares = Shares(items, weights, rooms)
    shares.offer(startable(items))
    begun: list[str] = []
    while len(begun) < free and (item := shares.take()):
        begun.append(item.document_id)
    return begun


def free_places(items: Sequence[Item], *, lanes: int, window: int) -> int:
    """How many items may begin now. Zero or less if none may."""
    under_way = [item for item in items if item.stage not in NOT_UNDER_WAY]
    planning = sum(item.stage is Stage.PLANNING for item in under_way)
    return min(lanes - planning, window - sum(not item.in_review for item in under_way))


def startable(items: Sequence[Item]) -> list[Item]:
    """The pending items whose dependencies are all enacted, in the given order."""
    stage = Stage.PENDING  # looked up once, because a queue may have thousands of items
    pending = [item for item in items if item.stage is stage]
    if not any(item.depends_on for item in pending):
        return pending
    good = {item.document_id for item in items if item.stands}
    return [item for item in pending if good.issuperset(item.depends_on)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Blocked:
    """Why an item cannot begin: its dependency, and the document at which the chain of dependencies broke."""

    document_id: str
    dependency: str
    cause: str


def blocked(items: Sequence[Item]) -> dict[str, Blocked]:
    """The pending items that can no longer begin: a direct or indirect dependency ended without being enacted, is not
    in the batch, or waits for its own dependent.
    """
    # Each look asks this about all items of a batch, and most batches have no dependencies.
    if not any(item.depends_on for item in items):
        return {}
    causes = _causes(items)
    return {
        item.document_id: Blocked(
            document_id=item.document_id,
            dependency=next(need for need in item.depends_on if need in causes),
            cause=causes[item.document_id],
        )
        for item in items
        if item.stage is Stage.PENDING and item.document_id in causes
    }


def _causes(items: Sequence[Item]) -> dict[str, str]:
    """Maps each document that will never be enacted to the document at which its chain of dependencies broke."""
    names = {item.document_id for item in items}
    causes = {need: need for item in items for need in item.depends_on if need not in names}
    causes |= {
        item.document_id: item.document_id
        for item in items
        if item.stage is Stage.SETTLED and not item.stands and item.held_at is None
    }
    # An item without dependencies is neither blocked nor in a cycle, and most items have none.
    waiting = {
        item.document_id: item
        for item in items
        if item.depends_on and (item.stage is Stage.PENDING or item.outcome is Outcome.BLOCKED)
    }
    turn = in_turn({name: item.depends_on for name, item in waiting.items()})
    causes |= {name: name for name in waiting.keys() - set(turn)}
    for name in turn:
        broken = next((need for need in waiting[name].depends_on if need in causes), None)
        if broken is not None:
            causes[name] = causes[broken]
    return causes


# --- the order, before anything has begun -----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A document's place in the order of starts, and its wave, both from 1. A document of wave 2 needs one of wave 1.
    One that does not begin has 0 for both.
    """

    number: int
    wave: int
    document_id: str
    after: tuple[str, ...]
    reason: str


def order(items: Sequence[Item], *, weights: Mapping[str, float] | None = None) -> list[Place]:
    """The order in which the pending items would begin if every document ended well, with the reason for each place.

    A document waits until people have signed and the run has enacted its dependencies. So each wave begins after the
    wave before it. The documents that do not begin (already settled, under way, or blocked) come last, in the given
    order.
    """
    shares = Shares(items, weights)
    places: list[Place] = []
    for wave, members in enumerate(_waves(items), start=1):
        shares.offer(members)
        left = {item.document_id: item for item in sorted(members, key=attrgetter("priority", "position"))}
        while item := shares.take(holds=False):
            first = list(islice(left.values(), 2))
            alone = len(first) < 2 or first[1].priority != item.priority
            reason = f"priority {item.priority}{'' if alone else ', earlier in the file'}"
            if item is not first[0]:
                reason = f"the turn of tenant {item.tenant}"
            after = f"after {', '.join(item.depends_on)}; " if item.depends_on else ""
            places.append(_place(item, after + reason, number=len(places) + 1, wave=wave))
            del left[item.document_id]
    placed, hopeless = {place.document_id for place in places}, blocked(items)
    for item in items:
        if item.document_id not in placed:
            cause = hopeless.get(item.document_id)
            reason = f"{cause.cause} is not enacted and will not be" if cause else str(item.outcome or item.stage)
            places.append(_place(item, reason))
    return places


def _place(item: Item, reason: str, *, number: int = 0, wave: int = 0) -> Place:
    return Place(number=number, wave=wave, document_id=item.document_id, after=item.depends_on, reason=reason)


def _waves(items: Sequence[Item]) -> list[list[Item]]:
    hopeless = _causes(items)
    waiting = {
        item.document_id: item for item in items if item.stage is Stage.PENDING and item.document_id not in hopeless
    }
    wave_of: dict[str, int] = {}
    for name in in_turn({name: item.depends_on for name, item in waiting.items()}):
        wave_of[name] = max((wave_of[need] + 1 for need in waiting[name].depends_on if need in wave_of), default=0)
    waves: list[list[Item]] = [[] for _ in range(max(wave_of.values(), default=-1) + 1)]
    for name, item in waiting.items():
        waves[wave_of[name]].append(item)
    return waves


Needs = Mapping[str, Sequence[str]]
"""Maps each name to the names that it needs. A need that is not itself a key counts as met."""


def in_turn(needs: Needs) -> list[str]:
    """The names, each after the names that it needs. Names in a circle, or that wait for one, are left out."""
    graph: TopologicalSorter[str] = TopologicalSorter()
    for name in needs:
        # All names come first, so that names without needs keep the given order.
        graph.add(name)
    for name, wanted in needs.items():
        graph.add(name, *(need for need in wanted if need in needs))
    with suppress(CycleError):
        graph.prepare()
    turn: list[str] = []
    while ready := graph.get_ready():
        turn += ready
        graph.done(*ready)
    return turn


def circles(needs: Needs) -> Iterator[list[str]]:
    """One circle from each group of entangled names. A circle begins with its first name in the given order."""
    turn = set(in_turn(needs))
    place = {name: number for number, name in enumerate(needs)}
    walked: set[str] = set()
    for start in needs:
        path: dict[str, None] = {}
        here = start
        while here not in turn and here not in walked and here not in path:
            path[here] = None
            here = next(need for need in needs[here] if need in needs and need not in turn)
        if here in path:
            circle = list(path)[list(path).index(here) :]
            first = circle.index(min(circle, key=place.__getitem__))
            yield circle[first:] + circle[:first]
        walked.update(path)


NEVER_RAN = (None, Outcome.BUSY, Outcome.BLOCKED)


class Shares:
    """Max-min fair lanes: the next lane goes to the tenant that holds the fewest lanes relative to its weight.

    If several tenants hold equally few, the lane goes to the tenant that has been given the fewest lanes relative to
    its weight. After that, the lower priority number decides, and then the order of the file. So no tenant gets a
    second lane while another tenant that could use a lane has none. A tenant without a weight has the weight 1. Within
    a tenant, the priority decides first, and then the order of the file.
    """

    def __init__(
        self, items: Iterable[Item], weights: Mapping[str, float] | None = None, rooms: Mapping[str, int] | None = None
    ) -> None:
        """`items` are all items of the batch, because the lanes that they hold or were given count. `rooms` says how
        many items a tenant may begin now; a tenant without an entry has no cap. Raises ProgrammingError for a weight of
        0.
        """
        self._weights = dict(weights or {})
        if any(weight <= 0 for weight in self._weights.values()):
            raise ProgrammingError("a tenant's weight is more than 0")
        self._rooms = dict(rooms or {})
        self._holds: Counter[str] = Counter()
        self._given: Counter[str] = Counter()
        self._waiting: dict[str, list[tuple[int, int, Item]]] = {}
        began = [item for item in items if item.started or item.outcome not in NEVER_RAN]
        self._given.update(item.tenant for item in began)
        self._holds.update(item.tenant for item in began if item.stage is Stage.PLANNING)

    def offer(self, items: Iterable[Item]) -> None:
        """Let items wait for a lane. An item whose tenant has no room left is ignored."""
        for item in items:
            self._waiting.setdefault(item.tenant, []).append((item.priority, item.position, item))
        for waiting in self._waiting.values():
            heapify(waiting)

    def take(self, *, holds: bool = True) -> Item | None:
        """The next item, or None if no item may begin. With `holds`, the item's lane counts as held from now on."""
        able = [tenant for tenant in self._waiting if self._rooms.get(tenant, 1) > 0]
        if not able:
            return None
        tenant = min(able, key=self._claim)
        item = heappop(self._waiting[tenant])[2]
        if not self._waiting[tenant]:
            del self._waiting[tenant]
        if tenant in self._rooms:
            self._rooms[tenant] -= 1
        self._given[tenant] += 1
        self._holds[tenant] += holds
        return item

    def _claim(self, tenant: str) -> tuple[float, float, int, int]:
        weight = self._weights.get(tenant, 1.0)
        priority, position, _ = self._waiting[tenant][0]
        return self._holds[tenant] / weight, self._given[tenant] / weight, priority, position


SCHEMA_VERSION = 1


def dag_mermaid(items: Sequence[Item]) -> str:
    """The content of dag.mmd: an arrow leads to the documents that wait. Critical ones have a thick border."""
    nodes = {item.document_id: f"d{item.position}" for item in items}
    lines = ["flowchart LR"]
    lines += [f'    {nodes[item.document_id]}["{item.document_id}"]' for item in items]
    lines += [
        f"    {nodes[need]} --> {nodes[item.document_id]}"
        for item in items
        for need in item.depends_on
        if need in nodes
    ]
    critical = [nodes[item.document_id] for item in items if item.critical]
    if critical:
        lines += ["    classDef critical stroke-width:4px", f"    class {','.join(critical)} critical"]
    return "\n".join([*lines, ""])


def execution_plan(items: Sequence[Item], *, weights: Mapping[str, float] | None = None) -> dict[str, Any]:
    """The content of plan.json: the documents in waves in the order of starts, and those that do not begin."""
    by_id = {item.document_id: item for item in items}
    places = order(items, weights=weights)
    waves: list[list[dict[str, Any]]] = [[] for _ in range(max((place.wave for place in places), default=0))]
    for place in places:
        if place.number:
            item = by_id[place.document_id]
            waves[place.wave - 1].append(
                {
                    "order": place.number,
                    "document_id": item.document_id,
                    "priority": item.priority,
                    "tenant": item.tenant,
                    "critical": item.critical,
                    "depends_on": list(item.depends_on),
                    "reason": place.reason,
                }
            )
    return {
        "schema_version": SCHEMA_VERSION,
        "documents": len(items),
        "waves": [{"wave": number, "items": members} for number, members in enumerate(waves, start=1)],
        "not_begun": [
            {"document_id": place.document_id, "reason": place.reason} for place in places if not place.number
        ],
    }
