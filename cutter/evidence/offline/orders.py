"""Pure: step 6, continued: people signed what they ordered, and what the effect policy demanded them for."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any as Json

from cutter.evidence.offline.members import OPENED, Members
from cutter.evidence.offline.notation import inside, statement
from cutter.evidence.offline.output import hexed
from cutter.evidence.offline.receipts import GATES

FEWEST = {"low": 1, "medium": 1, "high": 2}
"""The fewest people that each tier needs. A policy epoch may ask for more."""
PARDONS = [f"stopped_error_{gate}" for gate in ("cut_leg_a", "lifecycle_enact", "closeout")]
"""The stops at which an order that nobody signed is noticed. A resume that is signed there accepts what was before."""


class Orders(Members):
    """Steps 6.6 and 6.7. They yield their problems or raise one of BROKEN."""

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
