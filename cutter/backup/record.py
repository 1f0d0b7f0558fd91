"""Pure: the record of a backup, the report of its restore check, and the closed list of reasons to refuse a backup.

A refusal is a value with which the gate fails. If the environment is unavailable (disk full, gpg killed, connection
lost), `cutter.errors.Unavailable` with what="backup" is raised, and a retry may help.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from enum import StrEnum
from typing import Annotated, Any, ClassVar

from pydantic import ConfigDict, Field, TypeAdapter

from cutter.domain import restore_point
from cutter.domain.digests import canonical_json, is_digest
from cutter.domain.restore_point import RestorePoint
from cutter.errors import InvalidInput

RECORD_VERSION = "backup/2"
"""The rows of one document. Earlier versions cannot be read any more."""


class RefusalCode(StrEnum):
    """The reason to refuse a backup. Each one leads to the state `failed_backup`, and no retry helps."""

    FINGERPRINT_MISMATCH = "fingerprint_mismatch"
    KEY_EXPIRED = "key_expired"
    KEY_UNUSABLE = "key_unusable"
    WRONG_RECIPIENT = "wrong_recipient"
    WRONG_KEY = "wrong_key"
    SOURCE_UNREADABLE = "source_unreadable"
    ARTIFACT_MISSING = "artifact_missing"
    ARTIFACT_DAMAGED = "artifact_damaged"
    RESTORE_FAILED = "restore_failed"
    RESTORE_DIFFERS = "restore_differs"
    RESTORE_POINT_UNPREPARED = "restore_point_unprepared"
    ARCHIVING_OFF = "archiving_off"


@dataclass(frozen=True, slots=True, kw_only=True)
class BackupRefusal:
    """The reason why the gate fails: a code for machines, and a sentence that tells a person what to do.

    If two values differ, `expected` and `observed` hold them.
    """

    code: RefusalCode
    message: str
    expected: str = ""
    observed: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class BackupRecord:
    """The record of an artifact. `sha256` and `size_bytes` are those of the ciphertext.

    `taken_utc` is the database's clock before the snapshot. It is rounded down to the second, so that a backup never
    looks younger than it is. `recipient` is the full fingerprint of the key for which the artifact is encrypted.
    `content_fingerprint` is the digest of every row. `restore_point` was marked just before the backup, if the
    deployment asks for it.
    """

    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(extra="forbid", strict=True)

    artifact_id: str
    document_id: str
    sha256: str
    size_bytes: Annotated[int, Field(gt=0)]
    taken_utc: str
    content_fingerprint: str
    row_counts: Mapping[str, Annotated[int, Field(ge=0)]]
    recipient: str
    restore_point: RestorePoint | None = None

    def __post_init__(self) -> None:
        if not (is_digest(self.sha256) and is_digest(self.content_fingerprint)):
            raise InvalidInput("a backup record's digests are 64 lower-case hex characters")
        if set(self.row_counts) != set(TABLES):
            raise InvalidInput("a backup record has a row count of each table")


_RECORD = TypeAdapter(BackupRecord)


@dataclass(frozen=True, slots=True, kw_only=True)
class RestoreReport:
    """The report of a good backup: it was decrypted and restored, and equals its snapshot. Others give a refusal."""

    artifact_id: str
    document_id: str
    sha256: str
    size_bytes: int
    content_fingerprint: str
    row_counts: Mapping[str, int]
    decryption_key: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Proved:
    """A backup with the report of its restore check."""

    record: BackupRecord
    report: RestoreReport


RESTORE_POINT = "restore_point"
"""The key of a restore point in records and receipts. Those of a backup without one do not have it."""


def to_json(record: BackupRecord) -> str:
    """The record as canonical JSON. This text is stored with the artifact."""
    parts = asdict(record) | {"row_counts": dict(record.row_counts), "version": RECORD_VERSION}
    if record.restore_point is None:
        parts.pop(RESTORE_POINT)
    return canonical_json(parts)


def from_json(text: str) -> BackupRecord:
    """The record that `to_json` wrote. Raises InvalidInput for any other text."""
    try:
        value: Any = json.loads(text)
        if value.pop("version", None) != RECORD_VERSION:
            raise InvalidInput(f"not a backup record of the version that this program knows: {RECORD_VERSION}")
        point = value.pop(RESTORE_POINT, None)
        record = _RECORD.validate_json(json.dumps(value))  # In JSON, strict takes an object for a dataclass.
    except (ValueError, RecursionError, AttributeError, TypeError):
        raise InvalidInput("a backup record is one JSON object with the fields of this version") from None
    return record if point is None else replace(record, restore_point=restore_point.from_json(point))


TABLES: tuple[str, ...] = (
    "cutter_governance.cut_change_set",
    "cutter_governance.cut_change_set_affected_row",
    "cutter_governance.dot_pair_signature",
    "cutter_governance.manifest_envelope",
    "cutter_governance.manifest_unit_block",
    "cutter_governance.review_decision",
    "cutter_governance.revision_row",
    "public.enactment",
    "public.information_unit",
    "public.iu_lifecycle_log",
    "public.unit_version",
)
"""The nine tables of the mutation surface, and two on which enacted law depends: `enactment` chains the versions of a
law, and `revision_row` is the plan of a revision. No other module lists them."""
