"""What was started is remembered, found again, and ended; nothing else is touched."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from cutter import limits
from cutter.errors import Unavailable
from cutter.stack import supervisor
from cutter.stack.processes import Process, alive, last_line, send, spawn, until
from cutter.stack.supervisor import Service

LONG = "import signal; signal.pause()"
STUBBORN = """
import pathlib, signal
signal.signal(signal.SIGTERM, signal.SIG_IGN)
pathlib.Path("deaf").touch()
signal.pause()
"""


class Starter:
    """Starts real processes and counts them."""

    def __init__(self, folder: Path, script: str = LONG) -> None:
        self.folder, self.script, self.started = folder, script, list[Process]()

    def __call__(self) -> Service:
        process = spawn(
            [sys.executable, "-c", self.script], log=self.folder / "log", environment={}, folder=self.folder
        )
        self.started.append(process)
        return Service(name="server", process=process, address="127.0.0.1:1", version="1", how="test")


@pytest.fixture
def starter(tmp_path: Path) -> Iterator[Starter]:
    made = Starter(tmp_path)
    yield made
    for process in made.started:
        send(process, signal.SIGKILL)


def test_what_lives_is_left_alone(tmp_path: Path, starter: Starter) -> None:
    first = supervisor.ensure(tmp_path, "server", starter)
    second = supervisor.ensure(tmp_path, "server", starter)
    assert (first.note, second.note) == ("started", "")
    assert second.process == first.process
    assert len(starter.started) == 1


def test_what_died_is_started_again_and_it_is_said(tmp_path: Path, starter: Starter) -> None:
    first = supervisor.ensure(tmp_path, "server", starter)
    send(first.process, signal.SIGKILL)
    assert until(lambda: not first.alive, seconds=10)
    second = supervisor.ensure(tmp_path, "server", starter)
    assert second.note == f"had died (process {first.process.pid}): started again"
    assert second.alive


def test_a_reused_process_number_is_not_mistaken_for_ours_and_not_ended(tmp_path: Path, starter: Starter) -> None:
    stranger = starter().process
    supervisor.remember(tmp_path, Service(name="server", process=replace(stranger, birth="before the last boot:1")))
    assert not supervisor.stop(tmp_path, "server", seconds=1)
    assert alive(stranger)
    assert supervisor.read(tmp_path) == {}


def test_other_things_given_start_it_again(tmp_path: Path, starter: Starter) -> None:
    first = supervisor.ensure(tmp_path, "server", starter, given="database on port 1")
    second = supervisor.ensure(tmp_path, "server", starter, given="database on port 2")
    assert second.note == "its settings have changed: started again"
    assert not first.alive
    assert supervisor.ensure(tmp_path, "server", starter, given="database on port 2").note == ""


def test_one_that_never_gets_ready_is_remembered_all_the_same(tmp_path: Path, starter: Starter) -> None:
    def never(_: Service) -> None:
        raise Unavailable("it is not ready", what="server")

    with pytest.raises(Unavailable, match="not ready"):
        supervisor.ensure(tmp_path, "server", starter, ready=never)
    assert supervisor.stop(tmp_path, "server", seconds=5)
    assert not alive(starter.started[0])


def test_one_that_does_not_listen_is_killed(tmp_path: Path) -> None:
    starter = Starter(tmp_path, STUBBORN)
    supervisor.ensure(tmp_path, "server", starter)
    assert until((tmp_path / "deaf").exists, seconds=10)
    assert supervisor.stop(tmp_path, "server", seconds=0.2)
    assert not alive(starter.started[0])


def test_a_started_process_is_in_a_session_of_its_own_and_sees_only_what_it_is_given(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SECRET_OF_OURS", "1")
    script = "import os, pathlib; pathlib.Path('seen').write_text(f'{os.getsid(0)} {sorted(os.environ)}')"
    spawn([sys.executable, "-c", script], log=tmp_path / "log", environment={"ONLY": "this"}, folder=tmp_path)
    assert until(lambda: (tmp_path / "seen").exists() and (tmp_path / "seen").read_text() != "", seconds=10)
    session, _, names = (tmp_path / "seen").read_text().partition(" ")
    assert int(session) != os.getsid(0)
    assert "ONLY" in names
    assert "SECRET_OF_OURS" not in names


def test_what_a_process_says_is_kept_in_its_log(tmp_path: Path) -> None:
    process = spawn(
        ["/bin/sh", "-c", "echo no such option; exec sleep 60"], log=tmp_path / "log", environment={}, folder=tmp_path
    )
    try:
        assert until(lambda: last_line(tmp_path / "log") == "no such option", seconds=10)
    finally:
        send(process, signal.SIGKILL)


def test_records_survive_as_they_were(tmp_path: Path, starter: Starter) -> None:
    service = replace(starter(), given="x", note="said once")
    supervisor.remember(tmp_path, service)
    assert supervisor.read(tmp_path) == {"server": replace(service, note="")}


def test_damaged_records_are_an_error_that_says_what_to_do(tmp_path: Path) -> None:
    for text in ("{", "[]", '{"server": {}}', '{"server": {"pid": "x", "birth": ""}}'):
        (tmp_path / "stack.json").write_text(text, encoding="utf-8")
        with pytest.raises(Unavailable, match=r"stack\.json is damaged: end the processes"):
            supervisor.read(tmp_path)


def test_a_nearly_full_disk_refuses_the_start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    supervisor.require_disk(tmp_path / "not" / "made" / "yet")
    monkeypatch.setattr(limits, "DISK_FREE_MIN_BYTES", 2**62)
    with pytest.raises(Unavailable, match="make room, or set CUTTER_STATE_DIR"):
        supervisor.require_disk(tmp_path)
    (tmp_path / "postgres").mkdir()
    supervisor.require_disk(tmp_path)
    monkeypatch.setattr(limits, "DISK_FREE_TO_READ_BYTES", 2**62)
    with pytest.raises(Unavailable, match="make room"):
        supervisor.require_disk(tmp_path)
