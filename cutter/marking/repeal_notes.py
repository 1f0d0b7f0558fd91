"""Pure: reads notes in the text of a law about headings that are no longer there, in the languages of the profiles."""

from __future__ import annotations

import re
from dataclasses import dataclass

from cutter.limits import HEADING_LINE_BYTES

_NOTE = re.compile(
    r"[ \t\u00a0*_]{0,4}(?P<open>[{\[(]?)(?P<word>§{1,2}|[^\W\d_]{1,20}\.?)[ \t\u00a0]{0,4}"
    r"(?P<numbers>[0-9]{1,5}(?:[ \t]{0,2}(?:[-–—,]|bis|to|und|and|y|a|і|та|и)[ \t]{0,2}[0-9]{1,5}){0,8})(?![0-9])"
    r"[ \t\u00a0:.,({\[–—-]{0,6}"
    r"(?:виключено|втратил[аи] чинність|скасовано|исключен[аы]?|утратил[аи] силу|weggefallen|aufgehoben|repealed|"
    r"revoked|omitted|abrogée?s?|abrogat[oei]?|derogad[oa]s?|suprimid[oa]s?|supprimée?s?|revogad[oa]s?|zrušen[oaýáy]?|"
    r"vypuštěn[oaýáy]?|vervallen|uchylon[yea]|kumottu|kehtetu|καταργήθηκ(?:ε|αν)|bãi bỏ)(?!\w)(?P<rest>.*)",
    re.IGNORECASE | re.DOTALL,
)
"""A note in the text about headings that were repealed: `{Статтю 60 виключено на підставі …}`, `§§ 5 bis 7
(weggefallen)`.
"""

_END = re.compile(r"[ \t\r.;)\]}*_]*")


@dataclass(frozen=True, slots=True, kw_only=True)
class RepealNote:
    """The word and the numbers of the headings that a line calls repealed. `closed` is True if it is in brackets."""

    word: str
    numbers: str
    closed: bool


def repeal_note(line: bytes) -> RepealNote | None:
    """The note that a line is, or None.

    A text after the note is its reason only if all is in brackets. Else it may be the text of an article.
    """
    note = _NOTE.match(line[:HEADING_LINE_BYTES].decode("utf-8", "ignore"))
    if note is None:
        return None
    closed = bool(note["open"]) and note["rest"].rstrip(" \t\r.*_").endswith((")", "]", "}"))
    if not closed and _END.fullmatch(note["rest"]) is None:
        return None
    return RepealNote(word=note["word"], numbers=note["numbers"], closed=closed)
