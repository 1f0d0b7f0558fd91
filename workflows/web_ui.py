"""Orchestration: shows a run in the Web UI: current details, search attributes, the next command."""

from __future__ import annotations

from typing import Any

from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from cutter.domain.next_step import AWAITING, StepFacts, next_step
    from temporal import names
    from workflows import run_display
    from workflows.run_progress import RunProgress


class WebUi:
    """Shows a run in the Web UI."""

    def __init__(self, progress: RunProgress) -> None:
        self.progress = progress
        self.upserted: tuple[Any, ...] = ()

    def show(self) -> None:
        """Set the current details of the Web UI. This writes no event."""
        workflow.set_current_details(run_display.details(self.progress.display))

    def upsert_search_attributes(self) -> None:
        """Upsert the search attributes together, at the states by which people filter. Unchanged values are not written
        again.
        """
        display, request = self.progress.display, self.progress.display.request
        candidates = display.facts.get("candidate_count")
        shown = (display.state, request, display.mode, candidates)
        if shown == self.upserted:
            return
        self.upserted = shown
        expires = names.GATE_EXPIRES
        workflow.upsert_search_attributes(
            [
                names.STATE.value_set(display.state),
                names.DOCUMENT_ID.value_set(display.document_id),
                names.MODE.value_set(display.mode),
                names.GATE.value_set(request.gate) if request else names.GATE.value_unset(),
                expires.value_set(run_display.expiry(request)) if request else expires.value_unset(),
                *([names.BATCH_ID.value_set(display.batch_id)] if display.batch_id else []),
                *([names.CANDIDATES.value_set(int(candidates))] if candidates else []),
            ]
        )

    def next_command(self) -> str:
        """The command that a person types now: the command that came with a stop, else the command for the state."""
        display = self.progress.display
        if display.note or not display.run_id:
            return display.note
        # The database stays at the state of a sovereign gate until the next leg is sealed. But a running leg waits for
        # nobody.
        busy = display.state in AWAITING and (display.request is None or bool(display.gate))
        state = "pending" if busy else display.state
        facts = StepFacts(
            run_id=display.run_id, document_id=display.document_id, state=state, outcome=display.outcome or None
        )
        return next_step(facts).command
