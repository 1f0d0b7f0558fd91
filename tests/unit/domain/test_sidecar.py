"""state.json and transitions.jsonl: exactly the shape of seed 000 §5 and seed 004, whatever became of the run."""

from __future__ import annotations

import json
import uuid
from datetime import datetime
from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from cutter.catalogue import BY_NAME, GATES, State
from cutter.domain.digests import sha256_hex
from cutter.domain.run_record import RunSidecar
from cutter.gates import structural_verify
from cutter.projections import state_file
from cutter.projections import state_file as sidecar
from cutter.types import Json
from tests.unit.evidence import sidecars as rows
from tests.unit.gates import passing

RUN = "ictr-20261121T090000Z-0190a5b2-7c3d-7e4f-8a9b-0c1d2e3f4a5b"
SHA = sha256_hex("x")

Digest = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]


class Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=False)


class Artifact(Strict):
    path: str
    sha256: Digest


class Additional(Strict):
    """Ours: what the seed's record has no field for."""

    gate_invariants: dict[str, bool]
    probe_names: dict[str, list[str]]


class PhaseRecord(Strict):
    """Seed 000 §5, PhaseRecord, and `additional`."""

    phase: Literal[tuple(gate.phase for gate in GATES)]  # type: ignore[valid-type]
    started_utc: datetime
    finished_utc: datetime | None
    result: Literal["passed", "failed", "running"]
    gate_invariants: dict[str, bool]
    kb_doc_id: str | None
    artifacts: list[Artifact]
    additional: Additional


class ApprovalRecord(Strict):
    """Seed 000 §5, ApprovalRecord; of an open request that nobody has approved, approval and validation are null."""

    gate: Literal["SG_cut_authz", "SG_lifecycle_authz"]
    requested_utc: datetime
    approval_kb_id: str | None
    review_decision_id: uuid.UUID | None
    validated_utc: datetime | None


class Sidecar(Strict):
    """Seed 000 §5, top level; `status` is §4's "sidecar finalized (status: success)"."""

    run_id: str
    created_utc: datetime
    created_by: str
    document_id: str
    source_document_id: uuid.UUID | None
    source_version_id: uuid.UUID | None
    mode: Literal["dryrun", "live"]
    state: Annotated[str, StringConstraints(pattern="|".join(
        [*(f"^{state.value}$" for state in State), "^(failed|stopped|voided)_[a-z0-9_]+$"]
    ))]  # fmt: skip
    status: str | None
    phases: dict[str, PhaseRecord]
    sovereign_approvals: list[ApprovalRecord]
    idempotency_keys: dict[str, Digest]
    context_pins: dict[str, str | int | float | None]
    last_error: Json | None
    schema_version: Literal[1] = Field(1)


def receipt(gate: str, **pins: Any) -> Json:
    return rows.receipt(1) | {
        "gate": gate, "run_id": RUN, "attempt": 1, "payload_sha256": SHA, "receipt_hash": SHA, "role": "cutter_read",
        "opened_at": "2026-11-21T09:00:01.000000Z", "sealed_at": "2026-11-21T09:00:02.000000Z",
        "result": {"gate": gate, "invariants": [{"name": "one", "ok": True, "observed": "1", "expected": "1"}],
                   "pins": pins, "notes": []},
    }  # fmt: skip


def attempt(gate: str, outcome: str | None = "passed", n: int = 1, **more: Any) -> Json:
    return rows.attempt(1) | {
        "gate": gate, "n": n, "outcome": outcome, "started_at": f"2026-11-21T09:00:0{n}.000000+00:00",
        "finished_at": f"2026-11-21T09:00:0{n}.500000+00:00" if outcome else None, "report": None, **more,
    }  # fmt: skip


def database(state: str = "pending", sealed: int = 0, **more: Any) -> Json:
    """What fn_run_sidecar answers for a run with that many sealed gates."""
    gates = [gate.name for gate in GATES[:sealed]]
    pins: dict[str, Json] = {
        "IG_source_pin": {"docprefix": "LAW", "content_sha256": SHA},
        "IG_backup": {"backup_artifact": f"{RUN}/pre_write.gpg", "backup_sha256": SHA},
        "IG_cutplan": {"writer_digest": SHA, "section_type_cardinality": {"article": 2}},
    }
    whole = rows.sidecar(state)
    return {
        "latch": whole["latch"], "audit_head": whole["audit_head"], "step_facts": whole["step_facts"],
        "run": whole["run"] | {
                "run_id": RUN, "created_at": "2026-11-21T09:00:00+00:00", "starter": "olga", "document_id": "ICX-1",
                "source_document_id": str(uuid.UUID(int=1)) if sealed else None,
                "source_version_id": str(uuid.UUID(int=2)) if sealed else None, "mode": "live", "state": state,
                "outcome": None, "last_error": None} | more.pop("run", {}),
        "receipts": [receipt(gate, **pins.get(gate, {})) for gate in gates],
        "attempts": [attempt(gate) for gate in gates],
        "documents": [
            {"kind": "gate_report", "subject": gate, "kb_id": f"kb/{gate}.md", "sha256": SHA} for gate in gates
        ],
        "requests": [], "verdicts": [], "consumptions": [], "transitions": [],
        "approval_moves": [], **more,
    }  # fmt: skip


def state_of(answer: Json) -> Sidecar:
    return Sidecar.model_validate_json(sidecar.render_state(RunSidecar.of(answer)))


@pytest.mark.parametrize("number", range(len(GATES) + 1))
def test_every_state_on_the_way_has_the_seeds_shape(number: int) -> None:
    """Seed 000 §5."""
    state = GATES[number - 1].to_state.value if number else "pending"
    state_file = state_of(database(state, number))
    assert state_file.state == state
    assert list(state_file.phases) == sorted(gate.phase for gate in GATES[:number])
    assert all(record.result == "passed" for record in state_file.phases.values())
    assert set(state_file.idempotency_keys) == set(state_file.phases)
    assert state_file.status == ("success" if number == len(GATES) else None)


FIELDS = {
    "top": "run_id created_utc created_by document_id source_document_id source_version_id mode state phases "
           "sovereign_approvals idempotency_keys context_pins last_error schema_version",
    "phase": "phase started_utc finished_utc result gate_invariants kb_doc_id artifacts",
    "approval": "gate requested_utc approval_kb_id review_decision_id validated_utc",
}  # fmt: skip


@pytest.mark.parametrize(
    ("record", "field"),
    [
        pytest.param(record, field, id=f"{record}.{field}")
        for record, names in FIELDS.items()
        for field in names.split()
    ],
)
def test_each_record_of_the_sidecar_has_the_seeds_field(record: str, field: str) -> None:
    """Seed 000 §5."""
    answer = database("awaiting_cut_authorization", 5, requests=[asked("SG_cut_authz")])
    written = json.loads(sidecar.render_state(RunSidecar.of(answer)))
    records = {"top": written, "phase": written["phases"]["mark"], "approval": written["sovereign_approvals"][0]}
    assert field in records[record]


@pytest.mark.parametrize(
    "state",
    [*(state.value for state in State), "failed_mark", "failed_rejected", "stopped_hard_cap", "voided_x"],
)
def test_every_state_and_family_has_the_seeds_shape(state: str) -> None:
    """Seed 000 §1."""
    assert state_of(database(state, 3)).state == state


@pytest.mark.parametrize(("outcome", "state"), [("rehearsed", "awaiting_cut_authorization"), ("skipped", "pending")])
def test_a_run_that_wrote_nothing_says_its_outcome(outcome: str, state: str) -> None:
    assert state_of(database(state, run={"outcome": outcome, "mode": "dryrun"})).status == outcome


@pytest.mark.parametrize(
    ("outcome", "state", "result"),
    [
        (None, "source_pinned", "running"),
        ("unavailable", "source_pinned", "running"),
        ("lane_busy", "awaiting_cut_authorization", "running"),
        ("approval_refused", "awaiting_cut_authorization", "running"),
        ("unavailable", "stopped_unavailable_database", "failed"),
        (None, "stopped_soft_cap_mark", "failed"),
        ("failed", "failed_mark", "failed"),
        ("drift", "stopped_drift_row_count", "failed"),
        ("rehearsed", "awaiting_cut_authorization", "passed"),
        ("anything new", "source_pinned", "failed"),
    ],
)
def test_a_phase_without_a_receipt_says_what_became_of_its_last_attempt(
    outcome: str | None, state: str, result: str
) -> None:
    """Seed 000 §5."""
    first = attempt("IG_mark", "unavailable")
    answer = database(state, attempts=[first, attempt("IG_mark", outcome, 2)])
    record = state_of(answer).phases["mark"]
    assert record.result == result
    assert record.started_utc.second == 1
    assert (record.finished_utc is None) == (result == "running" or outcome is None)


def test_a_refused_phase_shows_which_invariants_were_false() -> None:
    values = {"observed": "1", "expected": "1"}
    report = {"invariants": [{"name": "a", "ok": True, **values}, {"name": "b", "ok": False, **values}]}
    answer = database("failed_mark", attempts=[attempt("IG_mark", "failed", report=report)])
    assert state_of(answer).phases["mark"].gate_invariants == {"a": True, "b": False}


def test_the_backup_is_an_artifact_of_the_run_folder_named_pre_write() -> None:
    """Seed 000 §5."""
    answer = database("pre_write_backup_taken", number := BY_NAME["IG_backup"].number)
    run_sidecar, artifacts = RunSidecar.of(answer), state_of(answer).phases["backup"].artifacts
    assert [artifact.path for artifact in artifacts] == [f"phase-{number:02}.md", "pre_write.gpg"]
    assert artifacts[1].sha256 == SHA
    assert artifacts[0].sha256 == sha256_hex(state_file.render_gate(run_sidecar.run, run_sidecar.receipts[-1]))


def test_a_document_that_was_not_put_yet_is_named_all_the_same() -> None:
    assert state_of(database("source_pinned", 1)).phases["source_pin"].kb_doc_id == "kb/IG_source_pin.md"
    assert state_of(database("source_pinned", 1, documents=[])).phases["source_pin"].kb_doc_id is None


def test_pins_are_flat_and_the_newest_wins() -> None:
    answer = database("cutplan_ok", 3)
    answer["receipts"][2]["result"]["pins"]["content_sha256"] = sha256_hex("later")
    pins = state_of(answer).context_pins
    assert "section_type_cardinality" not in pins
    assert pins["content_sha256"] == sha256_hex("later")


def asked(gate: str, *, decision: str | None = None, status: str = "requested", **more: Any) -> Json:
    return rows.request() | {"request_id": gate, "gate": gate, "status": status, "requested_at": "2026-11-21T09:04:00Z",
            "challenge": f"challenge of {gate}", "review_decision_id": decision, **more}  # fmt: skip


def approved(gate: str, sha256: str, **more: Any) -> Json:
    return rows.verdict() | {"approval_sha256": sha256, "kb_id": f"kb/{gate}.md", "gate": gate,
            "challenge": f"challenge of {gate}", "recorded_at": "2026-11-21T09:05:00Z", **more}  # fmt: skip


def used(gate: str, sha256: str, decision: str | None) -> tuple[Json, Json, Json]:
    return (
        rows.consumption() | {"gate": gate, "approval_sha256": sha256, "request_id": gate},
        approved(gate, sha256),
        asked(gate, decision=decision, status="approved"),
    )


@pytest.mark.parametrize("gate", ["SG_cut_authz", "SG_lifecycle_authz"])
def test_a_pause_shows_the_request_that_waits_with_its_time_and_its_decision(gate: str) -> None:
    """Seeds 000 §3, 000 §5: the id is captured when the request is made."""
    decision = str(uuid.UUID(int=3)) if gate == "SG_lifecycle_authz" else None
    state_file = state_of(database("write_verified", 9, requests=[asked(gate, decision=decision)]))
    [record] = state_file.sovereign_approvals
    assert (record.gate, record.approval_kb_id, record.validated_utc) == (gate, None, None)
    assert record.requested_utc.isoformat() == "2026-11-21T09:04:00+00:00"
    assert str(record.review_decision_id) == str(decision)
    assert state_file.context_pins.get("review_decision_id") == decision


@pytest.mark.parametrize("challenge", ["challenge of SG_cut_authz", None])
def test_an_approval_that_waits_for_a_second_one_is_shown_with_its_request(challenge: str | None) -> None:
    """One that was signed before the night names no challenge."""
    verdicts = [
        approved("SG_cut_authz", "a", challenge=challenge),
        approved("SG_cut_authz", "b", challenge="of an earlier request"),
        approved("SG_cut_authz", "c", decision="resume"),
        approved("SG_lifecycle_authz", "d"),
    ]
    answer = database("awaiting_cut_authorization", 5, requests=[asked("SG_cut_authz")], verdicts=verdicts)
    [record] = state_of(answer).sovereign_approvals
    assert record.approval_kb_id == "kb/SG_cut_authz.md"
    assert record.validated_utc is not None


@pytest.mark.parametrize("status", ["rejected", "expired", "canceled"])
def test_a_request_that_ended_without_approval_waits_for_nobody(status: str) -> None:
    answer = database("failed_rejected", 5, requests=[asked("SG_cut_authz", status=status)])
    assert state_of(answer).sovereign_approvals == []


def test_a_failed_phase_names_the_stop_route_report_and_its_own_report_in_the_run_folder() -> None:
    """Seed 000 §5."""
    report = {"invariants": [{"name": "region|sha", "ok": False, "observed": "1", "expected": "2"}]}
    failed = attempt("IG_mark", "failed", report=report, reason="the region differs")
    stops = [
        {"kind": "stop_route", "subject": "SG_failure_escalation", "kb_id": f"kb/SG3-{n}.md", "sha256": SHA}
        for n in (1, 2)
    ]
    answer = database("failed_mark", 1, attempts=[attempt("IG_source_pin"), failed])
    answer["documents"] += stops
    record = state_of(answer).phases["mark"]
    files = sidecar.phase_reports(RunSidecar.of(answer))
    assert record.kb_doc_id == "kb/SG3-2.md"
    assert [(artifact.path, artifact.sha256) for artifact in record.artifacts] == [
        ("phase-02.md", sha256_hex(files["phase-02.md"]))
    ]
    text = files["phase-02.md"].decode()
    assert "outcome: FAIL (failed)" in text
    assert "reason: the region differs" in text
    assert "| region\\|sha | 1 | 2 | ✗ |" in text


@pytest.mark.parametrize("report", [None, [], "text", {"invariants": "x"}, {"invariants": [1, {}, {"name": 3}]}])
def test_a_failed_phase_with_a_malformed_report_is_shown_all_the_same(report: Any) -> None:
    answer = database("failed_mark", attempts=[attempt("IG_mark", "failed", report=report)])
    assert state_of(answer).phases["mark"].gate_invariants == ({} if report is None else {"malformed": False})
    assert b"outcome: FAIL" in sidecar.phase_reports(RunSidecar.of(answer))["phase-02.md"]


def test_the_structural_probe_is_exactly_the_seeds_eleven_booleans_and_ours_is_kept_apart() -> None:
    """Seed 000 §4."""
    report = structural_verify.evaluate(passing.STRUCTURAL_VERIFY).as_json()
    answer = database("structural_verified", BY_NAME["IG_structural_verify"].number)
    answer["receipts"][-1]["result"] = report
    record = state_of(answer).phases["structural_verify"]
    assert len(record.gate_invariants) == 11
    assert record.additional.gate_invariants == {"parents_match_plan": True}
    assert sorted(record.additional.probe_names) == [f"OD-W{number}" for number in range(2, 10)]
    assert state_of(answer).phases["mark"].additional.probe_names == {}


def test_a_phase_that_still_runs_has_no_report() -> None:
    answer = database("source_pinned", attempts=[attempt("IG_mark", "unavailable")])
    assert sidecar.phase_reports(RunSidecar.of(answer)) == {}


def test_each_consumed_approval_is_a_record() -> None:
    """Seed 000 §5."""
    made = [used("SG_cut_authz", "a", None), used("SG_lifecycle_authz", "b", str(uuid.UUID(int=3)))]
    consumptions, verdicts, requests = (list(part) for part in zip(*made, strict=True))
    refused = rows.verdict(accepted=False) | {"approval_sha256": "a", "kb_id": "kb/bad.md"}
    answer = database(
        "closeout_reported", len(GATES), consumptions=consumptions, requests=requests, verdicts=[refused, *verdicts]
    )
    records = state_of(answer).sovereign_approvals
    assert [record.gate for record in records] == ["SG_cut_authz", "SG_lifecycle_authz"]
    assert [record.approval_kb_id for record in records] == ["kb/SG_cut_authz.md", "kb/SG_lifecycle_authz.md"]
    assert [record.review_decision_id for record in records] == [None, uuid.UUID(int=3)]


def test_the_same_answer_gives_the_same_bytes_in_any_order_of_keys() -> None:
    answer = database("marked", 2)
    turned = json.loads(json.dumps(answer, sort_keys=True))
    assert sidecar.render_state(RunSidecar.of(answer)) == sidecar.render_state(RunSidecar.of(turned))
    assert sidecar.render_state(RunSidecar.of(answer)).endswith(b"}\n")


def event(second: int, before: str, after: str) -> str:
    return json.dumps({
        "timestamp": f"2026-11-21T09:00:{second:02d}.000000Z", "event_type": "document_run_state_transition",
        "severity": "info",
        "entity_id": RUN, "from_state": before, "to_state": after, "trigger": "IG_x",
        "metadata": {"receipt_hash": SHA},
        "run_id": RUN, "kind": "transition", "seq": second, "at": f"2026-11-21T09:00:{second:02d}.000000Z",
    })  # fmt: skip


def test_transitions_have_exactly_the_fields_of_the_event_schema_in_the_order_of_time() -> None:
    """Seed 004 "Event Schema"."""
    answer = database(transitions=[event(1, "pending", "source_pinned"), event(2, "source_pinned", "marked")])
    lines = [json.loads(line) for line in sidecar.render_transitions(RunSidecar.of(answer)).decode().splitlines()]
    fields = ["timestamp", "event_type", "severity", "entity_id", "from_state", "to_state", "trigger", "metadata"]
    assert all(list(line) == fields for line in lines)
    assert [line["timestamp"] for line in lines] == sorted(line["timestamp"] for line in lines)
    moves = [line for line in lines if line["event_type"] == "document_run_state_transition"]
    assert [line["to_state"] for line in moves] == ["source_pinned", "marked"]
    views = {(line["event_type"], line["to_state"]) for line in lines}
    assert {("request_state_transition", "queued"), ("run_state_transition", "running")} < views
    assert {("task_state_transition", "queued"), ("task_state_transition", "running")} < views
