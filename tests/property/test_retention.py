"""A collection never takes what a restorable backup needs, and takes everything that none needs, in any history."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cutter import limits
from cutter.backup.segments import tree
from cutter.backup.segments.retention import Stored, Unknown, garbage
from cutter.domain.digests import sha256_hex

DAYS = 30
DOCUMENTS = [f"ICX-{number}" for number in range(60)]
"""More than a page of the tree holds, so trees share pages."""


@dataclass(slots=True)
class World:
    """A store and the tree of a database, as takes, seals and collections change them."""

    now: datetime = datetime(2026, 1, 1, tzinfo=UTC)
    head: str = tree.EMPTY
    pages: dict[str, bytes] = field(default_factory=dict)
    backups: dict[str, Stored] = field(default_factory=dict)
    holds: dict[str, frozenset[str]] = field(default_factory=dict)
    made: int = 0
    retention: int = DAYS

    def read(self, digest: str) -> bytes:
        try:
            return self.pages[digest]
        except KeyError:
            raise tree.TreeDamaged(digest) from None

    def begin(self) -> Stored:
        """A backup begins on the newest tree of its moment."""
        self.made += 1
        return Stored(artifact=f"run-{self.made}/pre_write.gpg", taken=self.now, base=self.head)

    def publish(self, backup: Stored, documents: frozenset[str]) -> None:
        self.backups[backup.artifact] = backup
        self.holds[backup.artifact] = documents

    def seal(self, backup: Stored) -> None:
        entries = [
            tree.Entry(document=name, artifact=backup.artifact, sha256=sha256_hex(name), fingerprint="0" * 64)
            for name in sorted(self.holds[backup.artifact])
        ]
        made = tree.updated(self.head, entries, self.read)
        self.pages |= made.pages
        self.head = made.root

    def collect(self, wanted: frozenset[str] = frozenset()) -> int:
        """Delete what may go. Returns how much that was."""
        leftovers = garbage(
            list(self.backups.values()),
            now=self.now,
            days=self.retention,
            wanted=wanted,
            newest_tree=self.head,
            read=self.read,
        )
        for page in leftovers.pages:
            del self.pages[page]
        for artifact in leftovers.artifacts:
            del self.backups[artifact]
        return len(leftovers.pages) + len(leftovers.artifacts)

    def restorable(self, backup: Stored) -> bool:
        """Whether a restore would find each segment of each document."""
        own = self.holds[backup.artifact]
        named = tree.entries_of(backup.base or tree.EMPTY, self.read)
        return all(entry.document in own or entry.artifact in self.backups for entry in named)


STEP = st.tuples(
    st.sets(st.sampled_from(DOCUMENTS), min_size=1, max_size=40).map(frozenset),
    st.integers(min_value=0, max_value=DAYS - 5),
    st.sampled_from(("sealed", "unsealed", "late", "late and sealed")),
    st.booleans(),
)
"""The documents that a backup holds, the days until the next one, its fate, and whether a collection follows. A late
backup appears in the store after the next backup and its collection."""

Steps = list[tuple[frozenset[str], int, str, bool]]


@given(st.lists(STEP, min_size=1, max_size=12), st.sampled_from((1, DAYS)))
@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_every_backup_of_the_retention_stays_restorable(steps: Steps, retention: int) -> None:
    world, late = World(retention=retention), list[tuple[Stored, frozenset[str], bool]]()
    for documents, days, fate, collects in steps:
        backup, waiting = world.begin(), late
        late = [(backup, documents, "sealed" in fate)] if "late" in fate else []
        if "late" not in fate:
            world.publish(backup, documents)
        if fate == "sealed":
            world.seal(backup)
        if collects:
            world.collect()
        for stored, held, sealed in waiting:
            world.publish(stored, held)
            if sealed:
                world.seal(stored)
        since = world.now - timedelta(days=retention)
        assert all(world.restorable(backup) for backup in world.backups.values() if backup.taken >= since)
        assert all(entry.artifact in world.backups for entry in tree.entries_of(world.head, world.read))
        # A backup takes hours at most (RESTORE_DEADLINE_SECONDS), and the retention is a day or more.
        world.now += timedelta(seconds=limits.RESTORE_DEADLINE_SECONDS) if late else timedelta(days=days)


@given(st.lists(STEP, min_size=1, max_size=8))
@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_old_backups_go_once_every_document_was_dumped_again(
    steps: Steps,
) -> None:
    world = World()
    for documents, days, _fate, _collects in steps:
        backup = world.begin()
        world.publish(backup, documents)
        world.seal(backup)
        world.now += timedelta(days=days)
    world.now += timedelta(days=DAYS + 1)
    everything = world.begin()
    world.publish(everything, frozenset(DOCUMENTS))
    world.seal(everything)
    world.now += timedelta(days=DAYS + 1)
    newest = world.begin()
    world.publish(newest, frozenset())
    world.collect()
    assert set(world.backups) == {everything.artifact, newest.artifact}
    assert set(world.pages) == set(tree.reached([world.head], world.read).pages)


def test_the_newest_tree_is_kept_although_no_backup_builds_on_it() -> None:
    """Two backups overlap: the newest one does not build on the other, but the tree names both."""
    world = World()
    first = world.begin()
    world.now += timedelta(seconds=1)
    both = [first, world.begin()]
    for backup, document in zip(both, DOCUMENTS, strict=False):
        world.publish(backup, frozenset({document}))
        world.seal(backup)
    world.now += timedelta(days=DAYS + 1)
    world.collect()
    assert {entry.artifact for entry in tree.entries_of(world.head, world.read)} == set(world.backups)


def test_what_an_open_run_or_a_companion_has_is_kept() -> None:
    world = World()
    old = [
        Stored(artifact=name, taken=world.now + timedelta(seconds=number), base=tree.EMPTY)
        for number, name in enumerate(("a.gpg", "b.gpg", "c.gpg", "d.gpg"))
    ]
    companion = Stored(artifact="b.companion.gpg", taken=world.now, goes_with="b.gpg")
    leftovers = garbage(
        [*old, companion], now=world.now + timedelta(days=365), days=DAYS, wanted={"a.gpg"}, newest_tree=tree.EMPTY,
        read=world.read,
    )  # fmt: skip
    assert leftovers.artifacts == ["c.gpg"], "a is wanted, b goes with the newest companion, d is the newest"


def test_a_part_is_not_the_newest_backup() -> None:
    """A worker that dies after a part leaves it as the newest artifact, and the last whole backup must stay."""
    world = World()
    whole = world.begin()
    world.publish(whole, frozenset(DOCUMENTS))
    world.seal(whole)
    world.head, world.now = tree.EMPTY, world.now + timedelta(days=1)
    part = replace(world.begin(), whole=False)
    world.publish(part, frozenset())
    world.now += timedelta(days=DAYS + 1)
    world.collect()
    assert set(world.backups) == {whole.artifact}


def test_every_backup_of_the_newest_second_is_kept() -> None:
    """A record names whole seconds, so each of them may be the newest."""
    world = World()
    for _ in range(3):
        world.publish(world.begin(), frozenset())
    companions = [Stored(artifact=f"{name}.companion.gpg", taken=world.now, goes_with=name) for name in world.backups]
    world.backups |= {companion.artifact: companion for companion in companions}
    world.now += timedelta(days=DAYS + 1)
    assert world.collect() == 0


def test_a_kept_backup_that_does_not_name_its_tree_stops_the_collection() -> None:
    world = World()
    with pytest.raises(Unknown):
        garbage(
            [Stored(artifact="a.gpg", taken=world.now, base="")], now=world.now, days=DAYS, wanted=(),
            newest_tree=tree.EMPTY, read=world.read,
        )  # fmt: skip


def test_a_missing_page_of_a_kept_tree_stops_the_collection_and_one_of_an_old_tree_does_not() -> None:
    world = World()
    first = world.begin()
    world.publish(first, frozenset(DOCUMENTS))
    world.seal(first)
    count = len(world.pages)
    world.publish(world.begin(), frozenset())
    world.now += timedelta(days=DAYS + 1)
    world.head = tree.EMPTY
    world.publish(world.begin(), frozenset())
    del world.pages[next(iter(world.pages))]
    assert world.collect() == count - 1 + 2, "every other page, and two artifacts"
    world.head = first.artifact
    with pytest.raises(tree.TreeDamaged):
        world.collect()
