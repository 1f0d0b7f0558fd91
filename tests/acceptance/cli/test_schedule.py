"""A queue every night: installed, shown, triggered at once on the real server, removed."""

from __future__ import annotations

import json
import shlex
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from temporalio.client import WorkflowExecutionStatus, WorkflowFailureError

from cutter.batch import scheduled_batches
from tests.acceptance.cli.conftest import Cutter
from tests.support import batch as support
from tests.support.batch import Batch
from tests.support.stack import Stack
from tests.support.temporal import until

ENACTED = "select count(*) from public.information_unit where lifecycle_status = 'enacted'"
INSTALL = ("schedule", "install", "--at", "22:00", "--tz", "Europe/Berlin", "--queue")


@pytest.fixture
def pattern(stack: Stack) -> Path:
    path = stack.settings.state / "overnight.yaml"
    path.write_bytes(support.queue_yaml(support.small_laws(stack, 2)))
    return path


async def night_of(stack: Stack, name: str = "nightly", *, before: int = 0) -> Any:
    """Handle of the workflow that the schedule has started after that many others."""
    schedule = stack.client.get_schedule_handle(f"cutter-{name}")
    await schedule.trigger()

    async def started() -> Any:
        recent = (await schedule.describe()).info.recent_actions
        return recent[-1].action if len(recent) > before else None

    action = await until(started, what="the schedule's action")
    return stack.client.get_workflow_handle(action.workflow_id, run_id=action.first_execution_run_id, result_type=str)


async def test_a_schedule_starts_the_queue_as_a_batch_of_its_own_each_night(
    stack: Stack, cutter: Cutter, pattern: Path
) -> None:
    installed = await cutter(*INSTALL, str(pattern), "--json")
    assert installed.code == 0, installed.err
    try:
        schedule = installed.json
        assert schedule["time_zone"] == "Europe/Berlin"
        assert datetime.fromisoformat(schedule["next_utc"]).astimezone().utctimetuple().tm_min == 0
        zone, line = schedule["crontab"].splitlines()
        assert zone == "CRON_TZ=Europe/Berlin"
        assert line.startswith("0 22 * * * env CUTTER_STATE_DIR=")
        assert shlex.split(line)[9:] == ["batch", "--queue", str(pattern), "--overnight", "--nightly",
                                         "--max-concurrent", "2"]  # fmt: skip
        again = await cutter(*INSTALL, str(pattern))
        assert (again.code, "cutter schedule remove" in again.err) == (4, True)
        async with stack.workers():
            await _two_nights(stack, pattern)
        assert (await cutter("schedule", "show", "--json")).json["started"] == 2
    finally:
        removed = await cutter("schedule", "remove")
    assert removed.code == 0
    assert (await cutter("schedule", "show")).code == 1
    assert (await cutter("schedule", "remove")).code == 1


async def _two_nights(stack: Stack, pattern: Path) -> None:
    """Nobody has signed: both documents wait in human review, and the next night finds them busy."""
    first = await (await night_of(stack)).result()
    batch = Batch(stack=stack, batch_id=first, handle=stack.client.get_workflow_handle(f"batch/{first}"))
    view = await batch.view()
    assert {item["queue"] for item in view["items"]} == {"human_review_queue"}
    assert (view["batch"]["unattended"], view["batch"]["policy"], view["batch"]["lanes"]) == (True, "quarantine", 2)
    queue = stack.settings.batches / first / "queue.yaml"
    assert queue.read_bytes().replace(first.encode(), b"") == pattern.read_bytes().replace(
        pattern.read_bytes().split(b"batch_id: ")[1].split(b"\n")[0], b""
    )
    await _second_after(first)
    second = await (await night_of(stack, before=1)).result()
    assert second != first
    other = Batch(stack=stack, batch_id=second, handle=stack.client.get_workflow_handle(f"batch/{second}"))
    assert set(other.outcomes(await other.view()).values()) == {"busy"}


async def _second_after(night: str) -> None:
    """Return after the second that a night is named for, because two nights of one second are the same night."""
    began = int(night.replace("-", "")[:12], 16) / 1000

    async def over() -> bool:
        return datetime.now(UTC).timestamp() >= began + 1

    await until(over, what="the next second")


async def test_a_mistyped_name_leads_to_the_schedule_that_is_installed(cutter: Cutter, pattern: Path) -> None:
    mistyped = ("schedule", "show", "--name", "nigth")
    first = await cutter(*mistyped)
    assert (first.code, "--queue FILE --name nigth`" in first.err) == (1, True), first.err
    assert (await cutter(*INSTALL, str(pattern))).code == 0
    try:

        async def listed() -> bool:
            answer = await cutter(*mistyped)
            return "type `cutter schedule show --name nightly`" in answer.err

        await until(listed, what="Temporal lists the schedule")
        removed = await cutter("schedule", "remove", "--name", "nigth")
        assert (removed.code, "show --name nightly`" in removed.err) == (1, True), removed.err
    finally:
        assert (await cutter("schedule", "remove")).code == 0


async def test_the_next_night_can_be_rehearsed_and_signed_in_the_afternoon(
    stack: Stack, cutter: Cutter, pattern: Path
) -> None:
    assert (await cutter(*INSTALL, str(pattern), "--name", "other")).code == 0
    try:
        tonight = stack.settings.state / "tonight.yaml"
        schedule = (await cutter("schedule", "show", "--name", "other", "--write-next", str(tonight), "--json")).json
        assert f"batch_id: {schedule['next_batch_id']}\n" in tonight.read_text()
        assert (
            scheduled_batches.batch_id_of(pattern.read_bytes(), datetime.fromisoformat(schedule["next_utc"]))
            == schedule["next_batch_id"]
        )
        async with stack.workers():
            assert (await cutter(*schedule["next"].split()[1:])).code == 0
            signed = await cutter.signed("approve", "--batch", schedule["next_batch_id"])
            assert len(signed.json["pre_batched"]) == 4
            night = {"queue_sha256": schedule["queue_sha256"], "starter": "olga", "lanes": 2}
            await _run_as_at(stack, night, schedule["next_utc"])
        assert stack.database.value(ENACTED) == 6, "what was signed in the afternoon is law at night"
    finally:
        await cutter("schedule", "remove", "--name", "other")


async def _run_as_at(stack: Stack, night: dict[str, Any], when: str) -> None:
    """What the schedule's workflow does at that time, which is still to come: its activity, then the batch."""
    from activities.batch.scheduled_batch import begin_night
    from cutter.catalogue import WorkerRole
    from cutter.messages import NightInput, NightStart
    from temporal import batches

    deps = stack.deps(WorkerRole.CUTTER)
    try:
        start = begin_night(deps, NightStart(night=NightInput(**night), when=when))
        assert begin_night(deps, NightStart(night=NightInput(**night), when=when)) == start, "a night is made once"
    finally:
        for pool in deps.pools.values():
            pool.close()
    handle = await batches.start(stack.client, start.batch_id, start.starter)
    assert (await handle.result()).state == "batch_closeout"


async def test_a_night_that_cannot_begin_fails_and_pauses_the_schedule(
    stack: Stack, cutter: Cutter, pattern: Path
) -> None:
    assert (await cutter(*INSTALL, str(pattern), "--name", "broken")).code == 0
    try:
        stack.database.run("update public.source_document set doc_code = 'ICX-GONE' where doc_code = 'ICX-B-2'")
        async with stack.workers():
            handle = await night_of(stack, "broken")
            with pytest.raises(WorkflowFailureError) as failed:
                await handle.result()
        assert "ICX-B-2 is not registered" in str(failed.value.cause)
        assert (await handle.describe()).status is WorkflowExecutionStatus.FAILED

        async def paused() -> bool:
            return bool((await cutter("schedule", "show", "--name", "broken", "--json")).json["paused"])

        await until(paused, seconds=60, what="the schedule is paused")
        shown = (await cutter("schedule", "show", "--name", "broken", "--json")).json
        assert shown["next"] == "temporal schedule toggle --unpause --schedule-id cutter-broken"
    finally:
        await cutter("schedule", "remove", "--name", "broken")


async def test_the_starter_refuses_any_other_argument(stack: Stack) -> None:
    async with stack.workers():
        handle = await stack.client.start_workflow(
            "BatchStarter", {"queue": 1}, id="batch-starter/odd", task_queue="cutter-cutter"
        )
        with pytest.raises(WorkflowFailureError) as failed:
            await handle.result()
        handle = await stack.client.start_workflow(
            "BatchStarter", {"queue_sha256": "0" * 64}, id="batch-starter/unknown", task_queue="cutter-cutter"
        )
        with pytest.raises(WorkflowFailureError):
            await handle.result()
    assert "queue_sha256" in str(failed.value.cause)


@pytest.mark.parametrize(
    ("wrong", "code"),
    [
        ({"--at": "25:00"}, 2), ({"--at": "10pm"}, 2), ({"--tz": "Mars/Olympus"}, 2), ({"--tz": "../etc/passwd"}, 2),
        ({"--name": "A B"}, 2), ({"--queue": "no.yaml"}, 2), ({"--max-concurrent": "0"}, 2),
    ],
)  # fmt: skip
async def test_what_cannot_be_a_schedule_is_refused(
    cutter: Cutter, pattern: Path, wrong: dict[str, str], code: int
) -> None:
    typed = {"--at": "22:00", "--tz": "UTC", "--queue": str(pattern), **wrong}
    answer = await cutter("schedule", "install", *(word for pair in typed.items() for word in pair))
    assert answer.code == code, answer.err


async def test_a_wrong_pattern_is_refused_when_it_is_installed(stack: Stack, cutter: Cutter) -> None:
    path = stack.settings.state / "wrong.yaml"
    path.write_bytes(support.queue_yaml([{"document_id": "ICX-NO-1"}]))
    answer = await cutter(*INSTALL, str(path))
    assert (answer.code, "line 7" in answer.err, "ICX-NO-1" in answer.err) == (2, True, True)


async def test_cron_s_command_makes_a_batch_of_the_minute_from_the_same_pattern(cutter: Cutter, pattern: Path) -> None:
    """Seed 001 §7."""
    started = await cutter("orchestrate", "batch", "--queue", str(pattern), "--overnight", "--nightly", "--json")
    assert started.code == 0, started.err
    batch_id = started.json["batch_id"]
    assert batch_id not in pattern.read_text()
    assert json.loads((await cutter("status", batch_id, "--json")).out)["policy"] == "quarantine"
