"""IO: IG_write_verify: derives everything again from the stored rows, with another principal, key, role and
connection.
"""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

from activities.gates.cutplan import base_of, rebuilt_digest
from activities.gates.leg_b_record import signature_payload
from activities.gates.pinned_source import mark_pinned, pinned_in
from activities.gates.runner import GatePassed, GateRefused, run_gate
from activities.gates.structural_verify import structural_evidence, structural_reads
from activities.worker.dependencies import Deps
from cutter.catalogue import BY_NAME, Role
from cutter.domain import ids
from cutter.domain.digests import sha256_hex
from cutter.domain.run_record import PinnedCounts
from cutter.errors import ProgrammingError, Unavailable
from cutter.gates import structural_verify
from cutter.gates import write_verify as gate
from cutter.gpg import Gpg
from cutter.marking import MarkRefusal
from cutter.messages import GateInput, GateOutcome
from cutter.openpgp import Outcome
from cutter.storage.gate_transaction import OpenGate
from cutter.storage.law_texts import LAW
from cutter.storage.records import query, records, the_row
from cutter.types import Json


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeSet:
    """The stored, signed change set of a run, with the values that the verifier compares it with."""

    change_set_id: UUID
    manifest_id: UUID
    review_decision_id: UUID
    manifest_version: str
    executor_signature_id: UUID
    executor_tool_revision: str
    payload: str
    payload_hash: str
    signature: str
    signer_fingerprint: str
    affected_rows: int
    results_before: int
    stored_writer_digest: str


CHANGE_SET = records("change_set_to_verify", ChangeSet)
COUNTED = records("verify_rows", gate.Recorded)


def write_verify(deps: Deps, input: GateInput) -> GateOutcome:
    """Check the executor's signature, rebuild, and record one verify_result with the verifier's own signature."""

    def body(opened: OpenGate) -> GatePassed | GateRefused:
        pins = opened.attempt.pins
        stored = opened.row(CHANGE_SET)
        if stored is None:
            return GateRefused(status="failed", code="change_set_missing", reason="leg B left no change set")
        signer, pinned = deps.signer(), pinned_in(opened)
        marking = mark_pinned(pinned, pins["docprefix"], deps.settings.max_candidates, fresh=True)
        if isinstance(marking, MarkRefusal):
            raise ProgrammingError("the verifier's rebuild refuses a text that was cut")
        evidence = gate.Evidence(
            principal=opened.principal,
            holds_executor_dsn=(deps.settings.secrets / f"{Role.EXEC.value}.password").exists(),
            executor_signature_good=executor_signed(signer.gpg, stored, pins),
            executor_fingerprint=stored.signer_fingerprint,
            verifier_fingerprint=signer.fingerprint,
            executor_tool_revision=stored.executor_tool_revision,
            verifier_tool_revision=deps.tool_revision,
            structural=structural_verify.eleven(structural_evidence(deps, opened)),
            rebuilt_writer_digest=rebuilt_digest(pinned.data, marking, pins, base_of(pins, opened.rows(LAW))),
            stored_writer_digest=stored.stored_writer_digest,
            pinned_writer_digest=pins["writer_digest"],
            affected_rows=stored.affected_rows,
            units=PinnedCounts.of(pins).changing,
            results_before=stored.results_before,
        )
        if not all(item.ok for item in gate.checks(evidence)):
            return GatePassed(report=gate.evaluate(evidence, gate.NOTHING))
        recorded, extra = _record(deps, opened, stored)
        return GatePassed(report=gate.evaluate(evidence, recorded), extra=extra)

    return run_gate(
        deps, BY_NAME[gate.GATE], input, body,
        reads=lambda attempt: [(CHANGE_SET, {"run_id": attempt.run_id}), *structural_reads(attempt)],
    )  # fmt: skip


def executor_signed(gpg: Gpg, stored: ChangeSet, pins: Json) -> bool:
    """True if the executor's key made the stored signature over exactly the payload of this change set."""
    payload = signature_payload(
        str(stored.change_set_id), pins["writer_digest"], pins["candidate_count"], stored.executor_tool_revision
    )
    if payload != stored.payload or sha256_hex(payload) != stored.payload_hash:
        return False
    evidence = gpg.verify_detached(payload.encode(), stored.signature.encode())
    if evidence.unverifiable:
        raise Unavailable(f"the executor's signature could not be checked: {evidence.unverifiable}", what="gpg")
    known = set(gpg.primary_fingerprints()) - set(gpg.primary_fingerprints(secret=True))
    signers = [record.primary_fingerprint for record in evidence.records if record.outcomes == (Outcome.GOOD,)]
    return len(evidence.records) == 1 and signers == [stored.signer_fingerprint] and signers[0] in known


def _record(deps: Deps, opened: OpenGate, stored: ChangeSet) -> tuple[gate.Recorded, Json]:
    """Write the verdict and its signature, then count both, in one round trip."""
    run_id, pins, connection = opened.attempt.run_id, opened.attempt.pins, opened.connection
    result_id, signature_id = (str(ids.derived(run_id, role)) for role in ("verify_result", "verifier_signature"))
    signer = deps.signer()
    payload = signature_payload(result_id, pins["writer_digest"], pins["candidate_count"], deps.tool_revision)
    values = {
        "verify_result_id": result_id,
        "signature_id": signature_id,
        "change_set_id": stored.change_set_id,
        "manifest_id": stored.manifest_id,
        "review_decision_id": stored.review_decision_id,
        "manifest_version": stored.manifest_version,
        "executor_signature_id": stored.executor_signature_id,
        "executor_tool_revision": stored.executor_tool_revision,
        "tool_revision": deps.tool_revision,
        "actor": f"cutter_verify/DOT-992/{ids.slug(pins['docprefix'])}-verify",
        "fingerprint": signer.fingerprint,
        "payload": payload,
        "payload_hash": sha256_hex(payload),
        "signature": signer.gpg.sign_detached(payload.encode(), signer.fingerprint).decode(),
    }
    with connection.pipeline():
        connection.execute(query("verify_signature"), values)
        connection.execute(query("verify_result"), values)
        counted = COUNTED.sent(connection, values)
    return the_row(COUNTED.name, counted), {"verify_result_id": result_id, "verifier_signature_id": signature_id}
