"""IO: IG_source_pin: read the registered source; registering one is a person's act."""

from __future__ import annotations

from typing import Any

from activities.gates.runner import Passed, Refusal, run_gate
from activities.worker.dependencies import Deps
from cutter.catalogue import BY_NAME
from cutter.gates import source_pin as gate
from cutter.messages import GateInput, GateOutcome
from cutter.storage.gate_transaction import Open

SOURCE = "source_of_document"


def source_pin(deps: Deps, input: GateInput) -> GateOutcome:
    """Pin the document's latest version; an enacted version is skipped."""

    def body(opened: Open) -> Passed | Refusal:
        document_id = opened.attempt.run["document_id"]
        row = opened.row(SOURCE)
        evidence = _evidence(document_id, row, input.source_uri)
        version = evidence.version
        if version is not None and evidence.enacted_version_id == version.id:
            return Refusal(
                status="skipped", code="already_enacted", reason=f"{document_id}: this version is law already"
            )
        if row is None:
            report = gate.evaluate(evidence)
            return Refusal(status="failed", code="STOP_DOCUMENT_UNKNOWN", reason=report.reason())
        return Passed(report=gate.evaluate(evidence))

    return run_gate(
        deps, BY_NAME[gate.GATE], input, body,
        reads=lambda attempt: [(SOURCE, {"document_id": attempt.run["document_id"]})],
    )  # fmt: skip


def _evidence(document_id: str, row: tuple[Any, ...] | None, requested_uri: str | None) -> gate.Evidence:
    if row is None:
        return gate.Evidence(
            document_id=document_id, source_document_id=None, docprefix=None, registered_uri=None,
            requested_uri=requested_uri, version=None, snapshot=b"", enacted_version_id=None,
        )  # fmt: skip
    version = None
    if row[4] is not None:
        version = gate.SourceVersion(
            id=str(row[4]), content_checksum=row[5], size_bytes=row[6], source_format=row[7], profile_id=row[8],
            profile_sha256=row[9], manifest_digest=row[10],
        )  # fmt: skip
    return gate.Evidence(
        document_id=document_id, source_document_id=str(row[0]), docprefix=row[1], registered_uri=row[2],
        requested_uri=requested_uri, version=version, snapshot=bytes(row[11] or b""),
        enacted_version_id=str(row[12]) if row[12] else None,
    )  # fmt: skip
