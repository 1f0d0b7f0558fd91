"""Pure: the event of a transition: one JSON object on a line, with exactly the fields of seed 004.

`timestamp` is RFC 3339 with a zone (in our events UTC, microseconds, `Z`). `event_type` is
`<lifecycle>_state_transition`. `entity_id` names the entity within its lifecycle. docs/reference/lifecycles.md lists
the keys of `metadata`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any, NoReturn

from cutter import limits
from cutter.lifecycle.declarations import BY_EVENT_TYPE, Lifecycle
from cutter.types import Json

FIELDS = ("timestamp", "event_type", "severity", "entity_id", "from_state", "to_state", "trigger", "metadata")
SEVERITIES = ("info", "warning", "error", "critical")

_FIELDS = frozenset(FIELDS)
_TEXTS = FIELDS[:-1]
_INSTANT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?(Z|[+-]\d\d:\d\d)")


class Malformed(ValueError):
    """A line is not an event. The message is one sentence with the reason."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    timestamp: str
    event_type: str
    severity: str
    entity_id: str
    from_state: str
    to_state: str
    trigger: str
    metadata: Mapping[str, Any] = field(default_factory=dict)

    def as_json(self) -> Json:
        return {name: getattr(self, name) for name in FIELDS}

    def line(self) -> str:
        """One line of transitions.jsonl, without its end."""
        return json.dumps(self.as_json(), ensure_ascii=False)


def lines(events: Iterable[Event]) -> bytes:
    return "".join(f"{event.line()}\n" for event in events).encode()


def transition(
    lifecycle: Lifecycle, entity_id: str, before: str, after: str, *, at: str, trigger: str = "", severity: str = "",
    metadata: Mapping[str, Any] | None = None,
) -> Event:  # fmt: skip
    """The event of a legal move, with the rule's trigger and severity. Raises IllegalTransition for another move."""
    rule = lifecycle.check(before, after)
    return Event(
        timestamp=instant(at), event_type=lifecycle.event_type, severity=severity or rule.severity,
        entity_id=entity_id, from_state=str(before), to_state=str(after), trigger=trigger or rule.trigger,
        metadata=dict(metadata or {}),
    )  # fmt: skip


def instant(text: str) -> str:
    """A time of the database in the form of an event: UTC, microseconds, `Z`."""
    return datetime.fromisoformat(text).astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def timed(
    events: Iterable[Event], since: dict[tuple[str, str], str], *, but: frozenset[str] = frozenset()
) -> Iterator[Event]:
    """The events with `duration_seconds`: the time that each entity was in the state that it leaves (seed 004).

    `since` has the time when each entity entered its state, by event type and name. This function updates it. An event
    gets no duration if its entity is new, or if its type is in `but`.
    """
    for event in events:
        key = (event.event_type, event.entity_id)
        before, since[key] = since.get(key), event.timestamp
        if before is None or event.event_type in but or "duration_seconds" in event.metadata:
            yield event
            continue
        seconds = (moment(event) - parsed(before)).total_seconds()
        yield replace(event, metadata={**event.metadata, "duration_seconds": round(max(seconds, 0.0), 3)})


def read(line: bytes) -> Event:
    """The event of one line. Raises Malformed if it is not an event. It does not check whether the move is legal."""
    if len(line) > limits.EVENT_BYTES_MAX:
        raise Malformed(f"longer than {limits.EVENT_BYTES_MAX} bytes")
    try:
        value = _DECODER.decode(line.decode("utf-8"))
    except UnicodeDecodeError:
        raise Malformed("not UTF-8") from None
    except Malformed:
        raise
    except (ValueError, RecursionError):
        raise Malformed("not one JSON object") from None
    if not isinstance(value, dict):
        raise Malformed("not one JSON object")
    if value.keys() != _FIELDS:
        lacking = [name for name in FIELDS if name not in value]
        more = sorted(set(value) - set(FIELDS))
        raise Malformed("; ".join(
            text for text in (f"lacks {', '.join(lacking)}" if lacking else "",
                              f"has {', '.join(more)[:200]}, which the schema has not" if more else "") if text
        ))  # fmt: skip
    for name in _TEXTS:
        if not isinstance(value[name], str) or not value[name]:
            raise Malformed(f"{name} is no text")
    if not isinstance(value["metadata"], dict):
        raise Malformed("metadata is no object")
    if value["severity"] not in SEVERITIES:
        raise Malformed(f"severity {value['severity'][:40]!r} is none of {', '.join(SEVERITIES)}")
    if value["event_type"] not in BY_EVENT_TYPE:
        raise Malformed(f"event_type {value['event_type'][:60]!r} is none of {', '.join(BY_EVENT_TYPE)}")
    return Event(**value)


def moment(event: Event) -> datetime:
    """The time of an event. Raises Malformed if the timestamp is not a time."""
    return parsed(event.timestamp)


def parsed(text: str) -> datetime:
    """The time in a text. Raises Malformed if the text is not an RFC 3339 time with a zone."""
    try:
        if _INSTANT.fullmatch(text):
            return datetime.fromisoformat(text)
    except ValueError:
        pass
    raise Malformed(f"{text[:40]!r} is no RFC 3339 time with a zone")


def _object(pairs: list[tuple[str, Any]]) -> Json:
    value = dict(pairs)
    if len(value) != len(pairs):
        raise Malformed("a key is duplicated")
    return value


def _constant(name: str) -> NoReturn:
    raise Malformed(f"{name} is no JSON number")


_DECODER = json.JSONDecoder(object_pairs_hook=_object, parse_constant=_constant)
