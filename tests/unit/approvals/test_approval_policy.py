"""The policy's file is read strictly; each refusal names the line and the field."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from pathlib import Path

import pytest

from cutter import limits, plain_yaml
from cutter.approvals import schema
from cutter.approvals.policy import Signing, Tier
from cutter.approvals.policy_file import parse_policy
from cutter.domain.digests import sha256_hex
from cutter.errors import InvalidInput

GOOD = """\
schema: cutter-approvers/1
number: 2
deployment_id: 3f2b1c00-0000-4000-8000-000000000001
previous_sha256: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa
signing: required
succession: 2
lifecycle_group: council
gpg:
  binary: /usr/bin/gpg
  version_floor: 2.2.0
gates:
  SG_cut_authz:
    tier: medium
    thresholds: {low: 1, medium: 3, high: 4}
  SG_lifecycle_authz:
    tier: high
approvers:
  - name: alice
    fingerprint: AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA
    key_sha256: bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb
    groups: [council]
    gates: [SG_cut_authz, SG_lifecycle_authz]
    not_before: "2026-01-01T00:00:00Z"
    not_after: 2028-01-01T00:00:00Z
  - name: bob
    fingerprint: BBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBB
    key_sha256: bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb
    groups: []
    gates: []
    not_before: "2026-01-01T00:00:00Z"
    not_after: "2028-01-01T00:00:00Z"
"""


def refused(text: str) -> str:
    with pytest.raises(InvalidInput) as caught:
        parse_policy(text.encode())
    return str(caught.value)


def changed(old: str, new: str) -> str:
    assert old in GOOD
    return GOOD.replace(old, new, 1)


def test_a_policy_is_read_whole() -> None:
    policy = parse_policy(GOOD.encode())
    assert (policy.number, policy.succession, policy.lifecycle_group) == (2, 2, "council")
    assert (policy.gpg_binary, policy.gpg_version_floor) == ("/usr/bin/gpg", (2, 2, 0))
    assert policy.signing is Signing.REQUIRED
    assert policy.sha256 == sha256_hex(GOOD)
    assert policy.thresholds() == {"SG_cut_authz": 3, "SG_lifecycle_authz": 2}
    assert policy.tier_of("SG_lifecycle_authz") is Tier.HIGH
    alice = policy.approver_of("A" * 40)
    assert alice is not None
    assert (alice.name, alice.groups) == ("alice", ("council",))
    assert policy.approver_of("C" * 40) is None
    assert policy.rule_of("SG_3") is None


def test_dates_include_their_beginning_and_not_their_end() -> None:
    alice = parse_policy(GOOD.encode()).approvers[0]
    assert alice.within(datetime(2026, 1, 1, tzinfo=UTC))
    assert not alice.within(datetime(2028, 1, 1, tzinfo=UTC))
    assert not alice.within(datetime(2025, 12, 31, tzinfo=UTC))


def test_empty_lists_are_legal_and_mean_no_one() -> None:
    policy = parse_policy((GOOD[: GOOD.index("approvers:\n")] + "approvers: []\n").encode())
    assert policy.approvers == ()
    no_gates = GOOD[: GOOD.index("gates:")] + "gates: {}\n" + GOOD[GOOD.index("approvers:\n") :]
    assert parse_policy(no_gates.encode()).gates == ()


TOP = ["schema", "number", "deployment_id", "previous_sha256", "signing", "succession", "lifecycle_group"]


@pytest.mark.parametrize("field", [*TOP, "gpg", "gates", "approvers"])
def test_every_field_is_needed_and_named(field: str) -> None:
    renamed = re.sub(rf"^{field}:", "other:", GOOD, count=1, flags=re.MULTILINE)
    assert field in refused(renamed)


@pytest.mark.parametrize("field", ["binary", "version_floor", "tier", "name", "fingerprint", "key_sha256", "groups",
                                   "not_before", "not_after"])  # fmt: skip
def test_every_inner_field_is_needed_and_named(field: str) -> None:
    message = refused(changed(f"{field}:", "other:"))
    assert field in message
    assert message.startswith("line ")


@pytest.mark.parametrize(
    ("old", "new", "line"),
    [
        ("number: 2", "number: 0", 2),
        ("number: 2", "number: two", 2),
        ("schema: cutter-approvers/1", "schema: cutter-approvers/2", 1),
        ("3f2b1c00", "3F2B1C00", 3),
        ("aaaaaaaa", "zaaaaaaa", 4),
        ("signing: required", "signing: none", 5),
        ("succession: 2", "succession: 0", 6),
        ("succession: 2", f"succession: {limits.APPROVALS_A_GATE_MAX + 1}", 6),
        ("binary: /usr/bin/gpg", "binary: gpg", 9),
        ("version_floor: 2.2.0", "version_floor: new", 10),
        ("SG_cut_authz:", "SG_3:", 12),
        ("tier: medium", "tier: lowest", 13),
        ("medium: 3", "medium: 0", 14),
        ("medium: 3", "medium: 9", 14),
        ("low: 1", "lowest: 1", 14),
        ("name: alice", "name: Alice Smith", 18),
        ("fingerprint: AAAA", "fingerprint: aaaa", 19),
        ("fingerprint: AAAA", "fingerprint: ", 19),
        ("gates: [SG_cut_authz, SG_lifecycle_authz]", "gates: [SG_cut_authz, SG_3]", 22),
        ("gates: [SG_cut_authz, SG_lifecycle_authz]", "gates: [SG_cut_authz, SG_cut_authz]", 22),
        ("gates: [SG_cut_authz, SG_lifecycle_authz]", "gates: SG_cut_authz", 22),
        ("groups: [council]", "groups: [[council]]", 21),
        ('not_before: "2026-01-01T00:00:00Z"', "not_before: 2026-02-30T00:00:00Z", 23),
        ('not_before: "2026-01-01T00:00:00Z"', 'not_before: "2028-01-01T00:00:00Z"', 24),
        ("    tier: medium", "    tier: medium\n    extra: x", 14),
        ("number: 2", "number: 2\nextra: x", 3),
        ("number: 2", "number: 2\nnumber: 2", 3),
        ("number: 2", "number: ", 2),
        ("number: 2", "number: ~", 2),
        ("number: 2", "number: &a 2", 2),
        ("number: 2", "number: !!int 2", 2),
        ("number: 2", "number: *a", 2),
        ("number: 2", "<<: {number: 2}", 2),
        ("number: 2", "? [a]\n: 2", 2),
        ("number: 2", "number: |\n  2", 2),
        ("number: 2", "number: 2: 3", 2),
    ],
)
def test_a_wrong_value_is_refused_with_its_line(old: str, new: str, line: int) -> None:
    assert refused(changed(old, new)).startswith(f"line {line}: ")


def test_one_person_cannot_be_two_approvers() -> None:
    assert "alice" in refused(changed("name: bob", "name: alice"))
    assert "A" * 40 in refused(changed("B" * 40, "A" * 40))


def test_the_first_epoch_has_no_predecessor() -> None:
    assert "previous_sha256" in refused(changed("number: 2", "number: 1"))


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "the file is empty"),
        ("[]", "line 1: the policy must be a mapping"),
        ("x", "line 1: the policy must be a mapping"),
        ("- a", "line 1: the policy must be a mapping"),
        (GOOD + "---\nx: y\n", "the file has a second document"),
        (GOOD + "...\n---\n", "the file has a second document"),
        ("a: [", "line 2: "),
        ("\ufffe", "the file is no YAML"),
        ("\x00", "the file is no YAML"),
    ],
)
def test_what_is_no_policy_is_refused(text: str, reason: str) -> None:
    assert reason in refused(text)


def test_bytes_that_are_not_text_and_files_that_are_too_large_are_refused() -> None:
    for data in (b"\xff\xfe", GOOD.encode() + b"#" * limits.POLICY_BYTES_MAX):
        with pytest.raises(InvalidInput):
            parse_policy(data)


@pytest.mark.parametrize(
    "text", ["a: |\n  b", "a: >-\n  b", "a:", "a: ~", "a: null", "- ", "a: &b c", "a: !x y", "*a", "<<: b"]
)
def test_only_plain_and_quoted_texts_are_values(text: str) -> None:
    with pytest.raises(InvalidInput):
        plain_yaml.load(text.encode(), bytes_max=100)


def test_quoted_texts_may_be_empty() -> None:
    assert plain_yaml.load(b"''", bytes_max=100) == plain_yaml.Scalar(line=1, text="")


def test_depth_is_bounded() -> None:
    with pytest.raises(InvalidInput) as caught:
        plain_yaml.load(b"[" * 10 + b"x" + b"]" * 10, bytes_max=100)
    assert "deeper" in str(caught.value)


def test_the_policy_shown_in_the_documentation_is_legal() -> None:
    page = (Path(__file__).parents[3] / "docs" / "reference" / "statements.md").read_text(encoding="utf-8")
    policy = parse_policy(page.split("```yaml\n")[1].split("```")[0].encode())
    assert policy.approvers[0].name == "alice"


def test_the_documentation_lists_every_reason_to_refuse() -> None:
    root = Path(__file__).parents[3]
    page = (root / "docs" / "reference" / "statements.md").read_text(encoding="utf-8")
    source = "\n".join(
        path.read_text(encoding="utf-8") for path in sorted((root / "cutter" / "approvals").glob("*.py"))
    )
    codes = set(re.findall(r'Refusal\(\s*"([a-z_0-9]+)"', source)) | set(re.findall(r'code="(kb_[a-z_]+)"', source))
    request_codes = {code for code in codes if code.startswith("request_") and code != "request_expired"}
    fields = {f"{name}_mismatch" for name in schema.FORMS} - {"approver_mismatch", "signed_utc_mismatch"}
    assert len(codes) > 40
    for code in codes - request_codes - fields:
        assert f"`{code}`" in page, code
