"""Sidecars as `fn_run_sidecar` answers them, made by hand: a run at some state, with as much as a test needs."""

from __future__ import annotations

import json
from typing import Any

from cutter.catalogue import BY_NAME, GATES
from cutter.types import Json

RUN_ID = "ictr-20261121T090000Z-0190a5b2-7c3d-7e4f-8a9b-0c1d2e3f4a5b"
DOCUMENT = "ICX-LAW-2026-001"
FOLDER = "knowledge/dev/laws/icx-law-2026-001/v1"
APPROVAL = "a" * 64


def at(seconds: float) -> str:
    """A database time, so many seconds after nine o'clock."""
    return f"2026-11-21T09:{int(seconds) // 60:02d}:{seconds % 60:09.6f}+00:00"


def sidecar(state: str, *, gates: int = 0, **run: Any) -> Json:
    """A run in `state` whose first `gates` gates are sealed, each after two seconds."""
    return {
        "run": {
            "run_id": RUN_ID, "document_id": DOCUMENT, "mode": "live", "state": state, "outcome": None, "starter": "op",
            "batch_id": None, "amends": None, "created_at": at(0), "state_at": at(59), "ended_at": None,
            "last_error": None, "source_document_id": None, "source_version_id": None, "docprefix": DOCUMENT,
            "tenant": "default", "priority": 100, "caps": {}, "first_execution_id": None, **run,
        },
        "latch": {"stopped": False, "kind": None, "reason": None, "set_by": None, "set_at": None},
        "step_facts": {
            "run_id": RUN_ID, "document_id": DOCUMENT, "state": state, "outcome": run.get("outcome"),
            "wrote": gates >= through("IG_cut_leg_a_execute"),
            "enacted": gates >= through("IG_lifecycle_enact_execute"),
        },
        "receipts": [receipt(number) for number in range(1, gates + 1)],
        "attempts": [attempt(number) for number in range(1, gates + 1)],
        "requests": [],
        "verdicts": [],
        "consumptions": [],
        "documents": [document(number) for number in range(1, gates + 1)],
        "transitions": [move(number) for number in range(1, gates + 1)],
        "approval_moves": [],
        "audit_head": "f" * 64,
    }  # fmt: skip


def through(gate: str) -> int:
    """How many gates a run has sealed with this one, however many gates there are."""
    return BY_NAME[gate].number


def receipt(number: int) -> Json:
    gate = GATES[number - 1]
    return {
        "run_id": RUN_ID, "gate": gate.name, "role": gate.role.value, "attempt": 1, "policy": None,
        "payload_sha256": "1" * 64, "receipt_hash": "2" * 64,
        "opened_at": at(2 * number), "sealed_at": at(2 * number + 1.5),
        "result": {"invariants": [{"name": f"holds_{number}", "ok": True, "observed": "1", "expected": "1"}],
                   "pins": {f"pin_{number}": str(number)}, "notes": []},
    }  # fmt: skip


def attempt(number: int, *, n: int = 1, outcome: str | None = "passed", **more: Any) -> Json:
    return {
        "gate": GATES[number - 1].name, "n": n, "outcome": outcome, "reason": None, "lease_owner": "host:1:cutter",
        "started_at": at(2 * number), "finished_at": at(2 * number + 1), "next_eligible_at": None, "report": None,
        **more,
    }  # fmt: skip


def document(number: int) -> Json:
    gate = GATES[number - 1]
    return {"kb_id": f"{FOLDER}/{gate.report}.md", "kind": "gate_report", "subject": gate.name, "sha256": "3" * 64}


def move(number: int) -> str:
    gate = GATES[number - 1]
    return transition(gate.from_state.value, gate.to_state.value, gate.name, seconds=2 * number + 1.5)


def transition(before: str, after: str, trigger: str, *, seconds: float, reason: str | None = None) -> str:
    """The body of an audit event of kind `transition`."""
    return json.dumps(
        {"timestamp": at(seconds), "event_type": "document_run_state_transition", "severity": "info",
         "entity_id": RUN_ID, "from_state": before, "to_state": after, "trigger": trigger,
         "metadata": {} if reason is None else {"reason": reason}}
    )  # fmt: skip


def verdict(*, accepted: bool = True, decision: str = "approve", reason: str = "") -> Json:
    return {
        "gate": "SG_cut_authz", "accepted": accepted, "decision": decision if accepted else None, "code": "accepted",
        "reason": reason, "challenge": "5" * 64, "approver": "an" if accepted else None,
        "fingerprint": "C0FFEE" if accepted else None,
        "approval_sha256": APPROVAL, "kb_id": f"{FOLDER}/SG1-cut-authz-approval.md", "recorded_at": at(30),
        "not_after": at(3000), "statement": {"reason": reason} if accepted else None,
    }  # fmt: skip


def request(status: str = "requested") -> Json:
    return {
        "request_id": "r1", "gate": "SG_cut_authz", "n": 1, "status": status, "requested_at": at(20),
        "expires_at": at(3400), "kb_id": f"{FOLDER}/SG1-cut-authz-request.md", "request_sha256": "4" * 64,
        "challenge": "5" * 64,
        "tuple": {"writer_digest": "6" * 64, "candidate_count": 27}, "review_decision_id": None, "tier": None,
    }  # fmt: skip


def consumption() -> Json:
    return {
        "approval_sha256": APPROVAL, "consumed_at": at(40), "gate": "SG_cut_authz", "request_id": "r1",
        "approver": "an", "fingerprint": "C0FFEE", "writer_digest": "6" * 64,
    }  # fmt: skip
