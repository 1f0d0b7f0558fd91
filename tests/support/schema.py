"""IO: tests/golden/schema.sql, the whole schema as pg_dump writes it: `python -m tests.support.schema` writes it again.

For reading and for review: a change of any file below cutter/storage/sql shows here what it does to a database. Without
owners and grants: those are the bootstrap's and grants.yaml's.
"""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path
from urllib.parse import unquote, urlsplit

from cutter import limits
from cutter.stack.postgres import pg_bin
from cutter.storage.grants import declared
from tests.support.database import OWNER, TEMPLATE, own_cluster

SCHEMA = Path(__file__).parents[1] / "golden" / "schema.sql"

_NOISE = re.compile(r"^(--.*|\\(un)?restrict .*|SET .*|SELECT pg_catalog\.set_config.*|CREATE SCHEMA public;)$")
"""Comments, session settings, the random words of \\restrict, and what every database has."""


def dump_schema(url: str) -> str:
    """The normalised schema of a database; the password of `url` goes by environment, not by argument."""
    parts = urlsplit(url)
    command = [
        *(str(pg_bin("pg_dump")), "--schema-only", "--no-owner", "--no-privileges", "--no-comments"),
        *(word for schema in declared().schemas for word in ("--schema", schema)),
        *("--host", str(parts.hostname), "--port", str(parts.port or 5432)),
        *("--username", unquote(parts.username or ""), "--no-password", "--dbname", parts.path.lstrip("/")),
    ]
    environment = {"PATH": os.defpath, "LC_ALL": "C", "PGPASSWORD": unquote(parts.password or "")}
    done = subprocess.run(
        command, check=False, capture_output=True, env=environment, timeout=limits.BACKUP_DEADLINE_SECONDS
    )
    assert done.returncode == 0, done.stderr.decode("utf-8", "replace")
    return normalised(done.stdout.decode())


def normalised(dump: str) -> str:
    """The dump without what differs from call to call, and with at most one empty line between statements."""
    lines = [line.rstrip() for line in dump.splitlines() if not _NOISE.match(line)]
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip() + "\n"


def main() -> int:
    """Migrate an empty database, dump it, write the file."""
    with own_cluster() as server:
        text = dump_schema(server.url(OWNER, TEMPLATE))
    SCHEMA.write_text(text, encoding="utf-8")
    print(f"{SCHEMA}: {len(text.splitlines())} lines")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
