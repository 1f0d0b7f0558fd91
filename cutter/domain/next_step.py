"""Pure: what a run waits for, and the one command that moves it (spec "What a person sees").

A latched stop, drift and the hard cap need a signed document, as in the database (`fn_run_resume`). After an outage or
an expiry the operator alone can resume.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from cutter.catalogue import State
from cutter.domain.run_state import RunState

AWAITING = (State.AWAITING_CUT_AUTHORIZATION.value, State.AWAITING_LIFECYCLE_AUTHORIZATION.value)
UNSIGNED_STATES = ("stopped_expired", "stopped_signal_flood", "stopped_terminated")


THEN = "    # then: "
"""The text between the commands of a step on one line. A shell takes the rest of the line for a comment."""


class Needs(StrEnum):
    """The people who must act: an approver with a signature, the operator without one, or nobody."""

    NOTHING = "nothing"
    APPROVAL = "signed approval"
    RESUME = "operator's resume"
    SIGNED_RESUME = "signed resume"
    SIGNED_VOID = "signed void"
    SIGNED_ACKNOWLEDGEMENT = "signed acknowledgement"
    CORRECTION = "correction"
    DELIVERY = "delivery of the stop"
    EXECUTION = "nobody: approved, the exec worker comes next"
    WORKER = "an exec worker: approved, but none is running"


OF_THE_TEXT = ("failed_source_pin", "failed_mark", "failed_cutplan", "failed_rejected")
"""The failures that a person can mend with a corrected text, or with another profile or option for it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """The need of a run, and the commands to type. `first` is work of a person before them that is no command."""

    needs: Needs
    commands: tuple[str, ...]
    first: str = ""

    @property
    def command(self) -> str:
        """The commands on one line. A shell runs only the first."""
        return THEN.join(self.commands)


@dataclass(frozen=True, slots=True, kw_only=True)
class StepFacts:
    """What decides the next step of a run, as `fn_step_facts` answers it.

    `wrote` says that leg A is sealed, so that drafts may exist, and `enacted` that the enactment is. `law_by` is the
    run that enacted the law, for a run that was skipped. `corrected` says that a version of the document was registered
    after the run began. `approved` says that the open request has its signatures, so an exec worker takes the gate.
    """

    run_id: str
    document_id: str
    state: str
    outcome: str | None = None
    latched: bool = False
    wrote: bool = False
    enacted: bool = False
    law_by: str | None = None
    corrected: bool = False
    approved: bool = False
    exec_worker: bool = True


def next_step(run: StepFacts) -> Step:
    """The step that continues a run. An open run is named by its document, which has one open run at most."""
    document_id, state = run.document_id, run.state
    if run.outcome == "rehearsed":
        return _nobody(f"cutter run {document_id}")
    if run.outcome == "skipped":
        return _nobody(f"cutter report {run.law_by}" if run.law_by else f"cutter status {document_id}")
    if state == State.CLOSEOUT_REPORTED:
        return _nobody(f"cutter report {run.run_id}")
    if RunState(state).voided:
        return _nobody(f"cutter run {document_id}")
    if RunState(state).failed:
        return _failed(run)
    if RunState(state).stopped:
        return _stopped(document_id, state, latched=run.latched)
    if run.latched:
        # The latch is in PostgreSQL, but the workflow has not heard of it, or has not reached a boundary yet.
        return Step(needs=Needs.DELIVERY, commands=("cutter reconcile",))
    if state in AWAITING and run.approved:
        if not run.exec_worker:
            return Step(needs=Needs.WORKER, commands=("cutter up",))
        return Step(needs=Needs.EXECUTION, commands=(f"cutter status {document_id} --watch",))
    if state in AWAITING:
        return Step(needs=Needs.APPROVAL, commands=(f"cutter approve {document_id}",))
    return _nobody(f"cutter status {document_id} --watch")


def _nobody(command: str) -> Step:
    return Step(needs=Needs.NOTHING, commands=(command,))


def _failed(run: StepFacts) -> Step:
    """A failed run is over. A person corrects the cause, and a new run names the failed run that it amends. Only drafts
    need a void. After the enactment there is nothing to correct, and people read the result.
    """
    run_id, state = run.run_id, run.state
    if run.enacted or state == "failed_closeout":
        read = (f"cutter report {run_id}", f"cutter audit export --run {run_id} --out audit.jsonl")
        return Step(needs=Needs.CORRECTION, commands=read, first="the law is enacted: see what is missing")
    again = f"cutter run {run.document_id} --amends {run_id}"
    void = (f"cutter void {run_id} --reason TEXT",) if run.wrote else ()
    if state in OF_THE_TEXT and run.corrected:
        return Step(needs=Needs.CORRECTION, commands=(*void, again))
    if state in OF_THE_TEXT:
        add = f"cutter source add FILE --document-id {run.document_id} --profile PROFILE"
        first = "correct the text, or choose another profile or options for it"
        return Step(needs=Needs.CORRECTION, commands=(*void, add, again), first=first)
    first = "put right what the reason names; `cutter doctor` shows the rest"
    if state == "failed_policy":
        first = "read the rule that the reason names: `cutter policy explain`; change it, or run what it allows"
    return Step(needs=Needs.CORRECTION, commands=(*void, again), first=first)


def _stopped(document_id: str, state: str, *, latched: bool) -> Step:
    if state == "stopped_drift_base":
        # No acknowledgement helps: the signatures are for a difference to a law that is no longer in force.
        void, again = f"cutter void {document_id} --reason TEXT", f"cutter run {document_id}"
        return Step(needs=Needs.SIGNED_VOID, commands=(void, again), first="another revision was enacted in between")
    if RunState(state).drifted:
        acknowledge = f"cutter approve {document_id} --decision acknowledge_drift --reason TEXT"
        return Step(needs=Needs.SIGNED_ACKNOWLEDGEMENT, commands=(acknowledge,))
    if state == "stopped_cancel":
        # What had written nothing ended with the cancel. A signed resume is for a cancel that was a mistake.
        return Step(needs=Needs.SIGNED_VOID, commands=(f"cutter void {document_id} --reason TEXT",))
    if not latched and (RunState(state).unavailable or RunState(state).over_soft_cap or state in UNSIGNED_STATES):
        return Step(needs=Needs.RESUME, commands=(f"cutter orchestrate resume --document-id {document_id}",))
    return Step(needs=Needs.SIGNED_RESUME, commands=(f"cutter approve {document_id} --decision resume --reason TEXT",))
