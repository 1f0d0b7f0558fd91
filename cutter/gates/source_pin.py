"""Pure: IG_source_pin: the document's row, its latest version and the manifest digest (seed 000 §4)."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass

from cutter import limits
from cutter.domain.digests import canonical_digest, sha256_hex
from cutter.gates.report import GateReport, Invariant, equal, holds

GATE = "IG_source_pin"


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceVersion:
    """A registered version: the row without the bytes."""

    id: str
    content_checksum: str
    size_bytes: int
    source_format: str
    profile_id: str
    profile_sha256: str
    manifest_digest: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """What was read: the document (None when unknown), its latest version (None when there is none), the snapshot."""

    document_id: str
    source_document_id: str | None
    docprefix: str | None
    registered_uri: str | None
    requested_uri: str | None
    version: SourceVersion | None
    snapshot: bytes
    enacted_version_id: str | None


def manifest_digest(document_id: str, version: SourceVersion) -> str:
    """Digest of the manifest's content, not of its file bytes (spec 04 "Words")."""
    return canonical_digest(
        {
            "document_id": document_id,
            "source_version_id": version.id,
            "content_sha256": version.content_checksum,
            "size": version.size_bytes,
            "format": version.source_format,
            "profile_id": version.profile_id,
            "profile_sha256": version.profile_sha256,
        }
    )


def evaluate(evidence: Evidence) -> GateReport:
    """Refuses unless all of these hold (seed 000 §4, in its words where it has them):

    - source_document_exists: source_document row exists
    - source_version_exists: latest source_version row exists
    - manifest_digest_matches: recomputed, it matches source_version.manifest_digest if pinned; if not, it is recorded
    - snapshot_matches_checksum, source_uri_matches: the bytes and the source are the registered ones (ours)
    - snapshot_size_in_bounds, snapshot_is_utf8, snapshot_is_nfc: the text can be cut (ours)
    - document_not_enacted: no other version of it is enacted (ours)
    """
    command = f"cutter source add FILE --document-id {evidence.document_id} --profile PROFILE"
    document = holds(
        "source_document_exists",
        evidence.source_document_id is not None,
        evidence.document_id if evidence.source_document_id else "no row",
        f"a registered document: `{command}`",
    )
    version = evidence.version
    latest = holds(
        "source_version_exists",
        version is not None,
        version.id if version else "no row",
        f"a registered version: `{command}`",
    )
    if version is None or evidence.source_document_id is None:
        return GateReport(gate=GATE, invariants=(document, latest))
    computed = manifest_digest(evidence.document_id, version)
    return GateReport(
        gate=GATE,
        invariants=(
            document,
            latest,
            equal("manifest_digest_matches", computed, version.manifest_digest or computed),
            equal("snapshot_matches_checksum", sha256_hex(evidence.snapshot), version.content_checksum),
            holds(
                "source_uri_matches",
                evidence.requested_uri in (None, evidence.registered_uri),
                evidence.requested_uri,
                evidence.registered_uri or "none asked for",
            ),
            *_text(evidence.snapshot, command),
            _not_enacted(evidence.enacted_version_id, version.id),
        ),
        pins={
            "docprefix": evidence.docprefix,
            "source_document_id": evidence.source_document_id,
            "source_version_id": version.id,
            "content_sha256": version.content_checksum,
            "size_bytes": version.size_bytes,
            "manifest_digest": computed,
            "profile_id": version.profile_id,
            "profile_sha256": version.profile_sha256,
        },
    )


def _text(snapshot: bytes, command: str) -> tuple[Invariant, ...]:
    size = holds(
        "snapshot_size_in_bounds",
        0 < len(snapshot) <= limits.SOURCE_BYTES_MAX,
        f"{len(snapshot)} bytes",
        f"1 to {limits.SOURCE_BYTES_MAX} bytes",
    )
    try:
        text = snapshot.decode("utf-8")
    except UnicodeDecodeError as problem:
        line = snapshot[: problem.start].count(b"\n") + 1
        return size, holds("snapshot_is_utf8", False, f"byte {problem.start}, line {line}", "UTF-8 throughout")
    bad = first_line_not_nfc(text)
    nfc = holds("snapshot_is_nfc", bad is None, f"line {bad}" if bad else "NFC", f"NFC: `{command} --normalise nfc`")
    return size, holds("snapshot_is_utf8", True, "UTF-8", "UTF-8 throughout"), nfc


def first_line_not_nfc(text: str) -> int | None:
    """Number of the first line that is not in Unicode's NFC, or None."""
    if unicodedata.is_normalized("NFC", text):
        return None
    for number, line in enumerate(text.split("\n"), 1):
        if not unicodedata.is_normalized("NFC", line):
            return number
    return 1


def _not_enacted(enacted_version_id: str | None, version_id: str) -> Invariant:
    return holds(
        "document_not_enacted",
        enacted_version_id in (None, version_id),
        "STOP_DOCUMENT_ENACTED: another version is enacted" if enacted_version_id else "no version is enacted",
        "no enacted version: superseding is not built",
    )
