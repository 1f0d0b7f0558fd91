"""IO: the evidence bundle of a closeout. It is built and stored while the gate is open, and signed after the gate has
closed (seed 003 §8).

The bundle holds receipts 1 to 10 and the audit chain up to the head that the closeout seals. The closeout's receipt and
its report name the bundle by its sha256. If an attempt is not sealed, its bundle remains in the store, but nothing
names it.
"""

from __future__ import annotations

from contextlib import suppress

import structlog

from activities import effects, permission
from activities.permission import Context
from activities.worker.dependencies import Deps
from cutter.domain.amounts import counted
from cutter.domain.digests import sha256_hex
from cutter.domain.frozen_history import FrozenHistory
from cutter.domain.run_record import RunSidecar
from cutter.errors import Conflict, InvalidInput, NotFound, Refused, Unavailable
from cutter.evidence import bundle, offline
from cutter.evidence.bundle import Bundle, Signed
from cutter.gates.closeout import GATE
from cutter.gpg import find_binary
from cutter.kb.ids import signature_of
from cutter.policy.rules import EffectPolicy, InvalidPolicy
from cutter.projections.state_file import render_transitions
from cutter.storage import policies
from cutter.storage.gate_transaction import OpenGate
from cutter.types import Json

log = structlog.get_logger()


def gathered(deps: Deps, facts: Json) -> Signed:
    """All signed statements of the run with their signatures. Raises Unavailable if a used one is unavailable."""
    signed = bundle.gathered(facts, deps.kb, deps.settings.approvers)
    if signed.missing:
        raise Unavailable(f"what was signed is not there any more: {signed.missing[0]}: put it back", what="kb")
    return signed


def store(
    deps: Deps,
    opened: OpenGate,
    facts: Json,
    signed: Signed,
    sidecar: RunSidecar,
    history: FrozenHistory | None,
) -> tuple[Bundle, str, tuple[str, ...]]:
    """Build a run's bundle, check it as an auditor would, and store it. Returns it, the sha256 of the stored file, and
    what an approver accepted although the check failed.

    The effect policy is the one that was read with the gate's opening.
    Raises PolicyDenied, Refused if the bundle does not hold, and Unavailable if the store is unavailable or holds
    another object under the bundle's name.
    """
    made = bundle.built(facts, signed, render_transitions(sidecar), history.as_json() if history else None)
    accepted = _accepted_defects(made, signed, facts)
    artifacts = bundle.artifacts(deps.settings.artifacts)
    try:
        context, policy = permission.of_attempt(opened.attempt), policies.read(opened.row(policies.TEXT))
        effects.store_evidence(deps, context, artifacts, made.artifact_id, made.data, policy)
        stored_sha256 = sha256_hex(artifacts.get(made.artifact_id))
        if stored_sha256 != made.sha256:
            raise Conflict(f"{made.artifact_id} holds other bytes")
    except (Conflict, InvalidInput, NotFound) as problem:
        # The error is Unavailable and not a failure, because otherwise a person who can write to the store could fail
        # the run after its law is enacted.
        raise Unavailable(f"{problem}: move the other object away", what="artifacts") from None
    return made, stored_sha256, accepted


def _accepted_defects(made: Bundle, signed: Signed, facts: Json) -> tuple[str, ...]:
    """What the offline check of the bundle finds, if an approver resumed the run after the closeout had stopped for it.

    Otherwise a failure raises an error that names what a person can give. Enacted law cannot be voided, so a run whose
    evidence cannot be mended ends only by this signature.
    """
    checked = offline.check(made.data, gpg=find_binary())
    failures = [f"{what}: {why}" for what, verdict, why in checked if verdict == offline.FAILED]
    if not failures:
        return ()
    if any(offline.NO_ANSWER in failure for failure in failures):
        raise Unavailable(failures[0], what="gpg")
    if signed.read_again:
        raise Unavailable(f"what was signed is not there any more: put it back: {failures[0]}", what="kb")
    known_as = sha256_hex("\n".join(failures).encode())[:16]
    approver = _accepted_by(made, facts, known_as)
    if approver is not None:
        return (f"the evidence does not hold, and {approver} signed that the run closes nevertheless", *failures)
    step = f"cutter approve {facts['run']['document_id']} --decision resume --reason TEXT"
    raise Refused(
        f"the evidence does not hold ({counted(len(failures), 'failed check')}, {known_as}): if the run may close"
        f" nevertheless, type `{step}`: {failures[0]}",
        code="STOP_EVIDENCE_UNSOUND",
    ).leads_to(step)


def _accepted_by(made: Bundle, facts: Json, failures: str) -> str | None:
    """The approver who resumed the run after the closeout had last stopped for exactly these failures.

    The bundle has only the orders that people signed.
    """
    checked = offline.Bundle(made.data)
    approvers = {row["approval_sha256"]: row["approver"] for row in checked.accepted if row["decision"] == "resume"}
    attempts = [row for row in facts["attempts"] if row["gate"] == GATE and row["finished_at"]]
    for order in facts["orders"]:
        before = [row for row in attempts if row["finished_at"] < order["consumed_at"]]
        if order["statement_sha256"] in approvers and order["stopped_state"] == offline.PARDONS[-1] and before:
            last = max(before, key=lambda row: str(row["finished_at"]))
            signed = offline.statement(checked.members[f"signed/{order['statement_sha256']}.md"])
            # A statement has whole seconds. One that was signed before the closeout stopped is about another stop.
            if failures in str(last["reason"]) and signed["signed_utc"][:19] >= last["finished_at"][:19]:
                return str(approvers[order["statement_sha256"]])
    return None


def sign(deps: Deps, context: Context, policy: EffectPolicy | InvalidPolicy, artifact_id: str) -> None:
    """Store the worker's own signature of a bundle, once, if its key home has a private key."""
    artifacts, name = bundle.artifacts(deps.settings.artifacts), signature_of(artifact_id)
    if artifacts.exists(name):
        return
    try:
        signer = deps.signer()
    except Unavailable as problem:
        log.info("evidence.unsigned", artifact=artifact_id, reason=str(problem))
        return
    with suppress(Conflict):  # another attempt has already stored a signature, and one is enough
        signature = signer.gpg.sign_detached(artifacts.get(artifact_id), signer.fingerprint)
        effects.store_evidence(deps, context, artifacts, name, signature, policy)
