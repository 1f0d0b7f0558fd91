"""Pure: which article lines of a text are the law's own, which are quoted, and which belong to a second document.

Only the numbers, the quotation marks and the headings between the lines are looked at.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

from benchmarks.quotations import announced, dense
from benchmarks.words import Head

_AHEAD = 400
"""Lines that are looked at to see whether a numbering goes on."""

_RUN_MIN = 2

Group = tuple[int, bool, int | None]
"""A heading that holds articles: its line, whether it has `#`, and its number."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """A line that begins like an article, with `#` or without."""

    line: int
    head: Head | None
    hashes: bool
    quoted: bool

    @property
    def value(self) -> int | None:
        return None if self.head is None else self.head.value


@dataclass(frozen=True, slots=True, kw_only=True)
class Documents:
    """Lines by what they are: `own` of the law, `apart` of each later document, the rest neither."""

    own: frozenset[int]
    apart: tuple[tuple[int, ...], ...]


def read_documents(items: list[Item], groups: list[Group], lines: list[str]) -> Documents:
    """Sort the items. Each word has its own numbering, and the others stand between its lines as groups do.

    A number that is the next one goes on. A number 1 after others begins a new document, unless a `#` heading or the
    next group of the same text stands before it, or the old numbering goes on after it: then it is a quotation.
    """
    kinds: dict[str, list[Item]] = defaultdict(list)
    for item in items:
        kinds[item.head.kind if item.head else ""].append(item)
    own: set[int] = set()
    apart: list[tuple[int, ...]] = []
    for kind, mine in kinds.items():
        others = [
            (item.line, True, None) for name, rest in kinds.items() if name != kind and len(rest) > 1 for item in rest
        ]
        runs = _runs(mine, [*groups, *others], lines)
        own.update(runs[0])
        apart += [tuple(run) for run in runs[1:]]
    return Documents(own=frozenset(own), apart=tuple(sorted(apart)))


def _runs(items: list[Item], groups: list[Group], lines: list[str]) -> list[list[int]]:
    runs: list[list[int]] = [[]]
    last = 0
    skipped_until = 0
    for place, item in enumerate(items):
        if item.line <= skipped_until or (item.quoted and not item.hashes):
            continue
        value = item.value
        inserted = item.head is not None and item.head.inserted
        if value is None or item.hashes or value == last + 1 or (value == last and inserted):
            runs[-1].append(item.line)
            leaps = value is None or (value > last + 1 and _comes(items[place + 1 :], last + 1, item.line, groups))
            last = last if value is None or leaps else value
        elif value > last:
            if not _comes(items[place + 1 :], last + 1, item.line, groups):
                runs[-1].append(item.line)
                last = value
        elif value == 1:
            since = runs[-1][-1] if runs[-1] else 0
            if resumed := _resumed(items[place:], last, lines):
                skipped_until = resumed - 1
                continue
            if dense(runs[-1]) and len(_run(items[place:])) >= len(runs[-1]):
                runs[-1] = []
            elif not _goes_on(groups, since, item.line):
                if len(_run(items[place:])) < _RUN_MIN:
                    continue
                runs.append([])
            runs[-1].append(item.line)
            last = 1
    return runs


def _comes(items: list[Item], value: int, line: int, groups: list[Group]) -> bool:
    """True when the number comes later, outside quotations, before a number 1 and in the same group."""
    for item in items[:_AHEAD]:
        if item.quoted or item.value is None:
            continue
        if item.value in (value, 1):
            return item.value == value and not _goes_on(groups, line, item.line)
    return False


def _run(items: list[Item]) -> list[Item]:
    """The items from a number 1 on that count up."""
    run: list[Item] = []
    for item in items[:_AHEAD]:
        if not item.quoted and item.value is not None and item.value == len(run) + 1:
            run.append(item)
    return run


def _resumed(items: list[Item], last: int, lines: list[str]) -> int | None:
    """The line where the numbering before a number 1 goes on; None when it does not.

    Where both numberings could go on with the same number, the new one does, unless a colon announces it.
    """
    count = 0
    for item in items[:_AHEAD]:
        if item.quoted or item.value is None:
            continue
        if item.value == count + 1 and not (item.value == last + 1 and announced(lines, items[0].line)):
            count += 1
        elif item.value == last + 1:
            return item.line
    return None


def _goes_on(groups: list[Group], since: int, line: int) -> bool:
    """True when a heading with `#`, or a group with a number above 1, stands between two lines."""
    return any(hashes or (value or 0) > 1 for number, hashes, value in groups if since < number < line)
