"""Pure: the choices a person makes for one document, in addition to the profile."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal, get_args

from cutter.errors import InvalidInput
from cutter.limits import ACCEPTANCES_MAX, CANDIDATES_DEFAULT, CANDIDATES_MAX, REASON_CHARACTERS_MAX
from cutter.marking.profile import Duplicates, Empty, Nesting

_NAME = re.compile(r"[a-z][a-z_]{0,47}:[A-Z0-9][A-Z0-9/~-]{0,999}")

Scope = Literal["all", "enacted_only"]
_CHOICES = {"nesting": Nesting, "duplicates": Duplicates, "empty": Empty, "scope": Scope}


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """`duplicates`, `empty`, `scope`, `deepest` and `nesting` come from the profile if they are not given.

    `deepest` is the name of the finest level that becomes a unit (vietnamese-law: dieu, khoan or diem). `forbidden_ids`
    are whole address segments (`DIEU-44` is not `DIEU-4`) that must not be cut. `accept` holds the names of red
    findings that a person accepts, each with the reason; a mapping becomes sorted pairs.
    """

    duplicates: Duplicates | None = None
    empty: Empty | None = None
    scope: Scope | None = None
    deepest: str | None = None
    max_candidates: int = CANDIDATES_DEFAULT
    forbidden_ids: tuple[str, ...] = ()
    nesting: Nesting | None = None
    accept: Mapping[str, str] | tuple[tuple[str, str], ...] = ()

    def __post_init__(self) -> None:
        for name, known in _CHOICES.items():
            value = getattr(self, name)
            if value is not None and value not in get_args(known):
                raise InvalidInput(f"{name} {value!r}: one of {', '.join(get_args(known))}")
        object.__setattr__(self, "accept", _acceptances(self.accept))
        if not 1 <= self.max_candidates <= CANDIDATES_MAX:
            raise InvalidInput(f"max_candidates {self.max_candidates}: 1 to {CANDIDATES_MAX}")


def _acceptances(given: object) -> tuple[tuple[str, str], ...]:
    """Sorted pairs of name and reason; raises InvalidInput for a name or a reason of another form."""
    try:
        pairs = dict(given)  # type: ignore[call-overload]
    except (TypeError, ValueError):
        raise InvalidInput("accept: must be names of findings, each with its reason") from None
    if len(pairs) > ACCEPTANCES_MAX:
        raise InvalidInput(f"accept: {len(pairs)} findings, at most {ACCEPTANCES_MAX}; correct the text or the profile")
    for name, reason in pairs.items():
        if not isinstance(name, str) or not _NAME.fullmatch(name):
            raise InvalidInput(f"accept {name!r}: must be KIND:PLACE, such as nesting_differs:LAW/CHAPTER-II")
        if not isinstance(reason, str) or not (
            reason.strip() and reason.isprintable() and len(reason) <= REASON_CHARACTERS_MAX
        ):
            raise InvalidInput(
                f"accept {name}: needs a reason, one line of at most {REASON_CHARACTERS_MAX} characters (--because)"
            )
    return tuple(sorted(pairs.items()))


def preview(profile: str, options: Mapping[str, object], forbidden: Iterable[str], *, docprefix: str = "") -> str:
    """The command that marks a text by this profile and these options, and writes nothing."""
    words = ["cutter", "mark", "FILE", "--profile", profile, *(["--docprefix", docprefix] if docprefix else [])]
    for name, value in sorted(options.items()):
        if name != "accept":
            words += [f"--{name.replace('_', '-')}", str(value)]
    for segment in forbidden:
        words += ["--forbid", segment]
    for name, reason in _acceptances(options.get("accept") or {}):
        words += ["--accept", name, "--because", reason]
    return shlex.join(words)
