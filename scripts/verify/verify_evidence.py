"""IO: checks an evidence bundle or an audit export, with nothing but the standard library and gpg.

The check trusts nothing in a bundle. Each step looks for a contradiction between two members, or between a member and
a value that the auditor gave. A member of the wrong form makes its step fail. docs/reference/evidence.md lists the
steps; a comment such as `# 6.2` begins the code of the step with that number. `docs/verifier.py` joins these modules
into the one file that an auditor copies, scripts/verify/verify_evidence.py.

`python -m docs.generate` makes this file from the package cutter/evidence/offline, for Python 3.9 or newer.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
import shutil
import subprocess
import sys
import tempfile
import time
import unicodedata
from collections import Counter, namedtuple
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any as Json

# --- reads JSON, statements, epochs and signature files, each in one notation only; makes texts safe to print --------

BROKEN = (LookupError, ValueError, TypeError, AttributeError, ArithmeticError, RecursionError)
"""The errors that Python raises for values of an unexpected form."""
OK, FAILED, NOT_CHECKED = "OK", "FAILED", "NOT CHECKED"
SHOWN_CHARACTERS, SHOWN_PROBLEMS = 600, 10
HIDDEN = ("Cc", "Cf", "Cn", "Co", "Cs", "Zl", "Zp")
Line = tuple[str, str, str]  # what was checked, one of the three words, why
LIST_FILE = re.compile(
    rb"cutter-list-signature/1\nplace: ([1-9]\d*) of ([1-9]\d*)\n((?:sibling: [0-9a-f]{64}\n)*)\n(.*)", re.DOTALL
)
LIST_HEAD = "cutter-signed-list/1\nI sign each statement of this list.\nstatements: %d\nroot: %s\n"


def digest(data: bytes | str) -> str:
    """SHA-256 as 64 hex characters."""
    return hashlib.sha256(data.encode() if isinstance(data, str) else data).hexdigest()


def canonical(value: Json) -> str:
    """JSON with sorted keys and without blanks, so that the same value always has the same text."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def parsed(line: bytes) -> Json:
    """The object of a line, or None if the line is not the canonical JSON of an object."""
    try:
        value = json.loads(line.decode())
        return value if isinstance(value, dict) and canonical(value).encode() == line else None
    except (ValueError, RecursionError):
        return None


def unlike(member: str, rows: Iterable[Json], right: Iterable[Json]) -> Iterator[str]:
    """One problem for each row that a member has wrongly and for each row that it lacks."""
    has, should = Counter(map(canonical, rows)), Counter(map(canonical, right))
    yield from (f"{member} is not what the rest says: {row}" for row in (has - should) + (should - has))


def strict(text: bytes | str) -> Json:
    """The value of a JSON text. Raises ValueError for a repeated name, which other readers could read differently."""
    return json.loads(text, object_pairs_hook=_once)


def _once(pairs: list[tuple[str, Json]]) -> Json:
    if len(dict(pairs)) != len(pairs):
        raise ValueError("a JSON object has a name twice")
    return dict(pairs)


def inside(value: Json, *names: str) -> Json:
    """The value at a path of names, or None if there is none."""
    for name in names:
        value = value.get(name) if isinstance(value, dict) else None
    return value


def statement(body: bytes) -> dict[str, str]:
    """The fields of a signed statement: `name: value` lines between two lines of `---`, each name once."""
    first, *lines = body.decode().split("\n")
    pairs = [line.split(": ", 1) for line in lines[: lines.index("---")]]
    fields = dict(pairs)
    if first != "---" or len(fields) != len(pairs) or fields["schema"] != "cutter-approval/1":
        raise ValueError("a statement does not have the form cutter-approval/1")
    return fields


def epoch_file(body: bytes) -> Json:
    """Read a policy epoch: nested names, lists of such blocks, plain or quoted values, `[a, b]` and `{a: 1}`."""
    lines = [re.sub(r"(^|\s)#.*", "", line).rstrip() for line in body.decode().split("\n")]
    value, rest = _block([(len(line) - len(line.lstrip()), line.strip()) for line in lines if line.strip()])
    if rest:
        raise ValueError("a policy epoch has lines that belong to no field")
    return value


def _block(rows: list[tuple[int, str]]) -> tuple[Json, list[tuple[int, str]]]:
    """The value of the block that begins in the first row, and the rows after this block."""
    depth, mapping, listed = rows[0][0], dict[str, Json](), list[Json]()
    while rows and rows[0][0] == depth and rows[0][1].startswith("- "):
        text = rows[0][1]
        inner = len(text) - len(text[1:].lstrip())
        value, rows = _block([(depth + inner, text[inner:]), *rows[1:]])
        listed.append(value)
    while rows and rows[0][0] == depth and not listed:
        name, separator, text = rows[0][1].partition(":")
        if not separator or name in mapping or name.startswith("- "):
            raise ValueError("a policy epoch has a notation that this program does not read")
        deeper = rows[1:2] and (rows[1][0] > depth or (rows[1][0] == depth and rows[1][1].startswith("- ")))
        mapping[name], rows = _block(rows[1:]) if deeper and not text else (_value(text.strip()), rows[1:])
    return listed or mapping, rows


def _value(text: str) -> Json:
    parts = [part.strip() for part in text[1:-1].split(",") if part.strip()]
    if text[:1] == "{":
        return {name.strip(): value.strip() for name, value in (part.split(":", 1) for part in parts)}
    return [part.strip("\"'") for part in parts] if text[:1] == "[" else text.strip("\"'")


def shown(value: object) -> str:
    """A text that is safe to print: one line of limited length, with the code of each hidden character."""
    text = str(value)
    text = text if len(text) <= SHOWN_CHARACTERS else text[:SHOWN_CHARACTERS] + "…"
    coded = (f"⟨U+{ord(letter):04X}⟩" if unicodedata.category(letter) in HIDDEN else letter for letter in text)
    return re.sub(r"\s+", " ", "".join(coded))


def hexed(value: object) -> str:
    """A digest or a fingerprint. Any other value becomes the word `malformed`, so that nobody takes it for a digest."""
    form = "[0-9a-f]{64}|[0-9A-F]{40}|[0-9A-F]{64}"
    return value if isinstance(value, str) and re.fullmatch(form, value) else "malformed"


def signed_over(statement: bytes, file: bytes) -> tuple[bytes, bytes]:
    """These bytes, and the signature. They are the statement, or the head of a list that the statement is in.

    A head names the root of a Merkle tree, which is computed here from the statement and its siblings.
    Raises ValueError for a malformed file.
    """
    if not file.startswith(b"cutter-"):
        return statement, file
    match = LIST_FILE.fullmatch(file)
    if match is None:
        raise ValueError("a signature file does not have the form cutter-list-signature/1")
    place, count = int(match[1]), int(match[2])
    siblings = [bytes.fromhex(line.split(" ")[1]) for line in match[3].decode().splitlines()]
    root = climbed(hashlib.sha256(b"\0" + statement).digest(), place - 1, count, siblings)
    return (LIST_HEAD % (count, root.hex())).encode(), match[4]


def climbed(leaf: bytes, index: int, count: int, siblings: list[bytes]) -> bytes:
    """The root over so many leaves, of which one is at this index. `siblings` begins next to the leaf."""
    if not 0 <= index < count or (count == 1) != (not siblings):
        raise ValueError("a signature file names a place that its list does not have")
    if count == 1:
        return leaf
    half = 1 << (count - 1).bit_length() - 1
    if index < half:
        return hashlib.sha256(b"\1" + climbed(leaf, index, half, siblings[:-1]) + siblings[-1]).digest()
    return hashlib.sha256(b"\1" + siblings[-1] + climbed(leaf, index - half, count - half, siblings[:-1])).digest()


# --- the members of a bundle, and step 1: the archive holds exactly those that its manifest and its facts name -------

BUNDLE, MANIFEST = "cutter-evidence/1", "manifest.json"
OPENED = {"IG_cut_leg_a_execute": "SG_cut_authz", "IG_lifecycle_enact_execute": "SG_lifecycle_authz"}
"""Each writing gate, with the sovereign gate whose approvals it consumes."""

ROWS = "acknowledgements actions attempts audit consumptions decisions documents orders receipts refusals requests"
FIXED = {f"{name}.jsonl" for name in f"{ROWS} revocations signatures transitions verdicts voids".split()}
FIXED |= {"run.json", "source.json", "outputs.json", "costs.json", "history.json"}
LAW = {"law.md", "law.jsonl"}
"""The two members that an export with the law adds to the sealed ones."""


def sealed(members: dict[str, bytes]) -> bytes:
    """The bytes of a bundle: a ustar of files with mode 0644, without owner and time. The manifest comes first."""
    run, audit = json.loads(members["run.json"]), json.loads(members["audit.jsonl"].split(b"\n")[-2])
    listed = {name: [len(members[name]), digest(members[name])] for name in sorted(members)}
    manifest = {"format": BUNDLE, "run_id": run["run_id"], "head": audit["head"], "members": listed}
    parts = []
    for name, body in [(MANIFEST, (canonical(manifest) + "\n").encode()), *sorted(members.items())]:
        head = name.encode("ascii").ljust(100, b"\0") + b"0000644\0" + b"0000000\0" * 2 + b"%011o\0" % len(body)
        head, rest = head + b"0" * 11, b"0" + bytes(100) + b"ustar\x0000" + bytes(64) + b"0000000\0" * 2 + bytes(167)
        parts += [head, b"\0%06o\0 " % (sum(head + rest) + 8 * 32), rest, body, bytes(-len(body) % 512)]
    return b"".join(parts) + bytes(1024)


class Members:
    """The members of a bundle, by name. The later steps of the check are in classes that begin with this one."""

    def __init__(self, data: bytes) -> None:
        self.data, self.members, at = data, dict[str, bytes](), 0
        while data[at : at + 1] > b"\0":
            name, size = data[at : at + 100].rstrip(b"\0").decode("ascii"), data[at + 124 : at + 135]
            length = int(size, 8) if size.isdigit() else len(data)
            self.members[name] = data[at + 512 : at + 512 + length]
            at += 512 + -(-length // 512) * 512

    def rows(self, name: str) -> list[Json]:
        """The objects of a member of JSON lines."""
        rows = [strict(line) for line in self.members[f"{name}.jsonl"].splitlines()]
        if not all(isinstance(row, dict) for row in rows):
            raise ValueError(f"{name}.jsonl has a line that is not a JSON object")
        return rows

    @cached_property
    def run(self) -> Json:
        return strict(self.members["run.json"])

    @cached_property
    def events(self) -> list[Json]:
        return [strict(event["body"]) for event in self.rows("audit")[:-1]]

    @cached_property
    def receipts(self) -> list[tuple[Json, Json]]:
        """Each receipt, as its row and its sealed body."""
        return [(row, strict(row["sealed_body"])) for row in self.rows("receipts")]

    @cached_property
    def pins(self) -> Json:
        """The pins of all gates, such as the digests of the law."""
        return {name: pin for _, receipt in self.receipts for name, pin in receipt["result"]["pins"].items()}

    @cached_property
    def accepted(self) -> list[Json]:
        """The verdicts that accepted a statement which is in the bundle. A statement that was not used need not be."""
        rows = self.rows("verdicts")
        if not all(row["accepted"] is True or row["accepted"] is False for row in rows):
            raise ValueError("verdicts.jsonl has a verdict that is neither accepted nor refused")
        held = {name.partition("/")[2].partition(".")[0] for name in self.members if name.startswith("signed/")}
        return [row for row in rows if row["accepted"] and row["approval_sha256"] in held]

    @cached_property
    def passed(self) -> dict[str, Json]:
        """Each sovereign gate that the run passed, with the receipt of its writing gate."""
        return {OPENED[row["gate"]]: receipt for row, receipt in self.receipts if row["gate"] in OPENED}

    def epoch(self, row: Json) -> Json:
        """The policy epoch that a verdict or a consumption names, or {} if the bundle does not have it."""
        body = self.members.get(f"epochs/{row['policy_sha256']}.yaml", b"")
        return epoch_file(body) if digest(body) == row["policy_sha256"] else {}

    def person(self, row: Json) -> Json:
        """The entry of a verdict's signer in its policy epoch, or None if the epoch has no or several such entries."""
        wanted = (row["approver"], row["fingerprint"])
        people = self.epoch(row).get("approvers", [])
        matches = [person for person in people if person["name"] == wanted[0] or person["fingerprint"] == wanted[1]]
        return matches[0] if len(matches) == 1 and (matches[0]["name"], matches[0]["fingerprint"]) == wanted else None

    def archive(self) -> Iterator[str]:
        """Step 1. Every step yields its problems or raises one of BROKEN."""
        rest = dict(self.members)
        # 1.1
        listed = json.loads(rest.pop(MANIFEST))["members"].items()
        yield from unlike(MANIFEST, listed, ((name, [len(body), digest(body)]) for name, body in rest.items()))
        # 1.2
        yield from ["the manifest or the form of the archive is wrong"] * (sealed(rest) != self.data)
        # 1.3
        law = LAW if LAW.intersection(rest) else set[str]()
        policies = [receipt.get("policy") for _, receipt in self.receipts] + self.rows("decisions")
        policies += [inside(row, "report", "policy") for row in self.rows("attempts")]
        policies += [inside(row, "request_metadata", "policy") for row in self.rows("actions")]
        policies += [row.get("policy") for row in self.rows("voids")]
        named = {f"policies/{inside(policy, 'sha256')}.yaml" for policy in policies}
        allowed = FIXED | law | named.intersection(rest) | self.needed()
        yield from unlike("the list of members", rest, allowed)
        # 1.4
        own = (name for name in rest if "/" in name and (name[:7] != "signed/" or name[-3:] == ".md"))
        others = [name for name in own if name.partition("/")[2].partition(".")[0] != digest(rest[name])]
        yield from (f"the digest of {name} differs from its name" for name in sorted(others))
        # 1.5
        for name in sorted((FIXED | {"law.jsonl"}).intersection(rest)):
            for number, line in enumerate(rest[name].splitlines(), start=1):
                if parsed(line) is None and json.dumps(json.loads(line), ensure_ascii=False).encode() != line:
                    yield f"{name} line {number} has a name twice, or another notation"

    @property
    def sealed_sha256(self) -> str:
        """The digest of the bundle that the closeout sealed: without the law, which an export adds."""
        rest = {name: body for name, body in self.members.items() if name != MANIFEST}
        kept = {name: body for name, body in rest.items() if name not in LAW}
        return digest(self.data if kept == rest else sealed(kept))

    def needed(self) -> set[str]:
        """The members that the accepted statements need: statements, signatures, policy epochs, signers' keys."""
        names = set[str]()
        for row in self.accepted:
            names |= {f"signed/{row['approval_sha256']}.{end}" for end in ("md", "asc")}
            names |= {f"epochs/{row['policy_sha256']}.yaml"}
            names |= {f"keys/{person['key_sha256']}.asc" for person in [self.person(row)] if person}
        return names


# --- steps 3 to 5: the audit chain of an export or a bundle, its head, and the receipts that it names ----------------

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


# --- steps 6 to 8 and 10: people's statements, their signatures, the policy epochs, and Temporal's history -----------

FEWEST = {"low": 1, "medium": 1, "high": 2}
"""The fewest people that each tier needs. A policy epoch may ask for more."""
PARDONS = [f"stopped_error_{gate}" for gate in ("cut_leg_a", "lifecycle_enact", "closeout")]
"""The stops at which an order that nobody signed is noticed. A resume that is signed there accepts what was before."""
ANY = {"schema", "deployment_id", "gate", "decision", "allowance", "binding", "signed_utc", "not_after", "approver"}
SAME = {"document_id", "source_version_id", "writer_digest", "candidate_count", "request_sha256",
        "findings_digest", "accepted_findings"}  # fmt: skip
BOUND = {
    "run": ANY | SAME | {"run_id", "change_set_id", "challenge", "nonce"}
    | {"manifest_digest", "region_sha", "grants_sha256"},
    "tuple": ANY | SAME | {"batch_id"},
}  # fmt: skip
"""The fields of a statement to approve, by its binding. SG_lifecycle_authz adds review_decision_id."""
PINNED = ("writer_digest", "candidate_count", "source_version_id", "manifest_digest", "region_sha", "findings_digest")
NONE = "none"
"""What stands for no red findings, in a pin and in a statement."""
JUDGED = ("run_id", "gate", "kb_id", "accepted", "code", "approval_sha256", "fingerprint")
GPG_SECONDS = 60


class Approvals(Members):
    """Steps 6 to 8 and 10. Each yields its problems or raises one of BROKEN."""

    # --- 6: people's statements

    def approvals(self) -> Iterator[str]:
        # 6.1
        verdicts = [{n: row[n] for n in JUDGED} for row in self.rows("verdicts")]
        heard = [{n: event[n] for n in JUDGED} for event in self.events if event["kind"] == "verdict"]
        kept = (verdict for verdict in heard if verdict["accepted"] or verdict in verdicts)
        yield from unlike("verdicts.jsonl", verdicts, kept)
        # 6.2
        for row in self.accepted:
            yield from self.spoken(row)
        # 6.3
        used = self.rows("consumptions")
        named = [(event["run_id"], event["gate"], name) for event in self.events for name in event.get("approvals", ())]
        yield from unlike("consumptions.jsonl", ((r["run_id"], r["gate"], r["approval_sha256"]) for r in used), named)
        requests = [row["request_id"] for row in self.rows("requests")]
        yield from unlike("requests.jsonl", requests, set(requests))
        # 6.4
        for row in used:
            yield from self._consumption(row)
        # 6.5
        for gate in sorted({row["gate"] for row in used} | set(self.passed)):
            yield from self._gate(gate, [row for row in used if row["gate"] == gate])
        # 6.6
        for row, receipt in self.receipts:
            yield from self.tier(row["gate"], receipt)
        # 6.7
        yield from self.orders()

    def spoken(self, row: Json) -> Iterator[str]:
        """An accepted verdict must agree with its statement, and its policy epoch must let the signer sign it."""
        name, person, epoch = f"signed/{row['approval_sha256']}", self.person(row), self.epoch(row)
        if f"{name}.md" not in self.members or f"{name}.asc" not in self.members:
            yield f"{name}, which was accepted for {row['gate']}, or its signature is missing"
            return
        fields = statement(self.members[f"{name}.md"])
        same = {n: row[n] for n in ("gate", "decision", "approver", "challenge", "writer_digest", "review_decision_id")}
        same.update(document_id=self.run["document_id"], not_after=row["not_after"][:19] + "Z")
        same.update(
            {"run_id": self.run["run_id"]} if fields["binding"] == "run" else {"batch_id": self.run["batch_id"]}
        )
        yield from self._unsaid(row["gate"], fields, same, same)
        if digest(self.members[f"{name}.md"]) != row["approval_sha256"]:
            yield f"{name}.md has other bytes than the accepted statement"
        verdict = {**{n: row[n] for n in JUDGED}, "kind": "verdict"}.items()
        heard = [event.get("signature_sha256") for event in self.events if verdict <= event.items()]
        # Bundles from before this digest have none.
        if not {digest(self.members[f"{name}.asc"]), None}.issuperset(heard):
            yield f"{name}.asc has other bytes than the judged signature"
        if person is None or row["gate"] not in person["gates"] or epoch["deployment_id"] != fields["deployment_id"]:
            yield f"no policy epoch lets {row['approver']} sign for {row['gate']} with {hexed(row['fingerprint'])}"
        elif digest(self.members.get(f"keys/{person['key_sha256']}.asc", b"")) != person["key_sha256"]:
            yield f"the public key of {row['approver']} that the policy epoch names is missing"
        if row["approver"] == self.run["starter"]:
            yield f"{row['approver']} started the run, so {row['approver']} may not decide about it"

    def _unsaid(self, gate: str, fields: dict[str, str], right: Json, names: Iterable[str]) -> Iterator[str]:
        """The fields of a statement that contradict the rest. A value None means that the statement lacks the field."""
        wanted = {name: None if right.get(name) is None else str(right[name]) for name in names}
        other = sorted(name for name in wanted if fields.get(name) != wanted[name])
        yield from (f"{name} that was signed for {gate} is not what the rest says" for name in other)

    def _consumption(self, used: Json) -> Iterator[str]:
        """A consumption needs an accepted statement to approve its gate, with its request and its digests."""
        gate, name = used["gate"], used["approval_sha256"]
        verdicts = [row for row in self.accepted if (row["approval_sha256"], row["gate"]) == (name, gate)]
        asked = [row for row in self.rows("requests") if row["request_id"] == used["request_id"]]
        if len(verdicts) != 1 or len(asked) != 1 or verdicts[0]["decision"] != "approve":
            yield f"{gate} consumed {hexed(name)}, which is not exactly one accepted statement to approve one request"
        if not verdicts or not asked:
            return
        verdict, request, fields = verdicts[0], asked[0], statement(self.members[f"signed/{name}.md"])
        frozen, challenge = request["tuple"], digest(canonical(request["tuple"]))
        right = {**{n: frozen[n] for n in ("document_id", "source_version_id", "writer_digest", "candidate_count")},
                 **{n: verdict[n] for n in ("approver", "fingerprint", "policy_sha256")},
                 "run_id": self.run["run_id"], "gate": gate, "challenge": challenge,
                 "review_decision_id": frozen["review_decision_id"]}  # fmt: skip
        yield from unlike("consumptions.jsonl", [{n: used[n] for n in right}], [right])
        law = {n: self.pins[n] for n in PINNED} | {n: self.run[n] for n in ("run_id", "document_id")} | {"gate": gate}
        yield from unlike("requests.jsonl", [{n: frozen[n] for n in law}], [law])
        asked_for = {"run_id": self.run["run_id"], "gate": gate, "challenge": challenge, "nonce": frozen["nonce"]}
        asked_for.update(review_decision_id=frozen["review_decision_id"], status="approved")
        yield from unlike("requests.jsonl", [{n: request[n] for n in asked_for}], [asked_for])
        bound = BOUND[fields["binding"]] | ({"review_decision_id"} if gate == "SG_lifecycle_authz" else set())
        yield from [f"{name} has other fields than a statement of its kind"] * (set(fields) != bound)
        right = {**frozen, **right, "schema": "cutter-approval/1", "decision": "approve", "allowance": "explicit",
                 "binding": fields["binding"], "batch_id": self.run["batch_id"],
                 "request_sha256": request["request_sha256"]}  # fmt: skip
        # A statement from before the run names the request of the rehearsal, which the bundle does not have.
        free = {"signed_utc", "not_after"} | ({"request_sha256"} if fields["binding"] == "tuple" else set())
        yield from self._unsaid(gate, fields, right, bound - free)
        # Bundles from before this pin have no red findings to compare.
        unaccepted = {*self.pins.get("red_findings", NONE).split()} - {NONE, *frozen["accepted_findings"].split()}
        yield from (f"{gate} was approved, but nobody accepted {finding}" for finding in sorted(unaccepted))
        if used["consumed_at"][:19] >= fields["not_after"][:19]:
            yield f"{hexed(name)} was consumed after its not_after"
        if any(row["approval_sha256"] == name for row in self.rows("revocations")):
            yield f"{hexed(name)} was revoked"

    def _gate(self, gate: str, used: list[Json]) -> Iterator[str]:
        """A passed sovereign gate must have as many people as its tiers need. Other gates must have no approvals."""
        if gate not in self.passed:
            yield f"{gate} has approvals, but its writing gate has no receipt"
            return
        if not used:
            yield f"{gate} was passed, but the bundle has no approval of it"
            return
        asked = [row["tier"] for row in self.rows("requests") if row["request_id"] == used[0]["request_id"]]
        rule = self.epoch(used[0])["gates"][gate]
        tiers = {rule["tier"], *self.tiers(self.passed[gate]), *(tier for tier in asked if tier is not None)}
        counts = {**FEWEST, **rule.get("thresholds", {})}
        needed = max(max(int(counts[tier]), FEWEST[tier]) for tier in tiers)
        distinct = [{row[name] for row in used} for name in ("approver", "fingerprint", "approval_sha256")]
        names = {(row["approval_sha256"], row["gate"]) for row in used}
        verdicts = [row for row in self.accepted if (row["approval_sha256"], row["gate"]) in names]
        keys = {person["key_sha256"] for person in map(self.person, verdicts) if person}
        if min(map(len, [*distinct, keys])) < needed or len(distinct[0]) != len(used):
            yield f"{gate} needs {needed} different people, and has {min(map(len, [*distinct, keys]))}"
        if len({row["policy_sha256"] for row in used}) != 1 or len({row["request_id"] for row in used}) != 1:
            yield f"the approvals of {gate} belong to several requests or policy epochs"
        if canonical(sorted(row["slot"] for row in used)) != canonical([*range(1, len(used) + 1)]):
            yield f"the approvals of {gate} are not counted from 1"
        # In the chain, acceptance comes before consumption, and consumption before the writing gate's receipt.
        consumed = [e["seq"] for e in self.events if e["kind"] == "approvals_consumed" and e["gate"] == gate]
        writes = [e["seq"] for e in self.events
                  if OPENED.get(str(e.get("trigger"))) == gate and "receipt_hash" in e["metadata"]]  # fmt: skip
        heard = [e["seq"] for e in self.events if e["kind"] == "verdict" and e["accepted"] and e["gate"] == gate
                 and e["approval_sha256"] in distinct[2]]  # fmt: skip
        if len(consumed) != 1 or len(writes) != 1 or not max(heard) < consumed[0] < writes[0]:
            yield f"{gate}: the approvals were not first accepted, then consumed once, then used by the writing gate"

    def tiers(self, receipt: Json) -> set[str]:
        """The tiers that the effect policy demanded at a gate."""
        return {decision["tier"] for decision in (receipt["policy"] or {"decisions": ()})["decisions"]} - {None}

    def tier(self, gate: str, receipt: Json) -> Iterator[str]:
        """If the policy demanded people at a gate that has no approvals of its own, enough must sign before it.

        Otherwise the closeout stops, and as many people as are missing must sign that the run may close nevertheless.
        """
        tiers = self.tiers(receipt) if gate not in OPENED and self.run["mode"] == "live" else set()
        before = [OPENED[name] for name in [*GATES][: [*GATES].index(gate)] if name in OPENED][-1:]
        people = {row["approver"] for row in self.rows("consumptions") if row["gate"] in before}
        stop = f"stopped_policy_{gate.removeprefix('IG_').removesuffix('_execute')}"
        for row in self.accepted:
            if row["decision"] == "resume":
                people |= {row["approver"]} if self._stop(row["approval_sha256"]) in (stop, PARDONS[-1]) else set()
        needed = max((FEWEST[tier] for tier in tiers), default=0)
        yield from [f"the policy demanded {needed} people at {gate}, but {len(people)} signed"] * (len(people) < needed)

    def _stop(self, name: str) -> str:
        """The stop that the person who signed a resume saw."""
        return statement(self.members[f"signed/{name}.md"])["stopped_state"]

    def orders(self) -> Iterator[str]:
        """Each fact that names a signed order needs that statement, accepted for the same decision.

        A resume or an acknowledgement that nobody signed stops the run at its next gate that judges it (PARDONS). The
        person who signs the resume from that stop accepts what was done before.
        """
        signed = {(row["approval_sha256"], row["decision"]) for row in self.accepted}
        claimed = {(row["approval_sha256"], row["decision"]) for row in self.rows("verdicts") if row["accepted"]}
        orders = [(row["statement_sha256"], row["decision"], "orders.jsonl") for row in self.rows("orders")]
        orders += [(row["statement_sha256"], "acknowledge_drift", "acknowledgements.jsonl")
                 for row in self.rows("acknowledgements")]  # fmt: skip
        named = [(inside(event, "metadata", "statement_sha256"), event) for event in self.events]
        pardons = [row["consumed_at"] for row in self.rows("orders")
                   if (row["statement_sha256"], "resume") in signed
                   and self._stop(row["statement_sha256"]) == row["stopped_state"] in PARDONS]  # fmt: skip
        before = {(row["statement_sha256"], row["decision"]) for row in self.rows("orders")
                  if row["consumed_at"] < max(pardons, default="")}  # fmt: skip
        voids = [(row["statement_sha256"], "void", "voids.jsonl") for row in self.rows("voids")]
        covered = (claimed - signed) & before
        for name, decision, member in [*orders, *voids]:
            if (name, decision) not in (signed if member == "voids.jsonl" else signed | covered):
                yield f"{member} names {hexed(name)}, which is not an accepted statement to {decision}"
        names = {name for name, _ in signed | covered}
        for name, event in named:
            if name is not None and name not in names:
                yield f"{event['trigger']} in the audit chain names {hexed(name)}, which is not an accepted statement"

    # --- 7: signatures

    def authorship(self, gpg: str) -> Iterator[str]:
        for row in self.accepted:
            yield from self.signed(gpg, row)

    def signed(self, gpg: str, row: Json) -> Iterator[str]:
        """The signature of an accepted statement must be good and of the person whom its policy epoch names."""
        name, person = row["approval_sha256"], self.person(row)
        key = self.members.get(f"keys/{person['key_sha256']}.asc", b"") if person else b""
        statement, file = [self.members.get(f"signed/{name}.{end}", b"") for end in ("md", "asc")]
        good, valid = verified(gpg, key, *signed_over(statement, file))
        # 7.1
        if good != 1 or len(valid) != 1 or valid[0][-1] != row["fingerprint"]:
            yield f"the signature of {hexed(name)} is not by {hexed(row['fingerprint'])}"
        # 7.2
        elif valid[0][8] not in ("8", "9", "10") or valid[0][9] != "00":
            yield f"the signature of {hexed(name)} is not a document signature with SHA-256 or better"
        # 7.3
        elif not person["not_before"] <= instant(valid[0][3]) < person["not_after"]:
            yield f"{row['approver']} signed {hexed(name)} outside the period in the policy epoch"

    def signers(self) -> str:
        """Each signer with the decision, the gate and the key, for people."""
        return ", ".join(
            f"{row['approver']} {row['decision']} {row['gate']} with key {hexed(row['fingerprint'])}"
            for row in self.accepted
        )

    # --- 8: the policy epochs

    def in_force(self, kept: Sequence[str]) -> Iterator[str]:
        named = sorted({str(row["policy_sha256"]) for row in self.accepted})
        yield from (f"you did not give the policy epoch {hexed(name)}" for name in named if name not in kept)

    # --- 10: Temporal's history

    def engine(self, history: bytes) -> Iterator[str]:
        record, events = json.loads(self.members["history.json"]), json.loads(history)["events"]
        if digest("".join(canonical(event) + "\n" for event in events[: record["events"]])) != record["sha256"]:
            yield f"its first {record['events']} events have another digest"


def verified(gpg: str, key: bytes, signed: bytes, signature: bytes) -> tuple[int, list[list[str]]]:
    """gpg's answer about one detached signature and one key: the number of good signatures, and the VALIDSIG lines."""
    with tempfile.TemporaryDirectory() as home:
        Path(home, "asc").write_bytes(signature)
        words = [gpg, "--homedir", home, "--batch", "--no-options", "--no-autostart", "--disable-dirmngr"]
        subprocess.run([*words, "--import"], input=key, capture_output=True, timeout=GPG_SECONDS, check=False)
        words += ["--status-fd", "1", "--verify", f"{home}/asc", "-"]
        done = subprocess.run(words, input=signed, stdout=-1, stderr=-3, timeout=GPG_SECONDS, check=False)
    # Only "\n" ends a line of gpg: a user id can have the other separators that `splitlines` knows.
    status = [line for line in done.stdout.decode("utf-8", "replace").split("\n") if line.startswith("[GNUPG:] ")]
    lines = [line.split(" ")[1:] for line in status]
    good = [words for words in lines if words[:1] and words[0] in ("GOODSIG", "EXPSIG", "EXPKEYSIG")]
    bad = [words for words in lines if words[:1] and words[0] in ("BADSIG", "ERRSIG", "REVKEYSIG")]
    return len(good) + 2 * len(bad), [words for words in lines if words[:1] == ["VALIDSIG"]]


def instant(seconds: str) -> str:
    """The time of a signature from gpg (Unix seconds), in the form of a policy epoch."""
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(int(seconds)))


# --- steps 11 and 12: the text of a bundle with its law is the signed one, and each enactment names the one before ---

FIELDS = ("address", "unit_kind", "section_type", "publication_type", "owner", "title", "body_sha256", "parent_address")
"""The fields of a line of the writer digest, in order."""
CHANGE = ("operation", "ends", "continues")
OPERATIONS = ("keep", "revise", "create", "repeal")
ENACTING = "IG_lifecycle_enact_execute"
SEPARATOR = "\x1f"


def line_of(row: Json) -> str:
    """The line of a unit in the writer digest. Raises ValueError if a field could be read as two."""
    for field in (*FIELDS, *CHANGE):
        if not isinstance(row[field], str) or SEPARATOR in row[field] or "\n" in row[field]:
            raise ValueError(f"law.jsonl has a unit whose {field} is not one field of a line")
    return SEPARATOR.join(row[name] for name in FIELDS)


def law_digest(rows: list[Json], pins: Json) -> str:
    """The writer digest of the rows: of a first cut without a base, else of the difference to the base."""
    ordered = sorted(rows, key=lambda row: row["address"].encode())
    if "base_receipt_hash" not in pins:
        return digest("\n".join(["writer/1", *map(line_of, ordered)]))
    base = SEPARATOR.join(pins[name] for name in ("operation_kind", "base_source_version_id", "base_receipt_hash"))
    lines = (SEPARATOR.join((line_of(row), *(row[name] for name in CHANGE))) for row in ordered)
    return digest("\n".join(["writer/2", base, *lines]))


class EnactedText(Members):
    """Steps 11 and 12. They yield their problems or raise one of BROKEN."""

    def text(self) -> Iterator[str]:
        region, rows = self.members["law.md"], self.rows("law")
        # 11.1
        if digest(region) != self.pins["region_sha"]:
            yield f"law.md is {digest(region)}, but the run cut {hexed(self.pins['region_sha'])}"
        # 11.2
        # Each unit that is in the law has its place in the text, and no two places overlap.
        addresses, end = [row["address"] for row in rows], 0
        if len(set(addresses)) != len(rows):
            yield "law.jsonl has an address twice"
        for row in rows:
            form = None if row["operation"] == "repeal" else [int, int]
            types = None if row["place"] is None else [type(number) for number in row["place"]]
            if set(row) != {*FIELDS, *CHANGE, "place"} or row["operation"] not in OPERATIONS or types != form:
                yield f"{row['address']} does not have the fields of its operation"
        for row in sorted((row for row in rows if row["place"] is not None), key=lambda row: row["place"]):
            start, stop = row["place"]
            if not end <= start < stop <= len(region) or digest(region[start:stop]) != row["body_sha256"]:
                yield f"the text of {row['address']} in law.md is not the signed one"
            end = stop
        # 11.3
        own = law_digest(rows, self.pins)
        if own != self.pins["writer_digest"]:
            yield f"the units digest to {own}, but people signed {hexed(self.pins['writer_digest'])}"
        # 11.4
        if ENACTING not in {row["gate"] for row, _ in self.receipts}:
            yield "the bundle has a law, but no receipt of its enactment"

    def held(self) -> str:
        """How many units the law has, and how many the run ended, for people."""
        rows = self.rows("law")
        ended = sum(row["operation"] == "repeal" for row in rows)
        return f"{len(rows) - ended} units" + (f" and {ended} repealed ones" if ended else "")

    # --- 12: each enactment names the one before it

    @property
    def begins(self) -> bool:
        """Whether the run is the first cut of its law, so that no enactment is before it."""
        return not any(name.startswith("base_") for name in self.pins)

    @property
    def enactment(self) -> str:
        """The hash of the receipt that enacted the law, or an empty text."""
        return "".join(row["receipt_hash"] for row, _ in self.receipts if row["gate"] == ENACTING)

    def follows(self, before: EnactedText | None) -> Iterator[str]:
        """Compare the base of this run with the bundle given before it; None for the first bundle of several."""
        # 12.1
        if before is None:
            yield from ["its predecessor is missing: give that bundle first"] * (not self.begins)
            return
        if self.begins:
            yield "it is a first cut, so no bundle can be before it"
            return
        # 12.2
        named = {name: before.run[name] for name in ("document_id", "run_id")}
        named |= {"source_version_id": before.pins["source_version_id"], "receipt_hash": before.enactment}
        own = {"document_id": self.run["document_id"], **{n: self.pins[f"base_{n}"] for n in (*named,)[1:]}}
        yield from (f"the {name} of its base is not the one of the bundle before it" for name in named
                    if own[name] != named[name])  # fmt: skip
        # 12.3
        # Every unit of the law before is kept, revised or repealed, and nothing else is.
        if "law.md" in self.members and "law.md" in before.members:
            lines = {row["address"]: digest(line_of(row)) for row in before.rows("law") if row["operation"] != "repeal"}
            ends = {row["address"]: row["ends"] for row in self.rows("law") if row["operation"] != "create"}
            for address in sorted(lines.keys() | ends.keys()):
                if lines.get(address) != ends.get(address):
                    yield f"{address} does not continue or end the unit of the bundle before it"

    def base_named(self) -> str:
        """What to give before this bundle, for people."""
        return f"run {self.pins['base_run_id']} with the enactment receipt {hexed(self.pins['base_receipt_hash'])}"


# --- runs all steps of the check for one file or several bundles of one law, and prints a line for each step ---------

UNHEARD = "no gpg here (2.1 or newer)"
NO_ANSWER = "gpg gave no answer"
TEXTLESS = "a bundle has no text of the law; the stored units must digest to"
ALONE = (
    "only this digest covers the whole bundle (docs/reference/evidence.md): give the closeout report's with --sha256"
)


class Bundle(Receipts, Approvals, EnactedText):
    """A bundle with the steps that check it."""

    def sound(self, row: Json, gpg: str | None) -> bool:
        """Whether an accepted statement is what its verdict says. Without gpg its signature is not checked."""
        try:
            return not [*self.spoken(row), *(self.signed(gpg, row) if gpg else ())]
        except BROKEN:
            return False


def check(
    data: bytes,
    head: str | None = None,
    sha256: str | None = None,
    history: bytes | None = None,
    gpg: str | None = None,
    epochs: Sequence[str] = (),
    before: bytes | None = None,
) -> list[Line]:
    """Run every step in order for a bundle or an export. Raises ValueError if `data` is neither.

    `before` is the bundle that was given before this one. It is empty for the first of several, and None for a bundle
    that is checked alone.
    """
    if data[257:262] != b"ustar" or data[:1] == b"{":
        if before is None and any(set(parsed(line) or ()) in ({*EVENT}, CLOSING) for line in data.split(b"\n")):
            return _chain(data, head)
        raise ValueError("it has neither the form of a bundle nor the form of an export")
    try:
        b = Bundle(data)
    except BROKEN as problem:
        return [_line("archive", _raised(problem), "")]
    return [
        # 1
        _line("archive", b.archive(), f"{len(b.members)} members as the manifest says, and nothing else"),
        # 2
        _digest(b, sha256),
        # 3 and 4
        *_chain(b.members.get("audit.jsonl", b""), head),
        # 5
        _line("receipts", b.chained(), lambda: f"{len(b.receipts)} in one chain, as the audit chain names them"),
        # 6
        _line("approvals", b.approvals(), lambda: _passed(b)),
        # 7
        *_authorship(b, gpg),
        # 8
        *_policy(b, epochs),
        # 9
        _line("workers", None, "the signatures of executor and verifier: their public keys are not in a bundle"),
        # 10
        _line("history", None if history is None else b.engine(history), "Temporal's own events, given with --history"),
        # 11
        _text(b),
        # 12
        _predecessor(b, before),
    ]


def _digest(b: Bundle, sha256: str | None) -> Line:
    """Compare the digest of the sealed bundle. The law, which an export adds, is not in it."""
    try:
        own = b.sealed_sha256
    except BROKEN as problem:
        return _line("sha256", _raised(problem), "")
    return _line("sha256", [f"it is {own}"] * (own != sha256) if sha256 else None, own if sha256 else f"{own}; {ALONE}")


def _text(b: Bundle) -> Line:
    if LAW.isdisjoint(b.members):
        return _line("the law", None, lambda: f"{TEXTLESS} {hexed(b.pins.get('writer_digest'))}")
    return _line("the law", b.text(), lambda: f"{b.held()}, which digest to {hexed(b.pins['writer_digest'])}")


def _predecessor(b: Bundle, before: bytes | None) -> Line:
    """Follow the chain of enactments to the bundle before. Alone, only a first cut has nothing more to check."""
    try:
        if b.begins and before is None:
            return _line("predecessor", (), "it is a first cut, so no enactment is before it")
        if before is None:
            return _line("predecessor", None, f"{b.base_named()}: give its bundle before this one")
        problems = [*b.follows(Bundle(before) if before else None)]
        signed = "" if "law.jsonl" in b.members else "; only a bundle with its law shows that people signed this base"
        return _line("predecessor", problems, "it is a first cut" if b.begins else f"it is {b.base_named()}{signed}")
    except BROKEN as problem:
        return _line("predecessor", _raised(problem), "")


def _chain(data: bytes, head: str | None) -> list[Line]:
    try:
        audit = verify_export(data, head)
    except BROKEN as problem:
        return [_line("audit chain", _raised(problem), "")]
    lines = [_line("audit chain", audit.problems, f"{audit.events} events, head {hexed(audit.head)}")]
    lines += [_line("head", (), f"covers {audit.anchored}")] if audit.anchored != "nothing" else []
    return lines + [_line("head", None, text) for text in audit.unchecked]


def _passed(b: Bundle) -> str:
    used = [(gate, row["approver"]) for gate in b.passed for row in b.rows("consumptions") if row["gate"] == gate]
    gates = ", ".join(f"{gate} by a statement of {who}" for gate, who in used)
    lacks = sum(row["accepted"] for row in b.rows("verdicts")) - len(b.accepted)
    left = f"; without a statement here, so they count for nothing: {lacks} accepted verdicts" if lacks else ""
    return (
        f"passed: {gates}; the next line names the signers" if gates else "the run passed no gate that needs one"
    ) + left


def _authorship(b: Bundle, gpg: str | None) -> list[Line]:
    """Check the signatures. Without a statement or without gpg, the line is NOT CHECKED and never OK."""
    try:
        signers = b.signers()
    except BROKEN as problem:
        return [_line("authorship", _raised(problem), "")]
    if not signers:
        return [_line("authorship", None, "the bundle has no accepted statement, so there is no signature to check")]
    if gpg is None:
        return [_line("authorship", None, f"{UNHEARD}: whether these were signed: {signers}")]
    return [_line("authorship", b.authorship(gpg), f"gpg says so: {signers}")]


def _policy(b: Bundle, kept: Sequence[str]) -> list[Line]:
    try:
        named = ", ".join(sorted({hexed(row["policy_sha256"]) for row in b.accepted}))
    except BROKEN as problem:
        return [_line("policy", _raised(problem), "")]
    if not named:
        return [_line("policy", None, "no policy epoch judged a statement of this run")]
    ask = f"whether {named} was in force, and who has the keys: ask its installer, and give its sha256 with --epoch"
    return [_line("policy", b.in_force(kept) if kept else None, f"judged by {named}, which you gave" if kept else ask)]


def _raised(problem: Exception) -> list[str]:
    return [f"malformed, {type(problem).__name__}: {problem}"]


def _line(what: str, problems: Iterable[str] | None, why: Json) -> Line:
    """The line of a step. `why` is a text, or a function that makes the text after the step is done."""
    sentences = list[str]()
    try:
        for problem in problems or ():
            sentences.append(shown(problem))
        text = shown(why() if callable(why) else why)
    except (OSError, subprocess.SubprocessError) as problem:
        sentences.append(shown(f"{NO_ANSWER}: {type(problem).__name__}: {problem}"))
        text = ""
    except BROKEN as problem:
        sentences.append(shown(_raised(problem)[0]))
        text = ""
    more = [f"and {len(sentences) - SHOWN_PROBLEMS} more"] if len(sentences) > SHOWN_PROBLEMS else []
    verdict = FAILED if sentences else NOT_CHECKED if problems is None else OK
    return what, verdict, "; ".join([*sentences[:SHOWN_PROBLEMS], *more]) or text


def printed(lines: Iterable[Line]) -> str:
    """The steps for people, one a line. Every text in them has gone through `shown`."""
    return "\n".join(f"{verdict:<11}  {what}: {why}" for what, verdict, why in lines)


def exit_code(lines: Iterable[Line]) -> int:
    """0: no step failed. 1: a step failed. 5: no step failed, but gpg is missing, so the signatures are not checked."""
    steps = list(lines)
    if any(verdict == FAILED for _, verdict, _ in steps):
        return 1
    return 5 if any(what == "authorship" and why.startswith(UNHEARD) for what, _, why in steps) else 0


def check_files(
    files: Sequence[bytes],
    heads: Sequence[str] = (),
    sha256s: Sequence[str] = (),
    history: bytes | None = None,
    gpg: str | None = None,
    epochs: Sequence[str] = (),
) -> list[list[Line]]:
    """The steps of each file. Several files are the bundles of one law, and the first one is of its first cut.

    Raises ValueError for a file of another form, and for options that do not fit the number of files.
    """
    for name, values in (("--head", heads), ("--sha256", sha256s)):
        if values and len(values) != len(files):
            raise ValueError(f"give {name} once for each file, in the same order")
    if history is not None and len(files) > 1:
        raise ValueError("--history belongs to one file: check that file without the others")
    steps = []
    for n, data in enumerate(files):
        before = None if len(files) == 1 else files[n - 1] if n else b""
        head, sha256 = heads[n] if heads else None, sha256s[n] if sha256s else None
        steps.append(check(data, head, sha256, history, gpg, epochs, before))
    return steps


def main() -> int:
    """Check the files that the command line names, and print one line for each step."""
    parser = argparse.ArgumentParser(description="Check bundles or an export offline: exit 1 if a step failed.")
    parser.add_argument("file", type=Path, nargs="+", help="several bundles of one law: from the first cut on")
    parser.add_argument("--head", action="append", default=[], help="head of the audit chain, kept elsewhere")
    parser.add_argument("--sha256", action="append", default=[], help="digest of the file, kept elsewhere")
    parser.add_argument("--history", type=Path, help="output of `temporal workflow show --output json`")
    parser.add_argument(
        "--epoch", action="append", default=[], help="sha256 of a policy epoch that was in force; repeatable"
    )
    given = parser.parse_args()
    try:
        history = given.history.read_bytes() if given.history else None
        files = [path.read_bytes() for path in given.file]
        checked = check_files(files, given.head, given.sha256, history, shutil.which("gpg"), given.epoch)
    except (OSError, *BROKEN) as problem:
        names = shown(", ".join(map(str, given.file)))
        parser.exit(2, f"{names}: not a bundle or audit export, or not readable: {shown(problem)}\n")
    sys.stdout.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
    for n, lines in enumerate(checked):
        print(*([f"{shown(given.file[n])}:"] if len(checked) > 1 else []), printed(lines), sep="\n")
    return exit_code([line for lines in checked for line in lines])


if __name__ == "__main__":
    raise SystemExit(main())
