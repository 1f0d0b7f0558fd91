"""IO: verifies sealed segments again, in rotation: tree, artifact, restored rows and live rows must agree.

An artifact is decrypted once, for every document that it holds, and the result is recorded before the next artifact.
A difference is recorded with its document and tables. Until a person has dealt with it, no backup is taken, and no gate
changes law.
"""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import psycopg
from psycopg.types.json import Jsonb

from cutter import limits
from cutter.backup import connection as postgres
from cutter.backup import scratch
from cutter.backup.pipeline import Deadline
from cutter.backup.record import BackupRefusal, RefusalCode
from cutter.backup.segments import pages, tree
from cutter.backup.segments.coverage import head_of
from cutter.backup.segments.header import digest_of_columns
from cutter.backup.segments.loader import Artifact, Refused, Tools, load, prepare, tools_for
from cutter.backup.segments.rows import Described, Rows, columns, live_rows, query_of
from cutter.errors import Unavailable
from cutter.storage.records import Rows as RowsOf
from cutter.storage.records import records, values


@dataclass(frozen=True, slots=True, kw_only=True)
class _Held:
    """A sealed document. `covered` is false if its rows have changed since."""

    document: str
    covered: bool
    artifact: str
    sha256: str
    fingerprint: str

    @property
    def entry(self) -> tree.Entry:
        return tree.Entry(
            document=self.document, artifact=self.artifact, sha256=self.sha256, fingerprint=self.fingerprint
        )


_DUE = records("due_artifacts", Artifact, named=query_of)
_HELD = records("documents_of_artifact", _Held, named=query_of)
_VERIFIED: RowsOf[int] = values("verified", named=query_of)
_AGAIN: RowsOf[bool] = values("again", named=query_of)


@dataclass(frozen=True, slots=True, kw_only=True)
class Scrubbed:
    """The documents that were verified, and by document the problem of each other one."""

    verified: tuple[str, ...]
    problems: Mapping[str, str]


def scrub(
    *,
    dsn: str,
    scratch_dsn: str,
    gpg_home: Path,
    gpg_binary: str = "gpg",
    artifacts_url: str,
    documents: int = limits.SCRUB_DOCUMENTS,
    seconds: float = math.inf,
    deadline_seconds: float = limits.BACKUP_DEADLINE_SECONDS,
) -> Scrubbed:
    """Verify the documents whose verification is the oldest, and all others in their artifacts. Record the results.

    After `seconds` it begins no other artifact, but it verifies one at least. `deadline_seconds` are for one artifact.
    Raises Unavailable.
    """
    tools = tools_for(artifacts_url, gpg_home, gpg_binary, deadline_seconds)
    tools.gpg.start_agent()
    end = time.monotonic() + seconds
    outcomes: list[tuple[_Held, str | None]] = []
    try:
        with closing(postgres.connect(dsn, tools.deadline)) as connection:
            due = _DUE.all(connection, {"limit": documents})
        try:
            for artifact in due:
                if outcomes and time.monotonic() > end:
                    break
                tools = replace(tools, deadline=Deadline(deadline_seconds))
                outcomes += _artifact(tools, dsn, scratch_dsn, artifact)
        finally:
            # Together, because people get one message for all problems of a scrub.
            _record(dsn, [(held, problem) for held, problem in outcomes if problem])
    except postgres.AWAY as problem:
        raise postgres.away(problem) from None
    return Scrubbed(
        verified=tuple(held.document for held, problem in outcomes if not problem),
        problems={held.document: problem for held, problem in outcomes if problem},
    )


def each_pass(documents: int, days: float, passes_each_day: float, *, least: int) -> int:
    """The documents that one pass verifies, so that each of them is verified twice within the days that are allowed."""
    return max(least, math.ceil(2 * documents / (days * passes_each_day)))


def _artifact(tools: Tools, dsn: str, scratch_dsn: str, artifact: Artifact) -> list[tuple[_Held, str | None]]:
    """Verify the documents of one artifact, and record the good ones. Returns all of them, each with its problem."""
    with closing(postgres.connect(dsn, tools.deadline)) as connection:
        held, live = _live(connection, tools, artifact)
        problems = _of_tree(connection, tools, held)
    with closing(postgres.connect(scratch_dsn, tools.deadline)) as connection:
        restored = _restored(connection, tools, artifact, [item.document for item in held])
    if isinstance(restored, Described):
        differences = ((item.document, _difference(item, live, restored)) for item in held)
        problems |= {document: problem for document, problem in differences if problem}
    else:
        problems = {item.document: f"{restored.code}: {restored.message}" for item in held}
    _record(dsn, [(item, None) for item in held if item.document not in problems])
    return [(item, problems.get(item.document)) for item in held]


def _live(connection: postgres.Connection, tools: Tools, artifact: Artifact) -> tuple[list[_Held], Described]:
    """The documents of an artifact, and the live rows of those that have not changed since they were sealed."""
    postgres.begin_snapshot(connection, tools.deadline)
    held = _HELD.all(connection, {"artifact_id": artifact.artifact_id, "sha256": artifact.sha256})
    live = live_rows(connection, columns(connection))
    # With other columns, the digests cannot be compared, and the next backup dumps every document.
    same_columns = head_of(connection).columns_sha256 == digest_of_columns(live.columns)
    covered = [item.document for item in held if item.covered and same_columns]
    return held, live.described(dict.fromkeys(covered, 0))


def _of_tree(connection: postgres.Connection, tools: Tools, held: Sequence[_Held]) -> dict[str, str]:
    """By document: how the newest tree names it wrongly."""
    root = head_of(connection).tree or tree.EMPTY
    problems: dict[str, str] = {}
    for item in held:
        try:
            if tree.entry_of(root, item.document, partial(pages.read, tools.store)) != item.entry:
                problems[item.document] = "the tree does not name its segment"
        except tree.TreeDamaged as problem:
            problems[item.document] = str(problem)
    return problems


def _restored(
    connection: postgres.Connection, tools: Tools, artifact: Artifact, names: Sequence[str]
) -> Described | BackupRefusal:
    """The rows of these documents in the segment, or the reason why it cannot be loaded."""
    try:
        prepare(connection, tools, keep=False)
        header, _ = load(connection, tools, artifact, None, wanted=names)
    except Refused as problem:
        # Neither says anything about the segment. After a change of the key, old segments need the old private key.
        if problem.refusal.code in (RefusalCode.SCRATCH_UNFIT, RefusalCode.WRONG_KEY):
            raise Unavailable(problem.refusal.message, what="backup") from None
        return problem.refusal
    rows = Rows(connection=connection, columns=header.columns, live=False)
    description = rows.described(dict.fromkeys(names, 0))
    scratch.leave_tables(connection)
    return description


def _difference(held: _Held, live: Described, restored: Described) -> str | None:
    """How the rows of a document in its segment or its live rows differ from what was sealed, and in which tables."""
    alive = live.documents.get(held.document)
    tables = ", ".join(restored.differing(held.document, live)) if alive else ""
    if restored.documents[held.document].fingerprint != held.fingerprint:
        where = f"; its live rows differ from them in {tables}" if tables else ""
        return f"its rows in the segment are not those that were sealed{where}"
    if alive and alive.fingerprint != held.fingerprint:
        return f"its live rows differ from its segment in {tables}, although no change was counted"
    return None


def _record(dsn: str, outcomes: Sequence[tuple[_Held, str | None]]) -> None:
    """Record that these documents are good, or what is wrong with each of them."""
    if not outcomes:
        return
    result = {item.document: {"sha256": item.sha256, "problem": problem} for item, problem in outcomes}
    with closing(postgres.connect(dsn, Deadline(limits.SCRUB_RECORD_SECONDS))) as connection:
        _VERIFIED.one(connection, {"documents": Jsonb(result)})
        connection.commit()


def again(connection: psycopg.Connection[tuple[object, ...]], document: str | None) -> bool:
    """Let the next backup dump a document again, or every one, and commit. False if there is no such document."""
    exists = _AGAIN.one(connection, {"document": document})
    connection.commit()
    return exists
