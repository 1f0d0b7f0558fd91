"""Pure: steps 3 to 5: the audit chain of an export or a bundle, its head, and the receipts that it names."""

from __future__ import annotations

import json
from collections import namedtuple
from collections.abc import Iterator
from typing import Any as Json

from cutter.evidence.offline.members import Members
from cutter.evidence.offline.notation import BROKEN, canonical, digest, hexed, parsed, shown, unlike

EXPORT, GLOBAL = "cutter-audit/1", "global"
EVENT, TYPES = ("chain", "seq", "kind", "body", "prev_hash", "hash"), [str, int, str, str, str, str]
CLOSING = {"format", "heads", "head", "events"}
AuditCheck = namedtuple("AuditCheck", "problems events chains head anchored unchecked")  # by an outside head
REWRITTEN = "whether the whole file was rewritten, or its last events were left out: give a kept head with --head"
GATES = {
    "IG_source_pin": "source_pinned", "IG_mark": "marked", "IG_cutplan": "cutplan_ok",
    "IG_backup": "pre_write_backup_taken", "IG_grant_probe": "grants_probed",
    "IG_cut_leg_a_execute": "cut_leg_a_committed", "IG_structural_verify": "structural_verified",
    "IG_leg_b_record": "leg_b_recorded", "IG_write_verify": "write_verified",
    "IG_lifecycle_enact_execute": "lifecycle_enacted",
}  # fmt: skip
"""The gates whose receipts a bundle holds, in order, each with the state to which its receipt leads."""
ADDED = frozenset[str]()
"""Gates that a later version added. A bundle of an earlier version has no receipt of them."""


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


class Receipts(Members):
    """Step 5. It yields its problems or raises one of BROKEN."""

    def chained(self) -> Iterator[str]:
        previous, decided, run_id = digest(self.run["run_id"]), [], self.run["run_id"]
        # 5.1
        names = [row["gate"] for row, _ in self.receipts]
        if names != [gate for gate in GATES if gate in names or gate not in ADDED][: len(names)]:
            yield "receipts.jsonl does not have one receipt of each gate, in order from the first gate"
        for row, receipt in self.receipts:
            # 5.2
            right = {
                "gate": receipt["gate"],
                "prev_hash": previous,
                "receipt_hash": digest(previous + row["sealed_body"]),
            }
            yield from unlike("receipts.jsonl", [{n: row[n] for n in right}], [right])
            yield from [f"the receipt of {row['gate']} is of another run"] * (receipt["run_id"] != run_id)
            # 5.3
            by = receipt["policy"] or {"sha256": digest(b""), "decisions": ()}
            text = self.members.get(f"policies/{by['sha256']}.yaml", b"")
            if digest(text) != by["sha256"] or any(decision["verdict"] == "deny" for decision in by["decisions"]):
                yield f"the policy that decided about {row['gate']} is missing, or denied it"
            decided += [{"of": "receipt", "gate": row["gate"], "sha256": by["sha256"], **n} for n in by["decisions"]]
            previous = row["receipt_hash"]
        yield from unlike("decisions.jsonl", (row for row in self.rows("decisions") if row["of"] == "receipt"), decided)
        # 5.4
        moves = [{n: e[n] for n in {*e} - {"at", "kind", "seq"}} for e in self.events if "event_type" in e]
        rows = (row for row in self.rows("transitions") if str(row["event_type"])[:8] in ("document", "approval"))
        yield from unlike("transitions.jsonl", ({**row, "run_id": self.run["run_id"]} for row in rows), moves)
        # 5.5
        sealed_gates = [[row["gate"], GATES.get(row["gate"]), row["receipt_hash"]] for row, _ in self.receipts]
        states = [move for move in moves if move["event_type"] == "document_run_state_transition"]
        by_receipt = [move for move in states if "receipt_hash" in move["metadata"]]
        named = [[move["trigger"], move["to_state"], move["metadata"]["receipt_hash"]] for move in by_receipt]
        if named != sealed_gates:
            yield "receipts.jsonl does not hold the receipts of the audit chain in the same order"
        reached = set[str]()
        for move in states:
            reached |= {move["to_state"]} if move in by_receipt else set()
            if move["to_state"] in {*GATES.values(), "closeout_reported"} - reached:
                yield f"the audit chain says that the run reached {move['to_state']}, but no receipt leads there"
        # 5.6
        if self.run["state"] in {*GATES.values(), "closeout_reported"} - reached:
            yield f"run.json says {self.run['state']}, but no receipt leads there"
        run = {name: self.run[name] for name in ("run_id", "document_id", "mode", "starter")}
        yield from unlike("run.json", [run], ({n: event[n] for n in run} for event in self.events if event["seq"] == 1))
