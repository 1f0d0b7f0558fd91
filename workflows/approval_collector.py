"""Orchestration: a sovereign gate. It opens the request, collects approvals, and carries out other decisions of
people.
"""

from __future__ import annotations

from datetime import timedelta
from typing import NoReturn

from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from cutter import limits
    from cutter.catalogue import Gate, Sovereign, State
    from cutter.domain.task_priority import Urgency
    from cutter.messages import (
        EndRequestInput,
        JudgeResult,
        OpenedRequest,
        RequestEnded,
        RequestInput,
        Resumed,
        ResumeInput,
    )
    from temporal import names
    from workflows import message_queue, run_display
    from workflows.gate_runner import GateRunner
    from workflows.run_control import RestartFromReceipts, RunControl, StaleRunState
    from workflows.run_progress import MessageHandlers, RunProgress, WebUi

AWAITING = {
    Sovereign.CUT: State.AWAITING_CUT_AUTHORIZATION,
    Sovereign.LIFECYCLE: State.AWAITING_LIFECYCLE_AUTHORIZATION,
}

NO_REQUEST = frozenset(
    {
        "no_open_request",
        "request_expired",
        "request_of_other_digest",
        "decision_not_allowed",
        "approval_consumed_before",
        "threshold_missing",
        "threshold_not_met",
    }
)
"""Codes of approvals that were refused because the run does not wait with this request. The workflow then asks the
database again.
"""


class ApprovalCollector:
    """Waits for people at a sovereign gate."""

    def __init__(
        self, progress: RunProgress, messages: MessageHandlers, control: RunControl, gates: GateRunner, ui: WebUi
    ) -> None:
        self.progress = progress
        self.messages = messages
        self.control = control
        self.gates = gates
        self.ui = ui

    async def open_request(self, gate: Gate) -> OpenedRequest:
        await self.control.boundary()
        assert gate.sovereign is not None
        name = gate.sovereign.value
        asked = RequestInput(run_id=self.progress.run_id, gate=name)
        request = await self.control.call("open_request", asked, OpenedRequest, f"{name}: write the request")
        match request.status:
            case "drift":
                await self.control.hold(f"stopped_drift_{request.code}", request.reason, gate.name)
            case "stopped":
                await self.control.stop_here(message_queue.StopOrder(kind=request.code, reason=request.reason))
            case "denied":
                await self.control.fail("failed_policy", request.reason, gate.name)
            case "refused" if request.code == "no_policy_epoch":
                await self.control.hold("stopped_unavailable_policy", "no approver policy is installed", gate.name)
            case "refused":
                raise StaleRunState
            case "requested":
                self.progress.display.request, self.progress.display.state, self.progress.display.gate = (
                    request,
                    AWAITING[gate.sovereign].value,
                    "",
                )
                self.progress.display.accepted = {}
                for kb_id in request.offered:
                    self.progress.queue = message_queue.forget(self.progress.queue, kb_id)
                    self.messages.receive("submit_approval", (kb_id,))
                self.ui.show()
                self.ui.upsert_search_attributes()
        return request

    async def collect(self, gate: Gate, request: OpenedRequest) -> None:
        """Wait for approvals until enough are accepted and the gate has consumed them, or the request expires."""
        used = dict(request.accepted)
        refused = self.progress.refusals_recorded = 0
        while True:
            self.progress.display.accepted = dict(used)
            if len(used) >= request.approvers_needed:
                code = await self.gates.attempt(gate, tuple(sorted(used.values())))
                if not code:
                    return
                # The database says whether the other approvals still count.
                if code in NO_REQUEST or len(used) > 1:
                    await self._ask_again(gate, code)
                for kb_id in used.values():
                    self.progress.queue = message_queue.forget(self.progress.queue, kb_id)
                used, refused = {}, refused + 1
                self.progress.display.accepted, self.progress.display.gate = {}, ""
            self.ui.show()
            message = await self._next_message(request)
            if message is not None:
                verdict = await self._answer(request, message)
                if verdict is not None and verdict.accepted and verdict.decision == "approve":
                    used[verdict.approver] = message.kb_id or ""
                    self._hurry(message.kb_id not in request.offered)
                refused += verdict is None or not verdict.accepted
            refused += await self.control.record_refusals()
            if refused >= limits.REFUSALS_A_GATE:
                self.progress.queue = message_queue.without_early(self.progress.queue)
                await self.control.hold(
                    "stopped_signal_flood", f"{refused} refused messages at {request.gate}", gate.name
                )

    async def _ask_again(self, gate: Gate, code: str) -> NoReturn:
        """Ask for the request again. If the gate refuses again what was accepted, people must find the cause."""
        self.progress.sent_back += 1
        if self.progress.sent_back > limits.SENT_BACK_A_RUN:
            await self.control.hold(
                "stopped_unavailable_request",
                f"{gate.name} refuses an approval that was accepted before: {code}",
                gate.name,
            )
        raise RestartFromReceipts

    def _hurry(self, late: bool) -> None:
        """Let a document of the night that is approved only by day run before the rest of the night and batches."""
        mine = workflow.info().priority
        if late and mine.priority_key == Urgency.OVERNIGHT:
            self.progress.priority = names.sooner(mine, Urgency.LATE_APPROVAL)

    async def _next_message(self, request: OpenedRequest) -> message_queue.Message | None:
        """The oldest message, or None if only refusals have come. A stop always comes first."""
        # The server accepts 10,000 signals in one execution, and a flood of signals must not keep out a good approval.
        self.control.continue_as_new_when_long()
        # The shown expiry is cut to the second.
        left = run_display.expiry(request) + timedelta(seconds=limits.CLOCKS_APART_SECONDS) - workflow.now()
        try:
            await workflow.wait_condition(
                self.control.has_news,
                timeout=max(left, timedelta(milliseconds=1)),
                timeout_summary=f"{request.gate} expires",
            )
        except TimeoutError:
            ended = EndRequestInput(run_id=self.progress.run_id, gate=request.gate, status="expired")
            for _ in range(limits.CLOCK_CHECKS_MAX):
                done = await self.control.call("end_request", ended, RequestEnded, f"{request.gate}: expired")
                if not done.not_so:
                    reason = f"{request.gate} expired at {request.expires_utc}"
                    await self.control.hold("stopped_expired", reason, request.gate)
                await self.control.pause(limits.CLOCKS_APART_SECONDS, "the database's clock is slower than ours")
            raise RestartFromReceipts from None
        await self.control.boundary()
        message, self.progress.queue = message_queue.take(self.progress.queue)
        return message

    async def _answer(self, request: OpenedRequest, message: message_queue.Message) -> JudgeResult | None:
        """The verdict on a message, or None if the message names no document. A rejection or a void ends the run."""
        if message.kb_id is None:
            needed = f"{request.gate} waits for a signed approval: {request.kb_id}"
            self.messages.reply(message.ticket, "refused", "approval_needed", needed)
            return None
        verdict = await self.control.judge(request.gate, message, message.kb_id)
        if verdict.accepted and verdict.decision == "reject":
            ended = EndRequestInput(
                run_id=self.progress.run_id,
                gate=request.gate,
                status="rejected",
                approval_sha256=verdict.approval_sha256,
            )
            rejected = f"rejected by {verdict.approver}"
            await self.control.call("end_request", ended, RequestEnded, f"{request.gate}: {rejected}")
            await self.control.fail("failed_rejected", rejected, request.gate)
        if verdict.accepted and verdict.decision == "void":
            await self.control.void_run(message.kb_id)
        if verdict.accepted and verdict.decision in ("resume", "acknowledge_drift"):
            # The database stopped the run without this workflow, and now a person resumes it.
            order = ResumeInput(run_id=self.progress.run_id, statement_sha256=verdict.approval_sha256)
            await self.control.call("resume_run", order, Resumed, "resume the run")
            raise RestartFromReceipts
        return verdict
