"""Pure: tells whether a person may sign, and who else may if not. Commands ask this before they use a key."""

from __future__ import annotations

from datetime import datetime

from cutter.approvals import schema
from cutter.approvals.policy import Approver, ApproverPolicy
from cutter.catalogue import Sovereign


def ineligibility_reason(
    policy: ApproverPolicy, approver: Approver, gate: str, decision: str, *, starter: str, now: datetime
) -> str | None:
    """The reason why the judge would refuse this approver's decision at the gate. None if no reason is known."""
    if gate not in approver.gates or policy.rule_of(gate) is None:
        return f"{approver.name} may not sign for {gate}, says the policy"
    if not approver.within(now):
        return f"{approver.name} may not sign at this time, says the policy"
    if approver.name == starter:
        return f"{approver.name} started this run; another person must decide"
    enacts = gate == Sovereign.LIFECYCLE and decision == schema.APPROVE
    if enacts and policy.lifecycle_group not in approver.groups:
        return f"{approver.name} is not in the group {policy.lifecycle_group}, which decides at {gate}"
    return None


def remedy(
    policy: ApproverPolicy, gate: str, decision: str, *, run_id: str, starter: str, now: datetime
) -> tuple[str, str | None]:
    """The people who may sign instead. If nobody may, the commands that change that, and the first of them."""
    others = [
        approver.name
        for approver in policy.approvers
        if not ineligibility_reason(policy, approver, gate, decision, starter=starter, now=now)
    ]
    if others:
        return f"ask {' or '.join(others)}", None
    add = "cutter approvers propose --approver NAME=KEY.asc"
    cancel = f"type `cutter cancel {run_id} --reason TEXT` and let somebody else start it again"
    return f"nobody in the policy may: add another approver (`{add}`), or {cancel}", add


SHOW = "cutter doctor"


def known(policy: ApproverPolicy) -> str:
    """The approvers of an epoch with their keys, and the command `SHOW`, in one line."""
    names = ", ".join(f"{approver.name} ({approver.fingerprint})" for approver in policy.approvers)
    return f"epoch {policy.number} names {names or 'nobody'}: see `{SHOW}`"


def signer_mismatch(policy: ApproverPolicy, approver: str | None, key: str | None) -> str | None:
    """The mistake in --approver and --key according to the policy. None if they may name one of its approvers."""
    named = next((person for person in policy.approvers if person.name == approver), None)
    keyed = policy.approver_of(key) if key else None
    if approver is not None and named is None:
        return f"--approver {approver}: no such approver, so that signature would not count; {known(policy)}"
    if key is not None and keyed is None:
        return f"--key {key}: no approver's key, so its signature would not count; {known(policy)}"
    if named is not None and keyed is not None and named != keyed:
        return f"--key {key} is {keyed.name}'s, not {named.name}'s: leave out --approver or --key"
    return None
