"""Pure: the Merkle tree of the segments: for each document, the segment with its newest sealed rows.

The tree is a set of pages. The name of a page is the sha256 of its bytes, so the name of the root page names the whole
tree. A new tree shares every page that did not change with the old one. The place of a document follows the sha256 of
its id, and a page splits when it holds more than TREE_PAGE_ENTRIES_MAX documents. So equal sets of entries give equal
trees, in whatever order the entries came. A change of one document writes as many pages as the tree is deep.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from cutter import limits
from cutter.domain.digests import canonical_json, is_digest, sha256_hex

PAGE_VERSION = "tree-page/1"

PageReader = Callable[[str], bytes]
"""A function that gives the bytes of a page by its digest, and raises TreeDamaged if it has none."""


class TreeDamaged(ValueError):
    """A page of the tree is missing or malformed, or differs from its name."""


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class Entry:
    """A document, the artifact that holds its rows, the sha256 of the artifact, and the digest of the rows."""

    document: str
    artifact: str
    sha256: str
    fingerprint: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Tree:
    """A tree: the digest of its root page, the number of its documents, and the pages that are new."""

    root: str
    count: int
    pages: Mapping[str, bytes] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _Child:
    digest: str
    count: int


@dataclass(frozen=True, slots=True)
class _Page:
    """A page has either entries or, by the next hexadecimal digit, children."""

    entries: tuple[Entry, ...] = ()
    children: Mapping[str, _Child] = field(default_factory=dict)

    @property
    def count(self) -> int:
        return len(self.entries) + sum(child.count for child in self.children.values())


def _bytes(page: _Page) -> bytes:
    if page.children:
        listed: Any = {digit: [child.digest, child.count] for digit, child in page.children.items()}
        return canonical_json({"version": PAGE_VERSION, "children": listed}).encode()
    rows = [[entry.document, entry.artifact, entry.sha256, entry.fingerprint] for entry in sorted(page.entries)]
    return canonical_json({"version": PAGE_VERSION, "entries": rows}).encode()


EMPTY = sha256_hex(_bytes(_Page()))
"""The root of the tree without documents. Its page is stored nowhere."""


def count_of(root: str, read: PageReader) -> int:
    """The number of documents in the tree, as its root page says. Raises TreeDamaged."""
    return _page(root, read).count


def updated(root: str, entries: Iterable[Entry], read: PageReader) -> Tree:
    """The tree after these entries, which replace earlier entries of the same documents. Raises TreeDamaged."""
    pages: dict[str, bytes] = {}
    top = _merged(root, {_key(entry.document): entry for entry in entries}, 0, read, pages)
    return Tree(root=top.digest, count=top.count, pages=pages)


def entries_of(root: str, read: PageReader) -> Iterator[Entry]:
    """Every entry of the tree. Raises TreeDamaged, also if a page holds fewer documents than its parent says."""
    page = _page(root, read)
    yield from page.entries
    for digit, child in page.children.items():
        count = 0
        for entry in entries_of(child.digest, read):
            count += 1
            yield entry
        if count != child.count:
            raise TreeDamaged(f"the tree holds {count} documents below {digit}, not {child.count}")


def entry_of(root: str, document: str, read: PageReader) -> Entry | None:
    """The entry of one document, or None. It reads one page for each level. Raises TreeDamaged."""
    for digit in _key(document):
        page = _page(root, read)
        if not page.children:
            return next((entry for entry in page.entries if entry.document == document), None)
        if digit not in page.children:
            return None
        root = page.children[digit].digest
    return None


@dataclass(frozen=True, slots=True, kw_only=True)
class Reached:
    """Everything that some trees need: their pages, each before its children, and the artifacts of their entries."""

    pages: Mapping[str, None]
    artifacts: frozenset[str]


def reached(roots: Iterable[str], read: PageReader, *, whole: bool = True) -> Reached:
    """The pages and artifacts of these trees. It reads a page that several trees share once.

    If `whole` is true, it raises TreeDamaged for a missing page. Otherwise it leaves the page out.
    """
    pages: dict[str, None] = {}
    artifacts: set[str] = set()
    waiting = [root for root in roots if root != EMPTY]
    while waiting:
        digest = waiting.pop()
        if digest in pages:
            continue
        try:
            page = _page(digest, read)
        except TreeDamaged:
            if whole:
                raise
            continue
        pages[digest] = None
        artifacts |= {entry.artifact for entry in page.entries}
        waiting += [child.digest for child in page.children.values()]
    return Reached(pages=pages, artifacts=frozenset(artifacts))


def _key(document: str) -> str:
    return sha256_hex(document)


def _merged(root: str, entries: Mapping[str, Entry], depth: int, read: PageReader, pages: dict[str, bytes]) -> _Child:
    page = _page(root, read)
    if not page.children:
        return _built({_key(entry.document): entry for entry in page.entries} | dict(entries), depth, pages)
    children = dict(page.children)
    for digit, group in _by_digit(entries, depth).items():
        old = children[digit].digest if digit in children else EMPTY
        children[digit] = _merged(old, group, depth + 1, read, pages)
    return _kept(_Page(children=children), pages)


def _built(entries: Mapping[str, Entry], depth: int, pages: dict[str, bytes]) -> _Child:
    if len(entries) <= limits.TREE_PAGE_ENTRIES_MAX:
        return _kept(_Page(entries=tuple(entries.values())), pages)
    children = {digit: _built(group, depth + 1, pages) for digit, group in _by_digit(entries, depth).items()}
    return _kept(_Page(children=children), pages)


def _by_digit(entries: Mapping[str, Entry], depth: int) -> dict[str, dict[str, Entry]]:
    groups: dict[str, dict[str, Entry]] = {}
    for key, entry in entries.items():
        groups.setdefault(key[depth], {})[key] = entry
    return groups


def _kept(page: _Page, pages: dict[str, bytes]) -> _Child:
    data = _bytes(page)
    digest = sha256_hex(data)
    pages[digest] = data
    return _Child(digest, page.count)


def _page(digest: str, read: PageReader) -> _Page:
    if digest == EMPTY:
        return _Page()
    data = read(digest)
    if sha256_hex(data) != digest:
        raise TreeDamaged(f"page {digest} of the tree holds other bytes")
    try:
        value: Any = json.loads(data)
        children = {digit: _Child(name, count) for digit, (name, count) in value.get("children", {}).items()}
        rows = [Entry(document=d, artifact=a, sha256=s, fingerprint=f) for d, a, s, f in value.get("entries", [])]
    except (ValueError, TypeError, AttributeError, RecursionError):
        raise TreeDamaged(f"page {digest} of the tree is malformed") from None
    if not all(is_digest(child.digest) and child.count > 0 for child in children.values()):
        raise TreeDamaged(f"page {digest} of the tree is malformed")
    return _Page(entries=tuple(rows), children=children)
