"""IO: the digest of Temporal's history of a run. The closeout seals it, because histories expire (seed 003 §8).

The digest covers the events of the execution that closes the run, from the first event to the one that schedules this
activity. Later events are about the closeout itself. Each event enters as the JSON that `temporal workflow show
--output json` prints, made canonical (sorted keys, no blanks, whole numbers without a fraction) and followed by a line
feed.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Callable
from datetime import timedelta

from google.protobuf.json_format import MessageToDict
from temporalio import activity
from temporalio.client import Client
from temporalio.service import RPCError

from cutter import limits
from cutter.domain.run_record import FrozenHistory
from cutter.errors import Unavailable
from cutter.evidence.offline import canonical
from cutter.types import Json

SCHEDULED = "activityTaskScheduledEventAttributes"


def freezing(client: Client, loop: asyncio.AbstractEventLoop) -> Callable[[], FrozenHistory | None]:
    """What an activity's thread calls: the digest of its own workflow's history, None outside an activity. Raises
    Unavailable(what="temporal") if the history cannot be read or has no end.
    """

    def freeze() -> FrozenHistory | None:
        if not activity.in_activity():
            return None
        asked = _frozen(client, activity.info())
        try:
            return asyncio.run_coroutine_threadsafe(asked, loop).result(limits.HISTORY_SECONDS * 2)
        except (RPCError, TimeoutError) as problem:
            raise Unavailable(
                f"Temporal does not give the history ({type(problem).__name__})", what="temporal"
            ) from None

    return freeze


async def _frozen(client: Client, info: activity.Info) -> FrozenHistory:
    handle = client.get_workflow_handle(str(info.workflow_id), run_id=info.workflow_run_id)
    digest, count = hashlib.sha256(), 0
    async for event in handle.fetch_history_events(rpc_timeout=timedelta(seconds=limits.HISTORY_SECONDS)):
        fields = MessageToDict(event)
        digest.update((canonical_event(fields) + "\n").encode())
        count += 1
        # Events at which Temporal ends an execution.
        if fields.get(SCHEDULED, {}).get("activityId") == info.activity_id or count == 51_200:
            break
    return FrozenHistory(
        workflow_id=str(info.workflow_id), execution_id=info.workflow_run_id, events=count, sha256=digest.hexdigest()
    )


def canonical_event(event: Json) -> str:
    """The canonical text of an event. A whole double is written as 2, like by the temporal CLI, and not as 2.0."""
    return canonical(json.loads(json.dumps(event), parse_float=_whole))


def _whole(text: str) -> int | float:
    value = float(text)
    return int(value) if value.is_integer() else value
