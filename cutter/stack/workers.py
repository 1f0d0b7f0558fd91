"""IO: starts and stops the three worker processes. Each gets only its own passwords, its own key and its settings."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import sys
from functools import partial
from itertools import combinations
from pathlib import Path
from typing import Any

from cutter import limits
from cutter.catalogue import GATES, LONGEST_CAP_SECONDS, WorkerRole
from cutter.errors import Refused, Unavailable
from cutter.settings import DESK_SETTINGS, NOTIFICATION_SETTINGS, PREFIX, Settings
from cutter.stack import supervisor
from cutter.stack.processes import last_line, spawn, until
from cutter.stack.supervisor import Service
from cutter.versions import build_id

PASSED = ("PATH", "HOME", "LANG", "LC_ALL", "TZ", "TMPDIR", "SSL_CERT_FILE", "SSL_CERT_DIR", "USER", "LOGNAME")
PASSED_PREFIXES = (PREFIX, "TEMPORAL_", "AWS_", "OTEL_")
"""The variables of our environment that a worker may see: the settings, Temporal's own profile, the credentials of the
object store, and the address for traces."""

PREFIX_OF_NAMES = "worker-"

DRAIN_SECONDS = LONGEST_CAP_SECONDS + limits.WORKER_STOP_SECONDS
"""The time that a worker has to finish its work. No gate runs longer, and after this time a worker ends by itself."""


def database_roles(worker: WorkerRole) -> tuple[str, ...]:
    """The database roles whose passwords a worker holds: the roles of its gates in the catalogue."""
    return tuple(dict.fromkeys(gate.role.value for gate in GATES if gate.worker is worker))


def ensure_workers(settings: Settings, *, given: str) -> list[Service]:
    """The three workers of this build, running and ready. `given` names the servers that they use.

    All start at the same time, and then this function waits for each of them. Workers of another build are started
    again with this build.
    """
    spec = importlib.util.find_spec("worker")
    if spec is None or spec.origin is None:
        raise Unavailable("worker.py is not installed: make the virtual environment again", what="worker")
    program, given = Path(spec.origin), f"{given} {build_id(settings)}"
    started = {
        worker: supervisor.ensure(
            settings.state, service_name(worker), partial(_start, settings, worker, program), given=given
        )
        for worker in WorkerRole
    }
    for worker, service in started.items():
        _await_ready(settings, worker, service)
    return list(started.values())


COMMANDS_ONLY = (
    *("tenant", "batch_items_max"),
    *NOTIFICATION_SETTINGS,
    *DESK_SETTINGS,
)
"""Settings that no worker reads."""


def given_settings(settings: Settings) -> dict[str, Any]:
    """The settings, by name, with which the running workers of this build were started. Empty if none runs."""
    known = supervisor.read(settings.state)
    for worker in WorkerRole:
        service, file = known.get(service_name(worker)), _given_file(settings, worker)
        if service is not None and service.alive and file.is_file():
            values: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
            return values
    return {}


def differing(settings: Settings) -> list[str]:
    """One sentence for each setting in which the running workers differ from a worker that would start now."""
    given, now = given_settings(settings), _plain(settings)
    return [
        f"{PREFIX}{name.upper()} is {json.dumps(given[name])} there and {json.dumps(value)} here"
        for name, value in now.items()
        if name in given and given[name] != value
    ]


def _plain(settings: Settings) -> dict[str, Any]:
    """The settings in their JSON form, without those that only commands read. They include no secrets."""
    left_out = {*COMMANDS_ONLY, "database_url"}  # The address may contain a password.
    return {**settings.model_dump(mode="json", exclude=left_out), "state_dir": str(settings.state)}


def _given_file(settings: Settings, worker: WorkerRole) -> Path:
    return _folder(settings, worker) / "settings.json"


def stop_workers(state_dir: Path, *, drain: bool = False) -> list[str]:
    """Stop all recorded workers, and return the names of those that were running.

    Each worker may finish its work for some seconds, or with `drain` for DRAIN_SECONDS. After this time the worker is
    killed, and the next worker tries its work again.
    """
    names = [name for name in supervisor.read(state_dir) if name.startswith(PREFIX_OF_NAMES)]
    seconds = DRAIN_SECONDS if drain else limits.WORKER_STOP_SECONDS
    return supervisor.stop_all(state_dir, names, seconds=seconds)


def environment(settings: Settings, worker: WorkerRole) -> dict[str, str]:
    """The whole environment of that worker's process."""
    passed = {name: value for name, value in os.environ.items() if name in PASSED or name.startswith(PASSED_PREFIXES)}
    own = {
        "CUTTER_STATE_DIR": str(settings.state),
        "CUTTER_SECRETS_DIR": str(_secrets(settings, worker)),
        "CUTTER_KEYS_DIR": str(handed_keys(settings, worker)),
        "CUTTER_BUILD_ID": build_id(settings),
    }
    return {**passed, **own, "PYTHONUNBUFFERED": "1"}


def service_name(worker: WorkerRole) -> str:
    """The recorded name of the worker's process, such as `worker-exec`."""
    return f"{PREFIX_OF_NAMES}{worker}"


def ready_file(settings: Settings, worker: WorkerRole) -> Path:
    """The file that the worker writes when it begins to poll. It is removed before the worker starts."""
    return _folder(settings, worker).with_suffix(".ready")


def waiting_file(settings: Settings, worker: WorkerRole) -> Path:
    """The file in which a worker that does not serve yet gives its reasons."""
    return ready_file(settings, worker).with_suffix(".waits")


def handed_keys(settings: Settings, worker: WorkerRole) -> Path:
    """This worker's own folder of keys."""
    return _folder(settings, worker) / "keys"


def log_file(settings: Settings, worker: WorkerRole) -> Path:
    return settings.state / "logs" / f"{service_name(worker)}.log"


def _start(settings: Settings, worker: WorkerRole, program: Path) -> Service:
    # A worker's folders have only its own passwords and its own key. They hold links, so that a running worker sees a
    # changed password.
    hand_over(settings.keys, handed_keys(settings, worker), worker)
    folder = _secrets(settings, worker)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True, mode=0o700)
    for role in database_roles(worker):
        source = settings.secrets / f"{role}.password"
        if not source.is_file():
            raise Unavailable(f"no password of {role} at {source}: put the file there", what="secrets")
        (folder / source.name).symlink_to(source)
    ready_file(settings, worker).unlink(missing_ok=True)
    waiting_file(settings, worker).unlink(missing_ok=True)
    _given_file(settings, worker).write_text(json.dumps(_plain(settings), sort_keys=True), encoding="utf-8")
    process = spawn(
        [sys.executable, str(program), "--role", worker.value],
        log=log_file(settings, worker),
        environment=environment(settings, worker),
        folder=Path.cwd(),
    )
    name = service_name(worker)
    return Service(name=name, process=process, version=build_id(settings), how="worker.py")


def _await_ready(settings: Settings, worker: WorkerRole, service: Service) -> None:
    file, log = ready_file(settings, worker), log_file(settings, worker)
    # The time until a worker has written its ready file.
    if until(lambda: file.exists() or not service.alive, seconds=60) and service.alive:
        return
    try:
        waits = waiting_file(settings, worker).read_text(encoding="utf-8")
    except OSError:
        waits = ""
    reason = f"{waits or last_line(log)} (whole log: {log})"
    what = "is not ready" if service.alive else "ended"
    raise Unavailable(f"the {worker} worker {what}: {reason}", what=f"worker_{worker}")


def _folder(settings: Settings, worker: WorkerRole) -> Path:
    return settings.state / "workers" / worker


def _secrets(settings: Settings, worker: WorkerRole) -> Path:
    return _folder(settings, worker) / "secrets"


HOMES = {WorkerRole.CUTTER: "backup", WorkerRole.EXEC: "executor", WorkerRole.VERIFY: "verifier"}
"""The one home of each worker below the folder of keys. The verifier's home also has the executor's public key."""

PIN = "backup.fingerprint"
"""The file with the fingerprint of the backup key, which is public.

The worker that takes backups gets this file too.
"""


def hand_over(keys: Path, folder: Path, worker: WorkerRole) -> None:
    """Put a worker's own home into `folder`, and remove everything else from `folder`.

    The folder has links to the home and to the pin, so that a running worker sees another pin. A copy of the home would
    be one more place of a private key, with an agent of its own. Raises Unavailable if the home is missing, and Refused
    if two homes share a private key.
    """
    home = keys / HOMES[worker]
    if not home.is_dir():
        raise Unavailable(f"no {home.name} key at {home}: put the GnuPG home there", what="keys")
    for name, other in shared(keys):
        raise Refused(
            f"{keys / name} and {keys / other} hold the same private key: give each worker a key of its own",
            code="private_key_shared",
        )
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True, mode=0o700)
    (folder / home.name).symlink_to(home.resolve(), target_is_directory=True)
    if worker is WorkerRole.CUTTER and (keys / PIN).is_file():
        (folder / PIN).symlink_to((keys / PIN).resolve())


def foreign(keys: Path, worker: WorkerRole) -> list[str]:
    """The homes of other workers that are in this worker's folder of keys."""
    return [name for role, name in HOMES.items() if role is not worker and (keys / name).exists()]


def shared(keys: Path) -> list[tuple[str, str]]:
    """The pairs of homes that share a private key. gpg names the key files by the key, so no agent is needed."""
    held = {name: {path.name for path in (keys / name).glob("private-keys-v1.d/*.key")} for name in HOMES.values()}
    return [(name, other) for name, other in combinations(held, 2) if held[name] & held[other]]
