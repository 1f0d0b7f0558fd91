"""Pure: finds the options of `mark` and `source add` that a text needs before it can be marked."""

from __future__ import annotations

import unicodedata

from cutter.marking.titles import BIDI

NORMALISE = "--normalise nfc"
REMOVE_MARKS = "--remove-direction-marks"


def prepared(data: bytes, *, marks: bool = False) -> tuple[bytes, tuple[str, ...]]:
    """The prepared text, and the options that prepare it. A text that is not UTF-8 stays as it is.

    With `marks`, a heading without # has direction marks.
    """
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        return data, ()
    needs = []
    if marks or any(BIDI.search(line) for line in text.split("\n") if line.lstrip(" ")[:1] == "#"):
        text, _ = BIDI.subn("", text)
        needs.append(REMOVE_MARKS)
    if not unicodedata.is_normalized("NFC", text):
        text = unicodedata.normalize("NFC", text)
        needs.append(NORMALISE)
    return text.encode() if needs else data, tuple(needs)
