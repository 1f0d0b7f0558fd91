"""Pure: which items of a batch begin now, which never will, and the order in which they would (seed 001 §5; spec 02).

All answers are functions of the items alone, so a batch that continues in another execution decides the same.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

from cutter import limits
from cutter.batch.dependencies import in_turn
from cutter.batch.item import Item, Outcome, Stage
from cutter.batch.shares import Shares


def next_starts(
    items: Sequence[Item],
    *,
    lanes: int,
    window: int = limits.BATCH_WINDOW,
    weights: Mapping[str, float] | None = None,
    rooms: Mapping[str, int] | None = None,
) -> list[str]:
    """The documents to start now, in this order.

    A document begins when all its dependencies are enacted. At most `lanes` items plan and at most `window` are
    open; those in human review do not count as open, since they would hold up the night. Within a tenant the lower
    priority begins, then the first one in the file; between tenants, see `Shares`. `rooms` are the items
    that a tenant may begin now; one that is not in it has no cap.
    """
    shares = Shares(items, weights, rooms)
    for item in startable(items):
        shares.offer(item)
    planning = sum(item.stage is Stage.PLANNING for item in items)
    is_open = sum(item.started and not item.in_review for item in items)
    free = min(lanes - planning, window - is_open)
    begun: list[str] = []
    while len(begun) < free and (one := shares.take()):
        begun.append(one.document_id)
    return begun


def startable(items: Sequence[Item]) -> list[Item]:
    """Pending items whose dependencies are all law, in the given order."""
    good = {item.document_id for item in items if item.stands}
    return [item for item in items if item.stage is Stage.PENDING and good.issuperset(item.depends_on)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Blocked:
    """Why an item cannot begin: a dependency that it names, and the document at which that chain broke."""

    document_id: str
    dependency: str
    cause: str


def blocked(items: Sequence[Item]) -> dict[str, Blocked]:
    """Pending items that can no longer begin: something they depend on, however far, was settled and is no law.

    A dependency that is not in the batch, or that waits for its own dependent, blocks as well: it will never be law.
    """
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
    """Each name that is no law and will not be → the document at which that began."""
    names = {item.document_id for item in items}
    causes = {need: need for item in items for need in item.depends_on if need not in names}
    causes |= {item.document_id: item.document_id for item in items if item.stage is Stage.SETTLED and not item.stands}
    waiting = {
        item.document_id: item for item in items if item.stage is Stage.PENDING or item.outcome is Outcome.BLOCKED
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
    """The n-th document to begin; 0 for one that does not, and then `wave` is 0 too.

    Wave 1 needs nothing of this queue that is not law yet, wave 2 something of wave 1, and so on.
    """

    number: int
    wave: int
    document_id: str
    after: tuple[str, ...]
    reason: str


def order(items: Sequence[Item], *, weights: Mapping[str, float] | None = None) -> list[Place]:
    """The order in which the pending items would begin, if all went well, and the reason for each place.

    A document waits until its dependencies are enacted, which people sign; so a wave begins after the one before it.
    Last, in the given order, come those that do not begin: settled already, under way, or blocked.
    """
    shares = Shares(items, weights)
    places: list[Place] = []
    for wave, members in enumerate(_waves(items), start=1):
        for item in members:
            shares.offer(item)
        left = {item.document_id: item for item in sorted(members, key=_rank)}
        while one := shares.take(holds=False):
            places.append(_place(one, _reason(one, list(islice(left.values(), 2))), number=len(places) + 1, wave=wave))
            del left[one.document_id]
    return places + _without_place(items, {place.document_id for place in places})


def _place(item: Item, reason: str, *, number: int = 0, wave: int = 0) -> Place:
    return Place(number=number, wave=wave, document_id=item.document_id, after=item.depends_on, reason=reason)


def _without_place(items: Sequence[Item], placed: set[str]) -> list[Place]:
    hopeless = blocked(items)
    return [
        _place(
            item,
            f"{hopeless[item.document_id].cause} is no law and will not be"
            if item.document_id in hopeless
            else str(item.outcome or item.stage),
        )
        for item in items
        if item.document_id not in placed
    ]


def _rank(item: Item) -> tuple[int, int]:
    return item.priority, item.position


def _reason(item: Item, first: Sequence[Item]) -> str:
    """Why it is this one's turn; `first` are the first two by priority and place of those that have not begun."""
    after = f"after {', '.join(item.depends_on)}; " if item.depends_on else ""
    if item is not first[0]:
        return f"{after}the turn of tenant {item.tenant}"
    alone = len(first) < 2 or first[1].priority != item.priority
    return f"{after}priority {item.priority}{'' if alone else ', first in the file'}"


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
