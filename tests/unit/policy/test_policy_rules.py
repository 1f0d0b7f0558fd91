"""What policy.yaml decides: the first rule that matches, and in every other case a denial with its line."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone

import pytest

from cutter.approvals.policy import Tier
from cutter.policy.rules import EffectPolicy, InvalidPolicy, ProposedAction, Verdict, decide, explain, permit, shadowed
from cutter.policy.rules_file import parse_rules

ALLOW, DENY, ASK = Verdict

WRITE = ProposedAction(
    connector="database", operation="create_units", gate="IG_cut_leg_a_execute", document_id="ICX-LAW-2026-001",
    tenant="north", mode="live", candidates=40, at=datetime(2026, 3, 1, 23, 30, tzinfo=UTC),
)  # fmt: skip
PUT = replace(WRITE, connector="kb", operation="put", gate="IG_mark", candidates=None)
OF_A_BATCH = replace(PUT, gate=None, document_id=None, tenant=None)


def rules(*each: str) -> EffectPolicy:
    listed = "".join(f"  - {{name: r{n}, {fields}}}\n" for n, fields in enumerate(each))
    text = f"schema: cutter-policy/1\nrules:\n{listed}" if each else "schema: cutter-policy/1\nrules: []\n"
    made = parse_rules(text.encode())
    assert isinstance(made, EffectPolicy), made
    return made


@pytest.mark.parametrize(
    ("matcher", "action", "matches"),
    [
        ("connector: database", WRITE, True),
        ("connector: kb", WRITE, False),
        ("connector: [kb, database]", WRITE, True),
        ("operation: create_units", WRITE, True),
        ("operation: [enact_units, record_cut]", WRITE, False),
        ("gate: IG_cut_leg_a_execute", WRITE, True),
        ("gate: IG_lifecycle_enact_execute", WRITE, False),
        ("gate: IG_mark", OF_A_BATCH, False),
        ('document: "*"', WRITE, True),
        ("document: ICX-LAW-*", WRITE, True),
        ("document: ICX-LAW", WRITE, False),
        ("document: LAW-*", WRITE, False),
        ("document: [A-*, '*-001']", WRITE, True),
        ('document: "*"', OF_A_BATCH, False),
        ("tenant: north", WRITE, True),
        ("tenant: [south, east]", WRITE, False),
        ("tenant: north", OF_A_BATCH, False),
        ("mode: live", WRITE, True),
        ("mode: dryrun", WRITE, False),
        ("candidates: 40..40", WRITE, True),
        ("candidates: ..39", WRITE, False),
        ("candidates: 41..", WRITE, False),
        ("candidates: 40..", WRITE, True),
        ("candidates: ..40", WRITE, True),
        ("window: 23:30-23:31", WRITE, True),
        ("window: 23:00-23:30", WRITE, False),
        ("window: 22:00-06:00", WRITE, True),
        ("window: 06:00-22:00", WRITE, False),
        ("connector: database, mode: live, tenant: south", WRITE, False),
    ],
)
def test_a_rule_matches_by_every_field_that_it_has(matcher: str, action: ProposedAction, matches: bool) -> None:
    """Seed 003 §5."""
    decision = decide(rules(f"{matcher}, verdict: deny", "verdict: allow"), action)
    assert (decision.verdict, decision.rule) == ((DENY, "r0") if matches else (ALLOW, "r1"))


def test_a_window_is_of_the_day_in_utc_whatever_zone_the_clock_tells() -> None:
    elsewhere = replace(WRITE, at=datetime(2026, 3, 2, 4, 30, tzinfo=timezone(timedelta(hours=5))))
    assert decide(rules("window: 23:00-00:00, verdict: allow"), elsewhere).verdict is ALLOW


def test_the_first_rule_that_matches_decides_and_is_named_with_its_line() -> None:
    decision, passed = explain(
        rules("mode: dryrun, verdict: allow", "connector: database, verdict: needs_approval(high)", "verdict: deny"),
        WRITE,
    )
    assert (decision.verdict, decision.rule, decision.line, decision.tier) == (ASK, "r1", 4, Tier.HIGH)
    assert "policy.yaml line 4: rule r1 says needs_approval(high) to database create_units" in decision.why
    assert [(mismatch.rule.name, mismatch.why) for mismatch in passed] == [("r0", "mode is live, not dryrun")]


def test_what_no_rule_matches_is_denied() -> None:
    for policy in (rules(), rules("connector: kb, verdict: allow")):
        decision = decide(policy, WRITE)
        assert (decision.verdict, decision.rule, decision.line) == (DENY, "", 0)
        assert "no rule matches database create_units at IG_cut_leg_a_execute" in decision.why


def test_a_rule_that_asks_for_what_is_not_known_denies_and_is_not_passed_over() -> None:
    decision = decide(rules("connector: kb, candidates: 1001.., verdict: deny", "verdict: allow"), PUT)
    assert (decision.verdict, decision.rule, decision.line) == (DENY, "r0", 3)
    assert "not known" in decision.why
    # A rule that does not match anyway asks for nothing.
    assert decide(rules("mode: dryrun, candidates: 1.., verdict: deny", "verdict: allow"), PUT).rule == "r1"


def test_a_broken_file_denies_with_its_first_line() -> None:
    broken = parse_rules(b"schema: cutter-policy/1\nrules:\n  - {name: a, verdict: allow}\n  - {name: b, verdict: x}\n")
    assert isinstance(broken, InvalidPolicy)
    decision = decide(broken, WRITE)
    assert (decision.verdict, decision.rule, decision.line) == (DENY, "b", 4)
    assert decision.why.startswith("policy.yaml line 4: rule b: verdict must be")


def test_a_permit_keeps_every_decision_its_first_denial_and_the_highest_tier() -> None:
    policy = rules(
        "operation: enact_units, verdict: needs_approval(high)", "connector: database, verdict: needs_approval(low)",
        "gate: IG_mark, verdict: deny", "verdict: allow",
    )  # fmt: skip
    enact = replace(WRITE, operation="enact_units", gate="IG_lifecycle_enact_execute")
    asked = permit(policy, [WRITE, enact])
    assert (asked.denied, asked.tier) == (None, Tier.HIGH)
    refused = permit(policy, [WRITE, PUT, replace(PUT, gate="IG_cutplan")])
    assert refused.denied is not None
    assert (refused.denied.rule, refused.tier) == ("r2", Tier.LOW)
    kept = refused.record()
    assert kept["sha256"] == policy.sha256
    fields = ("connector", "verdict", "rule", "line")
    assert [tuple(decision[field] for field in fields) for decision in kept["decisions"]] == [
        ("database", "needs_approval", "r1", 4), ("kb", "deny", "r2", 5), ("kb", "allow", "r3", 6),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("earlier", "later", "hidden"),
    [
        ("verdict: allow", "connector: kb, verdict: deny", True),
        ("connector: [kb, database], verdict: allow", "connector: kb, mode: live, verdict: deny", True),
        ("connector: kb, verdict: allow", "connector: [kb, database], verdict: deny", False),
        ("connector: kb, verdict: allow", "verdict: deny", False),
        ("candidates: ..5, verdict: allow", "connector: kb, verdict: deny", False),
        ("candidates: ..5, verdict: allow", "connector: kb, candidates: ..5, verdict: deny", True),
        ("window: 01:00-02:00, verdict: allow", "window: 01:00-03:00, verdict: deny", False),
    ],
)
def test_a_rule_behind_one_that_decides_in_its_place_is_found(earlier: str, later: str, hidden: bool) -> None:
    pairs = [(rule.name, other.name) for rule, other in shadowed(rules(earlier, later))]
    assert pairs == ([("r1", "r0")] if hidden else [])
