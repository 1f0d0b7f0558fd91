"""IO: the whole cluster: two nodes of Temporal, two law databases, an S3 server, six workers and the operator."""

from __future__ import annotations

import json
import secrets
import shutil
import sys
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, LiteralString

import psycopg

from cutter.stack import addresses
from cutter.stack.processes import ServiceUser, until
from cutter.types import Json
from tests.hosts import certificates, ground, programs, workers
from tests.hosts.database import Pair, Server
from tests.hosts.engine import NAMESPACE, Engine, free_ports
from tests.hosts.keeper import Keeper, Unit
from tests.hosts.wires import Network
from tests.hosts.workers import Host, WorkerHost

ROOT = Path(__file__).resolve().parents[2]
BUILD_PARTS = ("activities", "cutter", "starter", "temporal", "workflows")
SERVERS = ("postgres", "temporal", "store")
OPERATOR, APPROVER = "operator", "an"
BUCKETS = ("cutter-kb", "cutter-backups")

Say = Callable[[str], None]


@dataclass(slots=True, kw_only=True)
class Cluster:
    """Everything that runs. `workers` has the probes of the running workers, by the names of their processes."""

    ground: ground.Ground
    programs: programs.Programs
    users: Mapping[str, ServiceUser]
    say: Say
    keeper: Keeper = field(default_factory=Keeper)
    network: Network = field(default_factory=Network)
    password: str = field(default_factory=lambda: secrets.token_hex(16))
    hosts: dict[str, WorkerHost] = field(default_factory=dict)
    workers: dict[str, int] = field(default_factory=dict)
    builds: dict[str, Path] = field(default_factory=dict)
    laws: Pair = field(init=False)
    engine: Engine = field(init=False)
    operator: Host = field(init=False)

    # --- up -------------------------------------------------------------------------------------------------------

    def begin(self) -> None:
        """Servers, the operator's host, the schema, the keys and the hosts of the workers; no worker yet."""
        self.keeper.begin()
        authority = self._authority()
        self._databases(authority)
        self.say("the law database follows its primary synchronously")
        self.engine.begin()
        self.say("two nodes of Temporal serve")
        shared = {**self._store(), **self._settings()}
        self._operator(shared)
        self.say("schema, search attributes, effect policy and approvers are there")
        for name in workers.NAMES:
            self._worker_host(name, shared)
        self.say("six hosts have their keys and passwords")

    def _authority(self) -> certificates.Authority:
        for name in ("logs", "builds"):
            self.ground.folder(name)
        folder = self.ground.folder("certs")
        return certificates.make(folder, self.ground.place / "ca.crt", "temporal", "database", "client")

    def _databases(self, authority: certificates.Authority) -> None:
        user = self.users["postgres"]
        self.ground.folder("databases", user)
        base = Server(name="engine", ground=self.ground, programs=self.programs, authority=authority,
                      keeper=self.keeper, user=user, port=addresses.free(), restarts=True)  # fmt: skip
        base.initialise()
        base.begin()
        self.engine = Engine(ground=self.ground, programs=self.programs, authority=authority, keeper=self.keeper,
                             user=self.users["temporal"], database=base, password=self.password,
                             ports=free_ports())  # fmt: skip
        pair = [replace(base, name=name, port=addresses.free(), restarts=False) for name in ("law_a", "law_b")]
        self.laws = Pair(*pair, password=self.password)
        self.laws.begin()

    def _store(self) -> dict[str, str]:
        """An S3 server with two buckets; the settings that lead to it."""
        port, folder = addresses.free(), self.ground.folder("store", self.users["store"])
        environment = {"PATH": "/usr/bin:/bin", "HOME": str(folder), "PYTHONPATH": str(self.programs.python)}
        self.keeper.start(Unit(
            name="store", command=[sys.executable, "-m", "moto.server", "--host", "127.0.0.1", "--port", str(port)],
            environment=environment, user=self.users["store"], folder=folder, restarts=False,
            log=self.ground.place / "logs" / "store.log",
        ))  # fmt: skip
        address = f"http://127.0.0.1:{port}"
        assert until(lambda: addresses.listens(address.removeprefix("http://")), seconds=30), self.keeper.said("store")
        for bucket in BUCKETS:
            urllib.request.urlopen(urllib.request.Request(f"{address}/{bucket}", method="PUT"), timeout=10).close()
        return {
            "CUTTER_KB_URL": "s3://cutter-kb/documents", "CUTTER_ARTIFACTS_URL": "s3://cutter-backups/artifacts",
            "AWS_ENDPOINT_URL": address, "AWS_ACCESS_KEY_ID": "hosts", "AWS_SECRET_ACCESS_KEY": self.password,
            "AWS_DEFAULT_REGION": "us-east-1",
        }  # fmt: skip

    def _settings(self) -> dict[str, str]:
        """What all hosts share. libpq asks both servers of the pair which of them accepts writes."""
        return {
            "PATH": f"{self.ground.place}/bin:/usr/bin:/bin", "PYTHONPATH": f"{self.programs.python}",
            "CUTTER_TEMPORAL_NAMESPACE": NAMESPACE, "CUTTER_VERSIONING": "pinned",
            "TEMPORAL_TLS_SERVER_CA_CERT_PATH": str(self.engine.authority.root),
        }  # fmt: skip

    def _wired(self, kind: type[Host], name: str, shared: Mapping[str, str]) -> Any:
        """A host with wires of its own to both databases and to Temporal."""
        ways = {server.name: [("127.0.0.1", server.port)] for server in (self.laws.primary, self.laws.standby)}
        wires = {way: self.network.wire(f"{name} {way}", *targets)
                 for way, targets in {**ways, "temporal": self.engine.frontends}.items()}  # fmt: skip
        return kind(name=name, ground=self.ground, keeper=self.keeper, user=self.users[name], shared=shared,
                    wires=wires, certificates=self.engine.authority)  # fmt: skip

    def _operator(self, shared: Mapping[str, str]) -> None:
        self.operator = self._wired(Host, OPERATOR, shared)
        self.operator.prepare()
        superuser = self.laws.primary.url("postgres", "postgres")
        self.operator.cutter("migrate", "--bootstrap", superuser, PGPASSWORD=self.password)
        self.operator.cutter("reconcile", "--every", "10")
        self.operator.cutter("policy", "install")
        key = self.operator.make_approver(APPROVER)
        self.operator.cutter("approvers", "init", "--approver", f"{APPROVER}={key}")
        self.make_keys("made")

    def make_keys(self, folder: str) -> Path:
        """`cutter keys make` of all three roles, on the operator's host; their folder."""
        for role in ("executor", "verifier", "backup"):
            self.operator.cutter("keys", "make", "--role", role, str(self.operator.folder / folder))
        return self.operator.folder / folder

    def _worker_host(self, name: str, shared: Mapping[str, str]) -> None:
        host: WorkerHost = self._wired(WorkerHost, name, shared)
        host.prepare()
        host.provide(self.operator)
        self.hosts[name] = host

    # --- workers --------------------------------------------------------------------------------------------------

    def install(self, name: str) -> Path:
        """A folder with the code, as a release is installed. Its workers are a build of their own."""
        folder = self.ground.place / "builds" / name
        folder.parent.chmod(0o711)
        for part in BUILD_PARTS:
            shutil.copytree(ROOT / part, folder / part, ignore=shutil.ignore_patterns("__pycache__"))
        shutil.copy(ROOT / "worker.py", folder)
        self.builds[name] = folder
        return folder

    def start_workers(self, build: str) -> dict[str, int]:
        """The six workers of a build; each serves when this returns. Their probes, by name."""
        probes = {f"{name}@{build}": addresses.free() for name in self.hosts}
        for (name, probe), host in zip(probes.items(), self.hosts.values(), strict=True):
            host.start(name, self.builds[build], probe)
        workers.await_ready(probes, self.keeper)
        self.workers |= probes
        return probes

    def stop_workers(self, build: str) -> None:
        """SIGTERM to all workers of a build, which end after their work."""
        for name in [name for name in self.workers if name.endswith(f"@{build}")]:
            self.keeper.stop(name)
            del self.workers[name]

    # --- looking --------------------------------------------------------------------------------------------------

    def rows(self, query: LiteralString, given: Any = None, *, database: str = "cutter") -> list[Json]:
        """Rows of the law database, whichever server is its primary."""
        return self.laws.primary.rows(query, given, database=database)

    def value(self, query: LiteralString, given: Any = None) -> Any:
        """The first column of the first row; None while the database does not answer."""
        try:
            rows = self.rows(query, given)
        except psycopg.Error:
            return None
        return next(iter(rows[0].values())) if rows else None

    def ready(self) -> bool:
        """Whether every worker serves."""
        return all(workers.is_ready(probe) for probe in self.workers.values())

    def open_workflows(self) -> list[str]:
        """The ids of running workflows of cutter's own kinds."""
        shown = self.engine.cli("workflow", "list", "--namespace", NAMESPACE, "--query", "ExecutionStatus='Running'",
                                "--limit", "1000", "-o", "json")  # fmt: skip
        assert shown.returncode == 0, shown.stderr
        ids = [str(row["execution"]["workflowId"]) for row in json.loads(shown.stdout or "[]")]
        return [name for name in ids if not name.startswith("temporal-sys-")]

    def close(self) -> None:
        self.keeper.close()
        self.network.close()


@contextmanager
def cluster(say: Say, logs: Path) -> Iterator[Cluster]:
    """The cluster, removed at the end. After a failure its logs are copied to `logs`."""
    paths = programs.find()
    say("all programs are there")
    readable = (ROOT, Path(sys.executable), paths.postgres, paths.server, paths.python)
    place, users = ground.take((*SERVERS, OPERATOR, *workers.NAMES), readable)
    made = Cluster(ground=place, programs=paths, users=users, say=say)
    shutil.rmtree(logs, ignore_errors=True)
    try:
        yield made
    except BaseException:
        shutil.copytree(place.place / "logs", logs)
        say(f"failed; the logs of all processes are in {logs}")
        raise
    finally:
        made.close()
        ground.give_back(place)
