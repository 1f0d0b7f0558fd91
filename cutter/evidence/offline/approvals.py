"""IO: steps 6 to 8 and 10: people's statements, their signatures, the policy epochs, and Temporal's history."""

from __future__ import annotations

import json
import subprocess
import tempfile
import time
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any as Json

from cutter.evidence.offline.members import OPENED, Members
from cutter.evidence.offline.notation import canonical, digest, hexed, inside, signed_over, statement, unlike
from cutter.evidence.offline.receipts import GATES

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
