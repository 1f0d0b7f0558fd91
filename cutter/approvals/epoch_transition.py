"""Pure: decides whether one epoch may follow another (spec 03 "Policy").

The database's owner makes epoch 1. Each later epoch names the sha256 of its predecessor and keeps the deployment.
Approvers of the predecessor must have signed its bytes with detached signatures; the predecessor's `succession` says
how many approvers.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta

from cutter import limits
from cutter.approvals.policy import ApproverPolicy
from cutter.gpg_status import Outcome, SignatureEvidence
from cutter.openpgp import STRONG_DIGESTS, read_form
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
