"""Every small forgery of an export: each node, attribute, member, name, order and line, one at a time."""

from __future__ import annotations

import json
from collections.abc import Iterator
from copy import deepcopy
from typing import Any

from lxml import etree

Forged = tuple[str, bytes]


def mutations(form: str, data: bytes) -> Iterator[Forged]:
    """(What was changed, the forged file) for each place of the file."""
    yield from _of_lines(data)
    if form == "akn":
        yield from _of_xml(data)
    if form in ("json", "jsonld"):
        yield from _of_json(data)


def _of_lines(data: bytes) -> Iterator[Forged]:
    """A line that is missing, repeated, swapped or changed in one character, and bytes around the file."""
    lines = data.split(b"\n")
    for number, line in enumerate(lines):
        before, after = lines[:number], lines[number + 1 :]
        yield f"line {number} missing", b"\n".join([*before, *after])
        yield f"line {number} twice", b"\n".join([*before, line, *lines[number:]])
        if after and after[0] != line:
            yield f"line {number} swapped", b"\n".join([*before, after[0], line, *after[1:]])
        for place in range(0, len(line), 7):
            other = b"x" if line[place : place + 1] != b"x" else b"y"
            yield (
                f"line {number}, byte {place}",
                b"\n".join([*before, line[:place] + other + line[place + 1 :], *after]),
            )
    yield from (("a blank before", b" " + data), ("a blank after", data + b" "), ("CRLF", data.replace(b"\n", b"\r\n")))


def _of_json(data: bytes) -> Iterator[Forged]:
    """Each member removed, renamed, changed and given twice, another beside it, and each list in another order."""

    def written(value: Any) -> bytes:
        return (json.dumps(value, ensure_ascii=False, indent=1) + "\n").encode()

    original = json.loads(data)
    for path, value in _places(original):
        for what, replacement in (("null", None), ("a text", f"{value}x"), ("absent", _ABSENT)):
            if replacement != value:
                yield f"{path} is {what}", written(_put(original, path, replacement))
        if isinstance(path[-1], str):
            yield (
                f"{path} is renamed",
                written(_put(_put(original, path, _ABSENT), (*path[:-1], f"{path[-1]}x"), value)),
            )
            text = json.dumps(path[-1])
            yield (
                f"{path} is given twice",
                written(_put(original, path, value)).replace(f"{text}: ".encode(), f"{text}: 1, {text}: ".encode(), 1),
            )
        if isinstance(value, list) and len(value) > 1 and value != value[::-1]:
            yield f"{path} in another order", written(_put(original, path, value[::-1]))
        if isinstance(value, dict):
            yield f"{path} with another member", written(_put(original, (*path, "more"), 1))


_ABSENT = object()


def _places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[tuple[Any, ...], Any]]:
    members = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, member in members:
        yield (*path, name), member
        yield from _places(member, (*path, name))


def _put(original: Any, path: tuple[Any, ...], value: Any) -> Any:
    copy = deepcopy(original)
    holder = copy
    for name in path[:-1]:
        holder = holder[name]
    if value is _ABSENT:
        del holder[path[-1]]
    else:
        holder[path[-1]] = value
    return copy


def _of_xml(data: bytes) -> Iterator[Forged]:
    """Each element removed, repeated, renamed, moved, with other text and another attribute, and each attribute."""
    count = len(list(etree.fromstring(data).iter()))
    for number in range(1, count):
        for what, change in _XML_CHANGES.items():
            root = etree.fromstring(data)
            element = list(root.iter())[number]
            change(element)
            yield f"{element.tag} {number} {what}", _serialised(root)
        for name in list(etree.fromstring(data).iter())[number].attrib:
            for what, value in (("changed", "x"), ("missing", None)):
                root = etree.fromstring(data)
                element = list(root.iter())[number]
                if value is None:
                    del element.attrib[name]
                else:
                    element.set(name, value)
                yield f"{element.tag} {number} {name} {what}", _serialised(root)


_XML_CHANGES: dict[str, Any] = {
    "missing": lambda element: element.getparent().remove(element),
    "twice": lambda element: element.addnext(deepcopy(element)),
    "renamed": lambda element: setattr(element, "tag", "{urn:x}other"),
    "last": lambda element: element.getroottree().getroot().append(element),
    "with other text": lambda element: setattr(element, "text", "All of this is void."),
    "with another attribute": lambda element: element.set("more", "x"),
    "with a comment": lambda element: element.append(etree.Comment("x")),
    "with a new article": lambda element: element.append(etree.Element("article")),
}


def _serialised(root: Any) -> bytes:
    written: bytes = etree.tostring(root, xml_declaration=True, encoding="UTF-8")
    return written
