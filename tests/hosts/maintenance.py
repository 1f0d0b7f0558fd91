"""IO: what operators do while runs continue: a rolling upgrade, other keys and passwords, and a restore.

Each function follows its runbook in docs/runbooks, on the hosts that the page names.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from cutter.catalogue import WorkerRole
from cutter.stack.processes import until
from tests.hosts.cluster import Cluster
from tests.hosts.engine import NAMESPACE
from tests.hosts.workers import Host, WorkerHost

DEPLOYMENT = "cutter"
STEP = "        for gate in GATES:\n"
OTHER_STEP = '            await workflow.sleep(0.001, summary="the other build")\n'
DRAINED_SECONDS = 120
CURRENT_SECONDS = 60
ROTATED_PASSWORD = "cutter_exec"
PLANTED = "planted"


@dataclass(frozen=True, slots=True)
class Maintenance:
    """The operator's work on a cluster."""

    cluster: Cluster

    # --- docs/runbooks/upgrade.md ---------------------------------------------------------------------------------

    def make_current(self, build: str) -> None:
        """Start the workers of a build, and make it current once its queues have pollers."""
        self.cluster.start_workers(build)
        words = ("worker", "deployment", "set-current-version", "--namespace", NAMESPACE, "--deployment-name",
                 DEPLOYMENT, "--build-id", build, "--yes")  # fmt: skip
        done = until(lambda: self.cluster.engine.cli(*words).returncode == 0, seconds=CURRENT_SECONDS)
        assert done, self.cluster.engine.cli(*words).stderr

    def install_changed(self, build: str) -> None:
        """A build whose workflow asks for other steps, so that it cannot replay a run of the first build."""
        file = self.cluster.install(build) / "workflows" / "document_run.py"
        text = file.read_text(encoding="utf-8")
        assert text.count(STEP) == 1
        file.write_text(text.replace(STEP, STEP + OTHER_STEP), encoding="utf-8")

    def retire(self, build: str) -> None:
        """End the workers of a build after Temporal calls it drained."""
        assert until(lambda: self._drainage(build) == "drained", seconds=DRAINED_SECONDS), self._drainage(build)
        self.cluster.stop_workers(build)

    def _drainage(self, build: str) -> str:
        shown = self.cluster.engine.cli("worker", "deployment", "describe-version", "--namespace", NAMESPACE,
                                        "--deployment-name", DEPLOYMENT, "--build-id", build, "-o", "json")  # fmt: skip
        answer = json.loads(shown.stdout) if shown.returncode == 0 else {}
        return str(answer.get("drainageInfo", {}).get("drainageStatus") or shown.stderr)

    # --- docs/runbooks/rotate-keys.md -----------------------------------------------------------------------------

    def make_keys(self) -> None:
        """Other keys of the backup, the executor and the verifier, as files on the hosts that will use them."""
        made = self.cluster.make_keys("made-again")
        for host in self.cluster.hosts.values():
            host.take_over(made)

    def rotate_keys(self) -> None:
        """Put the other keys in the place of the present ones."""
        self._rotate_backup()
        for host in self._of(WorkerRole.VERIFY):
            self._gpg(host, "verifier", "--import", host.folder / "made" / "executor.asc")
        for role in (WorkerRole.EXEC, WorkerRole.VERIFY):
            for host in self._of(role):
                self._replace(host)

    def _of(self, role: WorkerRole) -> list[WorkerHost]:
        return [host for host in self.cluster.hosts.values() if host.role is role]

    def _rotate_backup(self) -> None:
        """Every home gets the new key before the first pin changes, because only its key opens a backup."""
        for host in self._of(WorkerRole.CUTTER):
            self._gpg(host, "backup", "--import", host.folder / "made" / "backup.key")
        for host in self._of(WorkerRole.CUTTER):
            host.cutter("keys", "import", "--role", "backup", host.folder / "made")

    def _replace(self, host: WorkerHost) -> None:
        keys = host.folder / "state" / "keys"
        old = keys / f"{host.key_home}-old"
        host.typed("mv", keys / host.key_home, old)
        host.cutter("keys", "import", "--role", host.key_home, host.folder / "made")
        host.typed("gpgconf", "--homedir", old, "--kill", "all")
        host.typed("rm", "-r", old)

    @staticmethod
    def _gpg(host: Host, home: str, *words: str | Path) -> None:
        host.typed("gpg", "--homedir", host.folder / "state" / "keys" / home, "--batch", *words)

    def rotate_password(self) -> None:
        """Another password of the exec role."""
        secrets = self.cluster.operator.folder / "state" / "secrets"
        (secrets / f"{ROTATED_PASSWORD}.password").unlink()
        self.bootstrap()
        for host in self._of(WorkerRole.EXEC):
            host.receive(secrets / f"{ROTATED_PASSWORD}.password", "state/secrets")

    def bootstrap(self) -> None:
        """`cutter migrate --bootstrap` again, which gives the roles access and missing passwords."""
        superuser = self.cluster.laws.primary.url("postgres", "postgres")
        self.cluster.operator.cutter("migrate", "--bootstrap", superuser, PGPASSWORD=self.cluster.password)

    # --- docs/runbooks/point-in-time.md ---------------------------------------------------------------------------

    def lose_and_restore(self) -> None:
        """The law database is gone, and comes back by its archived log. A copy of it stays for the control arm."""
        self.cluster.laws.lose_and_recover()
        laws = self.cluster.laws.primary
        laws.rows("alter database cutter allow_connections false")
        laws.rows("select pg_terminate_backend(pid) from pg_stat_activity where datname = 'cutter'")
        laws.rows("create database planted template cutter")
        laws.rows("alter database cutter allow_connections true")
        self.cluster.operator.cutter("migrate", "--check")
        self.cluster.operator.cutter("reconcile")

    def audit_events(self) -> set[str]:
        """Every audit event, with its hash."""
        file = self.cluster.operator.folder / "state" / "audit.jsonl"
        self.cluster.operator.cutter("audit", "export", "--out", file)
        lines = file.read_text(encoding="utf-8").splitlines()
        file.unlink()
        return set(lines[:-1])
