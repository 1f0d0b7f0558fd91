"""Pure: reads queue.yaml strictly (seed 001 §2; spec 02 "queue.yaml"), and makes the queue of a night from a pattern.

The reader works in three steps: it searches the bare lines for secrets, checks the form of the YAML, and checks the
values by a closed model. It reports all problems at once, each with its line and the remedy. A problem repeats a value
only if the value has the form of an id, so that no message shows a misplaced secret.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from pydantic import ValidationError

from cutter import limits, plain_yaml
from cutter.batch.plan import circles
from cutter.batch.queue_file import ENACTED_ONLY, Closed, ItemFile, QueueFile, sensitive_lines, sensitive_values
from cutter.domain.digests import sha256_hex
from cutter.domain.ids import DOCUMENT_ID
from cutter.errors import InvalidInput
from cutter.limits import QUEUE_ITEMS_MAX
from cutter.plain_yaml import Fields, Items, Node, Place, Scalar


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class Problem:
    """One problem of a queue file; line 0 is the whole file. `then` is the command that the text names. One that is
    `alone` refuses only its own item.
    """

    line: int
    field: str
    text: str
    document_id: str = ""
    code: str = InvalidInput.code
    alone: bool = False
    then: str = ""

    def __str__(self) -> str:
        where = f"line {self.line}: " if self.line else ""
        return f"{where}{self.field + ': ' if self.field else ''}{self.text}"


class QueueRefused(InvalidInput):
    """The queue is refused and nothing was started. `problems` are all that the author must correct, by line."""

    def __init__(self, problems: tuple[Problem, ...]) -> None:
        shown = [str(problem) for problem in problems[: limits.QUEUE_PROBLEMS_SHOWN]]
        more = len(problems) - len(shown)
        lines = [*shown, *([f"and {more} more"] if more else [])]
        codes = {problem.code for problem in problems}
        message = "the queue is refused; correct it and type the same again:\n  " + "\n  ".join(lines)
        super().__init__(message, code=codes.pop() if len(codes) == 1 else None)
        self.problems = problems
        self.then = next((problem.then for problem in problems if problem.then), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueItem:
    """One document of a queue. `position` counts from 1. `tenant` and `marking_profile` are as written in the file."""

    document_id: str
    position: int
    line: int
    source_uri: str | None = None
    priority: int = limits.PRIORITY_DEFAULT
    depends_on: tuple[str, ...] = ()
    critical: bool = False
    tenant: str | None = None
    marking_profile: str | None = None
    scope: str | None = None
    actor: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Queue:
    """A well-formed queue. `admission.check_against` checks whether its documents exist."""

    batch_id: str
    created_by: str
    created_utc: datetime
    items: tuple[QueueItem, ...]
    sha256: str
    default_scope: str = ENACTED_ONLY
    default_actor: str | None = None


def load_queue(data: bytes, *, items_max: int = limits.QUEUE_ITEMS_DEFAULT) -> Queue:
    """Read a queue. QueueRefused names every wrong field, its line and its form. It has at most `items_max` documents
    and QUEUE_ITEMS_MAX, and 64 KiB for each hundred.
    """
    items_max = min(items_max, limits.QUEUE_ITEMS_MAX)
    reading, file = _Reading(), None
    bytes_max = _bytes_max(items_max)
    if len(data) <= bytes_max:
        reading.note_flaws(sensitive_lines(data.decode("utf-8", "replace")))
    node, flaws = plain_yaml.read(data, bytes_max=bytes_max, nulls=True)
    reading.note_flaws(list(flaws))
    if node is not None:
        reading.note_flaws(sensitive_values(node))
        named = _value(node, "items")
        items = named.items if isinstance(named, Items) else ()
        if len(items) > items_max:
            text = f"has {len(items)} documents, at most {items_max}: split the queue"
            reading.note(items[items_max].line, "items", text)
        elif len(data) > _bytes_max(len(items)):
            text = f"the file has {len(data)} bytes, at most {_bytes_max(len(items))} for {len(items)} documents"
            reading.note(0, "", text)
        else:
            _check_dependencies(items, reading)
            file = _typed(node, reading)
    if reading.problems or file is None:
        raise QueueRefused(tuple(sorted(set(reading.problems))))
    return Queue(
        **file.model_dump(exclude={"items", "schema_version"}),
        items=tuple(
            QueueItem(position=place + 1, line=reading.lines["items", place], **item.model_dump())
            for place, item in enumerate(file.items)
        ),
        sha256=sha256_hex(data),
    )


class _Reading:
    """The problems so far. If an early step refuses a line, later steps report nothing about that line."""

    def __init__(self) -> None:
        self.problems: list[Problem] = []
        self.spoken_of: set[int] = set()
        self.lines: dict[Place, int] = {}

    def note(self, line: int, field: str, text: str, *, document_id: str = "") -> None:
        if line not in self.spoken_of:
            self.problems.append(Problem(line=line, field=field, text=text, document_id=document_id))

    def note_flaws(self, flaws: Iterator[plain_yaml.Flaw] | list[plain_yaml.Flaw]) -> None:
        for flaw in flaws:
            self.note(flaw.line, "", flaw.rule)
        self.spoken_of |= {problem.line for problem in self.problems if problem.line}

    def line_of(self, loc: Place) -> int:
        """The line of a place in the file. If the place is empty, it is the line of the nearest enclosing place."""
        while loc and loc not in self.lines:
            loc = loc[:-1]
        return self.lines.get(loc, 1)


def _bytes_max(items: int) -> int:
    return max(1, -(-items // 100)) * limits.QUEUE_BYTES_A_HUNDRED_ITEMS


def _value(node: Node, name: str) -> Node | None:
    entries = node.entries if isinstance(node, Fields) else ()
    return next((value for key, value in entries if key.text == name), None)


# --- the dependencies between the documents of a queue ----------------------------------------------------------------


@dataclass(slots=True)
class _Entry:
    """An item's id and dependencies as written, even if other fields of the item are wrong."""

    name: str
    place: int
    line: int
    needs: list[Scalar]


def _check_dependencies(items: tuple[Node, ...], reading: _Reading) -> None:
    entries = []
    for place, item in enumerate(items):
        name, needs = _value(item, "document_id"), _value(item, "depends_on")
        if isinstance(name, Scalar) and DOCUMENT_ID.fullmatch(name.text):
            texts = needs.items if isinstance(needs, Items) else ()
            wanted = [text for text in texts if isinstance(text, Scalar) and DOCUMENT_ID.fullmatch(text.text)]
            entries.append(_Entry(name=name.text, place=place, line=name.line, needs=wanted))
    by_name: dict[str, _Entry] = {}
    for entry in entries:
        first = by_name.setdefault(entry.name, entry)
        if first is not entry:
            text = f"{entry.name} is in line {first.line} too: leave one out"
            reading.note(entry.line, f"items[{entry.place}].document_id", text, document_id=entry.name)
    for entry in entries:
        earlier_needs: set[str] = set()
        for need in entry.needs:
            text = ""
            if need.text in earlier_needs:
                text = f"{need.text} is duplicated: leave one out"
            elif need.text not in by_name:
                text = f"{need.text} is not in this queue: add it, or leave it out if it is already enacted"
            earlier_needs.add(need.text)
            if text:
                reading.note(need.line, f"items[{entry.place}].depends_on", text, document_id=entry.name)
    for circle in circles({name: [need.text for need in entry.needs] for name, entry in by_name.items()}):
        entry, way = by_name[circle[0]], [*circle, circle[0]]
        text = f"in a cycle, so none of them could begin: {' → '.join(way)}; remove one dependency"
        line = next(need.line for need in entry.needs if need.text == way[1])
        reading.note(line, f"items[{entry.place}].depends_on", text, document_id=entry.name)


# --- the values -------------------------------------------------------------------------------------------------------


def _typed(node: Node, reading: _Reading) -> QueueFile | None:
    """The value that the model accepts, or None after one problem for each error was noted."""
    values = plain_yaml.values(node, reading.lines)
    try:
        return QueueFile.model_validate(values)
    except ValidationError as refused:
        errors = refused.errors(include_url=False, include_context=False)
    for error in errors:
        loc = shown = error["loc"]
        inner = len(loc) > 1 and loc[0] == "items"
        model: type[Closed] = ItemFile if inner else QueueFile
        name = next((str(part) for part in reversed(loc) if isinstance(part, str)), "")
        if error["type"] == "missing":
            text = f"is missing: it must be {model.model_fields[name].description}"
        elif error["type"] == "extra_forbidden":
            text = f"is not a field; the fields are {', '.join(model.model_fields)}"
            # A problem repeats the name of an unknown field only if it has the form of one.
            if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_-]{0,40}", name):
                shown = (*loc[:-1], f"a field of another form{_unseen(name)}")
        elif name in model.model_fields:
            text = f"must be {model.model_fields[name].description}{_unseen(_at(values, loc))}"
        else:
            text = "must be a mapping of fields" if not inner else "must be a mapping with a document_id"
        path = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in shown).removeprefix(".")
        document_id = _at(values, (*loc[:2], "document_id")) if inner else ""
        if not isinstance(document_id, str) or not DOCUMENT_ID.fullmatch(document_id):
            document_id = ""
        reading.note(reading.line_of(loc), path, text, document_id=document_id)
    return None


def _unseen(value: Any) -> str:
    """Names the characters that a person cannot see or may confuse with others."""
    odd = sorted({letter for letter in value if not letter.isascii()}) if isinstance(value, str) else []
    shown = ", ".join(f"U+{ord(letter):04X}" for letter in odd[:4])
    return f" (it has {shown}{' and more' if len(odd) > 4 else ''})" if odd else ""


def _at(values: Any, loc: Place) -> Any:
    for part in loc:
        try:
            values = values[part]
        except (KeyError, IndexError, TypeError):
            return None
    return values


_NAME = re.compile(r"overnight([-_.].*)?\.ya?ml", re.IGNORECASE)
_LINE = re.compile(rb"^batch_id[ \t]*:.*$", re.MULTILINE)


def is_named_for_the_night(file: str) -> bool:
    """True for a queue file whose name makes its batch an overnight one: overnight-laws.yaml (seed 001 §7)."""
    return _NAME.fullmatch(file) is not None


def queue_of(pattern: bytes, when: datetime) -> bytes:
    """The pattern with a batch id of this minute (UTC) in place of its own. Raises QueueRefused or InvalidInput."""
    load_queue(pattern, items_max=QUEUE_ITEMS_MAX)
    minute = when.replace(second=0, microsecond=0)
    drawn = sha256_hex(pattern + minute.isoformat().encode())
    variant = f"{int(drawn[0], 16) & 3 | 8:x}"
    text = f"{int(minute.timestamp() * 1000):012x}7{drawn[1:4]}{variant}{drawn[4:19]}"
    wanted = f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"
    made = _LINE.sub(f"batch_id: {wanted}".encode(), pattern, count=1)
    if load_queue(made, items_max=QUEUE_ITEMS_MAX).batch_id != wanted:
        raise InvalidInput("the queue's batch_id must be at the beginning of a line of its own: write it there")
    return made
