"""Pure: a lifecycle as data (states, rules with triggers and guards, terminal states), and the check of a move."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from cutter.errors import IllegalTransition

_TAIL = re.compile(r"[a-z0-9_]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """A group of transitions, from each source to each target.

    `words` are further triggers with the same meaning, which some program writes. `extension` is the reason of an edge
    that the seed's text needs and its diagram lacks, or empty. `severity` is the severity of the events. `demanded` is
    true if a seed asks for exactly this severity. `whence` and `whither` name many sources or targets in a diagram.
    """

    sources: tuple[str, ...]
    targets: tuple[str, ...]
    trigger: str = ""
    words: frozenset[str] = frozenset()
    extension: str = ""
    severity: str = "info"
    demanded: bool = False
    selves: bool = False
    whence: str = ""
    whither: str = ""

    @property
    def edges(self) -> tuple[tuple[str, str], ...]:
        """(from, to) of every transition.

        A transition to the same state exists only if the seed lists it (`selves`).
        """
        return tuple(
            (source, other) for source in self.sources for other in self.targets if self.selves or source != other
        )


@dataclass(frozen=True, kw_only=True)
class Lifecycle:
    """The states of one entity. The first state is the initial one. A state such as `failed_<gate>` is a family of
    states.
    """

    name: str
    seed: str
    states: tuple[str, ...]
    terminal: tuple[str, ...]
    rules: tuple[Rule, ...]

    @property
    def initial(self) -> str:
        return self.states[0]

    @property
    def event_type(self) -> str:
        return f"{self.name}_state_transition"

    @cached_property
    def edges(self) -> Mapping[tuple[str, str], Rule]:
        """The rule of every transition. A seed's own rule comes before an extension."""
        ordered = sorted(self.rules, key=lambda rule: bool(rule.extension))
        by_edge: dict[tuple[str, str], Rule] = {}
        for rule in ordered:
            for edge in rule.edges:
                by_edge.setdefault(edge, rule)
        return by_edge

    @cached_property
    def allowed(self) -> Mapping[str, tuple[str, ...]]:
        """The targets of every declared state, in the order of the states."""
        return {state: tuple(other for other in self.states if (state, other) in self.edges) for state in self.states}

    @cached_property
    def words(self) -> frozenset[str]:
        return frozenset(word for rule in self.rules for word in (rule.trigger, *rule.words))

    @cached_property
    def extensions(self) -> tuple[tuple[str, str, str], ...]:
        """(from, to, reason) of every transition that the seed's diagram lacks."""
        return tuple((*edge, rule.extension) for edge, rule in self.edges.items() if rule.extension)

    def declared(self, state: str) -> str | None:
        """The declared name of a state: the state itself or its family. None if this lifecycle does not have it."""
        if state in self.allowed:
            return state
        for name, head in self._families:
            if state.startswith(head) and _TAIL.fullmatch(state, len(head)):
                return name
        return None

    @cached_property
    def _families(self) -> tuple[tuple[str, str], ...]:
        return tuple((name, name.partition("<")[0]) for name in self.states if name.endswith(">"))

    def is_terminal(self, state: str) -> bool:
        return self.declared(state) in self.terminal

    def rule(self, before: str, after: str) -> Rule | None:
        start, end = self.declared(before), self.declared(after)
        return self.edges.get((start, end)) if start and end else None

    def check(self, before: str, after: str) -> Rule:
        """The rule that allows a move. Raises IllegalTransition, which names from, to and the allowed targets."""
        rule = self.rule(before, after)
        if rule is None:
            raise IllegalTransition(self.why_not(before, after))
        return rule

    def why_not(self, before: str, after: str) -> str:
        """The sentence of the error. The same move always gives the same sentence."""
        for state in (before, after):
            if self.declared(state) is None:
                return f"{self.name}: there is no state {state!r}; its states are {', '.join(self.states)}"
        targets = ", ".join(self.allowed[self.declared(before) or ""])
        allowed = (
            f"allowed from {before}: {targets}" if targets else f"{before} is terminal, nothing is allowed from it"
        )
        return f"{self.name}: {before} → {after} is not allowed; {allowed}"

    def path(self, before: str, after: str) -> tuple[str, ...]:
        """The states on the shortest legal path, without the first state. Empty if there is no path or no move to make.

        A terminal state can only be the last state of a path.
        """
        ways: dict[str, tuple[str, ...]] = {before: ()}
        waiting = deque([before] if before != after else [])
        while waiting:
            state = waiting.popleft()
            for target in self.allowed[state]:
                if target in ways:
                    continue
                ways[target] = (*ways[state], target)
                if target == after:
                    return ways[target]
                if target not in self.terminal:
                    waiting.append(target)
        return ()
