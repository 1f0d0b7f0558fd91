"""IO: verifies sealed segments again, in rotation: tree, artifact, restored rows and live rows must agree.

A difference is recorded with its document. Until a person has dealt with it, no new backup is taken, so no gate writes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import psycopg
from psycopg.types.json import Jsonb

from cutter import limits
from cutter.backup import connection as postgres
from cutter.backup.record import RefusalCode
from cutter.backup.segments import pages, tree
from cutter.backup.segments.coverage import head_of
from cutter.backup.segments.header import digest_of_columns
from cutter.backup.segments.loader import Artifact, Refused, Tools, load, prepare, tools_for
from cutter.backup.segments.rows import Rows, columns, query_of
from cutter.errors import Unavailable
from cutter.storage.records import Rows as RowsOf
from cutter.storage.records import records, values


@dataclass(frozen=True, slots=True, kw_only=True)
class _Due:
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


_DUE = records("due_documents", _Due, named=query_of)
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
    deadline_seconds: float = limits.BACKUP_DEADLINE_SECONDS,
) -> Scrubbed:
    """Verify the documents whose verification is the oldest, and record the result. Raises Unavailable."""
    tools = tools_for(artifacts_url, gpg_home, gpg_binary, deadline_seconds)
    tools.gpg.start_agent()
    try:
        with closing(postgres.connect(dsn, tools.deadline)) as connection:
            due, problems = _beside_live(connection, tools, documents)
        for artifact, held in _by_artifact(due).items():
            with closing(postgres.connect(scratch_dsn, tools.deadline)) as connection:
                problems |= _of_segment(connection, tools, artifact, held)
        with closing(postgres.connect(dsn, tools.deadline)) as connection:
            _record(connection, due, problems)
    except postgres.AWAY as problem:
        raise postgres.away(problem) from None
    return Scrubbed(verified=tuple(one.document for one in due if one.document not in problems), problems=problems)


def _beside_live(connection: postgres.Connection, tools: Tools, documents: int) -> tuple[list[_Due], dict[str, str]]:
    """The documents to verify, and by document how its live rows or the tree differ from its segment."""
    postgres.begin_snapshot(connection, tools.deadline)
    due = _DUE.all(connection, {"limit": documents})
    live = Rows(connection=connection, columns=columns(connection), live=True)
    # With other columns, the digests cannot be compared, and the next backup dumps every document.
    same_columns = head_of(connection).columns_sha256 == digest_of_columns(live.columns)
    covered = [one for one in due if one.covered and same_columns]
    found = live.described(dict.fromkeys((one.document for one in covered), 0)).documents
    problems = {
        one.document: "its live rows differ from its segment, although no change was counted"
        for one in covered
        if found[one.document].fingerprint != one.fingerprint
    }
    return due, problems | _of_tree(connection, tools, due)


def _of_tree(connection: postgres.Connection, tools: Tools, due: Sequence[_Due]) -> dict[str, str]:
    """By document: how the newest tree names it wrongly."""
    root = head_of(connection).tree or tree.EMPTY
    problems: dict[str, str] = {}
    for one in due:
        try:
            if tree.entry_of(root, one.document, partial(pages.read, tools.store)) != one.entry:
                problems[one.document] = "the tree does not name its segment"
        except tree.TreeDamaged as problem:
            problems[one.document] = str(problem)
    return problems


def _by_artifact(due: Sequence[_Due]) -> dict[Artifact, list[_Due]]:
    groups: dict[Artifact, list[_Due]] = {}
    for one in due:
        groups.setdefault(Artifact(artifact_id=one.artifact, sha256=one.sha256), []).append(one)
    return groups


def _of_segment(
    connection: postgres.Connection, tools: Tools, artifact: Artifact, held: Sequence[_Due]
) -> dict[str, str]:
    """By document: how its rows in the segment differ from what was sealed. All of them if it cannot be loaded."""
    names = [one.document for one in held]
    try:
        prepare(connection, tools, keep=False)
        header, _ = load(connection, tools, artifact, None, wanted=names)
    except Refused as problem:
        # Neither says anything about the segment. After a change of the key, old segments need the old private key.
        if problem.refusal.code in (RefusalCode.SCRATCH_UNFIT, RefusalCode.WRONG_KEY):
            raise Unavailable(problem.refusal.message, what="backup") from None
        return dict.fromkeys(names, f"{problem.refusal.code}: {problem.refusal.message}")
    rows = Rows(connection=connection, columns=header.columns, live=False)
    found = rows.described(dict.fromkeys(names, 0)).documents
    return {
        one.document: "its rows in the segment are not those that were sealed"
        for one in held
        if found[one.document].fingerprint != one.fingerprint
    }


def _record(connection: postgres.Connection, due: Sequence[_Due], problems: Mapping[str, str]) -> None:
    result = {one.document: {"sha256": one.sha256, "problem": problems.get(one.document, None)} for one in due}
    _VERIFIED.one(connection, {"documents": Jsonb(result)})
    connection.commit()


def again(connection: psycopg.Connection[tuple[object, ...]], document: str | None) -> bool:
    """Let the next backup dump a document again, or every one, and commit. False if there is no such document."""
    found = _AGAIN.one(connection, {"document": document})
    connection.commit()
    return found
