"""A sovereign, a policy, a run's request and signed answers to it: real keys, real gpg, real files."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

from cutter.approvals import approver_store, schema
from cutter.approvals.approver_store import NewApprover
from cutter.approvals.policy import ApproverPolicy, Tier
from cutter.approvals.request import Changes, RequestDocument, RequestTuple, UnitLine, render_request
from cutter.approvals.signed_list import head_and_places, render_signature
from cutter.approvals.statement import Statement, render
from cutter.approvals.verdict import ApprovalDocument, Expected, ReviewDecision
from cutter.catalogue import Sovereign
from cutter.domain.digests import sha256_hex
from cutter.gpg import Gpg

RUN_ID = "ictr-20261121T090000Z-0190a5b2-7c3d-7e4f-8a9b-0c1d2e3f4a5b"
DOCUMENT = "ICX-LAW-2026-001"
FOLDER = "knowledge/dev/laws/icx-law-1/v0123456789abcdef-automation-cut-20261121-0900-0c1d2e3f4a5b"
COUNCIL = "incomex_council"
DEPLOYMENT = "3f2b1c00-0000-4000-8000-000000000001"
HOURS = 3600


def digest(word: str) -> str:
    return sha256_hex(word)


def request_tuple(
    *, gate: Sovereign = Sovereign.CUT, deployment: str = DEPLOYMENT, nonce: str = "ab" * 16
) -> RequestTuple:
    return RequestTuple(
        deployment_id=deployment,
        gate=gate.value,
        run_id=RUN_ID,
        document_id=DOCUMENT,
        source_version_id=str(uuid.UUID(int=7)),
        writer_digest=digest("writer"),
        manifest_digest=digest("manifest"),
        region_sha=digest("region"),
        candidate_count=60,
        findings_digest=digest("findings"),
        accepted_findings="nesting_differs:ICX-LAW-1/CHAPTER-2",
        change_set_id=str(uuid.UUID(int=8)),
        grants_sha256=digest("grants"),
        review_decision_id=str(uuid.UUID(int=9)) if gate is Sovereign.LIFECYCLE else None,
        nonce=nonce,
    )


def request_document(request: RequestTuple, now: datetime, **changes: object) -> RequestDocument:
    stem = "SG1-cut-authz" if request.gate == Sovereign.CUT else "SG2-lifecycle-authz"
    document = RequestDocument(
        request=request,
        mode="live",
        created_utc=now - timedelta(minutes=5),
        expires_utc=now + timedelta(hours=24),
        ttl_seconds=(24 if request.gate == Sovereign.CUT else 12) * HOURS,
        kb_id=f"{FOLDER}/{stem}-request-2026-11-21.md",
        approval_kb_id=f"{FOLDER}/{stem}-approval-alice-2026-11-21.md",
        snapshot_kb_id=f"{FOLDER}/source-snapshot-0123456789abcdef.md",
        snapshot_sha256=digest("snapshot"),
        profile_id="generic-markdown",
        profile_sha256=digest("profile"),
        backup_sha=digest("backup"),
        sidecar_path=f"runs/{RUN_ID}/state.json",
        starter="olga",
        tier="medium",
        approvers_needed=1,
        changes=Changes.of(
            added=[UnitLine(address="ICX-LAW-1/ART-1", title="Scope")],
            changed=[UnitLine(address="ICX-LAW-1/ART-2", title="Terms <b>[x](y)")],
            removed=[],
        ),
        view_digest=digest("view"),
        shown="## Findings\n\n- Line 2, `zero_width`: 1 zero-width character\n\n",
        findings_count=1,
    )
    return replace(document, **changes)  # type: ignore[arg-type]


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """Keys of alice and bob (approvers) and of mallory (nobody's), the epoch, and one open request."""

    root: Path
    people: Gpg
    alice: str
    bob: str
    mallory: str
    policy: ApproverPolicy
    ring: Gpg
    now: datetime

    def request(self, gate: Sovereign = Sovereign.CUT, *, nonce: str = "ab" * 16) -> RequestTuple:
        return request_tuple(gate=gate, deployment=self.policy.deployment_id, nonce=nonce)

    def request_sha256(self, request: RequestTuple) -> str:
        return sha256_hex(render_request(request_document(request, self.now)))

    def expected(self, request: RequestTuple, **changes: object) -> Expected:
        expected = Expected(
            deployment_id=request.deployment_id,
            gate=request.gate,
            run_id=request.run_id,
            document_id=request.document_id,
            decisions=frozenset((schema.APPROVE, schema.REJECT)),
            now=self.now,
            request=request,
            request_sha256=self.request_sha256(request),
            request_expires=self.now + timedelta(hours=24),
            ttl_run_seconds=24 * HOURS,
            ttl_tuple_seconds=12 * HOURS,
            starter="olga",
            review_decision=self.review_decision(request),
        )
        return replace(expected, **changes)  # type: ignore[arg-type]

    def review_decision(self, request: RequestTuple) -> ReviewDecision | None:
        if request.review_decision_id is None:
            return None
        return ReviewDecision(
            review_decision_id=request.review_decision_id,
            decision_type="lifecycle_enactment",
            used=False,
            actor_group=COUNCIL,
            created_at=self.now - timedelta(minutes=5),
            created_with_request=True,
        )

    def statement(self, request: RequestTuple, **changes: object) -> Statement:
        statement = Statement(
            **{name: getattr(request, name) for name in RequestTuple.__slots__},
            decision=schema.APPROVE,
            binding=schema.RUN,
            challenge=request.challenge,
            request_sha256=self.request_sha256(request),
            signed_utc=self.now,
            not_after=self.now + timedelta(hours=6),
            approver="alice",
            text="I have read the request.\n",
        )
        return replace(statement, **changes)  # type: ignore[arg-type]

    def sign(self, body: bytes, *, by: str | None = None, kb_id: str = "a/approval.md") -> ApprovalDocument:
        signature = self.people.sign_detached(body, by or self.alice)
        return ApprovalDocument(kb_id=kb_id, body=body, signature=signature)

    def sign_list(self, bodies: Sequence[bytes], *, by: str | None = None) -> list[ApprovalDocument]:
        """Documents that one signature of their list signs."""
        head, places = head_and_places(bodies)
        openpgp = self.people.sign_detached(head, by or self.alice)
        return [
            ApprovalDocument(kb_id="a/approval.md", body=body, signature=render_signature(place, openpgp))
            for body, place in zip(bodies, places, strict=True)
        ]

    def approve(self, request: RequestTuple, *, by: str | None = None, **changes: object) -> ApprovalDocument:
        return self.sign(render(self.statement(request, **changes)), by=by)


@contextmanager
def world(*, tier: Tier = Tier.MEDIUM) -> Iterator[World]:
    """A world under a short path, whose agent is ended and whose files are removed afterwards."""
    root = Path(tempfile.mkdtemp(prefix="cw-"))
    people = Gpg(root / "p")
    try:
        alice, bob, mallory = (aged_key(people, f"{name} (test)", days=3) for name in ("alice", "bob", "mallory"))
        approvers = [
            NewApprover(name=name, public_key=people.export_key(key), groups=(COUNCIL,))
            for name, key in (("alice", alice), ("bob", bob))
        ]
        made = approver_store.init(
            root / "approvers", approvers=approvers, gates=approver_store.default_rules(tier), lifecycle_group=COUNCIL
        )
        policy, ring = approver_store.load_current(root / "approvers", made.sha256)
        now = datetime.now(tz=UTC).replace(microsecond=0)
        yield World(
            root=root, people=people, alice=alice, bob=bob, mallory=mallory, policy=policy, ring=ring, now=now
        )  # fmt: skip
    finally:
        people.stop_agent()
        shutil.rmtree(root, ignore_errors=True)


def raw_gpg(gpg: Gpg, *words: str, stdin: bytes = b"", home: Path | None = None) -> bytes:
    """gpg with options that the product never uses (weak digests, a faked time), for making bad signatures."""
    done = subprocess.run(
        [gpg.binary, "--homedir", str(home or gpg.home), "--no-options", "--batch", "--no-tty", *words],
        input=stdin,
        capture_output=True,
        check=True,
        timeout=60,
    )
    return done.stdout


def signature_packet(*, version: int = 4, signature_class: int = 0, digest_algorithm: int = 10) -> bytes:
    """A well-formed signature packet that no key ever made, for judging forms."""
    content = bytes([version, signature_class, 22, digest_algorithm]) + bytes(64)
    return bytes([0xC2, len(content)]) + content


def aged_key(gpg: Gpg, name: str, *, days: int, kind: str = "ed25519", expire: str = "never") -> str:
    """A signing key that was made some days ago, so that signatures of the past can be made with it."""
    made = int(datetime.now(tz=UTC).timestamp()) - days * 86_400
    words = ("--passphrase", "", "--pinentry-mode", "loopback", "--faked-system-time", f"{made}")
    raw_gpg(gpg, *words, "--quick-generate-key", name, kind, "sign", expire)
    return gpg.primary_fingerprints()[-1]
