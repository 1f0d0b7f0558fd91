"""Pure: the grammar with which a suggestion begins: the shipped profile whose words a text uses.

A grammar knows what the parts of a country's laws are and in which order they nest: a Dutch `§` groups articles, a
German `§` is one.
"""

from __future__ import annotations

from functools import cache
from itertools import product

from cutter.marking import PROFILES, load_profile
from cutter.marking.profile import Profile
from cutter.marking.suggestion.evidence import Evidence

_NO_GRAMMARS = frozenset({"generic-markdown", "incomex-constitution"})
"""Profiles of many languages, or of one document."""


@cache
def _words(name: str) -> dict[str, int]:
    """Each word of a profile in lower case → the position of its level, 0 outermost."""
    levels = load_profile(name).levels
    return {word.casefold(): place for place, level in enumerate(levels) for word in level.words}


def places(profile: Profile) -> dict[str, int]:
    return _words(profile.id)


def nearest(evidence: Evidence) -> Profile | None:
    """The one profile that has every word of the text's headings. None if there is none, or more than one."""
    used = {kind.word.casefold() for kind in evidence.kinds}
    fitting = [name for name in PROFILES if name not in _NO_GRAMMARS and used <= _words(name).keys()]
    return load_profile(fitting[0]) if used and len(fitting) == 1 else None


@cache
def _either_way() -> frozenset[frozenset[str]]:
    pairs = set()
    for name in PROFILES:
        profile = load_profile(name)
        words = {level.name: level.words for level in profile.levels}
        for outer, inner in profile.either_way:
            pairs |= {frozenset(map(str.casefold, pair)) for pair in product(words[outer], words[inner])}
    return frozenset(pairs)


def may_nest_either_way(words: tuple[str, ...], others: tuple[str, ...]) -> bool:
    """Whether some shipped profile has these two levels in either order."""
    return any(frozenset((word.casefold(), other.casefold())) in _either_way() for word in words for other in others)
