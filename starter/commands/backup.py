"""Orchestration: prove a pre-write backup by hand, restore it, and dump or load the whole database of the local stack.

Each command except `list` and `dump` needs the backup's private key.
"""

from __future__ import annotations

import json
from contextlib import closing
from dataclasses import asdict, replace
from pathlib import Path
from typing import Annotated

import typer

from cutter import limits
from cutter.backup import whole
from cutter.backup.pipeline import Deadline
from cutter.backup.record import BackupRecord, BackupRefusal, RestoreReport
from cutter.backup.restore import plain_rows, read_record, restore_check
from cutter.catalogue import Role
from cutter.errors import InvalidInput, NotFound, Refused
from cutter.projections.run_view import short_time
from cutter.settings import Settings, load
from cutter.stack import postgres, supervisor
from cutter.stack.addresses import LOOPBACK
from cutter.stack.postgres_programs import pg_bin
from cutter.storage import runs as run_rows
from cutter.storage.pools import SCRATCH, open_pool, session
from cutter.storage.run_evidence import LISTED_BACKUPS, NEWEST_BACKUPS
from starter.commands.options import SHA256, GpgHome
from starter.console.terminal import AsJson, Listing, progress, show, table, write

app = typer.Typer(no_args_is_help=True, add_completion=False, help="Prove and restore the pre-write backups.")

Artifact = Annotated[
    str,
    typer.Argument(
        help="Document id, run id, artifact id such as <run_id>/pre_write.gpg (`cutter backup list`), or a file with "
        "its .json in the same folder."
    ),
]


@app.command()
def verify(
    artifact: Artifact, sha256: Annotated[str | None, SHA256] = None, gpg_home: GpgHome = None, as_json: AsJson = False
) -> None:
    """Decrypt a backup, restore it into the scratch database, compare every row, and leave no row there.

    Example: cutter backup verify ICX-LAW-2026-001
    """
    settings = load()
    store, record = _found(settings, artifact, sha256)
    report = _good(_proved(settings, store, record, gpg_home), record)
    show(
        {"taken_utc": record.taken_utc} | asdict(report), as_json=as_json,
        render=lambda console: console.print(
            f"{record.artifact_id} of {short_time(record.taken_utc)} restores to exactly its snapshot",
            f"content {report.content_fingerprint}",
            table(("table", "rows"), list(report.row_counts.items())),
            sep="\n",
        ),
    )  # fmt: skip


@app.command()
def restore(
    artifact: Artifact,
    sha256: Annotated[str | None, SHA256] = None,
    gpg_home: GpgHome = None,
    as_json: AsJson = False,  # noqa: ARG001 - each line is JSON
) -> None:
    """Prove a backup, and print its rows as lines of JSON; psql can load them into a table of a database.

    Example: cutter backup restore ICX-LAW-2026-001 > rows.jsonl
    """
    settings = load()
    store, record = _found(settings, artifact, sha256)
    _good(_proved(settings, store, record, gpg_home), record)
    home = gpg_home or settings.key_home("backup")
    for name, row in plain_rows(record=record, artifacts_url=store, gpg_home=home):
        write(f'{{"table": {json.dumps(name)}, "row": {row}}}')


def _proved(
    settings: Settings, store: str, record: BackupRecord, gpg_home: Path | None
) -> RestoreReport | BackupRefusal:
    with (
        progress(f"restoring {record.artifact_id}"),
        closing(open_pool(settings, Role.BACKUP, database=SCRATCH, size=1)) as scratch,
    ):
        return restore_check(
            record=record, artifacts_url=store, scratch=scratch, gpg_home=gpg_home or settings.key_home("backup"),
            deadline=Deadline(limits.BACKUP_DEADLINE_SECONDS),
        )  # fmt: skip


@app.command(name="list")
def list_backups(as_json: AsJson = False) -> None:
    """List the backups, newest first, each with the document whose rows it has.

    Example: cutter backup list
    """
    with session(load(), Role.OPERATOR) as connection:
        # Backups that `cutter backup list` shows: those of some weeks, in a list that a person can still read.
        backups = [asdict(backup) for backup in LISTED_BACKUPS.all(connection, {"limit": 200})]
    columns = ["artifact", "taken_utc", "size_bytes", "document_id"]
    if any(backup["restore_point"] for backup in backups):
        columns.append("restore_point")
    rows = [tuple(backup[name] for name in columns) for backup in backups]
    listing = Listing(columns=columns, rows=rows) if rows else "no backups yet: a run takes one before it writes"
    show({"backups": backups}, as_json=as_json, render=lambda out: out.print(listing, soft_wrap=True))


File = Annotated[Path, typer.Argument(help="The encrypted dump, such as cutter.gpg.")]


@app.command()
def dump(file: File, as_json: AsJson = False) -> None:
    """Dump the whole database of the local stack into a new file, encrypted for the pinned backup key.

    Example: cutter backup dump cutter.gpg
    """
    settings = load()
    pinned = settings.keys / "backup.fingerprint"
    try:
        recipient = pinned.read_text(encoding="ascii").strip()
    except OSError:
        raise NotFound(f"no backup key is pinned at {pinned}: type", then="cutter up") from None
    with progress(f"dumping into {file}"):
        server = _server(_embedded(settings))
        dumped = whole.dump(server, file, gpg_home=settings.key_home("backup"), recipient=recipient)
    show(
        asdict(dumped), as_json=as_json,
        render=lambda out: out.print(
            f"{file} has {dumped.size_bytes} bytes, sha256 {dumped.sha256}: keep the digest elsewhere", soft_wrap=True
        ),
    )  # fmt: skip


@app.command(name="load")
def load_dump(
    file: File,
    sha256: Annotated[str, SHA256],
    gpg_home: GpgHome = None,
    as_json: AsJson = False,
) -> None:
    """Bring the whole database back into a local stack that has no run yet. PostgreSQL executes the dump.

    Example: cutter backup load cutter.gpg --sha256 DIGEST
    """
    settings = load()
    cluster = _embedded(settings)
    server = _server(cluster)
    with progress(f"loading {file}"):
        postgres.bootstrap(cluster, settings.secrets)  # A new cluster has neither roles nor the database.
        whole.bring_back(server, file, sha256=sha256.lower(), gpg_home=gpg_home or settings.key_home("backup"))
        postgres.bootstrap(cluster, settings.secrets)
        runs = whole.runs(server)
    show(
        {"runs": runs}, as_json=as_json,
        render=lambda out: out.print(f"the database is back with {runs} runs\nnext: cutter up", soft_wrap=True),
    )  # fmt: skip


def _embedded(settings: Settings) -> postgres.Cluster:
    """The server of the local stack, started if it does not run. A deployment has PostgreSQL's own programs."""
    if settings.database_url is not None:
        raise InvalidInput("CUTTER_DATABASE_URL: only a local stack is dumped; see docs/runbooks/point-in-time.md")
    cluster = postgres.ensure_cluster(settings.state)
    supervisor.remember(settings.state, postgres.service(cluster))
    return cluster


def _server(cluster: postgres.Cluster) -> whole.Server:
    return whole.Server(
        host=LOOPBACK, port=cluster.port, user=cluster.superuser, password=cluster.password, program=pg_bin
    )


def _good(outcome: RestoreReport | BackupRefusal, record: BackupRecord) -> RestoreReport:
    """The report, or the end of the command with the reason of a refusal."""
    if isinstance(outcome, BackupRefusal):
        raise Refused(f"{record.artifact_id}: {outcome.message}", code=outcome.code)
    return outcome


def _found(settings: Settings, artifact: str, sha256: str | None) -> tuple[str, BackupRecord]:
    """The store and the record of the named backup. A person who can write to the store can change the record, so it
    must have the digest that the database has, and the given one.
    """
    file, recorded, store = Path(artifact), None, settings.artifacts
    if file.is_file():
        store, name = str(file.absolute().parent), file.name
    elif "/" in artifact or artifact.endswith(".gpg"):
        name = artifact
    else:
        run_id = run_rows.run_id_of(settings, artifact)
        with session(settings, Role.OPERATOR) as connection:
            newest = NEWEST_BACKUPS.first(connection, {"run_id": run_id, "limit": 1})
        if newest is None:
            raise NotFound(f"{run_id} has no backup: type", then="cutter backup list")
        name, recorded = newest.artifact, newest.sha256
    try:
        record = read_record(store, name)
    except NotFound as problem:
        raise NotFound(f"{problem}: type", then="cutter backup list") from None
    if file.is_file():
        # For a copied file, the record still has the id that the artifact had in the store.
        record = replace(record, artifact_id=name)
    if record.artifact_id != name:
        raise Refused(f"the record of {name} is for {record.artifact_id}", code="artifact_damaged")
    for wanted in (sha256, recorded):
        if wanted is not None and wanted.lower() != record.sha256:
            raise Refused(f"{name} is recorded as {record.sha256}, not as {wanted.lower()}", code="artifact_damaged")
    return store, record
