"""Parts that are away, slow or stale: retries that people see, then a stop that the operator ends."""

from __future__ import annotations

import asyncio
import json
import shutil
import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from functools import partial
from itertools import pairwise
from pathlib import Path

import pytest
from psycopg import sql
from temporalio import activity
from temporalio.exceptions import ApplicationError
from temporalio.worker import ActivityInboundInterceptor, ExecuteActivityInput, Interceptor, Worker

from activities.reconciler import runs as reconciler_runs
from activities.reconciler.batches import Kind
from activities.worker.process import running
from cutter import limits
from cutter.approvals import schema
from cutter.catalogue import WorkerRole
from cutter.domain.run_record import RunRecord
from cutter.lifecycle.validation import Validation
from cutter.messages import GateInput, GateOutcome
from cutter.preflight.checks import RUNS
from cutter.projections.transitions_file import check
from cutter.stack import addresses
from starter.approver import orders
from starter.commands import doctor, status
from starter.commands import run as orchestrate
from starter.commands.reconcile import reading_deps
from temporal import names
from temporal.client import connect
from tests.support.stack import DOCUMENT, Run, Stack
from tests.support.temporal import until
from tests.support.worker_process import is_ready, worker_process

CUT, LIFECYCLE = "SG_cut_authz", "SG_lifecycle_authz"
SECOND = 1 / 60
"""Of a minute, for settings in minutes."""

LOST = "stopped_unavailable_worker_cutter"

MOVED_BEFORE = "update cutter_governance.run set state_at = state_at - interval '1 hour' where run_id = %s"
TRIED_BEFORE = (
    "update cutter_governance.gate_attempt set started_at = started_at - interval '1 hour',"
    " finished_at = finished_at - interval '1 hour' where run_id = %s"
)


SILENT = "update cutter_governance.worker_heartbeat set seen_at = seen_at - interval '1 hour' where role = %s"


class Losing(Interceptor):
    """Loses every try of these activities; they are tried again at once, and then the run stops."""

    def __init__(self, *wanted: str) -> None:
        self.names = set(wanted)

    def intercept_activity(self, next: ActivityInboundInterceptor) -> ActivityInboundInterceptor:
        wanted = self.names

        class Lost(ActivityInboundInterceptor):
            async def execute_activity(self, input: ExecuteActivityInput) -> object:
                if activity.info().activity_type in wanted:
                    raise ApplicationError("the worker was lost")
                return await super().execute_activity(input)

        return Lost(next)


def changed(**settings: object) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("changed", [settings], indirect=True)


@changed(ttl_sg1_hours=10 / 3600)
async def test_an_expired_request_is_made_anew_after_the_operators_resume(stack: Stack) -> None:
    """Seed 003 §6.1. The second request has the same ten seconds: a busy machine must reach leg A within them."""
    async with stack.workers():
        run = await stack.start()
        await run.until_requested(CUT)
        first = (await run.sidecar())["requests"][0]
        sidecar = await run.until_state("stopped_expired")
        assert sidecar["requests"][0]["status"] == "expired"
        status = await run.until_shown("stopped_expired")
        assert status["next_command"] == f"cutter orchestrate resume --document-id {run.document_id}"
        assert (await run.resume())["status"] == "accepted"
        await run.until_requested(CUT)
        fresh = (await run.sidecar())["requests"][-1]
        assert fresh["challenge"] != first["challenge"]
        await run.handle.signal("submit_approval", await run.sign())
        await run.approve(LIFECYCLE)
        assert (await run.result()).state == "closeout_reported"


@changed(soft_cap_seconds={"mark": 1})
async def test_a_statement_over_the_soft_cap_stops_the_run_and_nothing_is_retried(stack: Stack) -> None:
    """Seed 000 §6."""
    async with stack.workers():
        run = await _start_with_held_latch(stack)
        status = await run.until_shown("stopped_soft_cap_mark")
        assert status["next_command"] == f"cutter orchestrate resume --document-id {run.document_id}"
        (attempt,) = (attempt for attempt in (await run.sidecar())["attempts"] if attempt["gate"] == "IG_mark")
        assert attempt["outcome"] == "over_cap"
        stack.let_go()
        assert (await run.resume())["status"] == "accepted"
        await run.until_requested(CUT)


async def test_a_lower_soft_cap_of_the_worker_holds_against_the_run_s(stack: Stack) -> None:
    """Seed 000 §6: the run was registered with a higher cap than that of its worker."""
    async with stack.workers(soft_cap_seconds={"mark": 1}):
        run = await _start_with_held_latch(stack)
        await run.until_shown("stopped_soft_cap_mark", seconds=30)
        (attempt,) = (attempt for attempt in (await run.sidecar())["attempts"] if attempt["gate"] == "IG_mark")
        assert attempt["outcome"] == "over_cap"
        stack.let_go()


async def _start_with_held_latch(stack: Stack) -> Run:
    """The latch's row is held from the moment the first gate is sealed: the second one waits for it."""
    run = await stack.start()

    def hold(gate: str) -> None:
        if gate == "IG_source_pin" and not stack.held:
            stack.take("select from cutter_governance.stop_latch for update")

    stack.hooks.append(hold)
    return run


@changed(soft_cap_seconds={"mark": 1})
async def test_work_over_the_soft_cap_stops_the_run_and_what_it_sealed_counts(stack: Stack) -> None:
    """Seeds 000 §6, 004 "Task Lifecycle" Transition Details."""
    go_on = threading.Event()

    def linger(gate: str) -> None:
        if gate == "IG_mark":
            go_on.wait(20)

    stack.hooks.append(linger)
    async with stack.workers():
        run = await stack.start()
        await run.until_shown("stopped_soft_cap_mark")
        go_on.set()
        assert (await run.resume())["status"] == "accepted"
        await run.until_requested(CUT)
        assert len([attempt for attempt in (await run.sidecar())["attempts"] if attempt["gate"] == "IG_mark"]) == 1


@changed(hard_cap_minutes=0.0005)
async def test_over_the_hard_cap_only_a_signature_goes_on(stack: Stack) -> None:
    """Seed 000 §6."""
    async with stack.workers():
        run = await stack.start()
        status = await run.until_shown("stopped_hard_cap")
        assert status["next_command"] == f"cutter approve {run.document_id} --decision resume --reason TEXT"
        sealed = len((await run.sidecar())["receipts"])
        assert (await run.resume())["status"] == "refused"
        assert (await run.resume(await run.order(schema.RESUME)))["status"] == "accepted"

        async def went_on() -> bool:
            return len((await run.sidecar())["receipts"]) > sealed

        await until(went_on, what="another gate is sealed")


@changed(worker_wait_minutes=SECOND)
@pytest.mark.parametrize(
    ("missing", "gates"), [(WorkerRole.EXEC, ()), (WorkerRole.VERIFY, ("IG_leg_b_record",))], ids=lambda v: str(v)
)
async def test_without_a_worker_of_a_role_the_run_stops_until_it_is_there(
    stack: Stack, missing: WorkerRole, gates: tuple[str, ...]
) -> None:
    """Seed 004 "Task Lifecycle" Transition Details."""
    present = [role for role in WorkerRole if role is not missing]
    async with stack.workers(*present):
        run = await stack.start()
        await run.approve(CUT)
        status = await run.until_shown(f"stopped_unavailable_worker_{missing.value}")
        assert status["next_command"] == f"cutter orchestrate resume --document-id {run.document_id}"
        sealed = {receipt["gate"] for receipt in (await run.sidecar())["receipts"]}
        assert set(gates) <= sealed
        async with stack.workers(missing):
            assert (await run.resume())["status"] == "accepted"
            await run.approve(LIFECYCLE)
            assert (await run.result()).state == "closeout_reported"


@changed(retry_delays_seconds=(0.2,))
async def test_a_database_that_is_away_is_retried_in_sight_then_the_run_stops(stack: Stack) -> None:
    async with stack.workers() as held:
        for deps in held.values():
            for pool in deps.pools.values():
                pool.timeout = 0.3
        run = await stack.start()
        await run.until_requested(CUT)
        kb_id = await run.sign()
        _allow_connections(stack, allowed=False)
        await run.handle.signal("submit_approval", kb_id)
        status = await run.until_shown("stopped_unavailable_database")
        assert status["next_command"].startswith("cutter orchestrate resume")
        assert any("database" in text for text in status["retries"])
        _allow_connections(stack, allowed=True)
        assert (await run.resume())["status"] == "accepted"
        await run.approve(LIFECYCLE)
        assert (await run.result()).state == "closeout_reported"
        history = await run.handle.fetch_history()
        scheduled = [event.activity_task_scheduled_event_attributes for event in history.events]
        judged = [
            attributes.start_to_close_timeout.seconds
            for attributes in scheduled
            if attributes.activity_type.name == "judge_approval"
        ]
        assert len(judged) > limits.RETRIES_A_GATE
        assert set(judged) == {limits.CONTROL_ACTIVITY_SECONDS}, "a try after an outage has as much time as the first"


@changed(outage_look_seconds=0.2)
async def test_a_stop_that_could_not_be_recorded_is_recorded_after_the_outage(stack: Stack) -> None:
    losing = Losing("open_request", "escalate")
    async with stack.workers(interceptors=[losing]):
        run = await stack.start()
        await run.until_shown(LOST)
        assert (await run.state()) == "grants_probed", "PostgreSQL does not know of the stop yet"
        losing.names.remove("escalate")
        sidecar = await run.until_state(LOST)
        assert "max_attempts_exhausted" in sidecar["run"]["last_error"]["reason"]

        async def told() -> bool:
            return bool(
                (await run.status())["next_command"] == f"cutter orchestrate resume --document-id {run.document_id}"
            )

        await until(told, what="the run shows the command of the recorded stop")
        losing.names.clear()
        assert (await run.resume())["status"] == "accepted"
        await run.until_requested(CUT)


@changed(outage_look_seconds=3600)
async def test_the_reconciler_lets_a_run_record_its_outage_and_status_and_doctor_name_it(stack: Stack) -> None:
    """PostgreSQL has no record of the stop, so that its readers see a run that waits for nobody and does not move."""
    losing = Losing("open_request", "escalate")
    async with stack.workers(interceptors=[losing]):
        run = await stack.start()
        await run.until_shown(LOST)
        stack.database.run(MOVED_BEFORE, (run.run_id,))
        stack.database.run(TRIED_BEFORE, (run.run_id,))
        shown = await asyncio.to_thread(status.view_of, stack.settings, run.run_id)
        assert shown.next == "cutter reconcile"
        assert "nothing has moved" in shown.needs
        assert (await asyncio.to_thread(doctor.look, stack.settings, RUNS)).remedy == "cutter reconcile"
        losing.names.remove("escalate")
        with reading_deps(stack.settings) as deps:
            report = await reconciler_runs.runs(stack.client, deps, 0)
            differing = report.as_json()["differs"]
            assert [(entry["run_id"], entry["temporal"]) for entry in differing] == [(run.run_id, LOST)]
            await run.until_state(LOST)
            again = await reconciler_runs.runs(stack.client, deps, 0)
        assert again.runs_of(Kind.DIFFERS) == []


@changed(outage_look_seconds=3600, retry_delays_seconds=(0.05,))
@pytest.mark.thorough
async def test_a_resume_reaches_an_approved_run_in_an_outage_although_no_exec_worker_beats(stack: Stack) -> None:
    """PostgreSQL says that the run waits for an exec worker, and its workflow waits for the resume."""
    losing = Losing("IG_cut_leg_a_execute", "escalate")
    async with stack.workers(interceptors=[losing]):
        run = await stack.start()
        await run.approve(CUT)
        await run.until_shown(LOST)
        assert await run.state() == "awaiting_cut_authorization"
        losing.names.clear()
        stack.database.run(SILENT, (WorkerRole.EXEC,))
        answer = await _resume_by_command(run)
        assert isinstance(answer["answer"], dict)
        assert answer["answer"]["status"] == "accepted"
        await run.until_state("stopped_unavailable_worker_exec")


@changed(outage_look_seconds=0.2, retry_delays_seconds=(0.05,))
async def test_workers_whose_log_cannot_be_written_go_on_and_record_why_they_stop(stack: Stack) -> None:
    """Each line of the log fails as it does on a full disk."""
    with Path("/dev/full").open("w") as full:
        folder, port = stack.settings.state / "own-approvers", addresses.free()
        shutil.copytree(stack.settings.approvers, folder)
        own = {"CUTTER_APPROVERS_DIR": str(folder), "CUTTER_HEALTH_PORT": str(port)}
        async with stack.workers(WorkerRole.EXEC, WorkerRole.VERIFY):
            async with worker_process(stack, WorkerRole.CUTTER, stdout=full, **own):
                await until(partial(is_ready, port), what="the worker serves")
                shutil.rmtree(folder)
                run = await stack.start()
                await run.until_state("stopped_unavailable_approvers")
            async with worker_process(stack, WorkerRole.CUTTER, stdout=full):
                assert (await run.resume())["status"] == "accepted"
                await run.until_requested(CUT)


async def test_every_retry_of_a_control_activity_follows_a_pause(stack: Stack) -> None:
    losing = Losing("open_request")
    async with stack.workers(interceptors=[losing]):
        run = await stack.start()
        await run.until_shown(LOST)
    events = [event.WhichOneof("attributes") or "" for event in (await run.handle.fetch_history()).events]
    moves = [
        event
        for event in events
        if event.startswith(("activity_task_failed", "activity_task_scheduled", "timer_fired"))
    ]
    after_failure = [second for first, second in pairwise(moves) if first.startswith("activity_task_failed")]
    assert len(after_failure) >= limits.RETRIES_A_GATE
    assert not any(event.startswith("activity_task_scheduled") for event in after_failure)


async def test_a_run_that_met_an_outage_before_it_was_registered_goes_on_by_the_command_it_shows(stack: Stack) -> None:
    losing = Losing("begin_run")
    async with stack.workers(interceptors=[losing]):
        run = await stack.start()
        status = await run.until_shown(LOST)
        assert status["next_command"] == f"cutter orchestrate resume --document-id {DOCUMENT}"
        assert status["run_id"] == run.run_id
        losing.names.clear()
        answer = await _resume_by_command(run)
        assert answer["answer"]["status"] == "accepted"
        await run.until_requested(CUT)


async def test_a_run_that_met_an_outage_before_it_was_registered_hears_a_cancel(stack: Stack) -> None:
    """Each order is one more try; whoever gives it before the outage is over is heard by the next one."""
    losing = Losing("begin_run")
    async with stack.workers(interceptors=[losing]):
        run = await stack.start()
        await run.until_shown(LOST)
        await run.handle.signal("cancel", {"reason": "not this year"})

        await until(lambda: _was_stopped(run, 2), what="the cancel was one more try, in vain")
        losing.names.clear()
        await run.handle.signal("cancel", {"reason": "not this year"})
        assert (await run.result()).state == "voided_cancelled"


async def test_a_run_that_is_voided_while_it_waits_out_an_outage_is_over_at_once(stack: Stack) -> None:
    losing = Losing("open_request")
    async with stack.workers(interceptors=[losing]):
        run = await stack.start()
        await run.until_shown(LOST)
        assert (await _void_by_command(run))["status"] == "voided"
        assert (await run.result()).state == "voided_a_test_says_so"
        losing.names.clear()
        assert (await (await stack.start()).through()).state == "closeout_reported"


async def test_a_run_that_is_voided_before_its_workflow_could_register_it_is_over_with_the_outage(stack: Stack) -> None:
    """The void is one more try; when that is in vain too, the command that resumes a run makes it look again."""
    losing = Losing("begin_run")
    async with stack.workers(interceptors=[losing]):
        run = await stack.start()
        await run.until_shown(LOST)
        await _void_by_command(run)
        await until(lambda: _was_stopped(run, 2), what="the void was one more try, in vain")
        losing.names.clear()
        assert (await _resume_by_command(run))["state"] == "voided_a_test_says_so"
        assert (await run.result()).state == "voided_a_test_says_so"


async def test_a_gate_that_refuses_for_ever_what_was_accepted_stops_the_run(stack: Stack) -> None:
    @activity.defn(name="IG_cut_leg_a_execute")
    def refuses(argument: GateInput) -> GateOutcome:
        code = "request_of_other_digest"
        return GateOutcome(gate="IG_cut_leg_a_execute", status="approval_refused", code=code, reason=argument.run_id)

    async with stack.workers(WorkerRole.CUTTER, WorkerRole.VERIFY):
        with ThreadPoolExecutor(1) as executor:
            queue = names.TASK_QUEUES[WorkerRole.EXEC]
            async with Worker(stack.client, task_queue=queue, activities=[refuses], activity_executor=executor):
                run = await stack.start()
                await run.approve(CUT)
                status = await run.until_shown("stopped_unavailable_request")
        assert status["next_command"] == f"cutter orchestrate resume --document-id {run.document_id}"
        assert (await run.resume())["status"] == "accepted"
        async with stack.workers(WorkerRole.EXEC):
            await run.until_requested(LIFECYCLE)


async def _was_stopped(run: Run, times: int) -> bool:
    return sum(LOST in retry for retry in (await run.status())["retries"]) == times


async def _void_by_command(run: Run) -> dict[str, object]:
    record, order = RunRecord.of((await run.sidecar())["run"]), await run.order(schema.VOID)
    return (await orders.through_void_workflow(run.stack.settings, record, order)).as_json()


async def _resume_by_command(run: Run) -> dict[str, object]:
    return await orchestrate._resume(run.stack.settings, RunRecord.of((await run.sidecar())["run"]), None, None)


async def test_a_run_whose_approvers_file_is_away_hears_a_cancel(stack: Stack) -> None:
    """Nobody needs to bring back what is away before the run may end."""
    async with stack.workers(approvers_dir=stack.settings.state / "no-approvers"):
        run = await stack.start()
        await run.until_shown("stopped_unavailable_approvers")
        await run.handle.signal("cancel", {"reason": "not this year"})
        assert (await run.result()).state == "voided_cancelled"
        assert (await run.state()) == "voided_cancelled"


def _allow_connections(stack: Stack, *, allowed: bool) -> None:
    name = sql.Identifier(stack.database.name)
    statements = [
        sql.SQL("alter database {} allow_connections {}").format(name, sql.SQL("true" if allowed else "false"))
    ]
    if not allowed:
        statements.append(
            sql.SQL("select pg_terminate_backend(pid) from pg_stat_activity where datname = {}").format(
                sql.Literal(stack.database.name)
            )
        )
    stack.database.server.maintain(*statements)


@changed(retry_delays_seconds=(0.1,))
async def test_a_gate_whose_dependency_is_away_is_tried_so_often_and_each_try_is_a_row(stack: Stack) -> None:
    """Seeds 000 §3, 002 "Queue and Cancellation Controls", 002 "Retry and Failure Budget Policy", 003 §6.2,
    004 "Task Lifecycle" Transition Details, 004 "Task Lifecycle" Invariants.
    """
    async with stack.workers(keys_dir=stack.settings.state / "no-keys"):
        run = await stack.start()
        sidecar = await run.until_state("stopped_unavailable_backup")
        tries = [attempt for attempt in sidecar["attempts"] if attempt["gate"] == "IG_backup"]
        due = [attempt["next_eligible_at"] is not None for attempt in tries]
        assert due == [True] * limits.RETRIES_A_GATE + [False], "each row says when the next try is due"
    async with stack.workers():
        assert sidecar["run"]["last_error"]["reason"].startswith("max_attempts_exhausted: ")
        assert (await run.resume())["status"] == "accepted"
        assert (await run.through()).state == "closeout_reported"
    file = stack.settings.runs / run.run_id / "transitions.jsonl"
    with file.open("rb") as stream:
        assert list(check(stream, Validation())) == []
    events = [json.loads(line) for line in file.read_bytes().splitlines()]
    moves = [
        (event["entity_id"], event["to_state"]) for event in events if event["event_type"] == "request_state_transition"
    ]
    first, second = ([state for name, state in moves if name == f"{run.run_id}#{n}"] for n in (1, 2))
    assert first == ["queued", "executing", *["awaiting_tool", "executing"] * limits.RETRIES_A_GATE, "failed"]
    waits = ["awaiting_user_confirmation", "executing"]
    assert second == ["queued", "executing", *waits, *waits, "completed"]
    codes = [event["metadata"].get("reason_code") for event in events if event["to_state"] == "failed"]
    assert codes == ["max_attempts_exhausted"]
    tasks = [event["to_state"] for event in events if event["event_type"] == "task_state_transition"]
    retried = ["retrying", "queued", "running"] * limits.RETRIES_A_GATE
    assert tasks == ["queued", "running", *retried, "validating", "completed"]


@changed(backup_max_age_minutes=4 * SECOND)
async def test_a_stale_backup_is_taken_anew_before_leg_a(stack: Stack) -> None:
    async with stack.workers():
        run = await stack.start()
        await run.until_requested(CUT)

        async def stale() -> bool:
            age = "select max(at) < clock_timestamp() - interval '4.1 s' from cutter_governance.action_receipt"
            return bool(stack.database.value(age + " where connector = 'backup'"))

        await until(stale, what="the backup is stale")
        await run.approve(CUT)
        await run.until_requested(LIFECYCLE)
        backups = "select count(*) from cutter_governance.action_receipt where connector = 'backup'"
        assert stack.database.value(backups) == 2
        outcomes = [
            attempt["outcome"]
            for attempt in (await run.sidecar())["attempts"]
            if attempt["gate"] == "IG_cut_leg_a_execute"
        ]
        assert outcomes == ["backup_stale", "passed"]


@changed(backup_max_age_minutes=0.00001)
async def test_a_backup_that_is_always_stale_stops_the_run(stack: Stack) -> None:
    async with stack.workers():
        run = await stack.start()
        await run.approve(CUT)
        status = await run.until_shown("stopped_unavailable_backup", seconds=60)
        assert status["next_command"] == f"cutter orchestrate resume --document-id {run.document_id}"


async def test_a_busy_write_lane_is_waited_for_without_costing_a_try(stack: Stack) -> None:
    stack.take_write_lane()
    async with stack.workers():
        run = await stack.start()
        await run.approve(CUT)
        await run.until_attempted("IG_cut_leg_a_execute", "lane_busy", times=3)
        assert (await run.status())["retries"] == []
        stack.let_go()
        await run.until_requested(LIFECYCLE)
        assert len((await run.sidecar())["consumptions"]) == 1


@changed(heartbeat_timeout_seconds=1)
async def test_a_worker_that_stops_beating_is_noticed_and_another_one_takes_the_gate(stack: Stack) -> None:
    """Seeds 003 §3.2, 003 §3.3, 004 "Worker State Machine" Transition Details."""
    taken, release = threading.Event(), threading.Event()

    @activity.defn(name="IG_cut_leg_a_execute")
    def hangs(argument: GateInput) -> GateOutcome:
        taken.set()
        release.wait(30)
        return GateOutcome(gate="IG_cut_leg_a_execute", status="failed", code="too_late", reason=argument.run_id)

    async with stack.workers(WorkerRole.CUTTER, WorkerRole.VERIFY):
        with ThreadPoolExecutor(1) as executor:
            dead = Worker(
                await connect(stack.settings), task_queue=names.TASK_QUEUES[WorkerRole.EXEC], activities=[hangs],
                activity_executor=executor, max_concurrent_activities=1, graceful_shutdown_timeout=timedelta(0),
            )  # fmt: skip
            async with running([dead], lambda: False):
                run = await stack.start()
                await run.approve(CUT)
                await until(lambda: asyncio.to_thread(taken.is_set), what="the hanging worker has it")
                async with stack.workers(WorkerRole.EXEC):
                    await run.approve(LIFECYCLE)
                    assert (await run.result()).state == "closeout_reported"
                release.set()
        assert len((await run.sidecar())["consumptions"]) == 2
