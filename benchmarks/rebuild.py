"""IO: a database is filled, backed up, destroyed, and rebuilt by the documented steps: how long, and is it the same?

Run: python -m benchmarks.rebuild [--units 5000] [--segments 16] [--jobs 4] [--output FILE]

Method: one law of 60 units is cut and enacted by the real gates. Its rows are copied until the database has enough
units. `cutter backup take` seals them, in at least as many segments as asked, because a database of years has many.
Then `take --whole`, DROP DATABASE and `restore --all --whole` follow. The content fingerprint (nine tables) and the
digest of each other table are compared before and after. `LIMITS` says what this does not show.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, LiteralString
from urllib.parse import unquote, urlsplit

from psycopg import sql

from benchmarks.result_file import RESULTS, machine, write
from cutter.backup.companion.rows import described
from cutter.backup.fingerprint import content_fingerprint
from cutter.settings import Settings
from tests.support import grown, runs
from tests.support.database import OWNER, Database, own_cluster
from tests.support.laws import law

UNITS_A_LAW = 60

LIMITS = (
    "The server has fsync off, so it does not wait for the disk. A server with fsync takes longer.",
    f"All documents are copies of one law of {UNITS_A_LAW} units.",
    "Only a part of the steps of [Restore](../runbooks/restore.md) is run: the companion, the loss of the database, "
    "the rebuild, and the old name for the new database. `cutter up`, `cutter migrate --check`, `cutter reconcile` and "
    "the comparison of the audit chain's head are not run.",
)
"""What this benchmark does not show. The page repeats it."""

AGAIN: LiteralString = """
select count(cutter_governance.fn_backup_again(document_id)) from cutter_governance.backup_coverage
where abs(hashtext(document_id)) %% %s = %s
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Contents:
    """What must be equal: the fingerprint of the nine tables, and the digest of each table that no segment holds."""

    fingerprint: str
    others: dict[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A database with the settings under which commands work on it."""

    database: Database
    settings: Settings

    def cutter(self, *arguments: str) -> dict[str, Any]:
        """What `cutter backup` answers to these arguments."""
        settings = self.settings
        environment = {
            "CUTTER_STATE_DIR": str(settings.state_dir), "CUTTER_DATABASE_URL": self.database.address,
            "CUTTER_SECRETS_DIR": str(settings.secrets), "CUTTER_KEYS_DIR": str(settings.keys),
            "CUTTER_APPROVERS_DIR": str(settings.approvers), "PATH": os.environ["PATH"],
            "PGPASSWORD": unquote(urlsplit(self.database.url("postgres")).password or ""),
        }  # fmt: skip
        done = subprocess.run(
            [sys.executable, "-m", "starter.cli", "backup", *arguments, "--json"],
            env=environment, stdout=subprocess.PIPE, text=True, check=True,
        )  # fmt: skip
        answer: dict[str, Any] = json.loads(done.stdout)
        return answer


@contextmanager
def filled(units: int) -> Iterator[Place]:
    """A database with at least so many enacted units."""
    with (
        own_cluster() as cluster,
        runs.keyring() as keys,
        cluster.database(prefix="law") as database,
        runs.deployment(database, keys) as made,
    ):
        runs.drive(made, law(UNITS_A_LAW))
        made.close()
        grown.fill(database, max(0, -(-units // UNITS_A_LAW) - 1))
        yield Place(database=database, settings=made.settings)


def back_up(place: Place, segments: int) -> tuple[dict[str, Any], int]:
    """Seal every document, then again in at least so many segments, and take the companion.

    Returns its answer, and the seconds of the first sealing and of the companion.
    """
    began = time.monotonic()
    place.cutter("take")
    sealed = time.monotonic() - began
    for number in range(segments if segments > 1 else 0):
        place.database.run(AGAIN, (segments, number), role="cutter_backup")
        place.cutter("take")
    began = time.monotonic()
    return place.cutter("take", "--whole"), round(sealed + time.monotonic() - began)


def segments_of(place: Place) -> int:
    """The artifacts that a rebuild reads. One holds a limited number of documents and bytes."""
    return int(place.database.value("select count(distinct artifact) from cutter_governance.backup_coverage"))


def contents(database: Database) -> Contents:
    with closing(database.connect("postgres")) as connection:
        others = {name: table.digest for name, table in described(connection).items()}
        return Contents(fingerprint=content_fingerprint(connection), others=others)


def destroyed_and_rebuilt(place: Place, jobs: int) -> dict[str, Any]:
    """The documented steps after the loss of the database. Returns what the restore answered."""
    server, lost = place.database.server, sql.Identifier(place.database.name)
    place.database.close()
    server.maintain(sql.SQL("drop database {} with (force)").format(lost))
    server.maintain(sql.SQL("create database recovered owner {} template template0").format(sql.Identifier(OWNER)))
    into = server.cluster.url("recovered").replace("://", "://postgres@")
    answer = place.cutter("restore", "--all", "--whole", "--jobs", str(jobs), "--into", into)
    server.maintain(sql.SQL("alter database recovered rename to {}").format(lost))
    return answer


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--units", type=int, default=5_000)
    parser.add_argument("--segments", type=int, default=16)
    parser.add_argument("--jobs", type=int, default=4)
    parser.add_argument("--output", type=Path, default=RESULTS / "rebuild.jsonl")
    given = parser.parse_args()
    started = time.monotonic()
    with filled(given.units) as place:
        print(f"filled in {time.monotonic() - started:.0f} s", flush=True)
        companion, backed_up = back_up(place, given.segments)
        print(f"backed up in {backed_up} s", flush=True)
        before, segments = contents(place.database), segments_of(place)
        answer = destroyed_and_rebuilt(place, given.jobs)
        after = contents(place.database)
    other = [name for name in before.others if after.others.get(name) != before.others[name]]
    record = {
        "kind": "rebuild", "units": answer["row_counts"]["public.information_unit"], "documents": answer["documents"],
        "rows": sum(answer["row_counts"].values()), "companion_bytes": companion["size_bytes"], "jobs": given.jobs,
        "segments": segments, "backup_seconds": backed_up, "rebuild_seconds": answer["seconds"],
        "equal": before == after,
    }  # fmt: skip
    write(given.output, (machine(), record))
    print(
        f"units {record['units']}, documents {record['documents']}, rows {record['rows']}, "
        f"companion {companion['size_bytes'] / 1e6:.1f} MB",
        f"rebuilt in {answer['seconds']} s with {given.jobs} jobs from {segments} segments",
        f"content fingerprint equal: {before.fingerprint == after.fingerprint} ({after.fingerprint})",
        f"other tables equal: {not other} {other or ''}",
        sep="\n",
    )
    return 0 if before == after else 1


if __name__ == "__main__":
    sys.exit(main())
