"""What the effect policy decides in the course of a day, and what of that a request shows."""

from __future__ import annotations

from dataclasses import replace

import pytest

from cutter.policy.rules import by_time, never_allowed, restrictions
from tests.unit.policy.test_policy_rules import PUT, WRITE, rules

AT_NIGHT = "operation: create_units, window: 22:00-05:00, verdict"
BY_DAY = "operation: create_units, window: 05:00-22:00, verdict: deny"


@pytest.mark.parametrize(
    ("listed", "parts"),
    [
        (("verdict: allow",), [(None, "allow")]),
        ((f"{AT_NIGHT}: needs_approval(high)", "operation: create_units, verdict: deny"),
         [("05:00-22:00", "deny"), ("22:00-05:00", "needs_approval")]),
        (("window: 06:00-12:00, verdict: allow", "window: 10:00-14:00, verdict: allow"),
         [("06:00-12:00", "allow"), ("12:00-14:00", "allow"), ("14:00-06:00", "deny")]),
        (("connector: kb, window: 06:00-12:00, verdict: deny", "verdict: allow"), [(None, "allow")]),
    ],
)  # fmt: skip
def test_a_day_has_as_many_parts_as_the_policy_has_decisions(
    listed: tuple[str, ...], parts: list[tuple[str | None, str]]
) -> None:
    day = by_time(rules(*listed), WRITE)
    assert [(str(part) if part else None, decision.verdict.value) for part, decision in day] == parts


@pytest.mark.parametrize(
    ("listed", "never"),
    [
        (("document: ICX-LAW-2026-001, verdict: deny", "verdict: allow"), True),
        (("tenant: north, verdict: deny", "verdict: allow"), True),
        (("mode: live, verdict: deny", "verdict: allow"), True),
        (("candidates: 40.., verdict: deny", "verdict: allow"), True),
        ((f"{AT_NIGHT}: deny", BY_DAY, "verdict: allow"), True),
        ((f"{AT_NIGHT}: allow", "connector: database, verdict: deny", "verdict: allow"), False),
        ((BY_DAY, "verdict: allow"), False),
        (("candidates: 41.., verdict: deny", "verdict: allow"), False),
    ],
)
def test_only_a_denial_that_no_hour_lifts_is_for_ever(listed: tuple[str, ...], never: bool) -> None:
    """Seed 003 §5."""
    for hour in (3, 12):
        at_hour = replace(WRITE, at=WRITE.at.replace(hour=hour))
        denial = never_allowed(rules(*listed), (replace(at_hour, connector="kb", operation="put"), at_hour))
        assert (denial is not None) is never
        assert denial is None or "r" in denial.rule


def test_a_request_names_what_the_clock_decides_and_nothing_else() -> None:
    policy = rules(f"{AT_NIGHT}: needs_approval(high)", "operation: create_units, verdict: deny", "verdict: allow")
    place = "database create_units at IG_cut_leg_a_execute"
    assert restrictions(policy, (WRITE, PUT)) == (
        f"05:00-22:00 UTC: policy.yaml line 4: rule r1 says deny to {place}; "
        f"22:00-05:00 UTC: policy.yaml line 3: rule r0 says needs_approval(high) to {place}"
    )
    assert restrictions(rules("mode: live, verdict: deny"), (WRITE,)).startswith("always: policy.yaml line 3: rule r0")
    assert restrictions(rules("connector: database, verdict: needs_approval(high)"), (WRITE,)) == "", "its tier says so"
