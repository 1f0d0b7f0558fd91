"""Pure: a marking profile. It says which lines of a law are headings, what each heading becomes, and how headings nest.

A profile holds words and choices, never expressions. The recogniser builds its own bounded expressions from the words,
so that marking by any profile is linear in the text. The set of fields of a profile's file is closed, each field has a
form, and errors name the field and the line.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, cast

from cutter import plain_yaml
from cutter.domain.digests import sha256_hex
from cutter.errors import InvalidInput
from cutter.limits import PROFILE_BYTES_MAX, PROFILE_LEVELS_MAX, PROFILES_KEPT
from cutter.marking.numbers import STYLES
from cutter.marking.vocabulary import KINDS
from cutter.plain_yaml import FieldReader, Items, Node, Scalar, Wrong

Form = Literal["atx", "bold", "plain"]
Numbering = Literal["parent", "document"]
Duplicates = Literal["refuse", "ordinal"]
Empty = Literal["refuse", "heading_only"]
Nesting = Literal["hashes", "words"]

FORMS: tuple[Form, ...] = ("atx", "bold", "plain")
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
    """One kind of heading, known by a word with a number (`Chapter 1`), by a phrase without one (`Partie législative`),
    or by a marker around a number (`({n})`). A profile lists its levels from the outermost to the innermost.
    """

    name: str
    segment: str
    section_type: str
    kind: str | None = None
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
    region: bool = False
    """Its headings are titles of another document in the file, such as a treaty or transitory articles, which has a
    numbering of its own.
    """


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
    doubts: tuple[str, ...]
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
        return tuple(level.name for level in self.levels)

    @property
    def words_give_kinds(self) -> bool:
        """Whether the word of a heading that no level knows gives its section_type. Else its number of `#` does."""
        return not self.depths

    def depth_section_type(self, depth: int) -> str:
        """section_type of a heading that no level knows, by its number of `#`."""
        return self.depths[min(depth, len(self.depths)) - 1]


SCHEMA = "cutter-profile/1"

_NAME = re.compile(r"[a-z][a-z0-9_-]{0,47}")
_SEGMENT = re.compile(r"[A-Z][A-Z0-9-]{0,23}")
_COUNTRY, _LANGUAGE = re.compile(r"[a-z]{2}"), re.compile(r"[a-z]{3}")
PROFILE_KEYS = (
    "schema", "id", "about", "country", "language", "unit_kind", "publication_type", "owner", "forms", "depths",
    "doubts", "other_headings", "hierarchy", "merge_titles", "duplicates", "empty", "sentinels", "contents", "tail",
    "either_way", "deepest", "nesting", "status", "levels",
)  # fmt: skip
LEVEL_KEYS = (
    "name", "segment", "kind", "section_type", "words", "phrases", "marker", "alone", "numbers", "number", "forms",
    "numbering", "title", "only_before", "within", "region",
)  # fmt: skip


@lru_cache(maxsize=PROFILES_KEPT)
def parse_profile(data: bytes) -> Profile:
    """A profile from its bytes; raises InvalidInput that names the line and the field. A few are cached, because two
    gates of every document need the same one, and reading YAML costs more than marking.
    """
    node, flaws = plain_yaml.read(data, bytes_max=PROFILE_BYTES_MAX)
    if flaws or node is None:
        raise InvalidInput(f"profile line {flaws[0].line or 1}: {flaws[0].rule}")
    try:
        return _profile(_Fields(node, "profile", PROFILE_KEYS, path="profile"), data)
    except Wrong as problem:
        raise InvalidInput(f"profile {problem}") from None


def _profile(root: _Fields, data: bytes) -> Profile:
    if root.word("schema") != SCHEMA:
        root.fail("schema", f"must be {SCHEMA}")
    forms = cast(tuple[Form, ...], root.choices("forms", FORMS, default=("atx",)))
    levels = tuple(_level(item, forms) for item in root.mappings("levels", LEVEL_KEYS))
    _check_levels(root, levels)
    names = tuple(level.name for level in levels)
    return Profile(
        id=root.name("id"),
        sha256=sha256_hex(data),
        about=root.word("about"),
        country=root.matching("country", _COUNTRY, "two letters such as vn") if root.has("country") else None,
        language=root.matching("language", _LANGUAGE, "three letters such as vie") if root.has("language") else None,
        unit_kind=root.name("unit_kind"),
        publication_type=root.name("publication_type") if root.has("publication_type") else None,
        owner=root.name("owner"),
        levels=levels,
        depths=root.choices("depths", SECTION_TYPES, default=()),
        doubts=root.texts("doubts"),
        other_headings_are_units=root.choice("other_headings", ("unit", "group"), default="unit") == "unit",
        flat=root.choice("hierarchy", ("nested", "flat"), default="nested") == "flat",
        merge_titles=root.flag("merge_titles"),
        sentinels=_sentinels(root),
        contents=root.texts("contents"),
        tail=root.texts("tail"),
        either_way=_pairs(root, names),
        deepest=root.choice("deepest", names) if root.has("deepest") else None,
        duplicates=cast(Duplicates, root.choice("duplicates", ("refuse", "ordinal"), default="refuse")),
        empty=cast(Empty, root.choice("empty", ("refuse", "heading_only"), default="refuse")),
        nesting=cast(Nesting, root.choice("nesting", ("hashes", "words"), default="hashes")),
        status=_status(root),
    )


def _level(fields: _Fields, forms: tuple[Form, ...]) -> Level:
    kind = fields.choice("kind", tuple(KINDS)) if fields.has("kind") else None
    number = fields.choice("number", ("required", "optional", "either_side"), default="required")
    return Level(
        name=fields.name("name"),
        segment=fields.matching("segment", _SEGMENT, "A-Z, 0-9 and '-', at most 24") if fields.has("segment") else "",
        section_type=fields.choice("section_type", SECTION_TYPES, default=KINDS[kind] if kind else None),
        kind=kind,
        words=fields.texts("words"),
        phrases=fields.texts("phrases"),
        marker=_marker(fields),
        alone=fields.flag("alone"),
        numbers=fields.choices("numbers", tuple(STYLES), default=()),
        number_optional=number == "optional",
        number_first=number == "either_side",
        forms=cast(tuple[Form, ...], fields.choices("forms", FORMS, default=forms)),
        numbering=cast(Numbering, fields.choice("numbering", ("parent", "document"), default="parent")),
        title_next_line=fields.choice("title", ("same_line", "next_line"), default="same_line") == "next_line",
        only_before=fields.name("only_before") if fields.has("only_before") else None,
        within=fields.name("within") if fields.has("within") else None,
        region=fields.flag("region"),
    )


def _marker(fields: _Fields) -> tuple[str, str] | None:
    if not fields.has("marker"):
        return None
    before, mark, after = fields.word("marker").partition("{n}")
    if not mark or not after.strip() or len(before) + len(after) > 8:
        fields.fail("marker", "is like '({n})' or '{n}.': the number as {n} followed by a sign")
    return before, after


def _check_levels(root: _Fields, levels: tuple[Level, ...]) -> None:
    names = [level.name for level in levels]
    if len(levels) > PROFILE_LEVELS_MAX:
        root.fail("levels", f"at most {PROFILE_LEVELS_MAX}")
    if len(set(names)) != len(names):
        root.fail("levels", "names must differ")
    for level in levels:
        if not (level.words or level.phrases or level.marker):
            root.fail("levels", f"{level.name}: needs words, phrases or a marker")
        if (level.words or level.marker) and not level.numbers and not level.number_optional:
            root.fail("levels", f"{level.name}: needs numbers, or number: optional")
        if level.words and not level.segment:
            root.fail("levels", f"{level.name}: needs a segment")
        if level.only_before is not None and level.only_before not in names:
            root.fail("levels", f"{level.name}: only_before names no level")
        if level.within is not None and level.within not in names[: names.index(level.name)]:
            root.fail("levels", f"{level.name}: within names no level further out")


def _sentinels(root: _Fields) -> tuple[str, str] | None:
    if not root.has("sentinels"):
        return None
    pair = root.mapping("sentinels", ("begin", "end"))
    begin, end = pair.word("begin").strip(), pair.word("end").strip()
    if begin == end:
        pair.fail("end", "must differ from begin")
    return begin, end


def _pairs(root: _Fields, names: tuple[str, ...]) -> tuple[tuple[str, str], ...]:
    pairs = []
    for node in root.given("either_way"):
        if not isinstance(node, Items) or len(node.items) != 2:
            root.fail("either_way", "must be a list of pairs")
        outer, inner = (root.scalar("either_way", item) for item in node.items)
        if outer not in names or inner not in names or names.index(outer) >= names.index(inner):
            root.fail("either_way", "each pair names two levels, the usually outer one first")
        pairs.append((outer, inner))
    return tuple(pairs)


def _status(root: _Fields) -> StatusRules | None:
    if not root.has("status"):
        return None
    fields = root.mapping("status", ("markers", "default", "scope"))
    markers = fields.mapping("markers", STATUSES)
    pairs = tuple((status, markers.word(status)) for status in STATUSES if markers.has(status))
    if len({marker for _, marker in pairs}) != len(pairs):
        fields.fail("markers", "must differ from each other")
    return StatusRules(
        markers=pairs,
        default=fields.choice("default", STATUSES),
        enacted_only=fields.choice("scope", ("all", "enacted_only")) == "enacted_only",
    )


class _Fields(FieldReader):
    """One mapping of a profile, by the forms that a profile's values have."""

    def word(self, field: str) -> str:
        """A text that is not blank."""
        return self.scalar(field, self.node(field))

    def name(self, field: str) -> str:
        return self.matching(field, _NAME, "a-z, 0-9, '_' and '-', at most 48, a letter first")

    def matching(self, field: str, form: re.Pattern[str], rule: str) -> str:
        text = self.word(field)
        if not form.fullmatch(text):
            self.fail(field, f"{text!r}: {rule}")
        return text

    def choice(self, field: str, known: tuple[str, ...], default: str | None = None) -> str:
        if default is not None and not self.has(field):
            return default
        text = self.word(field)
        if text not in known:
            self.fail(field, f"{text!r}: one of {', '.join(known)}")
        return text

    def flag(self, field: str) -> bool:
        return self.choice(field, ("true", "false"), default="false") == "true"

    def texts(self, field: str) -> tuple[str, ...]:
        return tuple(self.scalar(field, item) for item in self.given(field))

    def choices(self, field: str, known: tuple[str, ...], default: tuple[str, ...] | None = None) -> tuple[str, ...]:
        if default is not None and not self.has(field):
            return default
        texts = tuple(self.scalar(field, item) for item in self.items(field))
        unknown = [text for text in texts if text not in known]
        if unknown or not texts:
            self.fail(field, f"{', '.join(unknown) or 'empty'}: some of {', '.join(known)}")
        return texts

    def mapping(self, field: str, known: Collection[str]) -> _Fields:
        return self._mapping(self.node(field), field, known)

    def mappings(self, field: str, known: Collection[str]) -> tuple[_Fields, ...]:
        return tuple(self._mapping(item, field, known) for item in self.given(field))

    def _mapping(self, node: Node, field: str, known: Collection[str]) -> _Fields:
        path = f"{self.path}.{field}"
        return _Fields(node, path, known, path=path)

    def given(self, field: str) -> tuple[Node, ...]:
        """The items of a list that may be absent."""
        return self.items(field) if self.has(field) else ()

    def scalar(self, field: str, node: Node) -> str:
        if not isinstance(node, Scalar) or not node.text.strip():
            self.fail(field, "must be a text")
        return node.text
