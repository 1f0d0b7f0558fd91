"""Pure: the record of a backup, the report of its restore check, and the closed list of reasons to refuse a backup.

A refusal is a value with which the gate fails. If the environment is unavailable (disk full, gpg killed, connection
lost), `cutter.errors.Unavailable` with what="backup" is raised, and a retry may help.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from cutter.backup.tables import BACKUP_TABLES, SEGMENT_TABLES
from cutter.domain import restore_point
from cutter.domain.digests import canonical_json, is_digest
from cutter.domain.restore_point import RestorePoint
from cutter.errors import InvalidInput

RECORD_VERSION = "backup/1"
"""A dump of the nine tables."""

SEGMENT_RECORD_VERSION = "segment/1"
"""A segment: the documents that changed, and the name of the tree that has the others."""

PART_RECORD_VERSION = "segment-part/1"
"""A segment with some of the documents that changed. It is no backup, because it and its tree lack the others."""

SEGMENT_VERSIONS = (SEGMENT_RECORD_VERSION, PART_RECORD_VERSION)

_TABLES = {RECORD_VERSION: BACKUP_TABLES} | dict.fromkeys(SEGMENT_VERSIONS, SEGMENT_TABLES)


class RefusalCode(StrEnum):
    """The reason to refuse a backup. Each one leads to the state `failed_backup`, and no retry helps. Only
    SEGMENT_DAMAGED stops the run, until people have dealt with the segment.
    """

    FINGERPRINT_MISMATCH = "fingerprint_mismatch"
    KEY_EXPIRED = "key_expired"
    KEY_UNUSABLE = "key_unusable"
    WRONG_RECIPIENT = "wrong_recipient"
    WRONG_KEY = "wrong_key"
    PG_DUMP_TOO_OLD = "pg_dump_too_old"
    SOURCE_UNREADABLE = "source_unreadable"
    ARTIFACT_MISSING = "artifact_missing"
    ARTIFACT_DAMAGED = "artifact_damaged"
    SCRATCH_UNFIT = "scratch_unfit"
    RESTORE_FAILED = "restore_failed"
    RESTORE_DIFFERS = "restore_differs"
    TREE_DAMAGED = "tree_damaged"
    TREE_INCOMPLETE = "tree_incomplete"
    SEGMENT_FOREIGN = "segment_foreign"
    SEGMENT_DAMAGED = "segment_damaged"
    SEGMENT_PART = "segment_part"
    VERIFICATION_STALE = "verification_stale"
    RESTORE_POINT_UNPREPARED = "restore_point_unprepared"
    ARCHIVING_OFF = "archiving_off"


@dataclass(frozen=True, slots=True, kw_only=True)
class BackupRefusal:
    """The reason why the gate fails: a code for machines, and a sentence that tells a person what to do.

    If two values differ, `expected` and `observed` hold them. `then` is the command that the sentence names, if any.
    """

    code: RefusalCode
    message: str
    expected: str = ""
    observed: str = ""
    then: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Contents:
    """The contents of the nine tables at one moment: a digest over every row, and the number of rows by table."""

    fingerprint: str
    row_counts: Mapping[str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class BackupRecord:
    """The record of an artifact. `sha256` and `size_bytes` are those of the ciphertext.

    `taken_utc` is the database's clock at the snapshot. It is rounded down to the second, so that a backup never looks
    younger than it is. `recipient` is the full fingerprint of the key for which the artifact is encrypted. `version` is
    the form of the artifact. A segment has no pg_dump, and its row counts are of the documents that it holds itself.

    `base` is the tree of a segment. It is empty in a full backup, and in the records of the first segments.
    `oldest_verification_seconds` is the age of the oldest verification of a segment in this tree, None without one.
    `restore_point` was marked just before the backup, if the deployment asks for it.
    """

    artifact_id: str
    sha256: str
    size_bytes: int
    taken_utc: str
    content_fingerprint: str
    row_counts: Mapping[str, int]
    pg_dump_version: str
    server_version: str
    recipient: str
    version: str = RECORD_VERSION
    base: str = ""
    oldest_verification_seconds: int | None = None
    restore_point: RestorePoint | None = None

    def __post_init__(self) -> None:
        if not (is_digest(self.sha256) and is_digest(self.content_fingerprint)):
            raise InvalidInput("a backup record's digests are 64 lower-case hex characters")
        if self.size_bytes <= 0 or set(self.row_counts) != set(_TABLES.get(self.version, ())):
            raise InvalidInput("a backup record has a size and a row count of each table of its version")

    @property
    def whole(self) -> bool:
        """Whether this is a backup: the artifact and its tree have every document."""
        return self.version != PART_RECORD_VERSION


@dataclass(frozen=True, slots=True, kw_only=True)
class RestoreReport:
    """The report of a good backup: it was decrypted and restored, and equals its snapshot. Others give a refusal."""

    artifact_id: str
    sha256: str
    size_bytes: int
    content_fingerprint: str
    row_counts: Mapping[str, int]
    decryption_key: str
    pg_restore_version: str


def to_json(record: BackupRecord) -> str:
    """The record as canonical JSON. This text is stored with the artifact."""
    names = (*_FIELDS, *_OF_SEGMENTS) if record.base else _FIELDS
    point = {RESTORE_POINT: record.restore_point.as_json()} if record.restore_point else {}
    return canonical_json({"version": record.version} | {name: getattr(record, name) for name in names} | point)


def from_json(text: str) -> BackupRecord:
    """The record that `to_json` wrote. Raises InvalidInput for any other text."""
    try:
        value: Any = json.loads(text)
        if not isinstance(value, dict) or value.get("version") not in _TABLES or not _has_fields(value):
            raise InvalidInput(f"not a backup record of a version that this program knows: {', '.join(_TABLES)}")
        _check_types(value)
        if RESTORE_POINT in value:
            value[RESTORE_POINT] = restore_point.from_json(value[RESTORE_POINT])
        return BackupRecord(**value)
    except (ValueError, RecursionError):
        raise InvalidInput("a backup record is one JSON object") from None


_TEXTS = ("artifact_id", "sha256", "taken_utc", "content_fingerprint", "pg_dump_version", "server_version", "recipient")
_FIELDS = (*_TEXTS, "size_bytes", "row_counts")
_OF_SEGMENTS = ("base", "oldest_verification_seconds")
RESTORE_POINT = "restore_point"
"""The key of a restore point in records and receipts. Those of a backup without one do not have it."""


def _has_fields(value: dict[str, Any]) -> bool:
    expected, names = {"version", *_FIELDS}, set(value) - {RESTORE_POINT}
    return names == expected or (value["version"] in SEGMENT_VERSIONS and names == expected | set(_OF_SEGMENTS))


def _check_types(value: dict[str, Any]) -> None:
    counts = value["row_counts"]
    numbers = [value["size_bytes"], *(counts.values() if isinstance(counts, dict) else [None])]
    if not all(type(number) is int and number >= 0 for number in numbers):
        raise InvalidInput("a backup record's size and row counts are whole numbers")
    oldest = value.get("oldest_verification_seconds")
    if oldest is not None and (type(oldest) is not int or oldest < 0):
        raise InvalidInput("the age of a backup's oldest verification is a whole number of seconds")
    if not all(isinstance(value.get(name, ""), str) for name in (*_TEXTS, "base")):
        raise InvalidInput("a backup record's names and digests are texts")
    if "base" in value and not is_digest(value["base"]):
        raise InvalidInput("the base of a segment is the digest of a page")
