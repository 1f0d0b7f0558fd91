"""Pure: says how a text in another encoding becomes UTF-8."""

from __future__ import annotations

import codecs

_BY_MARK = (
    (codecs.BOM_UTF32_LE, "UTF-32"), (codecs.BOM_UTF32_BE, "UTF-32"),
    (codecs.BOM_UTF16_LE, "UTF-16"), (codecs.BOM_UTF16_BE, "UTF-16"),
)  # fmt: skip
"""Byte order marks at the beginning of a text, the longer ones first."""

_USUAL = "WINDOWS-1252"
"""The encoding of most Western texts that are not UTF-8."""


def conversion(data: bytes) -> str:
    """What a person does with bytes that are not UTF-8: a command with the encoding that the text probably has."""
    marked = next((name for mark, name in _BY_MARK if data.startswith(mark)), None)
    guess = "" if marked else " if that is its encoding"
    return f"convert it, such as with `iconv -f {marked or _USUAL} -t UTF-8 FILE > NEW`{guess}, and use the new file"
