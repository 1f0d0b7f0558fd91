"""Pure: orders names by their dependencies, and finds circular dependencies, in linear time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from graphlib import CycleError, TopologicalSorter

Needs = Mapping[str, Sequence[str]]
"""Maps each name to the names that it needs. A need that is not itself a key counts as met."""


def in_turn(needs: Needs) -> list[str]:
    """The names in an order in which each name comes after the names that it needs. Names in a circle are left out, and
    so are names that wait for a circle.
    """
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
