"""An approval's way from the knowledge base to a verdict, and from a request by hand to an approval."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from cutter import limits
from cutter.approvals import reader, statement
from cutter.approvals.reader import Answers, check, read_approval
from cutter.approvals.request import parse_request, render_request
from cutter.approvals.signed_list import head_and_places, render_signature
from cutter.approvals.statement import Statement
from cutter.approvals.verdict import ApprovalDocument, Expected
from cutter.catalogue import Sovereign
from cutter.domain.digests import sha256_hex
from cutter.errors import NotFound, Unavailable
from cutter.gpg import Gpg
from cutter.kb import write_once
from cutter.kb.store import Store
from cutter.openpgp import SignatureEvidence
from cutter.types import Refusal
from tests.cases.approval_cases import World, request_document

NAME = "laws/approval.md"


@pytest.fixture
def kb(tmp_path: Path) -> Store:
    return Store((tmp_path / "kb").as_uri())


def put(kb: Store, document: ApprovalDocument, name: str = NAME) -> None:
    write_once.put(kb, name, document.body)
    write_once.put(kb, f"{name}.asc", document.signature)


@pytest.mark.parametrize("gate", list(Sovereign))
def test_an_approval_in_the_store_is_accepted(sovereigns: World, kb: Store, gate: Sovereign) -> None:
    request = sovereigns.request(gate)
    document = sovereigns.approve(request)
    put(kb, document)
    verdict = check(kb, NAME, sovereigns.ring, sovereigns.expected(request), sovereigns.policy)
    assert verdict.accepted, verdict.reason
    assert verdict.approval_sha256 == sha256_hex(document.body)
    assert verdict.kb_id == NAME


def test_the_facts_may_depend_on_the_bytes_that_were_read(sovereigns: World, kb: Store) -> None:
    request = sovereigns.request()
    document = sovereigns.approve(request)
    put(kb, document)
    asked: list[ApprovalDocument] = []

    def facts(read: ApprovalDocument, signed_statement: Statement | None) -> Expected:
        assert signed_statement is not None
        asked.append(read)
        return sovereigns.expected(request, revoked=read.approval_sha256 == document.approval_sha256)

    assert check(kb, NAME, sovereigns.ring, facts, sovereigns.policy).code == "revoked"
    assert (asked[0].body, asked[0].signature) == (document.body, document.signature)


def unsigned(world: World) -> ApprovalDocument:
    signed = world.approve(world.request())
    return ApprovalDocument(kb_id=NAME, body=signed.body, signature=b"no signature at all")


def of_a_stranger(world: World) -> ApprovalDocument:
    return world.approve(world.request(), by=world.mallory)


def altered_after_signing(world: World) -> ApprovalDocument:
    signed = world.approve(world.request())
    return ApprovalDocument(kb_id=NAME, body=signed.body + b" ", signature=signed.signature)


def with_another_ones_signature(world: World) -> ApprovalDocument:
    mine, other = world.approve(world.request()), world.approve(world.request(nonce="cd" * 16))
    return ApprovalDocument(kb_id=NAME, body=mine.body, signature=other.signature)


def listed(world: World, bodies: Sequence[bytes], *, by: str | None = None) -> list[ApprovalDocument]:
    """The documents of these statements under one signature."""
    head, places = head_and_places(bodies)
    openpgp = world.people.sign_detached(head, by or world.alice)
    return [
        ApprovalDocument(kb_id=f"laws/{number}.md", body=body, signature=render_signature(place, openpgp))
        for number, (body, place) in enumerate(zip(bodies, places, strict=True))
    ]


def three(world: World) -> list[bytes]:
    """The bodies of three statements of alice's about three requests."""
    return [world.approve(world.request(nonce=nonce * 16)).body for nonce in ("ab", "cd", "ef")]


def in_a_list_of_a_stranger(world: World) -> ApprovalDocument:
    return listed(world, three(world), by=world.mallory)[0]


def in_no_list(world: World) -> ApprovalDocument:
    first, *others = three(world)
    return replace(listed(world, others)[0], body=first)


def at_the_place_of_another_one(world: World) -> ApprovalDocument:
    first, second, _ = listed(world, three(world))
    return replace(first, signature=second.signature)


def with_the_signature_of_its_list_alone(world: World) -> ApprovalDocument:
    first, *_ = listed(world, three(world))
    return replace(first, signature=first.signature.partition(b"\n\n")[2])


def the_head_of_a_list(world: World) -> ApprovalDocument:
    return world.sign(head_and_places(three(world))[0])


def with_its_own_signature_as_that_of_a_list(world: World) -> ApprovalDocument:
    alone = world.approve(world.request())
    _, (place, _) = head_and_places([alone.body, b"another"])
    return replace(alone, signature=render_signature(place, alone.signature))


UNVERIFIED = (
    unsigned, of_a_stranger, altered_after_signing, with_another_ones_signature, in_a_list_of_a_stranger, in_no_list,
    at_the_place_of_another_one, with_the_signature_of_its_list_alone, with_its_own_signature_as_that_of_a_list,
)  # fmt: skip


@pytest.fixture
def parsed(monkeypatch: pytest.MonkeyPatch) -> list[bytes]:
    """The bytes that reached the parser of statements, in order; making a statement parses it too."""
    bodies: list[bytes] = []
    original = statement.parse

    def parse(body: bytes) -> Statement | Refusal:
        bodies.append(body)
        return original(body)

    monkeypatch.setattr(statement, "parse", parse)
    return bodies


@pytest.mark.parametrize("made", UNVERIFIED, ids=lambda made: str(made.__name__))
def test_the_parser_never_sees_bytes_that_no_approver_has_signed(
    sovereigns: World, kb: Store, parsed: list[bytes], made: Callable[[World], ApprovalDocument]
) -> None:
    put(kb, made(sovereigns))
    parsed.clear()
    statements: list[Statement | None] = []

    def facts(_read: ApprovalDocument, signed_statement: Statement | None) -> Expected:
        statements.append(signed_statement)
        return sovereigns.expected(sovereigns.request())

    verdict = check(kb, NAME, sovereigns.ring, facts, sovereigns.policy)
    assert not verdict.accepted
    assert (parsed, statements) == ([], [None])


def test_the_head_of_a_list_is_no_statement(sovereigns: World, kb: Store) -> None:
    put(kb, the_head_of_a_list(sovereigns))
    verdict = check(kb, NAME, sovereigns.ring, sovereigns.expected(sovereigns.request()), sovereigns.policy)
    assert (verdict.accepted, verdict.code) == (False, "statement_no_front_matter")


def test_one_signature_is_verified_once_for_all_statements_of_a_list(
    sovereigns: World, kb: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    requests = [sovereigns.request(nonce=nonce * 16) for nonce in ("ab", "cd", "ef")]
    documents = listed(sovereigns, [sovereigns.approve(request).body for request in requests])
    # Two lists of one second with the same statements have the same signature, and an earlier test may have asked.
    monkeypatch.setattr(reader, "ANSWERS", Answers())
    asked: list[bytes] = []
    verify = Gpg.verify_detached

    def counted(self: Gpg, body: bytes, signature: bytes) -> SignatureEvidence:
        asked.append(body)
        return verify(self, body, signature)

    monkeypatch.setattr(Gpg, "verify_detached", counted)
    for request, document in zip(requests, documents, strict=True):
        put(kb, document, document.kb_id)
        verdict = check(kb, document.kb_id, sovereigns.ring, sovereigns.expected(request), sovereigns.policy)
        assert (verdict.accepted, verdict.reason[:5]) == (True, "alice"), verdict
        assert verdict.approval_sha256 == sha256_hex(document.body)
        assert verdict.fingerprint == sovereigns.alice
    assert len(asked) == 1
    assert asked[0].startswith(b"cutter-signed-list/1\n")


def test_a_statement_of_a_list_counts_for_its_own_request_alone(sovereigns: World, kb: Store) -> None:
    first, *_ = listed(sovereigns, three(sovereigns))
    put(kb, first)
    expected = sovereigns.expected(sovereigns.request(nonce="cd" * 16))
    verdict = check(kb, NAME, sovereigns.ring, expected, sovereigns.policy)
    assert (verdict.accepted, verdict.step, verdict.code) == (False, 5, "nonce_mismatch")


def test_the_parser_sees_what_an_approver_has_signed_once(sovereigns: World, kb: Store, parsed: list[bytes]) -> None:
    request = sovereigns.request()
    document = sovereigns.approve(request)
    put(kb, document)
    parsed.clear()
    assert check(kb, NAME, sovereigns.ring, sovereigns.expected(request), sovereigns.policy).accepted
    assert parsed == [document.body]


@pytest.mark.parametrize(
    ("kb_id", "code"),
    [
        ("laws/nothing.md", "kb_not_found"),
        ("../approval.md", "kb_id_malformed"),
        ("/etc/approval.md", "kb_id_malformed"),
        ("laws/approval", "kb_id_malformed"),
        ("laws/approval.md.asc", "kb_id_malformed"),
        ("laws/unsigned.md", "signature_missing"),
        ("laws/large.md", "kb_too_large"),
        ("laws/link.md", "kb_not_regular"),
        ("laws/folder.md", "kb_not_regular"),
        ("laws/heavy.md", "kb_too_large"),
    ],
)
def test_what_cannot_be_read_is_a_verdict_of_step_one(
    sovereigns: World, kb: Store, tmp_path: Path, kb_id: str, code: str
) -> None:
    put(kb, sovereigns.approve(sovereigns.request()))
    write_once.put(kb, "laws/unsigned.md", b"x")
    write_once.put(kb, "laws/large.md", bytes(limits.STATEMENT_BYTES_MAX + 1))
    write_once.put(kb, "laws/large.md.asc", b"x")
    write_once.put(kb, "laws/heavy.md", b"x")
    write_once.put(kb, "laws/heavy.md.asc", bytes(limits.SIGNATURE_BYTES_MAX + 1))
    (tmp_path / "kb" / "laws" / "link.md").symlink_to(tmp_path / "kb" / "laws" / "approval.md")
    (tmp_path / "kb" / "laws" / "folder.md").mkdir()
    verdict = check(kb, kb_id, sovereigns.ring, sovereigns.expected(sovereigns.request()), sovereigns.policy)
    assert (verdict.accepted, verdict.step, verdict.code) == (False, 1, code)
    assert verdict.approval_sha256 is None
    assert verdict.reason


def test_a_store_that_is_away_is_an_outage_and_no_verdict(sovereigns: World, kb: Store, tmp_path: Path) -> None:
    put(kb, sovereigns.approve(sovereigns.request()))
    (tmp_path / "kb").rename(tmp_path / "away")
    with pytest.raises(Unavailable) as caught:
        check(kb, NAME, sovereigns.ring, sovereigns.expected(sovereigns.request()), sovereigns.policy)
    assert caught.value.what == "kb"


def test_a_statement_without_its_signature_says_how_to_make_it(kb: Store) -> None:
    write_once.put(kb, NAME, b"x")
    with pytest.raises(NotFound) as caught:
        read_approval(kb, NAME)
    assert "gpg --detach-sign --armor" in str(caught.value)


@pytest.mark.parametrize("gate", list(Sovereign))
@pytest.mark.parametrize("decision", ["approve", "reject"])
def test_the_by_hand_instructions_lead_to_an_accepted_answer(
    sovereigns: World, kb: Store, tmp_path: Path, gate: Sovereign, decision: str
) -> None:
    request = sovereigns.request(gate)
    data = render_request(request_document(request, sovereigns.now))
    document = parse_request(data)
    name = document.approval_kb_id.rpartition("/")[2]
    (tmp_path / "request.md").write_bytes(data)
    blocks = re.findall(r"```(yaml|sh)\n(.*?)```\n", data.decode(), flags=re.DOTALL)
    template = next(text for kind, text in blocks if kind == "yaml")
    (tmp_path / name).write_text(template.replace("decision: approve", f"decision: {decision}"))
    fill = next(text for kind, text in blocks if text.startswith("APPROVER="))
    sign = next(text for kind, text in blocks if text.startswith("gpg "))
    gpg_options = f"--homedir {sovereigns.people.home} --batch --local-user {sovereigns.alice}"
    commands = fill.replace("your-name", "alice") + sign.replace("gpg ", f"gpg {gpg_options} ", 1)
    subprocess.run(
        ["sh", "-euc", commands],
        cwd=tmp_path,
        check=True,
        timeout=60,
        capture_output=True,
        env={**os.environ, "LC_ALL": "C"},
    )
    write_once.put(kb, document.approval_kb_id, (tmp_path / name).read_bytes())
    write_once.put(kb, f"{document.approval_kb_id}.asc", (tmp_path / f"{name}.asc").read_bytes())
    expected = sovereigns.expected(request, now=datetime.now(tz=UTC))
    verdict = check(kb, document.approval_kb_id, sovereigns.ring, expected, sovereigns.policy)
    assert verdict.accepted, verdict.reason
    assert verdict.decision == decision
