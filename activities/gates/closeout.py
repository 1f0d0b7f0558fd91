"""IO: IG_closeout: checks everything that the run should have left, and makes its evidence bundle (seed 003 §8).

The bundle holds receipts 1 to 10 and the audit chain up to the head that the closeout seals. The closeout's receipt and
its report name the bundle by its sha256. If an attempt is not sealed, its bundle remains in the store, but nothing
names it. The bundle is signed after the gate has closed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import LiteralString, TypeVar

import structlog

from activities import effects, permission
from activities.gates.runner import GatePassed, GateRefused, run_gate
from activities.outbox import can_be_put, publish
from activities.permission import Context
from activities.worker.dependencies import Deps
from cutter.catalogue import BY_NAME, Role
from cutter.domain.amounts import counted
from cutter.domain.digests import chain, sha256_hex
from cutter.domain.run_record import FrozenHistory, PinnedCounts, Receipt, RunSidecar
from cutter.errors import Conflict, InvalidInput, NotFound, Refused, Unavailable
from cutter.evidence import bundle, offline
from cutter.evidence.bundle import Bundle, Signed
from cutter.gates import closeout as gate
from cutter.gates.closeout import GATE
from cutter.gpg import find_binary
from cutter.kb.ids import signature_of
from cutter.messages import GateInput, GateOutcome
from cutter.policy.rules import EffectPolicy, InvalidPolicy, Permit
from cutter.projections import run_folder, state_file
from cutter.projections.state_file import render_transitions
from cutter.storage import policies
from cutter.storage.gate_transaction import Attempt, OpenGate, Read
from cutter.storage.pools import single
from cutter.storage.run_evidence import BOTH, EVIDENCE, SIDECAR
from cutter.types import Json

T = TypeVar("T")


def closeout(deps: Deps, input: GateInput) -> GateOutcome:
    """Check documents, units, receipts, approvals and the audit chain, store the evidence, and close the run."""
    history: list[FrozenHistory] = []
    read: list[_Fetched] = []

    def prepare(attempt: Attempt, _permit: Permit) -> tuple[()] | GateRefused:
        try:
            publish(deps, Role.READ, attempt.run_id)
        except (Conflict, InvalidInput) as problem:
            raise Unavailable(f"{problem}: move the other object away", what="kb") from None
        frozen = deps.history()
        if frozen is not None and frozen.workflow_id != f"document/{attempt.run.document_id}":
            # The database would let any workflow close a run that is due. But the evidence would then seal the history
            # of a wrong workflow.
            return GateRefused(status="out_of_order", code="foreign_workflow", reason="another workflow asks")
        history.extend([frozen] if frozen else [])
        read.append(_fetched(deps, attempt.run_id))
        return ()

    def body(opened: OpenGate) -> GatePassed | GateRefused:
        sidecar = _known(opened.row(SIDECAR), input.run_id)
        facts = _known(opened.row(EVIDENCE), input.run_id)
        documents = read[0].documents_of(input.run_id, sidecar)
        frozen = history[0] if history else None
        made, stored_sha256, accepted = store(deps, opened, facts, read[0].signed_of(facts), sidecar, frozen)
        evidence = gate.Evidence(
            documents=documents,
            units_enacted=opened.attempt.pins["units_enacted"],
            units_planned=PinnedCounts.of(opened.attempt.pins).begun,
            receipts_sealed=len(sidecar.receipts),
            approvals_consumed=frozenset(used.gate for used in sidecar.consumptions),
            audit_head=made.head,
            chain_intact=chain_intact(facts["events"], input.run_id),
            bundle_id=made.artifact_id,
            bundle_sha256=made.sha256,
            bundle_found_sha256=stored_sha256,
            history_sha256=frozen.sha256 if frozen else None,
        )
        report = replace(gate.evaluate(evidence), notes=accepted)
        return GatePassed(report=report, extra={"history": frozen.as_json() if frozen else None})

    outcome = run_gate(deps, BY_NAME[gate.GATE], input, body, prepare=prepare, reads=_reads)
    if outcome.status == "passed":
        _finish(deps, input.run_id)
    return outcome


@dataclass(frozen=True, slots=True, kw_only=True)
class _Fetched:
    """The objects that were read from the stores before the transaction, because a slow store would exceed the
    transaction's idle timeout.

    `found` maps a KB id to a sha256, if something has that name. A document that was written only a moment ago is
    missing here; the next attempt reads it.
    """

    found: Mapping[str, str]
    facts: Json
    signed: Signed

    def documents_of(self, run_id: str, sidecar: RunSidecar) -> tuple[gate.KbDocument, ...]:
        """The documents that the database lists now. Raises Unavailable while a stored one differs from its record."""
        rendered = {
            receipt.gate: sha256_hex(state_file.render_gate(sidecar.run, receipt)) for receipt in sidecar.receipts
        }
        documents = tuple(
            gate.KbDocument(
                kb_id=document.kb_id, kind=document.kind, subject=document.subject, recorded_sha256=document.sha256,
                found_sha256=self.found.get(document.kb_id),
                rendered_sha256=rendered.get(document.subject) if document.kind == "gate_report" else None,
            )
            for document in sidecar.documents
            if can_be_put(document, sidecar)
        )  # fmt: skip
        wanted = gate.put_back(run_id, documents)
        if wanted is not None:
            raise Unavailable(wanted, what="kb")
        return documents

    def signed_of(self, facts: Json) -> Signed:
        """The signed statements. Raises Unavailable if somebody signed another one meanwhile."""
        before, now = ([row for row in read["verdicts"] if row["accepted"]] for read in (self.facts, facts))
        if now != before:
            raise Unavailable("a statement was signed a moment ago: the next attempt reads it", what="kb")
        return self.signed


def _fetched(deps: Deps, run_id: str) -> _Fetched:
    with single(deps.pool(Role.READ)) as connection:
        read = BOTH.one(connection, {"run_id": run_id})
    facts, sidecar = _known(read.evidence, run_id), _known(read.sidecar, run_id)
    digests = {}
    for document in sidecar.documents:
        if can_be_put(document, sidecar):
            with suppress(NotFound, InvalidInput):
                digests[document.kb_id] = sha256_hex(deps.kb.get(document.kb_id))
    return _Fetched(found=digests, facts=facts, signed=gathered(deps, facts))


def _reads(attempt: Attempt) -> list[Read]:
    run = {"run_id": attempt.run_id}
    return [(SIDECAR, run), (EVIDENCE, run), (policies.TEXT, {})]


def _known(row: T | None, run_id: str) -> T:
    if row is None:
        raise NotFound(f"no run {run_id}: see", then="cutter status", code="STOP_RUN_NOT_FOUND")
    return row


def chain_intact(events: Sequence[Json], chain_name: str) -> bool:
    """Recompute the audit chain of a run from its stored events."""
    head = sha256_hex(chain_name)
    for event in events:
        if event["prev_hash"] != head or chain(head, str(event["body"])) != event["hash"]:
            return False
        head = str(event["hash"])
    return bool(events)


def _finish(deps: Deps, run_id: str) -> None:
    """After COMMIT: sign the bundle, write the runs index, and read back the index, state.json and the outbox."""
    with single(deps.pool(Role.READ)) as connection, connection.pipeline():
        closed, text = SIDECAR.sent(connection, {"run_id": run_id}), policies.TEXT.sent(connection)
    sidecar, policy = _known(next(iter(closed), None), run_id), policies.of(text)
    kb_id, line = index_entry(sidecar)
    closing, pins = _closing(sidecar), sidecar.pins
    context = permission.of_run(sidecar.run, pins, closing.sealed_at, gate.GATE)
    done = effects.put_free(deps, context, kb_id, line, policy)
    sign(deps, context, policy, pins["evidence_artifact"])
    stored = effects.receipt_of_evidence(context, pins["evidence_artifact"], pins["evidence_sha256"], closing)
    try:
        _record(deps, effects.receipt_of_put(context, done, "runs_index"), stored)
    except Conflict:
        # A holder of cutter_read's password has recorded other bytes under the name of the line.
        done = effects.put_by_digest(deps, done)
        _record(deps, effects.receipt_of_put(context, done, "runs_index"), stored)
    state = run_folder.read_state(deps.settings.runs, run_id)
    report = gate.finished(
        gate.Finish(
            run_id=run_id,
            sidecar_run_id=state.get("run_id"),
            sidecar_status=state.get("status"),
            index_line=line,
            index_line_found=deps.kb.get(done.kb_id),
            documents_waiting=sum(
                document.sha256 is None and can_be_put(document, sidecar) for document in sidecar.documents
            ),
        )
    )
    if not report.passed:
        what = "run_folder" if report.violations[0].name == "sidecar_finalized" else "kb"
        raise Unavailable(f"the run is closed, but {report.reason()}", what=what)


def index_entry(sidecar: RunSidecar) -> tuple[str, bytes]:
    """(KB id, bytes) of a closed run's line in the runs index, the same at every try."""
    run = sidecar.run
    receipt = _closing(sidecar)
    line = gate.index_line(
        run_id=run.run_id,
        document_id=run.document_id,
        audit_head=receipt.pins["audit_head"],
        sealed_utc=receipt.sealed_at,
    )
    return gate.index_id(run.run_id), line


def _record(deps: Deps, *receipts: tuple[LiteralString, Json]) -> None:
    with single(deps.pool(Role.READ)) as connection, connection.pipeline():
        for statement, parameters in receipts:
            connection.execute(statement, parameters)


def _closing(sidecar: RunSidecar) -> Receipt:
    return next(receipt for receipt in sidecar.receipts if receipt.gate == gate.GATE)


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
    """The failed checks of the bundle, if an approver resumed the run after the closeout had stopped for them.
    Otherwise raises what a person can give: enacted law cannot be voided, so only this signature ends such a run.
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
    """The approver who resumed the run after the closeout had last stopped for exactly these failures."""
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
