"""Pure: address segments, ASCII and bounded whatever the law's language."""

from __future__ import annotations

import re
import unicodedata

from cutter.domain.digests import sha256_hex
from cutter.limits import SEGMENT_CHARACTERS_MAX
from cutter.marking.numbers import lowered

_LETTERS = str.maketrans(
    {
        "đ": "d", "Đ": "D", "ß": "ss", "ẞ": "SS", "æ": "ae", "Æ": "AE", "œ": "oe", "Œ": "OE", "ø": "o", "Ø": "O",
        "ł": "l", "Ł": "L", "ð": "d", "Ð": "D", "þ": "th", "Þ": "TH", "ı": "i", "ħ": "h", "Ħ": "H",
        "№": "NO", "º": "", "ª": "", "°": "", "’": "", "'": "",
    }
)  # fmt: skip
_NOT_SEGMENT = re.compile(r"[^A-Z0-9]+")
_LONE_D = re.compile(r"(?<![^\W\d_])[đĐ](?![^\W\d_])")
_HASH_CHARACTERS = 8


def ascii_upper(text: str) -> str:
    """A text as upper-case ASCII without accents. Everything that has no spelling becomes a single hyphen."""
    if text.isascii():
        kept = text.replace("'", "")
    else:
        bare = unicodedata.normalize("NFKD", text.translate(_LETTERS))
        kept = "".join(character for character in bare if not unicodedata.combining(character))
    return _NOT_SEGMENT.sub("-", kept.upper()).strip("-")


def title_segment(title: str) -> str:
    """Segment of a heading without a number, at most SEGMENT_CHARACTERS_MAX characters. If a title loses letters, its
    segment gets a piece of the title's digest, so that two different titles do not get one address.
    """
    slug = ascii_upper(lowered(title))
    lost = not title.isascii() and any(character.isalpha() and not ascii_upper(character) for character in title)
    if slug and not lost and len(slug) <= SEGMENT_CHARACTERS_MAX:
        return slug
    mark = sha256_hex(title)[:_HASH_CHARACTERS].upper()
    room = SEGMENT_CHARACTERS_MAX - _HASH_CHARACTERS - 1
    head, hyphen, _ = slug[: room + 1].rpartition("-") if len(slug) > room else (slug, "-", "")
    head = head if hyphen else slug[:room]
    return f"{head}-{mark}" if head else f"U-{mark}"


def number_segment(word: str, number: str) -> str:
    """Segment of a numbered heading: `CHAPTER-1`, or the bare number when the heading has no word. Vietnamese has
    separate letters d and đ (points d and đ), so đ in a number is spelled DD.
    """
    if number.isascii() and number.isalnum():
        tail = number.upper()
    else:
        tail = ascii_upper(_LONE_D.sub("DD", lowered(number))) or title_segment(number)
    return f"{word}-{tail}" if word else tail
