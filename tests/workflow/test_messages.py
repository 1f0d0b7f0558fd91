"""Whatever anyone sends: taken or refused with a reason, shown and recorded, and the run is never wedged by it."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest
from temporalio.api.common.v1 import Payload
from temporalio.client import WorkflowHandle
from temporalio.common import RawValue

from cutter import limits
from cutter.approvals import schema
from cutter.catalogue import WorkerRole
from tests.support.runs import in_force
from tests.support.stack import Run, Stack
from tests.support.temporal import until

CUT, LIFECYCLE = "SG_cut_authz", "SG_lifecycle_authz"
LEG_A = "IG_cut_leg_a_execute"

LONG_HISTORY = 4_200
"""Events after which the server suggests a new execution: 4,096, by its default."""

UNDECODABLE = RawValue(Payload(metadata={"encoding": b"binary/whatever"}, data=b"\x00\xff"))
NO_JSON = RawValue(Payload(metadata={"encoding": b"json/plain"}, data=b"\xff{not json"))
NO_ENCODING = RawValue(Payload(data=b"x"))
NO_PROTO = RawValue(Payload(metadata={"encoding": b"json/protobuf", "messageType": b"no.such.Type"}, data=b"{}"))

BROKEN: Sequence[tuple[str, tuple[Any, ...]]] = (
    ("submit_approval", ()),
    ("submit_approval", ("a.md", "b.md")),
    ("submit_approval", (7,)),
    ("submit_approval", ({"approval_kb_id": ["x"]},)),
    ("submit_approval", ("../../etc/passwd.md",)),
    ("submit_approval", (UNDECODABLE,)),
    ("acknowledge_drift", (NO_JSON,)),
    ("void", (NO_ENCODING,)),
    ("void", (NO_PROTO, "b.md")),
    ("no_such_signal", ()),
    ("no_such_signal", (UNDECODABLE, 1, None)),
    ("resume", ("a.md",)),
    ("x" * 900, ()),
)


async def test_no_broken_message_wedges_a_run_and_each_is_recorded_with_its_reason(stack: Stack) -> None:
    async with stack.workers():
        run = await stack.start()
        await run.until_requested(CUT)
        for name, arguments in BROKEN:
            await run.handle.signal(name, args=list(arguments))

        async def recorded() -> bool:
            return bool(stack.database.value("select count(*) from cutter_governance.message_refusal") == len(BROKEN))

        await until(recorded, what="all are recorded")
        shown = (await run.status())["refusals"]
        assert len(shown) == 10
        assert any("known messages" in text for text in shown)
        assert await _task_attempt(run.handle) <= 1
        assert (await run.through()).state == "closeout_reported"


async def test_a_stop_whose_argument_nobody_can_decode_is_a_stop(stack: Stack) -> None:
    async with stack.workers():
        run = await stack.start()
        await run.until_requested(CUT)
        await run.handle.signal("stop", args=[UNDECODABLE])
        sidecar = await run.until_state("stopped_stop")
        assert sidecar["latch"]["reason"] == "no reason given"


@pytest.mark.parametrize("arguments", [("a.md", "b.md"), (7,), ({"x": 1},)])
async def test_an_update_with_broken_arguments_is_answered_at_once(stack: Stack, arguments: tuple[Any, ...]) -> None:
    async with stack.workers():
        run = await stack.start()
        answer = await asyncio.wait_for(
            run.handle.execute_update("resume", args=list(arguments), result_type=dict), timeout=20
        )
        assert (answer["status"], answer["code"]) in {("refused", "wrong_arguments"), ("refused", "malformed")}
        await run.until_requested(CUT)
        assert await _task_attempt(run.handle) <= 1


async def test_an_update_without_a_document_says_what_is_awaited(stack: Stack) -> None:
    async with stack.workers():
        run = await stack.start()
        await run.until_requested(CUT)
        answer = await run.resume()
        assert (answer["status"], answer["code"]) == ("refused", "approval_needed")
        assert "SG1-cut-authz-request" in answer["reason"]


async def test_the_same_approval_twice_is_a_duplicate_and_is_consumed_once(stack: Stack) -> None:
    """Seed 003 §3.1."""
    async with stack.workers():
        run = await stack.start()
        await run.until_requested(CUT)
        kb_id = await run.sign()
        answers = await asyncio.gather(*(run.resume(kb_id) for _ in range(3)))
        assert sorted(answer["status"] for answer in answers) == ["accepted", "duplicate", "duplicate"]
        await run.until_requested(LIFECYCLE)
        assert len((await run.sidecar())["consumptions"]) == 1


async def test_a_flood_of_signals_does_not_keep_a_good_approval_out(stack: Stack) -> None:
    """The run continues in a new execution before the server accepts no further signal."""
    async with stack.workers():
        run = await stack.start()
        await run.until_requested(CUT)
        again = await _flooded(run, "knowledge/dev/twice.md")

        async def waits() -> bool:
            """A run that counted too many refusals before it was renewed waits for the operator's resume."""
            if (await again.status())["state"] == "stopped_signal_flood":
                await again.resume()
            return bool((await again.status())["awaits"] == CUT)

        await until(waits, what="the run waits at its gate")
        await again.handle.signal("submit_approval", await again.sign())
        assert (await again.until_requested(LIFECYCLE))["awaits"] == LIFECYCLE
        assert [consumption["gate"] for consumption in (await again.sidecar())["consumptions"]] == [CUT]


async def test_a_stopped_run_that_keeps_an_early_approval_is_renewed_and_takes_the_approval_along(stack: Stack) -> None:
    """Without it, the server would refuse the resume of a stopped run after 10,000 signals."""
    async with stack.workers():
        run = await stack.start()
        await run.until_requested(CUT)
        await run.handle.signal("stop")
        await run.until_shown("stopped_stop")
        approval = await run.sign()
        again = await _flooded(run, approval)
        assert (await again.resume(await again.order(schema.RESUME)))["status"] == "accepted"
        await again.until_requested(LIFECYCLE)


async def test_an_early_approval_waits_for_its_gate(stack: Stack) -> None:
    """The request is in the database and the document signed before the workflow, started anew, has asked for it."""
    async with stack.workers():
        run = await stack.start()
        await run.until_requested(CUT)
    await run.handle.terminate()
    kb_id = await run.sign()
    again = await stack.start(run_id=run.run_id)
    await again.handle.signal("submit_approval", kb_id)
    async with stack.workers():
        await again.until_requested(LIFECYCLE)
        assert [consumption["gate"] for consumption in (await again.sidecar())["consumptions"]] == [CUT]


async def test_a_late_approval_of_a_gate_that_is_through_is_refused(stack: Stack) -> None:
    async with stack.workers():
        run = await stack.start()
        await run.until_requested(CUT)
        late = await run.sign(text="a second one")
        await run.approve(CUT)
        await run.until_requested(LIFECYCLE)
        answer = await run.resume(late)
        assert answer["status"] == "refused"
        assert (await run.status())["awaits"] == LIFECYCLE


async def test_an_approval_of_a_stranger_is_refused_and_the_run_waits_on(stack: Stack) -> None:
    """Seed 000 §3."""
    async with stack.workers():
        run = await stack.start()
        await run.until_requested(CUT)
        answer = await run.resume(await run.sign(who=stack.kit.mallory))
        assert answer["status"] == "refused"
        missing = await run.resume("knowledge/dev/nothing-here.md")
        assert missing["status"] == "refused"
        assert (await run.status())["awaits"] == CUT


async def test_a_revoked_approval_does_not_open_the_gate(stack: Stack) -> None:
    async with stack.workers():
        run = await stack.start()
        await run.until_requested(CUT)
        kb_id = await run.sign()
        sha = await asyncio.to_thread(_sha256_of, stack, kb_id)
        await run.resume(await run.order(schema.REVOKE, approval_sha256=sha))
        answer = await run.resume(kb_id)
        assert answer["status"] == "refused"
        assert (await run.state()) == "awaiting_cut_authorization"


async def test_an_approval_is_revoked_while_its_gate_waits_for_a_worker(stack: Stack) -> None:
    """The run itself reads nothing by then; the gate writes nothing, and the run asks again."""
    async with stack.workers(WorkerRole.CUTTER, WorkerRole.VERIFY):
        run = await stack.start()
        kb_id = await run.approve(CUT)
        await until(lambda: _is_at(run, LEG_A), what="the gate waits for its worker")
        answer = await run.revoke(kb_id)
        assert (answer["status"], answer["code"]) == ("accepted", "accepted")
        async with stack.workers(WorkerRole.EXEC):
            await run.until_attempted(LEG_A, "approval_refused")
            await until(lambda: _is_at(run, ""), what="the run has heard that its gate did not open")
            status = await run.until_requested(CUT)
            assert any("revoked" in refusal for refusal in status["refusals"])
            assert stack.database.value("select count(*) from public.information_unit") == 0
            assert (await run.sidecar())["consumptions"] == []
            second = await run.sign(text="on second thought")
            await run.handle.signal("submit_approval", second)
            await run.until_requested(LIFECYCLE)
        too_late = await run.revoke(second)
        assert (too_late["status"], too_late["code"]) == ("refused", "consumed_already")


async def _accepted(run: Run, *names: str) -> bool:
    return bool(sorted((await run.status())["accepted"]) == sorted(names))


async def test_of_two_approvals_the_one_that_was_taken_back_takes_the_other_one_with_it_no_more(stack: Stack) -> None:
    in_force(stack.settings, f"gate: {LEG_A}, connector: database, verdict: needs_approval(high)")
    async with stack.workers():
        run = await stack.start()
        first = await run.approve(CUT, stack.kit.bob)
        await until(lambda: _accepted(run, "bob"), what="the first of two")
        await run.revoke(first, stack.kit.bob)
        await run.approve(CUT, stack.kit.alice)
        await run.until_attempted(LEG_A, "approval_refused")
        await until(lambda: _accepted(run, "alice"), what="the other approval still counts")
        second = await run.sign(who=stack.kit.bob, text="on second thought")
        await run.handle.signal("submit_approval", second)
        await run.until_requested(LIFECYCLE)
        assert sorted(consumption["approver"] for consumption in (await run.sidecar())["consumptions"]) == [
            "alice",
            "bob",
        ]


async def test_a_gate_needs_no_file_of_an_approval_that_was_judged_before(stack: Stack) -> None:
    """The database keeps the judged bytes."""
    in_force(stack.settings, f"gate: {LEG_A}, connector: database, verdict: needs_approval(high)")
    async with stack.workers(WorkerRole.CUTTER, WorkerRole.VERIFY):
        run = await stack.start()
        await run.until_requested(CUT)
        signed = [await run.sign(who=who) for who in (stack.kit.alice, stack.kit.bob)]
        for kb_id in signed:
            await run.handle.signal("submit_approval", kb_id)
        await until(lambda: _is_at(run, LEG_A), what="the gate waits for its worker")
        (stack.settings.state / "kb" / signed[0]).unlink()
        async with stack.workers(WorkerRole.EXEC):
            await run.until_requested(LIFECYCLE)
    attempts = (await run.sidecar())["attempts"]
    assert [attempt["outcome"] for attempt in attempts if attempt["gate"] == LEG_A] == ["passed"]


async def _is_at(run: Run, gate: str) -> bool:
    return bool((await run.status())["gate"] == gate)


def _sha256_of(stack: Stack, kb_id: str) -> str:
    from cutter.domain.digests import sha256_hex
    from cutter.kb.store import Store

    return sha256_hex(Store(stack.settings.kb).get(kb_id))


async def test_a_flood_of_refused_messages_stops_the_run_and_the_operator_resumes_it(stack: Stack) -> None:
    async with stack.workers():
        run = await stack.start()
        await run.until_requested(CUT)
        for number in range(limits.REFUSALS_A_GATE + 5):
            await run.handle.signal("submit_approval", f"{number} is no KB id")
        await run.until_state("stopped_signal_flood")
        status = await run.until_shown("stopped_signal_flood")
        assert status["next_command"] == f"cutter orchestrate resume --document-id {run.document_id}"
        assert (await run.resume())["status"] == "accepted"
        assert (await run.through()).state == "closeout_reported"


async def test_a_flooded_stop_records_no_more_than_a_gates_worth_and_still_hears_its_resume(stack: Stack) -> None:
    async with stack.workers():
        run = await stack.start()
        await run.until_requested(CUT)
        await run.handle.signal("stop")
        await run.until_shown("stopped_stop")
        for number in range(3 * limits.REFUSALS_A_GATE):
            await run.handle.signal("nonsense", number)
        answer = await run.resume(await run.order(schema.RESUME))
        assert answer["status"] == "accepted"
        await run.until_requested(CUT)
        recorded = stack.database.value("select count(*) from cutter_governance.message_refusal")
        # At most a gate's worth while it was stopped, and as much of what was left when it went on.
        assert 0 < recorded <= 2 * limits.REFUSALS_A_GATE


async def test_messages_after_the_end_are_told_so(stack: Stack) -> None:
    async with stack.workers():
        run = await stack.start()
        await run.until_requested(CUT)
        waiting = asyncio.ensure_future(run.handle.execute_update("resume", "knowledge/nothing.md", result_type=dict))
        await run.handle.signal("cancel")
        answer = await waiting
        assert answer["status"] == "refused"
        assert (await run.result()).state == "voided_cancelled"


async def _task_attempt(handle: WorkflowHandle[Any, Any]) -> int:
    described = await handle.describe()
    return int(described.raw_description.pending_workflow_task.attempt)


async def _flooded(run: Run, kb_id: str) -> Run:
    """Send one message until the server suggests a new execution; the run, followed into it."""
    first = (await run.handle.describe()).run_id
    for _ in range(LONG_HISTORY // 100):
        await asyncio.gather(*(run.handle.signal("submit_approval", kb_id) for _ in range(100)))
    again = run.stack.run_of(run.run_id)

    async def renewed() -> bool:
        return (await again.handle.describe()).run_id != first

    await until(renewed, what="a new execution of the run")
    return again
