"""Pure: decides whether one epoch may follow another (spec 03 "Policy"), and tells what it changes.

The database's owner makes epoch 1. Each later epoch names the sha256 of its predecessor and keeps the deployment.
Approvers of the predecessor must have signed its bytes with detached signatures; the predecessor's `succession` says
how many approvers.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

from cutter import limits
from cutter.approvals.policy import ApproverPolicy
from cutter.domain.timestamps import readable
from cutter.openpgp import STRONG_DIGESTS, Outcome, SignatureEvidence, read_form
from cutter.types import Refusal


def refuse_succession(
    previous: ApproverPolicy,
    following: ApproverPolicy,
    signatures: Iterable[tuple[bytes, SignatureEvidence]],
    *,
    now: datetime,
) -> Refusal | None:
    """None if `following` may be installed after `previous`, else the reason why not.

    `signatures` are `.asc` files with gpg's evidence over `following`'s bytes, from a keyring of `previous`.
    """
    if following.number != previous.number + 1 or following.previous_sha256 != previous.sha256:
        return Refusal(code="epoch_order", reason=f"epoch {following.number} does not follow epoch {previous.number}")
    if following.deployment_id != previous.deployment_id:
        return Refusal(code="epoch_deployment", reason="the new epoch is of another deployment")
    signers = {}
    for file, evidence in signatures:
        form = read_form(file)
        if isinstance(form, Refusal) or form.signature_class != "00" or form.digest_algorithm not in STRONG_DIGESTS:
            continue
        if evidence.unverifiable is not None or len(evidence.records) != 1:
            continue
        record = evidence.records[0]
        created, strong = record.created, record.digest_algorithm in STRONG_DIGESTS and record.signature_class == "00"
        if record.outcomes != (Outcome.GOOD,) or created is None or not strong:
            continue
        if created > now + timedelta(seconds=limits.CLOCK_SKEW_SECONDS) or (record.expires and record.expires <= now):
            continue
        approver = previous.approver_of(record.primary_fingerprint or "")
        if approver and approver.within(now) and approver.within(created):
            signers[approver.fingerprint] = approver.name
    if len(signers) < previous.succession:
        names = ", ".join(sorted(signers.values())) or "nobody"
        reason = f"epoch {previous.number} asks for {previous.succession} of its approvers; it is signed by: {names}"
        return Refusal(code="epoch_signatures", reason=reason)
    return None


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
