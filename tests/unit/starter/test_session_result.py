"""The result of a signing session as a command's answer: which fields it has, and in which order."""

from __future__ import annotations

from starter.approver.session_result import SessionResult
from starter.approver.session_signatures import Handover
from starter.approver.signing_sequel import Sequel
from temporal.batches import RefusedStatement, SetReply
from temporal.runs import OrderReply

REFUSED = RefusedStatement(document_id="ICX-2", kb_id="kb/x.md", code="expired", reason="too late")
REPLY = SetReply(status="accepted", accepted=("ICX-1",), refused=(REFUSED,), missing=("ICX-3",))
SET = {
    "accepted": ["ICX-1"],
    "refused": [{"document_id": "ICX-2", "kb_id": "kb/x.md", "code": "expired", "reason": "too late"}],
    "missing": ["ICX-3"],
}
NEXT = Sequel(next="cutter status b")


def items(result: SessionResult) -> list[tuple[str, object]]:
    return list(result.as_json().items())


def test_a_session_counts_its_decisions_and_names_each_rejection_and_what_it_left_out() -> None:
    result = SessionResult(
        batch_id="b", approvals=1, rejections=("ICX-4: handed to its run",), left_out=("ICX-9 (why)",),
        handover=Handover(folder="kb/set", reply=REPLY), sequel=NEXT,
    )  # fmt: skip
    assert items(result) == [
        ("batch_id", "b"), ("signed", 2), ("approvals", 1), ("rejections", 1), ("status", "accepted"),
        ("folder", "kb/set"), *SET.items(), ("rejected", ["ICX-4: handed to its run"]), ("next", "cutter status b"),
        ("left_out", ["ICX-9 (why)"]),
    ]  # fmt: skip


def test_a_session_that_approved_nothing_is_accepted_and_has_no_set() -> None:
    result = SessionResult(batch_id="b", approvals=0, rejections=(), left_out=(), handover=None, sequel=Sequel())
    assert items(result) == [
        ("batch_id", "b"), ("signed", 0), ("approvals", 0), ("rejections", 0), ("status", "accepted"), ("left_out", []),
    ]  # fmt: skip


def test_approvals_for_a_night_are_named_and_are_no_set() -> None:
    assert Handover(pre_batched=("kb/a.md",)).as_json() == {"status": "accepted", "pre_batched": ["kb/a.md"]}


def test_a_set_that_was_refused_as_a_whole_says_why() -> None:
    reply = SetReply(status="refused", code="set_empty", reason="no statement")
    assert list(reply.as_json()) == ["status", "code", "reason", "accepted", "refused", "missing"]
    assert (Handover(folder="kb/set", reply=reply).status, Handover(folder="kb/set", reply=reply).accepted) == (
        "refused",
        (),
    )


def test_the_second_signature_comes_after_what_happens_until_then() -> None:
    sequel = Sequel(next="cutter approve --batch b", then="first", second_signature="open for 24 hours")
    assert list(sequel.as_json().items()) == [
        ("then", "first"), ("SG_2", "open for 24 hours"), ("next", "cutter approve --batch b"),
    ]  # fmt: skip


def test_the_reply_to_an_order_is_a_status_a_code_and_a_reason() -> None:
    reply = OrderReply(status="queued", code="early", reason="it waits")
    assert list(reply.as_json().items()) == [("status", "queued"), ("code", "early"), ("reason", "it waits")]
