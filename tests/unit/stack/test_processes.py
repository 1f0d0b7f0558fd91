"""A process is its number and its birth."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import psutil
import pytest

from cutter.stack.processes import Process, alive, end, identify, send, until, works_in

STUBBORN = (
    "import signal, sys; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('up', flush=True); sys.stdin.read()"
)
PATIENT = "import sys; print('up', flush=True); sys.stdin.read()"


@pytest.fixture
def child(request: pytest.FixtureRequest) -> Iterator[subprocess.Popen[bytes]]:
    script = getattr(request, "param", PATIENT)
    process = subprocess.Popen([sys.executable, "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert process.stdout is not None
    assert process.stdout.readline() == b"up\n"
    yield process
    process.kill()
    process.communicate()


def known(child: subprocess.Popen[bytes]) -> Process:
    process = identify(child.pid)
    assert process is not None
    return process


def test_a_living_process_is_known_again(child: subprocess.Popen[bytes]) -> None:
    assert alive(known(child))


def test_another_process_of_the_same_number_is_not_it(child: subprocess.Popen[bytes]) -> None:
    other = replace(known(child), birth="another boot:1")
    assert not alive(other)
    assert not send(other, signal.SIGKILL)
    assert child.poll() is None


def test_a_zombie_counts_as_dead(child: subprocess.Popen[bytes]) -> None:
    process = known(child)
    child.kill()
    assert until(lambda: not alive(process), seconds=10)
    assert child.returncode is None  # nobody has reaped it
    assert identify(child.pid) is None


def test_one_that_ends_while_it_is_looked_at_counts_as_dead(
    child: subprocess.Popen[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its file in /proc can be opened and then not be read."""
    stat = Path(f"/proc/{child.pid}/stat")
    if not stat.exists():
        pytest.skip("no /proc here")
    read = Path.read_text

    def slowly(path: Path, *arguments: str, **more: str) -> str:
        if path != stat:
            return read(path, *arguments, **more)
        with path.open() as file:
            child.kill()
            child.wait()
            return file.read()

    monkeypatch.setattr(Path, "read_text", slowly)
    assert identify(child.pid) is None


def test_ending_waits_until_it_is_gone(child: subprocess.Popen[bytes]) -> None:
    process = known(child)
    assert end(process, ask=signal.SIGTERM, seconds=10)
    assert not alive(process)


@pytest.mark.parametrize("child", [STUBBORN], indirect=True)
def test_ending_one_that_does_not_listen_says_so_in_bounded_time(child: subprocess.Popen[bytes]) -> None:
    assert not end(known(child), ask=signal.SIGTERM, seconds=0.2)
    assert end(known(child), ask=signal.SIGKILL, seconds=10)


def test_a_server_is_known_by_where_it_works(
    child: subprocess.Popen[bytes], tmp_path_factory: pytest.TempPathFactory
) -> None:
    name, folder = psutil.Process(child.pid).name(), psutil.Process(child.pid).cwd()
    assert works_in(child.pid, Path(folder), name) == known(child)
    assert works_in(child.pid, tmp_path_factory.mktemp("elsewhere"), name) is None
    assert works_in(child.pid, Path(folder), "postgres") is None
