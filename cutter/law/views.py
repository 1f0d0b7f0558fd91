"""Pure: how two versions of a law differ, and what the commands about enacted law answer as JSON.

Only equality counts. A unit has moved if its text is the same under another address. If only the heading line differs,
because the heading has the unit's number, the unit has moved and is revised. JSON has plain values with ISO dates.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter, deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import date, datetime
from itertools import zip_longest
from typing import Any, Literal

from cutter.domain.timestamps import utc
from cutter.domain.word_diff import Piece, word_diff
from cutter.law.law_text import LawText, LawVersion, Unit

Change = Literal["kept", "revised", "created", "repealed", "moved"]


@dataclass(frozen=True, slots=True, kw_only=True)
class UnitChange:
    """One unit in both versions. `before` is None for a created one, `after` for a repealed one."""

    change: Change
    before: Unit | None
    after: Unit | None

    @property
    def unit(self) -> Unit:
        """The later form where there is one."""
        unit = self.after or self.before
        assert unit is not None
        return unit

    @property
    def words(self) -> tuple[Piece, ...]:
        """Both texts by word; one piece if the text is the same."""
        return word_diff(self.before.body if self.before else "", self.after.body if self.after else "")

    @property
    def other_differences(self) -> tuple[str, ...]:
        if self.before is None or self.after is None:
            return ()
        names = ("title", "parent", "unit_kind", "section_type")
        return tuple(name for name in names if getattr(self.before, name) != getattr(self.after, name))


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """Every unit of both versions: the later one's in its order, each repealed one after its former neighbour."""

    changes: tuple[UnitChange, ...]

    @property
    def counts(self) -> dict[str, int]:
        counted = Counter(change.change for change in self.changes)
        return {name: counted[name] for name in ("kept", "revised", "created", "repealed", "moved")}

    @property
    def different(self) -> tuple[UnitChange, ...]:
        return tuple(change for change in self.changes if change.change != "kept")


def compare(before: Sequence[Unit], after: Sequence[Unit]) -> Comparison:
    """Both versions' units, each list in document order."""
    old, new = _by_address(before), _by_address(after)
    gone = [unit for unit in before if unit.address not in new]
    moved = _moves(gone, [unit for unit in after if unit.address not in old])
    left = {unit.address for unit in moved.values()}
    later = []
    for unit in after:
        earlier = moved.get(unit.address) or old.get(unit.address)
        change = UnitChange(change="kept", before=earlier, after=unit)
        if unit.address in moved:
            change = replace(change, change="moved")
        elif earlier is None:
            change = replace(change, change="created")
        elif earlier.body != unit.body or change.other_differences:
            change = replace(change, change="revised")
        later.append(change)
    repealed = [unit for unit in gone if unit.address not in left]
    return Comparison(changes=tuple(_placed(later, repealed, before)))


def _by_address(units: Iterable[Unit]) -> dict[str, Unit]:
    return {unit.address: unit for unit in units}


def _moves(gone: Sequence[Unit], come: Sequence[Unit]) -> dict[str, Unit]:
    """New address → the unit that was moved there: first by the whole text, then by the text below the heading."""
    moves: dict[str, Unit] = {}
    for below_heading in (False, True):
        waiting: dict[str, deque[Unit]] = {}
        used = {unit.address for unit in moves.values()}
        for unit in gone:
            text = _text(unit, below_heading=below_heading)
            if unit.address not in used and text:
                waiting.setdefault(text, deque()).append(unit)
        for unit in come:
            same = waiting.get(_text(unit, below_heading=below_heading))
            if unit.address not in moves and same:
                moves[unit.address] = same.popleft()
    return moves


def _text(unit: Unit, *, below_heading: bool) -> str:
    text = unit.body.strip()
    return text.partition("\n")[2].strip() if below_heading else text


def _placed(later: list[UnitChange], repealed: Sequence[Unit], before: Sequence[Unit]) -> list[UnitChange]:
    """Each repealed unit after the unit that was before it in the earlier version, else at the beginning."""
    place: Mapping[str, int] = {
        change.before.address: number for number, change in enumerate(later, 1) if change.before is not None
    }
    gone = {unit.address for unit in repealed}
    after: dict[int, list[UnitChange]] = {}
    neighbour = 0
    for unit in before:
        if unit.address in gone:
            after.setdefault(neighbour, []).append(UnitChange(change="repealed", before=unit, after=None))
        else:
            neighbour = place[unit.address]
    rows = list(after.get(0, []))
    for number, change in enumerate(later, 1):
        rows += [change, *after.get(number, [])]
    return rows


View = dict[str, Any]
EXCERPT_WORDS = 12
"""Words of a found text on each side of the word that was searched for."""


def plain(record: Any) -> View:
    """A record's fields, with dates and times as text."""
    return {name: as_text(value) for name, value in asdict(record).items()}


def as_text(value: object) -> object:
    if isinstance(value, datetime):
        return utc(value)
    return value.isoformat() if isinstance(value, date) else value


def law_view(text: LawText, units: tuple[Unit, ...] | None = None) -> View:
    shown = text.units if units is None else units
    return {
        **plain(text.version),
        "signers": [plain(signer) for signer in text.signers],
        "text": [plain(unit) for unit in shown],
    }


def tree_view(text: LawText) -> View:
    """The outline: each unit with its depth, without its text."""
    rows = [
        {"depth": depth, "address": unit.address, "title": unit.title, "words": unit.words, "order": unit.order}
        for depth, unit in text.outline()
    ]
    return {**plain(text.version), "tree": rows}


def comparison_view(before: LawVersion, after: LawVersion, comparison: Comparison) -> View:
    """Every unit that differs, by word."""
    return {
        "document": after.document,
        "from": plain(before),
        "to": plain(after),
        "counts": comparison.counts,
        "changes": [change_view(change) for change in comparison.different],
    }


def change_view(change: UnitChange) -> View:
    return {
        "change": change.change,
        "address": change.unit.address,
        "title": change.unit.title,
        "moved_from": change.before.address if change.change == "moved" and change.before else None,
        "other_differences": list(change.other_differences),
        "words": [[piece.kind, piece.text] for piece in change.words],
    }


def legal_time(record: Mapping[str, Any] | LawVersion) -> str:
    """`from 2026-01-01 until 2026-07-01`, or without an end."""
    values = record if isinstance(record, Mapping) else asdict(record)
    until = values["effective_until"]
    return f"from {as_text(values['effective_from'])}{f' until {as_text(until)}' if until else ''}"


def excerpt(body: str, words: str) -> str:
    """The words around the first hit, on one line; the beginning of the text if no word is found as it is written."""
    given = body.split()
    text, wanted = [folded(word) for word in given], [folded(word) for word in re.findall(r"\w+", words)]
    # Where all words follow each other, else where the first of any of them is.
    for place in range(len(text)):
        following = zip_longest(wanted, text[place : place + len(wanted)], fillvalue="")
        if wanted and all(term in word for term, word in following):
            break
    else:
        place = next((place for place, word in enumerate(text) if any(term in word for term in wanted)), 0)
    first, last = max(0, place - EXCERPT_WORDS), place + EXCERPT_WORDS + 1
    return f"{'… ' if first else ''}{' '.join(given[first:last])}{' …' if last < len(given) else ''}"


def folded(word: str) -> str:
    """Lower case without accents, as the search compares words."""
    letters = unicodedata.normalize("NFKD", word).lower().translate(str.maketrans("đøłı", "doli"))
    return "".join(letter for letter in letters if not unicodedata.combining(letter))
