"""Pure: the first lines of a run's report: one sentence about the state of the run, and the next commands."""

from __future__ import annotations

from collections.abc import Sequence

from cutter.catalogue import Sovereign, State
from cutter.domain.amounts import counted
from cutter.domain.next_step import AWAITING, THEN, Needs
from cutter.domain.run_record import RequestRecord
from cutter.domain.run_state import RunState
from cutter.projections.run_view import ShownGate, ShownRun
from cutter.projections.shown_law import PinnedLaw

GATE_WORDS = {Sovereign.CUT.value: "SG_1: write the units", Sovereign.LIFECYCLE.value: "SG_2: make them effective"}
"""The decision at each sovereign gate, in words."""

GOOD, RUNNING = ("passed", "rehearsed"), ("", "running")
"""The outcomes of gates that need no attention."""


def tone(view: ShownRun) -> str:
    """The kind of the run's state, for its colour: good, bad, held or open."""
    state = RunState(view.state)
    if view.state == State.CLOSEOUT_REPORTED or view.outcome in ("rehearsed", "skipped"):
        return "good"
    if state.failed:
        return "bad"
    return "held" if state.stopped or state.voided else "open"


def headline(view: ShownRun) -> str:
    """One sentence about the state of the run, without the reason."""
    state = RunState(view.state)
    if view.outcome == "rehearsed":
        return "This was a rehearsal: nothing was written."
    if view.outcome == "skipped":
        return "This run did nothing."
    if view.state == State.CLOSEOUT_REPORTED:
        return "The law is enacted, and the run is closed."
    if state == "failed_rejected":
        return "An approver rejected this run."
    if state.failed:
        at = next((f" at {gate.name}" for gate in reversed(view.gates) if needs_a_look(gate)), "")
        return f"The law is enacted, but the run has failed{at}." if enacted(view) else f"This run has failed{at}."
    if state.voided:
        return "This run is voided."
    if state.stopped:
        return "This run is stopped."
    if view.stop:
        return "A person has ordered a stop, and the run has not stopped yet."
    if state in AWAITING:
        return "This run waits for a signed approval." if view.needs == Needs.APPROVAL else "This run is approved."
    return "This run is at work."


def needs_a_look(gate: ShownGate) -> bool:
    """True if the newest attempt of a gate did not end well."""
    return gate.outcome not in (*GOOD, *RUNNING)


def enacted(view: ShownRun) -> bool:
    return any(gate.name == "IG_lifecycle_enact_execute" and gate.outcome == "passed" for gate in view.gates)


def next_commands(view: ShownRun) -> list[str]:
    """The next commands, in order. Without commands that only lead to this report again."""
    commands = str(view.next).split(THEN)
    return [] if commands == [f"cutter report {view.run_id}"] else commands


def units_line(view: ShownRun, law: PinnedLaw) -> str:
    """The number of units of the run in words: those of the shown cut, or those of the sealed plan."""
    count = len(law.view.units) if law.view else view.digests.get("candidate_count")
    return "not known yet" if count is None else counted(int(count), "unit")


def standing(view: ShownRun, law: PinnedLaw) -> str:
    """One sentence about the units that PostgreSQL holds now."""
    if not view.wrote:
        return "Nothing of it is written."
    if RunState(view.state).voided:
        return "The void has withdrawn the drafts."
    now = ", ".join(f"{counted(number, 'unit')} ({status})" for status, number in law.held.items())
    return f"PostgreSQL holds {now}." if now else "PostgreSQL holds none of them now."


def other_cut(unlike: Sequence[str]) -> str:
    """The reason why the report shows no units: this build cuts the text in another way than the run did."""
    return (
        f"This version of cutter cuts the text in another way than this run did: {', '.join(unlike)} of the gates "
        "differ. Type `cutter workers` for the builds, and make this report with the build of the run."
    )


def open_requests(view: ShownRun) -> list[RequestRecord]:
    return [request for request in view.requests if request.status == "requested"]
