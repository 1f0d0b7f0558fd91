"""IO: the pages of the tree in the store of artifacts. They hold ids and digests of documents, but no row."""

from __future__ import annotations

from collections.abc import Mapping

from cutter import limits
from cutter.backup.segments.tree import TreeDamaged
from cutter.errors import Conflict, InvalidInput, NotFound
from cutter.kb import write_once
from cutter.kb.store import Store


def name_of(digest: str) -> str:
    """The artifact id of a page."""
    return f"backup-tree/{digest[:2]}/{digest}.json"


def read(store: Store, digest: str) -> bytes:
    """The bytes of a page. Raises TreeDamaged if the store does not have it, and Unavailable."""
    try:
        return store.get(name_of(digest), limit=limits.TREE_PAGE_BYTES_MAX)
    except (NotFound, InvalidInput):
        raise TreeDamaged(f"page {digest} of the tree is missing") from None


def put(store: Store, pages: Mapping[str, bytes]) -> None:
    """Store pages; those that are there already stay. Raises TreeDamaged if other bytes have the name of a page."""
    for digest, data in pages.items():
        try:
            write_once.put(store, name_of(digest), data)
        except (Conflict, InvalidInput):
            raise TreeDamaged(f"page {digest} of the tree holds other bytes") from None
