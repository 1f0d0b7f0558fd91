"""Pure: orders names by what they need, and finds circles; without recursion, in linear time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

Needs = Mapping[str, Sequence[str]]
"""Name → the names that come before it. Needs that are no names themselves count as met."""


def in_turn(needs: Needs) -> list[str]:
    """The names, each after all that it needs; those in a circle, and those that wait for one, are left out."""
    waits = {name: sum(need in needs for need in wanted) for name, wanted in needs.items()}
    dependents: dict[str, list[str]] = {}
    for name, wanted in needs.items():
        for need in wanted:
            dependents.setdefault(need, []).append(name)
    ready = [name for name, count in waits.items() if count == 0]
    for name in ready:  # grows while it is walked
        for dependent in dependents.get(name, ()):
            waits[dependent] -= 1
            if waits[dependent] == 0:
                ready.append(dependent)
    return ready


def circles(needs: Needs) -> Iterator[list[str]]:
    """One circle of each knot of names, each beginning with its first name in the given order."""
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
