"""IO: continues a batch, or hands it a set of approvals: opens its workflow, or signals the open one."""

from __future__ import annotations

import asyncio
import getpass
from typing import Any

from cutter.batch import ways
from cutter.batch.view import BatchView
from cutter.settings import Settings
from temporal import batches
from temporal.batches import SetReply
from temporal.client import connect

FINISHED = "it is finished: nothing was started, and nothing was written"

HELD_BY_A_DECISION = ("stop", "cancel", "failure", "critical")
"""Halts that a set of approvals does not lift. It lifts the halt of a night that reached its cap."""


def go_on(settings: Settings, view: BatchView) -> dict[str, Any]:
    """Ask again about every halt, and about busy and blocked documents. Open the batch's workflow if none is open.

    A batch that has nothing left to do stays unchanged, and the answer says so.
    """
    if not ways.moves(view):
        return {"note": resting(view)}
    batch_id = view.batch_id
    return {"workflow_id": asyncio.run(_opened(settings, batch_id, view.batch.starter))}


def resting(view: BatchView) -> str:
    """The reason why a resume of this batch starts nothing: it is finished, or people must act first."""
    waiting = sum(1 for _ in ways.needing_people(view))
    if not waiting:
        return FINISHED
    documents = "a document needs" if waiting == 1 else f"{waiting} documents need"
    return f"nothing was started, and nothing was written: {documents} a person first, by the command below"


async def _opened(settings: Settings, batch_id: str, starter: str) -> str:
    # The client comes first. If Temporal does not answer, the batch keeps everything that holds it.
    client = await connect(settings)
    await asyncio.to_thread(batches.go_on, settings, batch_id, f"resumed by {getpass.getuser()}")
    return (await batches.start(client, batch_id, starter)).id


def hand_over(settings: Settings, view: BatchView, folder: str, listing: str) -> SetReply:
    """Give a set of approvals to the batch, and return its reply. If the batch's time had run out, it gets new time,
    because its people have come.
    """
    return asyncio.run(_hand_over(settings, view, folder, listing))


async def _hand_over(settings: Settings, view: BatchView, folder: str, listing: str) -> SetReply:
    client, batch_id, who = await connect(settings), view.batch_id, getpass.getuser()
    if view.batch.halted not in HELD_BY_A_DECISION:
        await asyncio.to_thread(batches.go_on, settings, batch_id, f"signed for by {who}")
    return await batches.hand_over_set(client, batch_id, who, folder, listing)
