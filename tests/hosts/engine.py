"""IO: Temporal as a cluster of two nodes with all services each, on PostgreSQL, with TLS and client certificates."""

from __future__ import annotations

import json
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from psycopg import sql

from cutter.stack import addresses
from cutter.stack.processes import ServiceUser, until
from cutter.stack.temporal import DYNAMIC_CONFIG
from tests.hosts.certificates import Authority
from tests.hosts.database import Server
from tests.hosts.ground import Ground, give
from tests.hosts.keeper import Keeper, Unit
from tests.hosts.programs import Programs

NODES = {"node-1": "127.0.0.1", "node-2": "127.0.0.2"}
SERVICES = ("frontend", "history", "matching", "worker")
STORES = {"temporal": "temporal", "visibility": "temporal_visibility"}
NAMESPACE = "laws"
SHARDS = 64
START_SECONDS = 90


@dataclass(frozen=True, slots=True, kw_only=True)
class Engine:
    """The nodes. Both have the same ports, each on an address of its own."""

    ground: Ground
    programs: Programs
    authority: Authority
    keeper: Keeper
    user: ServiceUser
    database: Server
    password: str
    ports: dict[str, tuple[int, int]]

    @property
    def frontends(self) -> list[tuple[str, int]]:
        return [(address, self.ports["frontend"][0]) for address in NODES.values()]

    def begin(self) -> None:
        """The schema, both nodes, and the namespace."""
        self._schema()
        for name in NODES:
            self._start(name)
        assert until(self.is_healthy, seconds=START_SECONDS), self.keeper.said("node-1")
        made = self.cli("operator", "namespace", "create", "--namespace", NAMESPACE, "--retention", "72h")
        assert made.returncode == 0, made.stderr
        # A new namespace is in the nodes' caches after some seconds.
        ready = ("task-queue", "describe", "--task-queue", "none", "--namespace", NAMESPACE)
        assert until(lambda: self.cli(*ready).returncode == 0, seconds=60), "the namespace does not answer"

    def is_healthy(self) -> bool:
        return all(self.cli("operator", "cluster", "health", node=node).returncode == 0 for node in NODES)

    def cli(self, *words: str, node: str = "node-1") -> subprocess.CompletedProcess[str]:
        """The `temporal` command at one node."""
        tls = self.client()
        return subprocess.run(
            [str(self.programs.cli), *words, "--address", f"{NODES[node]}:{self.ports['frontend'][0]}",
             "--command-timeout", "10s"],
            env={"PATH": "/usr/bin:/bin", "HOME": str(self.ground.place), **tls},
            capture_output=True, text=True, check=False, timeout=60,
        )  # fmt: skip

    def client(self, folder: Path | None = None) -> dict[str, str]:
        """Temporal's own profile for a client whose certificate is in `folder`."""
        where = folder or self.authority.folder
        return {
            "TEMPORAL_TLS_SERVER_CA_CERT_PATH": str(self.authority.root),
            "TEMPORAL_TLS_CLIENT_CERT_PATH": str(where / "client.crt"),
            "TEMPORAL_TLS_CLIENT_KEY_PATH": str(where / "client.key"),
        }

    def _schema(self) -> None:
        self.database.rows(sql.SQL("create role temporal login password {}").format(sql.Literal(self.password)))
        for schema, name in STORES.items():
            self.database.rows(sql.SQL("create database {} owner temporal").format(sql.Identifier(name)))
            self._sql_tool(name, "setup-schema", "--version", "0.0")
            self._sql_tool(name, "update-schema", "--schema-name", f"postgresql/v12/{schema}")

    def _sql_tool(self, database: str, *words: str) -> None:
        done = subprocess.run(
            [str(self.programs.sql_tool), "--plugin", "postgres12", "--ep", "127.0.0.1", "--port",
             str(self.database.port), "--user", "temporal", "--db", database, "--tls", "--tls-ca-file",
             str(self.authority.root), "--tls-server-name", "localhost", *words],
            env={"PATH": "/usr/bin:/bin", "SQL_PASSWORD": self.password},
            capture_output=True, text=True, check=False, timeout=120,
        )  # fmt: skip
        assert done.returncode == 0, f"temporal-sql-tool {words[0]}: {done.stdout[-500:]}{done.stderr[-500:]}"

    def _start(self, name: str) -> None:
        folder = self.ground.folder(name, self.user)
        for part in ("temporal.crt", "temporal.key"):
            shutil.copy(self.authority.folder / part, folder)
        (folder / "config").mkdir()
        # JSON is YAML too.
        (folder / "config" / "hosts.yaml").write_text(json.dumps(self._config(folder, NODES[name])), encoding="ascii")
        (folder / "dynamic.yaml").write_text("".join(map(_dynamic, DYNAMIC_CONFIG)), encoding="ascii")
        give(folder, self.user)
        self.keeper.start(Unit(
            name=name, command=[str(self.programs.server), "--root", str(folder), "--config", "config", "--env",
                                "hosts", "--allow-no-auth", "start"],
            environment={"PATH": "/usr/bin:/bin", "HOME": str(folder)}, user=self.user, folder=folder,
            log=self.ground.place / "logs" / f"{name}.log",
        ))  # fmt: skip

    def _config(self, folder: Path, address: str) -> dict[str, Any]:
        mine = {"certFile": str(folder / "temporal.crt"), "keyFile": str(folder / "temporal.key")}
        root = str(self.authority.root)
        tls = {
            "server": {**mine, "requireClientAuth": True, "clientCaFiles": [root]},
            "client": {"serverName": "temporal", "rootCaFiles": [root]},
        }
        return {
            "log": {"stdout": True, "level": "warn"},
            "persistence": {
                "defaultStore": "temporal", "visibilityStore": "visibility", "numHistoryShards": SHARDS,
                "datastores": {store: {"sql": self._store(name)} for store, name in STORES.items()},
            },
            "global": {"membership": {"maxJoinDuration": "30s", "broadcastAddress": address},
                       "tls": {"internode": tls, "frontend": tls}},
            "services": {
                service: {"rpc": {"grpcPort": self.ports[service][0], "membershipPort": self.ports[service][1],
                                  "bindOnIP": address}}
                for service in SERVICES
            },
            "clusterMetadata": {
                "enableGlobalNamespace": False, "failoverVersionIncrement": 10, "masterClusterName": "active",
                "currentClusterName": "active",
                "clusterInformation": {"active": {
                    "enabled": True, "initialFailoverVersion": 1, "rpcName": "frontend",
                    "rpcAddress": f"{address}:{self.ports['frontend'][0]}",
                }},
            },
            "dcRedirectionPolicy": {"policy": "noop"},
            "dynamicConfigClient": {"filepath": str(folder / "dynamic.yaml"), "pollInterval": "60s"},
        }  # fmt: skip

    def _store(self, name: str) -> dict[str, Any]:
        return {
            "pluginName": "postgres12", "databaseName": name, "connectAddr": f"127.0.0.1:{self.database.port}",
            "connectProtocol": "tcp", "user": "temporal", "password": self.password, "maxConns": 20,
            "maxIdleConns": 20, "maxConnLifetime": "1h",
            "tls": {"enabled": True, "caFile": str(self.authority.root), "enableHostVerification": True,
                    "serverName": "localhost"},
        }  # fmt: skip


def free_ports() -> dict[str, tuple[int, int]]:
    """A port of its own for the calls and for the membership of each service."""
    return {service: (addresses.free(), addresses.free()) for service in SERVICES}


def _dynamic(pair: str) -> str:
    name, _, value = pair.partition("=")
    return f"{name}:\n  - value: {value}\n"
