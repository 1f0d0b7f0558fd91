"""The query `sidecar` answers in seed 000 §5's schema at each pause, with what the workflow knows."""

from __future__ import annotations

import uuid
from dataclasses import replace
from typing import Any

import pytest

from activities.gates.runner import facts_of
from cutter.catalogue import GATES, Sovereign
from cutter.messages import OpenedRequest
from tests.unit.domain.test_sidecar import RUN, SHA, Sidecar
from workflows.run_display import RunDisplay
from workflows.run_sidecar import sidecar

NOW = "2026-11-21T09:05:00+00:00"
DECISION = str(uuid.UUID(int=3))


def display(passed: int = 0, **more: Any) -> RunDisplay:
    names = [gate.name for gate in GATES[:passed]]
    return RunDisplay(
        document_id="ICX-1", run_id=RUN, mode="live", created_by="olga", passed=dict.fromkeys(names, ""),
        began=dict.fromkeys(names, NOW), ended=dict.fromkeys(names, NOW), digests=dict.fromkeys(names, SHA),
        documents={name: f"kb/{name}.md" for name in names}, **more,
    )  # fmt: skip


def asked(gate: Sovereign) -> OpenedRequest:
    return OpenedRequest(
        status="requested", gate=gate.value, kb_id="kb/request.md", approval_kb_id="kb/approval.md", expires_utc=NOW,
        review_decision_id=DECISION if gate is Sovereign.LIFECYCLE else "",
    )  # fmt: skip


def seen(display: RunDisplay) -> Sidecar:
    return Sidecar.model_validate(sidecar(display))


def test_the_ids_of_the_source_are_there_once_the_first_gate_has_pinned_them() -> None:
    """Seed 000 §5."""
    pins = {"source_document_id": str(uuid.UUID(int=1)), "source_version_id": str(uuid.UUID(int=2)), "other": "x"}
    shown = seen(display(1, state="source_pinned", facts=facts_of(pins)))
    assert {"source_document_id": str(shown.source_document_id), "source_version_id": str(shown.source_version_id)} == {
        name: pins[name] for name in ("source_document_id", "source_version_id")
    }


@pytest.mark.parametrize("number", range(len(GATES) + 1))
def test_every_state_on_the_way_has_the_seeds_shape(number: int) -> None:
    """Seed 000 §5."""
    state = GATES[number - 1].to_state.value if number else "pending"
    state_file = seen(display(number, state=state))
    assert (state_file.state, state_file.created_by) == (state, "olga")
    assert state_file.created_utc.isoformat() == "2026-11-21T09:00:00+00:00"
    assert list(state_file.phases) == [gate.phase for gate in GATES[:number]]
    assert {phase.result for phase in state_file.phases.values()} <= {"passed"}


@pytest.mark.parametrize(("gate", "decision"), [(Sovereign.CUT, None), (Sovereign.LIFECYCLE, uuid.UUID(DECISION))])
def test_a_pause_shows_the_request_with_its_time_and_its_decision(gate: Sovereign, decision: uuid.UUID | None) -> None:
    paused = display(5, state="awaiting_cut_authorization", request=asked(gate), requested_utc=NOW)
    [record] = seen(paused).sovereign_approvals
    assert (record.gate, record.approval_kb_id, record.validated_utc) == (gate.value, None, None)
    assert record.requested_utc.isoformat() == NOW
    assert record.review_decision_id == decision
    assert seen(paused).context_pins.get("review_decision_id") == (str(decision) if decision else None)
    accepted = replace(paused, accepted={"alice": "kb/alice.md"}, validated={"kb/alice.md": NOW})
    [record] = seen(accepted).sovereign_approvals
    assert (record.approval_kb_id, record.validated_utc and record.validated_utc.isoformat()) == ("kb/alice.md", NOW)


def test_a_stop_shows_the_phase_that_failed_its_report_and_the_error() -> None:
    stopped = display(1, state="failed_mark", error={"outcome": "failed_mark", "reason": "why"})
    stopped.began["IG_mark"] = NOW
    stopped.documents["SG_failure_escalation"] = "kb/SG3.md"
    state_file = seen(stopped)
    assert (state_file.phases["mark"].result, state_file.phases["mark"].kb_doc_id) == ("failed", "kb/SG3.md")
    assert state_file.last_error == {"outcome": "failed_mark", "reason": "why"}


def test_before_the_run_is_registered_every_key_is_there() -> None:
    assert set(sidecar(RunDisplay(document_id="ICX-1"))) == set(Sidecar.model_fields)
