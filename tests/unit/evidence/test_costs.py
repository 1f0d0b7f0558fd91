"""The cost rollup of a run's evidence: what each phase took, as far as it is on record."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from cutter.catalogue import GATES
from cutter.projections.costs import SUMMED, rollup
from cutter.types import Json


def at(milliseconds: int) -> str:
    """A moment so many milliseconds after the run began, as PostgreSQL writes it."""
    seconds, rest = divmod(milliseconds, 1000)
    minutes, seconds = divmod(seconds, 60)
    return f"2026-11-21T09:{minutes:02}:{seconds:02}.{rest:03}+00:00"


def receipt(gate: str, sealed: int, **result: Any) -> Json:
    return {"gate": gate, "sealed_at": at(sealed), "sealed_body": json.dumps({"result": {"pins": {}, **result}})}


def attempt(gate: str, started: int, finished: int | None) -> Json:
    return {"gate": gate, "started_at": at(started), "finished_at": None if finished is None else at(finished)}


def action(gate: str, size: int | None = None) -> Json:
    return {"gate": gate, "response_metadata": {} if size is None else {"size_bytes": size}}


def facts(receipts: list[Json], attempts: list[Json], actions: tuple[Json, ...] = ()) -> Json:
    return {"run": {"created_at": at(0)}, "receipts": receipts, "attempts": attempts, "actions": list(actions)}


def test_waiting_is_what_a_phase_took_and_nobody_worked() -> None:
    """Leg A waited for a signature: its request was open from 300 to 60,000 ms."""
    costs = rollup(
        facts(
            [
                receipt("IG_source_pin", 100, cpu_ms=7),
                receipt("IG_cut_leg_a_execute", 60_400, pins={"units_created": 9}),
            ],
            [attempt("IG_source_pin", 20, 100), attempt("IG_cut_leg_a_execute", 60_000, 60_400)],
            (action("SG_cut_authz", 5000), action("IG_cut_leg_a_execute", 900), action("IG_cut_leg_a_execute")),
        )
    )
    first, leg_a = costs["phases"]
    assert first == {
        "phase": "source_pin", "wall_ms": 100, "active_ms": 80, "waiting_ms": 20, "cpu_ms": 7, "attempts": 1,
        "actions": 0, "bytes": 0, "rows": 0,
    }  # fmt: skip
    assert leg_a == {
        "phase": "cut_leg_a", "wall_ms": 60_300, "active_ms": 400, "waiting_ms": 59_900, "cpu_ms": None, "attempts": 1,
        "actions": 3, "bytes": 5900, "rows": 9,
    }  # fmt: skip
    assert costs["total"] == {
        "wall_ms": 60_400, "active_ms": 480, "waiting_ms": 59_920, "cpu_ms": 7, "attempts": 2, "actions": 3,
        "bytes": 5900, "rows": 9,
    }  # fmt: skip
    assert costs["providers"] == []


def test_a_phase_that_was_tried_and_not_passed_costs_too() -> None:
    tried = [attempt("IG_mark", 200, 500), attempt("IG_mark", 900, 1000), attempt("IG_mark", 1200, None)]
    (_, mark) = rollup(facts([receipt("IG_source_pin", 100)], [attempt("IG_source_pin", 0, 100), *tried]))["phases"]
    assert (mark["wall_ms"], mark["active_ms"], mark["waiting_ms"], mark["attempts"]) == (900, 400, 500, 3)


def test_a_run_that_has_not_begun_costs_nothing() -> None:
    assert rollup(facts([], [])) == {"phases": [], "total": dict.fromkeys(SUMMED, 0), "providers": []}


@given(st.lists(st.tuples(st.integers(0, 5000), st.integers(0, 5000)), min_size=1, max_size=len(GATES)))
def test_the_phases_tile_the_run_from_its_beginning(spans: list[tuple[int, int]]) -> None:
    """(time before the attempt, time of the attempt) of each gate in order. Seed 003 §8."""
    now, receipts, attempts = 0, [], []
    for gate, (before, active) in zip(GATES, spans, strict=False):
        attempts.append(attempt(gate.name, now + before, now + before + active))
        now += before + active
        receipts.append(receipt(gate.name, now))
    total = rollup(facts(receipts, attempts))["total"]
    assert (total["wall_ms"], total["active_ms"]) == (now, sum(active for _, active in spans))
    assert total["waiting_ms"] == total["wall_ms"] - total["active_ms"]
