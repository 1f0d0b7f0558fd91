"""The reference of a backup's files is enough to restore it with gpg and psql alone, and to compute its digests."""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from urllib.parse import unquote, urlsplit
from uuid import uuid4

import pytest
from psycopg import sql

from cutter.backup.fingerprint import pinned_output
from cutter.backup.record import BackupRecord
from cutter.backup.segments.scrub import again
from cutter.domain.digests import canonical_json, sha256_hex
from cutter.stack.postgres import pg_bin
from tests.integration.backup.segment_rig import Laws, content, laws, sealing
from tests.support import runs
from tests.support.database import Database, TestCluster

PAGE = Path(__file__).parents[3] / "docs" / "reference" / "backup-files.md"


@pytest.fixture(scope="module")
def world(cluster: TestCluster, keys: runs.Keys) -> Iterator[Laws]:
    with laws(cluster, keys) as made:
        yield made


@pytest.fixture
def by_hand(world: Laws) -> Iterator[Database]:
    """A database that the script of the page has filled from a backup whose base names one segment with two laws. The
    backup itself has newer rows of one of them.
    """
    _taken(world, "both.gpg", 0, 1)
    record = _taken(world, "one.gpg", 0)
    server = world.database.server
    into = Database(server=server, name=f"by_hand_{uuid4().hex[:12]}")
    server.maintain(sql.SQL("CREATE DATABASE {} TEMPLATE template0").format(sql.Identifier(into.name)))
    try:
        _run(world, into, record)
        yield into
    finally:
        into.close()
        server.maintain(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(into.name)))


def _taken(world: Laws, name: str, *numbers: int) -> BackupRecord:
    """A sealed backup that holds these laws."""
    with closing(world.database.connect("cutter_backup")) as connection:
        for number in numbers:
            assert again(connection, world.driven[number].document_id)
    record = world.take(name)
    assert isinstance(record, BackupRecord), record
    assert len(sealing(world, record).header.documents) == len(numbers)
    return record


def _run(world: Laws, into: Database, record: BackupRecord) -> None:
    script = re.search(r"```bash\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    assert script is not None
    parts = urlsplit(into.url("postgres"))
    environment = {
        "PATH": f"{pg_bin('psql').parent}:{os.environ['PATH']}", "HOME": os.environ.get("HOME", "/tmp"),
        "GNUPGHOME": str(world.made.settings.key_home("backup")), "STORE": str(world.folder),
        "BACKUP": record.artifact_id, "PGHOST": str(parts.hostname), "PGPORT": str(parts.port),
        "PGUSER": str(parts.username), "PGPASSWORD": unquote(parts.password or ""), "PGDATABASE": into.name,
    }  # fmt: skip
    done = subprocess.run(["bash", "-c", script[1]], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert record.sha256 in done.stdout


def test_the_script_of_the_page_gives_every_row_of_every_document(world: Laws, by_hand: Database) -> None:
    assert content(by_hand) == world.at_the_end
    assert by_hand.value("select array_agg(document) from wanted") == [world.driven[1].document_id]


def test_the_digests_of_the_page_are_those_of_the_product(world: Laws) -> None:
    """Computed as the page says, from the live rows of a law that has not changed."""
    name = world.driven[0].document_id
    record = world.record(1)
    plain = subprocess.run(
        ["gpg", "--homedir", str(world.made.settings.key_home("backup")), "--quiet", "--decrypt",
         str(world.folder / record.artifact_id)], capture_output=True, check=True,
    ).stdout.decode()  # fmt: skip
    first, rest = plain.split("\n", 1)
    text = first.removeprefix("-- ")
    header = json.loads(text)
    assert canonical_json(header) == text
    assert sha256_hex(text) == record.content_fingerprint
    assert re.findall(r"^COPY (\S+) \(backup_document, .*\) FROM stdin;$", rest, re.MULTILINE) == sorted(
        header["columns"]
    )
    lines = ["document-rows/1", sha256_hex(canonical_json(header["columns"]))]
    with closing(world.database.connect("postgres")) as connection, pinned_output(connection):
        for table, columns in sorted(header["columns"].items()):
            connection.execute(sql.SQL("create temporary table rows_of_a_law (like {})").format(_named(table)))
            with connection.cursor().copy(_copy(columns)) as copy:
                copy.write(_rows_of(rest, table))
            digests = connection.execute(
                sql.SQL(
                    "select sha256(convert_to(row({})::text, 'UTF8')) as one from rows_of_a_law order by one"
                ).format(_listed(columns))
            ).fetchall()
            connection.execute("drop table rows_of_a_law")
            fingerprint = sha256_hex(b"".join(bytes(digest) for (digest,) in digests))
            lines.append("\x1f".join((table, str(len(digests)), fingerprint)))
    assert sha256_hex("\n".join(lines)) == header["documents"][name]["fingerprint"]


def _named(table: str) -> sql.Identifier:
    return sql.Identifier(*table.split("."))


def _listed(columns: list[list[str]]) -> sql.Composed:
    return sql.SQL(", ").join(sql.Identifier(name) for name, _ in columns)


def _copy(columns: list[list[str]]) -> sql.Composed:
    return sql.SQL("copy pg_temp.rows_of_a_law ({}) from stdin").format(_listed(columns))


def _rows_of(rest: str, table: str) -> str:
    """The rows of a table without the document, which is the first field."""
    section = rest.split(f"COPY {table} (", 1)[1].split("\n", 1)[1].split("\\.\n", 1)[0]
    return "".join(line.split("\t", 1)[1] + "\n" for line in section.splitlines())
