"""Pure: the declared lifecycles: document run (000), batch (001), request (002), run, step and approval (003), task,
workstream and worker (004). The table of gates gives the first one, and `lifecycles.toml` holds the others.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from importlib import resources

from cutter.catalogue import GATES, SKIPPED, State
from cutter.lifecycle.machine import Lifecycle, Rule
from cutter.types import Json

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
