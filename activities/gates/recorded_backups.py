"""IO: the backups that are on record of a run, and which of them the store still holds as recorded.

A record is the word of the backup's role. What it says is believed when the artifact is there with that sha256; a
record without such an artifact covers no write, and hides no other backup.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from cutter import limits
from cutter.backup.restore import digest
from cutter.errors import InvalidInput, NotFound
from cutter.storage.gate_transaction import Read, Row

BACKUPS = "newest_backups"


@dataclass(frozen=True, slots=True, kw_only=True)
class Recorded:
    """One record: the artifact's name, its sha256, its age, whether the gate's receipt sealed it."""

    artifact: str
    sha256: str
    age_seconds: float
    sealed: bool


def asked(run_id: str) -> Read:
    """The query of a run's backups, the newest first."""
    return BACKUPS, {"run_id": run_id, "limit": limits.BACKUPS_LOOKED_AT_MAX}


def read(rows: Iterable[Row]) -> list[Recorded]:
    """What the query answered."""
    return [
        Recorded(artifact=str(name), sha256=str(sha256), age_seconds=float(age), sealed=bool(sealed))
        for name, sha256, _taken, age, sealed in rows
    ]


def as_stored(artifacts_url: str, backups: Iterable[Recorded]) -> dict[str, str]:
    """Artifact → its present sha256, "" if there is none, until one is as recorded; the rest is not read."""
    found: dict[str, str] = {}
    for one in backups:
        if one.artifact not in found:
            found[one.artifact] = _sha256(artifacts_url, one.artifact)
        if found[one.artifact] == one.sha256:
            break
    return found


def usable(backups: Iterable[Recorded], stored: Mapping[str, str]) -> Recorded | None:
    """The newest backup that the store holds as recorded."""
    return next((one for one in backups if stored.get(one.artifact) == one.sha256), None)


def _sha256(artifacts_url: str, artifact: str) -> str:
    try:
        return digest(artifacts_url, artifact)[0]
    except (NotFound, InvalidInput):
        return ""
