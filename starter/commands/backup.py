"""Orchestration: prove or restore a pre-write backup by hand (spec "Backup"). Needs the backup's private key."""

from __future__ import annotations

import time
from dataclasses import asdict, replace
from pathlib import Path
from typing import Annotated, TypeVar

import typer
import uuid_utils
from psycopg import ProgrammingError
from psycopg.conninfo import conninfo_to_dict

from cutter import limits
from cutter.backup import health
from cutter.backup.artifacts import BY_HAND, COMPANION_SUFFIX, open_store
from cutter.backup.companion import restore as companion_restore
from cutter.backup.companion import take as companion_take
from cutter.backup.companion.header import CompanionRecord
from cutter.backup.companion.rebuild import rebuild
from cutter.backup.forms import restore_check, restore_into
from cutter.backup.record import BackupRecord, BackupRefusal, RestoreReport
from cutter.backup.restore import newest_by_hand, read_record
from cutter.backup.segments import collect as collection
from cutter.backup.segments import coverage
from cutter.backup.segments import take as segment_take
from cutter.backup.segments.restore import SegmentReport
from cutter.backup.segments.retention import Garbage, Unknown
from cutter.backup.segments.scrub import again as dump_again
from cutter.backup.segments.scrub import each_pass
from cutter.backup.segments.scrub import scrub as scrub_segments
from cutter.backup.segments.tree import EMPTY, TreeDamaged
from cutter.catalogue import Role
from cutter.domain.amounts import counted
from cutter.errors import InvalidInput, NotFound, Refused
from cutter.projections.run_view import short_time
from cutter.settings import Settings, dsn, load
from cutter.stack.postgres_programs import backup_programs
from cutter.storage import runs as run_rows
from cutter.storage.backups import LISTED, NEWEST, WANTED
from cutter.storage.clock import CLOCK
from cutter.storage.pools import session
from starter.console.terminal import AsJson, Listing, counted_progress, progress, show, table

T = TypeVar("T")

app = typer.Typer(no_args_is_help=True, add_completion=False, help="Prove and restore the pre-write backups.")

Artifact = typer.Argument(
    help="Document id, run id, artifact id such as <run_id>/pre_write.gpg (`cutter backup list`), or a file with its "
    ".json in the same folder."
)
Sha256 = Annotated[
    str | None, typer.Option("--sha256", help="The digest in the run's receipt; without it, the stored record counts.")
]
GpgHome = Annotated[
    Path | None, typer.Option("--gpg-home", help="GnuPG home with the private key; default <keys_dir>/backup.")
]


@app.command()
def verify(
    artifact: Annotated[str, Artifact], sha256: Sha256 = None, gpg_home: GpgHome = None, as_json: AsJson = False
) -> None:
    """Decrypt a backup, restore it into the scratch database, compare every row, and leave no row there.

    Example: cutter backup verify ICX-LAW-2026-001
    """
    settings = load()
    store, record = _found(settings, artifact, sha256)
    with progress(f"restoring {record.artifact_id}"):
        outcome = restore_check(
            record=record,
            artifacts_url=store,
            scratch_dsn=dsn(settings, Role.BACKUP, database="cutter_scratch"),
            pg_bin=backup_programs(settings),
            gpg_home=gpg_home or settings.key_home("backup"),
        )
    _tell(outcome, record, as_json=as_json, done="restores to exactly its snapshot")


@app.command()
def restore(
    into: Annotated[
        str, typer.Option(help="Empty database, such as postgresql://user@host/name; password: PGPASSWORD.")
    ],
    artifact: Annotated[str | None, Artifact] = None,
    newest: Annotated[bool, typer.Option("--all", help="Restore the newest backup of all: every document.")] = False,
    whole: Annotated[
        bool, typer.Option("--whole", help="With --all: rebuild cutter's whole database from the newest companion.")
    ] = False,
    document: Annotated[
        str | None, typer.Option("--document", help="Restore this document only, from a backup of segments.")
    ] = None,
    jobs: Annotated[
        int, typer.Option(help="Segments restored at once.", min=1, max=limits.RESTORE_JOBS_MAX)
    ] = limits.RESTORE_JOBS,
    sha256: Sha256 = None,
    gpg_home: GpgHome = None,
    as_json: AsJson = False,
) -> None:
    """Restore a backup's tables into an empty database, without triggers and foreign keys. It has every document.

    With --document it restores one document. With --whole it rebuilds a lost database, which cutter can use afterwards.

    Example: cutter backup restore --all --jobs 8 --into postgresql://postgres@127.0.0.1:5432/recovered

    Example: cutter backup restore --all --document ICX-LAW-2026-001 --into postgresql://postgres@127.0.0.1:5432/one
    """
    settings = load()
    if (artifact is None) != newest or (whole and not newest):
        raise InvalidInput("name a backup, or give --all for the newest one: see", then="cutter backup restore --help")
    if whole and document is not None:
        raise InvalidInput("--document: a rebuild has all documents; leave out --whole, or --document")
    if whole:
        _rebuild(settings, _without_password(into), sha256, gpg_home, jobs, as_json=as_json)
        return
    store, record = _found(settings, artifact or _newest(settings), sha256)
    with counted_progress(f"restoring {record.artifact_id}") as tell:
        outcome = restore_into(
            record=record,
            artifacts_url=store,
            dsn=_without_password(into),
            pg_bin=backup_programs(settings),
            gpg_home=gpg_home or settings.key_home("backup"),
            document=document,
            jobs=jobs,
            progress=tell,
        )
    what = "is restored" if document is None else f"has {document}, which is restored"
    _tell(outcome, record, as_json=as_json, done=f"{what} and equal to its snapshot")


def _rebuild(
    settings: Settings, into: str, sha256: str | None, gpg_home: Path | None, jobs: int, *, as_json: bool
) -> None:
    """Rebuild the database of the newest companion. The store alone names it, because the database may be lost."""
    record = companion_restore.newest(settings.artifacts)
    if sha256 is not None and sha256.lower() != record.sha256:
        raise Refused(f"{record.artifact_id} is recorded as {record.sha256}, not as {sha256}", code="artifact_damaged")
    began = time.monotonic()
    with counted_progress(f"rebuilding from {record.artifact_id} of {short_time(record.taken_utc)}") as tell:
        rebuilt = good(rebuild(
            record=record, artifacts_url=settings.artifacts, dsn=into, jobs=jobs,
            gpg_home=gpg_home or settings.key_home("backup"),
            progress=tell,
        ))  # fmt: skip
    seconds = round(time.monotonic() - began, 1)
    rows = [(name, count) for name, count in rebuilt.row_counts.items() if count]
    text = f"{counted(rebuilt.documents, 'document')} of {short_time(record.taken_utc)} rebuilt in {seconds} seconds"
    show(
        asdict(rebuilt) | {"taken_utc": record.taken_utc, "seconds": seconds}, as_json=as_json,
        render=lambda console: console.print(
            text, f"content {rebuilt.content_fingerprint}", table(("table", "rows"), rows), sep="\n"
        ),
    )  # fmt: skip


@app.command(name="list")
def list_backups(as_json: AsJson = False) -> None:
    """List the backups, newest first, each with the documents whose writes it protects; a batch's runs share one.

    Example: cutter backup list
    """
    settings = load()
    with session(settings, Role.OPERATOR) as connection:
        backups = [asdict(backup) for backup in LISTED.all(connection, {"limit": limits.BACKUPS_LISTED_MAX})]
        wrong = list(health.sentences(health.health(connection), settings.backup_verified_max_days))
    columns = ["artifact", "taken_utc", "size_bytes", "documents"]
    if any(backup["restore_point"] for backup in backups):
        columns.append("restore_point")
    rows = [tuple(backup[name] for name in columns) for backup in backups]
    listing = Listing(columns=columns, rows=rows) if rows else "no backups yet: a run takes one before it writes"
    show(
        {"backups": backups, "problems": wrong}, as_json=as_json,
        render=lambda out: out.print(listing, *wrong, sep="\n", soft_wrap=True),
    )  # fmt: skip


@app.command()
def take(
    whole: Annotated[
        bool, typer.Option("--whole", help="Also take its companion, the rows of all other tables, for a rebuild.")
    ] = False,
    gpg_home: GpgHome = None,
    as_json: AsJson = False,
) -> None:
    """Back up the documents that changed, prove the backup, and let later backups build on it. No gate waits for it.

    Example: cutter backup take --whole
    """
    settings = load()
    home = gpg_home or settings.key_home("backup")
    if not whole:
        record, outcome = _taken(settings, home, None)
        while not record.whole:
            record, outcome = _taken(settings, home, None)
        _tell(outcome, record, as_json=as_json, done="restores to exactly its snapshot")
        return
    made = _with_companion(settings, home)
    while made is None:
        made = _with_companion(settings, home)
    _tell_companion(settings, home, *made, as_json=as_json)


def _with_companion(settings: Settings, home: Path) -> tuple[BackupRecord, CompanionRecord] | None:
    """A backup and its companion. None after a part of a backup, because the next one must see that it is sealed."""
    with companion_take.moment(
        dsn(settings, Role.BACKUP), dsn(settings, Role.OWNER), limits.RESTORE_DEADLINE_SECONDS
    ) as moment:
        record, _ = _taken(settings, home, moment.snapshot)
        if not record.whole:
            return None
        with progress("writing its companion"):
            return record, good(companion_take.take(
                moment, record, gpg_home=home, recipient_fingerprint=_pinned(settings),
                artifacts_url=settings.artifacts,
                artifact_id=record.artifact_id.removesuffix(".gpg") + COMPANION_SUFFIX,
            ))  # fmt: skip


def _taken(settings: Settings, home: Path, snapshot: str | None) -> tuple[BackupRecord, RestoreReport]:
    """Take a backup as a segment, or a part of one; restore it, and let it cover its documents."""
    with progress("backing up the documents that changed"):
        record = good(segment_take.take(
            dsn=dsn(settings, Role.BACKUP), pg_bin=backup_programs(settings), gpg_home=home,
            artifacts_url=settings.artifacts,
            recipient_fingerprint=_pinned(settings), artifact_id=f"{BY_HAND}{uuid_utils.uuid7()}.gpg",
            deadline_seconds=limits.RESTORE_DEADLINE_SECONDS, snapshot=snapshot,
            verified_max_seconds=settings.backup_verified_max_days * limits.DAY_SECONDS,
        ))  # fmt: skip
    with progress(f"restoring {record.artifact_id}"):
        outcome = good(restore_check(
            record=record, artifacts_url=settings.artifacts, pg_bin=backup_programs(settings), gpg_home=home,
            scratch_dsn=dsn(settings, Role.BACKUP, database="cutter_scratch"),
            deadline_seconds=limits.RESTORE_DEADLINE_SECONDS,
        ))  # fmt: skip
    if isinstance(outcome, SegmentReport):
        _seal(settings, record, outcome)
    return record, outcome


def _tell_companion(
    settings: Settings, home: Path, record: BackupRecord, companion: CompanionRecord, *, as_json: bool
) -> None:
    """Prove the companion, and say what a rebuild needs."""
    with progress(f"restoring {companion.artifact_id}"):
        header = good(companion_restore.restore_check(
            record=companion, artifacts_url=settings.artifacts, gpg_home=home,
            scratch_dsn=dsn(settings, Role.BACKUP, database="cutter_scratch"),
        ))  # fmt: skip
    rows = [(name, entry.rows) for name, entry in header.tables.items() if entry.rows]
    answer = asdict(companion) | {"artifact": record.artifact_id, "row_counts": dict(rows)}
    show(
        answer, as_json=as_json,
        render=lambda console: console.print(
            f"{companion.artifact_id} of {short_time(companion.taken_utc)} restores to exactly its snapshot",
            f"sha256 {companion.sha256}; its backup of the law is {record.artifact_id}", table(("table", "rows"), rows),
            sep="\n",
        ),
    )  # fmt: skip


def good(outcome: T | BackupRefusal) -> T:
    """The outcome, or the end of the command with the reason of a refusal."""
    if isinstance(outcome, BackupRefusal):
        raise Refused(outcome.message, code=outcome.code).leads_to(outcome.then)
    return outcome


def _seal(settings: Settings, record: BackupRecord, report: SegmentReport) -> None:
    try:
        with session(settings, Role.BACKUP) as connection:
            coverage.seal(connection, open_store(settings.artifacts), record, report.header)
    except TreeDamaged as problem:
        raise Refused(f"{problem}: look at the store", code="tree_damaged") from None


@app.command()
def scrub(
    documents: Annotated[
        int | None,
        typer.Option(
            help="Verify so many documents, the longest unverified ones first; default: for once a day.", min=1
        ),
    ] = None,
    everything: Annotated[bool, typer.Option("--all", help="Verify every document.")] = False,
    gpg_home: GpgHome = None,
    as_json: AsJson = False,
) -> None:
    """Verify sealed segments again: decrypt, restore, and compare with the tree and the live rows.

    Example: cutter backup scrub
    """
    settings = load()
    if documents is None:
        with session(settings, Role.BACKUP) as connection:
            sealed = coverage.head_of(connection).documents
        documents = each_pass(sealed, settings.backup_verified_max_days, 1, least=limits.SCRUB_DOCUMENTS)
    with progress("verifying segments"):
        report = scrub_segments(
            dsn=dsn(settings, Role.BACKUP), scratch_dsn=dsn(settings, Role.BACKUP, database="cutter_scratch"),
            gpg_home=gpg_home or settings.key_home("backup"), artifacts_url=settings.artifacts,
            documents=limits.SCRUB_EVERYTHING if everything else documents,
            deadline_seconds=limits.RESTORE_DEADLINE_SECONDS,
        )  # fmt: skip
    answer = {"verified": list(report.verified), "problems": dict(report.problems)}
    rows = sorted(report.problems.items())
    output = table(("document", "problem"), rows) if rows else f"{counted(len(report.verified), 'document')} verified"
    show(answer, as_json=as_json, render=lambda console: console.print(output))
    if rows:
        raise Refused(
            "no run changes law until each of these documents is good or dumped again: find the cause, then type",
            then="cutter backup again DOCUMENT",
            code="segment_damaged",
        )


@app.command()
def again(
    document: Annotated[str | None, typer.Argument(help="Document id.")] = None,
    everything: Annotated[bool, typer.Option("--all", help="Every document.")] = False,
    as_json: AsJson = False,
) -> None:
    """Let the next backup dump a document again, such as after its segment was damaged.

    Example: cutter backup again ICX-LAW-2026-001
    """
    if (document is None) != everything:
        raise InvalidInput("name a document, or give --all: see", then="cutter backup again --help")
    with session(load(), Role.BACKUP) as connection:
        is_held = dump_again(connection, document)
    if not is_held:
        raise NotFound(f"no backup holds {document or 'any document'}: type", then="cutter backup list")
    answer = {"document": document, "again": True}
    what = document or "every document"
    show(answer, as_json=as_json, render=lambda console: console.print(f"the next backup dumps {what} again"))


@app.command()
def collect(
    delete: Annotated[bool, typer.Option("--delete", help="Delete what is listed.")] = False,
    as_json: AsJson = False,
) -> None:
    """List the artifacts that no backup of the retention needs (CUTTER_BACKUP_RETENTION_DAYS), or delete them.

    Example: cutter backup collect --delete
    """
    settings = load()
    days = settings.backup_retention_days
    with progress("reading the records of all backups"):
        garbage = _garbage(settings, days)
    if delete:
        with progress(f"deleting {counted(len(garbage.artifacts), 'artifact')}"):
            collection.delete(settings.artifacts, garbage)
    answer = {
        "retention_days": days, "artifacts": list(garbage.artifacts), "pages": len(garbage.pages), "deleted": delete,
    }  # fmt: skip
    counts = f"{counted(len(garbage.artifacts), 'artifact')} and {counted(len(garbage.pages), 'page')} of the tree"
    what = "deleted" if delete else f"needed by no backup of the last {days} days; `--delete` removes them"
    show(
        answer, as_json=as_json,
        render=lambda console: console.print(*garbage.artifacts, f"{counts} {what}", sep="\n", soft_wrap=True),
    )  # fmt: skip


def _garbage(settings: Settings, days: int) -> Garbage:
    with session(settings, Role.OPERATOR) as connection:
        now, wanted = CLOCK.one(connection), set(WANTED.all(connection, {"days": days}))
    with session(settings, Role.BACKUP) as connection:
        newest = coverage.head_of(connection).tree or EMPTY
    try:
        return collection.look(settings.artifacts, now=now, days=days, wanted=wanted, newest_tree=newest)
    except Unknown as problem:
        raise Refused(
            f"the record of {problem} does not name the tree that it needs: nothing can be deleted while it is kept",
            code="base_unknown",
        ) from None
    except TreeDamaged as problem:
        raise Refused(
            f"{problem}: look at the store, then type", then="cutter backup scrub --all", code="tree_damaged"
        ) from None


def _pinned(settings: Settings) -> str:
    path = settings.keys / "backup.fingerprint"
    try:
        return path.read_text(encoding="ascii").strip()
    except OSError:
        raise NotFound(f"no backup key is pinned at {path}: type", then="cutter up") from None


def _newest(settings: Settings) -> str:
    """The newest backup: of a run, which the database lists, or of a person, which only the store has."""
    with session(settings, Role.OPERATOR) as connection:
        listed = LISTED.first(connection, {"limit": 1})
    by_hand = newest_by_hand(settings.artifacts)
    if by_hand is not None and (listed is None or by_hand.taken_utc >= (listed.taken_utc or "")):
        return by_hand.artifact_id
    if listed is None:
        raise NotFound(
            "no backups yet: a run takes one before it writes, and", then="cutter backup take", rest=" takes one now"
        )
    return listed.artifact


def _artifact_of(settings: Settings, name: str) -> str:
    """The newest backup of a document or a run, or the backup of a named artifact."""
    if "/" in name or name.endswith(".gpg"):
        return name
    run_id = run_rows.run_id_of(settings, name)
    with session(settings, Role.OPERATOR) as connection:
        newest = NEWEST.first(connection, {"run_id": run_id, "limit": 1})
    if newest is None:
        raise NotFound(f"{run_id} has no backup: type", then="cutter backup list")
    return newest.artifact


def _found(settings: Settings, artifact: str, sha256: str | None) -> tuple[str, BackupRecord]:
    """The store and the record of the named backup. A person who can write to the store can change the record, so a
    digest may be given.
    """
    file = Path(artifact)
    if file.is_file():
        store, name = file.absolute().parent.as_uri(), file.name
    else:
        store, name = settings.artifacts, _artifact_of(settings, artifact)
    try:
        record = read_record(store, name)
    except NotFound as problem:
        raise NotFound(f"{problem}: type", then="cutter backup list") from None
    if file.is_file():
        # For a copied file, the record still has the id that the artifact had in the store.
        record = replace(record, artifact_id=name)
    if record.artifact_id != name:
        raise Refused(f"the record of {name} is for {record.artifact_id}", code="artifact_damaged")
    if sha256 is not None and sha256.lower() != record.sha256:
        raise Refused(f"{name} is recorded as {record.sha256}, not as {sha256.lower()}", code="artifact_damaged")
    return store, record


def _without_password(into: str) -> str:
    """Refuse a password in the URL, because everyone on the machine can see a command line."""
    try:
        parts = conninfo_to_dict(into)
    except ProgrammingError:
        raise InvalidInput("--into: a connection string such as postgresql://user@host/name") from None
    if "password" in parts:
        raise InvalidInput("--into: leave the password out and set PGPASSWORD; everyone here can see a command line")
    return into


def _tell(outcome: RestoreReport | BackupRefusal, record: BackupRecord, *, as_json: bool, done: str) -> None:
    if isinstance(outcome, BackupRefusal):
        raise Refused(f"{record.artifact_id}: {outcome.message}", code=outcome.code).leads_to(outcome.then)
    answer = {"taken_utc": record.taken_utc} | asdict(outcome)
    answer.pop("header", None)
    rows = [(name, count) for name, count in outcome.row_counts.items()]
    show(
        answer,
        as_json=as_json,
        render=lambda console: console.print(
            f"{record.artifact_id} of {short_time(record.taken_utc)} {done}",
            f"content {outcome.content_fingerprint}",
            table(("table", "rows"), rows),
            sep="\n",
        ),
    )
