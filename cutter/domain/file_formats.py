"""Pure: names the format of a file that is no text in UTF-8, and says how a person gets such a text."""

from __future__ import annotations

import codecs
import re

_PANDOC = "convert it, such as with `pandoc FILE --to gfm --wrap none --output NEW.md`"
_PDF = "take its text out, such as with `pdftotext -layout FILE NEW.md`"
_SAVE = "save it as text in UTF-8 with the program that made it"
_XML = "write its text into a file, with `#` before each line that begins a unit"

_ARCHIVES = (
    (b"word/", "a Word document (DOCX)", _PANDOC),
    (b"application/vnd.oasis.opendocument", "an OpenDocument file (ODT)", _PANDOC),
    (b"application/epub", "an EPUB book", _PANDOC),
)
"""What the archives of documents have at their beginning or in their list of members."""

_BINARY = (
    (b"%PDF-", "a PDF", _PDF),
    (b"{\\rtf", "a document in Rich Text Format (RTF)", _PANDOC),
    (b"\xd0\xcf\x11\xe0", "an old Word document (DOC)", _SAVE),
    (b"\x1f\x8b", "a compressed file (gzip)", "unpack it"),
)

_HTML = re.compile(rb"\s*(<!--.*?-->\s*)?<(!doctype\s+html|html[\s>])", re.IGNORECASE | re.DOTALL)
_MARKUP = re.compile(rb"\s*(<\?xml\s|<akomaNtoso[\s>]|<(\w+:)?(uslm|lawDoc|dokumente|legislation)[\s>])", re.IGNORECASE)
_BEGINNING = 4_096
"""The bytes in which the beginning of markup is looked for."""


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


def conversion_of(data: bytes) -> str | None:
    """The format of bytes that are no plain text, with what a person does. None for other bytes."""
    text = data[:_BEGINNING].removeprefix(b"\xef\xbb\xbf")
    binary = next(((name, cure) for mark, name, cure in _BINARY if data.startswith(mark)), None)
    if data.startswith(b"PK\x03\x04"):
        archives = ((name, cure) for mark, name, cure in _ARCHIVES if mark in data)
        name, cure = next(archives, ("a ZIP archive", "unpack it"))
    elif binary is not None:
        name, cure = binary
    elif _HTML.match(text):
        name, cure = "a web page (HTML)", _PANDOC
    elif _MARKUP.match(text):
        name, cure = "an XML file", _XML
    else:
        return None
    return f"this is {name}, and cutter reads plain text; {cure}, and use the new file"


def conversion(data: bytes) -> str:
    """What a person does with bytes that are not UTF-8: a command with the encoding that the text probably has."""
    marked = next((name for mark, name in _BY_MARK if data.startswith(mark)), None)
    command = f"convert it, such as with `iconv -f {marked or _USUAL} -t UTF-8 FILE > NEW`"
    if marked:
        return f"{command}, and use the new file"
    return f"{command} if that is its encoding ({_ELSEWHERE}), read a few lines of the new file, and use it"
