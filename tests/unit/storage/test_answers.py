"""Answers of the database's functions as records."""

from __future__ import annotations

from cutter.storage.gate_transaction import Decided, Drift, NotOpened
from cutter.storage.runs import Registration
from cutter.types import Json

DRIFT: Json = {"dimension": "grants", "fingerprint": "f" * 64, "diff": ["a is gone", "b is new"], "expected": 1}


def test_a_refusal_has_its_code() -> None:
    assert NotOpened.of({"status": "refused", "code": "run_ended"}) == NotOpened(
        status="refused", code="run_ended", reason="", drift=None
    )


def test_a_stop_has_its_kind_and_its_reason() -> None:
    stop = NotOpened.of({"status": "stopped", "kind": "cancel", "reason": None})
    assert (stop.code, stop.reason) == ("cancel", "")
    assert NotOpened.of({"status": "stopped", "kind": "stop", "reason": "wrong text"}).reason == "wrong text"


def test_a_drift_names_its_differences_and_keeps_the_whole_answer() -> None:
    drift = NotOpened.of({"status": "drift", "drift": DRIFT}).drift
    assert drift == Drift(dimension="grants", fingerprint="f" * 64, lines=("a is gone", "b is new"), report=DRIFT)
    assert drift.reason == f"fingerprint {'f' * 64}: a is gone; b is new"


def test_a_field_that_an_answer_lacks_has_its_default() -> None:
    assert Decided.of({"status": "unknown_run"}) == Decided(status="unknown_run")
    assert Decided.of({"status": "voided_before", "state": "voided_x"}).code == ""
    decided = Decided.of({"status": "more_needed", "have": 1, "needed": 2, "state": "stopped_x", "code": "c"})
    assert (decided.have, decided.needed, decided.state, decided.decision) == (1, 2, "stopped_x", "")


def test_a_registration_ignores_the_fields_that_nobody_reads() -> None:
    answer = {"status": "registered", "run_id": "r", "document_id": "ICX-1", "mode": "live", "state": "pending"}
    assert Registration.of({**answer, "caps": {}}).require_run() == "r"
