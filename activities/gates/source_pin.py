"""IO: IG_source_pin: reads the registered source. Only a person registers a source."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date

from activities.gates.runner import GatePassed, GateRefused, run_gate
from activities.worker.dependencies import Deps
from cutter.catalogue import BY_NAME
from cutter.gates import source_pin as gate
from cutter.messages import GateInput, GateOutcome
from cutter.storage.gate_transaction import OpenGate
from cutter.storage.records import records


@dataclass(frozen=True, slots=True, kw_only=True)
class Registered:
    """A registered document with its newest version and its bytes, the law in force, and the database's day."""

    source_document_id: str
    docprefix: str
    registered_uri: str | None
    version_id: str | None
    content_checksum: str
    size_bytes: int
    source_format: str
    profile_id: str
    profile_sha256: str
    manifest_digest: str
    snapshot: bytes
    change_kind: str
    change_reason: str | None
    effective_from: date | None
    base_run_id: str | None
    base_source_version_id: str
    base_receipt_hash: str
    base_effective_from: date
    today: date


SOURCE = records("source_of_document", Registered)


def source_pin(deps: Deps, input: GateInput) -> GateOutcome:
    """Pin the document's newest version. If that version is enacted already, the run is skipped."""

    def body(opened: OpenGate) -> GatePassed | GateRefused:
        document_id = opened.attempt.run.document_id
        source = opened.row(SOURCE)
        if source is None:
            evidence = gate.Evidence(
                document_id=document_id, source_document_id=None, docprefix=None, registered_uri=None,
                requested_uri=input.source_uri, version=None, snapshot=b"", base=None, today=date.min,
            )  # fmt: skip
            reason = gate.evaluate(evidence).reason()
            return GateRefused(status="failed", code="STOP_DOCUMENT_UNKNOWN", reason=reason)
        version: gate.SourceVersion | None = None
        if source.version_id is not None:
            version = gate.SourceVersion(
                id=source.version_id, content_checksum=source.content_checksum, size_bytes=source.size_bytes,
                source_format=source.source_format, profile_id=source.profile_id,
                profile_sha256=source.profile_sha256, manifest_digest=source.manifest_digest,
                change_kind=source.change_kind, change_reason=source.change_reason,
                effective_from=source.effective_from,
            )  # fmt: skip
        base: gate.Base | None = None
        if source.base_run_id is not None:
            base = gate.Base(
                run_id=source.base_run_id, source_version_id=source.base_source_version_id,
                receipt_hash=source.base_receipt_hash, effective_from=source.base_effective_from,
            )  # fmt: skip
        if version and base and base.source_version_id == version.id:
            reason = f"{document_id}: this version is already enacted"
            return GateRefused(status="skipped", code="already_enacted", reason=reason)
        evidence = gate.Evidence(
            document_id=document_id, source_document_id=source.source_document_id, docprefix=source.docprefix,
            registered_uri=source.registered_uri, requested_uri=input.source_uri, version=version,
            snapshot=source.snapshot, base=base, today=source.today,
        )  # fmt: skip
        return GatePassed(report=gate.evaluate(evidence))

    return run_gate(
        deps, BY_NAME[gate.GATE], input, body,
        reads=lambda attempt: [(SOURCE, {"document_id": attempt.run.document_id})],
    )  # fmt: skip
