"""IO: IG_write_verify: another principal, key, role and connection re-derives everything from the stored rows."""

from __future__ import annotations

from typing import Any

from activities.gates.leg_b_record import signature_payload
from activities.gates.pinned_source import mark_pinned, pinned_in
from activities.gates.runner import Passed, Refusal, run_gate
from activities.gates.structural_verify import structural_evidence, structural_reads
from activities.worker.dependencies import Deps
from cutter.catalogue import BY_NAME, Role
from cutter.domain import ids
from cutter.domain.digests import sha256_hex
from cutter.errors import ProgrammingError, Unavailable
from cutter.gates import structural_verify
from cutter.gates import write_verify as gate
from cutter.gpg import Gpg
from cutter.gpg_status import Outcome
from cutter.marking import MarkRefusal, rebuild_digest_reversed
from cutter.messages import GateInput, GateOutcome
from cutter.storage.gate_transaction import Attempt, Open, Read, Row
from cutter.storage.queries import query
from cutter.types import Json

CHANGE_SET = "change_set_to_verify"


def write_verify(deps: Deps, input: GateInput) -> GateOutcome:
    """Check the executor's signature, rebuild, and record one verify_result with the verifier's own signature."""

    def body(opened: Open) -> Passed | Refusal:
        pins = opened.attempt.pins
        row = opened.row(CHANGE_SET)
        if row is None:
            return Refusal(status="failed", code="change_set_missing", reason="leg B left no change set")
        signer = deps.signer()
        evidence = gate.Evidence(
            principal=opened.principal,
            holds_executor_dsn=(deps.settings.secrets / f"{Role.EXEC.value}.password").exists(),
            executor_signature_good=executor_signed(signer.gpg, row, pins),
            executor_fingerprint=str(row[10]),
            verifier_fingerprint=signer.fingerprint,
            executor_tool_revision=str(row[5]),
            verifier_tool_revision=deps.tool_revision,
            structural=structural_verify.eleven(structural_evidence(deps, opened)),
            rebuilt_writer_digest=_rebuild(deps, opened),
            stored_writer_digest=str(row[13]),
            pinned_writer_digest=pins["writer_digest"],
            affected_rows=int(str(row[11])),
            units=pins["candidate_count"],
            results_before=int(str(row[12])),
        )
        if not all(item.ok for item in gate.checks(evidence)):
            return Passed(report=gate.evaluate(evidence, gate.NOTHING))
        recorded, extra = _record(deps, opened, row)
        return Passed(report=gate.evaluate(evidence, recorded), extra=extra)

    return run_gate(deps, BY_NAME[gate.GATE], input, body, reads=_reads)


def _reads(attempt: Attempt) -> list[Read]:
    change_set = {"run_id": attempt.run_id, "docprefix": attempt.pins.get("docprefix")}
    return [(CHANGE_SET, change_set), *structural_reads(attempt)]


def executor_signed(gpg: Gpg, row: tuple[Any, ...], pins: Json) -> bool:
    """True when the stored signature is the executor key's, over exactly the payload that this change set must have."""
    payload = signature_payload(str(row[0]), pins["writer_digest"], pins["candidate_count"], str(row[5]))
    if payload != str(row[7]) or sha256_hex(payload) != str(row[8]):
        return False
    evidence = gpg.verify_detached(payload.encode(), str(row[9]).encode())
    if evidence.unverifiable:
        raise Unavailable(f"the executor's signature could not be checked: {evidence.unverifiable}", what="gpg")
    known = set(gpg.primary_fingerprints()) - set(gpg.primary_fingerprints(secret=True))
    signers = [one.primary_fingerprint for one in evidence.records if one.outcomes == (Outcome.GOOD,)]
    return len(evidence.records) == 1 and signers == [str(row[10])] and signers[0] in known


def _rebuild(deps: Deps, opened: Open) -> str:
    pins = opened.attempt.pins
    pinned = pinned_in(opened)
    marking = mark_pinned(pinned, pins["docprefix"], deps.settings.max_candidates, fresh=True)
    if isinstance(marking, MarkRefusal):
        raise ProgrammingError("a text that was cut is refused by the verifier's rebuild")
    return rebuild_digest_reversed(pinned.data, marking, docprefix=pins["docprefix"])


def _record(deps: Deps, opened: Open, row: Row) -> tuple[gate.Recorded, Json]:
    """The verdict, its signature, and then their count, in one round trip."""
    run_id, pins, connection = opened.attempt.run_id, opened.attempt.pins, opened.connection
    result_id, signature_id = (str(ids.derived(run_id, role)) for role in ("verify_result", "verifier_signature"))
    signer = deps.signer()
    payload = signature_payload(result_id, pins["writer_digest"], pins["candidate_count"], deps.tool_revision)
    values = {
        "verify_result_id": result_id,
        "signature_id": signature_id,
        "change_set_id": row[0],
        "manifest_id": row[1],
        "review_decision_id": row[2],
        "manifest_version": row[3],
        "executor_signature_id": row[4],
        "executor_tool_revision": row[5],
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
        counted = connection.execute(query("verify_rows"), values)
    results, this_result, signatures = (int(str(number)) for number in counted.fetchone() or (0, 0, 0))
    recorded = gate.Recorded(results=results, this_result=this_result, verifier_signatures=signatures)
    return recorded, {"verify_result_id": result_id, "verifier_signature_id": signature_id}
