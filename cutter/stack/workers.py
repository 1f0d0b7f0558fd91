"""IO: the three worker processes, each with its own passwords and key and nothing else of the environment."""

from __future__ import annotations

import importlib.util
import os
import shutil
import sys
from functools import partial
from pathlib import Path

from cutter import __version__, limits
from cutter.errors import Unavailable
from cutter.gates.catalogue import GATES, LONGEST_CAP_SECONDS, WorkerRole
from cutter.settings import PREFIX, Settings
from cutter.stack import key_homes, records, supervisor
from cutter.stack.detached import last_line, spawn
from cutter.stack.processes import until
from cutter.stack.records import Service

PASSED = ("PATH", "HOME", "LANG", "LC_ALL", "TZ", "TMPDIR", "SSL_CERT_FILE", "SSL_CERT_DIR", "USER", "LOGNAME")
PASSED_PREFIXES = (PREFIX, "TEMPORAL_", "AWS_")
"""What a worker may see of our environment: the settings, Temporal's own profile, the object store's credentials."""

PREFIX_OF_NAMES = "worker-"

DRAIN_SECONDS = LONGEST_CAP_SECONDS + limits.WORKER_STOP_SECONDS
"""No gate runs longer; behind it a worker ends by itself."""


def database_roles(worker: WorkerRole) -> tuple[str, ...]:
    """Roles whose passwords a worker holds: those of its gates (the catalogue says)."""
    return tuple(dict.fromkeys(gate.role.value for gate in GATES if gate.worker is worker))


def ensure_workers(settings: Settings, *, given: str) -> list[Service]:
    """All three, running and ready; `given` names the servers they were started against.

    They start side by side: each is only waited for when all have been started.
    """
    started = {
        worker: supervisor.ensure(
            settings.state, _name(worker), partial(_start, settings, worker, _program()), given=given
        )
        for worker in WorkerRole
    }
    for worker, service in started.items():
        _await_ready(settings.state, worker, service)
    return list(started.values())


def stop_workers(state_dir: Path, *, drain: bool = False) -> list[str]:
    """Names of those that were running. Each may finish what it runs: for some seconds, to `drain` as long as it takes.

    What does not end by then is ended, and what it ran is tried again by the worker after it.
    """
    names = [name for name in records.read(state_dir) if name.startswith(PREFIX_OF_NAMES)]
    seconds = DRAIN_SECONDS if drain else limits.WORKER_STOP_SECONDS
    return supervisor.stop_all(state_dir, names, seconds=seconds)


def environment(settings: Settings, worker: WorkerRole) -> dict[str, str]:
    """Exactly what that worker's process gets."""
    passed = {name: value for name, value in os.environ.items() if name in PASSED or name.startswith(PASSED_PREFIXES)}
    own = {
        "CUTTER_STATE_DIR": str(settings.state),
        "CUTTER_SECRETS_DIR": str(_secrets(settings.state, worker)),
        "CUTTER_KEYS_DIR": str(handed_keys(settings.state, worker)),
    }
    return {**passed, **own, "PYTHONUNBUFFERED": "1"}


def ready_file(state_dir: Path, worker: WorkerRole) -> Path:
    """Written by the worker when it polls; removed before it starts."""
    return state_dir / "workers" / f"{worker}.ready"


def handed_keys(state_dir: Path, worker: WorkerRole) -> Path:
    """The folder of keys that this worker is given."""
    return state_dir / "workers" / worker.value / "keys"


def log_file(state_dir: Path, worker: WorkerRole) -> Path:
    return state_dir / "logs" / f"{_name(worker)}.log"


def _start(settings: Settings, worker: WorkerRole, program: Path) -> Service:
    state_dir = settings.state
    _hand_over(settings, worker)
    ready_file(state_dir, worker).unlink(missing_ok=True)
    process = spawn(
        [sys.executable, str(program), "--role", worker.value],
        log=log_file(state_dir, worker),
        environment=environment(settings, worker),
        folder=Path.cwd(),
    )
    return Service(name=_name(worker), process=process, version=__version__, how="worker.py")


def _hand_over(settings: Settings, worker: WorkerRole) -> None:
    """Give a worker a folder with its own passwords only, and one with its own key; what lay there before goes."""
    key_homes.hand_over(settings.keys, handed_keys(settings.state, worker), worker)
    folder = _secrets(settings.state, worker)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True, mode=0o700)
    for role in database_roles(worker):
        source, copy = settings.secrets / f"{role}.password", folder / f"{role}.password"
        copy.touch(mode=0o600)
        try:
            copy.write_bytes(source.read_bytes())
        except FileNotFoundError:
            raise Unavailable(f"no password of {role} at {source}: put the file there", what="secrets") from None


def _await_ready(state_dir: Path, worker: WorkerRole, service: Service) -> None:
    file, log = ready_file(state_dir, worker), log_file(state_dir, worker)
    if until(lambda: file.exists() or not service.alive, seconds=limits.WORKER_START_SECONDS) and service.alive:
        return
    said = f"{last_line(log)} (whole log: {log})"
    what = "is not ready" if service.alive else "ended"
    raise Unavailable(f"the {worker} worker {what}: {said}", what=f"worker_{worker}")


def _program() -> Path:
    found = importlib.util.find_spec("worker")
    if found is None or found.origin is None:
        raise Unavailable("worker.py is not installed: make the virtual environment again", what="worker")
    return Path(found.origin)


def _name(worker: WorkerRole) -> str:
    return f"{PREFIX_OF_NAMES}{worker.value}"


def _secrets(state_dir: Path, worker: WorkerRole) -> Path:
    return state_dir / "workers" / worker.value / "secrets"
