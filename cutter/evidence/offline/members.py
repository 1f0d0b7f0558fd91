"""Pure: the members of a bundle, and step 1: the archive holds exactly those that its manifest and its facts name."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cached_property
from typing import Any as Json

from cutter.evidence.offline.notation import canonical, digest, epoch_file, inside, parsed, strict, unlike

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
