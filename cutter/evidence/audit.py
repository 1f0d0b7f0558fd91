"""Pure: the export of the audit chains and its offline check; nothing but the export and the standard library.

One event a line in canonical JSON, chains in order, events by number, and a closing line with the heads. An event's
hash is sha256(previous hash ‖ body), the first one's predecessor is sha256(the chain's name), so a changed, removed,
added or moved event breaks the chain. The global chain holds the heads of all runs' chains, so an export of everything
cannot lack a run. Who can rewrite the whole file can also recompute it: only a head that was kept elsewhere (`--head`)
shows that, and a check without one says so.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from cutter.domain.digests import canonical_digest, canonical_json, chain, sha256_hex

FORMAT = "cutter-audit/1"
EVENT_FIELDS = ("chain", "seq", "kind", "body", "prev_hash", "hash")
CLOSING_FIELDS = ("format", "heads", "head", "events")

GLOBAL = "global"
"""The chain on which each run's head is written when the run begins and when it ends."""

Json = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditCheck:
    """What a check found. `anchored`: what the outside head covers; `unchecked`: what the file alone cannot show."""

    problems: tuple[str, ...]
    events: int
    chains: int
    head: str
    anchored: str
    unchecked: tuple[str, ...] = ()

    @property
    def intact(self) -> bool:
        return not self.problems


@dataclass(slots=True)
class _Reading:
    """Chains as they are read: the last good (seq, hash) of each, every hash with its place, the global bodies."""

    heads: dict[str, tuple[int, str]] = field(default_factory=dict)
    places: dict[str, tuple[str, int]] = field(default_factory=dict)
    anchors: list[tuple[int, Json]] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    broken: set[str] = field(default_factory=set)
    current: str = ""
    events: int = 0

    def note(self, number: int, text: str, name: str = "") -> None:
        self.problems.append(f"line {number}: {text}")
        if name:
            self.broken.add(name)


def export(events: Iterable[Mapping[str, Any]]) -> bytes:
    """The export of events that come chain by chain, each chain by number; ends with the closing line."""
    lines, heads = [], {}
    for event in events:
        lines.append(canonical_json({name: event[name] for name in EVENT_FIELDS}))
        heads[str(event["chain"])] = [event["seq"], event["hash"]]
    closing = {"format": FORMAT, "heads": heads, "head": head_of(heads), "events": len(lines)}
    return "".join(line + "\n" for line in [*lines, canonical_json(closing)]).encode()


def head_of(heads: Mapping[str, Iterable[Any]]) -> str:
    """The one digest to keep elsewhere: of a single chain its head, of several the digest over all of them."""
    if len(heads) == 1:
        return str(list(next(iter(heads.values())))[1])
    return canonical_digest({name: list(head) for name, head in heads.items()})


def stranger(data: bytes) -> str | None:
    """Why this was never an export, by its first line; None when a single line is an event or a closing line.

    A file of which nothing is left that we wrote is another file; one that was tampered with is for `verify`.
    """
    lines = data.split(b"\n")
    known = (set(EVENT_FIELDS), set(CLOSING_FIELDS))
    if any(set(_object(line) or ()) in known for line in lines):
        return None
    found = "line 1 is no audit event" if data.strip() else "the file is empty"
    return f"{found}; each line of an export is a JSON object with {', '.join(EVENT_FIELDS)}"


def verify(data: bytes, *, head: str | None = None) -> AuditCheck:
    """Check an export. `head` is one that was kept elsewhere: the export's, or the hash of any event in it."""
    reading = _Reading()
    lines = data.split(b"\n")
    if lines[-1]:
        reading.note(len(lines), "the file does not end with a line feed; something was cut off or added")
    else:
        lines.pop()
    parsed = [_parsed(reading, number, line) for number, line in enumerate(lines, start=1)]
    closing = parsed[-1] if parsed and parsed[-1] is not None and set(parsed[-1]) == set(CLOSING_FIELDS) else None
    for number, event in enumerate(parsed[:-1] if closing else parsed, start=1):
        if event is not None:
            _take(reading, number, event)
    _check_anchors(reading)
    own_head = head_of(reading.heads) if reading.heads else ""
    _close(reading, len(lines), closing, own_head)
    anchored, unchecked = _anchor(reading, own_head, head)
    return AuditCheck(
        problems=tuple(reading.problems), events=reading.events, chains=len(reading.heads), head=own_head,
        anchored=anchored, unchecked=unchecked,
    )  # fmt: skip


def _parsed(reading: _Reading, number: int, line: bytes) -> Json | None:
    """The line's object when it is exactly the canonical form of one."""
    value = _object(line)
    try:
        if value is not None and canonical_json(value).encode() == line:
            return value
    except (ValueError, TypeError, RecursionError):
        pass
    reading.note(number, "altered: it is not the canonical JSON of one object")
    return None


def _object(line: bytes) -> Json | None:
    try:
        value = json.loads(line.decode("utf-8"))
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _take(reading: _Reading, number: int, event: Json) -> None:
    """Follow one event's chain; the first break of a chain is told, the rest of it is not read."""
    fault = _form_fault(event)
    if fault:
        reading.note(number, fault)
        return
    name = event["chain"]
    reading.events += 1
    if name in reading.broken:
        return
    if name != reading.current and name in reading.heads:
        reading.note(number, f"reordered: events of {name} stand apart", name)
        return
    if name < reading.current:
        reading.note(number, f"reordered: {name} stands behind {reading.current}", name)
        return
    reading.current = name
    seq, previous = reading.heads.get(name, (0, sha256_hex(name)))
    fault = _chain_fault(event, seq + 1, previous)
    if fault:
        reading.note(number, fault, name)
        return
    reading.heads[name] = (event["seq"], event["hash"])
    reading.places[event["hash"]] = (name, event["seq"])
    if name == GLOBAL:
        reading.anchors.append((number, json.loads(event["body"])))


def _form_fault(event: Json) -> str:
    if set(event) != set(EVENT_FIELDS):
        return "inserted: it is no audit event"
    texts = all(isinstance(event[key], str) for key in EVENT_FIELDS if key != "seq")
    if not texts or not isinstance(event["seq"], int) or isinstance(event["seq"], bool):
        return "altered: a field has the wrong type"
    return ""


def _chain_fault(event: Json, expected: int, previous: str) -> str:
    name, seq = event["chain"], event["seq"]
    if seq > expected:
        count = seq - expected
        return f"deleted: {name} lacks {count} event{'s' * (count > 1)} before number {seq}"
    if seq < expected:
        return f"inserted or reordered: {name} has number {seq} where {expected} is next"
    if event["prev_hash"] != previous:
        return f"altered or inserted: event {seq} of {name} does not follow the one before it"
    if chain(previous, event["body"]) != event["hash"]:
        return f"altered: the hash of event {seq} of {name} is not that of its body"
    try:
        said = json.loads(event["body"])
    except ValueError:
        said = None
    if not isinstance(said, dict) or (said.get("seq"), said.get("kind")) != (seq, event["kind"]):
        return f"altered: the body of event {seq} of {name} is about another event"
    if name != GLOBAL and said.get("run_id") != name:
        return f"altered: the body of event {seq} of {name} is about another run"
    return ""


def _check_anchors(reading: _Reading) -> None:
    """Hold the runs' chains against the global one, where the export has it."""
    if GLOBAL not in reading.heads or GLOBAL in reading.broken:
        return
    for number, body in reading.anchors:
        name, place = str(body.get("run_id")), (body.get("run_id"), body.get("run_seq"))
        if name in reading.broken:
            continue
        if name not in reading.heads:
            reading.note(number, f"deleted: the chain of {name} is missing, though the global chain names it")
        elif reading.places.get(str(body.get("run_head"))) != place:
            reading.note(number, f"altered or deleted: the chain of {name} is not the one that the global chain names")
    known = {str(body.get("run_id")) for _, body in reading.anchors}
    for name in sorted(set(reading.heads) - known - {GLOBAL}):
        reading.problems.append(f"inserted: the chain of {name} is not on the global chain")


def _close(reading: _Reading, number: int, closing: Json | None, own_head: str) -> None:
    if closing is None:
        reading.note(number, "deleted: the closing line with the heads is missing")
        return
    expected = {
        "format": FORMAT, "head": own_head if reading.heads else head_of({}), "events": reading.events,
        "heads": {name: [seq, digest] for name, (seq, digest) in reading.heads.items()},
    }  # fmt: skip
    for name in CLOSING_FIELDS:
        if closing[name] != expected[name] and not reading.broken:
            reading.note(number, f"deleted or altered: the closing line's {name} is not that of the events")
            return


def _anchor(reading: _Reading, own_head: str, head: str | None) -> tuple[str, tuple[str, ...]]:
    rewritten = "whether the whole file was rewritten, or its last events left out: give a kept head with --head"
    if head is None:
        return "nothing", (rewritten,)
    if head == own_head:
        return "all events", ()
    if head not in reading.places:
        reading.problems.append(f"the outside head {head} is in none of the chains: rewritten, cut off, or another's")
        return "nothing", ()
    name, seq = reading.places[head]
    newest = reading.heads[name][0]
    rest = [f"events {seq + 1} to {newest} of {name}, which are newer than the outside head"] if newest > seq else []
    if name == GLOBAL:
        rest.append("what runs did after their last anchor on the global chain: give the export's own head")
    elif len(reading.heads) > 1:
        rest.append(
            f"the {len(reading.heads) - 1} other chain{'s' * (len(reading.heads) > 2)}: each needs its own head"
        )
    return f"events 1 to {seq} of {name}", tuple(rest)
