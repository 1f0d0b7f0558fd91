"""Pure: what a proposed policy epoch changes in the epoch before it, in lines that a person reads before signing."""

from __future__ import annotations

from dataclasses import dataclass

from cutter.approvals.policy import ApproverPolicy
from cutter.domain.timestamps import readable


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """A subject, such as `approver an`, with what each of two epochs says about it. None: it says nothing."""

    subject: str
    before: str | None
    after: str | None


def differences(previous: ApproverPolicy, following: ApproverPolicy) -> list[Change]:
    """Everything that `following` says otherwise than `previous`: the people first, then the rules."""
    before, after = _sayings(previous), _sayings(following)
    return [
        Change(subject=subject, before=before.get(subject), after=after.get(subject))
        for subject in {**after, **before}
        if before.get(subject) != after.get(subject)
    ]


def _sayings(policy: ApproverPolicy) -> dict[str, str]:
    """Every field of an epoch except its number and the digest of the epoch before, which always differ."""
    sayings = {}
    for approver in policy.approvers:
        time = f"from {readable(approver.not_before)} until {readable(approver.not_after)}"
        may = f"gates {', '.join(approver.gates) or 'none'}; groups {', '.join(approver.groups) or 'none'}"
        key = f"key {approver.fingerprint} (file {approver.key_sha256[:16]}…)"
        sayings[f"approver {approver.name}"] = f"{key}; {may}; {time}"
    for rule in policy.gates:
        thresholds = ", ".join(f"{tier} {rule.needed(tier)}" for tier, _ in rule.thresholds)
        sayings[f"gate {rule.gate}"] = f"tier {rule.tier}; approvers for each tier: {thresholds}"
    return sayings | {
        "succession": f"{policy.succession} of its approvers must sign the epoch after it",
        "signing": policy.signing.value,
        "lifecycle group": policy.lifecycle_group,
        "deployment": policy.deployment_id,
        "gpg": f"{policy.gpg_binary}, at least {'.'.join(map(str, policy.gpg_version_floor))}",
    }
