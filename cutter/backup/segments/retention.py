"""Pure: which artifacts and pages no backup needs that must stay restorable.

A backup is kept for one of three reasons. It is younger than the retention, a run that is open or was active in that
time has it, or it is the newest. Everything that the tree of a kept backup names is needed, also segments of documents
that the backup holds itself. So a collection is safe while another backup is being taken. That one builds on the newest
tree of some moment, and a segment leaves the newest tree only when a younger, kept backup replaces it. It takes hours
at most, and the shortest retention is a day.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from cutter.backup.segments import tree


class Unknown(ValueError):
    """A kept backup does not say on which tree it is based, so nothing can be called unneeded."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stored:
    """A backup in the store. `base` is the root of its tree: None if it needs none, and empty if its record lacks it.

    `goes_with` is the backup to which a companion belongs. A part is not `whole`: it is never the newest backup.
    """

    artifact: str
    taken: datetime
    base: str | None = None
    goes_with: str | None = None
    whole: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Garbage:
    """What nobody needs: artifacts, and pages of the tree, each page after its children."""

    artifacts: Sequence[str]
    pages: Sequence[str]


def garbage(
    backups: Sequence[Stored],
    *,
    now: datetime,
    days: float,
    wanted: Collection[str],
    newest_tree: str,
    read: tree.PageReader,
) -> Garbage:
    """What may be deleted. `wanted` are backups of runs that are open or were active in these days.

    Raises Unknown, and TreeDamaged if a page of a kept tree is missing or damaged.
    """
    names = _kept(backups, now - timedelta(days=days), wanted)
    if unknown := sorted(backup.artifact for backup in backups if backup.artifact in names and backup.base == ""):
        raise Unknown(unknown[0])
    needed = tree.reached([newest_tree, *_bases(backup for backup in backups if backup.artifact in names)], read)
    # A page of these trees may be gone, because somebody ended an earlier collection.
    others = tree.reached(_bases(backup for backup in backups if backup.artifact not in names), read, whole=False)
    return Garbage(
        artifacts=sorted(backup.artifact for backup in backups if backup.artifact not in names | needed.artifacts),
        pages=[page for page in reversed(list(others.pages)) if page not in needed.pages],
    )


def _kept(backups: Sequence[Stored], since: datetime, wanted: Collection[str]) -> set[str]:
    """The artifacts of young, wanted and newest backups, and of the backups that go with kept companions.

    A record names whole seconds, so each backup of the newest second may be the newest, and all of them are kept.
    """
    groups = (
        [backup for backup in backups if backup.goes_with],
        [backup for backup in backups if backup.whole and not backup.goes_with],
    )
    last = [max((backup.taken for backup in group), default=None) for group in groups]
    newest = {
        backup.artifact for group, taken in zip(groups, last, strict=True) for backup in group if backup.taken == taken
    }
    kept = {backup.artifact for backup in backups if backup.taken >= since} | newest | set(wanted)
    return kept | {backup.goes_with for backup in backups if backup.artifact in kept and backup.goes_with}


def _bases(backups: Iterable[Stored]) -> list[str]:
    return [backup.base for backup in backups if backup.base]
