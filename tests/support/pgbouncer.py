"""IO: PgBouncer in front of a test's server, as an operator would put it there."""

from __future__ import annotations

import shutil
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from cutter.catalogue import Role
from cutter.stack import addresses, postgres_programs
from cutter.stack.processes import as_user, until
from tests.support.database import TestCluster, short_folder

PROGRAM = shutil.which("pgbouncer", path="/usr/local/sbin:/usr/sbin:/usr/local/bin:/usr/bin")


@contextmanager
def front(cluster: TestCluster, *, mode: str = "transaction", more: str = "") -> Iterator[int]:
    """The port of a PgBouncer that pools by `mode`. `more` are further lines of its configuration."""
    user = postgres_programs.service_user()
    with short_folder() as folder:
        folder.chmod(0o711)
        port = addresses.choose(folder / "port", wanted=None, setting="")
        files = {"users": _users(cluster), "ini": _configuration(cluster, folder, port, mode, more)}
        for name, text in files.items():
            (folder / name).write_text(text, encoding="ascii")
            postgres_programs.give(folder / name, user)
        with (folder / "log").open("wb") as log:
            process = subprocess.Popen(
                [str(PROGRAM), "ini"], cwd=folder, stdout=log, stderr=log, stdin=subprocess.DEVNULL, **as_user(user)
            )
        try:
            assert until(lambda: _listens(port), seconds=10), (folder / "log").read_text()
            yield port
        finally:
            process.terminate()
            process.wait(10)


def _users(cluster: TestCluster) -> str:
    passwords = ((role, (cluster.secrets / f"{role}.password").read_text().strip()) for role in Role)
    return "".join(f'"{role}" "{password}"\n' for role, password in passwords)


def _configuration(cluster: TestCluster, folder: Path, port: int, mode: str, more: str) -> str:
    return (
        f"[databases]\n* = host=127.0.0.1 port={cluster.cluster.port}\n[pgbouncer]\nlisten_addr = 127.0.0.1\n"
        f"listen_port = {port}\nunix_socket_dir =\nauth_type = scram-sha-256\nauth_file = {folder / 'users'}\n"
        f"pool_mode = {mode}\n{more}\n"
    )


def _listens(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port), timeout=1).close()
    except OSError:
        return False
    return True
