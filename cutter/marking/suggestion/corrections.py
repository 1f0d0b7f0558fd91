"""Pure: a person's corrections of a suggestion, in a few typed forms.

`line 12 is a chapter`, `line 12 is text`, `word Rule is an article`, `word Rule is text`, `section is inside chapter`,
`deepest is article`. A role is one of the vocabulary's (`chapter`), a level is named by its role or by its word.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from cutter.errors import InvalidInput
from cutter.limits import CORRECTIONS_MAX
from cutter.marking.vocabulary import ROLES

Subject = Literal["line", "word", "inside", "deepest"]

TEXT = "text"
"""The role of a line or word that begins no unit."""

FORMS = (
    "line 12 is a chapter", "line 12 is text", "word Rule is an article", "word Rule is text",
    "section is inside chapter", "deepest is article",
)  # fmt: skip
"""One example of each form."""

_LINE = re.compile(r"line ([0-9]{1,7}) is (?:an? )?([a-z]{1,20})")
_WORD = re.compile(r"word (\S(?:.{0,40}\S)?) is (?:an? )?([a-z]{1,20})")
_INSIDE = re.compile(r"(\S(?:.{0,40}\S)?) is inside (\S(?:.{0,40}\S)?)")
_DEEPEST = re.compile(r"deepest is (\S(?:.{0,40}\S)?)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Correction:
    """One correction: `what` is a line's number, a word or a level; `becomes` a role, `text` or the outer level."""

    subject: Subject
    what: str
    becomes: str


def parse_corrections(texts: tuple[str, ...]) -> tuple[Correction, ...]:
    """Read corrections as they were typed. Raises InvalidInput that repeats the wrong correction and lists the
    forms.
    """
    if len(texts) > CORRECTIONS_MAX:
        raise InvalidInput(f"--refine: {len(texts)} corrections, at most {CORRECTIONS_MAX}; edit the profile instead")
    return tuple(_parse(" ".join(text.split())) for text in texts)


def _parse(text: str) -> Correction:
    line, word = _LINE.fullmatch(text), _WORD.fullmatch(text)
    if line is not None:
        return Correction(subject="line", what=line[1], becomes=_role(text, line[2]))
    if word is not None:
        return Correction(subject="word", what=word[1], becomes=_role(text, word[2]))
    inside, deepest = _INSIDE.fullmatch(text), _DEEPEST.fullmatch(text)
    if inside is not None and inside[1] != inside[2]:
        return Correction(subject="inside", what=inside[1], becomes=inside[2])
    if deepest is not None:
        return Correction(subject="deepest", what=deepest[1], becomes="")
    raise InvalidInput(f"--refine {text!r}: none of the forms {'; '.join(FORMS)}")


def _role(text: str, role: str) -> str:
    if role != TEXT and role not in ROLES:
        raise InvalidInput(f"--refine {text!r}: {role!r} is none of {', '.join(ROLES)}, {TEXT}")
    return role
