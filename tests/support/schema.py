"""IO: tests/golden/schema.txt, a digest of each object of the schema: `python -m tests.support.schema` writes it again.

A change of any file below cutter/storage/sql shows here which objects it changes. `--text` prints the whole schema as
pg_dump writes it. Owners and grants are not in it: those are the bootstrap's and grants.yaml's.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from urllib.parse import unquote, urlsplit

from cutter import limits
from cutter.domain.digests import sha256_hex
from cutter.stack.postgres_programs import pg_bin
from cutter.storage.roles import declared_grants
from tests.support.database import OWNER, TEMPLATE, own_cluster

SCHEMA = Path(__file__).parents[1] / "golden" / "schema.txt"

_NOISE = re.compile(r"^(--.*|\\(un)?restrict .*|SET .*|SELECT pg_catalog\.set_config.*|CREATE SCHEMA public;)$")
"""Comments, session settings, the random words of \\restrict, and what every database has."""


_AFTER_THE_NAME = (
    r" RETURNS |\n +AS | AS\n| \(\n| USING | FOR EACH | (?:PRIMARY KEY|UNIQUE|FOREIGN KEY|CHECK|EXCLUDE)\b"
)


def dump_schema(url: str) -> str:
    """The normalised schema of a database; the password of `url` goes by environment, not by argument."""
    parts = urlsplit(url)
    command = [
        *(str(pg_bin("pg_dump")), "--schema-only", "--no-owner", "--no-privileges", "--no-comments"),
        *(word for schema in declared_grants().schemas for word in ("--schema", schema)),
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


def objects(dump: str) -> dict[str, str]:
    """The statements of a dump by the words that name their object. Some objects have two."""
    named: dict[str, str] = {}
    for statement in re.split(r"\n\n(?=(?:CREATE|ALTER) )", dump.strip()):
        name = re.sub(r" DEFAULT [^,]+?(?=,|\)$)", "", re.split(_AFTER_THE_NAME, statement, maxsplit=1)[0])
        name = " ".join(name.split()).removesuffix(";")
        named[name] = named.get(name, "") + statement
    return named


def listed(dump: str) -> str:
    """A line for each object: the beginning of its digest, and its name."""
    return "".join(f"{sha256_hex(text)[:16]}  {name}\n" for name, text in objects(dump).items())


def changed(dump: str) -> dict[str, str]:
    """The objects that are not as in the file, with their present text. Those that are gone have an empty text."""
    kept = dict(reversed(line.split("  ", 1)) for line in SCHEMA.read_text(encoding="utf-8").splitlines())
    now = objects(dump)
    return {name: now.get(name, "") for name in [*now, *kept]
            if name not in now or kept.get(name) != sha256_hex(now[name])[:16]}  # fmt: skip


def main() -> int:
    """Migrate an empty database, and write the file, or with `--text` print the schema."""
    with own_cluster() as server:
        text = dump_schema(server.url(OWNER, TEMPLATE))
    if sys.argv[1:] == ["--text"]:
        print(text, end="")
        return 0
    SCHEMA.write_text(listed(text), encoding="utf-8")
    print(f"{SCHEMA}: {len(objects(text))} objects")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
