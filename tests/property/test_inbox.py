"""The reducer of messages: total over anything, blind to the order of approvals, bounded, stops first."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from cutter import limits
from temporal.client import UNDECODABLE
from workflows import message_queue

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=40) | st.just(UNDECODABLE),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=20), inner, max_size=3),
    max_leaves=8,
)
KB_IDS = st.from_regex(r"[a-z]{1,6}/[a-z0-9]{1,8}\.md", fullmatch=True)
ARGUMENTS = st.lists(JSON | KB_IDS | KB_IDS.map(lambda k: {"approval_kb_id": k}), max_size=3)
NAMES = st.sampled_from(message_queue.KNOWN) | st.text(max_size=20)
MESSAGES = st.lists(st.tuples(NAMES, ARGUMENTS), max_size=30)


def after(messages: list[tuple[str, list[Any]]]) -> message_queue.MessageQueue:
    box = message_queue.MessageQueue()
    for name, arguments in messages:
        box = message_queue.reduce(box, name, arguments)
    return box


@given(MESSAGES)
def test_every_message_is_taken_refused_dropped_or_a_stop(messages: list[tuple[str, list[Any]]]) -> None:
    box = after(messages)
    stops = sum(name in message_queue.STOP_MESSAGES for name, _ in messages)
    assert box.tickets == len(messages) == len(box.messages) + len(box.refused) + box.dropped + stops
    tickets = [message.ticket for message in (*box.messages, *box.refused)]
    assert len(set(tickets)) == len(tickets)
    assert all(refusal.reason and refusal.code for refusal in box.refused)
    assert (box.stop is not None) == (stops > 0)


@given(MESSAGES)
def test_taking_gives_every_letter_once_in_its_order(messages: list[tuple[str, list[Any]]]) -> None:
    box = after(messages)
    letters = box.messages
    taken = []
    while True:
        letter, box = message_queue.take(box)
        if letter is None:
            break
        taken.append(letter)
    assert tuple(taken) == letters
    assert sorted(message.ticket for message in taken) == [message.ticket for message in taken]


@given(st.lists(KB_IDS, unique=True, max_size=20), st.randoms(use_true_random=False))
def test_the_order_of_distinct_approvals_does_not_matter(kb_ids: list[str], dice: Any) -> None:
    shuffled = list(kb_ids)
    dice.shuffle(shuffled)
    first = after([("submit_approval", [kb_id]) for kb_id in kb_ids])
    second = after([("submit_approval", [kb_id]) for kb_id in shuffled])
    assert (
        {message.kb_id for message in first.messages} == {message.kb_id for message in second.messages} == set(kb_ids)
    )
    assert first.known == second.known
    assert not first.refused


@given(MESSAGES, st.lists(KB_IDS, min_size=1, max_size=4, unique=True))
def test_a_document_that_is_here_is_a_duplicate_until_it_is_forgotten(
    messages: list[tuple[str, list[Any]]], kb_ids: list[str]
) -> None:
    box = after([("submit_approval", [kb_id]) for kb_id in kb_ids])
    again = message_queue.reduce(box, "submit_approval", [kb_ids[0]])
    assert again.refused[-1].code == "duplicate"
    forgotten = message_queue.reduce(message_queue.forget(box, kb_ids[0]), "submit_approval", [kb_ids[0]])
    assert not forgotten.refused
    assert all(kb_ids[0] != kb for _, kb in message_queue.forget(after(messages), kb_ids[0]).known)


@given(st.lists(st.sampled_from(["stop", "cancel"]), min_size=1, max_size=5), ARGUMENTS)
def test_cancel_outweighs_stop_in_every_order(kinds: list[str], arguments: list[Any]) -> None:
    box = after([(kind, arguments) for kind in kinds])
    assert box.stop is not None
    assert box.stop.kind == ("cancel" if "cancel" in kinds else "stop")
    assert 0 < len(box.stop.reason) <= limits.REASON_CHARACTERS_MAX


def test_a_full_inbox_drops_the_rest_and_still_takes_a_stop() -> None:
    many = 3 * limits.INBOX_MESSAGES_MAX
    box = after([("submit_approval", [f"k/{number}.md"]) for number in range(many)])
    box = _and(box, [("resume", [f"k/{number}.md"]) for number in range(many)])
    box = _and(box, [("nonsense", []) for _ in range(many)])
    assert len(box.messages) + len(box.refused) <= 3 * limits.INBOX_MESSAGES_MAX
    assert box.dropped > 0
    assert message_queue.reduce(box, "stop", []).stop is not None


def test_no_flood_of_one_document_grows_the_refusals() -> None:
    """Each refusal copies the others: 9,000 of them in one workflow task came close to the SDK's two seconds."""
    box = after([("submit_approval", ["k/1.md"])] * 3 * limits.INBOX_MESSAGES_MAX)
    assert len(box.refused) == limits.INBOX_MESSAGES_MAX
    assert len(box.messages) + len(box.refused) + box.dropped == box.tickets


def test_a_flood_of_refusals_leaves_room_for_orders() -> None:
    box = after([("nonsense", [])] * 2 * limits.INBOX_MESSAGES_MAX)
    box = message_queue.reduce(box, "resume", ["orders/resume.md"])
    letter, _ = message_queue.take(box, orders=True)
    assert letter is not None
    assert letter.kb_id == "orders/resume.md"


def test_early_approvals_leave_room_for_orders() -> None:
    box = after([("submit_approval", [f"k/{number}.md"]) for number in range(2 * limits.INBOX_MESSAGES_MAX)])
    box = message_queue.reduce(box, "resume", ["orders/resume.md"])
    letter, rest = message_queue.take(box, orders=True)
    assert letter is not None
    assert letter.kb_id == "orders/resume.md"
    assert len(rest.messages) == limits.INBOX_MESSAGES_MAX
    emptied = message_queue.without_early(rest)
    assert emptied.messages == ()
    assert not message_queue.reduce(emptied, "submit_approval", ["k/1.md"]).refused


def _and(box: message_queue.MessageQueue, messages: list[tuple[str, list[Any]]]) -> message_queue.MessageQueue:
    for name, arguments in messages:
        box = message_queue.reduce(box, name, arguments)
    return box
