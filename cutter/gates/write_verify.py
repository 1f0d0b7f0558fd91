"""Pure: IG_write_verify: another principal re-derives everything (seed 000 §4)."""

from __future__ import annotations

from dataclasses import dataclass

from cutter.catalogue import Role
from cutter.gates.report import GateReport, Invariant, equal, holds

GATE = "IG_write_verify"

VERIFIER = Role.VERIFY.value
STRUCTURAL = 11
"""Booleans of the structural probe."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """The findings of the verifier, made with its own connection, key and rebuild before it wrote anything."""

    principal: str
    holds_executor_dsn: bool
    executor_signature_good: bool
    executor_fingerprint: str
    verifier_fingerprint: str
    executor_tool_revision: str
    verifier_tool_revision: str
    structural: tuple[Invariant, ...]
    rebuilt_writer_digest: str
    stored_writer_digest: str
    pinned_writer_digest: str
    affected_rows: int
    units: int
    results_before: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Recorded:
    """The rows after the write: results of the change set, this result, and its verifier signature."""

    results: int
    this_result: int
    verifier_signatures: int


NOTHING = Recorded(results=0, this_result=0, verifier_signatures=0)


def evaluate(evidence: Evidence, recorded: Recorded) -> GateReport:
    """Refuses unless `checks` hold and all of these (seed 000 §4):

    - verify_result_inserted: verify_result row inserted
    - verifier_signature_inserted: verifier dot_pair_signature row inserted
    - g_verify_once: only one verify_result per change_set_id
    """
    return GateReport(
        gate=GATE,
        invariants=(
            *checks(evidence),
            equal("verify_result_inserted", recorded.this_result, 1),
            equal("verifier_signature_inserted", recorded.verifier_signatures, 1),
            equal("g_verify_once", (evidence.results_before, recorded.results), (0, 1)),
        ),
    )


def checks(evidence: Evidence) -> tuple[Invariant, ...]:
    """What must hold before a verdict may be written (seed 000 §4, in its words where it has them):

    - verifier_principal: VerifyRecorder runs with the cutter_verify principal
    - executor_dsn_absent: this process cannot connect as the executor (ours)
    - executor_signature_verified: the executor's signature is good, and by the executor's key (ours)
    - principals_differ: two keys, two tool revisions (ours)
    - axis_1_round_trip: the eleven structural booleans, collected again (ours)
    - writer_digest_rebuilt, writer_digest_stored, affected_rows_match: everything derived again is equal (ours)
    """
    broken = [item.name for item in evidence.structural if not item.ok]
    return (
        equal("verifier_principal", evidence.principal, VERIFIER),
        holds("executor_dsn_absent", not evidence.holds_executor_dsn, evidence.holds_executor_dsn, False),
        holds(
            "executor_signature_verified",
            evidence.executor_signature_good and bool(evidence.executor_fingerprint),
            evidence.executor_fingerprint if evidence.executor_signature_good else "no good signature",
            "a good signature by the executor's key",
        ),
        holds(
            "principals_differ",
            evidence.executor_fingerprint != evidence.verifier_fingerprint
            and evidence.executor_tool_revision != evidence.verifier_tool_revision,
            f"{evidence.executor_tool_revision} / {evidence.verifier_tool_revision}",
            "two keys, two tool revisions",
        ),
        holds(
            "axis_1_round_trip",
            len(evidence.structural) == STRUCTURAL and not broken,
            ", ".join(broken) or f"{len(evidence.structural)} of {STRUCTURAL}",
            "eleven booleans true",
        ),
        equal("writer_digest_rebuilt", evidence.rebuilt_writer_digest, evidence.pinned_writer_digest),
        equal("writer_digest_stored", evidence.stored_writer_digest, evidence.pinned_writer_digest),
        equal("affected_rows_match", evidence.affected_rows, evidence.units),
    )
