"""Pure: IG_source_pin: the document's row, its latest version and the manifest digest (seed 000 §4)."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from datetime import date

from cutter import limits
from cutter.domain.digests import canonical_digest, sha256_hex
from cutter.gates.report import GateReport, Invariant, equal, holds

GATE = "IG_source_pin"

TEXT, CORRECTION, REPEAL = "text", "correction", "repeal"
"""The change that a registered version makes: a new text, an erratum or a better cut, or the empty text."""


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
    change_kind: str = TEXT
    change_reason: str | None = None
    effective_from: date | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Base:
    """The law in force that a later version changes: its enactment and the day from which it holds."""

    run_id: str
    source_version_id: str
    receipt_hash: str
    effective_from: date


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """The rows that were read: the document, its latest version and snapshot. None if there is none."""

    document_id: str
    source_document_id: str | None
    docprefix: str | None
    registered_uri: str | None
    requested_uri: str | None
    version: SourceVersion | None
    snapshot: bytes
    base: Base | None
    today: date


def manifest_digest(document_id: str, version: SourceVersion) -> str:
    """Digest of the manifest's content, not of its file bytes (spec 04 "Words")."""
    change = {
        "change_kind": None if version.change_kind == TEXT else version.change_kind,
        "change_reason": version.change_reason,
        "effective_from": version.effective_from and version.effective_from.isoformat(),
    }
    return canonical_digest(
        {
            "document_id": document_id,
            "source_version_id": version.id,
            "content_sha256": version.content_checksum,
            "size": version.size_bytes,
            "format": version.source_format,
            "profile_id": version.profile_id,
            "profile_sha256": version.profile_sha256,
            # Left out where they say nothing, so that a plain first version has the digest that it always had.
            **{name: value for name, value in change.items() if value is not None},
        }
    )


def evaluate(evidence: Evidence) -> GateReport:
    """Refuses unless all of these hold (seed 000 §4, in its words where it has them):

    - source_document_exists: source_document row exists
    - source_version_exists: latest source_version row exists
    - manifest_digest_matches: recomputed, it matches source_version.manifest_digest if pinned; if not, it is recorded
    - snapshot_matches_checksum, source_uri_matches: the bytes and the source are the registered ones (ours)
    - snapshot_size_in_bounds, snapshot_is_utf8, snapshot_is_nfc: the text can be cut (ours)
    - change_has_its_base: a correction and a repeal have an enacted law to change (ours)
    - takes_effect_in_order: it takes effect on the day of the law in force or later (ours)
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
            *_text(evidence.snapshot, command, empty=version.change_kind == REPEAL),
            holds(
                "change_has_its_base",
                evidence.base is not None or version.change_kind == TEXT,
                f"{version.change_kind} of {evidence.base.run_id if evidence.base else 'no enacted law'}",
                "an enacted law, or a new text",
            ),
            _in_order(version, evidence.base, evidence.today),
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
            **_base_pins(version, evidence.base),
        },
    )


def _text(snapshot: bytes, command: str, *, empty: bool) -> tuple[Invariant, ...]:
    size = holds(
        "snapshot_size_in_bounds",
        not snapshot if empty else 0 < len(snapshot) <= limits.SOURCE_BYTES_MAX,
        f"{len(snapshot)} bytes",
        "no byte, because it is a repeal" if empty else f"1 to {limits.SOURCE_BYTES_MAX} bytes",
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
    """The number of the first line that is not in Unicode's NFC, or None."""
    if unicodedata.is_normalized("NFC", text):
        return None
    for number, line in enumerate(text.split("\n"), 1):
        if not unicodedata.is_normalized("NFC", line):
            return number
    return 1


def operation_of(version: SourceVersion, base: Base | None) -> str:
    """The operation of a run of this version: a first cut without a base, else what the version asks for."""
    if base is None:
        return "first_cut"
    return "revision" if version.change_kind == TEXT else version.change_kind


def _base_pins(version: SourceVersion, base: Base | None) -> dict[str, str]:
    """The pins about the law in force that later gates and the signatures use. Empty for a first cut."""
    if base is None:
        return {}
    return {
        "operation_kind": operation_of(version, base),
        "base_run_id": base.run_id,
        "base_source_version_id": base.source_version_id,
        "base_receipt_hash": base.receipt_hash,
    }


def _in_order(version: SourceVersion, base: Base | None, today: date) -> Invariant:
    """A law without a date takes effect on the day of its enactment, which is today at the earliest."""
    wanted = version.effective_from or today
    earliest = base.effective_from if base and version.change_kind != CORRECTION else None
    return holds(
        "takes_effect_in_order",
        earliest is None or earliest <= wanted,
        wanted.isoformat(),
        "any day" if earliest is None else f"{earliest.isoformat()} or later: the law in force begins then",
    )
