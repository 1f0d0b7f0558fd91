"""Pure: the state in which a signed void ends a run: `voided_<reason>` (spec 01 "States and gates").

The reason is a person's own sentence, of any script and length. The state is in file names, search attributes and
commands, so it holds a few plain words of the sentence.
"""

from __future__ import annotations

import re
import unicodedata

from cutter import limits

CANCELLED = "cancelled"
"""The end of the state's name for a run that was cancelled before it wrote. No sentence gives this end."""

_NOT_WORD = re.compile(r"[^a-z0-9]+")
_SPELLED = str.maketrans({"đ": "d", "ß": "ss", "æ": "ae", "œ": "oe", "ø": "o", "ł": "l"})


def void_state(reason: str) -> str:
    """`voided_` and the reason's first whole words, at most VOID_WORDS_CHARACTERS_MAX characters of `[a-z0-9_]`."""
    bare = unicodedata.normalize("NFKD", reason.lower().translate(_SPELLED))
    kept = "".join(character for character in bare if not unicodedata.combining(character))
    words, most = _NOT_WORD.sub("_", kept).strip("_"), limits.VOID_WORDS_CHARACTERS_MAX
    if len(words) > most:
        words = words[: most + 1].rpartition("_")[0] or words[:most]
    if words == CANCELLED:
        return f"voided_{CANCELLED}_by_order"
    return f"voided_{words or 'by_order'}"
