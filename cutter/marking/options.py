"""Pure: the choices a person makes for one document, in addition to the profile."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

from cutter.errors import InvalidInput
from cutter.limits import CANDIDATES_DEFAULT, CANDIDATES_MAX
from cutter.marking.profile import Duplicates, Empty

Scope = Literal["all", "enacted_only"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """`duplicates`, `empty`, `scope` and `deepest` are the profile's own unless given; the shipped profiles refuse.

    `deepest` is the name of the finest level that becomes a unit (vietnamese-law: dieu, khoan or diem).
    `forbidden_ids` are whole address segments (`DIEU-44` is not `DIEU-4`) that must not be cut.
    """

    duplicates: Duplicates | None = None
    empty: Empty | None = None
    scope: Scope | None = None
    deepest: str | None = None
    max_candidates: int = CANDIDATES_DEFAULT
    forbidden_ids: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        _one_of("duplicates", self.duplicates, (None, "refuse", "ordinal"))
        _one_of("empty", self.empty, (None, "refuse", "heading_only"))
        _one_of("scope", self.scope, (None, "all", "enacted_only"))
        if not 1 <= self.max_candidates <= CANDIDATES_MAX:
            raise InvalidInput(f"max_candidates {self.max_candidates}: 1 to {CANDIDATES_MAX}")


def _one_of(name: str, value: object, known: tuple[object, ...]) -> None:
    if value not in known:
        choices = ", ".join(str(item) for item in known if item is not None)
        raise InvalidInput(f"{name} {value!r}: one of {choices}")


def preview(profile: str, options: Mapping[str, object], forbidden: Iterable[str], *, docprefix: str = "") -> str:
    """The command that marks a text by this profile and these options; it writes nothing and needs no server."""
    words = ["cutter", "mark", "FILE", "--profile", profile, *(["--docprefix", docprefix] if docprefix else [])]
    for name, value in sorted(options.items()):
        words += [f"--{name.replace('_', '-')}", str(value)]
    for segment in forbidden:
        words += ["--forbid", segment]
    return shlex.join(words)
