"""An error that nobody foresaw stops the run with a report, is not tried again, and a signature lets the run go on."""

from __future__ import annotations

from cutter.approvals import schema
from tests.support.batch import CUT
from tests.support.stack import Stack


async def test_an_unforeseen_error_stops_the_run_at_once_and_is_reported(stack: Stack) -> None:
    """Seed 000 §3."""
    met: list[str] = []

    def break_once(gate: str) -> None:
        met.append(gate)
        if met == ["IG_source_pin", "IG_mark"]:
            raise KeyError("a bug of ours")

    stack.hooks.append(break_once)
    async with stack.workers():
        run = await stack.start()
        status = await run.until_shown("stopped_error_mark")
        sidecar = await run.sidecar()
        assert met == ["IG_source_pin", "IG_mark"], "nothing is tried again by itself"
        assert "KeyError" in sidecar["run"]["last_error"]["reason"]
        assert [document["kind"] for document in sidecar["documents"]].count("stop_route") == 1
        assert status["next_command"] == f"cutter approve {run.document_id} --decision resume --reason TEXT"
        assert (await run.resume())["status"] == "refused"
        assert (await run.resume(await run.order(schema.RESUME)))["status"] == "accepted"
        await run.until_requested(CUT)
