"""Pure: the rules of policy.yaml and their decisions (seed 003 §5; spec 05 "Policy").

The first rule that matches decides, so a person can read the file from top to bottom. The policy denies an action if no
rule matches, if the file is missing or broken, or if the matching rule needs a fact that is not known yet.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from fnmatch import fnmatchcase
from typing import Any, Final

from cutter.approvals.policy import Tier
from cutter.domain.digests import sha256_hex

FILE: Final = "policy.yaml"


class Verdict(StrEnum):
    ALLOW = "allow"
    DENY = "deny"
    NEEDS_APPROVAL = "needs_approval"


@dataclass(frozen=True, slots=True, kw_only=True)
class ProposedAction:
    """One side effect, and where it would happen. `at` is the database's clock, with a time zone.

    A field is None if the action has no such property. For example, a document about a whole batch has no gate.
    `candidates` is None until the law is marked. If a rule asks for the number of candidates before that, the policy
    denies the action.
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
    """The number of candidates that a law may have, both ends included. None means that an end is open."""

    least: int | None
    most: int | None

    def __contains__(self, count: int) -> bool:
        return (self.least is None or count >= self.least) and (self.most is None or count <= self.most)

    def __str__(self) -> str:
        return f"{'' if self.least is None else self.least}..{'' if self.most is None else self.most}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """A part of the day: minutes since midnight UTC, without `end`. It may continue past midnight."""

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
    """One rule. A field that was left out matches every action, one with several entries if one of them matches."""

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
        """The verdict as it is written in the file, such as `needs_approval(high)`."""
        return f"{self.verdict}({self.tier})" if self.tier else self.verdict.value


@dataclass(frozen=True, slots=True, kw_only=True)
class EffectPolicy:
    """A policy file without problems: its rules in the order of the file, its text, and the text's digest."""

    rules: tuple[Rule, ...]
    text: str

    @property
    def sha256(self) -> str:
        return sha256_hex(self.text)


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class Problem:
    """One problem of a policy file. Line 0 means the whole file."""

    line: int
    rule: str
    text: str

    def __str__(self) -> str:
        where = f"{FILE} line {self.line}: " if self.line else f"{FILE}: "
        return f"{where}{f'rule {self.rule}: ' if self.rule else ''}{self.text}"


@dataclass(frozen=True, slots=True, kw_only=True)
class InvalidPolicy:
    """A policy file that is wrong or missing, with the digest of its bytes. It denies everything."""

    problems: tuple[Problem, ...]
    sha256: str = ""
    text: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """The policy's decision about one action. If no single rule decided, `rule` is empty and `line` is 0."""

    verdict: Verdict
    rule: str
    line: int
    why: str
    tier: Tier | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Passed:
    """A rule that did not match, and the reason."""

    rule: Rule
    why: str


def decide(policy: EffectPolicy | InvalidPolicy, action: ProposedAction) -> Decision:
    """The decision of the first rule that matches. If no rule matches, the decision is deny."""
    return explain(policy, action)[0]


def explain(policy: EffectPolicy | InvalidPolicy, action: ProposedAction) -> tuple[Decision, tuple[Passed, ...]]:
    """The decision, and the rules above the deciding rule, which did not match."""
    if isinstance(policy, InvalidPolicy):
        first = policy.problems[0]
        return _no(first.rule, first.line, f"{first}: correct this first, until then every action is denied"), ()
    passed: list[Passed] = []
    for rule in policy.rules:
        miss = next(_misses(rule, action), None)
        if miss is not None:
            passed.append(Passed(rule=rule, why=miss))
        elif rule.candidates is not None and action.candidates is None:
            # The rule may match once the number is known. Skipping it would let a later rule allow the action instead.
            return _no(rule.name, rule.line, f"{_at(rule)} asks how many candidates there are, which is not known at "
                                             f"{_place(action)}"), tuple(passed)  # fmt: skip
        else:
            why = f"{_at(rule)} says {rule.says} to {_place(action)}"
            decision = Decision(verdict=rule.verdict, rule=rule.name, line=rule.line, tier=rule.tier, why=why)
            return decision, tuple(passed)
    return _no("", 0, f"{FILE}: no rule matches {_place(action)}"), tuple(passed)


def shadowed(policy: EffectPolicy) -> tuple[tuple[Rule, Rule], ...]:
    """Pairs of a rule and an earlier rule that always decides before it. The author probably did not intend this."""
    return tuple(
        (rule, next(earlier for earlier in policy.rules[:number] if _covers(earlier, rule)))
        for number, rule in enumerate(policy.rules)
        if any(_covers(earlier, rule) for earlier in policy.rules[:number])
    )


def _no(rule: str, line: int, why: str) -> Decision:
    return Decision(verdict=Verdict.DENY, rule=rule, line=line, why=why)


def _at(rule: Rule) -> str:
    return f"{FILE} line {rule.line}: rule {rule.name}"


def _place(action: ProposedAction) -> str:
    where = f" at {action.gate}" if action.gate else ""
    return f"{action.connector} {action.operation}{where}"


def _misses(rule: Rule, action: ProposedAction) -> Iterator[str]:
    """The reasons why a rule does not match, in the order of its fields. No reason means that every known fact fits."""
    for name, allowed, value in (
        ("connector", rule.connector, action.connector),
        ("operation", rule.operation, action.operation),
        ("gate", rule.gate, action.gate),
        ("tenant", rule.tenant, action.tenant),
        ("mode", rule.mode, action.mode),
    ):
        if allowed and value not in allowed:
            yield f"{name} is {value or 'none'}, not {' or '.join(allowed)}"
    document = action.document_id
    if rule.document and (document is None or not any(fnmatchcase(document, pattern) for pattern in rule.document)):
        yield f"document is {document or 'none'}, not {' or '.join(rule.document)}"
    if rule.window is not None and not rule.window.holds(action.at):
        yield f"it is {action.at.astimezone(UTC):%H:%M} UTC, not within {rule.window}"
    if rule.candidates is not None and action.candidates is not None and action.candidates not in rule.candidates:
        yield f"candidates are {action.candidates}, not {rule.candidates}"


def _covers(earlier: Rule, later: Rule) -> bool:
    """True if the earlier rule matches every action that the later one matches. Patterns are compared as texts."""
    lists = ("connector", "operation", "gate", "document", "tenant", "mode")
    wider = all(
        not (mine := getattr(earlier, name)) or ((theirs := getattr(later, name)) and set(theirs) <= set(mine))
        for name in lists
    )
    return wider and all(getattr(earlier, name) in (None, getattr(later, name)) for name in ("candidates", "window"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Permit:
    """The policy's decisions about all side effects of one attempt: (action, decision), one pair an action."""

    policy_sha256: str
    policy_text: str
    decisions: tuple[tuple[ProposedAction, Decision], ...]

    @property
    def denied(self) -> Decision | None:
        """The first denial, or None if the policy denied nothing."""
        return next((decision for _, decision in self.decisions if decision.verdict is Verdict.DENY), None)

    @property
    def tier(self) -> Tier | None:
        """The highest tier of approval that a decision needs, or None if no decision needs one."""
        return max(
            (decision.tier for _, decision in self.decisions if decision.tier), key=list(Tier).index, default=None
        )

    def record(self) -> dict[str, Any]:
        """The permit as the database stores it: the policy's digest and text, and the deciding rule of each action."""
        return {
            "sha256": self.policy_sha256,
            "text": self.policy_text,
            "decisions": [
                {
                    "connector": action.connector, "operation": action.operation, "verdict": decision.verdict.value,
                    "tier": decision.tier.value if decision.tier else None, "rule": decision.rule,
                    "line": decision.line, "why": decision.why,
                }
                for action, decision in self.decisions
            ],
        }  # fmt: skip


def permit(policy: EffectPolicy | InvalidPolicy, actions: Sequence[ProposedAction]) -> Permit:
    return Permit(
        policy_sha256=policy.sha256,
        policy_text=policy.text,
        decisions=tuple((action, decide(policy, action)) for action in actions),
    )


def by_time(policy: EffectPolicy | InvalidPolicy, action: ProposedAction) -> tuple[tuple[Window | None, Decision], ...]:
    """The decisions about the action, each with its part of the day, or None if it holds at every time.

    Only rules with a window depend on the time.
    """
    windows = [rule.window for rule in policy.rules if rule.window] if isinstance(policy, EffectPolicy) else []
    midnight = action.at.astimezone(UTC).replace(hour=0, minute=0)
    decisions = [
        (minute, decide(policy, replace(action, at=midnight + timedelta(minutes=minute))))
        for minute in sorted({minute for window in windows for minute in (window.start, window.end)})
    ]
    befores = (decision for _, decision in decisions[-1:] + decisions)
    changes = [entry for entry, before in zip(decisions, befores, strict=False) if entry[1] != before]
    ends = (minute for minute, _ in changes[1:] + changes[:1])
    parts = tuple(
        (Window(start=start, end=end), decision) for (start, decision), end in zip(changes, ends, strict=True)
    )
    return parts or ((None, decide(policy, action)),)


def never_allowed(policy: EffectPolicy | InvalidPolicy, actions: Iterable[ProposedAction]) -> Decision | None:
    """The present denial of the first action that the policy denies at every time of the day. None if there is none."""
    for action in actions:
        if all(decision.verdict is Verdict.DENY for _, decision in by_time(policy, action)):
            return decide(policy, action)
    return None


def restrictions(policy: EffectPolicy | InvalidPolicy, actions: Iterable[ProposedAction]) -> str:
    """The denials of the actions, and the demands for more people at some times, with their times."""
    shown = (
        (part, decision)
        for action in actions
        for part, decision in by_time(policy, action)
        if decision.verdict is Verdict.DENY or (part and decision.verdict is Verdict.NEEDS_APPROVAL)
    )
    return "; ".join(f"{f'{part} UTC' if part else 'always'}: {decision.why}" for part, decision in shown)
