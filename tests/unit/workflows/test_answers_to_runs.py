"""What an activity of a run may answer: what its workflow could not carry on with is no answer at all."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import pytest

from cutter import limits
from cutter.messages import (
    BackupRefreshed,
    BatchHalted,
    Caps,
    Escalated,
    GateOutcome,
    JudgeResult,
    OpenedRequest,
    RefusalRecorded,
    RequestEnded,
    Resumed,
    RunFinished,
    RunView,
    StopSet,
    VoidResult,
)
from workflows.activity_calls import decode_result

RUN = "ictr-20261121T090000Z-0199f1de-7c3d-7e4f-8a9b-0c1d2e3f4a5b"
GATE = {"gate": "IG_mark", "status": "passed", "attempt": 1, "state": "marked", "facts": {"candidate_count": "12"}}
REQUEST = {"status": "requested", "gate": "SG_cut_authz", "expires_utc": "2026-11-22T09:00:00Z"}
VERDICT = {"accepted": True, "code": "accepted", "reason": "", "kb_id": "a.md"}
STATE = {"state": "stopped_stop", "code": "resumed", "reason": "", "kb_doc_id": "", "next_command": ""}
"""An answer as histories from before hold it; each kind takes from it what it has."""
AFTER_A_CHANGE: list[tuple[type[Any], set[str]]] = [
    (StopSet, {"state", "code"}), (Resumed, {"state", "code", "reason"}), (RequestEnded, {"state", "code"}),
    (RefusalRecorded, {"code"}), (Escalated, {"state", "code", "kb_doc_id", "next_command"}),
    (RunFinished, {"state", "code"}), (VoidResult, {"state", "code", "reason"}), (BatchHalted, {"code"}),
]  # fmt: skip
"""Each kind of answer, and its fields."""
SEEN = {
    "run_id": RUN, "document_id": "ICX-1", "mode": "live", "state": "marked", "caps": asdict(Caps()),
    "sealed": ["IG_source_pin", "IG_mark"], "facts": {"region_sha": "a" * 64},
}  # fmt: skip
SPANS = ("hard_seconds", "heartbeat_seconds", "worker_wait_seconds", "lane_wait_seconds", "ttl_cut_seconds")
LONG = "x" * (limits.ANSWER_CHARACTERS_MAX + 1)
NAME = "x" * (limits.NAME_CHARACTERS_MAX + 1)
MANY = {f"n{number}": "1" for number in range(limits.ANSWER_ENTRIES_MAX + 1)}


def caps(**changed: Any) -> dict[str, Any]:
    return {**asdict(Caps()), **changed}


@pytest.mark.parametrize(
    ("kind", "answer"),
    [(GateOutcome, GATE), (BackupRefreshed, GATE), (OpenedRequest, REQUEST), (JudgeResult, VERDICT), (RunView, SEEN),
     *((kind, STATE) for kind, _ in AFTER_A_CHANGE),
     (OpenedRequest, {"status": "refused", "gate": "SG_cut_authz", "code": "run_ended"})],
)  # fmt: skip
def test_a_run_s_own_answers_are_understood(kind: type[Any], answer: dict[str, Any]) -> None:
    assert decode_result(answer, kind) is not None


@pytest.mark.parametrize(
    "wrong",
    [
        {"gate": NAME}, {"state": NAME}, {"code": LONG}, {"reason": LONG}, {"kb_doc_id": LONG}, {"sha256": LONG},
        {"attempt": -1}, {"attempt": 2**31}, {"facts": MANY}, {"facts": {NAME: "1"}}, {"facts": {"region_sha": NAME}},
        {"facts": {"candidate_count": "many"}}, {"facts": {"candidate_count": "9" * 30}},
        {"facts": {"candidate_count": "²"}}, {"facts": {"candidate_count": ""}},
    ],
)  # fmt: skip
@pytest.mark.parametrize("kind", [GateOutcome, BackupRefreshed])
def test_a_gate_s_outcome_beyond_its_bounds_is_not_understood(wrong: dict[str, Any], kind: type[Any]) -> None:
    assert decode_result({**GATE, **wrong}, kind) is None


def test_workers_of_earlier_builds_understand_the_answer_about_a_new_backup() -> None:
    """They decode it as the outcome of a gate."""
    answer = asdict(BackupRefreshed(gate="IG_backup", status="passed", facts={"backup_sha256": "a" * 64}))
    assert decode_result(answer, GateOutcome) == GateOutcome(**answer)


@pytest.mark.parametrize(
    "wrong",
    [
        {"gate": NAME}, {"code": NAME}, {"reason": LONG}, {"kb_id": LONG}, {"challenge": LONG}, {"accepted": MANY},
        {"accepted": {LONG: "a.md"}}, {"accepted": {"alice": LONG}}, {"offered": [LONG]}, {"offered": list(MANY)},
        {"approvers_needed": 0}, {"approvers_needed": limits.APPROVALS_A_GATE_MAX + 1}, {"expires_utc": ""},
        {"expires_utc": "soon"}, {"expires_utc": "2026-11-22T09:00:00"}, {"expires_utc": "9999-12-31T23:59:59Z"},
    ],
)  # fmt: skip
def test_a_request_beyond_its_bounds_is_not_understood(wrong: dict[str, Any]) -> None:
    assert decode_result({**REQUEST, **wrong}, OpenedRequest) is None


@pytest.mark.parametrize(
    "wrong",
    [
        {"run_id": "../x"}, {"document_id": "x" * 300}, {"state": NAME}, {"outcome": NAME}, {"sealed": [NAME]},
        {"sealed": list(MANY)}, {"next_command": LONG}, {"facts": {"candidate_count": "many"}},
        *({"caps": caps(**{name: span})} for name in SPANS for span in (0, -1, 1e300, float("inf"), float("nan"))),
        *({"caps": caps(retry_delays_seconds=delays)} for delays in ([], [0], [1e9], [1] * 51)),
        *({"caps": caps(soft_seconds=soft)} for soft in ({NAME: 1}, {"mark": -1})),
    ],
)  # fmt: skip
def test_a_view_of_a_run_beyond_its_bounds_is_not_understood(wrong: dict[str, Any]) -> None:
    assert decode_result({**SEEN, **wrong}, RunView) is None


@pytest.mark.parametrize("wrong", [{"state": NAME}, {"reason": LONG}, {"code": LONG}, {"approver": LONG}])
def test_a_verdict_beyond_its_bounds_is_not_understood(wrong: dict[str, Any]) -> None:
    assert decode_result({**VERDICT, **wrong}, JudgeResult) is None


@pytest.mark.parametrize(("kind", "fields"), AFTER_A_CHANGE)
def test_an_answer_after_a_change_beyond_its_bounds_is_not_understood(kind: type[Any], fields: set[str]) -> None:
    assert set(asdict(kind(**{name: STATE[name] for name in fields}))) == fields
    for name in fields:
        assert decode_result({**STATE, name: NAME if name == "state" else LONG}, kind) is None
