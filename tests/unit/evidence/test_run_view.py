"""One run as people read it, and its page: complete, escaped, alone."""

from __future__ import annotations

import json
import re
from dataclasses import asdict
from typing import Any

import pytest

from cutter.catalogue import GATES, State
from cutter.domain.run_record import RunSidecar
from cutter.domain.visible import json_text
from cutter.projections import report
from cutter.projections.run_view import (
    ReachedState,
    ShownRefusal,
    ShownRun,
    folder_of,
    run_view,
    seconds_between,
    short_time,
)
from tests.unit.evidence import sidecars as made


def full() -> ShownRun:
    """A run with one of everything."""
    sidecar = made.sidecar("awaiting_cut_authorization", gates=made.through("IG_grant_probe"))
    sidecar["requests"] = [made.request()]
    sidecar["verdicts"] = [made.verdict(), made.verdict(accepted=False, reason="the signature does not fit")]
    sidecar["consumptions"] = [made.consumption()]
    sidecar["attempts"].append(made.attempt(4, n=2, outcome="unavailable", reason="kb: away"))
    return run_view(
        RunSidecar.of(sidecar), [ShownRefusal(at=made.at(10), what="dance", gate="", code="unknown", reason="no")]
    )


def test_states_carry_when_they_were_reached_and_the_rest_is_open() -> None:
    states = run_view(RunSidecar.of(made.sidecar("marked", gates=made.through("IG_mark")))).states
    assert [state.state for state in states] == [state.value for state in State]
    assert [bool(state.at) for state in states] == [True, True, True] + [False] * (len(State) - 3)


@pytest.mark.parametrize("state", ["stopped_stop", "failed_mark", "voided_cancelled"])
def test_a_state_off_the_way_stands_behind_the_fourteen_with_its_reason(state: str) -> None:
    view = run_view(RunSidecar.of(made.sidecar(state, last_error={"reason": "because"})))
    assert view.states[-1] == ReachedState(state=state, at=made.at(59))
    assert view.reason == "because"


def test_a_skipped_run_names_the_run_that_made_the_law() -> None:
    sidecar = made.sidecar("pending", outcome="skipped", ended_at=made.at(9))
    sidecar["step_facts"]["law_by"] = "ictr-first"
    view = run_view(RunSidecar.of(sidecar))
    assert view.reason == "this version is already enacted, by run ictr-first"
    assert view.next == "cutter report ictr-first"


def test_the_reason_of_a_stop_is_over_when_the_run_goes_on() -> None:
    assert (
        run_view(
            RunSidecar.of(made.sidecar("marked", gates=made.through("IG_mark"), last_error={"reason": "because"}))
        ).reason
        is None
    )


def test_a_gate_shows_its_duration_attempts_invariants_and_document() -> None:
    gate = run_view(RunSidecar.of(made.sidecar("marked", gates=made.through("IG_mark")))).gates[1]
    assert (gate.outcome, gate.seconds, gate.attempts) == ("passed", 1.5, 1)
    assert gate.invariants[0]["name"] == "holds_2"
    assert gate.document is not None
    assert gate.document.kb_id.endswith(GATES[1].report + ".md")


@pytest.mark.parametrize(
    ("attempt", "ended", "outcome"),
    [
        ({"outcome": None, "finished_at": None}, None, "running"),
        ({"outcome": None, "finished_at": None}, made.at(50), "lost"),
        ({"outcome": "failed"}, None, "failed"),
    ],
)
def test_a_gate_without_a_receipt_shows_its_newest_attempt(
    attempt: dict[str, Any], ended: str | None, outcome: str
) -> None:
    sidecar = made.sidecar("pending", ended_at=ended)
    sidecar["attempts"] = [made.attempt(1, outcome="unavailable"), made.attempt(1, n=2, **attempt)]
    gate = run_view(RunSidecar.of(sidecar)).gates[0]
    assert (gate.outcome, gate.attempts) == (outcome, 2)


def test_retries_are_the_attempts_that_did_not_pass_and_those_after_them() -> None:
    sidecar = made.sidecar("pending")
    sidecar["attempts"] = [made.attempt(1, outcome="unavailable", reason="kb"), made.attempt(1, n=2), made.attempt(2)]
    assert [(retry.gate, retry.attempt) for retry in run_view(RunSidecar.of(sidecar)).retries] == [
        ("IG_source_pin", 1),
        ("IG_source_pin", 2),
    ]


def test_an_approval_shows_key_digest_and_whether_it_was_consumed() -> None:
    (approval,) = full().approvals
    assert (approval.fingerprint, approval.approval_sha256) == ("C0FFEE", made.APPROVAL)
    assert approval.consumed_at == made.at(40)


def test_refused_documents_and_messages_stand_in_one_list_by_time() -> None:
    assert [refusal.code for refusal in full().refusals] == ["unknown", "accepted"]


def test_a_latched_stop_shows_who_set_it() -> None:
    sidecar = made.sidecar("stopped_stop")
    sidecar["latch"] |= {"stopped": True, "kind": "stop", "reason": "wrong text", "set_by": "op"}
    view = run_view(RunSidecar.of(sidecar))
    assert (view.stop and view.stop.kind, view.stop and view.stop.set_by) == ("stop", "op")
    assert view.needs == "signed resume"


def test_times_are_shown_to_the_second_in_utc() -> None:
    assert short_time("2026-11-21T10:00:00.9+01:00") == "2026-11-21 09:00:00Z"
    assert short_time(None) == ""
    assert seconds_between(made.at(1), made.at(3.25)) == 2.25
    assert seconds_between(None, made.at(1)) is None


def test_the_folder_is_the_one_that_most_documents_share() -> None:
    assert folder_of(["a/x.md", "b/y.md", "a/z.md"]) == "a"
    assert folder_of([]) == ""


def page(view: ShownRun) -> str:
    return report.render(view).decode()


def test_the_report_has_everything_of_the_view() -> None:
    shown = page(full())
    wanted = [
        made.RUN_ID, made.DOCUMENT, "C0FFEE", made.APPROVAL, "4" * 64, "5" * 64, "6" * 64, "f" * 64, "unavailable",
        "kb: away", "the signature does not fit", "dance", "3" * 64, *(gate.name for gate in GATES),
        *(f"holds_{number}" for number in range(1, 6)), *(state.value for state in State),
    ]  # fmt: skip
    assert [text for text in wanted if text not in shown] == []


@pytest.mark.parametrize("depth", [1, 15])
def test_a_deep_value_is_shown_to_programs_as_it_was_read(depth: int) -> None:
    """PostgreSQL refuses a value that is nested deeper (fn_json_problem)."""
    sidecar = made.sidecar("marked", gates=made.through("IG_mark"))
    sidecar["receipts"][0]["result"]["pins"]["x"] = json.loads("[" * depth + "1" + "]" * depth)
    shown = run_view(RunSidecar.of(sidecar)).as_json()
    assert json_text(shown["gates"][0]["pins"]["x"]) == "[" * depth + "1" + "]" * depth


def test_the_form_for_programs_is_that_of_the_record() -> None:
    view = full()
    whole = asdict(view)
    whole["timeline"] = [{"from" if name == "from_state" else name: value for name, value in move.items()}
                         for move in whole["timeline"]]  # fmt: skip
    assert view.as_json() == whole


def test_the_report_stands_alone() -> None:
    shown = page(full())
    assert re.findall(r"(?i)<script|<link|<img|<iframe|\bsrc=|\bhref=(?!.#)|url\(|@import|https?:|//[a-z]", shown) == []
    assert "default-src 'none'" in shown


@pytest.mark.parametrize("hostile", ["<script>alert(1)</script>", '"><img src=x onerror=alert(1)>', "{{ 7 * 7 }}"])
def test_nothing_that_came_from_outside_is_markup(hostile: str) -> None:
    sidecar = made.sidecar("stopped_stop", starter=hostile, last_error={"reason": hostile}, batch_id=hostile)
    sidecar["latch"] |= {"stopped": True, "kind": "stop", "reason": hostile, "set_by": hostile}
    sidecar["transitions"] = [made.transition("pending", "stopped_stop", hostile, seconds=3, reason=hostile)]
    sidecar["verdicts"] = [made.verdict(reason=hostile), made.verdict(accepted=False, reason=hostile)]
    shown = page(
        run_view(RunSidecar.of(sidecar), [ShownRefusal(at=made.at(1), what=hostile, gate="", code="x", reason=hostile)])
    )
    assert "<script" not in shown
    assert "<img" not in shown
    assert "49" not in re.sub(r"\d\d:\d\d|[0-9a-f]{8,}", "", shown)


@pytest.mark.parametrize("state", ["pending", "closeout_reported", "failed_mark", "stopped_stop", "voided_x"])
def test_every_kind_of_run_has_a_page_and_the_same_run_the_same_bytes(state: str) -> None:
    view = run_view(RunSidecar.of(made.sidecar(state)))
    assert report.render(view) == report.render(view)


@pytest.mark.parametrize(
    ("state", "outcome", "tone"),
    [
        ("closeout_reported", None, "good"),
        ("source_pinned", "skipped", "good"),
        ("failed_mark", None, "bad"),
        ("stopped_stop", None, "held"),
        ("voided_x", None, "held"),
        ("marked", None, "open"),
    ],
)
def test_the_colour_of_a_state(state: str, outcome: str | None, tone: str) -> None:
    assert report.tone(run_view(RunSidecar.of(made.sidecar(state, outcome=outcome)))) == tone


def test_the_timeline_says_how_long_each_state_lasted() -> None:
    steps = report.steps(run_view(RunSidecar.of(made.sidecar("marked", gates=made.through("IG_mark")))))
    assert [(step.to, lasted) for step, lasted in steps] == [("pending", 3.5), ("source_pinned", 2.0), ("marked", None)]


@pytest.mark.parametrize(
    ("seconds", "text"), [(None, ""), (0.534, "0.53 s"), (42.4, "42 s"), (250, "4 min 10 s"), (7500, "2 h 5 min")]
)
def test_durations_are_readable(seconds: float | None, text: str) -> None:
    assert report.duration(seconds) == text
