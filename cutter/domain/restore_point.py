"""Pure: a named point in PostgreSQL's write-ahead log, to which a recovery can return (docs/guides/backup.md)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any

from cutter.errors import InvalidInput

PIN = "restore_point_"
"""The pins of gate 4's receipt about its restore point begin with this word."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RestorePoint:
    """A restore point, and the state of the archiver at that moment.

    A recovery that ends at `name` needs the archived log up to `wal_file`, and a base backup of the same
    `system_identifier`. `archived_wal` is the last file that was archived until then. `waiting_files` counts the files
    that were complete and not yet archived. The server archives a file that is not full after
    `archive_timeout_seconds`; 0 means never.
    """

    name: str
    lsn: str
    wal_file: str
    timeline: int
    system_identifier: str
    created_utc: str
    archived_wal: str
    archived_utc: str
    waiting_files: int
    archive_timeout_seconds: int

    def as_json(self) -> dict[str, str | int]:
        return asdict(self)

    def as_pins(self) -> dict[str, str | int]:
        """The pins of the receipt, one for each field."""
        return {f"{PIN}{name}": value for name, value in asdict(self).items()}


_KINDS = {field.name: int if field.type == "int" else str for field in fields(RestorePoint)}


def from_json(value: Any) -> RestorePoint:
    """The point that `as_json` gave. Other keys are left out. Raises InvalidInput for another value."""
    parts: Any = {name: value.get(name) for name in _KINDS} if isinstance(value, Mapping) else {}
    if not parts or any(type(parts[name]) is not kind for name, kind in _KINDS.items()):
        raise InvalidInput("a restore point has a name, a place in the log, its time, and the state of the archiver")
    return RestorePoint(**parts)


def recorded(value: Any) -> RestorePoint | None:
    """The point of a record, or None if it has none, or a malformed one."""
    try:
        return from_json(value)
    except InvalidInput:
        return None


def line_of_pins(pins: Mapping[str, Any]) -> str | None:
    """The restore point of a receipt in one line for people. None if the receipt names none."""
    name = pins.get(f"{PIN}name")
    if not isinstance(name, str):
        return None
    return (
        f"{name} at {pins.get(f'{PIN}lsn')} on timeline {pins.get(f'{PIN}timeline')}, {pins.get(f'{PIN}created_utc')}"
    )
