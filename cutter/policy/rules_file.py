"""Pure: reads policy.yaml strictly. One unknown field or malformed value makes the whole file broken.

If a word of a denial is misspelt, the denial never matches, and a later rule may allow the action. Therefore
connectors, operations, gates and modes are closed lists, and a rule that no action can match is an error.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import lru_cache
from importlib import resources
from typing import Any, Final

from cutter import limits, plain_yaml
from cutter.approvals.policy import Tier
from cutter.approvals.schema import NAME_FORM
from cutter.domain.digests import sha256_hex
from cutter.plain_yaml import FieldReader, Fields, Items, Node, Scalar, Wrong
from cutter.policy.command import OPERATIONS, PLACES, Connector
from cutter.policy.rules import EffectPolicy, InvalidPolicy, Problem, Rule, Span, Verdict, Window

SCHEMA: Final = "cutter-policy/1"

_RULE_NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,63}")
_DOCUMENT = re.compile(r"[A-Z0-9*-]{1,64}")
_NAME = re.compile(NAME_FORM)
_VERDICT = re.compile(r"allow|deny|needs_approval\([^()]{0,40}\)")
_SPAN = re.compile(r"(0|[1-9][0-9]{0,4})?\.\.(0|[1-9][0-9]{0,4})?")
_WINDOW = re.compile(r"([01][0-9]|2[0-3]):([0-5][0-9])-([01][0-9]|2[0-3]):([0-5][0-9])")

_RULE_FIELDS = (
    "name", "verdict", "connector", "operation", "gate", "document", "tenant", "mode", "candidates", "window",
)  # fmt: skip

Allowed = Callable[[str], Any]


@lru_cache(maxsize=8)
def parse_rules(data: bytes) -> EffectPolicy | InvalidPolicy:
    """The policy of these bytes, or all their problems, sorted by line. It never raises."""
    # A worker reads the file at every attempt, and the file rarely changes. So parsed files are cached.
    node, flaws = plain_yaml.read(data, bytes_max=limits.RULES_BYTES_MAX)
    problems = [Problem(line=flaw.line, rule="", text=flaw.rule) for flaw in flaws]
    rules: list[Rule] = []
    listed: tuple[Node, ...] = ()
    if node is not None:
        try:
            top = FieldReader(node, "the file", ("schema", "rules"))
            top.text("schema", re.compile(re.escape(SCHEMA)), f"`{SCHEMA}`")
            listed = _items(top.node("rules"), "rules")
        except Wrong as problem:
            problems.append(Problem(line=problem.line, rule="", text=problem.rule))
    for item in listed:
        # The name is read first, because each problem of the rule must name the rule.
        entries = item.entries if isinstance(item, Fields) else ()
        names = (value.text for key, value in entries if key.text == "name" and isinstance(value, Scalar))
        name = next((text for text in names if _RULE_NAME.fullmatch(text)), "")
        try:
            rule = _rule(item)
            if any(rule.name == other.name for other in rules):
                raise Wrong(rule.line, "the name is duplicated")
            rules.append(rule)
        except Wrong as problem:
            problems.append(Problem(line=problem.line, rule=name, text=problem.rule))
    if problems:
        return InvalidPolicy(problems=tuple(sorted(set(problems))), sha256=sha256_hex(data))
    return EffectPolicy(rules=tuple(rules), text=data.decode())


def _rule(node: Node) -> Rule:
    given = FieldReader(node, "a rule", _RULE_FIELDS)
    name = given.text("name", _RULE_NAME, "1 to 64 of a-z, 0-9 and '-'")
    text = given.text("verdict", _VERDICT, "`allow`, `deny` or `needs_approval(low|medium|high)`")
    verdict, tier = Verdict.NEEDS_APPROVAL, None
    if text in (Verdict.ALLOW, Verdict.DENY):
        verdict = Verdict(text)
    else:
        named = text.removeprefix("needs_approval(").removesuffix(")")
        if named not in tuple(Tier):
            raise Wrong(given.node("verdict").line, f"there is no such tier: choose one of {', '.join(Tier)}")
        tier = Tier(named)
    candidates, window = None, None
    if given.has("candidates"):
        least, _, most = given.text("candidates", _SPAN, "such as 1..500, ..500 or 501..").partition("..")
        candidates = Span(least=int(least) if least else None, most=int(most) if most else None)
        if not (least or most) or (least and most and int(least) > int(most)):
            given.fail("candidates", "must match some numbers and exclude some, such as 1..500")
    if given.has("window"):
        text = given.text("window", _WINDOW, "times of the day in UTC: 22:00-06:00")
        start, end = (int(time[:2]) * 60 + int(time[3:]) for time in text.split("-"))
        if start == end:
            given.fail("window", "must have two different times")
        window = Window(start=start, end=end)
    rule = Rule(
        name=name,
        line=node.line,
        verdict=verdict,
        tier=tier,
        connector=_one_of(given, "connector", Connector),
        operation=_one_of(given, "operation", (operation.name for operation in OPERATIONS)),
        gate=_one_of(given, "gate", PLACES),
        document=_texts(given, "document", _DOCUMENT.fullmatch, "a document id, with `*` for any part"),
        tenant=_texts(given, "tenant", _NAME.fullmatch, "1 to 64 of A-Z a-z 0-9 . _ @ -"),
        mode=_one_of(given, "mode", ("live", "dryrun")),
        candidates=candidates,
        window=window,
    )
    _require_sense(rule)
    return rule


def _require_sense(rule: Rule) -> None:
    matched = [
        operation
        for operation in OPERATIONS
        if (not rule.connector or operation.connector in rule.connector)
        and (not rule.operation or operation.name in rule.operation)
        and (not rule.gate or not operation.places or not set(rule.gate).isdisjoint(operation.places))
    ]
    if not matched:
        raise Wrong(rule.line, "no command has this connector, operation and gate: the rule would never match")
    unasked = [operation for operation in matched if not operation.approvable]
    if rule.verdict is Verdict.NEEDS_APPROVAL and unasked:
        names = ", ".join(f"{operation.connector} {operation.name}" for operation in unasked)
        raise Wrong(rule.line, f"nobody can be asked about {names}: name a connector, operation or gate without "
                               "them, or choose allow or deny")  # fmt: skip


# --- values -----------------------------------------------------------------------------------------------------------


def _one_of(given: FieldReader, name: str, known: Iterable[str]) -> tuple[str, ...]:
    words = tuple(dict.fromkeys(known))
    return _texts(given, name, words.__contains__, f"one of {', '.join(words)}")


def _texts(given: FieldReader, name: str, allowed: Allowed, words: str) -> tuple[str, ...]:
    """The values of a field that selects actions: one text, or a list of distinct texts. Empty without the field."""
    if not given.has(name):
        return ()
    node = given.node(name)
    nodes = _items(node, name) if isinstance(node, Items) else (node,)
    texts = []
    for item in nodes:
        if not isinstance(item, Scalar) or not allowed(item.text):
            raise Wrong(item.line, f"{name} must be {words}")
        texts.append(item.text)
    if not texts or len(set(texts)) < len(texts):
        given.fail(name, "must list at least one value, and each value once; leave the field out to match everything")
    return tuple(texts)


def _items(node: Node, name: str) -> tuple[Node, ...]:
    if not isinstance(node, Items) or len(node.items) > limits.RULES_MAX:
        raise Wrong(node.line, f"{name} must be a list of at most {limits.RULES_MAX} entries")
    return node.items


def shipped() -> bytes:
    """The bytes of the policy that comes with cutter. It allows every side effect of cutter."""
    return (resources.files("cutter.policy") / "default.yaml").read_bytes()
