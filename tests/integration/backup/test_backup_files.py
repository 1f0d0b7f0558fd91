"""The reference of a backup's files is enough to restore it with gpg and psql alone, and to compute its digests."""

from __future__ import annotations

import hashlib
import os
import re
import subprocess
from collections import defaultdict
from pathlib import Path

import pytest

from cutter.backup.record import TABLES, BackupRecord
from cutter.domain.digests import sha256_hex
from cutter.stack.postgres_programs import pg_bin
from tests.integration.backup.rig import Rig, gpg

PAGE = Path(__file__).parents[3] / "docs" / "reference" / "backup-files.md"


@pytest.fixture
def record(own: Rig) -> BackupRecord:
    return own.taken_record()


def test_the_script_of_the_page_gives_every_row(own: Rig, record: BackupRecord) -> None:
    script = re.search(r"```bash\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    assert script is not None
    cluster = own.server.cluster
    environment = {
        "PATH": f"{pg_bin('psql').parent}:{os.environ['PATH']}", "HOME": os.environ.get("HOME", "/tmp"),
        "GNUPGHOME": str(own.home.path), "STORE": str(own.store), "BACKUP": record.artifact_id, "PGHOST": "127.0.0.1",
        "PGPORT": str(cluster.port), "PGUSER": cluster.superuser, "PGPASSWORD": cluster.password,
        "PGDATABASE": own.scratch,
    }  # fmt: skip
    done = subprocess.run(["bash", "-c", script[1]], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert record.sha256 in done.stdout
    rows = "SELECT jsonb_agg(to_jsonb(t) ORDER BY to_jsonb(t)) FROM {} t"
    for table in TABLES:
        both = {name: own.server.value(rows.format(table), database=name) for name in (own.database, own.scratch)}
        assert both[own.database] == both[own.scratch], table


def test_the_digests_of_the_page_are_those_of_the_product(own: Rig, record: BackupRecord) -> None:
    lines = defaultdict(list)
    for line in gpg(own.home.path, "--decrypt", given=own.artifact(record).read_bytes()).splitlines():
        lines[line.split(b"\t")[0].decode()].append(hashlib.sha256(line).digest())
    named = (
        "\x1f".join((name, str(len(lines[name])), sha256_hex(b"".join(sorted(lines[name])))))
        for name in ("backup/2", *TABLES)
    )
    assert sha256_hex("\n".join(named)) == record.content_fingerprint
    assert {table: len(lines[table]) for table in TABLES} == record.row_counts
