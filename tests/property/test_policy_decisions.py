"""The policy over anything: it never raises, it allows by a rule alone, and it is blind to rules behind that one."""

from __future__ import annotations

from datetime import UTC, datetime
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from cutter.approvals.policy import Tier
from cutter.policy.command import OPERATIONS, PLACES
from cutter.policy.rules import EffectPolicy, InvalidPolicy, ProposedAction, Verdict, by_time, decide, explain, shadowed
from cutter.policy.rules_file import parse_rules

ACTIONS = st.builds(
    lambda operation, **more: ProposedAction(connector=operation.connector, operation=operation.name, **more),
    st.sampled_from(OPERATIONS),
    at=st.datetimes(datetime(2026, 1, 1), datetime(2027, 1, 1), timezones=st.just(UTC)),
    gate=st.none() | st.sampled_from(PLACES),
    document_id=st.none() | st.from_regex(r"[A-Z0-9-]{3,12}", fullmatch=True),
    tenant=st.none() | st.sampled_from(["default", "north"]),
    mode=st.none() | st.sampled_from(["live", "dryrun"]),
    candidates=st.none() | st.integers(0, 10_000),
)

_FIELDS = {
    "connector": st.sampled_from(sorted({operation.connector.value for operation in OPERATIONS})),
    "operation": st.sampled_from([operation.name for operation in OPERATIONS]),
    "gate": st.sampled_from(PLACES),
    "document": st.from_regex(r"'[A-Z0-9*-]{1,12}'", fullmatch=True),
    "tenant": st.sampled_from(["default", "north"]),
    "mode": st.sampled_from(["live", "dryrun"]),
    "candidates": st.sampled_from(["..10", "10..", "5..5000"]),
    "window": st.sampled_from(["00:00-12:00", "22:00-06:00"]),
}
_VERDICT = st.sampled_from(["allow", "deny", *(f"needs_approval({tier})" for tier in Tier)])
RULES = st.lists(st.fixed_dictionaries({"verdict": _VERDICT}, optional=_FIELDS), max_size=6)


def written(rules: list[dict[str, str]]) -> bytes:
    lines = ["schema: cutter-policy/1", "rules:" if rules else "rules: []"]
    for number, rule in enumerate(rules):
        lines += [f"  - name: r{number}", *(f"    {name}: {value}" for name, value in rule.items())]
    return "\n".join([*lines, ""]).encode()


@given(st.binary(max_size=300) | RULES.map(written), ACTIONS)
def test_any_bytes_are_a_policy_or_deny_everything(data: bytes, action: ProposedAction) -> None:
    policy = parse_rules(data)
    decision = decide(policy, action)
    assert decision.why
    if isinstance(policy, InvalidPolicy):
        assert decision.verdict is Verdict.DENY
        assert decision.line == policy.problems[0].line


@given(RULES, ACTIONS)
def test_only_a_rule_that_says_so_allows_and_what_stands_behind_it_says_nothing(
    rules: list[dict[str, str]], action: ProposedAction
) -> None:
    policy = parse_rules(written(rules))
    if isinstance(policy, InvalidPolicy):
        return
    decision, passed = explain(policy, action)
    deciding = [rule for rule in policy.rules if rule.name == decision.rule]
    if decision.verdict is not Verdict.DENY:
        assert [(rule.verdict, rule.tier, rule.line) for rule in deciding] == [
            (decision.verdict, decision.tier, decision.line)
        ]
    assert [entry.rule for entry in passed] == list(policy.rules[: len(passed)])
    upto = parse_rules(written(rules[: len(passed) + 1]))
    assert isinstance(upto, EffectPolicy)
    assert decide(upto, action) == decision


@given(RULES, ACTIONS)
def test_the_parts_of_a_day_decide_as_the_policy_does_at_each_minute(
    rules: list[dict[str, str]], action: ProposedAction
) -> None:
    policy = parse_rules(written(rules))
    day = by_time(policy, action)
    (decision,) = [decision for part, decision in day if part is None or part.holds(action.at)]
    assert decision == decide(policy, action)
    assert len(day) == 1 or all(now != then for (_, now), (_, then) in pairwise([*day, day[0]]))


@given(RULES, ACTIONS)
def test_a_shadowed_rule_decides_nothing(rules: list[dict[str, str]], action: ProposedAction) -> None:
    policy = parse_rules(written(rules))
    if isinstance(policy, EffectPolicy):
        assert decide(policy, action).rule not in {rule.name for rule, _ in shadowed(policy)}
