"""Orchestration: the workflow of one law: its states, its gates and its two sovereign gates (seed 000)."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta
from typing import Any

from temporalio import workflow
from temporalio.common import RawValue
from temporalio.exceptions import ApplicationError

with workflow.unsafe.imports_passed_through():
    from pydantic import ValidationError

    from cutter import limits
    from cutter.catalogue import GATES, State
    from cutter.domain.run_state import RunState
    from cutter.messages import BeginInput, RunInput, RunResult, RunView
    from temporal import names
    from temporal.outcome import closed
    from workflows import message_queue, run_display
    from workflows.activity_calls import ActivityFailed, DependencyUnavailable, adapter, call_activity
    from workflows.approval_collector import ApprovalCollector
    from workflows.gate_runner import GateRunner
    from workflows.run_control import RestartFromReceipts, RunControl, RunEnded, StaleRunState
    from workflows.run_progress import Answer, MessageHandlers, RunProgress, WebUi


@workflow.defn(name=names.DOCUMENT_RUN)
class DocumentRun:
    """A document run: its gates in order, and the decisions of people between them."""

    def __init__(self) -> None:
        self.progress = RunProgress()
        self.messages = MessageHandlers(self.progress)
        self.ui = WebUi(self.progress)
        self.control = RunControl(self.progress, self.messages, self.ui)
        self.gates = GateRunner(self.progress, self.control, self.ui)
        self.approvals = ApprovalCollector(self.progress, self.messages, self.control, self.gates, self.ui)

    @workflow.run
    async def run(self, *inputs: Any) -> RunResult:
        """Start with one RunInput, as JSON: {"document_id": "ICX-LAW-2026-001"}."""
        try:
            start: RunInput = adapter(RunInput).validate_python(inputs[0] if len(inputs) == 1 else None)
        except ValidationError as problem:
            first = problem.errors()[0]
            field = ".".join(str(part) for part in first["loc"]) or "input"
            raise ApplicationError(
                f'{field}: {first["msg"]}; start with one argument such as {{"document_id": "ICX-LAW-2026-001"}}',
                non_retryable=True,
            ) from None
        main = asyncio.create_task(self._main(start))
        while not main.done():
            try:
                await workflow.wait_condition(main.done)
            except asyncio.CancelledError:
                # A cancel through Temporal works like any other cancel: it takes effect at the next boundary, never
                # inside a transaction.
                self.messages.receive("cancel", ({"reason": "cancelled through Temporal"},))
        result = main.result()
        self.messages.reply_to_the_rest(result.state)
        await workflow.wait_condition(workflow.all_handlers_finished)
        return closed(result, self.ui.next_command())

    async def _main(self, start: RunInput) -> RunResult:
        self.progress.start, self.progress.active = start, timedelta(seconds=start.active_seconds)
        for kb_id in start.waiting:
            self.messages.receive("submit_approval", (kb_id,))
        try:
            await self._look(start)
            while True:
                try:
                    if RunState(self.progress.display.state).stopped:
                        await self.control.wait_for_resume()
                    await self._through_gates()
                    # An activity's answer is no proof. The run is over only if the database says so.
                    raise StaleRunState
                except StaleRunState:
                    await self._look_again(start)
                except RestartFromReceipts:
                    self.progress.display.request, self.progress.display.accepted = None, {}
        except RunEnded as end:
            return end.result

    async def _through_gates(self) -> None:
        for gate in GATES:
            if gate.sovereign is not None and self.progress.display.mode == "dryrun":
                # Leg A runs in a transaction that is rolled back. Its digests are in the request, which ends the run.
                await self.gates.attempt(gate, ())
                await self.approvals.open_request(gate)
                await self.control.finish("rehearsed")
            elif gate.name in self.progress.sealed:
                continue
            elif gate.sovereign is None:
                await self.gates.attempt(gate, ())
            else:
                await self.approvals.collect(gate, await self.approvals.open_request(gate))

    async def _look(self, start: RunInput) -> None:
        """Register the run or find it. A gate with a sealed receipt is not run again, even in a new execution."""
        self.progress.display.document_id, self.progress.display.run_id = start.document_id, start.run_id or ""
        first = BeginInput(run=start, first_execution_id=workflow.info().first_execution_run_id)
        asks = "ask the database for the run"
        view: RunView | None = None
        while view is None:
            try:
                # The run's caps are unknown until the answer, so an outage is shown after two tries.
                view = await call_activity("begin_run", first, RunView, self.progress.caps, summary=asks, tries=2)
            except DependencyUnavailable as problem:
                await self.control.outage(f"stopped_unavailable_{problem.dependency}", str(problem), registered=False)
            except ActivityFailed as problem:
                raise ApplicationError(f"the run could not be registered: {problem}", non_retryable=True) from None
        self.progress.caps, self.progress.sealed = view.caps, set(view.sealed)
        display = self.progress.display
        self.progress.display = replace(
            display,
            document_id=view.document_id,
            run_id=view.run_id,
            mode=view.mode,
            state=view.state,
            note=view.next_command if RunState(view.state).stopped else "",
            batch_id=start.batch_id or "",
            facts=dict(view.facts),
            passed={gate: display.passed.get(gate, "") for gate in view.sealed},
            outcome="",
            gate="",
            request=None,
            accepted={},
        )
        self.ui.show()
        self.ui.upsert_search_attributes()
        if view.outcome is not None or RunState(view.state).terminal:
            outcome = view.outcome or ("success" if view.state == State.CLOSEOUT_REPORTED else "")
            raise RunEnded(await self.control.close(view.state, outcome=outcome))

    async def _look_again(self, start: RunInput) -> None:
        """Go back to the first gate that is not sealed. If that happens too often, the run stops for people."""
        self.progress.sent_back += 1
        await self._look(replace(start, run_id=self.progress.display.run_id))
        if self.progress.sent_back > limits.SENT_BACK_A_RUN:
            with suppress(RestartFromReceipts):
                await self.control.hold(
                    "stopped_unavailable_receipts", "gates that were reported as passed are not sealed", ""
                )

    # --- messages and queries -------------------------------------------------------------------------------------

    @workflow.signal(name="submit_approval", description="KB id of a signed approval")
    def submit_approval(self, *messages: Any) -> None:
        self.messages.receive("submit_approval", messages)

    @workflow.signal(name="stop", description='Stop at the next boundary: {"reason": "…"}')
    def stop(self, *messages: Any) -> None:
        self.messages.receive("stop", messages)

    @workflow.signal(name="cancel", description='Cancel at the next boundary: {"reason": "…"}')
    def cancel(self, *messages: Any) -> None:
        self.messages.receive("cancel", messages)

    @workflow.signal(name="resume_stopped", description="KB id of a signed resume; none where no signature is needed")
    def resume_stopped(self, *messages: Any) -> None:
        self.messages.receive("resume_stopped", messages)

    @workflow.signal(name="acknowledge_drift", description="KB id of a signed acknowledgement")
    def acknowledge_drift(self, *messages: Any) -> None:
        self.messages.receive("acknowledge_drift", messages)

    @workflow.signal(name="void", description="KB id of a signed void")
    def void(self, *messages: Any) -> None:
        self.messages.receive("void", messages)

    @workflow.signal(name="look", description="During an outage: try now to record the stop in PostgreSQL")
    def look(self, *_messages: Any) -> None:
        self.progress.look_now = True

    @workflow.signal(dynamic=True)
    def unknown(self, name: str, _arguments: Sequence[RawValue]) -> None:
        # The name of an update is not the name of a signal: a signal `resume` must not count as an unsigned resume.
        self.messages.receive(f"signal {name}" if name in message_queue.KNOWN else name, ())

    @workflow.update(name="resume", description="KB id of a signed approval or order; the verdict comes back")
    async def resume(self, *messages: Any) -> Answer:
        return await self.messages.resume(messages)

    @workflow.query(name="status", description="Where the run is and what moves it")
    def status(self, *_: Any) -> dict[str, Any]:
        return run_display.status(self.progress.display, self.ui.next_command())

    @workflow.query(name="request", description="The open request")
    def request(self, *_: Any) -> dict[str, Any]:
        return run_display.request_view(self.progress.display)
