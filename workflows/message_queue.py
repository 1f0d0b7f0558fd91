"""Pure: the queue of messages to a run, and its reducer.

The reducer takes anything, never raises, and forgets nothing that it accepted.

A handler passes its name and the arguments as they came. A malformed, unknown or repeated message becomes a refusal
with a reason. A message can only carry a KB id or a person's reason; nothing else in it is believed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from cutter import limits
from cutter.domain import ids

APPROVAL_MESSAGES = ("submit_approval", "resume")
ORDER_MESSAGES = ("resume_stopped", "acknowledge_drift", "void")
STOP_MESSAGES = ("stop", "cancel")
EARLY = "submit_approval"
"""Messages that may wait for their gate. All other messages are about the present state of the run."""

KNOWN = (*APPROVAL_MESSAGES, *ORDER_MESSAGES, *STOP_MESSAGES)


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """A well-formed message: `kb_id` of a signed document, or None for an unsigned resume."""

    ticket: int
    name: str
    kb_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class StopOrder:
    """A person's stop or cancel. A cancel outweighs a stop."""

    kind: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RefusedMessage:
    """A message that was not accepted, and the reason."""

    ticket: int
    name: str
    code: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageQueue:
    """All messages that have arrived and are not handled yet, in order of arrival."""

    messages: tuple[Message, ...] = ()
    stop: StopOrder | None = None
    refused: tuple[RefusedMessage, ...] = ()
    tickets: int = 0
    dropped: int = 0
    known: frozenset[tuple[str, str]] = field(default_factory=frozenset)


def reduce(queue: MessageQueue, name: str, arguments: Sequence[Any]) -> MessageQueue:
    """The queue with one more message. Total: it accepts any name and any arguments."""
    ticket = queue.tickets + 1
    queue = replace(queue, tickets=ticket)
    if name in STOP_MESSAGES:
        # A stop is checked first, because a queue that somebody has filled must not keep it out.
        reason = arguments[0] if arguments else None
        if isinstance(reason, dict):
            reason = reason.get("reason")
        text = " ".join(reason.split()) if isinstance(reason, str) else ""
        if queue.stop is not None and queue.stop.kind == "cancel":
            name = "cancel"
        stop = StopOrder(kind=name, reason=text[: limits.REASON_CHARACTERS_MAX] or "no reason given")
        return replace(queue, stop=stop)
    if _is_full(queue, name):
        return replace(queue, dropped=queue.dropped + 1)
    if name not in KNOWN:
        return _refused(queue, name, "unknown_message", f"known messages: {', '.join(KNOWN)}")
    if len(arguments) > 1:
        return _refused(queue, name, "wrong_arguments", f"one argument, not {len(arguments)}")
    kb_id = _kb_id(arguments[0] if arguments else None)
    if kb_id is None:
        if name in ("resume", "resume_stopped") and (not arguments or arguments[0] in (None, "", {})):
            return replace(queue, messages=(*queue.messages, Message(ticket=ticket, name=name)))
        return _refused(queue, name, "malformed", 'the argument is a KB id, or {"approval_kb_id": "…"}')
    if (name, kb_id) in queue.known:
        return _refused(queue, name, "duplicate", "this document is here already")
    message = Message(ticket=ticket, name=name, kb_id=kb_id)
    return replace(queue, messages=(*queue.messages, message), known=queue.known | {(name, kb_id)})


def take(queue: MessageQueue, *, orders: bool = False) -> tuple[Message | None, MessageQueue]:
    """The oldest message, and the queue without it. With `orders`, early approvals stay and wait for their gate."""
    message = next((message for message in queue.messages if not (orders and message.name == EARLY)), None)
    if message is None:
        return None, queue
    return message, replace(queue, messages=tuple(other for other in queue.messages if other != message))


def early(queue: MessageQueue) -> tuple[str, ...]:
    """KB ids of the approvals that wait for their gate, in order of arrival."""
    return tuple(message.kb_id for message in queue.messages if message.name == EARLY and message.kb_id)


def without_early(queue: MessageQueue) -> MessageQueue:
    """The queue without the approvals that wait for their gate. After a flood people must send them again."""
    gone = early(queue)
    messages = tuple(message for message in queue.messages if message.name != EARLY)
    return replace(queue, messages=messages, known=frozenset(pair for pair in queue.known if pair[1] not in gone))


def take_refused(queue: MessageQueue) -> tuple[tuple[RefusedMessage, ...], MessageQueue]:
    """The refusals that must be recorded, and the queue without them."""
    return queue.refused, replace(queue, refused=())


def refusal(queue: MessageQueue, ticket: int) -> RefusedMessage | None:
    """Why the message of this ticket was not accepted. None if it was accepted."""
    return next((message for message in queue.refused if message.ticket == ticket), None)


def forget(queue: MessageQueue, kb_id: str) -> MessageQueue:
    """Allow a document to be sent again, after it was refused or after its gate got a fresh request."""
    return replace(queue, known=frozenset(pair for pair in queue.known if pair[1] != kb_id))


def _is_full(queue: MessageQueue, name: str) -> bool:
    # Approvals and orders have separate limits. A stopped run lets approvals wait, but must still receive its resume.
    same = sum((message.name == EARLY) == (name == EARLY) for message in queue.messages)
    return same >= limits.INBOX_MESSAGES_MAX


def _refused(queue: MessageQueue, name: str, code: str, reason: str) -> MessageQueue:
    if len(queue.refused) >= limits.INBOX_MESSAGES_MAX:
        # Each refusal copies the others. Thousands of messages can arrive in one workflow task, and the SDK fails a
        # task that takes more than two seconds.
        return replace(queue, dropped=queue.dropped + 1)
    shown = name if isinstance(name, str) else "?"
    entry = RefusedMessage(ticket=queue.tickets, name=shown[:100], code=code, reason=reason)
    return replace(queue, refused=(*queue.refused, entry))


def _kb_id(argument: Any) -> str | None:
    if isinstance(argument, dict) and len(argument) == 1:
        argument = argument.get("approval_kb_id", argument.get("kb_id"))
    if not isinstance(argument, str):
        return None
    try:
        return ids.kb_id(argument)
    except ids.InvalidId:
        return None
