"""Pure: decides which tenant gets the next lane (spec 05 "Caps and fairness")."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from heapq import heapify, heappop

from cutter.batch.item import Item, Outcome, Stage
from cutter.errors import ProgrammingError

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
