"""Single messages and their reasons."""

from __future__ import annotations

from typing import Any

import pytest

from workflows import message_queue

EMPTY = message_queue.MessageQueue()


@pytest.mark.parametrize("argument", ["k/a.md", {"approval_kb_id": "k/a.md"}, {"kb_id": "k/a.md"}])
def test_the_forms_of_an_approval(argument: Any) -> None:
    (letter,) = message_queue.reduce(EMPTY, "submit_approval", [argument]).messages
    assert (letter.name, letter.kb_id) == ("submit_approval", "k/a.md")


@pytest.mark.parametrize(
    ("name", "arguments", "code"),
    [
        ("submit_approval", [], "malformed"),
        ("submit_approval", [None], "malformed"),
        ("submit_approval", ["a.txt"], "malformed"),
        ("submit_approval", ["/etc/a.md"], "malformed"),
        ("submit_approval", ["../a.md"], "malformed"),
        ("submit_approval", [{"approval_kb_id": "a.md", "more": 1}], "malformed"),
        ("submit_approval", ["a.md", "b.md"], "wrong_arguments"),
        ("void", [], "malformed"),
        ("acknowledge_drift", [{}], "malformed"),
        ("resume", [[]], "malformed"),
        ("approve", ["a.md"], "unknown_message"),
        ("", [], "unknown_message"),
    ],
)
def test_refusals_and_their_codes(name: str, arguments: list[Any], code: str) -> None:
    box = message_queue.reduce(EMPTY, name, arguments)
    assert box.messages == ()
    assert [refusal.code for refusal in box.refused] == [code]
    assert message_queue.refusal(box, 1) == box.refused[0]
    assert message_queue.refusal(box, 2) is None


@pytest.mark.parametrize("name", ["resume", "resume_stopped"])
@pytest.mark.parametrize("arguments", [[], [None], [""], [{}]])
def test_a_resume_without_a_document_is_the_operators(name: str, arguments: list[Any]) -> None:
    (letter,) = message_queue.reduce(EMPTY, name, arguments).messages
    assert letter.kb_id is None


@pytest.mark.parametrize("argument", ["too early", {"reason": "too early"}, {"reason": " too \n early "}])
def test_the_reason_of_a_stop(argument: Any) -> None:
    stop = message_queue.reduce(EMPTY, "stop", [argument]).stop
    assert stop == message_queue.StopOrder(kind="stop", reason="too early")


@pytest.mark.parametrize("arguments", [[], [7], [{"why": "x"}], [""], ["a", "b", "c"][:0]])
def test_a_stop_needs_no_reason(arguments: list[Any]) -> None:
    stop = message_queue.reduce(EMPTY, "stop", arguments).stop
    assert stop is not None
    assert stop.reason == "no reason given"
