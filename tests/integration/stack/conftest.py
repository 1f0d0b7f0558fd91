"""State folders of their own, with short paths, and nothing left running behind a test."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from cutter.stack import postgres, supervisor
from cutter.stack.processes import end, stop_agents
from tests.support import browser

ROOT = Path(__file__).parents[3]
STAND_IN = Path(__file__).parent / "stand_in"
FAST = {"fsync": "off", "full_page_writes": "off", "synchronous_commit": "off"}
"""For clusters that no test cuts the power of."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Checkout:
    """One person's folder with the `cutter` command in it; its worker is the stand-in."""

    folder: Path

    @property
    def state(self) -> Path:
        return self.folder / ".cutter"

    def command(self, *arguments: str, **environment: str) -> subprocess.Popen[str]:
        passed = {name: value for name, value in os.environ.items() if not name.startswith(("CUTTER_", "TEMPORAL_"))}
        return subprocess.Popen(
            [sys.executable, "-m", "starter.cli", *arguments],
            cwd=self.folder,
            env={**passed, "PYTHONPATH": f"{STAND_IN}:{ROOT}", **environment},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def cutter(self, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
        running = self.command(*arguments, **environment)
        out, err = running.communicate(timeout=300)
        return subprocess.CompletedProcess(arguments, running.returncode, out, err)

    def up(self, **environment: str) -> dict[str, Any]:
        """`cutter up --json`, which must succeed: the services by name."""
        done = self.cutter("up", "--json", **environment)
        assert done.returncode == 0, done.stderr
        return {service["name"]: service for service in json.loads(done.stdout)["services"]}


@pytest.fixture
def state_dir() -> Iterator[Path]:
    """An empty state folder; its cluster is stopped at the end."""
    with tempfile.TemporaryDirectory(prefix="cut") as folder:
        state = Path(folder) / "state"
        yield state
        if state.exists():
            postgres.stop_cluster(state)


def checkout() -> Iterator[Checkout]:
    folder = Path(tempfile.mkdtemp(prefix="cut"))
    made = Checkout(folder=folder)
    yield made
    for service in supervisor.read(made.state).values():
        end(service.process, ask=signal.SIGKILL, seconds=10)
    postgres.stop_cluster(made.state)
    stop_agents(made.state)
    shutil.rmtree(folder)


@pytest.fixture(name="checkout")
def one_checkout() -> Iterator[Checkout]:
    """An empty one."""
    yield from checkout()


@pytest.fixture(scope="module")
def standing() -> Iterator[Checkout]:
    """One that its tests share, since a first start takes seconds: each begins with `up`, which heals what is down."""
    yield from checkout()


@pytest.fixture(scope="session")
def chromium(tmp_path_factory: pytest.TempPathFactory) -> Iterator[browser.Browser]:
    """A real browser, which all tests of the process share; they are skipped where there is none."""
    program = browser.required()
    with browser.started(program, tmp_path_factory.mktemp("browser")) as shared:
        yield shared


@pytest.fixture
def page(chromium: browser.Browser) -> Iterator[browser.Page]:
    """An empty page of it."""
    with chromium.page() as opened:
        opened.call("Page.enable")
        yield opened
