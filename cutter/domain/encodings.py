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

_ELSEWHERE = (
    "WINDOWS-1250 for Polish, Czech or Hungarian, WINDOWS-1251 for Cyrillic, SHIFT_JIS for Japanese, CP949 for Korean, "
    "GB18030 for Chinese"
)
"""The usual encodings of other texts. A wrong one often converts too, into wrong letters."""


def conversion(data: bytes) -> str:
    """What a person does with bytes that are not UTF-8: a command with the encoding that the text probably has."""
    marked = next((name for mark, name in _BY_MARK if data.startswith(mark)), None)
    command = f"convert it, such as with `iconv -f {marked or _USUAL} -t UTF-8 FILE > NEW`"
    if marked:
        return f"{command}, and use the new file"
    return f"{command} if that is its encoding ({_ELSEWHERE}), read a few lines of the new file, and use it"
