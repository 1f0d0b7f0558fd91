"""IO: schema.sql, the sum of the migrations as pg_dump writes it (spec 04 "Migrations"); a test compares the two.

Without owners and grants: those are the bootstrap's and grants.yaml's.
"""

from __future__ import annotations

import os
import re
import subprocess
from importlib import resources
from pathlib import Path
from urllib.parse import unquote, urlsplit

from cutter import limits
from cutter.errors import Unavailable
from cutter.storage.grants import declared

_NOISE = re.compile(r"^(--.*|\\(un)?restrict .*|SET .*|SELECT pg_catalog\.set_config.*|CREATE SCHEMA public;)$")
"""Comments, session settings, the random words of \\restrict, and what every database has."""


def schema_path() -> Path:
    """Where the checked-in schema.sql stands."""
    return Path(str(resources.files("cutter.storage") / "sql" / "schema.sql"))


def dump_schema(url: str, *, pg_dump: Path) -> str:
    """The normalised schema of a database; the password of `url` goes by environment, not by argument."""
    parts = urlsplit(url)
    command = [
        *(str(pg_dump), "--schema-only", "--no-owner", "--no-privileges", "--no-comments"),
        *(word for schema in declared().schemas for word in ("--schema", schema)),
        *(
            "--host",
            str(parts.hostname),
            "--port",
            str(parts.port or 5432),
            "--username",
            unquote(parts.username or ""),
        ),
        *("--no-password", "--dbname", parts.path.lstrip("/")),
    ]
    environment = {"PATH": os.defpath, "LC_ALL": "C", "PGPASSWORD": unquote(parts.password or "")}
    done = subprocess.run(
        command,
        check=False,
        capture_output=True,
        env=environment,
        timeout=limits.BACKUP_DEADLINE_SECONDS,
    )
    if done.returncode != 0:
        raise Unavailable(f"pg_dump: {done.stderr.decode('utf-8', 'replace').strip()[:200]}", what="database")
    return normalised(done.stdout.decode())


def normalised(dump: str) -> str:
    """The dump without what differs from call to call, and with at most one empty line between statements."""
    lines = [line.rstrip() for line in dump.splitlines() if not _NOISE.match(line)]
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip() + "\n"
