"""IO: rebuilds a lost database in an empty one: migrations, then the companion, then the law from segments in parallel.

The rows come back with triggers and foreign keys switched off, because they were checked when they were written. Each
table and document is compared with its digest. So the rebuilt rows are those of the snapshot, which passed all checks.
A rebuild that fails leaves a database that nobody may use. Its triggers are off, and the next survey would say so.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from psycopg import sql
from psycopg.conninfo import make_conninfo

from cutter import limits
from cutter.backup import connection as postgres
from cutter.backup import scratch
from cutter.backup.companion import restore as companions
from cutter.backup.companion.header import CompanionRecord
from cutter.backup.companion.header import Header as CompanionHeader
from cutter.backup.companion.rows import count, query_of, tables
from cutter.backup.record import BackupRefusal, RefusalCode
from cutter.backup.segments import tree
from cutter.backup.segments.header import Document, Header
from cutter.backup.segments.loader import Artifact, Refused, Tools, load, require, tools_for
from cutter.backup.segments.parallel import Told, each_part
from cutter.backup.segments.restore import base_parts, load_part
from cutter.backup.segments.rows import live_rows
from cutter.backup.segments.take import damaged_tree
from cutter.backup.tables import SEGMENT_TABLES
from cutter.catalogue import Role
from cutter.storage.migrate import migrate_url
from cutter.storage.records import Rows as RowsOf
from cutter.storage.records import records, values


@dataclass(frozen=True, slots=True, kw_only=True)
class _Trigger:
    """A trigger that fires also in replica mode."""

    table: str
    name: str


_ALWAYS = records("always_firing", _Trigger, named=query_of)
_SUPERUSER: RowsOf[bool] = values("superuser", named=query_of)
_OWNER: RowsOf[str] = values("owner", named=query_of)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rebuilt:
    """A rebuilt database: the companion and the backup from which it came, its documents, and the rows by table.

    `content_fingerprint` is the digest of every row of law, as the record of the backup has it.
    """

    companion: str
    artifact: str
    content_fingerprint: str
    documents: int
    row_counts: Mapping[str, int]


def rebuild(
    *,
    record: CompanionRecord,
    artifacts_url: str,
    dsn: str,
    gpg_home: Path,
    gpg_binary: str = "gpg",
    jobs: int = limits.RESTORE_JOBS,
    deadline_seconds: float = limits.RESTORE_DEADLINE_SECONDS,
    progress: Told = lambda _name, _total: None,
) -> Rebuilt | BackupRefusal:
    """Rebuild the database of a companion in an empty database of cutter_owner. `dsn` names a superuser.

    Raises Unavailable(what="backup") if something does not answer. After that, or after a refusal, drop the database.
    """
    tools = tools_for(artifacts_url, gpg_home, gpg_binary, deadline_seconds)
    tools.gpg.start_agent()
    try:
        _require_new(dsn, tools)
        migrate_url(make_conninfo(dsn, options=f"-c role={Role.OWNER}"))
        return _filled(_Work(tools=tools, dsn=dsn, jobs=jobs, told=progress), record)
    except Refused as problem:
        return problem.refusal
    except tree.TreeDamaged as problem:
        return damaged_tree(problem)
    except postgres.AWAY as problem:
        raise postgres.away(problem) from None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Work:
    tools: Tools
    dsn: str
    jobs: int
    told: Told

    @contextmanager
    def session(self) -> Iterator[postgres.Connection]:
        """A transaction in which no ordinary trigger fires. It is committed at the end of the context."""
        with closing(postgres.connect(self.dsn, self.tools.deadline)) as connection:
            postgres.bound(connection, self.tools.deadline)
            connection.execute(query_of("replica_mode"))
            yield connection
            connection.commit()


def _require_new(dsn: str, tools: Tools) -> None:
    with closing(postgres.connect(dsn, tools.deadline)) as connection:
        require(scratch.require_empty(connection))
        if not _SUPERUSER.one(connection):
            raise Refused(_unfit("only a superuser can rebuild it: name one in --into"))
        if _OWNER.one(connection) != Role.OWNER:
            raise Refused(_unfit(f"{Role.OWNER} must own it: `createdb --owner={Role.OWNER} …`"))


def _filled(work: _Work, record: CompanionRecord) -> Rebuilt:
    always = _switch_off(work)
    companion = _companion(work, record)
    header, documents = _law(work, companion)
    counts = _finish(work, always, documents)
    return Rebuilt(
        companion=record.artifact_id, artifact=companion.artifact, content_fingerprint=header.content_fingerprint,
        documents=len(documents), row_counts=counts,
    )  # fmt: skip


def _switch_off(work: _Work) -> list[_Trigger]:
    """Switch off the triggers that also fire in replica mode, and empty all tables. Migrations enter some rows."""
    with work.session() as connection:
        always = _ALWAYS.all(connection)
        for trigger in always:
            connection.execute(_switched("disable trigger", trigger))
        names = sql.SQL(", ").join(
            sql.Identifier(*table.split(".")) for table in (*tables(connection), *SEGMENT_TABLES)
        )
        connection.execute(sql.SQL("truncate {}").format(names))
    return always


def _switched(how: str, trigger: _Trigger) -> sql.Composed:
    return sql.SQL("alter table {} {} {}").format(
        sql.Identifier(*trigger.table.split(".")), sql.SQL(how), sql.Identifier(trigger.name)
    )  # fmt: skip


def _companion(work: _Work, record: CompanionRecord) -> CompanionHeader:
    """The rows that no segment holds. Afterwards the server knows how many there are, for its plans."""
    with work.session() as connection:
        header = companions.load(connection, work.tools, record)
        for name, value in header.sequences.items():
            connection.execute(query_of("continue_sequence"), {"name": name, "value": value})
        connection.execute("analyze")
    return header


def _law(work: _Work, companion: CompanionHeader) -> tuple[Header, dict[str, Document]]:
    """The rows of every document, from the backup of the companion and the segments of its base, several at once."""
    with work.session() as connection:
        own = Artifact(artifact_id=companion.artifact, sha256=companion.sha256)
        header, _ = load(connection, work.tools, own, None, marked=False)
        documents = _compared(connection, header, header.documents)
        connection.execute("analyze")
    parts = base_parts(work.tools, header)
    return header, documents | each_part(parts, partial(_part, work, header), work.jobs, work.told)


def _part(work: _Work, header: Header, artifact: Artifact, entries: Mapping[str, tree.Entry]) -> dict[str, Document]:
    with work.session() as connection:
        return _compared(connection, header, load_part(connection, work.tools, header, artifact, entries, marked=False))


def _compared(connection: postgres.Connection, header: Header, expected: Mapping[str, Document]) -> dict[str, Document]:
    """Compare the rows of these documents, as the database now attributes them, with what their segment says."""
    rows = live_rows(connection, header.columns)
    documents = rows.described({name: document.changes for name, document in expected.items()}).documents
    for name, document in expected.items():
        if documents[name] != document:
            raise Refused(_differs(f"document {name}"))
    return dict(expected)


def _finish(work: _Work, always: list[_Trigger], documents: Mapping[str, Document]) -> dict[str, int]:
    """Check that no row is of another document, and switch the triggers on again. Returns the rows by table."""
    with work.session() as connection:
        counts = {name: count(connection, name) for name in (*tables(connection), *SEGMENT_TABLES)}
        if sum(counts[name] for name in SEGMENT_TABLES) != sum(document.rows for document in documents.values()):
            raise Refused(_differs("rows that belong to no document"))
        for trigger in always:
            connection.execute(_switched("enable always trigger", trigger))
        connection.execute("analyze")
    return counts


def _differs(what: str) -> BackupRefusal:
    return BackupRefusal(
        code=RefusalCode.RESTORE_DIFFERS,
        message=f"the restored rows differ from the backup ({what}): drop the database, and look at the store",
        observed=what,
    )


def _unfit(why: str) -> BackupRefusal:
    return BackupRefusal(
        code=RefusalCode.SCRATCH_UNFIT, message=f"the database is not fit for a rebuild: {why}", observed=why
    )
