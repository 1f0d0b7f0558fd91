"""Answers of the query `batch_facts`, made by hand: documents at many places, with as much as a test needs."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from cutter.catalogue import BY_NAME, GATES, State
from cutter.types import Json

BATCH_ID = "0199f1de-7c3d-7e4f-8a9b-0c1d2e3f4a5b"
NOON = datetime(2026, 11, 21, 9, tzinfo=UTC)
AWAITING = {gate.number: gate.from_state for gate in GATES if gate.sovereign}
SOVEREIGN = {gate.number: gate.sovereign.value for gate in GATES if gate.sovereign}
AT_SG1, AT_SG2 = (number - 1 for number in SOVEREIGN)
"""How many gates a run has passed that waits there for people."""
WRITTEN, ALL = AT_SG1 + 1, len(GATES)
BEFORE_BACKUP = BY_NAME["IG_backup"].number - 1
FINGERPRINT = "C0FFEE" * 6 + "C0DE"


def at(seconds: float) -> str:
    """A database time, so many seconds after the batch began."""
    return (NOON + timedelta(seconds=seconds)).isoformat()


def run_id(number: int) -> str:
    return f"ictr-20261121T090000Z-0190a5b2-7c3d-7e4f-8a9b-{number:012x}"


class Facts:
    """A batch that is filled document by document; times are seconds after its beginning."""

    def __init__(self, **batch: Any) -> None:
        self.batch: Json = {
            "batch_id": BATCH_ID, "queue_sha256": "9" * 64, "mode": "live", "policy": "default", "unattended": False,
            "lanes": 4, "weights": {}, "hard_cap_seconds": 36_000.0, "created_by": "olga", "starter": "op",
            "created_at": at(0),
            "state": "batch_planning", "state_at": at(0), "halted": None, "halted_reason": None, "began_at": at(0),
            "ended_at": None, **batch,
        }  # fmt: skip
        self.items: list[Json] = []
        self.made: Json = {
            "runs": [], "receipts": {}, "attempts": {}, "moves": {}, "batch_moves": [], "requests": [],
            "approvals": [], "refused": [], "queue": [],
        }  # fmt: skip

    def whole(self) -> Json:
        halted = 1.0 if self.batch["halted"] else None
        view = {"batch": self.batch, "age_seconds": 1.0, "halted_seconds": halted, "items": self.items}
        return {"view": view, **self.made}

    def add(
        self,
        name: str,
        *,
        gates: int = 0,
        state: str = "",
        start: float = 0.0,
        pace: float = 1.0,
        wait: float = 600.0,
        outcome: str | None = None,
        started: bool = True,
        **more: Any,
    ) -> Json:
        """A document whose first `gates` gates are sealed, `pace` seconds each, with a wait for people at each of two.

        `state` is where it ended up when that is off its way.
        """  # fmt: skip
        number = len(self.items) + 1
        run = run_id(number) if started else None
        item: Json = {
            "document_id": name, "position": number, "priority": 100, "depends_on": [], "critical": False,
            "tenant": "default", "source_uri": None, "decided": None, "reason": None, "run_id": run, "state": None,
            "outcome": outcome, "ended": False, "state_at": None, "created_at": None, "ended_at": None,
            "included": False, "kept_out": False, "enacted": False,
            "latched": False, "gate": None, "request_kb_id": None,
            "expires_at": None, "signed": 0, "approved": False, "queue": None, "queue_code": None,
            "queue_state": None, "wrote": gates >= WRITTEN, "stopped_by": None, "corrected": False, "open_run": None,
            "queue_kb_id": None, "law_by": None, "exec_worker": True,
            "failed_run": None, "scope": None, "actor": None, "latch_kind": None, **more,
        }  # fmt: skip
        self.items.append(item)
        if run is not None:
            self._run(item, run, gates, state, start, pace, wait)
        return item

    def queue(self, item: Json, queue: str, *, left: bool = False, reason: str = "it was refused") -> None:
        self.made["queue"].append({
            "batch_id": BATCH_ID, "document_id": item["document_id"], "run_id": item["run_id"], "queue": queue,
            "state": item["state"], "code": item["state"], "reason": reason, "entered_at": at(60),
            "left_at": at(90) if left else None, "left_as": "x" if left else None,
            "kb_id": f"knowledge/dev/batches/{BATCH_ID}/{queue}/{item['run_id']}.md",
        })  # fmt: skip
        if not left:
            item |= {"queue": queue, "queue_state": item["state"]}

    def _run(self, item: Json, run: str, gates: int, state: str, start: float, pace: float, wait: float) -> None:
        now, moves, tries, sealed = start, [], [], {}
        for gate in GATES[: gates + 1]:
            if gate.number in AWAITING:
                moves.append([at(now), AWAITING[gate.number].value])
                self._request(item, run, gate.number, now, signed=gate.number <= gates)
                if gate.number > gates:
                    break
                now += wait
            if gate.number > gates:
                break
            tries.append(self.attempt(gate.number, now, now + pace))
            now += pace
            sealed[gate.name] = at(now)
            moves.append([at(now), gate.to_state.value])
        if state:
            now += pace
            moves.append([at(now), state])
        last = moves[-1][1] if moves else State.PENDING.value
        ended = last == State.CLOSEOUT_REPORTED or last.startswith(("failed_", "voided_")) or item["outcome"]
        moves = [[*move, move[0]] for move in moves]
        item |= {"state": last, "state_at": at(now), "created_at": at(start), "ended": bool(ended),
                 "ended_at": at(now) if ended else None}  # fmt: skip
        self.made["runs"].append({
            "run_id": run, "document_id": item["document_id"], "state": last, "outcome": item["outcome"],
            "created_at": at(start), "ended_at": item["ended_at"],
        })  # fmt: skip
        self.made["moves"][run], self.made["attempts"][run], self.made["receipts"][run] = moves, tries, sealed

    @staticmethod
    def attempt(number: int, start: float, end: float | None, *, n: int = 1, outcome: str = "passed") -> Json:
        return {
            "gate": GATES[number - 1].name, "n": n, "started_at": at(start), "outcome": outcome,
            "finished_at": None if end is None else at(end), "lease_owner": "host:1", "next_eligible_at": None,
        }  # fmt: skip

    def _request(self, item: Json, run: str, number: int, now: float, *, signed: bool) -> None:
        gate = SOVEREIGN[number]
        self.made["requests"].append({
            "run_id": run, "document_id": item["document_id"], "gate": gate, "n": 1, "requested_at": at(now),
            "status": "approved" if signed else "requested", "expires_at": at(now + 3600),
            "kb_id": f"knowledge/dev/laws/{item['document_id'].lower()}/v1/SG-request.md", "request_sha256": "4" * 64,
            "writer_digest": "6" * 64, "units": 27,
        })  # fmt: skip
        if signed:
            digest = f"{item['position']:08x}{number:08x}" * 4
            self.made["approvals"].append({
                "run_id": run, "gate": gate, "decision": "approve", "approver": "alice", "fingerprint": FINGERPRINT,
                "approval_sha256": digest, "recorded_at": at(now + 1), "consumed_at": at(now + 5), "revoked": False,
            })  # fmt: skip


def night(names: Sequence[str], **batch: Any) -> Facts:
    """One of everything: enacted, waiting at both gates, failed, stopped, blocked, skipped, pending, retried."""
    facts = Facts(policy="quarantine", **batch)
    enacted = facts.add(names[0], gates=ALL, critical=True)
    facts.add(names[1], gates=AT_SG1, start=2)
    facts.add(names[2], gates=AT_SG2, start=4, depends_on=[names[0]])
    failed = facts.add(names[3], gates=1, state="failed_mark", start=6, reason="region_sha_rebuilt: two differ")
    facts.queue(failed, "quarantine_queue")
    facts.add(names[4], gates=WRITTEN, state="stopped_drift_units", start=8, reason="rows were changed")
    facts.add(names[5], started=False, decided="blocked", depends_on=[names[3]], reason="it depends on another")
    facts.add(names[6], started=False, decided="skipped", reason="law already")
    facts.add(names[7], started=False)
    late = facts.add(names[8], gates=AT_SG1, start=9)
    facts.queue(late, "human_review_queue", reason="there is no approval beside the queue")
    retried = facts.add(names[9], gates=BEFORE_BACKUP, start=10)["run_id"]
    facts.made["attempts"][retried] += [
        Facts.attempt(BEFORE_BACKUP + 1, 13, 14, outcome="unavailable"),
        Facts.attempt(BEFORE_BACKUP + 1, 40, None, n=2, outcome=""),
    ]  # fmt: skip
    facts.made["batch_moves"].append(json.dumps({
        "timestamp": at(1), "event_type": "batch_state_transition", "severity": "info", "entity_id": BATCH_ID,
        "from_state": "batch_pending", "to_state": "batch_planning", "trigger": "items", "metadata": {},
    }))  # fmt: skip
    assert enacted["ended"]
    return facts


def thousand() -> Facts:
    """A thousand documents, nearly all of them law; some that depend on others."""
    facts = Facts(state="batch_failed_partial", ended_at=at(30_000))
    for number in range(1000):
        needs = [f"ICX-LAW-2026-{number - 1:04d}"] if number % 50 in (1, 2, 3) else []
        gates, state = (2, "failed_cutplan") if number % 97 == 5 else (ALL, "")
        made = facts.add(
            f"ICX-LAW-2026-{number:04d}", gates=gates, state=state, start=number * 20, depends_on=needs,
            wait=500 + number % 300,
        )  # fmt: skip
        if state:
            facts.queue(made, "error_queue")
    return facts
