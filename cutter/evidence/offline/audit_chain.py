"""Pure: steps 3 and 4: the audit chain of an export or a bundle, and its head."""

from __future__ import annotations

import json
from collections import namedtuple
from typing import Any as Json

from cutter.evidence.offline.notation import BROKEN, canonical, digest, parsed
from cutter.evidence.offline.output import hexed, shown

EXPORT, GLOBAL = "cutter-audit/1", "global"
EVENT, TYPES = ("chain", "seq", "kind", "body", "prev_hash", "hash"), [str, int, str, str, str, str]
CLOSING = {"format", "heads", "head", "events"}
AuditCheck = namedtuple("AuditCheck", "problems events chains head anchored unchecked")  # by an outside head


REWRITTEN = "whether the whole file was rewritten, or its last events were left out: give a kept head with --head"


def head_of(heads: Json) -> str:
    """The digest to keep elsewhere: the head of a single chain, or the digest over the heads of several chains."""
    return str(next(iter(heads.values()))[1]) if len(heads) == 1 else digest(canonical(heads)) if heads else ""


def verify_export(data: bytes, head: str | None = None) -> AuditCheck:
    """Check an export. `head` was kept elsewhere: it is the head of the export, or the hash of any of its events."""
    *lines, after = data.split(b"\n")
    rows, problems = [*map(parsed, lines)], ["cut off or added: the file does not end with a line feed"] * bool(after)
    closing = rows.pop() if rows and rows[-1] is not None and set(rows[-1]) == CLOSING else None
    heads, places, broken, last, events, anchors = dict[str, Json](), {}, set(), "", 0, []
    for number, row in enumerate(rows, start=1):
        form = row is not None and set(row) == {*EVENT} and [type(row[name]) for name in EVENT] == TYPES
        name, events = row["chain"] if form else "", events + form
        if form and name in broken:
            continue
        fault = _fault(row, last, heads) if form else "altered or inserted: not an audit event in its canonical form"
        if fault:
            problems.append(f"line {number}: {fault}")
            broken.add(name)
        else:
            last, heads[name], places[row["hash"]] = name, (row["seq"], row["hash"]), (name, row["seq"])
            anchors += [json.loads(row["body"])] if name == GLOBAL else []
    if GLOBAL in heads and GLOBAL not in broken:
        # The global chain holds the heads of all others, so no chain can be missing.
        for body in anchors:
            name, place = str(body.get("run_id")), places.get(str(body.get("run_head")))
            if name not in broken and place != (body.get("run_id"), body.get("run_seq")):
                known = name in heads
                fault = "not the one that the global chain names" if known else "missing, but the global chain names it"
                problems.append(f"the chain of {name} is {fault}")
        for name in sorted(set(heads) - {str(body.get("run_id")) for body in anchors} - {GLOBAL}):
            problems.append(f"inserted: the chain of {name} is not on the global chain")
    own = head_of(heads)
    expected = {"format": EXPORT, "heads": heads, "head": own, "events": events}
    if closing is None or (not broken and canonical(closing) != canonical(expected)):
        problems.append("deleted or altered: the closing line with the heads is missing, or differs from the events")
    if head not in (None, own, *places):
        problems.append(f"the outside head {hexed(head)} is in none of the chains: rewritten, cut off, or not its head")
    anchored, unchecked = _anchored(heads, places, own, head)
    return AuditCheck(tuple(map(shown, problems)), events, len(heads), own, shown(anchored), (*map(shown, unchecked),))


def _fault(event: Json, last: str, heads: Json) -> str:
    """The fault of an event, or an empty text. Its hash is sha256(previous hash, body), first sha256(chain's name)."""
    name, which = event["chain"], f"event {event['seq']} of {event['chain']}"
    seq, previous = heads.get(name, (0, digest(name)))
    if name != last and (name in heads or name < last):
        return f"reordered: {which} is apart from its chain"
    if event["seq"] != seq + 1:
        return f"deleted: {which} comes after {seq}" if event["seq"] > seq else f"inserted or reordered: {which}"
    if event["prev_hash"] != previous or digest(previous + event["body"]) != event["hash"]:
        return f"altered or inserted: {which} does not follow the event before it, or its hash does not fit its body"
    try:
        body = json.loads(event["body"])
        same = (body["seq"], body["kind"]) == (event["seq"], event["kind"]) and name in (GLOBAL, body["run_id"])
    except BROKEN:
        same = False
    return "" if same else f"altered: the body of {which} is about another event or about another run"


def _anchored(heads: Json, places: Json, own: str, head: str | None) -> tuple[str, tuple[str, ...]]:
    if head == own or head not in places:
        return "all events" if head == own else "nothing", () if head else (REWRITTEN,)
    name, seq = places[head]
    newest, others = heads[name][0], (len(heads) - 1) * (name != GLOBAL)
    rest = [f"events {seq + 1} to {newest} of {name}, which are newer than the outside head"] * (newest > seq)
    rest += ["events of runs after their last anchor in the global chain: give the export's head"] * (name == GLOBAL)
    rest += [f"the {others} other chain{'s' * (others > 1)}: each needs its own head"] * (others > 0)
    return f"events 1 to {seq} of {name}", tuple(rest)
