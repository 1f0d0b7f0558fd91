"""Pure: decides which items of a batch begin now, which can never begin, and in which order items would begin (seed 001
§5; spec 02).

The decisions depend only on the items. So a batch that continues in another execution decides the same.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from operator import attrgetter

from cutter import limits
from cutter.batch.dependencies import in_turn
from cutter.batch.fair_scheduler import Shares
from cutter.batch.item import NOT_UNDER_WAY, Item, Outcome, Stage


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
    """Why an item cannot begin: the dependency that it names, and the document at which the chain of dependencies
    broke.
    """

    document_id: str
    dependency: str
    cause: str


def blocked(items: Sequence[Item]) -> dict[str, Blocked]:
    """The pending items that can no longer begin, because a direct or indirect dependency ended without being enacted.

    A dependency that is not in the batch, or that waits for its own dependent, also blocks, because it will never be
    enacted.
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
    """A document's place in the order of starts, from 1. A document that does not begin has place 0 and wave 0.

    A document of wave 1 needs no document of this queue that is still to be enacted. A document of wave 2 needs one of
    wave 1, and so on.
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
