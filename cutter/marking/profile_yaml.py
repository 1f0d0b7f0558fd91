"""Pure: reads a profile's YAML strictly: closed schema, no duplicate keys, no aliases, errors with field and line."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from typing import NoReturn, TypeVar, cast

import yaml

from cutter.domain.digests import sha256_hex
from cutter.errors import InvalidInput
from cutter.limits import PROFILE_BYTES_MAX, PROFILE_LEVELS_MAX, PROFILES_KEPT
from cutter.marking.numbers import STYLES
from cutter.marking.profile import (
    SECTION_TYPES,
    STATUSES,
    Duplicates,
    Empty,
    Form,
    Level,
    Numbering,
    Profile,
    StatusRules,
)

SCHEMA = "cutter-profile/1"

T = TypeVar("T")

_NAME = re.compile(r"[a-z][a-z0-9_-]{0,47}")
_SEGMENT = re.compile(r"[A-Z][A-Z0-9-]{0,23}")
_DEPTH_MAX = 6
_FORMS = ("atx", "bold", "plain")
PROFILE_KEYS = {
    "schema", "id", "about", "unit_kind", "publication_type", "owner", "forms", "depths", "other_headings",
    "hierarchy", "merge_titles", "duplicates", "empty", "sentinels", "contents", "tail", "either_way", "deepest",
    "status", "levels",
}  # fmt: skip
LEVEL_KEYS = {
    "name", "segment", "section_type", "words", "phrases", "marker", "alone", "numbers", "number", "forms",
    "numbering", "title", "only_before", "within",
}  # fmt: skip


@lru_cache(maxsize=PROFILES_KEPT)
def parse_profile(data: bytes) -> Profile:
    """A profile from its bytes; raises InvalidInput that names the line and the field.

    A few are remembered: two gates of every document ask for the same one, and reading YAML costs more than marking.
    """
    if len(data) > PROFILE_BYTES_MAX:
        raise InvalidInput(f"profile: {len(data)} bytes, at most {PROFILE_BYTES_MAX}")
    root = _Fields(_compose(data), "profile", PROFILE_KEYS)
    if root.text("schema") != SCHEMA:
        root.fail("schema", f"must be {SCHEMA}")
    forms = cast(tuple[Form, ...], root.choices("forms", _FORMS, default=("atx",)))
    levels = tuple(_level(item, forms) for item in root.mappings("levels", LEVEL_KEYS))
    _check_levels(root, levels)
    names = tuple(level.name for level in levels)
    return Profile(
        id=root.name("id"),
        sha256=sha256_hex(data),
        about=root.text("about"),
        unit_kind=root.name("unit_kind"),
        publication_type=root.name("publication_type") if root.has("publication_type") else None,
        owner=root.name("owner"),
        levels=levels,
        depths=root.choices("depths", SECTION_TYPES),
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
        status=_status(root),
    )


def _level(fields: _Fields, forms: tuple[Form, ...]) -> Level:
    number = fields.choice("number", ("required", "optional", "either_side"), default="required")
    return Level(
        name=fields.name("name"),
        segment=fields.matching("segment", _SEGMENT, "A-Z, 0-9 and '-', at most 24") if fields.has("segment") else "",
        section_type=fields.choice("section_type", SECTION_TYPES),
        words=fields.texts("words"),
        phrases=fields.texts("phrases"),
        marker=_marker(fields),
        alone=fields.flag("alone"),
        numbers=fields.choices("numbers", tuple(STYLES), default=()),
        number_optional=number == "optional",
        number_first=number == "either_side",
        forms=cast(tuple[Form, ...], fields.choices("forms", _FORMS, default=forms)),
        numbering=cast(Numbering, fields.choice("numbering", ("parent", "document"), default="parent")),
        title_next_line=fields.choice("title", ("same_line", "next_line"), default="same_line") == "next_line",
        only_before=fields.name("only_before") if fields.has("only_before") else None,
        within=fields.name("within") if fields.has("within") else None,
    )


def _marker(fields: _Fields) -> tuple[str, str] | None:
    if not fields.has("marker"):
        return None
    before, mark, after = fields.text("marker").partition("{n}")
    if not mark or not after.strip() or len(before) + len(after) > 8:
        fields.fail("marker", "is like '({n})' or '{n}.': the number as {n} with a sign behind it")
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
    pair = root.mapping("sentinels", {"begin", "end"})
    begin, end = pair.text("begin").strip(), pair.text("end").strip()
    if begin == end:
        pair.fail("end", "must differ from begin")
    return begin, end


def _pairs(root: _Fields, names: tuple[str, ...]) -> tuple[tuple[str, str], ...]:
    pairs = []
    for outer, inner in root.text_pairs("either_way"):
        if outer not in names or inner not in names or names.index(outer) >= names.index(inner):
            root.fail("either_way", "each pair names two levels, the usually outer one first")
        pairs.append((outer, inner))
    return tuple(pairs)


def _status(root: _Fields) -> StatusRules | None:
    if not root.has("status"):
        return None
    fields = root.mapping("status", {"markers", "default", "scope"})
    markers = fields.mapping("markers", set(STATUSES))
    found = tuple((status, markers.text(status)) for status in STATUSES if markers.has(status))
    if len({marker for _, marker in found}) != len(found):
        fields.fail("markers", "must differ from each other")
    return StatusRules(
        markers=found,
        default=fields.choice("default", STATUSES),
        enacted_only=fields.choice("scope", ("all", "enacted_only")) == "enacted_only",
    )


def _compose(data: bytes) -> yaml.Node:
    try:
        text = data.decode("utf-8")
        _check_events(text)
        node = yaml.compose(text, Loader=yaml.SafeLoader)
    except UnicodeDecodeError as error:
        raise InvalidInput(f"profile byte {error.start}: not UTF-8") from error
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = mark.line + 1 if mark is not None else 1
        raise InvalidInput(f"profile line {line}: not YAML: {getattr(error, 'problem', None) or error}") from error
    if node is None:
        raise InvalidInput("profile line 1: is empty")
    return node


def _check_events(text: str) -> None:
    """Look at the flat event stream first: the composer would follow aliases and recurse as deep as the file says."""
    depth = 0
    for event in yaml.parse(text, Loader=yaml.SafeLoader):
        line = event.start_mark.line + 1 if event.start_mark is not None else 1
        if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None) is not None:
            raise InvalidInput(f"profile line {line}: anchors and aliases are not allowed")
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1
        if depth > _DEPTH_MAX:
            raise InvalidInput(f"profile line {line}: nested deeper than {_DEPTH_MAX}")


class _Fields:
    """One mapping of the YAML with the line of every value; unknown and repeated keys are refused at once."""

    def __init__(self, node: yaml.Node, path: str, known: set[str]) -> None:
        self._path = path
        self._line = node.start_mark.line + 1
        self._values: dict[str, yaml.Node] = {}
        if not isinstance(node, yaml.MappingNode):
            raise InvalidInput(f"profile line {self._line}: {path} must be a mapping")
        for key, value in node.value:
            self._take(key, value, known)

    def _take(self, key: yaml.Node, value: yaml.Node, known: set[str]) -> None:
        line = key.start_mark.line + 1
        name = key.value if isinstance(key, yaml.ScalarNode) else "?"
        if name not in known:
            raise InvalidInput(
                f"profile line {line}: {self._path}.{name} is unknown (known: {', '.join(sorted(known))})"
            )
        if name in self._values:
            raise InvalidInput(f"profile line {line}: {self._path}.{name} is given twice")
        self._values[name] = value

    def fail(self, field: str, rule: str) -> NoReturn:
        """Refuse a field with its line."""
        node = self._values.get(field)
        line = node.start_mark.line + 1 if node is not None else self._line
        raise InvalidInput(f"profile line {line}: {self._path}.{field} {rule}")

    def has(self, field: str) -> bool:
        return field in self._values

    def text(self, field: str) -> str:
        if field not in self._values:
            self.fail(field, "is missing")
        return self._scalar(field, self._values[field])

    def name(self, field: str) -> str:
        return self.matching(field, _NAME, "a-z, 0-9, '_' and '-', at most 48, a letter first")

    def matching(self, field: str, form: re.Pattern[str], rule: str) -> str:
        text = self.text(field)
        if not form.fullmatch(text):
            self.fail(field, f"{text!r}: {rule}")
        return text

    def choice(self, field: str, known: tuple[str, ...], default: str | None = None) -> str:
        if default is not None and field not in self._values:
            return default
        text = self.text(field)
        if text not in known:
            self.fail(field, f"{text!r}: one of {', '.join(known)}")
        return text

    def flag(self, field: str) -> bool:
        return self.choice(field, ("true", "false"), default="false") == "true"

    def texts(self, field: str) -> tuple[str, ...]:
        return self._sequence(field, lambda item: self._scalar(field, item))

    def choices(self, field: str, known: tuple[str, ...], default: tuple[str, ...] | None = None) -> tuple[str, ...]:
        if field not in self._values:
            if default is None:
                self.fail(field, "is missing")
            return default
        texts = self.texts(field)
        unknown = [text for text in texts if text not in known]
        if unknown or not texts:
            self.fail(field, f"{', '.join(unknown) or 'empty'}: some of {', '.join(known)}")
        return texts

    def mapping(self, field: str, known: set[str]) -> _Fields:
        if field not in self._values:
            self.fail(field, "is missing")
        return _Fields(self._values[field], f"{self._path}.{field}", known)

    def mappings(self, field: str, known: set[str]) -> tuple[_Fields, ...]:
        return self._sequence(field, lambda item: _Fields(item, f"{self._path}.{field}", known))

    def text_pairs(self, field: str) -> tuple[tuple[str, str], ...]:
        return self._sequence(field, lambda item: self._pair(field, item))

    def _pair(self, field: str, node: yaml.Node) -> tuple[str, str]:
        if not isinstance(node, yaml.SequenceNode) or len(node.value) != 2:
            self.fail(field, "must be a list of pairs")
        return self._scalar(field, node.value[0]), self._scalar(field, node.value[1])

    def _sequence(self, field: str, read: Callable[[yaml.Node], T]) -> tuple[T, ...]:
        node = self._values.get(field)
        if node is None:
            return ()
        if not isinstance(node, yaml.SequenceNode):
            self.fail(field, "must be a list")
        return tuple(read(item) for item in node.value)

    def _scalar(self, field: str, node: yaml.Node) -> str:
        if not isinstance(node, yaml.ScalarNode) or not node.value.strip():
            self.fail(field, "must be a text")
        return str(node.value)
