"""The next epoch follows only by good signatures of enough of the previous epoch's approvers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from cutter.approvals.approver_store import default_rules
from cutter.approvals.policy import Approver, ApproverPolicy
from cutter.approvals.policy_file import parse_policy, refuse_succession, render_policy
from cutter.openpgp import Outcome, SignatureEvidence, SignatureRecord, armor
from tests.cases.approval_cases import DEPLOYMENT, digest, signature_packet

NOW = datetime(2026, 11, 21, 12, 0, 0, tzinfo=UTC)
ALICE, BOB = "A" * 40, "B" * 40
HOUR = timedelta(hours=1)
FILE = armor(signature_packet())
GOOD = SignatureRecord(
    outcomes=(Outcome.GOOD,),
    fingerprint=ALICE,
    primary_fingerprint=ALICE,
    created=NOW - HOUR,
    digest_algorithm=10,
    signature_class="00",
)
Signed = tuple[bytes, SignatureEvidence]


def epoch(number: int, previous: ApproverPolicy | None = None, **changes: Any) -> ApproverPolicy:
    approvers = tuple(
        Approver(name=name, fingerprint=key, key_sha256=digest(name), groups=(), gates=(),
                 not_before=NOW - 100 * HOUR, not_after=NOW + 100 * HOUR)
        for name, key in (("alice", ALICE), ("bob", BOB))
    )  # fmt: skip
    values: dict[str, Any] = {
        "number": number,
        "deployment_id": DEPLOYMENT,
        "previous_sha256": previous.sha256 if previous else None,
        "approvers": approvers,
        "gates": default_rules(),
        "lifecycle_group": "sovereigns",
        "succession": 1,
        "gpg_binary": "/usr/bin/gpg",
        "gpg_version_floor": (2, 2, 0),
        **changes,
    }
    return parse_policy(render_policy(ApproverPolicy(**values)))


FIRST = epoch(1)
SECOND = epoch(2, FIRST)


def by(record: SignatureRecord = GOOD, file: bytes = FILE, **evidence: Any) -> Signed:
    return file, SignatureEvidence(records=(record,), **evidence)


def test_one_good_signature_is_enough_for_one() -> None:
    assert refuse_succession(FIRST, SECOND, [by()], now=NOW) is None


BAD: dict[str, Callable[[], Signed]] = {
    "bad": lambda: by(replace(GOOD, outcomes=(Outcome.BAD,))),
    "expired key": lambda: by(replace(GOOD, outcomes=(Outcome.KEY_EXPIRED,))),
    "revoked key": lambda: by(replace(GOOD, outcomes=(Outcome.KEY_REVOKED,))),
    "stranger": lambda: by(replace(GOOD, primary_fingerprint="C" * 40)),
    "no fingerprint": lambda: by(replace(GOOD, primary_fingerprint=None)),
    "no time": lambda: by(replace(GOOD, created=None)),
    "SHA-1": lambda: by(replace(GOOD, digest_algorithm=2)),
    "SHA-1 in the packet": lambda: by(file=armor(signature_packet(digest_algorithm=2))),
    "text mode": lambda: by(replace(GOOD, signature_class="01")),
    "text mode in the packet": lambda: by(file=armor(signature_packet(signature_class=1))),
    "two packets": lambda: by(file=armor(signature_packet() * 2)),
    "junk": lambda: by(file=b"junk"),
    "not judged": lambda: by(unverifiable="gpg is away"),
    "two records": lambda: (FILE, SignatureEvidence(records=(GOOD, GOOD))),
    "no record": lambda: (FILE, SignatureEvidence()),
    "of tomorrow": lambda: by(replace(GOOD, created=NOW + HOUR)),
    "expired": lambda: by(replace(GOOD, expires=NOW)),
    "before the approver's time": lambda: by(replace(GOOD, created=NOW - 101 * HOUR)),
}


@pytest.mark.parametrize("how", BAD)
def test_a_signature_that_is_not_good_does_not_count(how: str) -> None:
    refusal = refuse_succession(FIRST, SECOND, [BAD[how]()], now=NOW)
    assert refusal is not None
    assert refusal.code == "epoch_signatures"
    assert "nobody" in refusal.reason


def test_two_are_two_people() -> None:
    first = epoch(1, succession=2)
    second = epoch(2, first)
    bob = replace(GOOD, fingerprint=BOB, primary_fingerprint=BOB)
    assert refuse_succession(first, second, [by(), by()], now=NOW) is not None
    assert refuse_succession(first, second, [by(), by(bob)], now=NOW) is None


def test_the_order_the_predecessor_and_the_deployment_are_kept() -> None:
    other = epoch(1, succession=3)
    moved = epoch(2, FIRST, deployment_id="00000000-0000-4000-8000-000000000000")
    codes = [
        (epoch(3, FIRST), "epoch_order"),
        (epoch(2, other), "epoch_order"),
        (FIRST, "epoch_order"),
        (moved, "epoch_deployment"),
    ]
    for following, code in codes:
        refusal = refuse_succession(FIRST, following, [by()], now=NOW)
        assert refusal is not None
        assert refusal.code == code


def test_an_approver_whose_time_is_over_does_not_count() -> None:
    assert refuse_succession(FIRST, SECOND, [by()], now=NOW + 100 * HOUR) is not None
