"""Pure: the country and the language of a version of a law, as far as its source or its profile names them."""

from __future__ import annotations

import re
from dataclasses import dataclass

UNKNOWN_COUNTRY, UNKNOWN_LANGUAGE = "zz", "und"

_FRONT_MATTER = re.compile(rb"\A(?:\xef\xbb\xbf)?---[ \t]*\r?\n(.*?)^---[ \t]*\r?$", re.DOTALL | re.MULTILINE)
_FIELD = r"^%s:[ \t]*[\"']?([A-Za-z]{%d})[\"']?[ \t]*\r?$"


@dataclass(frozen=True, slots=True, kw_only=True)
class Jurisdiction:
    """ISO 3166 code of two letters and ISO 639 code of three, in lower case."""

    country: str = UNKNOWN_COUNTRY
    language: str = UNKNOWN_LANGUAGE


def jurisdiction_of(source: bytes, *, country: str | None, language: str | None) -> Jurisdiction:
    """What the front matter of a source names (`country: fr`, `language: fra`), else the values of its profile."""
    block = _FRONT_MATTER.match(source)
    head = block[1].decode(errors="replace") if block else ""
    return Jurisdiction(
        country=_named(head, "country", 2) or country or UNKNOWN_COUNTRY,
        language=_named(head, "language", 3) or language or UNKNOWN_LANGUAGE,
    )


def _named(head: str, field: str, letters: int) -> str | None:
    match = re.search(_FIELD % (field, letters), head, re.MULTILINE)
    return match[1].lower() if match else None
