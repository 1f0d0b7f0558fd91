"""Pure: the `cutter` commands that a text tells a person to type."""

from __future__ import annotations

import re

_QUOTED = re.compile(r"`(cutter(?: [^`\n]+)?)`")
_NEXT = re.compile(r"next: (cutter[^\n]*)")
THEN = "# then: "
"""Separates the commands on one line. A shell takes it for the beginning of a comment."""


def commands_in(text: str) -> list[str]:
    """The commands in backquotes and those after `next:`, in the order of the text. Each command comes once."""
    matches = sorted([*_QUOTED.finditer(text), *_NEXT.finditer(text)], key=lambda match: match.start())
    parts = (part.strip() for match in matches for part in match[1].split(THEN))
    return list(dict.fromkeys(part for part in parts if part.startswith("cutter")))
