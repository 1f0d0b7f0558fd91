"""Pure: what a lifecycle is (states, rules, the check of a move), and the declared ones.

The table of gates gives that of a document run (seed 000). `lifecycles.toml` holds those of batch (001), request (002),
run, step and approval (003), and task, workstream and worker (004).
"""

from __future__ import annotations

import re
import tomllib
from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from importlib import resources

from cutter.catalogue import GATES, SKIPPED, State
from cutter.errors import IllegalTransition
from cutter.types import Json

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
        """(from, to) of every transition. One to the same state exists only if the seed lists it (`selves`)."""
        return tuple(
            (source, other) for source in self.sources for other in self.targets if self.selves or source != other
        )


@dataclass(frozen=True, kw_only=True)
class Lifecycle:
    """The states of one entity, the initial one first. `failed_<gate>` is a family of states."""

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
        """The states of the shortest legal path after the first. Empty if there is none. A terminal state only ends a
        path.
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


FAILED, STOPPED, VOIDED = "failed_<gate>", "stopped_<reason>", "voided_<reason>"
"""The three families of states of the document run."""


# --- document run: seed 000 -------------------------------------------------------------------------------------------


def _way() -> Iterator[tuple[str, str, str]]:
    """(From, to, trigger) of the one forward transition of each state, from the table of gates."""
    for gate in GATES:
        if gate.sovereign is not None:
            yield GATES[gate.number - 2].to_state.value, gate.from_state.value, gate.sovereign.value
        yield gate.from_state.value, gate.to_state.value, gate.name


_OPEN = tuple(state.value for state in State if state is not State.CLOSEOUT_REPORTED)
_UNENACTED = tuple(state for state in _OPEN if state != State.LIFECYCLE_ENACTED)
_CAUSES = frozenset(
    {"stop", *(gate.name for gate in GATES), *(gate.sovereign.value for gate in GATES if gate.sovereign)}
)
"""The causes of a stop or a failure in our own events: the gate, the request, or a recorded stop."""
_REACHED = (State.PENDING.value, *(gate.to_state.value for gate in GATES[:-1]))

DOCUMENT_RUN = Lifecycle(
    name="document_run",
    seed="000 §1, §2",
    states=(*(state.value for state in State), FAILED, STOPPED, VOIDED, SKIPPED),
    terminal=(State.CLOSEOUT_REPORTED.value, FAILED, VOIDED, SKIPPED),
    rules=(
        *(Rule(sources=(source,), targets=(target,), trigger=trigger) for source, target, trigger in _way()),
        Rule(sources=(State.PENDING.value,), targets=(SKIPPED,), trigger="already_enacted",
             extension="a run that has nothing to do (001 §9) ends in a state of its own"),
        Rule(sources=(*_OPEN, STOPPED), targets=(FAILED,), trigger="invariant_violation", severity="error",
             words=_CAUSES, whence="any open state"),
        Rule(sources=(*_OPEN, STOPPED), targets=(STOPPED,), trigger="sovereign_stop, drift_detected or a cap",
             words=_CAUSES | {"sovereign_stop", "drift_detected", "cap"}, severity="warning", selves=True,
             whence="any open state"),
        Rule(sources=(STOPPED,), targets=_REACHED, trigger="resume", whither="the state last reached",
             extension="a stopped run is resumable (§1, §7) and continues from the state of its last sealed gate"),
        Rule(sources=(*_UNENACTED, STOPPED), targets=(VOIDED,), trigger="void", severity="warning",
             words=frozenset({"stop"}), whence="any state before enactment",
             extension="§1 has voided states and §2 no way into one"),
        Rule(sources=(FAILED,), targets=(VOIDED,), trigger="void", severity="warning",
             extension="terminal failure: the operator must void or amend (§7); the one exit from a terminal state"),
    ),
)  # fmt: skip

# --- all others: lifecycles.toml --------------------------------------------------------------------------------------

TASKS_FAILED = "tasks_failed"
"""Our own trigger: a workstream failed without a critical failure, because nothing runs and a task did not complete.
The seed's derivation leaves such a workstream in `executing` without end.
"""


def _rule(table: Json, row: Json) -> Rule:
    groups, trigger = table.get("groups", {}), row.get("trigger") or table["trigger"]
    whence, whither = (end if isinstance(end, str) and end in groups else "" for end in (row["from"], row["to"]))
    return Rule(
        sources=_states(groups.get(whence, row["from"])), targets=_states(groups.get(whither, row["to"])),
        whence=whence, whither=whither, trigger=trigger, words=frozenset(table.get("words", {}).get(trigger, ())),
        extension=row.get("reason", ""), severity=row.get("severity", "info"), demanded=row.get("demanded", False),
        selves=table.get("selves", False),
    )  # fmt: skip


def _states(states: str | list[str]) -> tuple[str, ...]:
    return (states,) if isinstance(states, str) else tuple(states)


_TABLES = {
    name: Lifecycle(
        name=name, seed=table["seed"], states=tuple(table["states"]), terminal=tuple(table["terminal"]),
        rules=tuple(_rule(table, row) for row in (*table["rules"], *table.get("extensions", ()))),
    )
    for name, table in tomllib.loads(
        (resources.files("cutter.lifecycle") / "lifecycles.toml").read_text(encoding="utf-8")
    ).items()
}  # fmt: skip
BATCH = _TABLES["batch"]
REQUEST = _TABLES["request"]
RUN = _TABLES["run"]
STEP = _TABLES["step"]
APPROVAL = _TABLES["approval"]
TASK = _TABLES["task"]
WORKSTREAM = _TABLES["workstream"]
WORKER = _TABLES["worker"]

LIFECYCLES = (DOCUMENT_RUN, *_TABLES.values())
BY_NAME = {lifecycle.name: lifecycle for lifecycle in LIFECYCLES}
BY_EVENT_TYPE = {lifecycle.event_type: lifecycle for lifecycle in LIFECYCLES}
