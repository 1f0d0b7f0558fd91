"""Pure: the rules of policy.yaml and what they decide (seed 003 §5; spec 05 "Policy").

The first rule that matches decides, so that a file is read from top to bottom as a person reads it. Everything else
denies: no rule, no file, a broken file, a rule that asks for what is not known.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from fnmatch import fnmatchcase
from typing import Any, Final

from cutter.approvals.policy import Tier
from cutter.domain.digests import sha256_hex

FILE: Final = "policy.yaml"


class Verdict(StrEnum):
    """What a rule says of an action."""

    ALLOW = "allow"
    DENY = "deny"
    NEEDS_APPROVAL = "needs_approval"


@dataclass(frozen=True, slots=True, kw_only=True)
class ProposedAction:
    """One side effect, and where it would happen. `at` is the database's clock.

    What is None the action does not have, such as a batch's own documents a gate; but `candidates` is None until the
    law is marked, and a rule that asks for it then cannot be answered.
    """

    connector: str
    operation: str
    at: datetime
    gate: str | None = None
    document_id: str | None = None
    tenant: str | None = None
    mode: str | None = None
    candidates: int | None = None

    def __post_init__(self) -> None:
        if self.at.tzinfo is None:
            raise ValueError("a time without its zone")


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """How many candidates a law may have, both ends included; None is open."""

    least: int | None
    most: int | None

    def __contains__(self, count: int) -> bool:
        return (self.least is None or count >= self.least) and (self.most is None or count <= self.most)

    def __str__(self) -> str:
        return f"{'' if self.least is None else self.least}..{'' if self.most is None else self.most}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """Minutes of the day in UTC, from `start` until before `end`; past midnight where it ends before it starts."""

    start: int
    end: int

    def holds(self, at: datetime) -> bool:
        moment = at.astimezone(UTC)
        minute = moment.hour * 60 + moment.minute
        if self.start < self.end:
            return self.start <= minute < self.end
        return minute >= self.start or minute < self.end

    def __str__(self) -> str:
        return "-".join(f"{minute // 60:02d}:{minute % 60:02d}" for minute in (self.start, self.end))


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """One rule. A field that is empty or None was left out and matches every action; of a list, one entry is enough."""

    name: str
    line: int
    verdict: Verdict
    tier: Tier | None = None
    connector: tuple[str, ...] = ()
    operation: tuple[str, ...] = ()
    gate: tuple[str, ...] = ()
    document: tuple[str, ...] = ()
    tenant: tuple[str, ...] = ()
    mode: tuple[str, ...] = ()
    candidates: Span | None = None
    window: Window | None = None

    @property
    def says(self) -> str:
        """The verdict as the file has it."""
        return f"{self.verdict}({self.tier})" if self.tier else self.verdict.value


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """A file that was read whole: its rules in their order, its identity and its text."""

    rules: tuple[Rule, ...]
    text: str

    @property
    def sha256(self) -> str:
        return sha256_hex(self.text)


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class Problem:
    """One thing that is wrong with a file; line 0 is the file as a whole."""

    line: int
    rule: str
    text: str

    def __str__(self) -> str:
        where = f"{FILE} line {self.line}: " if self.line else f"{FILE}: "
        return f"{where}{f'rule {self.rule}: ' if self.rule else ''}{self.text}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Broken:
    """A file that is no policy, or none at all: everything is denied. `sha256` is of its bytes, empty without any."""

    problems: tuple[Problem, ...]
    sha256: str = ""
    text: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """What the policy says of one action; `rule` is empty and `line` 0 where no single rule says it."""

    verdict: Verdict
    rule: str
    line: int
    why: str
    tier: Tier | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Passed:
    """A rule that did not match, and why."""

    rule: Rule
    why: str


def decide(policy: Policy | Broken, action: ProposedAction) -> Decision:
    """The decision of the first rule that matches; without one, deny."""
    return explain(policy, action)[0]


def explain(policy: Policy | Broken, action: ProposedAction) -> tuple[Decision, tuple[Passed, ...]]:
    """The decision, and the rules before it that did not match."""
    if isinstance(policy, Broken):
        first = policy.problems[0]
        return _no(first.rule, first.line, f"{first}: nothing is allowed until it is corrected"), ()
    passed: list[Passed] = []
    for rule in policy.rules:
        miss = next(_misses(rule, action), None)
        if miss is not None:
            passed.append(Passed(rule=rule, why=miss))
        elif rule.candidates is not None and action.candidates is None:
            # Not known is not "no": a later denial would be passed over.
            return _no(rule.name, rule.line, f"{_at(rule)} asks how many candidates there are, which is not known at "
                                             f"{_place(action)}"), tuple(passed)  # fmt: skip
        else:
            return _answer(rule, action), tuple(passed)
    return _no("", 0, f"{FILE}: no rule matches {_place(action)}"), tuple(passed)


def shadowed(policy: Policy) -> tuple[tuple[Rule, Rule], ...]:
    """(Rule, an earlier one that always decides in its place): probably not what was meant."""
    found = []
    for number, rule in enumerate(policy.rules):
        earlier = next((one for one in policy.rules[:number] if _covers(one, rule)), None)
        if earlier is not None:
            found.append((rule, earlier))
    return tuple(found)


def _answer(rule: Rule, action: ProposedAction) -> Decision:
    why = f"{_at(rule)} says {rule.says} to {_place(action)}"
    return Decision(verdict=rule.verdict, rule=rule.name, line=rule.line, tier=rule.tier, why=why)


def _no(rule: str, line: int, why: str) -> Decision:
    return Decision(verdict=Verdict.DENY, rule=rule, line=line, why=why)


def _at(rule: Rule) -> str:
    return f"{FILE} line {rule.line}: rule {rule.name}"


def _place(action: ProposedAction) -> str:
    where = f" at {action.gate}" if action.gate else ""
    return f"{action.connector} {action.operation}{where}"


def _misses(rule: Rule, action: ProposedAction) -> Iterator[str]:
    """Why a rule does not match, in the order of its fields; nothing when it does as far as is known."""
    for name, allowed, value in (
        ("connector", rule.connector, action.connector),
        ("operation", rule.operation, action.operation),
        ("gate", rule.gate, action.gate),
        ("tenant", rule.tenant, action.tenant),
        ("mode", rule.mode, action.mode),
    ):
        if allowed and value not in allowed:
            yield f"{name} is {value or 'none'}, not {' or '.join(allowed)}"
    if rule.document and not any(_named(pattern, action.document_id) for pattern in rule.document):
        yield f"document is {action.document_id or 'none'}, not {' or '.join(rule.document)}"
    if rule.window is not None and not rule.window.holds(action.at):
        yield f"it is {action.at.astimezone(UTC):%H:%M} UTC, not within {rule.window}"
    if rule.candidates is not None and action.candidates is not None and action.candidates not in rule.candidates:
        yield f"candidates are {action.candidates}, not {rule.candidates}"


def _named(pattern: str, document_id: str | None) -> bool:
    return document_id is not None and fnmatchcase(document_id, pattern)


def _covers(earlier: Rule, later: Rule) -> bool:
    """True when every action that the later rule matches, the earlier one matches too, as far as plain lists tell."""
    lists = ("connector", "operation", "gate", "document", "tenant", "mode")
    wider = all(
        not (mine := getattr(earlier, name)) or ((theirs := getattr(later, name)) and set(theirs) <= set(mine))
        for name in lists
    )
    return wider and all(getattr(earlier, name) in (None, getattr(later, name)) for name in ("candidates", "window"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Permit:
    """What the policy said of everything that one attempt would do: (action, decision), each once."""

    policy_sha256: str
    policy_text: str
    decisions: tuple[tuple[ProposedAction, Decision], ...]

    @property
    def denied(self) -> Decision | None:
        """The first denial; None when there is none."""
        return next((one for _, one in self.decisions if one.verdict is Verdict.DENY), None)

    @property
    def tier(self) -> Tier | None:
        """The highest tier that is asked for."""
        return max((one.tier for _, one in self.decisions if one.tier), key=list(Tier).index, default=None)

    def record(self) -> dict[str, Any]:
        """As the database keeps it: which policy, and which rule of it decided what."""
        return {
            "sha256": self.policy_sha256,
            "text": self.policy_text,
            "decisions": [
                {
                    "connector": action.connector, "operation": action.operation, "verdict": said.verdict.value,
                    "tier": said.tier.value if said.tier else None, "rule": said.rule, "line": said.line,
                    "why": said.why,
                }
                for action, said in self.decisions
            ],
        }  # fmt: skip


def permit(policy: Policy | Broken, actions: Sequence[ProposedAction]) -> Permit:
    """Every action decided by the same policy."""
    return Permit(
        policy_sha256=policy.sha256,
        policy_text=policy.text,
        decisions=tuple((action, decide(policy, action)) for action in actions),
    )
