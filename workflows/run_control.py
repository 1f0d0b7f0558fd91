"""Orchestration: stops a run, waits for people, continues and ends the run (SG_3; spec "Resume, void, amend")."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from datetime import timedelta
from typing import Any, Literal, NoReturn

from temporalio import workflow
from temporalio.common import SearchAttributePair, TypedSearchAttributes

with workflow.unsafe.imports_passed_through():
    from cutter import limits
    from cutter.catalogue import SKIPPED, Sovereign, WorkerRole
    from cutter.domain.run_state import RunState
    from cutter.messages import (
        Escalated,
        EscalateInput,
        FinishInput,
        JudgeInput,
        JudgeResult,
        RefusalInput,
        RefusalRecorded,
        Resumed,
        ResumeInput,
        RunFinished,
        RunResult,
        StopInput,
        StopSet,
        VoidInput,
        VoidResult,
    )
    from temporal import names
    from workflows import message_queue
    from workflows.activity_calls import ActivityFailed, DependencyUnavailable, Result, call_activity
    from workflows.run_progress import MessageHandlers, RunProgress, WebUi


class RunEnded(Exception):
    """Raised when the run is over. It carries the result."""

    def __init__(self, result: RunResult) -> None:
        super().__init__(result.state)
        self.result = result


class RestartFromReceipts(Exception):
    """Raised to continue from the first unsealed gate, after a resume or a disagreement with the database."""


class StaleRunState(RestartFromReceipts):
    """Raised if the workflow's view of the gates differs from the database, which it must then ask."""


class RunControl:
    """Stops, resumes and ends a run, and calls its control activities."""

    def __init__(self, progress: RunProgress, messages: MessageHandlers, ui: WebUi) -> None:
        self.progress = progress
        self.messages = messages
        self.ui = ui

    # --- stopping -------------------------------------------------------------------------------------------------

    async def boundary(self) -> None:
        """A boundary between two steps. A stop or a void that has arrived takes effect here."""
        if self.progress.stop is not None:
            await self.stop_here(self.progress.stop)
        for message in [
            message for message in self.progress.queue.messages if message.name == "void" and message.kb_id
        ]:
            self.progress.discard(message)
            await self.judge_order(message)

    async def pause(self, seconds: float, summary: str) -> None:
        """Wait durably. A stop ends the wait early."""
        try:
            await workflow.wait_condition(
                lambda: self.progress.stop is not None,
                timeout=timedelta(seconds=seconds),
                timeout_summary=summary,
            )
        except TimeoutError:
            return

    async def latch(self, order: message_queue.StopOrder) -> bool:
        """Set the stop latch in the database. True if the run has written units."""
        self.progress.latched = True
        kind: Literal["stop", "cancel"] = "cancel" if order.kind == "cancel" else "stop"
        stop = StopInput(run_id=self.progress.run_id, kind=kind, reason=order.reason, by="signal")
        done = await self.call("set_stop", stop, StopSet, f"{kind}: set the stop latch")
        return done.wrote

    async def stop_here(self, order: message_queue.StopOrder) -> NoReturn:
        """Set the latch. A cancelled run without writes then ends. Every other run waits for a signed resume."""
        await self._latch_or_cancel(order)
        await self.hold(f"stopped_{order.kind}", order.reason, "")

    async def _latch_or_cancel(self, order: message_queue.StopOrder) -> None:
        wrote = await self.latch(order)
        self.progress.discard_stop()
        self.progress.latched = False
        if order.kind == "cancel" and not wrote:
            done = await self.escalate("voided_cancelled", order.reason, "")
            if RunState(done.state).terminal:
                raise RunEnded(await self.close(done.state, reason=order.reason))

    async def hold(self, state: str, reason: str, gate: str) -> NoReturn:
        """Record a stop, wait for its resume, then continue. If the database disagrees, the run is not stopped."""
        self.progress.display.gate, self.progress.display.request = "", None
        await self._wait_as_recorded(await self.escalate(state, reason, gate), reason)

    async def _wait_as_recorded(self, done: Escalated, reason: str) -> NoReturn:
        """Wait for the resume of a run whose stop PostgreSQL has recorded or was asked to record."""
        if done.not_so:
            raise StaleRunState
        if RunState(done.state).terminal:
            raise RunEnded(await self.close(done.state, reason=reason))
        self.progress.display.state = done.state
        await self.wait_for_resume()
        raise RestartFromReceipts

    async def wait_for_resume(self) -> None:
        """Wait until a message resumes or voids the run, or until the time is over."""
        self.progress.refusals_recorded = 0
        self.ui.show()
        self.ui.upsert_search_attributes()
        while True:
            self.continue_as_new_when_long()
            try:
                await workflow.wait_condition(self._has_orders, timeout=limits.PARKED_SECONDS, timeout_summary="parked")
            except TimeoutError:
                raise RunEnded(
                    self.result(self.progress.display.state, outcome="parked", reason="stopped for 30 days")
                ) from None
            await self.record_refusals()
            if self.progress.stop is not None:
                await self._latch_or_cancel(self.progress.stop)
            message, self.progress.queue = message_queue.take(self.progress.queue, orders=True)
            if message is not None and await self._resumed_by(message):
                self.progress.start_counting_again()
                self.progress.display.note = ""
                self.ui.show()
                self.ui.upsert_search_attributes()
                return
            self.ui.show()

    def has_news(self) -> bool:
        return bool(self.progress.queue.messages or self.progress.queue.refused or self.progress.stop)

    def _has_orders(self) -> bool:
        message, _ = message_queue.take(self.progress.queue, orders=True)
        return bool(message or self.progress.queue.refused or self.progress.stop)

    def continue_as_new_when_long(self) -> None:
        """A waiting run with a long history continues in a new execution.

        The database knows everything that the run needs, except the approvals that wait for their gate. So the run
        carries these approvals into the new execution. They must not keep a stopped run in an execution for which the
        server accepts no further signals.
        """
        quiet = not self._has_orders() and workflow.all_handlers_finished()
        if quiet and self.progress.start is not None and workflow.info().is_continue_as_new_suggested():
            # The attributes are named one by one, because an unset Datetime that Temporal carries over cannot be
            # decoded and hangs the run.
            kept = TypedSearchAttributes(
                [
                    SearchAttributePair(names.STATE, self.progress.display.state),
                    SearchAttributePair(names.DOCUMENT_ID, self.progress.display.document_id),
                    SearchAttributePair(names.MODE, self.progress.display.mode),
                ]
            )
            again = replace(
                self.progress.start,
                run_id=self.progress.run_id,
                active_seconds=self.progress.active.total_seconds(),
                waiting=message_queue.early(self.progress.queue),
            )
            workflow.continue_as_new(again, search_attributes=kept)

    async def _resumed_by(self, message: message_queue.Message) -> bool:
        statement = None
        if message.kb_id is not None:
            verdict = await self.judge_order(message)
            if not verdict.accepted or verdict.decision not in ("resume", "acknowledge_drift"):
                return False
            statement = verdict.approval_sha256
        order = ResumeInput(run_id=self.progress.run_id, statement_sha256=statement)
        done = await self.call("resume_run", order, Resumed, "resume the run")
        if done.goes_on:
            self.progress.display.state = done.state
        else:
            self.progress.display.refuse(f"{message.name}: {done.code} ({done.reason})")
        if message.kb_id is None:
            self.messages.reply(message.ticket, "accepted" if done.goes_on else "refused", done.code, done.reason)
        return done.goes_on

    # --- judging --------------------------------------------------------------------------------------------------

    async def judge(self, gate: str, message: message_queue.Message, kb_id: str) -> JudgeResult:
        """Judge one document, and answer the caller of the update with the verdict."""
        asked = JudgeInput(run_id=self.progress.run_id, gate=gate, kb_id=kb_id)
        verdict = await self.call("judge_approval", asked, JudgeResult, f"{gate}: judge {kb_id.rsplit('/', 1)[-1]}")
        if not verdict.accepted:
            self.progress.queue = message_queue.forget(self.progress.queue, kb_id)
            self.progress.display.refuse(f"{verdict.code}: {verdict.reason}")
        self.messages.reply(message.ticket, "accepted" if verdict.accepted else "refused", verdict.code, verdict.reason)
        if not verdict.accepted and verdict.state not in ("", self.progress.display.state):
            # The order was refused because the run is in another state: this workflow was reset, or another execution
            # has moved the run.
            raise StaleRunState
        return verdict

    async def judge_order(self, message: message_queue.Message) -> JudgeResult:
        """Judge an order about the run. If it is an accepted void, carry it out at once."""
        gate = Sovereign.LIFECYCLE if "IG_cut_leg_a_execute" in self.progress.sealed else Sovereign.CUT
        assert message.kb_id is not None
        verdict = await self.judge(gate.value, message, message.kb_id)
        if verdict.accepted and verdict.decision == "void":
            await self.void_run(message.kb_id)
        return verdict

    async def void_run(self, kb_id: str) -> None:
        """Let the exec worker withdraw the drafts and void the run in one transaction."""
        order = VoidInput(run_id=self.progress.run_id, kb_id=kb_id)
        done = await self.call("void_run", order, VoidResult, "void the run", WorkerRole.EXEC)
        if done.voided:
            raise RunEnded(await self.close(done.state, outcome="voided", reason=done.reason))
        self.progress.display.refuse(f"void: {done.code} {done.reason}")

    async def record_refusals(self) -> int:
        """Record the refused messages. Returns how many count against the gate. At most as many as one gate may refuse
        are recorded one by one, so that a flood fills no history.
        """
        entries, self.progress.queue = message_queue.take_refused(self.progress.queue)
        counted = [entry for entry in entries if entry.code != "duplicate"]
        for entry in counted:
            self.progress.display.refuse(f"{entry.name}: {entry.code}: {entry.reason}")
            if self.progress.refusals_recorded < limits.REFUSALS_A_GATE:
                self.progress.refusals_recorded += 1
                record = RefusalInput(
                    run_id=self.progress.run_id,
                    gate=self.progress.display.gate,
                    message=entry.name,
                    code=entry.code,
                    reason=entry.reason,
                )
                await self.call("record_refusal", record, RefusalRecorded, f"refused: {entry.name[:40]} {entry.code}")
        return len(counted)

    # --- outages, escalation, the end -----------------------------------------------------------------------------

    async def call(
        self, name: str, argument: Any, result: type[Result], summary: str, role: WorkerRole = WorkerRole.CUTTER
    ) -> Result:
        """Run a control activity. An outage stops the run visibly, and people resume it after the outage."""
        records = name == "escalate"
        while True:
            try:
                return await call_activity(
                    name, argument, result, self.progress.caps, summary=summary, role=role, waits=self._show_wait
                )
            except DependencyUnavailable as problem:
                await self.outage(f"stopped_unavailable_{problem.dependency}", str(problem), records=records)
            except ActivityFailed as problem:
                reason = f"{name}: {problem.code} {problem}"
                await self.outage("stopped_unavailable_worker_error", reason, records=records)

    def _show_wait(self, why: str) -> None:
        """Show in the Web UI why a step is tried again."""
        self.progress.display.retry(why)
        self.ui.show()

    async def outage(self, state: str, reason: str, *, registered: bool = True, records: bool = False) -> None:
        """Wait until people resume the run, and record the stop in PostgreSQL as soon as that is possible.

        The step has not done its work, so a stop need not wait for it. The run may be over meanwhile; the database says
        so. If no stop is left to record, the step itself is tried again. That is so before the database has registered
        the run, while the run is already stopped, and for a step that `records` a stop.
        """
        display = self.progress.display
        before, display.state = display.state, state
        display.retry(f"{state}: {reason}")
        display.note = f"cutter orchestrate resume --document-id {display.document_id}"
        self.ui.show()
        self.ui.upsert_search_attributes()
        began = workflow.now()
        while not await self._told(registered, workflow.now() - began):
            if workflow.now() - began >= timedelta(seconds=limits.PARKED_SECONDS):
                raise RunEnded(self.result(state, outcome="parked", reason=reason))
            if records or not registered or RunState(before).stopped:
                break
            await self._record_outage(state, reason)
        if registered and self._asked_to_resume():
            # PostgreSQL may have recorded the stop although its answer was lost.
            order, summary = ResumeInput(run_id=self.progress.run_id), f"resume from {state}"
            with suppress(DependencyUnavailable, ActivityFailed):
                await call_activity("resume_run", order, Resumed, self.progress.caps, summary=summary, tries=1)
        display.state, display.note = before, ""
        looks = self._told_to_look(registered)
        if registered and not looks and not self._asked_to_resume() and self.progress.stop is not None:
            await self.stop_here(self.progress.stop)
        self.progress.tickets_seen = self.progress.queue.tickets
        message = next((message for message in self.progress.queue.messages if message.kb_id is None), None)
        if message is not None:
            self.progress.discard(message)
            self.messages.reply(message.ticket, "accepted", "resumed", "tried again")
        if registered and looks:
            raise StaleRunState
        self.ui.show()
        self.ui.upsert_search_attributes()

    async def _told(self, registered: bool, lasted: timedelta) -> bool:
        """Wait for an order during an outage of this length. False if it is time to check the outage again."""
        after = max(self.progress.caps.outage_look_seconds, lasted.total_seconds() / limits.OUTAGE_LOOK_PART)

        def told() -> bool:
            stop = registered and self.progress.stop is not None and not self.progress.latched
            return self._asked_to_resume() or self._told_to_look(registered) or stop

        with suppress(TimeoutError):
            await workflow.wait_condition(
                lambda: told() or self.progress.look_now,
                timeout=timedelta(seconds=min(after, limits.OUTAGE_LOOK_SECONDS_MAX)),
                timeout_summary="look whether the outage is over",
            )
        self.progress.look_now = False
        return told()

    async def _record_outage(self, state: str, reason: str) -> None:
        """Record the stop, then wait for a resume. Returns if PostgreSQL still does not record it."""
        order = EscalateInput(run_id=self.progress.run_id, state=state, reason=reason[: limits.REASON_CHARACTERS_MAX])
        summary = f"SG_3: {state}"
        try:
            done = await call_activity("escalate", order, Escalated, self.progress.caps, summary=summary, tries=1)
        except (DependencyUnavailable, ActivityFailed):
            return
        self._note(done)
        await self._wait_as_recorded(done, reason)

    def _told_to_look(self, registered: bool) -> bool:
        """True for an order of which the database may know more: a void, or a stop of an unregistered run."""
        void = any(message.name == "void" for message in self.progress.queue.messages)
        return self.progress.queue.tickets > self.progress.tickets_seen and (
            void or (not registered and self.progress.stop is not None)
        )

    def _asked_to_resume(self) -> bool:
        return any(message.kb_id is None for message in self.progress.queue.messages)

    async def escalate(self, state: str, reason: str, gate: str) -> Escalated:
        """SG_3: record the stop or failure, and write its report. `not_so`: the database disagrees."""
        short = reason[: limits.REASON_CHARACTERS_MAX]
        order = EscalateInput(run_id=self.progress.run_id, state=state, reason=short, gate=gate)
        done = await self.call("escalate", order, Escalated, f"SG_3: {state}")
        self._note(done)
        return done

    def _note(self, done: Escalated) -> None:
        if done.kb_doc_id:
            self.progress.display.documents["SG_failure_escalation"] = done.kb_doc_id
        self.progress.display.note = done.next_command

    async def fail(self, state: str, reason: str, gate: str) -> NoReturn:
        """End a run that a gate has refused. After a mere claim, the workflow asks the database again."""
        done = await self.escalate(state, reason, gate)
        if done.not_so:
            raise StaleRunState
        raise RunEnded(await self.close(done.state, reason=reason))

    async def finish(self, outcome: Literal["rehearsed", "skipped"]) -> NoReturn:
        """End a run that writes nothing: a rehearsal keeps its state, an enacted version gives `skipped`."""
        done = await self.call(
            "finish_run",
            FinishInput(run_id=self.progress.run_id, outcome=outcome),
            RunFinished,
            f"the run is {outcome}",
        )
        if done.not_so:
            raise StaleRunState
        state = SKIPPED if outcome == "skipped" else self.progress.display.state
        raise RunEnded(await self.close(state, outcome=outcome))

    async def close(self, state: str, *, outcome: str = "", reason: str = "") -> RunResult:
        """Show the end of the run. A run that is over accepts no stop."""
        self.progress.latched = True
        with suppress(StaleRunState):  # the message says that the run was voided, so it is already over
            await self.record_refusals()
        display = self.progress.display
        display.state, display.outcome, display.request, display.gate = state, outcome, None, ""
        self.ui.show()
        self.ui.upsert_search_attributes()
        return self.result(state, outcome=outcome, reason=reason)

    def result(self, state: str, *, outcome: str = "", reason: str = "") -> RunResult:
        """The present state of the run, as its result."""
        documents = self.progress.display.documents
        return RunResult(
            run_id=self.progress.run_id,
            document_id=self.progress.display.document_id,
            state=state,
            outcome=outcome,
            reason=reason[: limits.REASON_CHARACTERS_MAX],
            kb_doc_id=documents.get("IG_closeout") or documents.get("SG_failure_escalation", ""),
            facts=self.progress.display.facts,
        )
