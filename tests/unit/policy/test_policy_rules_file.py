"""policy.yaml is read strictly: whatever is wrong breaks it whole, with the rule and the line."""

from __future__ import annotations

from importlib import resources

import pytest

from cutter import limits
from cutter.policy.command import OPERATIONS, Connector
from cutter.policy.rules import EffectPolicy, InvalidPolicy, ProposedAction, Verdict, decide
from cutter.policy.rules_file import parse_rules
from tests.unit.policy.test_policy_rules import WRITE

GOOD = """\
schema: cutter-policy/1
rules:
  - name: small-laws
    connector: database
    gate: [IG_cut_leg_a_execute, IG_leg_b_record]
    document: ICX-*
    candidates: ..500
    verdict: allow
  - name: at-night
    window: 22:00-06:00
    verdict: deny
"""


def broken(text: str | bytes) -> list[str]:
    made = parse_rules(text.encode() if isinstance(text, str) else text)
    assert isinstance(made, InvalidPolicy), made
    return [str(problem) for problem in made.problems]


def changed(old: str, new: str) -> str:
    assert old in GOOD
    return GOOD.replace(old, new)


def test_a_good_file_is_its_rules_in_their_order() -> None:
    made = parse_rules(GOOD.encode())
    assert isinstance(made, EffectPolicy)
    assert [(rule.name, rule.line, rule.says) for rule in made.rules] == [
        ("small-laws", 3, "allow"),
        ("at-night", 9, "deny"),
    ]
    assert (str(made.rules[0].candidates), str(made.rules[1].window)) == ("..500", "22:00-06:00")
    assert made.text == GOOD


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("cutter-policy/1", "cutter-policy/2", "policy.yaml line 1: schema must be `cutter-policy/1`"),
        ("schema: cutter-policy/1\n", "", "line 1: schema is missing"),
        ("rules:", "extra: x\nrules:", "line 2: extra is unknown (known: schema, rules)"),
        ("verdict: deny", "verdict: needs_approval(urgent)", "line 11: rule at-night: there is no such tier"),
        ("verdict: deny", "verdict: needs_approval(HIGH)", "line 11: rule at-night: there is no such tier"),
        ("verdict: deny", "verdict: needs_approval", "line 11: rule at-night: verdict must be"),
        ("verdict: deny", "verdict: Allow", "line 11: rule at-night: verdict must be"),
        ("verdict: deny", "verdict: [allow]", "line 11: rule at-night: verdict must be"),
        ("verdict: deny", "note: x", "line 11: rule at-night: note is unknown (known: name, verdict, connector"),
        ("    verdict: deny\n", "", "line 9: rule at-night: verdict is missing"),
        ("name: at-night", "name: At night", "line 9: name must be"),
        ("name: at-night", "name: small-laws", "line 9: rule small-laws: the name is duplicated"),
        ("connector: database", "connector: databse", "line 4: rule small-laws: connector must be one of"),
        ("connector: database", "connector: []", "line 4: rule small-laws: connector must list at least one"),
        ("connector: database", "connector: [kb, kb]", "line 4: rule small-laws: connector must list at least one"),
        ("connector: database", "connector: {a: b}", "line 4: rule small-laws: connector must be one of"),
        ("connector: database", "operation: drop", "line 4: rule small-laws: operation must be one of"),
        ("IG_leg_b_record", "IG_leg_b", "line 5: rule small-laws: gate must be one of"),
        ("document: ICX-*", "document: icx-*", "line 6: rule small-laws: document must be a document id"),
        ("document: ICX-*", "tenant: '*'", "line 6: rule small-laws: tenant must be"),
        ("document: ICX-*", "mode: rehearsal", "line 6: rule small-laws: mode must be one of live, dryrun"),
        ("..500", "500", "line 7: rule small-laws: candidates must be such as"),
        ("..500", "'..'", "line 7: rule small-laws: candidates must match some"),
        ("..500", "600..500", "line 7: rule small-laws: candidates must match some"),
        ("22:00-06:00", "22-06", "line 10: rule at-night: window must be times"),
        ("22:00-06:00", "24:00-06:00", "line 10: rule at-night: window must be times"),
        ("22:00-06:00", "06:00-06:00", "line 10: rule at-night: window must have two different times"),
        ("verdict: allow", "verdict: ", "line 8: a value is missing"),
        ("verdict: allow", "verdict: allow\n    verdict: deny", "line 9: verdict is duplicated"),
        ("verdict: allow", "verdict: &a allow", "line 8: anchors and aliases are not allowed"),
        ("verdict: allow", "verdict: !!str allow", "line 8: tags are not allowed"),
        ("verdict: deny", "verdict: deny\n---", "line 12: the file has a second document"),
    ],
)
def test_every_wrong_value_is_refused_with_its_rule_and_line(old: str, new: str, says: str) -> None:
    assert says in broken(changed(old, new))[0]


def test_a_rule_that_no_command_can_match_is_refused() -> None:
    # Nothing is ever backed up there: whoever wrote this denial would think that it holds.
    text = changed("connector: database", "connector: backup")
    assert "line 3: rule small-laws: no command has this connector, operation and gate" in broken(text)[0]


@pytest.mark.parametrize("connector", ["kb", "notification", "evidence", "[database, kb]"])
def test_nobody_can_be_asked_about_what_people_are_asked_with(connector: str) -> None:
    rule = f"  - name: ask\n    connector: {connector}\n    verdict: needs_approval(low)\n"
    assert "line 12: rule ask: nobody can be asked about" in broken(GOOD + rule)[0]


def test_all_problems_are_told_at_once() -> None:
    problems = broken(changed("connector: database", "connector: databse").replace("22:00-06:00", "night"))
    assert [problem.partition(":")[0] for problem in problems] == ["policy.yaml line 4", "policy.yaml line 10"]


def test_a_file_without_an_end_or_bound_is_not_read() -> None:
    assert f"at most {limits.RULES_BYTES_MAX}" in broken(GOOD + "#" * limits.RULES_BYTES_MAX)[0]
    many = "".join(f"  - {{name: r{n}, verdict: allow}}\n" for n in range(limits.RULES_MAX + 1))
    assert f"at most {limits.RULES_MAX}" in broken("schema: cutter-policy/1\nrules:\n" + many)[0]
    assert broken(b"\xff\xfe") == ["policy.yaml line 1: byte 0 is not UTF-8"]
    assert broken(b"") == ["policy.yaml: the file is empty"]


def test_the_shipped_policy_allows_every_command_by_a_rule_of_its_connector() -> None:
    made = parse_rules((resources.files("cutter.policy") / "default.yaml").read_bytes())
    assert isinstance(made, EffectPolicy)
    for operation in OPERATIONS:
        action = ProposedAction(connector=operation.connector, operation=operation.name, at=WRITE.at)
        assert decide(made, action).verdict is Verdict.ALLOW
    assert [rule.connector for rule in made.rules] == [(connector.value,) for connector in Connector]
