"""What a proposed epoch changes is shown before it is signed, and no field is left out."""

from __future__ import annotations

from dataclasses import fields, replace
from datetime import timedelta
from typing import Any

import pytest

from cutter.approvals.policy import Approver, ApproverPolicy, GateRule, Signing, Tier
from cutter.approvals.policy_file import Change, differences
from tests.unit.approvals.test_policy_succession import ALICE, FIRST, SECOND

OF_POLICY: dict[str, Any] = {
    "deployment_id": "3f2b1c00-0000-4000-8000-000000000009",
    "approvers": FIRST.approvers[:1],
    "gates": FIRST.gates[:1],
    "lifecycle_group": "everybody",
    "succession": 2,
    "gpg_binary": "/tmp/gpg",
    "gpg_version_floor": (1, 0, 0),
    "signing": Signing.OPTIONAL,
}
OF_APPROVER: dict[str, Any] = {
    "name": "mallory",
    "fingerprint": "C" * 40,
    "key_sha256": "0" * 64,
    "groups": ("sovereigns",),
    "gates": ("SG_cut_authz",),
    "not_before": FIRST.approvers[0].not_before - timedelta(days=1),
    "not_after": FIRST.approvers[0].not_after + timedelta(days=1),
}
OF_RULE: dict[str, Any] = {
    "gate": "SG_other",
    "tier": Tier.LOW,
    "thresholds": ((Tier.LOW, 1), (Tier.MEDIUM, 2), (Tier.HIGH, 2)),
}
ALWAYS = {"number", "previous_sha256", "data"}
"""Fields that differ between all epochs. `data` is the file that has all other fields."""

CHANGED: dict[str, ApproverPolicy] = {
    **{f"policy {name}": replace(SECOND, **{name: value}) for name, value in OF_POLICY.items()},
    **{
        f"approver {name}": replace(
            SECOND, approvers=(replace(SECOND.approvers[0], **{name: value}), SECOND.approvers[1])
        )
        for name, value in OF_APPROVER.items()
    },
    **{
        f"rule {name}": replace(SECOND, gates=(replace(SECOND.gates[0], **{name: value}), *SECOND.gates[1:]))
        for name, value in OF_RULE.items()
    },
}  # fmt: skip


def test_every_field_is_changed_below() -> None:
    assert {field.name for field in fields(ApproverPolicy)} == set(OF_POLICY) | ALWAYS
    assert {field.name for field in fields(Approver)} == set(OF_APPROVER)
    assert {field.name for field in fields(GateRule)} == set(OF_RULE)


@pytest.mark.parametrize("what", CHANGED)
def test_a_change_of_any_field_is_a_difference(what: str) -> None:
    assert differences(FIRST, SECOND) == []
    assert differences(FIRST, CHANGED[what]) != []


def test_people_are_named_with_their_keys() -> None:
    mallory = replace(SECOND.approvers[1], name="mallory", fingerprint="C" * 40, key_sha256="0" * 64)
    changed = replace(SECOND, approvers=(SECOND.approvers[0], mallory), succession=2)
    added, succession, removed = differences(FIRST, changed)
    assert (added.subject, added.before) == ("approver mallory", None)
    assert (removed.subject, removed.after) == ("approver bob", None)
    assert (added.after or "").startswith(f"key {'C' * 40} (file {'0' * 16}…)")
    assert (removed.before or "").startswith(f"key {'B' * 40} ")
    assert succession == Change(
        subject="succession", before="1 of its approvers must sign the epoch after it",
        after="2 of its approvers must sign the epoch after it",
    )  # fmt: skip
    assert ALICE not in str((added, succession, removed))
