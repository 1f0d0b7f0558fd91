"""IO: the product as processes: a state folder of its own, the commands as people type them, and kills."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from time import monotonic, sleep
from typing import Any, LiteralString

import psycopg
from psycopg.rows import dict_row

from cutter.catalogue import WorkerRole
from cutter.settings import Settings
from cutter.stack import supervisor, workers
from cutter.stack.processes import Process, alive, send, spawn, until
from cutter.stack.supervisor import Service
from cutter.types import Json
from starter.approver import signing_desk
from starter.commands import demo
from tests.support import forked, run_sidecar
from tests.support.pace import patient, pause
from tests.support.proxy import CommitProxy
from tests.support.signatures import sign_answer

ROOT = Path(__file__).resolve().parents[2]
POSTGRES, TEMPORAL = "postgres", "temporal"
EXEC, VERIFY, CUTTER_WORKER = "worker-exec", "worker-verify", "worker-cutter"

WAITS_IN: LiteralString = """
select state from cutter_governance.run r
where run_id = %s
    and not exists (select from cutter_governance.outbox o where o.run_id = r.run_id and o.done_at is null)
    and (state !~ '^awaiting_' or exists (
        select from cutter_governance.approval_request q
        where q.run_id = r.run_id and q.status = 'requested' and q.kb_id is not null))
"""
"""The state in which a run waits for a person, or has ended. No row while it works or still puts documents."""

Done = subprocess.CompletedProcess[str]


@dataclass(slots=True, kw_only=True)
class Stack:
    """One state folder and what runs on it. `environment` is what every command gets beside the plain one."""

    state: Path
    environment: dict[str, str] = field(default_factory=dict)

    @property
    def settings(self) -> Settings:
        """The settings that the stack's commands see, as far as this process needs them."""
        return Settings(state_dir=self.state)

    def cutter(self, *arguments: str, env: Mapping[str, str] | None = None, seconds: float = 240) -> Done:
        """One command of `cutter`, in a process of its own."""
        return forked.run(arguments, self.shell(env), cwd=ROOT, seconds=seconds)

    def json(self, *arguments: str, code: int | None = 0, **given: Any) -> Any:
        """A command's JSON document; its exit code must be `code`."""
        done = self.cutter(*arguments, "--json", **given)
        assert code is None or done.returncode == code, f"{arguments}: exit {done.returncode}: {done.stderr[-2000:]}"
        return json.loads(done.stdout)

    def shell(self, extra: Mapping[str, str] | None = None) -> dict[str, str]:
        """A plain environment: no setting of ours but the state folder's."""
        plain = {name: value for name, value in os.environ.items() if not name.startswith(("CUTTER_", "TEMPORAL_"))}
        return {**plain, "CUTTER_STATE_DIR": str(self.state), **self.environment, **(extra or {})}

    def up(self, **env: str) -> Done:
        """`cutter up`, which must succeed."""
        done = self.cutter("up", env=env)
        assert done.returncode == 0, f"cutter up: exit {done.returncode}: {done.stderr[-2000:]}"
        return done

    def down(self) -> None:
        self.cutter("down")

    def process(self, name: str) -> Process:
        """The process that `cutter up` started under this name."""
        return supervisor.read(self.state)[name].process

    def kill(self, name: str) -> None:
        """SIGKILL, and wait until it is gone."""
        kill(self.process(name))

    def temporal(self, *arguments: str, code: int | None = 0) -> Done:
        """The `temporal` command on this stack's server, with a home that has no profile."""
        address = (self.state / "temporal.address").read_text(encoding="ascii").strip()
        done = subprocess.run(
            [temporal_program(), *arguments, "--address", address],
            env={"PATH": os.environ["PATH"], "HOME": str(self.state)},
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )
        assert code is None or done.returncode == code, f"temporal {arguments[:3]}: {done.stderr[-1000:]}"
        return done

    def rows(self, query: LiteralString, parameters: Any = None) -> list[Json]:
        """Rows as the superuser sees them, each a dictionary."""
        with psycopg.connect(self.superuser(), autocommit=True, connect_timeout=5) as connection:
            return connection.cursor(row_factory=dict_row).execute(query, parameters).fetchall()

    def value(self, query: LiteralString, parameters: Any = None) -> Any:
        """The first column of the first row."""
        rows = self.rows(query, parameters)
        return next(iter(rows[0].values())) if rows else None

    def superuser(self) -> str:
        """Connection string of the embedded cluster's superuser."""
        url = (self.state / "postgres.url").read_text(encoding="ascii").strip()
        password = (self.state / "secrets" / "postgres.password").read_text(encoding="ascii").strip()
        return url.replace("://", f"://postgres:{password}@")

    def add(self, document_id: str, text: str | bytes, *options: str) -> None:
        """`cutter source add` of a text, also of one that no run will cut; it must succeed."""
        file = self.state / f"{document_id}.md"
        file.write_bytes(text.encode() if isinstance(text, str) else text)
        done = self.cutter("source", "add", str(file), "--document-id", document_id, "--profile", "generic-markdown",
                           "--force", *options)  # fmt: skip
        assert done.returncode == 0, done.stderr[-2000:]

    def approver(self) -> Path:
        """A throw-away approver in the policy; its GnuPG home."""
        return demo.ensure_approver(self.settings)

    def approve(self, run_id: str) -> str:
        """Sign what the run waits with, upload it; the KB id. Nothing is sent yet."""
        home = self.state / "demo" / "gpg"
        who = signing_desk.who(self.settings, demo.APPROVER, None, home)
        return sign_answer(self.settings, who, run_id, signing_desk.open_request(self.settings, run_id))

    def signal(self, document_id: str, kb_id: str, *, code: int | None = 0) -> Done:
        """Hand an approval over with the real `temporal` command."""
        return self.temporal(
            *("workflow", "signal", "--workflow-id", f"document/{document_id}", "--name", "submit_approval"),
            *("--input", json.dumps(kb_id)),
            code=code,
        )

    def json_of_workflow(self, document_id: str) -> Json:
        """What `temporal workflow describe` says of a document's newest execution."""
        description: Json = json.loads(
            self.temporal("workflow", "describe", "-w", f"document/{document_id}", "-o", "json").stdout
        )
        return description

    def state_of(self, run_id: str) -> str:
        """The run's state by the database; empty while the database does not answer."""
        try:
            return str(self.value("select state from cutter_governance.run where run_id = %s", (run_id,)) or "")
        except (psycopg.Error, OSError):
            return ""

    def waits_in(self, run_id: str) -> str:
        """The state in which the run waits for a person, or has ended; empty while it works or still puts documents."""
        return str(self.value(WAITS_IN, (run_id,)) or "")

    def unpublished(self, run_id: str) -> int:
        """Documents of the run that are not yet in the knowledge base."""
        query: LiteralString = "select count(*) from cutter_governance.outbox where run_id = %s and done_at is null"
        return int(self.value(query, (run_id,)))

    def sidecar(self, run_id: str) -> Json:
        """Everything the database says of a run."""
        return run_sidecar.sidecar(self.settings, run_id)


@contextmanager
def stack(prefix: str = "ca", beneath: str = "", **environment: str) -> Iterator[Stack]:
    """A stack on a short path, or in a folder `beneath` it, taken down and removed at the end."""
    place = Path(tempfile.mkdtemp(prefix=prefix, dir="/tmp"))
    made = Stack(state=place / beneath, environment=environment)
    made.state.mkdir(parents=True, exist_ok=True)
    try:
        yield made
    finally:
        made.down()
        shutil.rmtree(place, ignore_errors=True)


def kill(process: Process) -> None:
    """SIGKILL, and wait until it is gone."""
    send(process, signal.SIGKILL)
    assert until(lambda: not alive(process), seconds=10), f"process {process.pid} does not die"


def wait(condition: Callable[[], Any], *, seconds: float, what: str) -> Any:
    """The condition's first true answer; an AssertionError that says what was waited for."""
    end = monotonic() + patient(seconds)
    while True:
        began = monotonic()
        answer = condition()
        if answer:
            return answer
        assert monotonic() < end, f"not within {seconds:.0f} s: {what}"
        sleep(pause(monotonic() - began))


def extra_worker(made: Stack, role: WorkerRole, *, folder: Path = ROOT, **given: str) -> Process:
    """Another worker of a role, ready, of the code in `folder` and with other settings."""
    environment = workers.environment(made.settings, role) | made.environment | given
    ready = workers.ready_file(made.settings, role)
    ready.unlink(missing_ok=True)
    process = spawn(
        [sys.executable, str(folder / "worker.py"), "--role", role.value],
        log=made.state / "logs" / f"extra-{role.value}.log",
        environment=environment,
        folder=folder,
    )
    wait(ready.exists, seconds=60, what=f"another {role.value} worker")
    return process


def pinned_workers(made: Stack, build: str, folder: Path = ROOT) -> None:
    """Start the workers of a pinned build and make it current, as docs/runbooks/upgrade.md says. `down` ends them."""
    for role in WorkerRole:
        process = extra_worker(made, role, folder=folder, CUTTER_VERSIONING="pinned", CUTTER_BUILD_ID=build)
        supervisor.remember(made.state, Service(name=f"worker-{role}@{build}", process=process, version=build))
    deployment = ("worker", "deployment", "set-current-version", "--deployment-name", "cutter")

    def current() -> bool:
        return made.temporal(*deployment, "--build-id", build, "--yes", code=None).returncode == 0

    wait(current, seconds=60, what=f"{build} is current")


def behind_proxy(made: Stack, name: str, role: WorkerRole, proxy: CommitProxy) -> None:
    """Have a worker reach PostgreSQL through the proxy, unless it does; `cutter up` takes the new one for its own."""
    service = supervisor.read(made.state)[name]
    how = f"worker.py behind the proxy at {proxy.port}"
    if service.alive and service.how == how:
        return
    kill(service.process)
    process = extra_worker(made, role, CUTTER_DATABASE_URL=f"postgresql://127.0.0.1:{proxy.port}/cutter")
    supervisor.remember(made.state, replace(service, process=process, how=how))


def temporal_program() -> str:
    """The server program that the stack uses, which is the CLI too."""
    from cutter.stack import temporal

    return str(temporal.resolve(address=None).path or "temporal")
