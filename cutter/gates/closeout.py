"""Pure: IG_closeout: everything that the run should have left is there (seed 000 §4)."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

from cutter.catalogue import GATES, Sovereign, State
from cutter.gates.report import GateReport, equal, holds

GATE = "IG_closeout"

EXPECTED = frozenset(
    {("gate_report", gate.name) for gate in GATES[:-1]} | {("request", sovereign.value) for sovereign in Sovereign}
)
"""(kind, subject) of the documents of a whole run. The closeout's own report is put after its COMMIT."""

RECEIPTS = len(GATES) - 1
INDEX_FOLDER = "knowledge/dev/runs-index"
SUCCESS = "success"
NAMED_MAX = 3
"""Documents that a reason names: it is cut to 300 characters on its way."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KbDocument:
    """A document of the run: its recorded sha256 (None when it was never put) and its present sha256 in the KB.

    `rendered_sha256` is that of a gate's report made from its sealed receipt: a role's word about its own report, which
    `recorded_sha256` is, does not outweigh it.
    """

    kb_id: str
    kind: str
    subject: str
    recorded_sha256: str | None
    found_sha256: str | None
    rendered_sha256: str | None = None

    @property
    def wrong(self) -> str | None:
        """The problem with this document in words for people. None if it is in the knowledge base as recorded."""
        if self.recorded_sha256 is None:
            return "not put yet"
        if self.found_sha256 is None:
            return "gone"
        return None if self.found_sha256 in (self.recorded_sha256, self.rendered_sha256) else "altered"


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """The run's documents, its units, its receipts and approvals (sovereign gates whose approval was consumed).

    `bundle_*`: the evidence bundle's name in the artifact store, its sha256 as built and as read back; `history_sha256`
    of Temporal's history, None where no engine ran the gate.
    """

    documents: tuple[KbDocument, ...]
    units_enacted: int
    units_planned: int
    receipts_sealed: int
    approvals_consumed: frozenset[str]
    audit_head: str
    chain_intact: bool
    bundle_id: str
    bundle_sha256: str
    bundle_found_sha256: str
    history_sha256: str | None


def evaluate(evidence: Evidence) -> GateReport:
    """Refuses unless all of these hold (seed 000 §4, in its words where it has them):

    - kb_documents_uploaded: all KB docs for this run uploaded, with the sha256 recorded when they were written
    - units_enacted, receipts_sealed, approvals_consumed, audit_chain_intact: none of them is incomplete (ours)
    - evidence_bundle_sealed: the bundle is in the artifact store as it was built (ours; seed 003 §8)

    Conditions that can be true only after COMMIT are in `finished`.
    """
    wrong = [doc.kb_id for doc in evidence.documents if doc.wrong]
    missing = EXPECTED - {(doc.kind, doc.subject) for doc in evidence.documents}
    return GateReport(
        gate=GATE,
        invariants=(
            holds(
                "kb_documents_uploaded",
                not wrong and not missing,
                ", ".join([*wrong[:NAMED_MAX], *sorted(f"no {kind} of {subject}" for kind, subject in missing)])
                or f"{len(evidence.documents)} documents",
                f"{len(EXPECTED)} documents and what else was written, with the recorded sha256",
            ),
            equal("units_enacted", evidence.units_enacted, evidence.units_planned),
            equal("receipts_sealed", evidence.receipts_sealed, RECEIPTS),
            equal(
                "approvals_consumed",
                sorted(evidence.approvals_consumed),
                sorted(sovereign.value for sovereign in Sovereign),
            ),
            holds("audit_chain_intact", evidence.chain_intact, evidence.audit_head, "an unbroken chain"),
            holds(
                "evidence_bundle_sealed",
                bool(evidence.bundle_sha256) and evidence.bundle_found_sha256 == evidence.bundle_sha256,
                evidence.bundle_found_sha256 or "no bundle",
                evidence.bundle_sha256,
            ),
        ),
        pins={
            "audit_head": evidence.audit_head,
            "documents": len(evidence.documents),
            "evidence_artifact": evidence.bundle_id,
            "evidence_sha256": evidence.bundle_sha256,
            **({"history_sha256": evidence.history_sha256} if evidence.history_sha256 else {}),
        },
    )


def put_back(run_id: str, documents: Sequence[KbDocument]) -> str | None:
    """The remedy for documents that are not as recorded, or None. The law is already enacted, so the run waits for them
    and does not fail.
    """
    wrong = [f"{doc.wrong}: {doc.kb_id}" for doc in documents if doc.wrong]
    if not wrong:
        return None
    return (
        f"{len(wrong)} of the run's documents are not as recorded: move away altered ones, then `cutter rebuild "
        f"{run_id}`; {', '.join(wrong[:NAMED_MAX])}"
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Finish:
    """The state that was read back after COMMIT: state.json, the runs index, and the documents that still wait."""

    run_id: str
    sidecar_run_id: str | None
    sidecar_status: str | None
    index_line: bytes
    index_line_found: bytes | None
    documents_waiting: int


def finished(evidence: Finish) -> GateReport:
    """After COMMIT (seed 000 §4): the law is already enacted, so a false condition is tried again and never fails.

    - kb_documents_complete: all KB docs for this run uploaded, the closeout's own report too
    - sidecar_finalized: sidecar finalized (status: success)
    - run_id_in_runs_index: run_id appended to the global runs index (one line a run, KB-tracked)
    """
    return GateReport(
        gate=GATE,
        invariants=(
            equal("kb_documents_complete", evidence.documents_waiting, 0),
            equal(
                "sidecar_finalized",
                (evidence.sidecar_run_id, evidence.sidecar_status),
                (evidence.run_id, SUCCESS),
            ),
            holds(
                "run_id_in_runs_index",
                bool(evidence.index_line) and evidence.index_line_found == evidence.index_line,
                "another line" if evidence.index_line_found else "no line",
                "its line",
            ),
        ),
    )


def index_id(run_id: str) -> str:
    """KB id of a run's line in the runs index: an object of its own, since a write-once store cannot append."""
    return f"{INDEX_FOLDER}/{run_id}.md"


def index_line(*, run_id: str, document_id: str, audit_head: str, sealed_utc: str) -> bytes:
    """The run's line: run_id, document_id, state, head hash, date of the closeout (facts-domain "runs-index line")."""
    line = {
        "run_id": run_id,
        "document_id": document_id,
        "state": State.CLOSEOUT_REPORTED.value,
        "head": audit_head,
        "date": sealed_utc[:10],
    }
    return (json.dumps(line, sort_keys=True) + "\n").encode()
