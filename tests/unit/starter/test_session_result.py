"""The result of a signing session as a command's answer: which fields it has, and in which order."""

from __future__ import annotations

from starter.approver.signing_session import session_answer
from temporal.batches import RefusedStatement, SetReply
from temporal.runs import OrderReply

REFUSED = RefusedStatement(document_id="ICX-2", kb_id="kb/x.md", code="expired", reason="too late")
REPLY = SetReply(status="accepted", accepted=("ICX-1",), refused=(REFUSED,), missing=("ICX-3",))
SET = {
    "accepted": ["ICX-1"],
    "refused": [{"document_id": "ICX-2", "kb_id": "kb/x.md", "code": "expired", "reason": "too late"}],
    "missing": ["ICX-3"],
}
NEXT = {"next": "cutter status b"}


def test_a_session_counts_its_decisions_and_names_each_rejection_and_what_it_left_out() -> None:
    handed = {"status": "accepted", "folder": "kb/set", **REPLY.as_json()}
    answer = session_answer("b", 1, ["ICX-4: handed to its run"], handed, NEXT, ["ICX-9 (why)"])
    assert list(answer.items()) == [
        ("batch_id", "b"), ("signed", 2), ("approvals", 1), ("rejections", 1), ("status", "accepted"),
        ("folder", "kb/set"), *SET.items(), ("rejected", ["ICX-4: handed to its run"]), ("next", "cutter status b"),
        ("left_out", ["ICX-9 (why)"]),
    ]  # fmt: skip


def test_a_session_that_approved_nothing_is_accepted_and_has_no_set() -> None:
    assert list(session_answer("b", 0, [], {"status": "accepted"}, {}, []).items()) == [
        ("batch_id", "b"), ("signed", 0), ("approvals", 0), ("rejections", 0), ("status", "accepted"), ("left_out", []),
    ]  # fmt: skip


def test_a_set_that_was_refused_as_a_whole_says_why() -> None:
    reply = SetReply(status="refused", code="set_empty", reason="no statement")
    assert list(reply.as_json()) == ["status", "code", "reason", "accepted", "refused", "missing"]
    assert session_answer("b", 1, [], reply.as_json(), {}, [])["status"] == "refused"


def test_the_reply_to_an_order_is_a_status_a_code_and_a_reason() -> None:
    reply = OrderReply(status="queued", code="early", reason="it waits")
    assert list(reply.as_json().items()) == [("status", "queued"), ("code", "early"), ("reason", "it waits")]
