"""Pure: parts of a long page of `cutter desk`. A part holds whole entries, at least one, and at most so many bytes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from cutter.errors import NotFound

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """Which part of a page is shown: its number from 1, the number of parts, and its entries as a slice."""

    number: int
    count: int
    first: int
    end: int
    link: Callable[[int], str] = str
    """The address of another part."""

    def of(self, entries: Sequence[T]) -> Sequence[T]:
        return entries[self.first : self.end]


def part_of(sizes: Sequence[int], number: int, budget: int, link: Callable[[int], str] = str) -> Part:
    """The part with that number, of entries with these sizes. Raises NotFound if there are fewer parts."""
    begins, room = [0], budget  # The place of each part's first entry.
    for place, size in enumerate(sizes):
        if size > room and place > begins[-1]:
            begins.append(place)
            room = budget
        room -= size
    if not 1 <= number <= len(begins):
        raise NotFound(f"this page has {len(begins)} parts: there is no part {number}", code="NO_SUCH_PART")
    ends = [*begins[1:], len(sizes)]
    return Part(number=number, count=len(begins), first=begins[number - 1], end=ends[number - 1], link=link)
