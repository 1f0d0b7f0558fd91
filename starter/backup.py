"""Orchestration: prove or restore a pre-write backup by hand (spec "Backup"). Needs the backup's private key."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer
from psycopg import ProgrammingError
from psycopg.conninfo import conninfo_to_dict

from cutter.backup.record import BackupRecord, BackupRefusal, RestoreReport
from cutter.backup.restore import read_record, restore_check, restore_into
from cutter.errors import InvalidInput, Refused
from cutter.evidence.run_view import short_time
from cutter.settings import Settings, dsn, load
from cutter.stack.postgres import pg_bin
from starter.terminal import Json, progress, show, table

app = typer.Typer(no_args_is_help=True, add_completion=False, help="Prove and restore the pre-write backups.")

Artifact = Annotated[
    str,
    typer.Argument(help="Artifact id such as <run_id>/pre_write-<hex>.gpg, or a file that has its .json beside it."),
]
Sha256 = Annotated[
    str | None, typer.Option("--sha256", help="What the run's receipt says; without it, the record beside it counts.")
]
GpgHome = Annotated[
    Path | None, typer.Option("--gpg-home", help="GnuPG home with the private key; default <keys_dir>/backup.")
]


@app.command()
def verify(artifact: Artifact, sha256: Sha256 = None, gpg_home: GpgHome = None, as_json: Json = False) -> None:
    """Decrypt a backup, restore it into the scratch database, compare every row, and leave nothing there.

    Example: cutter backup verify ictr-20261121T090000Z-0190a5b2-7c3d-7e4f-8a9b-0c1d2e3f4a5b/pre_write-5f2a90c41b7e.gpg
    """
    settings = load()
    store, record = _found(settings, artifact, sha256)
    with progress(f"restoring {record.artifact_id}"):
        outcome = restore_check(
            record=record,
            artifacts_url=store,
            scratch_dsn=dsn(settings, "cutter_backup", database="cutter_scratch"),
            pg_bin=pg_bin,
            gpg_home=gpg_home or settings.key_home("backup"),
        )
    _tell(outcome, record, as_json=as_json, done="restores to exactly its snapshot")


@app.command()
def restore(
    artifact: Artifact,
    into: Annotated[
        str, typer.Option(help="Empty database, such as postgresql://user@host/name; password: PGPASSWORD.")
    ],
    sha256: Sha256 = None,
    gpg_home: GpgHome = None,
    as_json: Json = False,
) -> None:
    """Restore a backup's nine tables into an empty database, without triggers and foreign keys.

    Example: cutter backup restore RUN/pre_write-HEX.gpg --into postgresql://postgres@127.0.0.1:5432/recovered
    """
    settings = load()
    store, record = _found(settings, artifact, sha256)
    with progress(f"restoring {record.artifact_id}"):
        outcome = restore_into(
            record=record,
            artifacts_url=store,
            dsn=_without_password(into),
            pg_bin=pg_bin,
            gpg_home=gpg_home or settings.key_home("backup"),
        )
    _tell(outcome, record, as_json=as_json, done="is restored and equal to its snapshot")


def _found(settings: Settings, artifact: str, sha256: str | None) -> tuple[str, BackupRecord]:
    """The store and the record of what was named. The record is only as good as the store, so a digest may be given."""
    file = Path(artifact)
    store, name = (file.absolute().parent.as_uri(), file.name) if file.is_file() else (settings.artifacts, artifact)
    record = read_record(store, name)
    if file.is_file():
        # A copy beside its record: the record still carries the id that it had in the store.
        record = BackupRecord(**asdict(record) | {"artifact_id": name})
    if record.artifact_id != name:
        raise Refused(f"the record beside {name} is of {record.artifact_id}", code="artifact_damaged")
    if sha256 is not None and sha256.lower() != record.sha256:
        raise Refused(f"{name} is recorded as {record.sha256}, not as {sha256.lower()}", code="artifact_damaged")
    return store, record


def _without_password(into: str) -> str:
    """Everyone on the machine sees a command line."""
    try:
        parts = conninfo_to_dict(into)
    except ProgrammingError:
        raise InvalidInput("--into: a connection string such as postgresql://user@host/name") from None
    if "password" in parts:
        raise InvalidInput("--into: leave the password out and set PGPASSWORD; a command line is seen by everyone here")
    return into


def _tell(outcome: RestoreReport | BackupRefusal, record: BackupRecord, *, as_json: bool, done: str) -> None:
    if isinstance(outcome, BackupRefusal):
        raise Refused(f"{record.artifact_id}: {outcome.message}", code=outcome.code)
    told = {"taken_utc": record.taken_utc} | asdict(outcome)
    rows = [(name, count) for name, count in outcome.row_counts.items()]
    show(
        told,
        as_json=as_json,
        render=lambda console: console.print(
            f"{record.artifact_id} of {short_time(record.taken_utc)} {done}",
            f"content {outcome.content_fingerprint}",
            table(("table", "rows"), rows),
            sep="\n",
        ),
    )
