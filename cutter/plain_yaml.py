"""Pure: the only reader of people's YAML files. It accepts a small part of YAML.

A file may have mappings, lists, and plain or quoted texts. It may not have anchors, aliases, tags, merge keys, repeated
keys, block texts or a second document. No character, not even in a comment, may make a line look different from its
content. Every value is a text. Each node has its line, so that a refusal can name the line.

The reader takes the file event by event and stops at the allowed depth, so a hostile file cannot fill the memory.
Readers of one kind of file take its fields with `FieldReader`, or with `values` and a closed model.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Any, NoReturn

import yaml

from cutter import limits
from cutter.errors import InvalidInput

NULLS = ("", "~", "null", "Null", "NULL")

_MISLEADING = re.compile("[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\x85\u2028\u2029]|\r(?!\n)")
"""Characters that change the shown order of a line, and line ends that few programs show as line ends."""

_LOADER: type[yaml.SafeLoader] | type[yaml.CSafeLoader] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
"""The loader of libyaml if PyYAML was built with it, because it is twenty times faster."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scalar:
    """A text and its line. Lines count from 1."""

    line: int
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Nothing:
    """A missing or null value, and its line. Only `read` gives it."""

    line: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Items:
    """A list and its first line."""

    line: int
    items: tuple[Node, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Fields:
    """A mapping in the order of the file, and its first line."""

    line: int
    entries: tuple[tuple[Scalar, Node], ...]


Node = Scalar | Nothing | Items | Fields


@dataclass(frozen=True, slots=True, kw_only=True)
class Flaw:
    """A rule that the file breaks, and the line. Line 0 means the whole file. The text quotes no value."""

    line: int
    rule: str

    def __str__(self) -> str:
        return f"line {self.line}: {self.rule}" if self.line else self.rule


def load(data: bytes, *, bytes_max: int) -> Node:
    """Read one document without missing values. Raises InvalidInput with the line and the rule of the first flaw."""
    node, flaws = read(data, bytes_max=bytes_max)
    if flaws or node is None:
        raise InvalidInput(str(flaws[0]))
    return node


def read(data: bytes, *, bytes_max: int, nulls: bool = False) -> tuple[Node | None, tuple[Flaw, ...]]:
    """The document, or None if a flaw ended the reading, and all flaws. With `nulls`, null becomes `Nothing`."""
    if len(data) > bytes_max:
        return None, (Flaw(line=0, rule=f"the file has {len(data)} bytes, at most {bytes_max}"),)
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as problem:
        line = data.count(b"\n", 0, problem.start) + 1
        return None, (Flaw(line=line, rule=f"byte {problem.start} is not UTF-8"),)
    reader = _Reader(yaml.parse(text, Loader=_LOADER), nulls=nulls)
    node = reader.document(text)
    return node, tuple(reader.flaws)


class _Enough(Exception):
    """The reader stops, because the file is nested too deep or has too many flaws."""


class _Reader:
    """Turns events into nodes and collects every flaw. If a flaw leaves no value, `Nothing` replaces the value."""

    def __init__(self, events: Iterator[yaml.Event], *, nulls: bool) -> None:
        self._events = events
        self._nulls = nulls
        self.flaws: list[Flaw] = []

    def document(self, text: str) -> Node | None:
        try:
            # Also in comments: if people and programs read different texts, no part can be trusted.
            for match in _MISLEADING.finditer(text):
                line = text.count("\n", 0, match.start()) + 1
                self._flaw(line, f"U+{ord(match[0]):04X} makes a line look other than it is read: leave it out")
            next(self._events)
            if isinstance(next(self._events), yaml.StreamEndEvent):
                self._flaw(0, "the file is empty")
                return None
            node = self._node(next(self._events), depth=1)
            next(self._events)
            after = next(self._events)
            if not isinstance(after, yaml.StreamEndEvent):
                self._flaw(_line(after), "the file has a second document")
            return node
        except _Enough:
            return None
        except yaml.MarkedYAMLError as problem:
            line = problem.problem_mark.line + 1 if problem.problem_mark else 1
            self._flaw(line, f"not YAML: {problem.problem or problem}")
        except yaml.YAMLError as problem:
            self._flaw(0, "the file is no YAML: " + " ".join(str(problem).split()))
        return None

    def _flaw(self, line: int, rule: str) -> None:
        self.flaws.append(Flaw(line=line, rule=rule))
        if len(self.flaws) >= limits.YAML_FLAWS_MAX:
            raise _Enough

    def _node(self, event: yaml.Event, *, depth: int) -> Node:
        line = _line(event)
        if depth > limits.YAML_DEPTH_MAX:
            self._flaw(line, f"nested deeper than {limits.YAML_DEPTH_MAX}")
            raise _Enough
        if getattr(event, "anchor", None):  # an alias event has one too
            self._flaw(line, "anchors and aliases are not allowed")
        if getattr(event, "tag", None):
            self._flaw(line, "tags are not allowed")
        if isinstance(event, yaml.ScalarEvent):
            if event.style in ("|", ">"):
                self._flaw(line, "block texts are not allowed")
            if event.style or event.value not in NULLS:
                return Scalar(line=line, text=event.value)
            if not self._nulls:
                self._flaw(line, "a value is missing")
            return Nothing(line=line)
        if isinstance(event, yaml.SequenceStartEvent):
            items = []
            while not isinstance(item := next(self._events), yaml.SequenceEndEvent):
                items.append(self._node(item, depth=depth + 1))
            return Items(line=line, items=tuple(items))
        if isinstance(event, yaml.MappingStartEvent):
            return Fields(line=line, entries=tuple(self._mapping(depth)))
        return Nothing(line=line)

    def _mapping(self, depth: int) -> Iterator[tuple[Scalar, Node]]:
        keys: set[str] = set()
        for event in self._events:
            if isinstance(event, yaml.MappingEndEvent):
                return
            key = self._node(event, depth=depth + 1)
            value = self._node(next(self._events), depth=depth + 1)
            if not isinstance(key, Scalar) or key.text == "<<":
                self._flaw(key.line, "a key is a plain word")
            elif key.text in keys:
                self._flaw(key.line, f"{_shown(key.text)} is duplicated")
            else:
                keys.add(key.text)
                yield key, value


def _line(event: yaml.Event) -> int:
    return event.start_mark.line + 1 if event.start_mark else 1


def _shown(key: str) -> str:
    """A key in a form that an error may quote: the name of a field, but no other text that is in its place."""
    return key if key.isascii() and key.replace("_", "").isalnum() and len(key) <= 40 else "a key"


Place = tuple[str | int, ...]
"""The place of a value in a document: names of fields and positions in lists, from the outermost to the innermost."""


def values(node: Node, lines: dict[Place, int], place: Place = ()) -> Any:
    """A node as plain values, with lists as tuples. It writes the line of each place into `lines`."""
    lines.setdefault(place, node.line)
    match node:
        case Scalar():
            return node.text
        case Nothing():
            return None
        case Items():
            return tuple(values(item, lines, (*place, number)) for number, item in enumerate(node.items))
        case Fields():
            for key, _ in node.entries:
                lines[(*place, key.text)] = key.line
            return {key.text: values(value, lines, (*place, key.text)) for key, value in node.entries}


class Wrong(InvalidInput):
    """A value that breaks the rule of its field. It has the line and the rule."""

    def __init__(self, line: int, rule: str) -> None:
        super().__init__(f"line {line}: {rule}")
        self.line = line
        self.rule = rule


class FieldReader:
    """Takes the fields of one mapping. It refuses an unknown field at once. Each error names the line and the field.

    `title` names the mapping in the error about a node that is not a mapping. `path` comes before the name of each
    field.
    """

    def __init__(self, node: Node, title: str, known: Collection[str], *, path: str = "") -> None:
        if not isinstance(node, Fields):
            raise Wrong(node.line, f"{title} must be a mapping with {', '.join(known)}")
        self.path = path
        self._line = node.line
        self._keys = {key.text: key.line for key, _ in node.entries}
        self._values = {key.text: value for key, value in node.entries}
        for name, line in self._keys.items():
            if name not in known:
                raise Wrong(line, f"{self._named(_shown(name))} is unknown (known: {', '.join(known)})")

    def fail(self, name: str, rule: str) -> NoReturn:
        """Raise Wrong for a field or its absence, with the line."""
        value = self._values.get(name)
        raise Wrong(value.line if value is not None else self._line, f"{self._named(name)} {rule}")

    def has(self, name: str) -> bool:
        return name in self._values

    def names(self) -> tuple[str, ...]:
        return tuple(self._values)

    def node(self, name: str) -> Node:
        if name not in self._values:
            self.fail(name, "is missing")
        return self._values[name]

    def text(self, name: str, form: re.Pattern[str], words: str) -> str:
        """A text of that form. `words` describe the form for people."""
        node = self.node(name)
        if not isinstance(node, Scalar) or not form.fullmatch(node.text):
            self.fail(name, f"must be {words}")
        return node.text

    def items(self, name: str) -> tuple[Node, ...]:
        node = self.node(name)
        if not isinstance(node, Items):
            self.fail(name, "must be a list")
        return node.items

    def inner(self, name: str, known: Collection[str]) -> FieldReader:
        return FieldReader(self.node(name), self._named(name), known, path=self.path and self._named(name))

    def _named(self, name: str) -> str:
        return f"{self.path}.{name}" if self.path else name
