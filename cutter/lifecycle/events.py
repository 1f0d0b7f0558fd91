"""Pure: the event of a transition: exactly seed 004's fields, one JSON object a line.

`timestamp` is RFC 3339 with a zone (ours: UTC, microseconds, `Z`), `event_type` is `<lifecycle>_state_transition`,
`entity_id` names the entity within its lifecycle. What `metadata` may carry is listed in docs/reference/lifecycles.md.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any, NoReturn

from cutter import limits
from cutter.lifecycle.declarations import BY_EVENT_TYPE
from cutter.lifecycle.machine import Lifecycle
from cutter.types import Json

FIELDS = ("timestamp", "event_type", "severity", "entity_id", "from_state", "to_state", "trigger", "metadata")
SEVERITIES = ("info", "warning", "error", "critical")

_FIELDS = frozenset(FIELDS)
_TEXTS = FIELDS[:-1]
_INSTANT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?(Z|[+-]\d\d:\d\d)")


class Malformed(ValueError):
    """A line is no event; the message says why, in one sentence."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """One transition of one entity."""

    timestamp: str
    event_type: str
    severity: str
    entity_id: str
    from_state: str
    to_state: str
    trigger: str
    metadata: Mapping[str, Any] = field(default_factory=dict)

    def as_json(self) -> Json:
        """The eight fields in the seed's order."""
        return {name: getattr(self, name) for name in FIELDS}

    def line(self) -> str:
        """One line of transitions.jsonl, without its end."""
        return json.dumps(self.as_json(), ensure_ascii=False)


def lines(events: Iterable[Event]) -> bytes:
    """transitions.jsonl's bytes."""
    return "".join(f"{event.line()}\n" for event in events).encode()


def transition(
    lifecycle: Lifecycle, entity_id: str, before: str, after: str, *, at: str, trigger: str = "", severity: str = "",
    metadata: Mapping[str, Any] | None = None,
) -> Event:  # fmt: skip
    """The event of a legal move; IllegalTransition for another. Trigger and severity are the rule's unless given."""
    rule = lifecycle.check(before, after)
    return Event(
        timestamp=instant(at), event_type=lifecycle.event_type, severity=severity or rule.severity,
        entity_id=entity_id, from_state=str(before), to_state=str(after), trigger=trigger or rule.trigger,
        metadata=dict(metadata or {}),
    )  # fmt: skip


def instant(text: str) -> str:
    """A database's time as events have it: UTC, microseconds, `Z`."""
    return datetime.fromisoformat(text).astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def timed(
    events: Iterable[Event], since: dict[tuple[str, str], str], *, but: frozenset[str] = frozenset()
) -> Iterator[Event]:
    """The events with `duration_seconds`: how long each entity was in the state that it leaves (seed 004).

    `since` holds when an entity entered its state, by event type and name; it is kept up to date. An event has none
    whose entity was not heard of before, or whose type is in `but`.
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
    """The event of one line; Malformed when it is none. Whether its states and its move are legal is not looked at."""
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
    return _event(value)


def moment(event: Event) -> datetime:
    """When it happened; Malformed when the timestamp is none."""
    return parsed(event.timestamp)


def parsed(text: str) -> datetime:
    """A time; Malformed when the text is no RFC 3339 time with a zone."""
    try:
        if _INSTANT.fullmatch(text):
            return datetime.fromisoformat(text)
    except ValueError:
        pass
    raise Malformed(f"{text[:40]!r} is no RFC 3339 time with a zone")


def _event(value: Json) -> Event:
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


def _object(pairs: list[tuple[str, Any]]) -> Json:
    value = dict(pairs)
    if len(value) != len(pairs):
        raise Malformed("a key is duplicated")
    return value


def _constant(name: str) -> NoReturn:
    raise Malformed(f"{name} is no JSON number")


_DECODER = json.JSONDecoder(object_pairs_hook=_object, parse_constant=_constant)
