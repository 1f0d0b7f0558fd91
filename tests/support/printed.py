"""Pure: the commands that the product printed for a person to type, and how a person fills them in.

A script is what one line asks for: one command, or several with `# then:` between them.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Any

from cutter.domain.next_step import THEN as BETWEEN

THEN = BETWEEN.lstrip()
Script = tuple[str, ...]

_ANYWHERE = re.compile(
    r"`(cutter[ ][^`\n]+)`|(?:next|then|first): (cutter[ ][^\n]*)|^(?:\s*\d*\s*|.*\s{2,})(cutter [a-z][^\n]*)$", re.M
)
_EXAMPLE = re.compile(r"^ *Example: (.*?)(?=\n\s*\n|\Z)", re.M | re.S)
_BROKEN_WORD = re.compile(r"(?<=\w)-\n\s*(?=\w)")
_JSON_BLOCK = re.compile(r"^```json\n(.*?)^```", re.M | re.S)
_ESCAPE = re.compile(r"\\([!-/:-@\[-`{-~])")
KEYS = ("next", "then", "command", "commands", "sign", "next_command")


def scripts_in(text: str) -> Iterator[Script]:
    """Commands in backticks, those after `next:`, and those that stand alone at the end of a line."""
    for match in _ANYWHERE.finditer(text):
        line = next(group for group in match.groups() if group)
        yield tuple(part.strip() for part in line.split(THEN))


def examples_in(text: str) -> list[str]:
    """The examples of a help page, whose lines are wrapped, also after a hyphen within a word."""
    return [" ".join(_BROKEN_WORD.sub("-", example).split()) for example in _EXAMPLE.findall(text)]


PLACEHOLDERS = (
    (re.compile(r"ictr-\d{8}T\d{6}Z-[0-9a-f-]{36}"), "RUN"),
    (re.compile(r"\b[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}\b"), "UUID"),
    (re.compile(r"\b[0-9a-f]{40,64}\b"), "DIGEST"),
    (re.compile(r"(?<==)/[^ ']+|(?<=[ '])/[^ ']+|(?:\bknowledge|<folder(?:-\d)?>)/[^ ']+"), "PATH"),
    (re.compile(r"\bICX-[A-Z0-9-]+|\bNOPE\S*"), "DOCUMENT"),
    (re.compile(r"<(run|batch|document|queue)(?:-\d)?>"), lambda match: match[1].upper()),
    (re.compile(r"(?<=--reason )('[^']*'|\"[^\"]*\"|\S+)"), "TEXT"),
    (re.compile(r"\b[\w.-]+\.(md|yaml|tar|jsonl|asc|gpg|html)\b"), "FILE"),
)  # fmt: skip
"""Ids, digests, paths and texts, and what stands for each when commands are compared."""


def placeholders(command: str) -> str:
    """The command without what differs between two people who type it."""
    for pattern, name in PLACEHOLDERS:
        command = pattern.sub(name, command)
    return command


def scripts_of_document(text: str) -> Iterator[Script]:
    """The commands of a Markdown document; its JSON blocks are read as JSON."""
    for block in _JSON_BLOCK.findall(text):
        try:
            yield from scripts_of_json(json.loads(block))
        except ValueError:
            yield from scripts_in(block)  # a block that was cut to its length
    # A person reads the document without the escapes of its Markdown.
    yield from scripts_in(_ESCAPE.sub(r"\1", _JSON_BLOCK.sub("", text)))


def scripts_of_json(value: Any, key: str = "") -> Iterator[Script]:
    """The commands of a JSON answer: whole texts in the fields that hold one, and those in sentences."""
    if isinstance(value, dict):
        if value.get("ok") is True and "expected" in value:
            return  # What an invariant that holds expected tells nobody to do anything.
        for name, item in value.items():
            yield from scripts_of_json(item, name)
    elif isinstance(value, list):
        texts = [text for text in value if isinstance(text, str) and text.startswith("cutter ")]
        if key == "commands" and texts:
            yield tuple(texts)
        for item in value:
            if item not in texts or key != "commands":
                yield from scripts_of_json(item, key)
    elif isinstance(value, str) and key in KEYS and value.startswith("cutter "):
        yield tuple(part.strip() for part in value.split(THEN))
    elif isinstance(value, str):
        yield from scripts_in(value)


def scripts_printed(out: str, err: str) -> list[Script]:
    """Everything that one command printed, each once."""
    try:
        scripts = [*scripts_of_json(json.loads(out)), *scripts_in(err)]
    except ValueError:
        scripts = [*scripts_of_document(out), *scripts_in(err)]
    return list(dict.fromkeys(scripts))


def first_next(out: str, err: str) -> str:
    """The one command that an answer sends a person to; empty when it sends nobody anywhere."""
    try:
        command = json.loads(out).get("next") or ""
    except (ValueError, AttributeError):
        lines = re.findall(r"next: (cutter [^\n]*)", out + err)
        quoted = re.findall(r"`(cutter [^`\n]+)`", err)
        command = (lines or quoted or [""])[0]
    return str(command).split(THEN)[0].strip()


def filled_in(command: str, values: Mapping[str, str]) -> list[str]:
    """The words after `cutter`, with a person's own in place of those in capitals."""
    words = shlex.split(command)[1:]
    wanted = ["QUEUE" if before == "--queue" and word == "FILE" else word for before, word in pairwise(["", *words])]
    return [values.get(word, word) for word in wanted]
