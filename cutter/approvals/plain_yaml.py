"""Pure: the small part of YAML that a policy may use: mappings, lists and plain or quoted scalars, all of them strings.

No anchors, aliases, tags, merge keys, repeated keys or second document; each node knows its line, so that a refusal can
name it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import yaml

from cutter.errors import InvalidInput

DEPTH_MAX = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class Scalar:
    """A text and its line, 1-based."""

    line: int
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Items:
    """A list and the line where it begins."""

    line: int
    items: tuple[Node, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Fields:
    """A mapping in its own order and the line where it begins."""

    line: int
    entries: tuple[tuple[Scalar, Node], ...]


Node = Scalar | Items | Fields


def load(data: bytes, *, bytes_max: int) -> Node:
    """Read one document; InvalidInput names the line and the rule."""
    if len(data) > bytes_max:
        raise InvalidInput(f"the file has {len(data)} bytes, at most {bytes_max}")
    try:
        events = iter(list(yaml.parse(data.decode("utf-8"), Loader=yaml.SafeLoader)))
    except UnicodeDecodeError as problem:
        raise InvalidInput(f"byte {problem.start} is not UTF-8") from None
    except yaml.MarkedYAMLError as problem:
        line = problem.problem_mark.line + 1 if problem.problem_mark else 1
        raise InvalidInput(f"line {line}: {problem.problem}") from None
    except yaml.YAMLError as problem:
        raise InvalidInput(f"the file is no YAML: {problem}") from None
    return _document(events)


def _document(events: Iterator[yaml.Event]) -> Node:
    next(events)
    if isinstance(next(events), yaml.StreamEndEvent):
        raise InvalidInput("the file is empty")
    node = _node(next(events), events, depth=1)
    next(events)
    if not isinstance(next(events), yaml.StreamEndEvent):
        raise InvalidInput("the file has a second document")
    return node


def _node(event: yaml.Event, events: Iterator[yaml.Event], *, depth: int) -> Node:
    line = event.start_mark.line + 1 if event.start_mark else 1
    if depth > DEPTH_MAX:
        raise InvalidInput(f"line {line}: nested deeper than {DEPTH_MAX}")
    if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None):
        raise InvalidInput(f"line {line}: anchors and aliases are not allowed")
    if getattr(event, "tag", None):
        raise InvalidInput(f"line {line}: tags are not allowed")
    if isinstance(event, yaml.ScalarEvent):
        return _scalar(event, line)
    if isinstance(event, yaml.SequenceStartEvent):
        return Items(line=line, items=tuple(_sequence(events, depth)))
    return Fields(line=line, entries=tuple(_mapping(events, depth)))


def _scalar(event: yaml.ScalarEvent, line: int) -> Scalar:
    if event.style in ("|", ">"):
        raise InvalidInput(f"line {line}: block texts are not allowed")
    if event.style is None and event.value in ("", "~", "null", "Null", "NULL"):
        raise InvalidInput(f"line {line}: a value is missing")
    return Scalar(line=line, text=event.value)


def _sequence(events: Iterator[yaml.Event], depth: int) -> Iterator[Node]:
    for event in events:
        if isinstance(event, yaml.SequenceEndEvent):
            return
        yield _node(event, events, depth=depth + 1)


def _mapping(events: Iterator[yaml.Event], depth: int) -> Iterator[tuple[Scalar, Node]]:
    seen: set[str] = set()
    for event in events:
        if isinstance(event, yaml.MappingEndEvent):
            return
        key = _node(event, events, depth=depth + 1)
        if not isinstance(key, Scalar) or key.text == "<<":
            raise InvalidInput(f"line {key.line}: a key is a plain word")
        if key.text in seen:
            raise InvalidInput(f"line {key.line}: {key.text} stands twice")
        seen.add(key.text)
        yield key, _node(next(events), events, depth=depth + 1)
