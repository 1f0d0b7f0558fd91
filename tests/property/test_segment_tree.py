"""The tree of segments: equal entries give equal trees, a change writes few pages, and no damage passes."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cutter import limits
from cutter.backup.segments import tree
from cutter.backup.segments.tree import EMPTY, Entry, Tree, TreeDamaged
from cutter.domain.digests import sha256_hex


def entry(number: int, version: int = 0) -> Entry:
    digest = sha256_hex(f"{number} {version}")
    return Entry(document=f"ICX-{number}", artifact=f"run-{version}/pre_write.gpg", sha256=digest, fingerprint=digest)


class Store:
    """Pages by digest. It counts the pages that were read."""

    def __init__(self) -> None:
        self.pages: dict[str, bytes] = {}
        self.read_count = 0

    def read(self, digest: str) -> bytes:
        self.read_count += 1
        if digest not in self.pages:
            raise TreeDamaged(f"page {digest} is missing")
        return self.pages[digest]

    def grown(self, root: str, entries: list[Entry]) -> Tree:
        made = tree.updated(root, entries, self.read)
        self.pages |= made.pages
        return made


@given(st.lists(st.tuples(st.integers(0, 200), st.integers(0, 3)), max_size=120), st.integers(1, 40))
def test_entries_in_any_portions_give_the_tree_of_all_of_them(changes: list[tuple[int, int]], portion: int) -> None:
    store, root = Store(), EMPTY
    for start in range(0, len(changes), portion):
        root = store.grown(root, [entry(*change) for change in changes[start : start + portion]]).root
    newest = {number: entry(number, version) for number, version in changes}
    whole = Store().grown(EMPTY, list(newest.values()))
    assert root == whole.root
    assert sorted(tree.entries_of(root, store.read)) == sorted(newest.values())
    assert tree.count_of(root, store.read) == len(newest) == whole.count


def test_a_change_reads_and_writes_only_the_pages_on_its_path() -> None:
    store = Store()
    root = store.grown(EMPTY, [entry(number) for number in range(20_000)]).root
    store.read_count = 0
    changed = store.grown(root, [entry(7, 1)])
    assert changed.count == 20_000
    assert len(changed.pages) <= 5
    assert store.read_count <= 5


def test_the_tree_before_a_change_stays_readable() -> None:
    store = Store()
    before = store.grown(EMPTY, [entry(number) for number in range(100)])
    after = store.grown(before.root, [entry(3, 1)])
    assert entry(3) in set(tree.entries_of(before.root, store.read))
    assert entry(3, 1) in set(tree.entries_of(after.root, store.read))


def test_a_page_that_omits_a_document_is_refused() -> None:
    store = Store()
    made = store.grown(EMPTY, [entry(number) for number in range(limits.TREE_PAGE_ENTRIES_MAX + 1)])
    leaf = next(digest for digest, data in made.pages.items() if b'"entries"' in data)
    other = Store().grown(EMPTY, [entry(1)])
    store.pages[leaf] = other.pages[other.root]
    with pytest.raises(TreeDamaged, match="other bytes"):
        list(tree.entries_of(made.root, store.read))


def test_a_parent_that_counts_wrongly_is_refused() -> None:
    store = Store()
    made = store.grown(EMPTY, [entry(number) for number in range(limits.TREE_PAGE_ENTRIES_MAX + 1)])
    lying = made.pages[made.root].replace(b",1]", b",2]").replace(b",3]", b",4]")
    assert lying != made.pages[made.root]
    root = sha256_hex(lying)
    store.pages[root] = lying
    with pytest.raises(TreeDamaged, match="holds"):
        list(tree.entries_of(root, store.read))


@pytest.mark.parametrize("data", [b"", b"[]", b'{"entries":[["a"]]}', b'{"children":{"0":["x",1]}}', b'{"children":3}'])
def test_a_malformed_page_is_refused(data: bytes) -> None:
    store = Store()
    root = sha256_hex(data)
    store.pages[root] = data
    with pytest.raises(TreeDamaged, match="malformed"):
        tree.count_of(root, store.read)
