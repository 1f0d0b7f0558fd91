"""Every reason to refuse an approval, each by the one change that causes it; the unchanged case is accepted."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from cutter.approvals import schema
from cutter.approvals.approver_store import default_rules
from cutter.approvals.policy import Approver, ApproverPolicy, Tier
from cutter.approvals.policy_file import parse_policy, render_policy
from cutter.approvals.request import RequestTuple
from cutter.approvals.statement import Statement, render
from cutter.approvals.verdict import ApprovalDocument, Expected, Met, Missing, ReviewDecision, Verdict, verdict_record
from cutter.approvals.verify import threshold, verify
from cutter.catalogue import Sovereign
from cutter.errors import ProgrammingError, Unavailable
from cutter.openpgp import Outcome, SignatureEvidence, SignatureRecord, armor
from tests.cases.approval_cases import COUNCIL, DEPLOYMENT, DOCUMENT, RUN_ID, digest, request_tuple, signature_packet

NOW = datetime(2026, 11, 21, 12, 0, 0, tzinfo=UTC)
ALICE, BOB, STRANGER = "A" * 40, "B" * 40, "C" * 40
SECOND, MINUTE, HOUR = timedelta(seconds=1), timedelta(minutes=1), timedelta(hours=1)
LATER = NOW - MINUTE + timedelta(seconds=1, microseconds=1)
"""A moment after what is signed here, by more than the fraction that a signature's own time leaves out."""


def approver(name: str, fingerprint: str, **changes: Any) -> Approver:
    person = Approver(
        name=name,
        fingerprint=fingerprint,
        key_sha256=digest(name),
        groups=(COUNCIL,),
        gates=("SG_cut_authz", "SG_lifecycle_authz"),
        not_before=NOW - 1000 * HOUR,
        not_after=NOW + 1000 * HOUR,
    )
    return replace(person, **changes)


def policy_of(*approvers: Approver, tier: Tier = Tier.MEDIUM) -> ApproverPolicy:
    policy = ApproverPolicy(
        number=1,
        deployment_id=DEPLOYMENT,
        previous_sha256=None,
        approvers=approvers,
        gates=default_rules(tier),
        lifecycle_group=COUNCIL,
        succession=1,
        gpg_binary="/usr/bin/gpg",
        gpg_version_floor=(2, 2, 0),
    )
    return parse_policy(render_policy(policy))


POLICY = policy_of(approver("alice", ALICE), approver("bob", BOB))


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """All inputs of one judgement."""

    statement: Statement
    record: SignatureRecord
    expected: Expected
    policy: ApproverPolicy = POLICY
    packets: bytes = signature_packet()
    body: bytes | None = None
    records: tuple[SignatureRecord, ...] | None = None

    def judge(self) -> Verdict:
        document = ApprovalDocument(
            kb_id="a/b.md",
            body=render(self.statement) if self.body is None else self.body,
            signature=armor(self.packets),
        )
        evidence = SignatureEvidence(records=(self.record,) if self.records is None else self.records)
        return verify(document, evidence, expected=self.expected, policy=self.policy)


def good_record(**changes: Any) -> SignatureRecord:
    record = SignatureRecord(
        outcomes=(Outcome.GOOD,),
        fingerprint=ALICE,
        primary_fingerprint=ALICE,
        created=NOW - MINUTE,
        digest_algorithm=10,
        signature_class="00",
    )
    return replace(record, **changes)


def expected_of(request: RequestTuple | None, **changes: Any) -> Expected:
    gate = request.gate if request else "SG_cut_authz"
    row = None
    if request and request.review_decision_id:
        row = ReviewDecision(
            review_decision_id=request.review_decision_id,
            decision_type="lifecycle_enactment",
            used=False,
            actor_group=COUNCIL,
            created_at=NOW - HOUR,
            created_with_request=True,
        )
    expected = Expected(
        deployment_id=DEPLOYMENT,
        gate=gate,
        run_id=RUN_ID,
        document_id=DOCUMENT,
        decisions=frozenset((schema.APPROVE, schema.REJECT)),
        now=NOW,
        request=request,
        request_sha256=digest("request"),
        request_expires=NOW + HOUR,
        ttl_run_seconds=24 * 3600,
        ttl_tuple_seconds=12 * 3600,
        starter="olga",
        review_decision=row,
    )
    return replace(expected, **changes)


def answer(request: RequestTuple, **changes: Any) -> Statement:
    statement = Statement(
        **{name: getattr(request, name) for name in RequestTuple.__slots__},
        decision=schema.APPROVE,
        binding=schema.RUN,
        challenge=request.challenge,
        request_sha256=digest("request"),
        signed_utc=NOW - MINUTE,
        not_after=NOW + HOUR,
        approver="alice",
    )
    return replace(statement, **changes)


CUT = request_tuple()
LIFECYCLE = request_tuple(gate=Sovereign.LIFECYCLE)
GOOD = Case(statement=answer(CUT), record=good_record(), expected=expected_of(CUT))
GOOD_2 = Case(statement=answer(LIFECYCLE), record=good_record(), expected=expected_of(LIFECYCLE))


def batch_case(request: RequestTuple = CUT, **changes: Any) -> Case:
    fields = {
        name: getattr(request, name)
        for name in (
            "deployment_id",
            "gate",
            "document_id",
            "source_version_id",
            "writer_digest",
            "candidate_count",
            "findings_digest",
            "accepted_findings",
        )
    }
    statement = Statement(
        **fields,
        decision=schema.APPROVE,
        binding=schema.TUPLE,
        batch_id="nightly-1",
        request_sha256=digest("dry request"),
        review_decision_id=request.review_decision_id,
        signed_utc=NOW - HOUR,
        not_after=NOW + HOUR,
        approver="alice",
    )
    expected = expected_of(
        request,
        bindings=frozenset((schema.RUN, schema.TUPLE)),
        batch_id="nightly-1",
        dryrun_request_sha256=digest("dry request"),
    )
    return replace(
        Case(statement=statement, record=good_record(created=NOW - HOUR), expected=expected), **changes
    )  # fmt: skip


def order(decision: str, expected: dict[str, Any], **fields: Any) -> Case:
    statement = Statement(
        deployment_id=DEPLOYMENT,
        gate="SG_cut_authz",
        decision=decision,
        binding=schema.RUN,
        document_id=DOCUMENT,
        run_id=RUN_ID,
        reason="The registry was repaired",
        signed_utc=NOW - MINUTE,
        not_after=NOW + HOUR,
        approver="alice",
        **fields,
    )
    facts = expected_of(None, decisions=frozenset((decision,)), request_sha256=None, request_expires=None, **expected)
    return Case(statement=statement, record=good_record(), expected=facts)


ORDERS = {
    "resume": order("resume", {"stopped_state": "stopped_hard_cap"}, stopped_state="stopped_hard_cap"),
    "void": order("void", {}),
    "acknowledge_drift": order(
        "acknowledge_drift", {"drift_fingerprint": digest("new")}, fingerprint=digest("new")
    ),
    "include_failed": order("include_failed", {}),
    "revoke": order("revoke", {"approval_sha256": digest("an approval")}, approval_sha256=digest("an approval")),
}  # fmt: skip

ACCEPTED = {
    "approve SG_1": GOOD,
    "approve SG_2": GOOD_2,
    "reject": replace(GOOD, statement=answer(CUT, decision=schema.REJECT)),
    "pre-batched SG_1": batch_case(),
    "pre-batched SG_2": batch_case(LIFECYCLE),
    **ORDERS,
}


@pytest.mark.parametrize("name", ACCEPTED)
def test_a_right_statement_is_accepted(name: str) -> None:
    verdict = ACCEPTED[name].judge()
    assert (verdict.accepted, verdict.code, verdict.step) == (True, "accepted", 9), verdict.reason
    assert (verdict.approver, verdict.fingerprint) == ("alice", ALICE)
    assert verdict.decision == ACCEPTED[name].statement.decision
    assert verdict.policy_sha256 == POLICY.sha256


def said(**changes: Any) -> Callable[[Case], Case]:
    return lambda case: replace(case, statement=replace(case.statement, **changes))


def record(**changes: Any) -> Callable[[Case], Case]:
    return lambda case: replace(case, record=replace(case.record, **changes))


def run(**changes: Any) -> Callable[[Case], Case]:
    return lambda case: replace(case, expected=replace(case.expected, **changes))


def packets(data: bytes) -> Callable[[Case], Case]:
    return lambda case: replace(case, packets=data)


def weak(algorithm: int) -> Callable[[Case], Case]:
    return lambda case: record(digest_algorithm=algorithm)(packets(signature_packet(digest_algorithm=algorithm))(case))


def alice(**changes: Any) -> Callable[[Case], Case]:
    return lambda case: replace(case, policy=policy_of(approver("alice", ALICE, **changes), approver("bob", BOB)))


def decision_row(**changes: Any) -> Callable[[Case], Case]:
    def change(case: Case) -> Case:
        row = case.expected.review_decision
        assert row is not None
        return replace(case, expected=replace(case.expected, review_decision=replace(row, **changes)))

    return change


OTHER = "00000000-0000-0000-0000-0000000000ff"
TWO = GOOD.record, GOOD.record
REFUSED: list[tuple[str, Case, Callable[[Case], Case], int, str]] = [
    ("our own document", GOOD, run(written_by_us=True), 2, "written_by_us"),
    ("two packets", GOOD, packets(signature_packet() * 2), 3, "signature_count"),
    ("no packet", GOOD, packets(b"\x00\x01\x02"), 3, "signature_malformed"),
    ("version 3", GOOD, packets(signature_packet(version=3)), 3, "signature_malformed"),
    ("gpg sees two", GOOD, lambda case: replace(case, records=TWO), 3, "signature_count"),
    ("gpg sees none", GOOD, lambda case: replace(case, records=()), 3, "signature_count"),
    ("wrong signature", GOOD, record(outcomes=(Outcome.BAD,)), 3, "signature_wrong"),
    ("unusable signature", GOOD, record(outcomes=(Outcome.ERROR,)), 3, "signature_wrong"),
    ("expired signature", GOOD, record(outcomes=(Outcome.SIGNATURE_EXPIRED,)), 3, "signature_expired"),
    ("expired key", GOOD, record(outcomes=(Outcome.KEY_EXPIRED,)), 3, "key_expired"),
    ("revoked key", GOOD, record(outcomes=(Outcome.KEY_REVOKED,)), 3, "key_revoked"),
    ("good beside expired", GOOD, record(outcomes=(Outcome.GOOD, Outcome.KEY_EXPIRED)), 3, "signature_wrong"),
    ("no outcome", GOOD, record(outcomes=()), 3, "signature_wrong"),
    ("good without VALIDSIG", GOOD, record(primary_fingerprint=None), 3, "signature_wrong"),
    ("unknown key", GOOD, record(key_missing=True), 3, "signer_not_allowed"),
    ("text class, says gpg", GOOD, record(signature_class="01"), 3, "signature_class"),
    ("text class, says the packet", GOOD, packets(signature_packet(signature_class=1)), 3, "signature_class"),
    ("SHA-1, says gpg", GOOD, record(digest_algorithm=2), 3, "signature_digest"),
    ("SHA-1 on both sides", GOOD, weak(2), 3, "signature_digest"),
    ("SHA-224 on both sides", GOOD, weak(11), 3, "signature_digest"),
    ("SHA-1, says the packet", GOOD, packets(signature_packet(digest_algorithm=2)), 3, "signature_digest"),
    ("stranger", GOOD, record(primary_fingerprint=STRANGER), 3, "signer_not_allowed"),
    ("subkey's name is not the primary's", GOOD, record(primary_fingerprint=STRANGER, fingerprint=ALICE), 3,
     "signer_not_allowed"),
    ("other gate's approver", GOOD, alice(gates=("SG_lifecycle_authz",)), 3, "signer_gate"),
    ("no gates at all", GOOD, alice(gates=()), 3, "signer_gate"),
    ("empty policy", GOOD, lambda case: replace(case, policy=policy_of()), 3, "signer_not_allowed"),
    ("future signature", GOOD, record(created=NOW + 61 * SECOND), 3, "signature_in_future"),
    ("signature's own expiry", GOOD, record(expires=NOW), 3, "signature_expired"),
    ("approver's time is over", GOOD, alice(not_after=NOW), 3, "signer_dates"),
    ("approver's time has not come", GOOD, alice(not_before=NOW + SECOND), 3, "signer_dates"),
    ("signed before the approver's time", GOOD, alice(not_before=NOW - SECOND), 3, "signer_dates"),
    ("malformed statement", GOOD, lambda case: replace(case, body=b"approve it\n"), 4, "statement_no_front_matter"),
    ("other deployment", GOOD, said(deployment_id=OTHER), 5, "deployment_id_mismatch"),
    ("other gate", GOOD_2, lambda case: replace(case, statement=answer(CUT)), 5, "gate_mismatch"),
    ("decision not awaited", GOOD, run(decisions=frozenset((schema.REJECT,))), 5, "decision_not_allowed"),
    ("nothing awaited", GOOD, run(decisions=frozenset()), 5, "decision_not_allowed"),
    ("tuple where only run counts", batch_case(), run(bindings=frozenset((schema.RUN,))), 5, "binding_not_allowed"),
    ("run where only tuple counts", GOOD, run(bindings=frozenset((schema.TUPLE,))), 5, "binding_not_allowed"),
    ("other run", GOOD, said(run_id=RUN_ID[:-1] + "0"), 5, "run_id_mismatch"),
    ("other document", GOOD, said(document_id="ICX-LAW-2026-002"), 5, "document_id_mismatch"),
    ("other version", GOOD, said(source_version_id=OTHER), 5, "source_version_id_mismatch"),
    ("other writer_digest", GOOD, said(writer_digest=digest("x")), 5, "writer_digest_mismatch"),
    ("other manifest", GOOD, said(manifest_digest=digest("x")), 5, "manifest_digest_mismatch"),
    ("other region", GOOD, said(region_sha=digest("x")), 5, "region_sha_mismatch"),
    ("other count", GOOD, said(candidate_count=61), 5, "candidate_count_mismatch"),
    ("other findings", GOOD, said(findings_digest=digest("x")), 5, "findings_digest_mismatch"),
    ("another finding accepted", GOOD, said(accepted_findings="looks_uncut:LINE-9"), 5, "accepted_findings_mismatch"),
    ("no finding accepted", GOOD, said(accepted_findings="none"), 5, "accepted_findings_mismatch"),
    ("tuple with other findings", batch_case(), said(findings_digest=digest("x")), 5, "findings_digest_mismatch"),
    ("tuple without the acceptance", batch_case(), said(accepted_findings="none"), 5, "accepted_findings_mismatch"),
    ("other change set", GOOD, said(change_set_id=OTHER), 5, "change_set_id_mismatch"),
    ("other grants", GOOD, said(grants_sha256=digest("x")), 5, "grants_sha256_mismatch"),
    ("other nonce", GOOD, said(nonce="cd" * 16), 5, "nonce_mismatch"),
    ("other challenge", GOOD, said(challenge=digest("x")), 5, "challenge_mismatch"),
    ("other request document", GOOD, said(request_sha256=digest("x")), 5, "request_sha256_mismatch"),
    ("request document not rendered yet", GOOD, run(request_sha256=None), 5, "request_sha256_mismatch"),
    ("no open request", GOOD, run(request=None), 5, "source_version_id_mismatch"),
    ("other review decision", GOOD_2, said(review_decision_id=OTHER), 5, "review_decision_id_mismatch"),
    ("other batch", batch_case(), said(batch_id="nightly-2"), 5, "batch_id_mismatch"),
    ("no batch", batch_case(), run(batch_id=None), 5, "batch_id_mismatch"),
    ("live request for a tuple", batch_case(), said(request_sha256=digest("request")), 5, "request_sha256_mismatch"),
    ("tuple with other writer_digest", batch_case(), said(writer_digest=digest("x")), 5, "writer_digest_mismatch"),
    ("other stop", ORDERS["resume"], run(stopped_state="stopped_by_request"), 5, "stopped_state_mismatch"),
    ("other drift", ORDERS["acknowledge_drift"], run(drift_fingerprint=digest("x")), 5, "fingerprint_mismatch"),
    ("other run to void", ORDERS["void"], said(run_id=RUN_ID[:-1] + "0"), 5, "run_id_mismatch"),
    ("other approval to revoke", ORDERS["revoke"], run(approval_sha256=digest("x")), 5, "approval_sha256_mismatch"),
    ("expired this second", GOOD, said(not_after=NOW), 6, "approval_expired"),
    ("signed_utc too early", GOOD, said(signed_utc=NOW - 31 * MINUTE - SECOND), 6, "signed_utc_mismatch"),
    ("signed_utc too late", GOOD, said(signed_utc=NOW + SECOND), 6, "signed_utc_mismatch"),
    ("a second too long", GOOD, said(not_after=NOW - MINUTE + 24 * HOUR + SECOND), 6, "ttl_exceeded"),
    ("life counts from the earlier time", GOOD,
     said(signed_utc=NOW - 2 * MINUTE, not_after=NOW - MINUTE + 24 * HOUR), 6, "ttl_exceeded"),
    ("tuple a second too long", batch_case(), said(not_after=NOW + 11 * HOUR + SECOND), 6, "ttl_exceeded"),
    ("request expired this second", GOOD, run(request_expires=NOW), 6, "request_expired"),
    ("request without an end", GOOD, run(request_expires=None), 6, "request_expired"),
    ("revoked", GOOD, run(revoked=True), 6, "revoked"),
    ("before the stop that it lifts", ORDERS["resume"], run(stopped_at=LATER), 6, "signed_before_the_stop"),
    ("before the drift", ORDERS["acknowledge_drift"], run(stopped_at=LATER), 6, "signed_before_the_stop"),
    ("before people ended the first run", batch_case(), run(ended_by_people_at=LATER), 6, "signed_before_the_stop"),
    ("spent", batch_case(), run(consumed_by_another=True), 6, "approval_consumed_before"),
    ("another's name", GOOD, said(approver="bob"), 7, "approver_mismatch"),
    ("the starter", GOOD, run(starter="alice"), 7, "approver_is_starter"),
    ("no review decision", GOOD_2, run(review_decision=None), 8, "review_decision_missing"),
    ("another row", GOOD_2, decision_row(review_decision_id=OTHER), 8, "review_decision_missing"),
    ("a cut's decision", GOOD_2, decision_row(decision_type="cut"), 8, "review_decision_type"),
    ("a used decision", GOOD_2, decision_row(used=True), 8, "review_decision_used"),
    ("another group's decision", GOOD_2, decision_row(actor_group="clerks"), 8, "review_decision_actor"),
    ("not the request's own", GOOD_2, decision_row(created_with_request=False), 8, "review_decision_stale"),
    ("pre-batched: too old", ACCEPTED["pre-batched SG_2"],
     decision_row(created_at=NOW - 13 * HOUR - SECOND), 8, "review_decision_stale"),
    ("pre-batched: made after the signature", ACCEPTED["pre-batched SG_2"], decision_row(created_at=NOW), 8,
     "review_decision_stale"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("case", "change", "step", "code"), [row[1:] for row in REFUSED], ids=[row[0] for row in REFUSED]
)
def test_one_change_refuses_with_its_own_step_and_code(
    case: Case, change: Callable[[Case], Case], step: int, code: str
) -> None:
    """Seeds 000 §3, 001 §7."""
    assert case.judge().accepted
    verdict = change(case).judge()
    assert (verdict.accepted, verdict.step, verdict.code) == (False, step, code), verdict.reason
    assert verdict.reason


@pytest.mark.parametrize(
    "change",
    [
        said(not_after=NOW + SECOND),
        said(not_after=NOW - MINUTE + 24 * HOUR),
        said(signed_utc=NOW - 31 * MINUTE),
        said(signed_utc=NOW),
        run(request_expires=NOW + SECOND),
        record(expires=NOW + SECOND),
        alice(not_after=NOW + SECOND),
        alice(not_before=NOW - MINUTE),
        record(digest_algorithm=10, fingerprint=STRANGER),
    ],
)
def test_the_last_admissible_value_is_accepted(change: Callable[[Case], Case]) -> None:
    verdict = change(GOOD).judge()
    assert verdict.accepted, verdict.reason


def test_gpg_that_cannot_judge_is_no_verdict() -> None:
    document = ApprovalDocument(kb_id="a/b.md", body=render(GOOD.statement), signature=armor(signature_packet()))
    with pytest.raises(Unavailable) as caught:
        verify(document, SignatureEvidence(unverifiable="gpg is gone"), expected=GOOD.expected, policy=POLICY)
    assert (caught.value.code, caught.value.what) == ("could_not_verify", "gpg")


def test_a_refused_signature_never_names_a_decision() -> None:
    verdict = record(outcomes=(Outcome.BAD,))(GOOD).judge()
    assert (verdict.statement, verdict.decision, verdict.approver) == (None, None, None)


def test_the_run_s_facts_and_its_request_must_agree() -> None:
    with pytest.raises(ProgrammingError):
        expected_of(CUT, run_id=RUN_ID[:-1] + "0")


def test_the_stored_verdict_is_flat_and_without_free_text() -> None:
    stored = verdict_record(said(text="a private remark\n")(GOOD).judge())
    assert stored["challenge"] == CUT.challenge
    assert stored["statement"]["not_after"] == stored["not_after"] == "2026-11-21T13:00:00Z"
    assert "private" not in repr(stored)
    assert verdict_record(record(outcomes=(Outcome.BAD,))(GOOD).judge())["statement"] is None


def by_bob(case: Case) -> Verdict:
    return record(primary_fingerprint=BOB, fingerprint=BOB)(said(approver="bob")(case)).judge()


def test_one_approver_meets_a_threshold_of_one() -> None:
    assert isinstance(threshold([GOOD.judge()], POLICY, "SG_cut_authz"), Met)


def test_tier_high_asks_for_two_distinct_people() -> None:
    first = GOOD.judge()
    again = said(text="once more\n")(GOOD).judge()
    assert again.accepted
    missing = threshold([first, again], POLICY, "SG_cut_authz", Tier.HIGH)
    assert isinstance(missing, Missing)
    assert (missing.needed, missing.have, missing.code) == (2, ("alice",), "threshold_missing")
    met = threshold([by_bob(GOOD), first, again], POLICY, "SG_cut_authz", Tier.HIGH)
    assert isinstance(met, Met)
    assert [slot.approver for slot in met.slots] == ["alice", "bob"]


def test_the_gate_s_own_tier_cannot_be_lowered() -> None:
    strict = policy_of(approver("alice", ALICE), approver("bob", BOB), tier=Tier.HIGH)
    verdict = replace(GOOD, policy=strict).judge()
    assert isinstance(threshold([verdict], strict, "SG_cut_authz", Tier.LOW), Missing)


@pytest.mark.parametrize(
    "case",
    [record(outcomes=(Outcome.BAD,))(GOOD), ACCEPTED["reject"], GOOD_2, ORDERS["void"]],
    ids=["refused", "a rejection", "of another gate", "another decision"],
)
def test_only_accepted_approvals_of_this_gate_count(case: Case) -> None:
    assert isinstance(threshold([case.judge()], POLICY, "SG_cut_authz"), Missing)


def test_a_verdict_of_another_epoch_does_not_count() -> None:
    other = policy_of(approver("alice", ALICE))
    assert isinstance(threshold([GOOD.judge()], other, "SG_cut_authz"), Missing)


def test_one_document_fills_one_slot() -> None:
    twice = [GOOD.judge(), replace(GOOD.judge(), fingerprint=BOB, approver="bob")]
    assert isinstance(threshold(twice, POLICY, "SG_cut_authz", Tier.HIGH), Missing)


def test_nobody_is_never_enough() -> None:
    assert isinstance(threshold([], POLICY, "SG_cut_authz"), Missing)
    assert isinstance(threshold([GOOD.judge()], POLICY, "SG_unknown"), Missing)
