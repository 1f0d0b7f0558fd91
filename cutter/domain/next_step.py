"""Pure: what a run waits for, and the one command that moves it (spec "What a person sees").

The state's name and the stop latch decide, as they do in the database (`fn_run_resume`): a latched stop, drift and the
hard cap need a signed document, outages and expiry the operator alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from cutter.gates.catalogue import State

AWAITING = (State.AWAITING_CUT_AUTHORIZATION.value, State.AWAITING_LIFECYCLE_AUTHORIZATION.value)
UNSIGNED_PREFIXES = ("stopped_unavailable_", "stopped_soft_cap_")
UNSIGNED_STATES = ("stopped_expired", "stopped_signal_flood", "stopped_terminated")


class Needs(StrEnum):
    """Who must act: a sovereign with a signature, the operator without, or nobody."""

    NOTHING = "nothing"
    APPROVAL = "signed approval"
    RESUME = "operator's resume"
    SIGNED_RESUME = "signed resume"
    SIGNED_ACKNOWLEDGEMENT = "signed acknowledgement"
    CORRECTION = "correction"
    DELIVERY = "delivery of the stop"


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """What is needed and the command to type; an ended run's command shows or repeats it."""

    needs: Needs
    command: str


def next_step(
    *, run_id: str, document_id: str, state: str, outcome: str | None = None, latched: bool = False,
    wrote: bool = False, law_by: str | None = None,
) -> Step:  # fmt: skip
    """The step after a state. `latched`: the stop latch is set; `wrote`: leg A is sealed, so drafts may stand.

    `law_by` is the run that enacted the law, for a run that was skipped because of it.
    """
    if outcome == "rehearsed":
        return Step(needs=Needs.NOTHING, command=f"cutter run {document_id}")
    if outcome == "skipped":
        return Step(
            needs=Needs.NOTHING, command=f"cutter report {law_by}" if law_by else f"cutter status {document_id}"
        )
    if state == State.CLOSEOUT_REPORTED:
        return Step(needs=Needs.NOTHING, command=f"cutter report {run_id}")
    if state.startswith("voided_"):
        return Step(needs=Needs.NOTHING, command=f"cutter run {document_id}")
    if state.startswith("failed_"):
        again = f"cutter run {document_id} --amends {run_id}"
        return Step(
            needs=Needs.CORRECTION, command=f"cutter void {run_id} --reason TEXT    # then: {again}" if wrote else again
        )
    if state.startswith("stopped_"):
        return _stopped(run_id, state, latched=latched)
    if latched:
        # The latch is in PostgreSQL, but the workflow has not heard of it, or has not reached a boundary yet.
        return Step(needs=Needs.DELIVERY, command="cutter reconcile")
    if state in AWAITING:
        return Step(needs=Needs.APPROVAL, command=f"cutter approve {run_id}")
    return Step(needs=Needs.NOTHING, command=f"cutter status {run_id} --watch")


def _stopped(run_id: str, state: str, *, latched: bool) -> Step:
    if state.startswith("stopped_drift_"):
        return Step(needs=Needs.SIGNED_ACKNOWLEDGEMENT, command=f"cutter acknowledge-drift {run_id} --reason TEXT")
    if not latched and (state.startswith(UNSIGNED_PREFIXES) or state in UNSIGNED_STATES):
        return Step(needs=Needs.RESUME, command=f"cutter orchestrate resume --run-id {run_id}")
    return Step(needs=Needs.SIGNED_RESUME, command=f"cutter approve {run_id} --decision resume --reason TEXT")
