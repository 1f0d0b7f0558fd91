"""Pure: the file of a policy epoch, which epoch may follow another, and what that changes (spec 03 "Policy").

The database's owner makes epoch 1. Each later epoch names the sha256 of its predecessor and keeps the deployment.
Approvers of the predecessor must have signed its bytes with detached signatures; the predecessor's `succession` says
how many approvers.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

from cutter import limits, plain_yaml
from cutter.approvals import schema
from cutter.approvals.policy import (
    ALL_GATES,
    DEFAULT_THRESHOLDS,
    SCHEMA,
    Approver,
    ApproverPolicy,
    GateRule,
    Signing,
    Tier,
)
from cutter.domain.digests import HEX_DIGEST
from cutter.domain.timestamps import EXAMPLE, parse_instant, readable, render_instant
from cutter.errors import InvalidInput
from cutter.openpgp import FINGERPRINT, STRONG_DIGESTS, Outcome, SignatureEvidence, read_form
from cutter.plain_yaml import FieldReader, Node, Scalar, Wrong
from cutter.types import Refusal

_UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
_NAME = re.compile(schema.NAME_FORM)
_NUMBER = re.compile(r"[1-9][0-9]{0,3}")
_PATH = re.compile(r"/[ -~]+")
_VERSION = re.compile(r"[0-9]+(\.[0-9]+){1,3}")

_FIELDS = (
    "schema", "number", "deployment_id", "previous_sha256", "signing", "succession", "lifecycle_group", "gpg", "gates",
    "approvers",
)  # fmt: skip
_APPROVER_FIELDS = ("name", "fingerprint", "key_sha256", "groups", "gates", "not_before", "not_after")


def parse_policy(data: bytes) -> ApproverPolicy:
    """The policy of an epoch file; InvalidInput names the field, the line and the rule."""
    top = FieldReader(plain_yaml.load(data, bytes_max=limits.POLICY_BYTES_MAX), "the policy", _FIELDS)
    top.text("schema", re.compile(re.escape(SCHEMA)), f"`{SCHEMA}`")
    number = int(top.text("number", _NUMBER, "a number from 1"))
    if number == 1 and top.has("previous_sha256"):
        top.fail("previous_sha256", "is unknown in the first epoch, which has no predecessor")
    gpg = top.inner("gpg", ("binary", "version_floor"))
    policy = ApproverPolicy(
        number=number,
        deployment_id=top.text("deployment_id", _UUID, "a lower-case uuid"),
        previous_sha256=top.text("previous_sha256", HEX_DIGEST, "the previous epoch's sha256") if number > 1 else None,
        succession=_count(top, "succession"),
        signing=Signing(top.text("signing", _one_of(Signing), "`required` or `optional`")),
        gpg_binary=gpg.text("binary", _PATH, "an absolute path such as /usr/bin/gpg"),
        gpg_version_floor=tuple(map(int, gpg.text("version_floor", _VERSION, "a version such as 2.2.0").split("."))),
        lifecycle_group=top.text("lifecycle_group", _NAME, "a group's name"),
        gates=_gate_rules(top.inner("gates", ALL_GATES)),
        approvers=tuple(_approver(node) for node in top.items("approvers")),
        data=data,
    )
    # A person who is listed twice could meet a threshold of two alone.
    for name in ("name", "fingerprint"):
        values = [getattr(approver, name) for approver in policy.approvers]
        twice = next((value for value in values if values.count(value) > 1), None)
        if twice:
            raise InvalidInput(f"two approvers have the {name} {twice}")
    return policy


def render_policy(policy: ApproverPolicy) -> bytes:
    """The bytes of an epoch file. Raises InvalidInput if the parser would refuse them."""
    lines = [f"schema: {SCHEMA}", f"number: {policy.number}", f"deployment_id: {policy.deployment_id}"]
    lines += [f"previous_sha256: {policy.previous_sha256}"] if policy.previous_sha256 else []
    lines += [f"signing: {policy.signing}", f"succession: {policy.succession}"]
    lines += [f"lifecycle_group: {policy.lifecycle_group}", "gpg:", f"  binary: {policy.gpg_binary}"]
    lines.append(f"  version_floor: {'.'.join(map(str, policy.gpg_version_floor))}")
    lines.append("gates:" if policy.gates else "gates: {}")
    for rule in policy.gates:
        lines += [f"  {rule.gate}:", f"    tier: {rule.tier}", "    thresholds:"]
        lines += [f"      {tier}: {count}" for tier, count in rule.thresholds]
    lines.append("approvers:" if policy.approvers else "approvers: []")
    for approver in policy.approvers:
        lines += [
            f"  - name: {approver.name}",
            f"    fingerprint: {approver.fingerprint}",
            f"    key_sha256: {approver.key_sha256}",
            f"    groups: [{', '.join(approver.groups)}]",
            f"    gates: [{', '.join(approver.gates)}]",
            f'    not_before: "{render_instant(approver.not_before)}"',
            f'    not_after: "{render_instant(approver.not_after)}"',
        ]
    data = "\n".join([*lines, ""]).encode()
    parse_policy(data)
    return data


def _one_of(values: type[Tier] | type[Signing]) -> re.Pattern[str]:
    return re.compile("|".join(re.escape(value.value) for value in values))


def _count(reader: FieldReader, name: str) -> int:
    count = int(reader.text(name, _NUMBER, "a number of approvers"))
    if count > limits.APPROVALS_A_GATE_MAX:
        reader.fail(name, f"must be at most {limits.APPROVALS_A_GATE_MAX}: more approvers cannot be asked for")
    return count


def _gate_rules(reader: FieldReader) -> tuple[GateRule, ...]:
    rules = []
    for name in reader.names():
        rule = reader.inner(name, ("tier", "thresholds"))
        tier = Tier(rule.text("tier", _one_of(Tier), "`low`, `medium` or `high`"))
        counts = dict(DEFAULT_THRESHOLDS)
        if rule.has("thresholds"):
            inner = rule.inner("thresholds", tuple(Tier))
            counts |= {known: _count(inner, known) for known in Tier if inner.has(known)}
        rules.append(GateRule(gate=name, tier=tier, thresholds=tuple(counts.items())))
    return tuple(rules)


def _approver(node: Node) -> Approver:
    reader = FieldReader(node, "an approver", _APPROVER_FIELDS)

    def each(name: str, allowed: Callable[[str], bool], words: str) -> tuple[str, ...]:
        texts: list[str] = []
        for node in reader.items(name):
            if not isinstance(node, Scalar) or not allowed(node.text) or node.text in texts:
                raise Wrong(node.line, f"{name} must be distinct {words}")
            texts.append(node.text)
        return tuple(texts)

    approver = Approver(
        name=reader.text("name", _NAME, "a name of A-Z a-z 0-9 . _ @ -"),
        fingerprint=reader.text("fingerprint", FINGERPRINT, "a full upper-case fingerprint of the primary key"),
        key_sha256=reader.text("key_sha256", HEX_DIGEST, "the sha256 of the public key file"),
        groups=each("groups", lambda text: _NAME.fullmatch(text) is not None, "group names"),
        gates=each("gates", lambda text: text in ALL_GATES, "gates: " + ", ".join(ALL_GATES)),
        not_before=_instant(reader, "not_before"),
        not_after=_instant(reader, "not_after"),
    )
    if approver.not_before >= approver.not_after:
        reader.fail("not_after", "must come after not_before")
    return approver


def _instant(reader: FieldReader, name: str) -> datetime:
    text = reader.text(name, re.compile(r"[^\n]+"), f"a time such as {EXAMPLE}")
    moment = parse_instant(text)
    if moment is None:
        reader.fail(name, f"must be a time such as {EXAMPLE}")
    return moment


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
