"""Pure: what the commands about enacted law answer as JSON: plain values with ISO dates."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import asdict
from datetime import date, datetime
from itertools import zip_longest
from typing import Any

from cutter.domain.timestamps import utc
from cutter.law.comparison import Comparison, UnitChange
from cutter.law.law_text import LawText, LawVersion, Unit

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
