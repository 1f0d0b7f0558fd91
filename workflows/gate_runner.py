"""Orchestration: one gate: its activity, its caps, its visible retries (spec "Caps, retries, resume")."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

from temporalio import workflow
from temporalio.exceptions import ActivityError

with workflow.unsafe.imports_passed_through():
    from cutter import limits
    from cutter.catalogue import GATES, Gate
    from cutter.domain.retry import Denial, Denied, RetryBudget, decide
    from cutter.messages import BackupRefreshed, GateInput, GateOutcome
    from temporal import names
    from workflows.activity_calls import classify_failure, decode_result, failure_reason, lost_worker_delays
    from workflows.message_queue import StopOrder
    from workflows.run_control import RunControl, StaleRunState
    from workflows.run_progress import RunProgress, WebUi


@dataclass(slots=True)
class Tries:
    """The tries of one gate since the run entered or resumed it."""

    failures: int = 0
    lost: int = 0
    busy: int = 0
    stale: int = 0


class GateRunner:
    """Brings a run through one gate at a time."""

    def __init__(self, progress: RunProgress, control: RunControl, ui: WebUi) -> None:
        self.progress = progress
        self.control = control
        self.ui = ui

    async def attempt(self, gate: Gate, approvals: Sequence[str]) -> str:
        """Run one gate. Returns why its approvals were refused, or "". Raises stops, failures and ends."""
        tries = Tries()
        while True:
            await self.control.boundary()
            if self.progress.active.total_seconds() > self.progress.caps.hard_seconds:
                self.progress.active = timedelta()
                minutes = self.progress.caps.hard_seconds / 60
                await self.control.hold("stopped_hard_cap", f"more than {minutes:.0f} min of active time", gate.name)
            self.progress.display.gate = gate.name
            began = workflow.now()
            # The wait after an outage is drawn before the attempt, so that the attempt's row can show it.
            budget = RetryBudget(
                max_attempts=limits.RETRIES_A_GATE + 1, max_failures=limits.FAILURE_BUDGET_A_RUN,
                delays_seconds=self.progress.caps.retry_delays_seconds,
                left_seconds=self.progress.caps.hard_seconds - self.progress.active.total_seconds(),
            )  # fmt: skip
            decision = decide(attempts=tries.failures + 1, failures=self.progress.failures + 1, budget=budget)
            again = decision if isinstance(decision, Denied) else decision.seconds(workflow.random().random())
            try:
                outcome = await self._execute(gate, approvals, again)
            except ActivityError as error:
                self.progress.active += workflow.now() - began
                await self._failed(gate, error, tries, again)
                continue
            self.progress.active += workflow.now() - began
            if outcome is None:
                await self._lost(gate, "its answer was not an outcome", f"worker_{gate.worker.value}", tries)
                continue
            if outcome.status in ("passed", "rehearsed"):
                self._sealed(gate, outcome)
                return ""
            if outcome.status == "approval_refused":
                self.progress.display.refuse(outcome.said)
                return outcome.code or "approval_refused"
            await self._not_passed(gate, outcome, tries)

    async def _execute(self, gate: Gate, approvals: Sequence[str], again: float | Denied) -> GateOutcome | None:
        """Run the gate's activity. None for an answer of another type. A stop meanwhile sets the latch at once."""
        source_uri = self.progress.start.source_uri if gate.number == 1 and self.progress.start else None
        handle = workflow.start_activity(
            gate.name,
            GateInput(
                run_id=self.progress.run_id,
                approval_kb_ids=tuple(approvals),
                source_uri=source_uri,
                retry_seconds=None if isinstance(again, Denied) else round(again, 1),
            ),
            task_queue=names.TASK_QUEUES[gate.worker],
            start_to_close_timeout=timedelta(
                seconds=self.progress.caps.soft_seconds.get(gate.phase, gate.cap_minutes * 60)
            ),
            schedule_to_start_timeout=timedelta(seconds=self.progress.caps.worker_wait_seconds),
            heartbeat_timeout=timedelta(seconds=self.progress.caps.heartbeat_seconds),
            retry_policy=names.ONCE,
            cancellation_type=workflow.ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
            summary=f"{gate.number} of {len(GATES)} · {gate.phase}",
            priority=self.progress.priority,
        )
        await workflow.wait_condition(
            lambda: handle.done() or (self.progress.stop is not None and not self.progress.latched)
        )
        if not handle.done() and self.progress.stop is not None:
            await self.control.latch(self.progress.stop)
        return decode_result(await handle, GateOutcome)

    async def _not_passed(self, gate: Gate, outcome: GateOutcome, tries: Tries) -> None:
        """Handle an outcome that did not seal the gate. Returns if the gate must be tried again."""
        match outcome.status:
            case "skipped":
                await self.control.finish("skipped")
            case "drift" | "needs_approval":
                await self.control.hold(outcome.state, outcome.reason, gate.name)
            case "stopped":
                await self.control.boundary()
                await self.control.stop_here(StopOrder(kind=outcome.code, reason=outcome.reason))
            case "lane_busy":
                tries.busy += 1
                # for more than half an hour
                if tries.busy > 720:
                    await self.control.hold("stopped_unavailable_write_lane", outcome.reason, gate.name)
                # Without jitter, runs that were approved together would come back together to one lane.
                seconds = self.progress.caps.lane_wait_seconds * (0.2 + 0.8 * workflow.random().random())
                await self.control.pause(seconds, f"{gate.name}: write lane busy, try {tries.busy + 1}")
            case "backup_stale":
                tries.stale += 1
                # A backup takes longer than it may be old.
                if tries.stale > 3:
                    await self.control.hold("stopped_unavailable_backup", outcome.reason, gate.name)
                order, why = GateInput(run_id=self.progress.run_id), "a new backup, because the old one is stale"
                fresh = await self.control.call("refresh_backup", order, BackupRefreshed, why)
                if fresh.status in ("failed", "needs_approval") and fresh.state:
                    await self._not_passed(gate, fresh, tries)
                if fresh.status != "passed":
                    await self.control.hold("stopped_unavailable_backup", f"{fresh.code}: {fresh.reason}", gate.name)
            case "failed":
                await self.control.fail(outcome.state, outcome.said, gate.name)
            case "ended" if outcome.code == "stale_attempt":
                # Another attempt was registered after ours, and the fence lets only the newest attempt write.
                await self._lost(gate, "another attempt was newer", f"worker_{gate.worker.value}", tries)
                # The pause is needed because two executions that both try at once would fence out each other forever.
                await self.control.pause(
                    self.progress.caps.lane_wait_seconds * workflow.random().random(), f"{gate.name}: tried again"
                )
            case _:
                raise StaleRunState

    async def _failed(self, gate: Gate, error: ActivityError, tries: Tries, again: float | Denied) -> None:
        """Wait until the gate may be tried again, or stop the run."""
        kind, what = classify_failure(error, gate.worker)
        reason = failure_reason(error)
        match kind:
            case "cap":
                await self.control.hold(f"stopped_soft_cap_{gate.phase}", f"{gate.name} ran over its cap", gate.name)
            case "worker":
                await self.control.hold(
                    f"stopped_unavailable_{what}", f"no {gate.worker.value} worker took the gate", gate.name
                )
            case "lost":
                await self._lost(gate, "its worker was lost", what, tries)
            case "unavailable":
                tries.failures += 1
                self.progress.failures += 1
                if isinstance(again, Denied):
                    await self.control.hold(f"stopped_unavailable_{what}", f"{again.code}: {reason}", gate.name)
                next_try = f"{gate.name}: {what} is unavailable, try {tries.failures + 1}"
                self.progress.display.retry(f"{next_try} in {again:.0f} s ({reason})")
                self.ui.show()
                await self.control.pause(again, next_try)
                self.progress.active += timedelta(seconds=again)
            case _:
                await self.control.hold(
                    f"stopped_error_{gate.phase}", f"{Denial.TERMINAL}: {what}: {reason}", gate.name
                )

    async def _lost(self, gate: Gate, why: str, what: str, tries: Tries) -> None:
        """Let another worker take the next attempt, because this one has no usable outcome."""
        tries.lost += 1
        # If more attempts die with their workers, the gate itself kills them.
        most = 21
        delays = lost_worker_delays(self.progress.caps)
        budget = RetryBudget(max_attempts=most, max_failures=most, delays_seconds=delays)
        decision = decide(attempts=tries.lost, failures=tries.lost, budget=budget)
        if isinstance(decision, Denied):
            reason = f"{decision.code}: {gate.name}: {why}, {tries.lost} times"
            await self.control.hold(f"stopped_unavailable_{what}", reason, gate.name)
        self.progress.display.retry(f"{gate.name}: {why}, tried again")
        seconds = decision.seconds(workflow.random().random())
        await self.control.pause(seconds, f"{gate.name}: {why}, try {tries.lost + 1}")

    def _sealed(self, gate: Gate, outcome: GateOutcome) -> None:
        display = self.progress.display
        self.progress.sealed.add(gate.name)
        display.passed[gate.name] = f"attempt {outcome.attempt}" if outcome.attempt > 1 else ""
        display.facts |= outcome.facts
        display.state, display.gate, display.request, display.accepted = outcome.state, "", None, {}
        if outcome.kb_doc_id:
            display.documents[gate.name] = outcome.kb_doc_id
        self.ui.show()
