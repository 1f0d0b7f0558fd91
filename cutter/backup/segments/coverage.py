"""IO: the segments that the database has recorded: which documents changed, and how the tree grows.

A segment enters the tree only after it was restored. An unsealed document is no loss: the next backup dumps it again.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import partial

from psycopg.types.json import Jsonb

from cutter import limits
from cutter.backup.connection import Connection
from cutter.backup.record import BackupRecord
from cutter.backup.segments import pages, tree
from cutter.backup.segments.header import Document, Header
from cutter.backup.segments.rows import query_of
from cutter.errors import Unavailable
from cutter.kb.store import Store
from cutter.storage.records import Rows, records, values


@dataclass(frozen=True, slots=True, kw_only=True)
class Head:
    """The newest tree, the digest of the columns of its segments, and how many documents were sealed into it.

    `damaged` is a document whose segment failed a verification, with its problem. `oldest_seconds` is the age of the
    oldest verification.
    """

    tree: str | None
    columns_sha256: str | None
    documents: int
    damaged: str | None
    oldest_seconds: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Counted:
    """A document, and how often its rows had changed."""

    document: str
    changes: int


_HEAD = records("head", Head, named=query_of)
_CHANGED = records("changed_documents", _Counted, named=query_of)
_EVERY = records("every_document", _Counted, named=query_of)
_SEALED = records("sealed_changes", _Counted, named=query_of)
_SEAL: Rows[bool] = values("seal", named=query_of)


@dataclass(frozen=True, slots=True, kw_only=True)
class Base:
    """The tree on which a backup is based, its number of documents, and the first documents that a backup must dump."""

    root: str
    count: int
    changes: Mapping[str, int]


def head_of(connection: Connection) -> Head:
    """The newest tree as this transaction sees it."""
    return _HEAD.one(connection)


def base_of(connection: Connection, head: Head, columns_sha256: str, limit: int) -> Base:
    """The base of a backup at this moment. If the columns are others than those of the tree, it dumps everything.

    It names so many changed documents at most.
    """
    if head.tree is None or head.columns_sha256 != columns_sha256:
        return Base(root=tree.EMPTY, count=0, changes=_counts(_EVERY.all(connection, {"limit": limit})))
    return Base(root=head.tree, count=head.documents, changes=_counts(_CHANGED.all(connection, {"limit": limit})))


def seal(connection: Connection, store: Store, record: BackupRecord, header: Header) -> None:
    """Enter a restored segment into the tree, and commit. The documents that it holds are then covered by it, unless
    they have changed since. Raises TreeDamaged, and Unavailable if other backups are always faster.
    """
    for _ in range(limits.SEGMENT_SEAL_TRIES):
        if _sealed(connection, store, record, header):
            connection.commit()
            return
        connection.rollback()
    raise Unavailable("other backups change the tree all the time: try again", what="backup")


def _sealed(connection: Connection, store: Store, record: BackupRecord, header: Header) -> bool:
    head = _HEAD.one(connection)
    same_columns = head.columns_sha256 == header.columns_sha256
    if not same_columns and header.base != tree.EMPTY:
        # The columns changed after this backup began. Its rows stay a good backup, but no base of later ones.
        return True
    before = head.tree if head.tree is not None and same_columns else tree.EMPTY
    documents = _newer(connection, header) if same_columns else dict(header.documents)
    if not documents:
        return True
    entries = [
        tree.Entry(document=name, artifact=record.artifact_id, sha256=record.sha256, fingerprint=document.fingerprint)
        for name, document in documents.items()
    ]
    after = tree.updated(before, entries, partial(pages.read, store))
    pages.put(store, after.pages)
    return _SEAL.one(connection, {
        "before": head.tree, "after": after.root, "columns_sha256": header.columns_sha256,
        "artifact": record.artifact_id, "sha256": record.sha256,
        "documents": Jsonb({name: asdict(document) for name, document in documents.items()}),
    })  # fmt: skip


def _newer(connection: Connection, header: Header) -> dict[str, Document]:
    """The documents of the segment that no newer segment holds."""
    sealed = _counts(_SEALED.all(connection, {"documents": list(header.documents)}))
    return {name: document for name, document in header.documents.items() if document.changes >= sealed.get(name, 0)}


def _counts(rows: list[_Counted]) -> dict[str, int]:
    return {row.document: row.changes for row in rows}
