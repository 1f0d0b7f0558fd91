"""IO: a person's own side of an approval: read the request, recompute its digest, sign, upload."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from cutter import limits, marking
from cutter.approvals import foresight, schema
from cutter.approvals.policy import Approver, Policy
from cutter.approvals.policy_file import parse_policy
from cutter.approvals.request import RequestDocument, parse_request, request_sha256
from cutter.approvals.statement import Statement, render
from cutter.catalogue import Sovereign
from cutter.domain.digests import sha256_hex
from cutter.errors import Conflict, InvalidInput, NotFound, Refused
from cutter.gpg import Gpg
from cutter.kb.folder import names_for
from cutter.kb.ids import signature_of
from cutter.kb.store import Store
from cutter.kb.writing import put
from cutter.settings import Settings
from cutter.storage.pools import OPERATOR, session
from cutter.storage.queries import query
from cutter.types import Refusal

ORDER_HOURS = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class Signing:
    """Who signs: name in the policy, primary fingerprint, GnuPG home (None is the person's own)."""

    approver: str
    fingerprint: str
    home: Path | None = None


def read_request(settings: Settings, run_id: str, kb_id: str) -> tuple[RequestDocument, bytes]:
    """A run's request document from the knowledge base; a single changed byte refuses, and another's request."""
    again = f"type `cutter rebuild {run_id}`, which puts the request there again"
    try:
        data = Store(settings.kb).get(kb_id)
    except (NotFound, InvalidInput) as problem:
        raise Refused(f"{problem}: {again}", code=problem.code) from None
    document = parse_request(data)
    if isinstance(document, Refusal):
        raise Refused(f"{kb_id}: {document.reason}: {again}", code=document.code)
    # Genuine is not enough: a writer of the knowledge base can put another run's request under this run's name.
    asked = {"run_id": run_id, "challenge": document.request.challenge, "request_sha256": request_sha256(data)}
    with session(settings, OPERATOR) as connection:
        row = connection.execute(query("asked_by_run"), asked).fetchone()
    assert row is not None
    if not row[0]:
        raise Refused(
            f"{kb_id} holds a request of {document.request.run_id}, and none that {run_id} made: do not sign; {again}",
            code="request_of_another",
        )
    return document, data


def recompute(settings: Settings, document: RequestDocument) -> str:
    """writer_digest from the snapshot's own bytes, here on this machine; Refused when it is not the request's."""
    snapshot = Store(settings.kb).get(document.snapshot_kb_id)
    if sha256_hex(snapshot) != document.snapshot_sha256:
        raise Refused(f"{document.snapshot_kb_id} is not the pinned snapshot: do not sign", code="snapshot_differs")
    version = document.request.source_version_id
    with session(settings, OPERATOR) as connection:
        row = connection.execute(query("profile_of_version"), {"source_version_id": version}).fetchone()
    if row is None or sha256_hex(str(row[0])) != document.profile_sha256:
        raise Refused("the profile is not the one that the request names: do not sign", code="profile_differs")
    options = marking.Options(**dict(row[1]), forbidden_ids=tuple(row[3]))  # type: ignore[call-overload, arg-type]
    profile = marking.parse_profile(str(row[0]).encode())
    marked = marking.mark(snapshot, profile=profile, docprefix=str(row[2]), options=options)
    if isinstance(marked, marking.MarkRefusal):
        raise Refused(f"the snapshot is refused here: {marked.message}", code=marked.code)
    digest = marking.build_plan(snapshot, marked, docprefix=str(row[2]), source_version_id=version).writer_digest
    if digest != document.request.writer_digest:
        raise Refused(
            f"recomputed here the writer_digest is {digest}, not {document.request.writer_digest}: do not sign",
            code="writer_digest_differs",
        )
    return digest


def answer(document: RequestDocument, data: bytes, signing: Signing, decision: str, *, text: str = "") -> Statement:
    """An approval or rejection of exactly this request."""
    now = datetime.now(UTC).replace(microsecond=0)
    asked = document.request
    until = min(now + timedelta(seconds=document.ttl_seconds), document.expires_utc)
    return Statement(
        deployment_id=asked.deployment_id, gate=asked.gate, decision=decision, binding=schema.RUN, signed_utc=now,
        not_after=until, approver=signing.approver, document_id=asked.document_id, run_id=asked.run_id,
        source_version_id=asked.source_version_id, writer_digest=asked.writer_digest,
        manifest_digest=asked.manifest_digest, region_sha=asked.region_sha, candidate_count=asked.candidate_count,
        change_set_id=asked.change_set_id, grants_sha256=asked.grants_sha256,
        review_decision_id=asked.review_decision_id, nonce=asked.nonce, challenge=asked.challenge,
        request_sha256=request_sha256(data), text=text,
    )  # fmt: skip


def answer_before(
    document: RequestDocument, data: bytes, signing: Signing, *, gate: str, batch_id: str, review_decision_id: str
) -> Statement:
    """An approval of what was rehearsed, for the live batch to come; it lives as long as the night."""
    now = datetime.now(UTC).replace(microsecond=0)
    asked = document.request
    return Statement(
        deployment_id=asked.deployment_id, gate=gate, decision=schema.APPROVE, binding=schema.TUPLE, signed_utc=now,
        not_after=now + timedelta(hours=limits.PRE_BATCHED_HOURS), approver=signing.approver, batch_id=batch_id,
        document_id=asked.document_id, source_version_id=asked.source_version_id, writer_digest=asked.writer_digest,
        candidate_count=asked.candidate_count, request_sha256=request_sha256(data),
        review_decision_id=review_decision_id if gate == Sovereign.LIFECYCLE else None,
    )  # fmt: skip


def order(run: dict[str, Any], deployment_id: str, gate: str, signing: Signing, decision: str, reason: str,
          **fields: str) -> Statement:  # fmt: skip
    """A signed order about a run: resume, void, acknowledge_drift, revoke."""
    now = datetime.now(UTC).replace(microsecond=0)
    made = Statement(
        deployment_id=deployment_id, gate=gate, decision=decision, binding=schema.RUN, signed_utc=now,
        not_after=now + timedelta(hours=ORDER_HOURS), approver=signing.approver, document_id=run["document_id"],
        run_id=run["run_id"], reason=" ".join(reason.split()),
    )  # fmt: skip
    return replace(made, **fields)  # type: ignore[arg-type]


def sign_and_upload(settings: Settings, statement: Statement, signing: Signing, kb_id: str) -> str:
    """Sign the rendered statement with the person's own gpg and put both files into the knowledge base."""
    body = render(statement)
    signature = Gpg(signing.home, interactive=signing.home is None).sign_detached(body, signing.fingerprint)
    store = Store(settings.kb)
    for name in names_for(kb_id, sha256_hex(body)):
        if store.taken(name) or store.taken(signature_of(name)):
            continue
        try:
            put(store, signature_of(name), signature)
            put(store, name, body)
        except Conflict:
            # Somebody took the name a moment ago; the signature alone is harmless.
            continue
        return name
    raise Refused(f"every name for {kb_id} is taken: move away what is there and sign again", code="names_taken")


def open_request(settings: Settings, run_id: str) -> str:
    """KB id of the request that a run waits with."""
    with session(settings, OPERATOR) as connection:
        row = connection.execute(query("open_request_document"), {"run_id": run_id}).fetchone()
    if row is None:
        raise NotFound(f"{run_id} waits for no approval: see `cutter status {run_id}`")
    return str(row[0])


def gate_ahead(settings: Settings, run_id: str) -> tuple[str, str]:
    """(deployment id, sovereign gate before the run): what a signed order names."""
    with session(settings, OPERATOR) as connection:
        wrote = connection.execute(query("units_were_written"), {"run_id": run_id}).fetchone()
    assert wrote is not None
    return policy_in_force(settings).deployment_id, "SG_lifecycle_authz" if wrote[0] else "SG_cut_authz"


def policy_in_force(settings: Settings) -> Policy:
    """The newest epoch as the database has it."""
    with session(settings, OPERATOR) as connection:
        row = connection.execute(query("policy_in_force")).fetchone()
    if row is None:
        raise NotFound("no policy is installed: type `cutter approvers init --approver NAME=KEY.asc`")
    return parse_policy(str(row[1]).encode())


def who(settings: Settings, approver: str | None, key: str | None, home: Path | None) -> Signing:
    """Who signs, from options or from the one secret key of the home that the policy knows."""
    policy = policy_in_force(settings)
    key = key and "".join(key.split()).upper()
    wrong = foresight.misfit(policy, approver, key)
    if wrong is not None:
        raise Refused(wrong, code="no_such_approver")
    if home is not None and not home.is_dir():
        raise InvalidInput(f"--gpg-home {home}: no such folder; name a GnuPG home, such as ~/.gnupg")
    fitting = [one for one in own(policy, home) if key in (None, one.fingerprint) and approver in (None, one.name)]
    if len(fitting) == 1:
        return Signing(approver=fitting[0].name, fingerprint=fitting[0].fingerprint, home=home)
    if fitting:
        names = " or ".join(f"`--approver {one.name}`" for one in fitting)
        raise Refused(f"{len(fitting)} of your keys fit the policy: say who you are with {names}", code="which_key")
    place, shown = (str(home), f" --homedir {home}") if home else ("your GnuPG home", "")
    raise Refused(
        f"0 of your keys fit the policy: {place} has no secret key of {approver or 'an approver'}; "
        f"{foresight.known(policy)}; `gpg{shown} --list-secret-keys` shows yours, --gpg-home names another home",
        code="no_key",
    )


def own(policy: Policy, home: Path | None) -> list[Approver]:
    """The approvers whose secret keys are in a GnuPG home (None: the person's own)."""
    mine = Gpg(home, interactive=home is None).primary_fingerprints(secret=True)
    return [one for one in policy.approvers if one.fingerprint in mine]


def require_fit(settings: Settings, signer: Signing, run: dict[str, Any], gate: str, decision: str) -> None:
    """Refuse before anybody's key is used what the judge would refuse afterwards. `run` is the run's row."""
    policy, now = policy_in_force(settings), datetime.now(UTC)
    one = policy.approver_of(signer.fingerprint)
    why = one and foresight.why_not(policy, one, gate, decision, starter=run["starter"], now=now)
    if why:
        instead = foresight.remedy(policy, gate, decision, run_id=run["run_id"], starter=run["starter"], now=now)
        raise Refused(f"{why}: {instead}", code="may_not_sign")
