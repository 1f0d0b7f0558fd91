"""Pure: policy.yaml, read strictly: every field known, every value of its form, or the whole file is broken.

A misspelt word would make a rule that never matches, and a denial that never matches allows: so connectors, operations,
gates and modes are closed lists, and a rule that no action can match is refused.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from typing import Any, Final, NoReturn

from cutter import limits, plain_yaml
from cutter.approvals.policy import Tier
from cutter.approvals.schema import NAME_FORM
from cutter.domain.digests import sha256_hex
from cutter.plain_yaml import Fields, Items, Node, Scalar
from cutter.policy.command import OPERATIONS, PLACES, Connector, Operation
from cutter.policy.rules import Broken, Policy, Problem, Rule, Span, Verdict, Window

SCHEMA: Final = "cutter-policy/1"

_RULE_NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,63}")
_DOCUMENT = re.compile(r"[A-Z0-9*-]{1,64}")
_NAME = re.compile(NAME_FORM)
_NEEDS = re.compile(r"needs_approval\(([^()]{0,40})\)")
_SPAN = re.compile(r"(0|[1-9][0-9]{0,4})?\.\.(0|[1-9][0-9]{0,4})?")
_WINDOW = re.compile(r"([01][0-9]|2[0-3]):([0-5][0-9])-([01][0-9]|2[0-3]):([0-5][0-9])")

_NEEDED = ("name", "verdict")
_MATCHERS = ("connector", "operation", "gate", "document", "tenant", "mode", "candidates", "window")

Allowed = Callable[[str], Any]


def parse_rules(data: bytes) -> Policy | Broken:
    """The policy of these bytes, or everything that is wrong with them, by line; never raises."""
    # Workers read the file at every attempt, and nearly always it is the same one.
    return _parsed(data)


@lru_cache(maxsize=8)
def _parsed(data: bytes) -> Policy | Broken:
    reading = _Reading()
    node, flaws = plain_yaml.read(data, bytes_max=limits.RULES_BYTES_MAX)
    for flaw in flaws:
        reading.note(flaw.line, flaw.rule)
    rules = reading.file(node) if node is not None else ()
    if reading.problems:
        return Broken(problems=tuple(sorted(set(reading.problems))), sha256=sha256_hex(data))
    return Policy(rules=rules, text=data.decode())


class _Wrong(Exception):
    """A value that was noted as wrong; what it belongs to is read no further."""


class _Reading:
    """Reads nodes and notes what is wrong with them; `rule` is the name of the one that is being read."""

    def __init__(self) -> None:
        self.problems: list[Problem] = []
        self.rule = ""

    def note(self, line: int, text: str) -> None:
        self.problems.append(Problem(line=line, rule=self.rule, text=text))

    def file(self, node: Node) -> tuple[Rule, ...]:
        try:
            top = self._fields(node, "the file", ("schema", "rules"), ())
            self._text(top["schema"], "schema", SCHEMA.__eq__, f"`{SCHEMA}`")
            listed = self._items(top["rules"], "rules")
        except _Wrong:
            return ()
        rules = [made for one in listed if (made := self._rule(one)) is not None]
        for number, one in enumerate(rules):
            if any(one.name == other.name for other in rules[:number]):
                self.rule = one.name
                self.note(one.line, "the name stands twice")
        return tuple(rules)

    def _rule(self, node: Node) -> Rule | None:
        # First, so that everything that is wrong with a rule names it.
        self.rule = _name_in(node)
        try:
            given = self._fields(node, "a rule", _NEEDED, _MATCHERS)
            name = self._text(given["name"], "name", _RULE_NAME.fullmatch, "1 to 64 of a-z, 0-9 and '-'")
            verdict, tier = self._verdict(given["verdict"])
            rule = Rule(
                name=name,
                line=node.line,
                verdict=verdict,
                tier=tier,
                connector=self._one_of(given, "connector", Connector),
                operation=self._one_of(given, "operation", (one.name for one in OPERATIONS)),
                gate=self._one_of(given, "gate", PLACES),
                document=self._texts(given, "document", _DOCUMENT.fullmatch, "a document id, with `*` for any part"),
                tenant=self._texts(given, "tenant", _NAME.fullmatch, "1 to 64 of A-Z a-z 0-9 . _ @ -"),
                mode=self._one_of(given, "mode", ("live", "dryrun")),
                candidates=self._span(given.get("candidates")),
                window=self._window(given.get("window")),
            )
            self._require_sense(rule)
        except _Wrong:
            return None
        return rule

    def _require_sense(self, rule: Rule) -> None:
        matched = [one for one in OPERATIONS if _may_match(rule, one)]
        if not matched:
            self._wrong(rule.line, "no command has this connector, operation and gate: it would never match")
        unasked = [one for one in matched if not one.approvable]
        if rule.verdict is Verdict.NEEDS_APPROVAL and unasked:
            names = ", ".join(f"{one.connector} {one.name}" for one in unasked)
            self._wrong(rule.line, f"nobody can be asked about {names}: name a connector, operation or gate that "
                                   "leaves them out, or allow or deny")  # fmt: skip

    # --- values ---------------------------------------------------------------------------------------------------

    def _verdict(self, node: Node) -> tuple[Verdict, Tier | None]:
        words = "`allow`, `deny` or `needs_approval(low|medium|high)`"
        text = self._text(node, "verdict", lambda _: True, words)
        if text in (Verdict.ALLOW, Verdict.DENY):
            return Verdict(text), None
        asked = _NEEDS.fullmatch(text)
        if asked is None:
            self._wrong(node.line, f"verdict must be {words}")
        if asked[1] not in tuple(Tier):
            self._wrong(node.line, f"there is no such tier; known: {', '.join(Tier)}")
        return Verdict.NEEDS_APPROVAL, Tier(asked[1])

    def _span(self, node: Node | None) -> Span | None:
        if node is None:
            return None
        found = _SPAN.fullmatch(self._text(node, "candidates", _SPAN.fullmatch, "such as 1..500, ..500 or 501.."))
        least, most = ((int(part) if part else None) for part in (found.groups() if found else (None, None)))
        if (least is None and most is None) or (least is not None and most is not None and least > most):
            self._wrong(node.line, "candidates must leave something out and something in")
        return Span(least=least, most=most)

    def _window(self, node: Node | None) -> Window | None:
        if node is None:
            return None
        found = _WINDOW.fullmatch(self._text(node, "window", _WINDOW.fullmatch, "times of the day in UTC: 22:00-06:00"))
        parts = [int(part) for part in found.groups()] if found else [0, 0, 0, 0]
        window = Window(start=parts[0] * 60 + parts[1], end=parts[2] * 60 + parts[3])
        if window.start == window.end:
            self._wrong(node.line, "window must end at another time than it starts")
        return window

    def _one_of(self, given: Mapping[str, Node], name: str, known: Iterable[str]) -> tuple[str, ...]:
        words = tuple(dict.fromkeys(known))
        return self._texts(given, name, words.__contains__, f"one of {', '.join(words)}")

    def _texts(self, given: Mapping[str, Node], name: str, allowed: Allowed, words: str) -> tuple[str, ...]:
        node = given.get(name)
        if node is None:
            return ()
        if not isinstance(node, Items):
            return (self._text(node, name, allowed, words),)
        texts = tuple(self._text(one, name, allowed, words) for one in self._items(node, name))
        if not texts or len(set(texts)) < len(texts):
            self._wrong(node.line, f"{name} must list something, and nothing twice; leave it out to match all")
        return texts

    def _text(self, node: Node, name: str, allowed: Allowed, words: str) -> str:
        if not isinstance(node, Scalar) or not allowed(node.text):
            self._wrong(node.line, f"{name} must be {words}")
        return node.text

    def _items(self, node: Node, name: str) -> tuple[Node, ...]:
        if not isinstance(node, Items) or len(node.items) > limits.RULES_MAX:
            self._wrong(node.line, f"{name} must be a list of at most {limits.RULES_MAX}")
        return node.items

    def _fields(self, node: Node, where: str, needed: tuple[str, ...], more: tuple[str, ...]) -> dict[str, Node]:
        if not isinstance(node, Fields):
            self._wrong(node.line, f"{where} must be a mapping with {', '.join(needed)}")
        for key, _ in node.entries:
            if key.text not in (*needed, *more):
                self._wrong(key.line, f"{where} has a field that there is not; known: {', '.join((*needed, *more))}")
        given = {key.text: value for key, value in node.entries}
        missing = next((name for name in needed if name not in given), None)
        if missing is not None:
            self._wrong(node.line, f"{where} misses the field {missing}")
        return given

    def _wrong(self, line: int, text: str) -> NoReturn:
        self.note(line, text)
        raise _Wrong


def _name_in(node: Node) -> str:
    entries = node.entries if isinstance(node, Fields) else ()
    found = (value.text for key, value in entries if key.text == "name" and isinstance(value, Scalar))
    return next((text for text in found if _RULE_NAME.fullmatch(text)), "")


def _may_match(rule: Rule, operation: Operation) -> bool:
    return (
        (not rule.connector or operation.connector in rule.connector)
        and (not rule.operation or operation.name in rule.operation)
        and (not rule.gate or not operation.places or not set(rule.gate).isdisjoint(operation.places))
    )
