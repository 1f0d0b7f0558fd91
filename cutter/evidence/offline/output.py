"""Pure: what the check prints. No text of a checked file can forge a line of the output."""

from __future__ import annotations

import re
import unicodedata

OK, FAILED, NOT_CHECKED = "OK", "FAILED", "NOT CHECKED"
SHOWN_CHARACTERS, SHOWN_PROBLEMS = 600, 10
HIDDEN = ("Cc", "Cf", "Cn", "Co", "Cs", "Zl", "Zp")
Line = tuple[str, str, str]  # what was checked, one of the three words, why


def shown(value: object) -> str:
    """A text that is safe to print: one line of limited length, with the code of each hidden character."""
    text = str(value)
    text = text if len(text) <= SHOWN_CHARACTERS else text[:SHOWN_CHARACTERS] + "…"
    coded = (f"⟨U+{ord(letter):04X}⟩" if unicodedata.category(letter) in HIDDEN else letter for letter in text)
    return re.sub(r"\s+", " ", "".join(coded))


def hexed(value: object) -> str:
    """A digest or a fingerprint. Any other value becomes the word `malformed`, so that nobody takes it for a digest."""
    form = "[0-9a-f]{64}|[0-9A-F]{40}|[0-9A-F]{64}"
    return value if isinstance(value, str) and re.fullmatch(form, value) else "malformed"
