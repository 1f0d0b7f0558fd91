"""Pure: reads the file of a policy epoch strictly, and writes it in one form."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import datetime

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
from cutter.domain.timestamps import EXAMPLE, parse_instant, render_instant
from cutter.errors import InvalidInput
from cutter.openpgp import FINGERPRINT
from cutter.plain_yaml import FieldReader, Node, Scalar, Wrong

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
