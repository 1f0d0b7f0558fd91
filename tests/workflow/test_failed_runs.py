"""What failed is Failed in Temporal, with its reason and its next command; nothing else is."""

from __future__ import annotations

from datetime import UTC, datetime

from temporalio.client import WorkflowFailureError
from temporalio.exceptions import ApplicationError

from cutter.approvals import schema
from cutter.domain.next_step import THEN
from cutter.messages import RunResult
from cutter.storage.batches import Options
from temporal import runs
from tests.support import batch as batches
from tests.support.stack import THREE_UNITS, Run, Stack
from tests.support.temporal import until

CUT = "SG_cut_authz"
POISON = b"no heading at all\n"


async def failed_since(stack: Stack, began: datetime) -> set[str]:
    """What `temporal workflow list --query 'ExecutionStatus="Failed"'` names of this test's workflows."""
    asked = f"ExecutionStatus='Failed' and StartTime >= '{began.isoformat()}'"
    return {execution.id async for execution in stack.client.list_workflows(asked)}


async def started(stack: Stack, name: str, text: bytes = THREE_UNITS, **fields: object) -> Run:
    stack.register(name, text)
    return await stack.start(name, **fields)


async def test_exactly_the_failed_runs_and_batches_are_failed_in_temporal(stack: Stack) -> None:
    """Seed 000 §1: a failed run is visible as failed in the Web UI and to the CLI."""
    began = datetime.now(UTC)
    async with stack.workers():
        enacted, rehearsed = await started(stack, "ICX-LAW"), await started(stack, "ICX-DRY", mode="dryrun")
        poisoned, rejected = await started(stack, "ICX-POISON", POISON), await started(stack, "ICX-NO")
        cancelled = await started(stack, "ICX-CANCEL")
        await rejected.until_requested(CUT)
        await rejected.handle.signal("submit_approval", await rejected.sign(schema.REJECT))
        await cancelled.until_requested(CUT)
        await cancelled.handle.signal("cancel", {"reason": "not now"})
        await enacted.through()
        skipped = await stack.start("ICX-LAW")
        assert (await skipped.result()).state == "skipped"
        assert (await skipped.sidecar())["run"]["state"] == "skipped"
        for run in (rehearsed, poisoned, rejected, cancelled):
            await run.result()
        partial = await batches.start(stack, [{"document_id": "ICX-POISON"}], Options(policy="quarantine"))
        assert (await partial.result()).state == "batch_failed_partial"
        expected = {poisoned.handle.id, rejected.handle.id, partial.handle.id}

        async def listed() -> bool:
            return await failed_since(stack, began) == expected

        await until(listed, what="exactly what failed is listed as failed")


async def test_the_failure_of_a_run_says_why_and_what_to_type_and_carries_the_result(stack: Stack) -> None:
    async with stack.workers():
        run = await started(stack, "ICX-POISON", POISON)
        try:
            await run.handle.result()
        except WorkflowFailureError as failure:
            cause = failure.cause
        assert isinstance(cause, ApplicationError)
        assert cause.type == "failed_mark"
        assert cause.message.startswith("failed_mark: ")
        commands = (
            "cutter source add FILE --document-id ICX-POISON --profile PROFILE",
            f"cutter run ICX-POISON --amends {run.run_id}",
        )
        assert cause.message.endswith(f"; next: {THEN.join(commands)}")
        result = await runs.result_of(run.handle, RunResult)
        assert (result.run_id, result.state) == (run.run_id, "failed_mark")
