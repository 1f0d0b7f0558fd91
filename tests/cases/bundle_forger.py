"""Pure: a forger of evidence bundles who has the file, knows the format, and has nobody's key.

A forger edits members and then makes every digest and every chain fit again: the names of statements, keys, epochs and
policies, the challenges of requests, the receipts, the audit chain, the transitions that repeat it, the manifest.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from cutter.evidence import audit, offline
from cutter.evidence.offline import notation

Row = dict[str, Any]
Members = dict[str, bytes]

CUT, LIFECYCLE = "SG_cut_authz", "SG_lifecycle_authz"
WRITES = {CUT: "IG_cut_leg_a_execute", LIFECYCLE: "IG_lifecycle_enact_execute"}
ADDRESSED = ("keys", "epochs", "policies", "signed")
"""Folders whose members are named by their own digest."""


class Forger:
    """A bundle in the hands of somebody who may change all of it."""

    def __init__(self, data: bytes) -> None:
        members = offline.Bundle(data).members
        self.members: Members = {name: body for name, body in members.items() if name != offline.MANIFEST}
        self.run_id: str = json.loads(self.members["run.json"])["run_id"]
        self.law: str = self.rows("requests")[0]["tuple"]["writer_digest"]

    # --- members

    def rows(self, name: str) -> list[Row]:
        """The rows of a member of JSON lines."""
        return [json.loads(line) for line in self.members[f"{name}.jsonl"].splitlines()]

    def put(self, name: str, rows: list[Row]) -> None:
        self.members[f"{name}.jsonl"] = "".join(offline.canonical(row) + "\n" for row in rows).encode()

    def edit(self, name: str, change: Callable[[list[Row]], object]) -> None:
        """Change the rows of a member in place."""
        rows = self.rows(name)
        change(rows)
        self.put(name, rows)

    def drop(self, name: str, of: Callable[[Row], bool]) -> None:
        """Leave out the rows of a member that are so."""
        self.put(name, [row for row in self.rows(name) if not of(row)])

    def everywhere(self, old: str, new: str) -> None:
        """One text in place of another in all members and their names."""
        a, b = old.encode(), new.encode()
        self.members = {name.replace(old, new): body.replace(a, b) for name, body in self.members.items()}

    # --- the chains

    def bodies(self) -> list[Row]:
        """What the audit chain says, event by event."""
        return [json.loads(row["body"]) for row in self.rows("audit") if "body" in row]

    def tell(self, bodies: list[Row]) -> None:
        """An audit chain that says this instead; numbers and hashes fit."""
        events, previous = [], notation.digest(self.run_id)
        for seq, content in enumerate(bodies, start=1):
            body = json.dumps(content | {"seq": seq})
            made = notation.digest(previous + body)
            events.append({"chain": self.run_id, "seq": seq, "kind": content["kind"], "body": body,
                           "prev_hash": previous, "hash": made})  # fmt: skip
            previous = made
        self.members["audit.jsonl"] = audit.export(events)

    def forget(self, of: Callable[[Row], bool]) -> None:
        """Leave out the events that are so."""
        self.tell([body for body in self.bodies() if not of(body)])

    # --- what belongs to a gate

    def verdicts(self, gate: str) -> list[Row]:
        return [row for row in self.rows("verdicts") if row["gate"] == gate and row["accepted"]]

    def signed(self, gate: str) -> list[str]:
        """The digests of the statements that a gate consumed."""
        return [row["approval_sha256"] for row in self.rows("consumptions") if row["gate"] == gate]

    # --- made to fit again

    def sealed(self) -> bytes:
        """The bundle with every digest and chain as if the edits were the truth."""
        for folder in ADDRESSED:
            self._named(folder)
        for row in self.rows("requests"):
            self.everywhere(row["challenge"], notation.digest(offline.canonical(row["tuple"])))
        self._named("signed")
        self._receipts()
        self._decided()
        self.tell([self._heard(body) for body in self.bodies()])
        moves = [{n: e[n] for n in {*e} - {"at", "kind", "seq"}} for e in self.bodies() if "event_type" in e]
        views = [row for row in self.rows("transitions") if row["event_type"][:8] not in ("document", "approval")]
        rows = [{n: move[n] for n in {*move} - {"run_id"}} for move in moves]
        self.put("transitions", [*rows, *views])
        return offline.sealed(self.members)

    def _named(self, folder: str) -> None:
        ending = {"keys": ".asc", "signed": ".md"}.get(folder, ".yaml")
        for name in [member for member in self.members if member.startswith(f"{folder}/") and member.endswith(ending)]:
            old, new = name.removeprefix(f"{folder}/").removesuffix(ending), notation.digest(self.members[name])
            if old != new:
                self.everywhere(old, new)

    def _heard(self, event: Row) -> Row:
        """An event of a verdict names the signature that the bundle now has."""
        signature = self.members.get(f"signed/{event.get('approval_sha256')}.asc")
        if signature is None or "signature_sha256" not in event:
            return event
        return event | {"signature_sha256": notation.digest(signature)}

    def _receipts(self) -> None:
        previous, old = notation.digest(self.run_id), [row["receipt_hash"] for row in self.rows("receipts")]
        for place, before in enumerate(old):
            rows = self.rows("receipts")
            rows[place]["prev_hash"] = previous
            previous = rows[place]["receipt_hash"] = notation.digest(previous + rows[place]["sealed_body"])
            self.put("receipts", rows)
            if before != previous:
                self.everywhere(before, previous)

    def _decided(self) -> None:
        decisions = [row for row in self.rows("decisions") if row["of"] != "receipt"]
        for row in self.rows("receipts"):
            policy = json.loads(row["sealed_body"])["policy"] or {"decisions": []}
            decisions += [{"of": "receipt", "gate": row["gate"], "sha256": policy["sha256"], **decision}
                     for decision in policy["decisions"]]  # fmt: skip
        self.put("decisions", decisions)
