"""IO: the check of an evidence bundle or an audit export by one file: Python 3.9 or newer, and gpg for authorship."""

from __future__ import annotations

import argparse
import hashlib
import json
import shutil
import subprocess
import tempfile
from collections import Counter, namedtuple
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any as Json

OK, FAILED, NOT_CHECKED = "OK", "FAILED", "NOT CHECKED"
BUNDLE, EXPORT, GLOBAL, MANIFEST = "cutter-evidence/1", "cutter-audit/1", "global", "manifest.json"
EVENT, TYPES = ("chain", "seq", "kind", "body", "prev_hash", "hash"), [str, int, str, str, str, str]
CLOSING, ASKED = {"format", "heads", "head", "events"}, {"challenge", "request_sha256"}
REWRITTEN = "whether the whole file was rewritten, or its last events left out: give a kept head with --head"
ALONE = "it alone covers what no chain does (docs/evidence.md): give the one in the closeout's report with --sha256"
OPENED = {"IG_cut_leg_a_execute": "SG_cut_authz", "IG_lifecycle_enact_execute": "SG_lifecycle_authz"}
BOUND = {"gate", "decision", "approver", "document_id", "source_version_id", "writer_digest", "candidate_count"}
USED = (BOUND - {"decision"}) | {"run_id", "challenge", "review_decision_id", "fingerprint", "policy_sha256"}
JUDGED = ("run_id", "gate", "kb_id", "accepted", "code", "approval_sha256", "fingerprint")
ROWS = "acknowledgements actions attempts audit consumptions decisions documents orders receipts refusals requests"
FIXED = {f"{name}.jsonl" for name in f"{ROWS} revocations signatures transitions verdicts voids".split()}
FIXED |= {"run.json", "source.json", "outputs.json", "costs.json", "history.json"}
BROKEN = (KeyError, ValueError, TypeError, AttributeError, IndexError, RecursionError)
Line = tuple[str, str, str]  # what was checked, one of the three words, why
AuditCheck = namedtuple("AuditCheck", "problems events chains head anchored unchecked")  # by an outside head


def digest(data: bytes | str) -> str:
    """SHA-256 as 64 hex characters."""
    return hashlib.sha256(data.encode() if isinstance(data, str) else data).hexdigest()


def canonical(value: Json) -> str:
    """JSON with sorted keys and no blanks: the same value has the same text."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def parsed(line: bytes) -> Json:
    """The object that a line is the canonical form of; else None."""
    try:
        value = json.loads(line.decode())
        return value if isinstance(value, dict) and canonical(value).encode() == line else None
    except (ValueError, RecursionError):
        return None


def unlike(member: str, actual: Iterable[Json], right: Iterable[Json]) -> Iterator[str]:
    """The rows that a member has and should not, or should have and has not, each as often as it stands there."""
    has, should = Counter(map(canonical, actual)), Counter(map(canonical, right))
    yield from (f"{member} is not what the rest says: {row}" for row in (has - should) + (should - has))


def head_of(heads: Json) -> str:
    """The digest to keep elsewhere: a single chain's own head, of several the digest over all of them."""
    return str(next(iter(heads.values()))[1]) if len(heads) == 1 else digest(canonical(heads)) if heads else ""


def verify_export(data: bytes, head: str | None = None) -> AuditCheck:
    """Check an export. `head` is one that was kept elsewhere: the export's own, or the hash of any event in it."""
    *lines, after = data.split(b"\n")
    rows, problems = [*map(parsed, lines)], ["cut off or added: the file does not end with a line feed"] * bool(after)
    closing = rows.pop() if rows and rows[-1] is not None and set(rows[-1]) == CLOSING else None
    heads, places, broken, last, events, anchors = dict[str, Json](), {}, set(), "", 0, []
    for number, row in enumerate(rows, start=1):
        form = row is not None and set(row) == {*EVENT} and [type(row[name]) for name in EVENT] == TYPES
        name, events = row["chain"] if form else "", events + form
        if form and name in broken:
            continue
        fault = _fault(row, last, heads) if form else "altered or inserted: no audit event in its canonical form"
        if fault:
            problems.append(f"line {number}: {fault}")
            broken.add(name)
        else:
            last, heads[name], places[row["hash"]] = name, (row["seq"], row["hash"]), (name, row["seq"])
            anchors += [json.loads(row["body"])] if name == GLOBAL else []
    if GLOBAL in heads and GLOBAL not in broken:
        problems += _against_global(anchors, heads, places, broken)
    own = head_of(heads)
    expected = {"format": EXPORT, "heads": heads, "head": own, "events": events}
    if closing is None or (not broken and canonical(closing) != canonical(expected)):
        problems.append("deleted or altered: the closing line with the heads is missing, or not that of the events")
    if head not in (None, own, *places):
        problems.append(f"the outside head {head} is in none of the chains: rewritten, cut off, or another's")
    return AuditCheck(tuple(problems), events, len(heads), own, *_anchored(heads, places, own, head))


def _fault(event: Json, last: str, heads: Json) -> str:
    """An event's hash is sha256(previous hash, body); the first one's predecessor is sha256(the chain's name)."""
    name, which = event["chain"], f"event {event['seq']} of {event['chain']}"
    seq, previous = heads.get(name, (0, digest(name)))
    if name != last and (name in heads or name < last):
        return f"reordered: {which} stands apart from its chain"
    if event["seq"] != seq + 1:
        return f"deleted: {which} comes after {seq}" if event["seq"] > seq else f"inserted or reordered: {which}"
    if event["prev_hash"] != previous or digest(previous + event["body"]) != event["hash"]:
        return f"altered or inserted: {which} does not follow the one before it, or its hash is not that of its body"
    try:
        body = json.loads(event["body"])
        same = (body["seq"], body["kind"]) == (event["seq"], event["kind"]) and name in (GLOBAL, body["run_id"])
    except BROKEN:
        same = False
    return "" if same else f"altered: the body of {which} is about another event or about another run"


def _against_global(anchors: list[Json], heads: Json, places: Json, broken: set[str]) -> Iterator[str]:
    """The global chain holds the heads of all others, so that none can be missing from an export of everything."""
    for body in anchors:
        name, place = str(body.get("run_id")), places.get(str(body.get("run_head")))
        if name not in broken and place != (body.get("run_id"), body.get("run_seq")):
            yield f"the chain of {name} is {('missing,', 'not')[name in heads]} the one that the global chain names"
    for name in sorted(set(heads) - {str(body.get("run_id")) for body in anchors} - {GLOBAL}):
        yield f"inserted: the chain of {name} is not on the global chain"


def _anchored(heads: Json, places: Json, own: str, head: str | None) -> tuple[str, tuple[str, ...]]:
    if head == own or head not in places:
        return "all events" if head == own else "nothing", () if head else (REWRITTEN,)
    name, seq = places[head]
    newest, others = heads[name][0], (len(heads) - 1) * (name != GLOBAL)
    rest = [f"events {seq + 1} to {newest} of {name}, which are newer than the outside head"] * (newest > seq)
    rest += ["what runs did after their last anchor on the global chain: give the export's own head"] * (name == GLOBAL)
    rest += [f"the {others} other chain{'s' * (others > 1)}: each needs its own head"] * (others > 0)
    return f"events 1 to {seq} of {name}", tuple(rest)


def sealed(members: dict[str, bytes]) -> bytes:
    """The bundle: a ustar of files of mode 0644, of nobody and no time, the manifest of the others' digests first."""
    run, audit = json.loads(members["run.json"]), json.loads(members["audit.jsonl"].split(b"\n")[-2])
    listed = {name: [len(members[name]), digest(members[name])] for name in sorted(members)}
    manifest = {"format": BUNDLE, "run_id": run["run_id"], "head": audit["head"], "members": listed}
    parts = []
    for name, body in [(MANIFEST, (canonical(manifest) + "\n").encode()), *sorted(members.items())]:
        head = name.encode("ascii").ljust(100, b"\0") + b"0000644\0" + b"0000000\0" * 2 + b"%011o\0" % len(body)
        head, rest = head + b"0" * 11, b"0" + bytes(100) + b"ustar\x0000" + bytes(64) + b"0000000\0" * 2 + bytes(167)
        parts += [head, b"\0%06o\0 " % (sum(head + rest) + 8 * 32), rest, body, bytes(-len(body) % 512)]
    return b"".join(parts) + bytes(1024)


class Bundle:
    """A bundle's members and the checks of them, each yielding its problems; what is no bundle raises one of BROKEN."""

    def __init__(self, data: bytes) -> None:
        self.data, self.members, at = data, {}, 0
        while data[at : at + 1] > b"\0":
            name, size = data[at : at + 100].rstrip(b"\0").decode("ascii"), data[at + 124 : at + 135]
            length = int(size, 8) if size.isdigit() else len(data)
            self.members[name] = data[at + 512 : at + 512 + length]
            at += 512 + -(-length // 512) * 512
        self.run = json.loads(self.members["run.json"])
        self.events = [json.loads(event["body"]) for event in self.rows("audit")[:-1]]
        self.receipts = [(row, json.loads(row["sealed_body"])) for row in self.rows("receipts")]
        self.pins = {name: pin for _, body in self.receipts for name, pin in body["result"]["pins"].items()}
        self.accepted = {row["approval_sha256"]: row for row in self.rows("verdicts") if row["accepted"]}

    def rows(self, name: str) -> list[Json]:
        return [json.loads(line) for line in self.members[f"{name}.jsonl"].splitlines()]

    def archive(self) -> Iterator[str]:
        rest = dict(self.members)
        listed = json.loads(rest.pop(MANIFEST))["members"].items()
        yield from unlike(MANIFEST, listed, ((name, [len(body), digest(body)]) for name, body in rest.items()))
        yield from ["the manifest or the archive's form is another"] * (sealed(rest) != self.data)
        texts = [*self.rows("decisions"), *(row["policy"] for row in self.rows("voids") if row["policy"])]
        known = FIXED.union({f"policies/{text['sha256']}.yaml" for text in texts}.intersection(rest))
        for name, row in self.accepted.items():
            key, epoch = f"keys/{digest(self.key(row))}.asc", f"epochs/{row['policy_sha256']}.yaml"
            known |= {f"signed/{name}.md", f"signed/{name}.asc", key, epoch}
        yield from unlike("the list of members", rest, known)
        for name in sorted(FIXED.intersection(rest)):
            for number, line in enumerate(rest[name].splitlines(), start=1):
                if parsed(line) is None and json.dumps(json.loads(line), ensure_ascii=False).encode() != line:
                    yield f"{name} line {number} says a name twice, or is in another notation"

    def chained(self) -> Iterator[str]:
        previous, decided = digest(self.run["run_id"]), []
        for row, body in self.receipts:
            right = {"gate": body["gate"], "prev_hash": previous, "receipt_hash": digest(previous + row["sealed_body"])}
            yield from unlike("receipts.jsonl", [{n: row[n] for n in right}], [right])
            by = body["policy"] or {"sha256": digest(b""), "decisions": ()}
            text = self.members.get(f"policies/{by['sha256']}.yaml", b"")
            if digest(text) != by["sha256"] or any(decision["verdict"] == "deny" for decision in by["decisions"]):
                yield f"{row['gate']} was decided by a policy that is not here, or was denied"
            decided += [{"of": "receipt", "gate": row["gate"], "sha256": by["sha256"], **n} for n in by["decisions"]]
            previous = row["receipt_hash"]
        yield from unlike("decisions.jsonl", (row for row in self.rows("decisions") if row["of"] == "receipt"), decided)
        moves = [{n: e[n] for n in {*e} - {"at", "kind", "seq"}} for e in self.events if "event_type" in e]
        transitions = (row for row in self.rows("transitions") if row["event_type"][:8] in ("document", "approval"))
        yield from unlike("transitions.jsonl", ({**row, "run_id": self.run["run_id"]} for row in transitions), moves)
        named = (move["metadata"]["receipt_hash"] for move in moves if "receipt_hash" in move["metadata"])
        yield from unlike("receipts.jsonl", (row["receipt_hash"] for row, _ in self.receipts), named)
        run = {name: self.run[name] for name in ("run_id", "document_id", "mode", "starter")}
        yield from unlike("run.json", [run], ({n: event[n] for n in run} for event in self.events if event["seq"] == 1))

    def approvals(self) -> Iterator[str]:
        verdicts = [{n: row[n] for n in JUDGED} for row in self.rows("verdicts")]
        heard = [{n: event[n] for n in JUDGED} for event in self.events if event["kind"] == "verdict"]
        yield from unlike(
            "verdicts.jsonl", verdicts, (event for event in heard if event["accepted"] or event in verdicts)
        )
        used, requests = self.rows("consumptions"), {row["request_id"]: row for row in self.rows("requests")}
        yield from unlike("requests.jsonl", (row["request_id"] for row in self.rows("requests")), requests)
        named = [(event["run_id"], event["gate"], name) for event in self.events for name in event.get("approvals", ())]
        yield from unlike("consumptions.jsonl", ((r["run_id"], r["gate"], r["approval_sha256"]) for r in used), named)
        passed = {OPENED[row["gate"]] for row, _ in self.receipts if row["gate"] in OPENED}
        yield from unlike("the list of gates that were passed with an approval", {row["gate"] for row in used}, passed)
        for name, verdict in self.accepted.items():
            body, right = self.members[f"signed/{name}.md"], {n: verdict[n] for n in ("decision", "approver")}
            fields = dict(line.split(": ", 1) for line in body.decode().split("\n---\n")[0].split("\n")[1:])
            if (digest(body), fields["decision"]) != (name, verdict["decision"]) or self.key(verdict) == b"":
                yield f"signed/{name}.md is not what was judged, or lacks its policy epoch, or there its signer's key"
            for row, request in ((row, requests[row["request_id"]]) for row in used if row["approval_sha256"] == name):
                right.update(request["tuple"], decision="approve", batch_id=self.run["batch_id"])
                right.update({n: self.pins[n] for n in ("writer_digest", "candidate_count", "source_version_id")})
                right.update(challenge=digest(canonical(request["tuple"])), request_sha256=request["request_sha256"])
                yield from unlike("consumptions.jsonl", *([{n: r[n] for n in USED}] for r in (row, verdict | right)))
            bound = BOUND.union(fields, ASKED).difference(() if fields["binding"] == "run" else ASKED)
            other = (n for n in sorted(bound.intersection(right)) if fields.get(n) != str(right[n]))
            yield from (f"{n} that was signed for {verdict['gate']} is not what the rest says" for n in other)

    def key(self, verdict: Json) -> bytes:
        """The public key that a verdict's policy epoch names for its approver; empty without both."""
        epoch = self.members.get(f"epochs/{verdict['policy_sha256']}.yaml", b"")
        named = f"- name: {verdict['approver']}\n    fingerprint: {verdict['fingerprint']}\n    key_sha256: "
        wanted = epoch.decode().partition(named)[2][:64] if digest(epoch) == verdict["policy_sha256"] else ""
        return next((body for body in self.members.values() if digest(body) == wanted), b"")

    def authorship(self, gpg: str) -> Iterator[str]:
        for name, row in self.accepted.items():
            with tempfile.TemporaryDirectory() as home:
                Path(home, "asc").write_bytes(self.members[f"signed/{name}.asc"])
                words = [gpg, "--homedir", home, "--batch", "--no-options", "--no-autostart", "--status-fd", "1"]
                subprocess.run([*words, "--import"], input=self.key(row), capture_output=True, timeout=60, check=False)
                words += ["--verify", f"{home}/asc", "-"]
                done = subprocess.run(words, input=self.members[f"signed/{name}.md"], stdout=-1, stderr=-3, timeout=60)
            lines = [line.split()[1:] for line in done.stdout.decode("utf-8", "replace").splitlines()]
            good = [words[0] for words in lines if words and words[0] in ("GOODSIG", "EXPKEYSIG")]
            if len(good) != 1 or [words[-1] for words in lines if "VALIDSIG" in words[:1]] != [row["fingerprint"]]:
                yield f"the signature of {name} is not by {row['fingerprint']}"

    def engine(self, history: bytes) -> Iterator[str]:
        record, events = json.loads(self.members["history.json"]), json.loads(history)["events"]
        if digest("".join(canonical(event) + "\n" for event in events[: record["events"]])) != record["sha256"]:
            yield f"its first {record['events']} events have another digest"


def check(data: bytes, head: Json = None, sha256: Json = None, history: Json = None, gpg: Json = None) -> list[Line]:
    """Every check of a bundle or an export, in order; raises one of BROKEN for what is neither."""
    if parsed(data.split(b"\n")[0]):
        return _chain(verify_export(data, head))
    b, own = Bundle(data), digest(data)
    return [
        _line("archive", b.archive(), f"{len(b.members)} members as the manifest says, and nothing beside them"),
        _line("sha256", [f"it is {own}"] * (own != sha256) if sha256 else None, f"{own}; {ALONE}"),
        *_chain(verify_export(b.members["audit.jsonl"], head)),
        _line("receipts", b.chained(), f"{len(b.receipts)} in one chain, as the audit chain names them"),
        _line("approvals", b.approvals(), f"{len(b.accepted)} documents; requests, digests, receipts, verdicts agree"),
        _line("authorship", b.authorship(gpg) if gpg else None, "by the epochs' keys" if gpg else "gpg is not here"),
        _line("history", b.engine(history) if history else None, "Temporal's own events, given with --history"),
        _line("policy", None, "that these epochs were in force, and the workers' own signatures (no keys of theirs)"),
        _line("the law", None, f"no text is in a bundle; the stored units digest to {b.pins.get('writer_digest')}"),
    ]


def _chain(audit: AuditCheck) -> list[Line]:
    lines = [_line("audit chain", audit.problems, f"{audit.events} events, head {audit.head}")]
    lines += [_line("head", (), f"covers {audit.anchored}")] if audit.anchored != "nothing" else []
    return lines + [_line("head", None, text) for text in audit.unchecked]


def _line(what: str, problems: Iterable[str] | None, why: str) -> Line:
    try:
        faults = [*(problems or ())]
    except BROKEN as problem:
        faults = [f"cannot be read: {type(problem).__name__} {problem}"]
    return what, NOT_CHECKED if problems is None else FAILED if faults else OK, "; ".join(faults[:3]) or why


def main() -> int:
    """Check the file that the command line names, and print a line a check."""
    parser = argparse.ArgumentParser(description="Check a bundle or an export offline: exit 1 if a check failed.")
    parser.add_argument("file", type=Path)
    parser.add_argument("--head", help="head of the audit chain, kept elsewhere")
    parser.add_argument("--sha256", help="digest of the file, kept elsewhere")
    parser.add_argument("--history", type=Path, help="output of `temporal workflow show --output json`")
    given = parser.parse_args()
    try:
        history = given.history.read_bytes() if given.history else None
        lines = check(given.file.read_bytes(), given.head, given.sha256, history, shutil.which("gpg"))
    except (OSError, *BROKEN) as problem:
        parser.exit(2, f"{given.file}: no bundle and no audit export, or it cannot be read: {problem}\n")
    print("\n".join(f"{verdict:<11}  {what}: {why}" for what, verdict, why in lines))
    return int(any(verdict == FAILED for _, verdict, _ in lines))


if __name__ == "__main__":
    raise SystemExit(main())
