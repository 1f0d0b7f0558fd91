"""A run in the words of seed 003: its steps by number and tool, its approvals with their tier."""

from __future__ import annotations

import pytest

from cutter.catalogue import GATES
from cutter.domain.run_record import RunSidecar
from cutter.projections.lifecycle_view import run_as
from tests.unit.evidence import sidecars as made


def test_each_step_has_its_index_and_its_tool() -> None:
    """Seed 003 §1.2."""
    steps = run_as("run", RunSidecar.of(made.sidecar("marked", gates=made.through("IG_mark"))))["steps"]
    assert [step["step_index"] for step in steps] == [1, 2, 3]
    assert [step["tool_name"] for step in steps] == [gate.phase for gate in GATES[:3]]


@pytest.mark.parametrize(("tier", "two"), [("low", False), ("medium", False), ("high", True), (None, False)])
def test_an_approval_has_its_tier_and_says_whether_two_people_are_asked_for(tier: str | None, two: bool) -> None:
    """Seed 003 §1.3."""
    answer = made.sidecar("awaiting_cut_authorization", gates=made.through("IG_grant_probe"))
    answer["requests"] = [{**made.request(), "tier": tier}]
    [approval] = run_as("run", RunSidecar.of(answer))["approvals"]
    assert (approval["tier"], approval["two_person"], approval["status"]) == (tier, two, "requested")
