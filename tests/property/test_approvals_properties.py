"""Properties of statements, requests, policies and signature files over generated values."""

from __future__ import annotations

import re
import string
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from hashlib import sha256

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from cutter import limits, plain_yaml
from cutter.approvals import schema
from cutter.approvals.approver_store import default_rules
from cutter.approvals.policy import Approver, ApproverPolicy, Tier
from cutter.approvals.policy_file import parse_policy, render_policy
from cutter.approvals.request import Changes, UnitLine, escape, parse_request, render_request
from cutter.approvals.signed_list import (
    SignatureFile,
    head_and_places,
    read_signature,
    render_signature,
    signed_bytes,
)
from cutter.approvals.statement import Statement, parse, render, statement_record
from cutter.errors import InvalidInput
from cutter.evidence.offline.notation import signed_over
from cutter.openpgp import SignatureForm, armor, dearmor, read_form, read_status
from cutter.types import Refusal
from tests.cases.approval_cases import DEPLOYMENT, digest, request_document, request_tuple, signature_packet

NOW = datetime(2026, 11, 21, 12, 0, 0, tzinfo=UTC)
instants = st.integers(0, 2_000_000_000).map(
    lambda second: datetime(2000, 1, 1, tzinfo=UTC) + timedelta(seconds=second)
)
digests = st.integers(0, 2**256 - 1).map(lambda number: f"{number:064x}")
names = st.from_regex(schema.NAME_FORM, fullmatch=True)
texts = st.text(
    st.characters(min_codepoint=32, max_codepoint=0x2000, exclude_categories=["Cc", "Cf", "Cs"]), max_size=60
)
unhurried = settings(deadline=None, max_examples=40)
"""A busy machine is no reason to fail."""

SIGNED = b"-----BEGIN PGP SIGNATURE-----\n"
GATES = ("SG_cut_authz", "SG_lifecycle_authz")


@st.composite
def statements(draw: st.DrawFn) -> Statement:
    """Any statement of any kind."""
    decision, binding = draw(st.sampled_from(schema.KINDS))
    gate = draw(st.sampled_from(GATES))
    fields = schema.fields_of(decision, binding, gate)
    assert fields is not None
    values: dict[str, object] = {}
    for name in fields:
        pattern, _ = schema.FORMS[name]
        if name in ("signed_utc", "not_after"):
            values[name] = draw(instants)
        elif name == "candidate_count":
            values[name] = draw(st.integers(1, 99_999))
        elif name == "reason":
            values[name] = draw(st.from_regex(r"[A-Za-z0-9][A-Za-z0-9 ]{0,40}[a-z]", fullmatch=True))
        else:
            values[name] = draw(st.from_regex(pattern, fullmatch=True))
    values |= {"decision": decision, "binding": binding, "gate": gate}
    return Statement(**values, text=draw(st.text(string.ascii_letters + " \n-:", max_size=80)))  # type: ignore[arg-type]


@unhurried
@given(statements())
def test_a_statement_reads_back_as_it_was_written(statement: Statement) -> None:
    assert parse(render(statement)) == statement


@unhurried
@given(statements())
def test_every_yaml_reader_sees_the_same_fields(statement: Statement) -> None:
    front = render(statement).decode().split("\n---\n")[0].removeprefix("---\n")
    assert yaml.load(front, Loader=yaml.BaseLoader) == statement_record(statement)


@unhurried
@given(statements(), st.data())
def test_a_field_less_or_more_or_twice_refuses(statement: Statement, data: st.DataObject) -> None:
    lines = render(statement).decode().split("\n")
    end = lines.index("---", 1)
    at = data.draw(st.integers(1, end - 1))
    assert isinstance(parse("\n".join(lines[:at] + lines[at + 1 :]).encode()), Refusal)
    assert isinstance(parse("\n".join([*lines[:at], lines[at], *lines[at:]]).encode()), Refusal)
    foreign = sorted(set(schema.FORMS) - set(statement_record(statement)))
    pattern, _ = schema.FORMS[data.draw(st.sampled_from(foreign))]
    assert pattern
    extra = f"{data.draw(st.sampled_from(foreign))}: {data.draw(st.sampled_from(['x', digest('x')]))}"
    assert isinstance(parse("\n".join([*lines[:at], extra, *lines[at:]]).encode()), Refusal)


@unhurried
@given(statements(), st.data())
def test_what_still_parses_after_a_change_of_the_front_matter_is_another_statement(
    statement: Statement, data: st.DataObject
) -> None:
    body = render(statement)
    end = body.index(b"\n---\n", 3)
    at = data.draw(st.integers(0, end))
    changed = body[:at] + bytes([data.draw(st.integers(0, 255))]) + body[at + 1 :]
    result = parse(changed)
    assert changed == body or isinstance(result, Refusal) or result != statement


@unhurried
@given(st.binary(max_size=300))
def test_no_bytes_make_the_readers_raise_or_find_what_is_not_there(data: bytes) -> None:
    for text in (data, b"---\n" + data):
        assert isinstance(parse(text), Refusal)
        assert isinstance(parse_request(text), Refusal)
    assert isinstance(read_form(data), Refusal)
    assert isinstance(read_form(armor(data)), SignatureForm | Refusal)
    assert dearmor(armor(data)) == data or not data
    assert read_status(data.decode("latin-1").split("\n")).records == ()


@unhurried
@given(st.lists(st.sampled_from([
    "[GNUPG:] NEWSIG", "[GNUPG:] GOODSIG A x", "[GNUPG:] BADSIG A x", "[GNUPG:] EXPKEYSIG A x",
    f"[GNUPG:] VALIDSIG {'A' * 40} 2026-11-21 1795229796 0 4 0 22 10 00 {'A' * 40}",
]), max_size=6))  # fmt: skip
def test_no_order_of_status_lines_hides_a_signature(lines: list[str]) -> None:
    records = read_status(lines).records
    assert len(records) >= min(1, len(lines))
    assert len(records) >= sum(line.endswith("NEWSIG") for line in lines)


@unhurried
@given(st.binary(min_size=1, max_size=200))
def test_armor_round_trips(data: bytes) -> None:
    assert dearmor(armor(data)) == data


@unhurried
@given(st.binary(min_size=1, max_size=100))
def test_nothing_rides_along_with_a_signature_packet(extra: bytes) -> None:
    assert isinstance(read_form(armor(signature_packet())), SignatureForm)
    assert isinstance(read_form(armor(signature_packet() + extra)), Refusal)


@unhurried
@given(st.lists(texts, max_size=4), texts)
def test_a_request_with_any_titles_and_any_shown_text_reads_back(titles: list[str], shown: str) -> None:
    units = [UnitLine(address=f"ICX-LAW-1/ART-{number}", title=title) for number, title in enumerate(titles)]
    document = replace(
        request_document(request_tuple(), NOW),
        changes=Changes.of(added=units, changed=units, removed=()),
        shown=shown,
    )
    assert parse_request(render_request(document)) == document


@unhurried
@given(st.text(max_size=80))
def test_an_escaped_text_is_one_line_without_hidden_characters(text: str) -> None:
    shown = escape(text)
    assert "\n" not in shown
    assert shown.isprintable() or all(character.isprintable() or character.isspace() for character in shown)
    assert not re.search(r"(?<!\\)[`*_\[\]<>|]", shown)


@unhurried
@given(digests, digests, st.integers(1, 9_999))
def test_two_tuples_have_two_challenges(text: str, other: str, count: int) -> None:
    first = replace(request_tuple(), writer_digest=text, candidate_count=count)
    second = replace(request_tuple(), writer_digest=other, candidate_count=count)
    assert (first.challenge == second.challenge) == (text == other)


@st.composite
def approvers(draw: st.DrawFn) -> tuple[Approver, ...]:
    """Any set of approvers with distinct names and keys."""
    people = draw(st.lists(names, unique=True, max_size=5))
    return tuple(
        Approver(
            name=name,
            fingerprint=f"{number:040X}",
            key_sha256=digest(name),
            groups=tuple(draw(st.lists(names, unique=True, max_size=3))),
            gates=tuple(draw(st.lists(st.sampled_from(GATES), unique=True))),
            not_before=NOW,
            not_after=NOW + timedelta(seconds=draw(st.integers(1, 10**8))),
        )
        for number, name in enumerate(people)
    )


@given(approvers(), st.sampled_from(Tier), st.integers(1, 8))
@settings(max_examples=50, deadline=None)
def test_a_policy_reads_back_as_it_was_written(people: tuple[Approver, ...], tier: Tier, succession: int) -> None:
    made = ApproverPolicy(
        number=1,
        deployment_id=DEPLOYMENT,
        previous_sha256=None,
        approvers=people,
        gates=default_rules(tier),
        lifecycle_group="sovereigns",
        succession=succession,
        gpg_binary="/usr/bin/gpg",
        gpg_version_floor=(2, 2, 0),
    )
    data = render_policy(made)
    policy = parse_policy(data)
    assert (policy.approvers, policy.succession, policy.data) == (people, succession, data)
    assert policy.tier_of("SG_cut_authz") == tier


@unhurried
@given(st.text(max_size=120) | st.lists(st.sampled_from(
    ["a: b", "- x", "  c: d", "&a x", "*a", "<<: *a", "!!str x", "? k", "---", "...", "a: |", "{a: b}", "[x, y]", "a:"]
), max_size=6).map("\n".join))  # fmt: skip
def test_any_yaml_is_read_as_plain_texts_or_refused(text: str) -> None:
    try:
        node = plain_yaml.load(text.encode("utf-8", "surrogatepass"), bytes_max=10_000)
    except InvalidInput:
        return
    assert isinstance(node, plain_yaml.Scalar | plain_yaml.Items | plain_yaml.Fields)
    try:
        other = yaml.load(text, Loader=yaml.BaseLoader)
    except yaml.YAMLError:  # The parser in Python refuses some blanks that libyaml skips, such as a tab at the end.
        return
    assert _plain(node) == other


def _plain(node: plain_yaml.Node) -> object:
    if isinstance(node, plain_yaml.Scalar):
        return node.text
    if isinstance(node, plain_yaml.Items):
        return [_plain(item) for item in node.items]
    return {key.text: _plain(value) for key, value in node.entries}


# --- one signature for many statements -------------------------------------------------------------------------------

bodies = st.lists(st.binary(max_size=8), min_size=1, max_size=70, unique=True)


@unhurried
@given(bodies)
def test_each_statement_of_a_list_proves_the_head_that_was_signed(statements: list[bytes]) -> None:
    head, places = head_and_places(statements)
    assert f"statements: {len(statements)}\n".encode() in head
    for body, place in zip(statements, places, strict=True):
        file = render_signature(place, SIGNED)
        assert read_signature(file) == SignatureFile(openpgp=SIGNED, place=place)
        assert signed_bytes(body, place) == head
        assert signed_over(body, file) == (head, SIGNED), "an auditor computes the same"


@unhurried
@given(bodies, st.data())
def test_a_statement_that_is_not_at_its_place_proves_another_head(statements: list[bytes], data: st.DataObject) -> None:
    head, places = head_and_places(statements)
    body, place = data.draw(st.sampled_from(list(zip(statements, places, strict=True))))
    other = data.draw(
        st.one_of(st.binary(max_size=70), st.sampled_from(statements)).filter(lambda candidate: candidate != body)
    )
    assert signed_bytes(other, place) != head
    for moved in (replace(place, index=(place.index + 1) % place.count), replace(place, count=place.count + 1)):
        file = read_signature(render_signature(moved, SIGNED))
        if moved != place and isinstance(file, SignatureFile):
            assert signed_bytes(body, file.place) != head
    for number in range(len(place.siblings)):
        bent = [*place.siblings]
        bent[number] = bytes([bent[number][0] ^ 1, *bent[number][1:]])
        assert signed_bytes(body, replace(place, siblings=tuple(bent))) != head


def test_the_root_of_a_list_is_that_of_the_description() -> None:
    a, b, c = (sha256(b"\0" + body).digest() for body in (b"a", b"b", b"c"))
    root = sha256(b"\1" + sha256(b"\1" + a + b).digest() + c).hexdigest()
    head, places = head_and_places([b"a", b"b", b"c"])
    assert head.decode() == f"cutter-signed-list/1\nI sign each statement of this list.\nstatements: 3\nroot: {root}\n"
    assert [place.siblings for place in places] == [(b, c), (a, c), (sha256(b"\1" + a + b).digest(),)]


LISTED = render_signature(head_and_places([b"a", b"b", b"c"])[1][0], SIGNED)


@pytest.mark.parametrize(
    "file",
    [
        LISTED.replace(b"/1", b"/2", 1), LISTED.replace(b"1 of 3", b"0 of 3"), LISTED.replace(b"1 of 3", b"4 of 3"),
        LISTED.replace(b"1 of 3", b"01 of 3"), LISTED.replace(b"1 of 3", b"3 of 3"),
        LISTED.replace(b"1 of 3", b"1 of 9"), LISTED.replace(b"sibling: ", b"sibling:  ", 1),
        LISTED.replace(b"\n\n", b"\n", 1), LISTED.replace(b"\n", b"\r\n"),
        LISTED.upper().replace(b"CUTTER", b"cutter"), b"cutter-", b"cutter-list-signature/1\n",
        LISTED.replace(b"sibling", b"sibling: " + b"0" * 64 + b"\nsibling", 1),
    ],
)  # fmt: skip
def test_a_signature_file_of_a_list_has_one_form(file: bytes) -> None:
    refusal = read_signature(file)
    assert isinstance(refusal, Refusal)
    assert refusal.code == "signature_malformed"
    with pytest.raises(ValueError, match="signature file"):
        signed_over(b"a", file)


def test_a_list_has_a_statement_and_not_too_many() -> None:
    for statements in ([], [b""] * (limits.LIST_STATEMENTS_MAX + 1)):
        with pytest.raises(InvalidInput, match="sign a part"):
            head_and_places(statements)
    _, places = head_and_places([b"%d" % number for number in range(limits.LIST_STATEMENTS_MAX)])
    assert max(len(render_signature(place, b"")) for place in places) < limits.SIGNATURE_BYTES_MAX / 8
    assert isinstance(read_signature(render_signature(places[-1], SIGNED)), SignatureFile)
