"""A worker serves only after its preflight passed, says why it does not, and answers a process manager's probes."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from activities.worker.readiness import Readiness, serving
from activities.worker.worker_heartbeat import Presence
from cutter import limits
from cutter.catalogue import WorkerRole
from cutter.errors import Unavailable
from cutter.preflight import checks
from cutter.preflight.checks import Check
from cutter.settings import Settings
from cutter.stack import addresses

GOOD = checks.ok(checks.KEY, "good")
FAULT = checks.bad(checks.SEARCH_ATTRIBUTES, "the namespace lacks CutterState", "cutter reconcile --every 10")


class Beats(Presence):
    """A worker's presence without a database: the beats are kept in a list."""

    def __init__(self) -> None:
        self.blocked: tuple[str, ...] = ()
        self.said: list[tuple[str, tuple[str, ...]]] = []

    async def say(self, state: str) -> None:
        self.said.append((state, self.blocked))


def readiness(answers: list[list[Check]], report: Callable[[tuple[str, ...]], None] = lambda _: None) -> Readiness:
    """A preflight that gives these answers, and the last one again and again."""
    left = list(answers)
    return Readiness(lambda: left.pop(0) if len(left) > 1 else left[0], asyncio.Event(), report)


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "PREFLIGHT_AGAIN_SECONDS", 0.01)
    monkeypatch.setattr(limits, "PREFLIGHT_SECONDS", 0.01)


async def test_a_worker_waits_until_the_fault_is_mended_and_its_beats_say_why() -> None:
    reports: list[tuple[str, ...]] = []
    made, beats = readiness([[FAULT], [FAULT], [GOOD]], reports.append), Beats()
    await made.look()
    assert await made.passed(beats)
    sentence = "search attributes: the namespace lacks CutterState; type `cutter reconcile --every 10`"
    assert beats.said == [("initializing", (sentence,))] * 2
    assert reports == [(sentence,), ()]
    assert not made.ready  # It does not poll yet.


async def test_a_worker_that_is_stopped_while_it_waits_never_serves() -> None:
    made, beats = readiness([[FAULT]]), Beats()
    await made.look()
    made.stopping.set()
    assert not await made.passed(beats)


async def test_a_fault_that_begins_later_ends_readiness_and_its_repair_brings_it_back() -> None:
    made, beats = readiness([[GOOD], [FAULT], [FAULT], [GOOD]]), Beats()
    await made.look()
    keeping = asyncio.create_task(made.keep(beats))
    states = set()
    async with asyncio.timeout(10):
        while not {(True, False), (False, True)} <= states:
            states.add((made.ready, bool(beats.blocked)))
            await asyncio.sleep(0)
        while not made.ready:
            await asyncio.sleep(0)
    made.stopping.set()
    await keeping
    assert not made.ready


async def test_a_preflight_that_hangs_has_failed_and_keeps_no_worker_from_its_end(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(limits, "PREFLIGHT_LIMIT_SECONDS", 0.05)
    dead = threading.Event()

    def hangs() -> list[Check]:
        dead.wait()
        return []

    made = Readiness(hangs, asyncio.Event())
    await made.look()
    assert [check.name for check in made.failed] == ["preflight"]
    monkeypatch.setattr(limits, "PREFLIGHT_LIMIT_SECONDS", 60)
    keeping = asyncio.create_task(made.keep(Beats()))
    await asyncio.sleep(0.05)
    made.stopping.set()
    await asyncio.wait_for(keeping, 10)
    dead.set()


async def test_a_long_finding_is_cut_and_its_remedy_stays_whole() -> None:
    made = readiness([[checks.bad(checks.KEY, "x" * 5000, "cutter migrate")] * 5])
    await made.look()
    assert len(made.blocked) == limits.BLOCKED_SHOWN_MAX
    assert all(
        len(finding) <= limits.BLOCKED_CHARACTERS_MAX and finding.endswith("`cutter migrate`")
        for finding in made.blocked
    )


async def asked(
    address: str, request: str = "GET /readyz HTTP/1.1\r\nHost: x\r\n\r\n"
) -> tuple[int, dict[str, object]]:
    host, _, port = address.rpartition(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    writer.write(request.encode())
    answer = (await asyncio.wait_for(reader.read(), 10)).decode()
    writer.close()
    head, _, body = answer.partition("\r\n\r\n")
    return int(head.split()[1]) if head else 0, json.loads(body) if body else {}


async def test_the_probes_tell_a_worker_that_lives_from_one_that_serves(tmp_path: Path) -> None:
    made = readiness([[FAULT], [GOOD]])
    settings = Settings(state_dir=tmp_path, health_port=addresses.free())
    await made.look()
    made.polls = True
    async with serving(settings, WorkerRole.EXEC, made) as address:
        assert address == f"127.0.0.1:{(settings.health_port or 0) + 1}"
        assert await asked(address, "GET /healthz HTTP/1.1\r\n\r\n") == (200, {"alive": True})
        status, answer = await asked(address)
        assert status == 503
        assert answer["failed"] == [
            {"name": "search attributes", "verdict": "bad", "found": FAULT.found, "remedy": FAULT.remedy}
        ]
        await made.look()
        assert (await asked(address))[0] == 200
        made.polls = False
        assert (await asked(address))[0] == 503
        assert (await asked(address, "HEAD /readyz HTTP/1.1\r\n\r\n")) == (503, {})
        assert (await asked(address, "POST /readyz HTTP/1.1\r\n\r\n"))[0] == 405
        assert (await asked(address, "GET /secrets HTTP/1.1\r\n\r\n"))[0] == 404


async def test_a_client_that_sends_no_whole_request_gets_no_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "SENDER_SECONDS", 0.2)
    settings = Settings(state_dir=tmp_path, health_port=addresses.free())
    async with serving(settings, WorkerRole.CUTTER, readiness([[GOOD]])) as address:
        assert (await asked(address, "GET /readyz"))[0] == 0
        assert (await asked(address, "GET /" + "a" * 100_000))[0] == 0


async def test_silent_clients_keep_no_probe_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "SENDERS_OF_ADDRESS_MAX", 3)
    settings = Settings(state_dir=tmp_path, health_port=addresses.free())
    async with serving(settings, WorkerRole.CUTTER, readiness([[GOOD]])) as address:
        host, _, port = address.rpartition(":")
        silent = [await asyncio.open_connection(host, int(port)) for _ in range(5)]
        assert (await asked(address, "GET /healthz HTTP/1.1\r\n\r\n"))[0] == 200
        # The oldest ones were disconnected at once, and not by the limit of seconds.
        assert await asyncio.wait_for(silent[0][0].read(), limits.SENDER_SECONDS / 2) == b""
        for _, writer in silent:
            writer.close()


async def test_no_port_serves_nothing_and_a_taken_one_is_an_error(tmp_path: Path) -> None:
    made = readiness([[GOOD]])
    async with serving(Settings(state_dir=tmp_path), WorkerRole.CUTTER, made) as address:
        assert address == ""
    settings = Settings(state_dir=tmp_path, health_port=addresses.free())
    async with serving(settings, WorkerRole.CUTTER, made):
        with pytest.raises(Unavailable, match="CUTTER_HEALTH_PORT"):
            async with serving(settings, WorkerRole.CUTTER, made):
                pass
