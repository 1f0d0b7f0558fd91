"""IO: `cutter schedule install|show|remove`: makes a queue a pattern that a Temporal Schedule runs every night."""

from __future__ import annotations

import asyncio
import getpass
import re
import shlex
import sys
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated, Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import typer
from temporalio.client import (
    Client,
    Schedule,
    ScheduleActionStartWorkflow,
    ScheduleAlreadyRunningError,
    ScheduleCalendarSpec,
    ScheduleDescription,
    ScheduleOverlapPolicy,
    SchedulePolicy,
    ScheduleRange,
    ScheduleSpec,
)
from temporalio.service import RPCError, RPCStatusCode

from cutter import limits
from cutter.batch import documents, scheduled_batches
from cutter.catalogue import Role
from cutter.domain.digests import sha256_hex
from cutter.errors import Conflict, InvalidInput, NotFound
from cutter.kb.store import Store
from cutter.kb.write_once import put
from cutter.messages import NightInput
from cutter.settings import Settings, load
from cutter.storage import batches as batch_rows
from cutter.storage import private
from cutter.storage.batches import Options
from cutter.storage.pools import session
from starter.console.terminal import AsJson, fields, show
from temporal import batches, names
from temporal.client import connect, unanswered

app = typer.Typer(help="Run a queue every night by a Temporal Schedule.", no_args_is_help=True, add_completion=False)

CATCH_UP = timedelta(hours=1)
"""If the time of a night passes while Temporal is down, the night still starts within this window. The server's default
is a year.
"""

NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,39}")
PREFIX = "cutter-"
"""The prefix of our schedules' ids, before the name that people type."""
NIGHTLY = "nightly"
"""The name of a schedule if nobody types one."""

Name = Annotated[str, typer.Option(help="The schedule's name, when there are several")]


@app.command()
def install(
    at: Annotated[str, typer.Option(help="Time of day, HH:MM")],
    queue: Annotated[Path, typer.Option(help="queue.yaml, the pattern of every night")],
    tz: Annotated[str, typer.Option(help="Time zone, such as Europe/Berlin")] = "UTC",
    name: Name = NIGHTLY,
    max_concurrent: Annotated[int, typer.Option(help="Documents planned at once", min=1, max=limits.BATCH_LANES_MAX)]
    = limits.OVERNIGHT_LANES,
    as_json: AsJson = False,
) -> None:  # fmt: skip
    """Install a schedule, and show the crontab line that does the same.

    Each night gets its own batch_id, which is made from the time. A night leaves out documents that are already
    enacted.

    Example: cutter schedule install --at 22:00 --tz Europe/Berlin --queue overnight.yaml
    """
    settings = load()
    hour, minute = _time(at)
    zone, pattern = _zone(tz), _pattern(settings, queue)
    sha256 = sha256_hex(pattern)
    put(Store(settings.kb), documents.pattern_id(sha256), documents.queue_document(pattern))
    night = NightInput(queue_sha256=sha256, starter=getpass.getuser(), lanes=max_concurrent)
    asyncio.run(_create(settings, _schedule_id(name), _schedule(hour, minute, zone, _schedule_id(name), night)))
    answer = asyncio.run(_describe(settings, name))
    answer |= {"crontab": crontab(settings, hour, minute, zone.key, queue.resolve(), max_concurrent)}
    _show(answer, as_json=as_json)


@app.command("show")
def show_schedule(
    name: Name = NIGHTLY,
    write_next: Annotated[
        Path | None, typer.Option(help="Write the next night's queue.yaml here, to rehearse and sign it beforehand")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Show the next night with its batch_id, the last nights, and whether the schedule is paused.

    Example: cutter schedule show --write-next tonight.yaml
    """
    settings = load()
    answer = asyncio.run(_describe(settings, name))
    if write_next is not None:
        if answer["next_utc"] is None:
            raise NotFound(f"schedule {name} has no next night")
        when = datetime.fromisoformat(answer["next_utc"])
        private.write(write_next, scheduled_batches.queue_of(_stored(settings, answer["queue_sha256"]), when))
        answer["next"] = f"cutter orchestrate batch --queue {shlex.quote(str(write_next))} --mode dryrun --wait"
    _show(answer, as_json=as_json)


@app.command()
def remove(name: Name = NIGHTLY, as_json: AsJson = False) -> None:
    """Remove a schedule; the batches that it started continue.

    Example: cutter schedule remove
    """
    settings = load()
    asyncio.run(_delete(settings, name))
    _show({"schedule_id": _schedule_id(name), "status": "removed"}, as_json=as_json)


# --- what is typed ----------------------------------------------------------------------------------------------------


def _time(text: str) -> tuple[int, int]:
    match = re.fullmatch(r"([01]\d|2[0-3]):([0-5]\d)", text)
    if match is None:
        raise InvalidInput(f"--at {text}: a time of day such as 22:00")
    return int(match[1]), int(match[2])


def _zone(name: str) -> ZoneInfo:
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise InvalidInput(f"--tz {name}: a time zone's name, such as Europe/Berlin or UTC") from None


def _schedule_id(name: str) -> str:
    if not NAME.fullmatch(name):
        raise InvalidInput(f"--name {name}: at most 40 of a-z, 0-9 and '-'")
    if f"{PREFIX}{name}" == names.RECONCILE_SCHEDULE:
        raise InvalidInput(
            f"--name {name}: the reconciler's own schedule;", then="cutter reconcile --every 0", rest=" removes it"
        )
    return f"{PREFIX}{name}"


def _pattern(settings: Settings, path: Path) -> bytes:
    """The queue's bytes. Raises now every error that would refuse the queue at night."""
    data = batches.read_queue(path)
    night = replace(Options.overnight(items_max=settings.batch_items_max), skip_completed=True)
    with session(settings, Role.OPERATOR) as connection:
        batch_rows.admit(connection, data, night)
    return data


def _stored(settings: Settings, sha256: str) -> bytes:
    pattern = documents.queue_in(Store(settings.kb).get(documents.pattern_id(sha256)))
    if pattern is None:
        raise NotFound(f"{documents.pattern_id(sha256)} holds no queue: install the schedule again")
    return pattern


def crontab(settings: Settings, hour: int, minute: int, zone: str, queue: Path, lanes: int) -> str:
    """The same night by cron: a line with the time zone, for a cron that knows time zones, and the line with the
    command.
    """
    cutter = Path(sys.executable).with_name("cutter")
    words = [
        "env", f"CUTTER_STATE_DIR={settings.state.resolve()}", str(cutter), "orchestrate", "batch", "--queue",
        str(queue), "--overnight", "--nightly", "--max-concurrent", str(lanes),
    ]  # fmt: skip
    return f"CRON_TZ={zone}\n{minute} {hour} * * * {shlex.join(words)}".replace("%", r"\%")


# --- Temporal ---------------------------------------------------------------------------------------------------------


def _last_workflows(actions: Sequence[Any]) -> list[str]:
    """The workflow ids of the last three actions that started a workflow."""
    return [each.action.workflow_id for each in actions if hasattr(each.action, "workflow_id")][-3:]


def _schedule(hour: int, minute: int, zone: ZoneInfo, schedule_id: str, night: NightInput) -> Schedule:
    """The schedule. With SKIP, a night is left out if the night before is still running. If a night cannot begin, the
    schedule pauses.
    """
    return Schedule(
        action=ScheduleActionStartWorkflow(
            names.BATCH_STARTER,
            night,
            id=f"batch-starter/{schedule_id}",
            task_queue=names.WORKFLOW_QUEUE,
            static_summary=f"tonight's batch of {schedule_id}",
        ),
        spec=ScheduleSpec(
            calendars=[ScheduleCalendarSpec(hour=(ScheduleRange(hour),), minute=(ScheduleRange(minute),))],
            time_zone_name=zone.key,
        ),
        policy=SchedulePolicy(overlap=ScheduleOverlapPolicy.SKIP, catchup_window=CATCH_UP, pause_on_failure=True),
    )


async def _create(settings: Settings, schedule_id: str, schedule: Schedule) -> None:
    client = await connect(settings)
    try:
        await client.create_schedule(schedule_id, schedule)
    except ScheduleAlreadyRunningError:
        raise Conflict(
            f"{schedule_id} is installed: type",
            then=f"cutter schedule remove --name {schedule_id.removeprefix(PREFIX)}",
            rest=" first",
            code="STOP_SCHEDULE_EXISTS",
        ) from None
    except RPCError as problem:
        raise unanswered(problem) from None


async def _delete(settings: Settings, name: str) -> None:
    client = await connect(settings)
    try:
        await client.get_schedule_handle(_schedule_id(name)).delete()
    except RPCError as problem:
        raise await _missing(client, name, problem) from None


async def _describe(settings: Settings, name: str) -> dict[str, Any]:
    client = await connect(settings)
    try:
        description = await client.get_schedule_handle(_schedule_id(name)).describe()
    except RPCError as problem:
        raise await _missing(client, name, problem) from None
    night = await _night_of(client, description)
    upcoming = description.info.next_action_times[0] if description.info.next_action_times else None
    pattern = _stored(settings, night.queue_sha256) if upcoming else b""
    return {
        "schedule_id": description.id,
        "time_zone": description.schedule.spec.time_zone_name or "UTC",
        "next_utc": upcoming.isoformat() if upcoming else None,
        "next_batch_id": scheduled_batches.batch_id_of(pattern, upcoming) if upcoming else None,
        "queue_sha256": night.queue_sha256,
        "starter": night.starter,
        "lanes": night.lanes,
        "started": description.info.num_actions,
        "skipped": description.info.num_actions_skipped_overlap,
        "missed": description.info.num_actions_missed_catchup_window,
        "last": _last_workflows(description.info.recent_actions),
        "paused": (description.schedule.state.note or "yes") if description.schedule.state.paused else "",
        "next": f"temporal schedule toggle --unpause --schedule-id {description.id}"
        if description.schedule.state.paused
        else f"cutter schedule show --name {description.id.removeprefix(PREFIX)} --write-next FILE",
    }  # fmt: skip


async def _night_of(client: Client, description: ScheduleDescription) -> NightInput:
    action = description.schedule.action
    assert isinstance(action, ScheduleActionStartWorkflow)
    night: NightInput = (await client.data_converter.decode(list(action.args), [NightInput]))[0]
    return night


async def _missing(client: Client, name: str, problem: RPCError) -> Exception:
    """The error for an unknown name. It names the installed schedule that was probably meant, or the command that
    installs one.
    """
    if problem.status is not RPCStatusCode.NOT_FOUND:
        return unanswered(problem)
    try:
        installed = [other async for other in _installed(client) if other != name]
    except RPCError as unlisted:
        return unanswered(unlisted)
    if not installed:
        named = "" if name == NIGHTLY else f" --name {name}"
        return NotFound(
            f"no schedule {name}: type", then=f"cutter schedule install --at 22:00 --tz ZONE --queue FILE{named}"
        )
    (meant,) = get_close_matches(name, installed, n=1, cutoff=0.0)
    return NotFound(f"no schedule {name}, but {meant} is installed: type", then=f"cutter schedule show --name {meant}")


async def _installed(client: Client) -> AsyncIterator[str]:
    """The names of the schedules that run a queue. Temporal may still list a schedule that was removed a moment ago."""
    async for schedule in await client.list_schedules():
        name = schedule.id.removeprefix(PREFIX)
        if schedule.id.startswith(PREFIX) and schedule.id != names.RECONCILE_SCHEDULE and NAME.fullmatch(name):
            yield name


def _show(answer: dict[str, Any], *, as_json: bool) -> None:
    shown = {key: "\n".join(value) if isinstance(value, list) else value for key, value in answer.items()}
    show(answer, as_json=as_json, render=lambda out: out.print(fields(shown), soft_wrap=True))
