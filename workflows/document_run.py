"""Orchestration: one law, one workflow: fourteen states, eleven gates, two sovereign gates (seed 000)."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta
from typing import Any, NoReturn

from temporalio import workflow
from temporalio.exceptions import ApplicationError

with workflow.unsafe.imports_passed_through():
    from pydantic import TypeAdapter, ValidationError

    from cutter import limits
    from cutter.catalogue import GATES, Gate, Sovereign, State
    from cutter.domain.task_priority import Urgency
    from cutter.messages import (
        BeginInput,
        EndRequestInput,
        JudgeResult,
        RequestInput,
        RequestView,
        ResumeInput,
        RunInput,
        RunResult,
        RunView,
        StateView,
    )
    from temporal import names as options
    from temporal.outcome import closed
    from workflows import inbox as mail
    from workflows import view
    from workflows.control import Away, Broken, control
    from workflows.holding import Again, Astray, Ended
    from workflows.passage import Passage

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
"""Approvals that were refused because the run does not wait with this request: the database is asked again."""

CLOCKS_APART_SECONDS = 1
CLOCK_LOOKS = 5
"""Looks whether a request is over by the database's clock too, and the time between them."""


@workflow.defn(name=options.DOCUMENT_RUN)
class DocumentRun(Passage):
    """A document run: the list of its gates, and what people decide between them."""

    refused_together: frozenset[str] = frozenset()

    @workflow.run
    async def run(self, *inputs: Any) -> RunResult:
        """Start with one RunInput, as JSON: {"document_id": "ICX-LAW-2026-001"}."""
        start = _parse(inputs)
        main = asyncio.create_task(self._main(start))
        while not main.done():
            try:
                await workflow.wait_condition(main.done)
            except asyncio.CancelledError:
                # Temporal's own cancel is a cancel like any other: at the next boundary, never inside a transaction.
                self.receive("cancel", ({"reason": "cancelled through Temporal"},))
        result = main.result()
        self.reply_to_the_rest(result.state)
        await workflow.wait_condition(workflow.all_handlers_finished)
        return closed(result, self.next_command())

    async def _main(self, start: RunInput) -> RunResult:
        self.start, self.active = start, timedelta(seconds=start.active_seconds)
        try:
            await self._look(start)
            while True:
                try:
                    if self.board.state.startswith("stopped_"):
                        await self.wait_for_resume()
                    await self._through_gates()
                    # What the workflow was told is no proof: the run is over when the database says so.
                    raise Astray
                except Astray:
                    await self._look_again(start)
                except Again:
                    self.board.request, self.board.accepted = None, {}
        except Ended as end:
            return end.result

    async def _through_gates(self) -> None:
        for gate in GATES:
            if gate.sovereign is not None and self.board.mode == "dryrun":
                await self._rehearse(gate)
            elif gate.name in self.sealed:
                continue
            elif gate.sovereign is None:
                await self.attempt(gate, ())
            else:
                await self._collect(gate, await self._open(gate))

    async def _look(self, start: RunInput) -> None:
        """Register the run or find it: receipts that are sealed answer their gates, also in a new execution."""
        self.board.document_id, self.board.run_id = start.document_id, start.run_id or ""
        first = BeginInput(run=start, first_execution_id=workflow.info().first_execution_run_id)
        seen: RunView = await self._registered(first)
        self.caps, self.sealed = seen.caps, set(seen.sealed)
        board = self.board
        self.board = replace(
            board,
            document_id=seen.document_id,
            run_id=seen.run_id,
            mode=seen.mode,
            state=seen.state,
            note=seen.next_command if seen.state.startswith("stopped_") else "",
            batch_id=start.batch_id or "",
            facts=dict(seen.facts),
            passed={gate: board.passed.get(gate, "") for gate in seen.sealed},
            outcome="",
            gate="",
            request=None,
            accepted={},
            created_by=start.starter,
        )
        self.show()
        self.filter_by()
        if seen.outcome is not None or view.is_terminal(seen.state):
            outcome = seen.outcome or ("success" if seen.state == State.CLOSEOUT_REPORTED else "")
            raise Ended(await self.close(seen.state, outcome=outcome))

    async def _registered(self, first: BeginInput) -> RunView:
        """The run as the database has it. Its caps are known only then, so an outage is shown after two tries."""
        asks = "ask the database for the run"
        while True:
            try:
                return await control("begin_run", first, RunView, self.caps, summary=asks, tries=2)
            except Away as problem:
                await self._outage(f"stopped_unavailable_{problem.what}", str(problem), registered=False)
            except Broken as problem:
                raise ApplicationError(f"the run could not be registered: {problem}", non_retryable=True) from None

    async def _look_again(self, start: RunInput) -> None:
        """Go back to the first gate that is not sealed; who sends us back too often is for people to find."""
        self.sent_back += 1
        await self._look(replace(start, run_id=self.board.run_id))
        if self.sent_back > limits.SENT_BACK_A_RUN:
            with suppress(Again):
                await self.hold(
                    "stopped_unavailable_receipts", "gates that were said to have passed are not sealed", ""
                )

    async def _rehearse(self, gate: Gate) -> None:
        """Leg A in a transaction that is rolled back; then the request with its digests, and the run is over."""
        await self.attempt(gate, ())
        await self._open(gate)
        await self.finish("rehearsed")

    async def _open(self, gate: Gate) -> RequestView:
        await self.boundary()
        assert gate.sovereign is not None
        name = gate.sovereign.value
        asked = RequestInput(run_id=self.board.run_id, gate=name)
        request: RequestView = await self.control("open_request", asked, RequestView, f"{name}: write the request")
        match request.status:
            case "drift":
                await self.hold(f"stopped_drift_{request.code}", request.reason, gate.name)
            case "stopped":
                await self.stop_here(mail.StopOrder(kind=request.code, reason=request.reason))
            case "denied":
                await self.fail("failed_policy", request.reason, gate.name)
            case "refused" if request.code == "no_policy_epoch":
                await self.hold("stopped_unavailable_policy", "no approver policy is installed", gate.name)
            case "refused":
                raise Astray
            case "requested":
                self.board.request, self.board.state, self.board.gate = request, AWAITING[gate.sovereign].value, ""
                self.board.accepted, self.board.requested_utc = {}, workflow.now().isoformat()
                for kb_id in request.offered:
                    self.box = mail.forget(self.box, kb_id)
                    self.receive("submit_approval", (kb_id,))
                self.show()
                self.filter_by()
        return request

    async def _collect(self, gate: Gate, request: RequestView) -> None:
        """Wait for approvals until enough are accepted and the gate has consumed them, or the request expires."""
        used = dict(request.accepted)
        refused = self.refusals_recorded = 0
        while True:
            self.board.accepted = dict(used)
            if len(used) >= request.approvers_needed:
                code = await self.attempt(gate, tuple(sorted(used.values())))
                if not code:
                    return
                if code in NO_REQUEST or self._others_may_hold(used):
                    await self._ask_again(gate, code)
                used, refused = self._offer_again(used), refused + 1
                self.board.accepted, self.board.gate = {}, ""
            self.show()
            letter = await self._next_letter(request)
            if letter is not None:
                verdict = await self._answer(request, letter)
                if verdict is not None and verdict.accepted and verdict.decision == "approve":
                    used[verdict.approver] = letter.kb_id or ""
                    self._hurry(letter.kb_id not in request.offered)
                refused += verdict is None or not verdict.accepted
            refused += await self.record_refusals()
            if refused >= limits.REFUSALS_A_GATE:
                self.box = mail.without_early(self.box)
                await self.hold("stopped_signal_flood", f"{refused} refused messages at {request.gate}", gate.name)

    async def _ask_again(self, gate: Gate, code: str) -> NoReturn:
        """Ask for the request again; who says one thing of it and refuses it for another is for people to find."""
        self.sent_back += 1
        if self.sent_back > limits.SENT_BACK_A_RUN:
            await self.hold("stopped_unavailable_request", f"{gate.name} refuses what was accepted: {code}", gate.name)
        raise Again

    def _hurry(self, late: bool) -> None:
        """What was to be done overnight and is approved only now goes before the nights' and the batches' gates."""
        mine = workflow.info().priority
        if late and mine.priority_key == Urgency.OVERNIGHT:
            self.turn = options.sooner(mine, Urgency.LATE_APPROVAL)

    def _others_may_hold(self, used: dict[str, str]) -> bool:
        """Of several approvals one was refused; whether others hold is asked of the database, of the same ones once."""
        before, self.refused_together = self.refused_together, frozenset(used.values())
        return len(used) > 1 and self.refused_together != before

    def _offer_again(self, used: dict[str, str]) -> dict[str, str]:
        for kb_id in used.values():
            self.box = mail.forget(self.box, kb_id)
        return {}

    async def _next_letter(self, request: RequestView) -> mail.Letter | None:
        """The oldest letter, or None when only refusals have come. A stop comes first, always."""
        # The server takes 10,000 signals in one execution: a flood must not keep out a good approval.
        self._begin_anew_when_long()
        # What is shown is cut to the second.
        left = view.expiry(request) + timedelta(seconds=CLOCKS_APART_SECONDS) - workflow.now()
        try:
            await workflow.wait_condition(
                self._has_news, timeout=max(left, timedelta(milliseconds=1)), timeout_summary=f"{request.gate} expires"
            )
        except TimeoutError:
            await self._expire(request)
        await self.boundary()
        letter, self.box = mail.take(self.box)
        return letter

    async def _answer(self, request: RequestView, letter: mail.Letter) -> JudgeResult | None:
        """The verdict on a letter; None for one that names no document. Rejections and voids end the run."""
        if letter.kb_id is None:
            needed = f"{request.gate} waits for a signed approval: {request.kb_id}"
            self.reply(letter.ticket, "refused", "approval_needed", needed)
            return None
        verdict = await self.judge(request.gate, letter, letter.kb_id)
        if verdict.accepted and verdict.decision == "reject":
            await self._reject(request, verdict)
        if verdict.accepted and verdict.decision == "void":
            await self.void_run(letter.kb_id)
        if verdict.accepted and verdict.decision in ("resume", "acknowledge_drift"):
            await self._go_on(verdict)
        return verdict

    async def _go_on(self, verdict: JudgeResult) -> None:
        """The run was stopped behind this workflow's back, and a person resumes it: do as they say, then ask again."""
        order = ResumeInput(run_id=self.board.run_id, statement_sha256=verdict.approval_sha256)
        await self.control("resume_run", order, StateView, "resume the run")
        raise Again

    async def _expire(self, request: RequestView) -> None:
        ended = EndRequestInput(run_id=self.board.run_id, gate=request.gate, status="expired")
        for _ in range(CLOCK_LOOKS):
            done: StateView = await self.control("end_request", ended, StateView, f"{request.gate}: expired")
            if done.code != "not_so":
                await self.hold("stopped_expired", f"{request.gate} expired at {request.expires_utc}", request.gate)
            await self.pause(CLOCKS_APART_SECONDS, "the database's clock is behind ours")
        raise Again

    async def _reject(self, request: RequestView, verdict: JudgeResult) -> None:
        ended = EndRequestInput(
            run_id=self.board.run_id, gate=request.gate, status="rejected", approval_sha256=verdict.approval_sha256
        )
        await self.control("end_request", ended, StateView, f"{request.gate}: rejected by {verdict.approver}")
        await self.fail("failed_rejected", f"rejected by {verdict.approver}", request.gate)


def _parse(inputs: Sequence[Any]) -> RunInput:
    adapter = TypeAdapter(RunInput)
    try:
        return adapter.validate_python(inputs[0] if len(inputs) == 1 else None)
    except ValidationError as problem:
        first = problem.errors()[0]
        field = ".".join(str(part) for part in first["loc"]) or "input"
        raise ApplicationError(
            f'{field}: {first["msg"]}; start with one argument such as {{"document_id": "ICX-LAW-2026-001"}}',
            non_retryable=True,
        ) from None
