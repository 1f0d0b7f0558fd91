"""Orchestration: the workflow of a batch, the parent of many document runs (seed 001; spec "The batch").

The workflow holds nothing that the database does not have. In each step it asks the database what to do, and does it.
So a batch that was killed, reset or started again continues from the state of its documents.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any, Literal

from temporalio import workflow
from temporalio.common import RawValue, WorkflowIDReusePolicy
from temporalio.exceptions import ApplicationError, WorkflowAlreadyStartedError

with workflow.unsafe.imports_passed_through():
    from pydantic import ValidationError

    from cutter import limits
    from cutter.domain import ids
    from cutter.domain.task_priority import Urgency
    from cutter.messages import (
        BatchHalted,
        BatchInput,
        BatchResult,
        BatchStart,
        BatchStep,
        Caps,
        HaltInput,
        RunInput,
        SetAnswer,
        SetInput,
        SteerInput,
    )
    from temporal import names
    from temporal.outcome import closed
    from workflows import batch_display as view
    from workflows.activity_calls import (
        ActivityFailed,
        DependencyUnavailable,
        Result,
        adapter,
        call_activity,
    )

Answer = dict[str, Any]


@workflow.defn(name=names.BATCH)
class Batch:
    """The batch: its lanes, sets of approvals and totals. The documents' own workflows outlive this one."""

    def __init__(self) -> None:
        self.display = view.BatchDisplay(batch_id="")
        self.caps = Caps()
        self.orders: list[HaltInput] = []
        self.started = 0
        self.look_again = False
        """True if somebody has changed the batch since its last look began."""
        self.filtered: tuple[Any, ...] = ()

    @workflow.run
    async def run(self, *inputs: Any) -> BatchResult:
        """Start with one BatchInput, as JSON: {"batch_id": "0199…"}."""
        try:
            start: BatchInput = adapter(BatchInput).validate_python(inputs[0] if len(inputs) == 1 else None)
            ids.batch_id(start.batch_id)
        except (ValidationError, ids.InvalidId):
            example = '{"batch_id": "0199f1de-7c3d-7e4f-8a9b-0c1d2e3f4a5b"}'
            message = f"start with one argument such as {example}, a UUID of version 7"
            raise ApplicationError(message, non_retryable=True) from None
        self.display.batch_id = start.batch_id
        main = asyncio.create_task(self._main(start))
        orders = asyncio.create_task(self._carry_out_orders())
        while not main.done():
            try:
                await workflow.wait_condition(lambda: main.done())
            except asyncio.CancelledError:
                # A cancel through Temporal works like any other cancel: the documents stop at their next boundary.
                self._order("cancel", "cancelled through Temporal")
        orders.cancel()
        await workflow.wait_condition(workflow.all_handlers_finished)
        return closed(main.result(), f"cutter status {start.batch_id}")

    async def _main(self, start: BatchInput) -> BatchResult:
        step: BatchStep | None = None
        while step is None:
            try:
                step = await self._ask("begin_batch", start, BatchStep, "read the queue")
            except DependencyUnavailable as problem:
                await self._outage(str(problem))
            except ActivityFailed as problem:
                raise ApplicationError(f"the batch was not started: {problem}", non_retryable=True) from None
        self._show(step)
        # After continue-as-new, the batch does not start its open items again, except those that the execution before
        # has not named. Naming them all would fill the new history and make another continue-as-new necessary at once.
        adopt = start.adopt and (workflow.info().continued_run_id is None or start.adopt_after > 0)
        while True:
            fresh, self.look_again = self.look_again, False
            step = await self._steer(adopt=adopt, adopt_after=start.adopt_after, fresh=fresh)
            start = replace(start, adopt_after=step.adopted)
            adopt = step.adopted > 0
            self._show(step)
            await asyncio.gather(*(self._start_document(start) for start in step.starts))
            await asyncio.gather(
                *(self._tell(stop.document_id, stop.kind, {"reason": stop.reason}) for stop in step.stops)
            )
            if step.over and not await self._goes_on():
                return BatchResult(
                    batch_id=start.batch_id, state=step.state, totals=step.totals, report=step.report, reason=step.note
                )
            long = workflow.info().is_continue_as_new_suggested() or self.started >= limits.BATCH_STARTS
            if long and not self.orders and workflow.all_handlers_finished():
                workflow.continue_as_new(start)

    async def _goes_on(self) -> bool:
        """True if the batch was changed after the look that found it over.

        A command that changes the batch commits to PostgreSQL first and then sends `look`. Temporal closes no workflow
        that has an unread message. So the change reaches this execution, or `look` starts the next one.
        """
        await workflow.wait_condition(workflow.all_handlers_finished)
        return bool(self.orders) or self.look_again

    async def _steer(self, *, adopt: bool, adopt_after: int, fresh: bool) -> BatchStep:
        """Ask the database for the next step. With `fresh` the activity answers at once, else it waits for a change."""
        while True:
            fingerprint = "" if adopt or fresh else self.display.steering.seen
            asked = SteerInput(batch_id=self.display.batch_id, seen=fingerprint, adopt=adopt, adopt_after=adopt_after)
            last = self.display.steering
            items = sum(last.totals.get(name, 0) for name in view.STAGES)
            summary = f"{last.state.removeprefix('batch_')}: {last.totals.get('settled', 0)} of {items} settled"
            try:
                step = await self._ask("steer_batch", asked, BatchStep, summary, seconds=limits.STEER_SECONDS * 2)
            except (DependencyUnavailable, ActivityFailed) as problem:
                await self._outage(str(problem))
                continue
            self.display.outage = ""
            return step

    async def _ask(
        self,
        name: str,
        argument: Any,
        result: type[Result],
        summary: str,
        *,
        seconds: float = limits.CONTROL_ACTIVITY_SECONDS,
    ) -> Result:
        return await call_activity(
            name, argument, result, self.caps, summary=summary, queue=names.BATCH_QUEUE, seconds=seconds
        )

    async def _outage(self, reason: str) -> None:
        self.display.outage = f"waiting: {reason}"
        workflow.set_current_details(view.details(self.display))
        # The pause of a batch before each further question to the database during an outage, until the batch's own cap.
        await workflow.sleep(60, summary="ask the database again")

    async def _start_document(self, start: BatchStart) -> None:
        run = RunInput(
            document_id=start.document_id, run_id=start.run_id, mode=start.mode, starter=start.starter,
            source_uri=start.source_uri, batch_id=self.display.batch_id,
        )  # fmt: skip
        self.started += 1
        # An open workflow continues, because an earlier execution of the batch started it.
        with suppress(WorkflowAlreadyStartedError):
            document = await workflow.start_child_workflow(
                names.DOCUMENT_RUN,
                run,
                id=names.document_workflow_id(start.document_id),
                task_queue=names.WORKFLOW_QUEUE,
                parent_close_policy=workflow.ParentClosePolicy.ABANDON,
                cancellation_type=workflow.ChildWorkflowCancellationType.ABANDON,
                id_reuse_policy=WorkflowIDReusePolicy.ALLOW_DUPLICATE,
                static_summary=f"{start.document_id} · {start.mode} · batch {self.display.batch_id[:8]}",
                static_details=f"run `{start.run_id}` of batch `{self.display.batch_id}`",
                priority=names.priority(Urgency(start.urgency), start.tenant, start.weight),
            )
            # The batch reads from the database how the document ended. So the result is retrieved only to keep its
            # failure out of the log.
            document.add_done_callback(lambda ended: ended.cancelled() or ended.exception())

    async def _tell(self, document_id: str, message: str, argument: Any) -> None:
        document = workflow.get_external_workflow_handle(names.document_workflow_id(document_id))
        with suppress(ApplicationError):
            await document.signal(message, argument)

    # --- what people see and say ----------------------------------------------------------------------------------

    def _show(self, step: BatchStep) -> None:
        """Update the current details of the Web UI, and the search attributes if their values have changed."""
        self.display.steering = step
        workflow.set_current_details(view.details(self.display))
        items = sum(step.totals.get(name, 0) for name in view.STAGES)
        progress = f"{step.totals.get('settled', 0)} of {items}"
        shown = (step.state, step.gate, step.mode, progress)
        if shown == self.filtered:
            return
        self.filtered = shown
        workflow.upsert_search_attributes(
            [
                names.STATE.value_set(step.state),
                names.BATCH_ID.value_set(self.display.batch_id),
                names.GATE.value_set(step.gate) if step.gate else names.GATE.value_unset(),
                names.PROGRESS.value_set(progress),
                *([names.MODE.value_set(step.mode)] if step.mode else []),
            ]
        )

    def _order(self, kind: Literal["stop", "cancel"], argument: Any) -> None:
        reason = argument.get("reason") if isinstance(argument, dict) else argument
        text = " ".join(reason.split()) if isinstance(reason, str) else ""
        # Stops and cancels of a batch that wait. A batch needs no other message from people.
        if len(self.orders) < 50:
            short_reason = text[: limits.REASON_CHARACTERS_MAX] or "no reason given"
            self.orders.append(HaltInput(batch_id=self.display.batch_id, kind=kind, reason=short_reason))

    async def _carry_out_orders(self) -> None:
        """Carry out the orders one after the other. The database wakes the activity that waits for a change."""
        while True:
            await workflow.wait_condition(lambda: bool(self.orders and self.display.batch_id))
            order = replace(self.orders[0], batch_id=self.display.batch_id)
            try:
                done = await self._ask("halt_batch", order, BatchHalted, order.kind)
            except DependencyUnavailable as problem:
                await self._outage(str(problem))
                continue
            except ActivityFailed as problem:
                # The order is dropped, because asking again would not help and a batch with a waiting order never ends.
                done = BatchHalted(code=f"refused: {problem}")
            self.orders = self.orders[1:]
            self.display.say(f"{order.kind}: {done.code[:300]} ({order.reason})")
            workflow.set_current_details(view.details(self.display))

    @workflow.signal(name="stop", description='Stop every document at its next boundary: {"reason": "…"}')
    def stop(self, *messages: Any) -> None:
        self._order("stop", messages[0] if messages else None)

    @workflow.signal(name="cancel", description='Cancel what has written nothing, stop the rest: {"reason": "…"}')
    def cancel(self, *messages: Any) -> None:
        self._order("cancel", messages[0] if messages else None)

    @workflow.signal(name="look", description="Look at the batch again: somebody has changed it")
    def look(self, *_messages: Any) -> None:
        self.look_again = True

    @workflow.signal(dynamic=True)
    def unknown(self, name: str, _arguments: Sequence[RawValue]) -> None:
        self.display.say(f"unknown message {str(name)[:60]}")

    @workflow.update(name="submit_approval_set", description="A folder of signed approvals in the knowledge base")
    async def submit_approval_set(self, *messages: Any) -> Answer:
        # If the update is sent together with a start, it arrives before the workflow knows its batch.
        await workflow.wait_condition(lambda: bool(self.display.batch_id))
        asked = self._set_of(messages[0] if len(messages) == 1 else None)
        if asked is None:
            return _no(
                "malformed", 'the argument is {"folder": "<folder in the knowledge base>", "listing_sha256": "…"}'
            )
        try:
            # a thousand signatures, each verified by gpg
            answer: SetAnswer = await self._ask("judge_set", asked, SetAnswer, "judge a set", seconds=1800)
        except (DependencyUnavailable, ActivityFailed) as problem:
            return _no("unavailable", str(problem))
        if answer.status == "refused":
            return _no(answer.code, answer.reason)
        accepted = [entry for entry in answer.entries if entry.accepted]
        for first in range(0, len(accepted), limits.BATCH_ORDERS_AT_ONCE):
            some = accepted[first : first + limits.BATCH_ORDERS_AT_ONCE]
            await asyncio.gather(*(self._tell(entry.document_id, "submit_approval", entry.kb_id) for entry in some))
        self.look_again = True
        self.display.say(f"a set: {len(accepted)} accepted, {len(answer.entries) - len(accepted)} refused")
        workflow.set_current_details(view.details(self.display))
        return {
            "status": "accepted" if accepted else "refused",
            "accepted": [entry.document_id for entry in accepted],
            "refused": [
                {"document_id": entry.document_id, "kb_id": entry.kb_id, "code": entry.code, "reason": entry.reason}
                for entry in answer.entries
                if not entry.accepted
            ],
            "missing": list(answer.missing),
        }

    def _set_of(self, argument: Any) -> SetInput | None:
        if isinstance(argument, str):
            argument = {"folder": argument}
        if not isinstance(argument, dict) or not set(argument) <= {"folder", "listing_sha256"}:
            return None
        folder, listing = argument.get("folder"), argument.get("listing_sha256") or ""
        if not isinstance(folder, str) or not ids.is_kb_folder(folder) or not isinstance(listing, str):
            return None
        return SetInput(batch_id=self.display.batch_id, folder=folder.rstrip("/"), listing_sha256=listing[:64])

    @workflow.query(name="status", description="Where the batch is and what moves it")
    def status(self, *_: Any) -> dict[str, Any]:
        return view.status(self.display)


def _no(code: str, reason: str) -> Answer:
    return {"status": "refused", "code": code, "reason": reason, "accepted": [], "refused": [], "missing": []}
