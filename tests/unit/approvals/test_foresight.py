"""What a person is told before they sign is what the judge would say afterwards."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from cutter.approvals import eligibility, schema
from cutter.approvals.policy import ApproverPolicy
from tests.unit.approvals.test_approval_verify import (
    ALICE,
    BOB,
    GOOD,
    GOOD_2,
    NOW,
    POLICY,
    STRANGER,
    Case,
    approver,
    policy_of,
)

CUT, LIFECYCLE = "SG_cut_authz", "SG_lifecycle_authz"


def with_alice(**changes: Any) -> ApproverPolicy:
    return policy_of(approver("alice", ALICE, **changes), approver("bob", BOB))


@pytest.mark.parametrize("case", [GOOD, GOOD_2], ids=[CUT, LIFECYCLE])
@pytest.mark.parametrize(
    ("policy", "starter", "word"),
    [
        (POLICY, "olga", None),
        (POLICY, "alice", "started this run"),
        (with_alice(gates=()), "olga", "may not sign for"),
        (with_alice(not_after=NOW), "olga", "at this time"),
        (with_alice(not_before=NOW + timedelta(seconds=1)), "olga", "at this time"),
    ],
)
def test_the_judge_says_the_same_after_the_signature(
    case: Case, policy: ApproverPolicy, starter: str, word: str | None
) -> None:
    gate = case.expected.gate
    judged = replace(case, policy=policy, expected=replace(case.expected, starter=starter)).judge()
    signer = policy.approvers[0]
    reason = eligibility.ineligibility_reason(policy, signer, gate, schema.APPROVE, starter=starter, now=NOW)
    assert judged.accepted is (reason is None)
    assert word is None or word in str(reason)


@pytest.mark.parametrize(("gate", "decision"), [(CUT, "approve"), (LIFECYCLE, "approve"), (LIFECYCLE, "reject")])
def test_only_enactment_asks_for_the_policy_s_group(gate: str, decision: str) -> None:
    policy = with_alice(groups=("clerks",))
    reason = eligibility.ineligibility_reason(policy, policy.approvers[0], gate, decision, starter="olga", now=NOW)
    assert (reason is not None) is ((gate, decision) == (LIFECYCLE, "approve"))


def remedy(policy: ApproverPolicy, starter: str) -> tuple[str, str | None]:
    return eligibility.remedy(policy, CUT, schema.APPROVE, run_id="ictr-1", starter=starter, now=NOW)


def test_the_remedy_names_who_may_and_what_to_type_when_nobody_may() -> None:
    assert remedy(POLICY, "alice") == ("ask bob", None)
    alone, then = remedy(policy_of(approver("alice", ALICE)), "alice")
    assert then == "cutter approvers propose --approver NAME=KEY.asc"
    assert f"`{then}`" in alone
    assert "cutter cancel ictr-1" in alone


@pytest.mark.parametrize(
    ("name", "key", "words"),
    [
        ("mallory", None, ("--approver mallory", f"alice ({ALICE})", f"bob ({BOB})", "cutter doctor")),
        (None, STRANGER, (f"--key {STRANGER}", "would not count", f"alice ({ALICE})", "cutter doctor")),
        ("alice", BOB, (f"--key {BOB} is bob's", "leave out --approver or --key")),
    ],
)
def test_an_option_that_names_no_approver_is_named_with_what_is_known(
    name: str | None, key: str | None, words: tuple[str, ...]
) -> None:
    mismatch = eligibility.signer_mismatch(POLICY, name, key)
    assert all(word in str(mismatch) for word in words), mismatch


@pytest.mark.parametrize(("name", "key"), [(None, None), ("alice", None), (None, BOB), ("bob", BOB)])
def test_what_names_an_approver_is_no_misfit(name: str | None, key: str | None) -> None:
    assert eligibility.signer_mismatch(POLICY, name, key) is None
