"""Pure: step 5: the receipts agree with each other and with the audit chain."""

from __future__ import annotations

from collections.abc import Iterator

from cutter.evidence.offline.members import Members
from cutter.evidence.offline.notation import digest, unlike

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
