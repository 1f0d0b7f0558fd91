"""IO: the approver's side of an approval: read the request, recompute its digests, sign, upload."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

from cutter import limits, marking
from cutter.approvals import eligibility, schema
from cutter.approvals.policy import Approver, ApproverPolicy
from cutter.approvals.policy_file import parse_policy
from cutter.approvals.request import RequestDocument, parse_request, request_sha256
from cutter.approvals.signed_list import head_and_places, render_signature
from cutter.approvals.statement import Statement, render
from cutter.catalogue import Role, Sovereign
from cutter.domain.digests import sha256_hex
from cutter.domain.run_record import RunRecord
from cutter.errors import Conflict, InvalidInput, NotFound, Refused
from cutter.gpg import Gpg
from cutter.kb.ids import names_for, signature_of
from cutter.kb.store import Store
from cutter.kb.write_once import put
from cutter.request_view.builder import build_view
from cutter.request_view.forms import markdown, view_digest
from cutter.request_view.view import RequestView
from cutter.settings import Settings
from cutter.storage.law_texts import LAW_TEXT, TERMS
from cutter.storage.policies import EPOCH
from cutter.storage.pools import session
from cutter.storage.records import Rows, records, values
from cutter.storage.request_transaction import SEALED, STORED
from cutter.types import Json, Refusal
from starter.operator import request_state
from starter.operator.request_state import newer_versions


@dataclass(frozen=True, slots=True, kw_only=True)
class MarkedWith:
    profile_body: str
    options: Json
    docprefix: str
    forbidden_ids: list[str]


ASKED: Rows[bool] = values("asked_by_run")
PROFILE = records("profile_of_version", MarkedWith)
WROTE: Rows[bool] = values("units_were_written")


@dataclass(frozen=True, slots=True, kw_only=True)
class Signing:
    """Who signs: name in the policy, primary fingerprint, GnuPG home (None is the person's own)."""

    approver: str
    fingerprint: str
    home: Path | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SignedStatement:
    body: bytes
    signature: bytes


def read_request(
    settings: Settings, run_id: str, kb_id: str, *, role: Role = Role.OPERATOR
) -> tuple[RequestDocument, bytes]:
    """A run's request document. Refuses if a byte has changed, or if the request is of another run."""
    rebuild, rest = f"cutter rebuild {run_id}", ", which puts the request there again"
    try:
        data = Store(settings.kb).get(kb_id)
    except (NotFound, InvalidInput) as problem:
        raise Refused(f"{problem}: type", then=rebuild, rest=rest, code=problem.code) from None
    document = parse_request(data)
    if isinstance(document, Refusal):
        raise Refused(f"{kb_id}: {document.reason}: type", then=rebuild, rest=rest, code=document.code)
    # A genuine request is not enough, because a writer of the knowledge base can put another run's request under this
    # run's name.
    asked = {"run_id": run_id, "challenge": document.request.challenge, "request_sha256": request_sha256(data)}
    with session(settings, role) as connection:
        is_own = ASKED.one(connection, asked)
    if not is_own:
        raise Refused(
            f"{kb_id} holds a request of {document.request.run_id}, and none that {run_id} made: do not sign; type",
            then=rebuild,
            rest=rest,
            code="request_of_another",
        )
    return document, data


def recompute(settings: Settings, document: RequestDocument, *, role: Role = Role.OPERATOR) -> RequestView:
    """The content of the request, built here from the snapshot's bytes. Raises Refused if the request differs.

    The approver sees only this value, and each digest of the statement is compared with it.
    """
    view = build_of(settings, document, role=role)
    asked, own = document.request, view.digests
    compared = (
        ("writer_digest", own.writer_digest, asked.writer_digest),
        ("region_sha", own.region_sha, asked.region_sha),
        ("candidate_count", len(view.units), asked.candidate_count),
        ("findings_digest", own.findings_digest, asked.findings_digest),
        ("accepted_findings", " ".join(view.accepted_findings) or schema.NO_FINDINGS, asked.accepted_findings),
        ("view_digest", view_digest(view), document.view_digest),
        ("request_text", sha256_hex(markdown(view)), sha256_hex(document.shown)),
    )
    look = "cutter workers"
    instead = f"`{look}` shows other builds; to halt the run, type `cutter stop {asked.run_id} --reason TEXT`"
    for name, here, there in compared:
        if here != there:
            raise Refused(
                f"recomputed here the {name} is {here}, not {there}: do not sign; {instead}", code=f"{name}_differs"
            ).leads_to(look)
    if view.stored_differences:
        first = view.stored_differences[0]
        raise Refused(
            f"PostgreSQL holds {first} in another form than the plan: do not sign; {instead}", code="stored_differs"
        ).leads_to(look)
    return view


def build_of(settings: Settings, document: RequestDocument, *, role: Role = Role.OPERATOR) -> RequestView:
    """The view of a request from the snapshot, the registered profile and the stored rows, before any comparison."""
    snapshot = Store(settings.kb).get(document.snapshot_kb_id)
    if sha256_hex(snapshot) != document.snapshot_sha256:
        raise Refused(f"{document.snapshot_kb_id} is not the pinned snapshot: do not sign", code="snapshot_differs")
    version = document.request.source_version_id
    asked = {"run_id": document.request.run_id, "gate": document.request.gate}
    with session(settings, role) as connection:
        record = PROFILE.first(connection, {"source_version_id": version})
        stored, sealed = STORED.all(connection, asked), SEALED.all(connection, asked)
        terms, law = TERMS.one(connection, asked), LAW_TEXT.all(connection, asked)
        newer = newer_versions(connection, [document.request.run_id])
    if record is None or sha256_hex(record.profile_body) != document.profile_sha256:
        raise Refused("the profile is not the one that the request names: do not sign", code="profile_differs")
    options = marking.Options(**record.options, forbidden_ids=tuple(record.forbidden_ids))
    profile = marking.parse_profile(record.profile_body.encode())
    marked = marking.mark_registered(snapshot, profile=profile, docprefix=record.docprefix, options=options)
    if isinstance(marked, marking.MarkRefusal):
        raise Refused(f"the snapshot is refused here: {marked.message}", code=marked.code)
    return build_view(
        snapshot, marked, docprefix=record.docprefix, source_version_id=version, stored=stored,
        sealed=sealed, law=terms.base(law), effective_from=terms.day, reason=terms.change_reason,
        registered=terms.registration, newer=newer.get(document.request.run_id), removed_pages=terms.removed_pages,
    )  # fmt: skip


def read_newest(settings: Settings, run_id: str, *, role: Role = Role.OPERATOR) -> tuple[RequestDocument, bytes, bool]:
    """A run's open request, else its newest one: the document, its bytes, and whether it waits for an answer."""
    with session(settings, role) as connection:
        newest = request_state.STATE.first(connection, {"run_id": run_id})
    if newest is None:
        raise NotFound(f"{run_id} has made no request yet: see", then=f"cutter status {run_id}")
    document, data = read_request(settings, run_id, newest.kb_id, role=role)
    return document, data, newest.is_open


def read_view(
    settings: Settings, run_id: str, *, role: Role = Role.OPERATOR
) -> tuple[RequestDocument, bytes, RequestView]:
    """A run's open request, else its newest one: the document, its bytes, and the view that was built here."""
    document, data, is_open = read_newest(settings, run_id, role=role)
    try:
        return document, data, recompute(settings, document, role=role)
    except Refused as problem:
        if is_open or not problem.code.endswith("_differs"):
            raise
        raise Refused(
            f"the request of {run_id} at {document.request.gate} is over, and what it showed has changed since then. "
            "Type",
            then=f"cutter request {run_id} --form md",
            rest=f" for the request as it was, or `cutter report {run_id}` for what became of the run",
            code="request_is_over",
        ) from None


def answer(document: RequestDocument, data: bytes, signing: Signing, decision: str, *, text: str = "") -> Statement:
    now = datetime.now(UTC).replace(microsecond=0)
    asked = document.request
    until = min(now + timedelta(seconds=document.ttl_seconds), document.expires_utc)
    return Statement(
        **asdict(asked), decision=decision, binding=schema.RUN, signed_utc=now, not_after=until,
        approver=signing.approver, challenge=asked.challenge, request_sha256=request_sha256(data), text=text,
    )  # fmt: skip


def answer_before(
    document: RequestDocument,
    data: bytes,
    signing: Signing,
    *,
    gate: str,
    batch_id: str,
    review_decision_id: str,
    text: str = "",
) -> Statement:
    """An approval of a rehearsed cut, for the live batch that follows. It is valid for one night."""
    now = datetime.now(UTC).replace(microsecond=0)
    asked = document.request
    return Statement(
        deployment_id=asked.deployment_id, gate=gate, decision=schema.APPROVE, binding=schema.TUPLE, signed_utc=now,
        not_after=now + timedelta(hours=limits.PRE_BATCHED_HOURS), approver=signing.approver, batch_id=batch_id,
        document_id=asked.document_id, source_version_id=asked.source_version_id, writer_digest=asked.writer_digest,
        candidate_count=asked.candidate_count, findings_digest=asked.findings_digest,
        accepted_findings=asked.accepted_findings, request_sha256=request_sha256(data),
        review_decision_id=review_decision_id if gate == Sovereign.LIFECYCLE else None, text=text,
    )  # fmt: skip


def order(run: RunRecord, deployment_id: str, gate: str, signing: Signing, decision: str, reason: str,
          **fields: str) -> Statement:  # fmt: skip
    """A signed order about a run: resume, void, acknowledge_drift, revoke."""
    now = datetime.now(UTC).replace(microsecond=0)
    made = Statement(
        deployment_id=deployment_id, gate=gate, decision=decision, binding=schema.RUN, signed_utc=now,
        not_after=now + timedelta(seconds=limits.ORDER_LIFE_SECONDS), approver=signing.approver,
        document_id=run.document_id, run_id=run.run_id, reason=" ".join(reason.split()),
    )  # fmt: skip
    return replace(made, **fields)  # type: ignore[arg-type]


def sign_and_upload(settings: Settings, statement: Statement, signing: Signing, kb_id: str) -> str:
    """Sign the rendered statement with the person's own gpg and put both files into the knowledge base."""
    (signed,) = sign([statement], signing)
    return upload(settings, signed, kb_id)


def sign(statements: Sequence[Statement], signing: Signing) -> list[SignedStatement]:
    """Sign the rendered statements with the person's own gpg: one signature for all, and each with its proof."""
    bodies = [render(statement) for statement in statements]
    gpg = Gpg(signing.home, interactive=signing.home is None)
    if len(bodies) == 1:
        return [SignedStatement(body=bodies[0], signature=gpg.sign_detached(bodies[0], signing.fingerprint))]
    head, places = head_and_places(bodies)
    openpgp = gpg.sign_detached(head, signing.fingerprint)
    return [
        SignedStatement(body=body, signature=render_signature(place, openpgp))
        for body, place in zip(bodies, places, strict=True)
    ]


def upload(settings: Settings, signed: SignedStatement, kb_id: str) -> str:
    """Put a statement and its signature file into the knowledge base. Returns the KB id that was free."""
    store = Store(settings.kb)
    for name in names_for(kb_id, sha256_hex(signed.body)):
        if store.taken(name) or store.taken(signature_of(name)):
            continue
        try:
            put(store, signature_of(name), signed.signature)
            put(store, name, signed.body)
        except Conflict:
            # Another program took the name a moment ago. The signature without its statement is harmless.
            continue
        return name
    raise Refused(f"every name for {kb_id} is taken: move away what is there and sign again", code="names_taken")


def open_request(settings: Settings, run_id: str) -> str:
    with session(settings, Role.OPERATOR) as connection:
        newest = request_state.STATE.first(connection, {"run_id": run_id})
    if newest is None or not newest.is_open:
        raise NotFound(f"{run_id} waits for no approval: see", then=f"cutter status {run_id}")
    return newest.kb_id


def gate_ahead(settings: Settings, run_id: str) -> tuple[str, str]:
    """(deployment id, next sovereign gate of the run). A signed order names both."""
    with session(settings, Role.OPERATOR) as connection:
        wrote = WROTE.one(connection, {"run_id": run_id})
    return policy_in_force(settings).deployment_id, "SG_lifecycle_authz" if wrote else "SG_cut_authz"


def policy_in_force(settings: Settings) -> ApproverPolicy:
    """The newest epoch according to the database."""
    with session(settings, Role.OPERATOR) as connection:
        epoch = EPOCH.first(connection)
    if epoch is None:
        raise NotFound("no policy is installed: type", then="cutter approvers init --approver NAME=KEY.asc")
    return parse_policy(epoch.body.encode())


def who(settings: Settings, approver: str | None, key: str | None, home: Path | None) -> Signing:
    """The signer, from the options or from the one secret key in the GnuPG home that the policy knows."""
    policy = policy_in_force(settings)
    key = key and "".join(key.split()).upper()
    wrong = eligibility.signer_mismatch(policy, approver, key)
    if wrong is not None:
        raise Refused(wrong, code="no_such_approver").leads_to(eligibility.SHOW)
    if home is not None and not home.is_dir():
        raise InvalidInput(f"--gpg-home {home}: no such folder; name a GnuPG home, such as ~/.gnupg")
    fitting = [
        person for person in own(policy, home) if key in (None, person.fingerprint) and approver in (None, person.name)
    ]
    if len(fitting) == 1:
        return Signing(approver=fitting[0].name, fingerprint=fitting[0].fingerprint, home=home)
    if fitting:
        names = " or ".join(f"`--approver {person.name}`" for person in fitting)
        raise Refused(f"{len(fitting)} of your keys fit the policy: say who you are with {names}", code="which_key")
    place, shown = (str(home), f" --homedir {home}") if home else ("your GnuPG home", "")
    raise Refused(
        f"0 of your keys fit the policy: {place} has no secret key of {approver or 'an approver'}; "
        f"{eligibility.known(policy)}; `gpg{shown} --list-secret-keys` shows yours, --gpg-home names another home",
        code="no_key",
    ).leads_to(eligibility.SHOW)


def own(policy: ApproverPolicy, home: Path | None) -> list[Approver]:
    """The approvers whose secret keys are in a GnuPG home (None: the person's own)."""
    mine = Gpg(home, interactive=home is None).primary_fingerprints(secret=True)
    return [approver for approver in policy.approvers if approver.fingerprint in mine]


def require_fit(
    settings: Settings, signer: Signing, gate: str, decision: str, *, run_id: str, starter: str
) -> None:  # fmt: skip
    """Refuse before a key is used if the judge would refuse the signature later. `starter` is who started the run."""
    policy, now = policy_in_force(settings), datetime.now(UTC)
    approver = policy.approver_of(signer.fingerprint)
    why = approver and eligibility.ineligibility_reason(policy, approver, gate, decision, starter=starter, now=now)
    if why:
        instead, then = eligibility.remedy(policy, gate, decision, run_id=run_id, starter=starter, now=now)
        raise Refused(f"{why}: {instead}", code="may_not_sign").leads_to(then)
