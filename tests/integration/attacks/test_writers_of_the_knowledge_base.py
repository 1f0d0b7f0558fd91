"""Who writes the knowledge base can put, hide and change documents there: a run waits, and nothing else is approved."""

from __future__ import annotations

from pathlib import Path

import pytest

from cutter.approvals import schema
from cutter.approvals.request import parse_request
from cutter.approvals.statement import render
from cutter.catalogue import Sovereign
from cutter.domain.digests import sha256_hex
from cutter.errors import Refused
from cutter.kb.ids import signature_of
from starter.approver import signing_desk
from tests.support.runs import Deployment, drive, law

LEG_A = "IG_cut_leg_a_execute"


@pytest.fixture
def run_id(deployment: Deployment) -> str:
    """A run before leg A."""
    return drive(deployment, law(3), until="IG_grant_probe").run_id


def path_of(deployment: Deployment, kb_id: str) -> Path:
    return deployment.settings.state / "kb" / kb_id


def put(deployment: Deployment, kb_id: str, data: bytes) -> None:
    """Write below the store, past its write-once rule."""
    path = path_of(deployment, kb_id)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)


def units(deployment: Deployment) -> int:
    return int(deployment.database.value("select count(*) from public.information_unit"))


def another(deployment: Deployment, run_id: str, text: str) -> tuple[bytes, bytes]:
    """A second approval of the same request by the same person, with its signature."""
    document, data = signing_desk.read_request(deployment.settings, run_id, deployment.request(run_id, Sovereign.CUT))
    who = deployment.keys.signing()
    body = render(signing_desk.answer(document, data, who, schema.APPROVE, text=text))
    return body, deployment.keys.people.sign_detached(body, who.fingerprint)


def consumed(deployment: Deployment) -> list[str]:
    """The approvals that opened a gate."""
    names = "select array_agg(approval_sha256) from cutter_governance.approval_consumption"
    return list(deployment.database.value(names))


def test_an_approval_that_is_replaced_after_its_verdict_is_not_the_one_that_counts(
    deployment: Deployment, run_id: str
) -> None:
    kb_id, verdict = deployment.approve(run_id, Sovereign.CUT)
    body, signature = another(deployment, run_id, "another good one, which the cutter worker never judged")
    put(deployment, kb_id, body)
    put(deployment, signature_of(kb_id), signature)
    assert deployment.gate(LEG_A, run_id, (kb_id,)).status == "passed"
    assert consumed(deployment) == [verdict.approval_sha256]


@pytest.mark.parametrize("damage", ["changed", "signature", "hidden", "huge", "link", "folder"])
def test_what_becomes_of_an_approval_after_its_verdict_changes_nothing(
    deployment: Deployment, run_id: str, damage: str
) -> None:
    """The database keeps the bytes that were judged."""
    kb_id, verdict = deployment.approve(run_id, Sovereign.CUT)
    path = path_of(deployment, kb_id)
    good = path.read_bytes()
    if damage == "changed":
        path.write_bytes(good + b" ")
    elif damage == "signature":
        path_of(deployment, signature_of(kb_id)).unlink()
    elif damage == "huge":
        path.write_bytes(good + b"\n" * 70_000)
    else:
        path.unlink()
    if damage == "link":
        outside = deployment.settings.state / "outside.md"
        outside.write_bytes(good)
        path.symlink_to(outside)
    elif damage == "folder":
        path.mkdir()
    assert deployment.gate(LEG_A, run_id, (kb_id,)).status == "passed"
    assert consumed(deployment) == [verdict.approval_sha256]


def test_our_own_documents_are_no_approvals_whatever_is_put_beside_them(deployment: Deployment, run_id: str) -> None:
    request = deployment.request(run_id, Sovereign.CUT)
    ours = path_of(deployment, request).read_bytes()
    signature = deployment.keys.people.sign_detached(ours, deployment.keys.signing().fingerprint)
    put(deployment, signature_of(request), signature)
    put(deployment, "copies/of-it.md", ours)
    put(deployment, signature_of("copies/of-it.md"), signature)
    for kb_id in (request, "copies/of-it.md"):
        assert deployment.judge(run_id, Sovereign.CUT.value, kb_id).code == "written_by_us"


def test_a_request_that_was_altered_is_not_signed_or_is_signed_in_vain(deployment: Deployment, run_id: str) -> None:
    kb_id = deployment.request(run_id, Sovereign.CUT)
    good = path_of(deployment, kb_id).read_bytes()
    document = parse_request(good)
    digest = document.request.writer_digest.encode()  # type: ignore[union-attr]
    put(deployment, kb_id, good.replace(digest, b"0" * 64))
    with pytest.raises(Refused):
        signing_desk.read_request(deployment.settings, run_id, kb_id)
    put(deployment, kb_id, good)
    read, _ = signing_desk.read_request(deployment.settings, run_id, kb_id)
    who = deployment.keys.signing()
    shown = good + b"\nNothing of importance changes.\n"
    statement = signing_desk.answer(read, shown, who, schema.APPROVE)
    assert sha256_hex(shown) == statement.request_sha256
    name = signing_desk.sign_and_upload(deployment.settings, statement, who, read.approval_kb_id)
    assert deployment.judge(run_id, Sovereign.CUT.value, name).code == "request_sha256_mismatch"


def test_a_genuine_request_of_another_run_is_not_signed_in_its_place(deployment: Deployment, run_id: str) -> None:
    other = drive(deployment, law(2), until="IG_grant_probe").run_id
    ours, theirs = (deployment.request(run, Sovereign.CUT) for run in (run_id, other))
    put(deployment, ours, path_of(deployment, theirs).read_bytes())
    with pytest.raises(Refused, match="do not sign") as refused:
        signing_desk.read_request(deployment.settings, run_id, ours)
    assert refused.value.code == "request_of_another"
    signing_desk.read_request(deployment.settings, other, theirs)


def test_a_snapshot_that_was_altered_is_not_signed(deployment: Deployment, run_id: str) -> None:
    document, _ = signing_desk.read_request(deployment.settings, run_id, deployment.request(run_id, Sovereign.CUT))
    built = signing_desk.recompute(deployment.settings, document)
    assert built.digests.writer_digest == document.request.writer_digest
    put(deployment, document.snapshot_kb_id, b"# Another law\n\n## Article 1. All\n\nText.\n")
    with pytest.raises(Refused, match="do not sign"):
        signing_desk.recompute(deployment.settings, document)
