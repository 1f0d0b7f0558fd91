"""Pure: a marking profile. It says which lines of a law are headings, what each heading becomes, and how headings nest.

A profile holds words and choices, never expressions. The recogniser builds its own bounded expressions from the words,
so that marking by any profile is linear in the text.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Form = Literal["atx", "bold", "plain"]
Numbering = Literal["parent", "document"]
Duplicates = Literal["refuse", "ordinal"]
Empty = Literal["refuse", "heading_only"]
Nesting = Literal["hashes", "words"]

SECTION_TYPES = (
    "appendix",
    "article",
    "changelog",
    "checklist",
    "definition",
    "governance_process",
    "heading",
    "instruction_block",
    "paragraph",
    "principle",
    "process",
    "section",
    "technical_spec",
)
"""The vocabulary `section_type` (facts-domain, "Vocabularies"). The database decides."""

STATUSES = ("enacted", "controlled_draft", "draft", "obsolete")
"""The statuses of a source row, from the one that is cut to the one that is furthest from being cut."""

EXCLUSION_REASONS = {
    "controlled_draft": "controlled_draft_deferred",
    "draft": "draft_excluded_by_enacted_only",
    "obsolete": "obsolete_excluded",
}
"""Why a row of a status is not cut under scope `enacted_only`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Level:
    """One kind of heading. A profile lists its levels from the outermost to the innermost.

    A level is known by a word with a number (`Chapter 1`), by a phrase without one (`Partie législative`), or by a
    marker around a number (`({n})`).
    """

    name: str
    segment: str
    section_type: str
    words: tuple[str, ...] = ()
    phrases: tuple[str, ...] = ()
    marker: tuple[str, str] | None = None
    alone: bool = False
    numbers: tuple[str, ...] = ()
    number_optional: bool = False
    number_first: bool = False
    forms: tuple[Form, ...] = ("atx",)
    numbering: Numbering = "parent"
    title_next_line: bool = False
    only_before: str | None = None
    within: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class StatusRules:
    """Markers of a row's status, the status of a row without one, and whether only enacted rows are cut."""

    markers: tuple[tuple[str, str], ...]
    default: str
    enacted_only: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """A parsed profile; `sha256` is of the file's bytes and is pinned with the run."""

    id: str
    sha256: str
    about: str
    country: str | None
    language: str | None
    unit_kind: str
    publication_type: str | None
    owner: str
    levels: tuple[Level, ...]
    depths: tuple[str, ...]
    other_headings_are_units: bool
    flat: bool
    merge_titles: bool
    sentinels: tuple[str, str] | None
    contents: tuple[str, ...]
    tail: tuple[str, ...]
    either_way: tuple[tuple[str, str], ...]
    deepest: str | None
    duplicates: Duplicates
    empty: Empty
    nesting: Nesting
    status: StatusRules | None

    @property
    def scope(self) -> str | None:
        """The scope in which a text is cut if no other scope is given. None if the profile knows no status."""
        if self.status is None:
            return None
        return "enacted_only" if self.status.enacted_only else "all"

    def level_names(self) -> tuple[str, ...]:
        """Names of the levels, outermost first."""
        return tuple(level.name for level in self.levels)

    def depth_section_type(self, depth: int) -> str:
        """section_type of a heading that no level knows, by its number of `#`."""
        return self.depths[min(depth, len(self.depths)) - 1]
