"""Pure: step 1: the archive holds exactly the members that its manifest and its facts name."""

from __future__ import annotations

import json
from collections.abc import Iterator

from cutter.evidence.offline.members import MANIFEST, Members, sealed
from cutter.evidence.offline.notation import digest, inside, parsed, unlike

ROWS = "acknowledgements actions attempts audit consumptions decisions documents orders receipts refusals requests"
FIXED = {f"{name}.jsonl" for name in f"{ROWS} revocations signatures transitions verdicts voids".split()}
FIXED |= {"run.json", "source.json", "outputs.json", "costs.json", "history.json"}
LAW = {"law.md", "law.jsonl"}
"""The two members that an export with the law adds to the sealed ones."""


class Archive(Members):
    """Step 1. It yields its problems or raises one of BROKEN."""

    def archive(self) -> Iterator[str]:
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
