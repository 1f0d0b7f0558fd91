"""IO: the hosts: each has a user, a folder, wires and settings of its own. Six run a worker, one is the operator's."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cutter.catalogue import WorkerRole
from cutter.stack import workers
from cutter.stack.processes import ServiceUser, as_user, until
from cutter.stack.workers import database_roles
from tests.hosts.certificates import Authority
from tests.hosts.ground import Ground, give
from tests.hosts.keeper import Keeper, Unit
from tests.hosts.wires import Wire

NAMES = tuple(f"{role.value}-{number}" for role in WorkerRole for number in (1, 2))
KEY_FILES = {
    WorkerRole.CUTTER: ("backup.key", "backup.fingerprint"),
    WorkerRole.EXEC: ("executor.key",),
    WorkerRole.VERIFY: ("verifier.key", "executor.asc"),
}
READY_SECONDS = 90
BEAT_SECONDS = "2"
COMMAND_SECONDS = 240

Done = subprocess.CompletedProcess[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Host:
    """One host. `shared` is what all hosts have in their environment."""

    name: str
    ground: Ground
    keeper: Keeper
    user: ServiceUser
    shared: Mapping[str, str]
    wires: Mapping[str, Wire]
    certificates: Authority

    @property
    def folder(self) -> Path:
        return self.ground.place / self.name

    def prepare(self) -> None:
        """The host's folders, and its certificate."""
        self.ground.folder(self.name, self.user)
        for part in ("state", "certs"):
            self.ground.folder(f"{self.name}/{part}", self.user)
        for name in ("client.crt", "client.key"):
            self.receive(self.certificates.folder / name, "certs")

    def receive(self, file: Path, folder: str) -> Path:
        """Copy a file to a folder of this host."""
        copy = self.folder / folder / file.name
        shutil.copy(file, copy)
        give(copy, self.user)
        return copy

    def environment(self, build: str = "") -> dict[str, str]:
        """The whole environment of this host's processes."""
        first, second = self.wires["law_a"].port, self.wires["law_b"].port
        own = {
            "HOME": str(self.folder), "CUTTER_STATE_DIR": str(self.folder / f"state{build}"),
            "CUTTER_SECRETS_DIR": str(self.folder / "state" / "secrets"),
            "CUTTER_KEYS_DIR": str(self.folder / "state" / "keys"),
            "CUTTER_APPROVERS_DIR": str(self.folder / "state" / "approvers"),
            **{f"TEMPORAL_TLS_CLIENT_{kind}_PATH": str(self.folder / "certs" / f"client.{suffix}")
               for kind, suffix in (("CERT", "crt"), ("KEY", "key"))},
            "CUTTER_TEMPORAL_ADDRESS": f"127.0.0.1:{self.wires['temporal'].port}",
            # libpq asks the two servers which of them accepts writes.
            "CUTTER_DATABASE_URL": f"postgresql://127.0.0.1:{first},127.0.0.1:{second}/cutter?target_session_attrs="
                                   f"read-write&sslmode=verify-full&sslrootcert={self.certificates.root}",
            "CUTTER_WORKER_BEAT_SECONDS": BEAT_SECONDS, "PYTHONUNBUFFERED": "1",
        }  # fmt: skip
        return {**self.shared, **own}

    def typed(self, *words: str | Path, code: int | None = 0, **more: str) -> Done:
        """A command line of this host's user."""
        done = subprocess.run(
            [str(word) for word in words], env={**self.environment(), **more}, cwd=self.folder / "state",
            stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, timeout=COMMAND_SECONDS, umask=0o077,
            **as_user(self.user),
        )  # fmt: skip
        summary = f"{self.name}: {' '.join(map(str, words[-6:]))}: exit {done.returncode}: {done.stdout[-500:]}"
        assert code is None or done.returncode == code, summary + done.stderr[-1500:]
        return done

    def cutter(self, *words: str | Path, code: int | None = 0, **more: str) -> Done:
        """A command of `cutter`."""
        return self.typed(sys.executable, "-m", "starter.cli", *words, code=code, **more)

    def json(self, *words: str | Path, code: int | None = 0) -> Any:
        """A command's JSON document."""
        return json.loads(self.cutter(*words, "--json", code=code).stdout)

    @property
    def approver_home(self) -> Path:
        return self.folder / "approver"

    def make_approver(self, name: str) -> Path:
        """A key of an approver without a passphrase, because a script signs with it; the file with its public part."""
        self.ground.folder(f"{self.name}/approver", self.user)
        gpg = ("gpg", "--homedir", self.approver_home, "--batch", "--passphrase", "")
        self.typed(*gpg, "--quick-generate-key", f"{name} <{name}@example.org>", "ed25519", "sign", "2d")
        file = self.folder / "state" / f"{name}.asc"
        self.typed(*gpg, "--armor", "--output", file, "--export", name)
        return file


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerHost(Host):
    """A host that runs one worker of each build."""

    @property
    def role(self) -> WorkerRole:
        return WorkerRole(self.name.rpartition("-")[0])

    @property
    def key_home(self) -> str:
        return workers.HOMES[self.role]

    def provide(self, operator: Host) -> None:
        """The files of this worker's row in docs/guides/deploy.md, and its key."""
        for part in ("secrets", "keys"):
            self.ground.folder(f"{self.name}/state/{part}", self.user)
        for role in database_roles(self.role):
            self.receive(operator.folder / "state" / "secrets" / f"{role}.password", "state/secrets")
        if self.role is not WorkerRole.VERIFY:
            shutil.copytree(operator.folder / "state" / "approvers", self.folder / "state" / "approvers")
            give(self.folder / "state" / "approvers", self.user)
        self.take_over(operator.folder / "made")
        self.cutter("keys", "import", "--role", self.key_home, self.folder / "made")
        self.check()

    def take_over(self, made: Path) -> None:
        """The files of this role's new key."""
        shutil.rmtree(self.folder / "made", ignore_errors=True)
        self.ground.folder(f"{self.name}/made", self.user)
        for name in KEY_FILES[self.role]:
            self.receive(made / name, "made")

    def check(self) -> None:
        """`cutter doctor --host`, which must find nothing wrong."""
        self.cutter("doctor", "--host", self.role.value)

    def start(self, name: str, build: Path, probe: int) -> None:
        """`python worker.py` of the build in that folder, as the process manager of this host starts it."""
        state = self.folder / f"state-{build.name}"
        if not state.exists():
            state.mkdir(mode=0o700)
            os.chown(state, self.user.uid, self.user.gid)
        lowest = probe - list(WorkerRole).index(self.role)
        environment = {**self.environment(f"-{build.name}"), "CUTTER_HEALTH_PORT": str(lowest),
                       "CUTTER_BUILD_ID": build.name}  # fmt: skip
        self.keeper.start(Unit(
            name=name, command=[sys.executable, str(build / "worker.py"), "--role", self.role.value],
            environment=environment, user=self.user, folder=build, log=self.ground.place / "logs" / f"{name}.log",
        ))  # fmt: skip


def is_ready(probe: int) -> bool:
    """Whether the worker with that probe serves."""
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{probe}/readyz", timeout=5) as answer:
            return bool(answer.status == 200)
    except OSError:
        return False


def await_ready(probes: Mapping[str, int], keeper: Keeper) -> None:
    """Wait until each of these workers serves."""
    for name, probe in probes.items():
        assert until(lambda probe=probe: is_ready(probe), seconds=READY_SECONDS), f"{name}: {keeper.said(name)}"
