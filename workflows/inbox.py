"""Pure: the reducer of messages. It takes anything, never raises, and forgets nothing that it accepted.

A handler hands over its name and whatever arguments came; what is malformed, unknown or repeated becomes a refusal with
a reason. Nothing that came by message is believed beyond being a KB id or a person's reason.
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
"""Letters that may wait for their gate; all others are about the run as it stands."""

KNOWN = (*APPROVAL_MESSAGES, *ORDER_MESSAGES, *STOP_MESSAGES)


@dataclass(frozen=True, slots=True, kw_only=True)
class Letter:
    """A well-formed message: `kb_id` of a signed document, or None for an unsigned resume."""

    ticket: int
    name: str
    kb_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class StopOrder:
    """A person's stop or cancel; cancel outweighs stop."""

    kind: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Refused:
    """A message that was not taken, and why."""

    ticket: int
    name: str
    code: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Inbox:
    """All that has arrived and is not handled yet, in order of arrival."""

    letters: tuple[Letter, ...] = ()
    stop: StopOrder | None = None
    refused: tuple[Refused, ...] = ()
    tickets: int = 0
    dropped: int = 0
    known: frozenset[tuple[str, str]] = field(default_factory=frozenset)


def reduce(box: Inbox, name: str, arguments: Sequence[Any]) -> Inbox:
    """The inbox with one message more. Total: any name, any arguments."""
    ticket = box.tickets + 1
    box = replace(box, tickets=ticket)
    if name in STOP_MESSAGES:
        # First of all: an inbox that someone has filled must not keep a stop out.
        return _stopped(box, name, arguments)
    if _is_full(box, name):
        return replace(box, dropped=box.dropped + 1)
    if name not in KNOWN:
        return _refused(box, name, "unknown_message", f"known messages: {', '.join(KNOWN)}")
    if len(arguments) > 1:
        return _refused(box, name, "wrong_arguments", f"one argument, not {len(arguments)}")
    kb_id = _kb_id(arguments[0] if arguments else None)
    if kb_id is None:
        if name in ("resume", "resume_stopped") and _is_empty(arguments):
            return replace(box, letters=(*box.letters, Letter(ticket=ticket, name=name)))
        return _refused(box, name, "malformed", 'the argument is a KB id, or {"approval_kb_id": "…"}')
    if (name, kb_id) in box.known:
        return _refused(box, name, "duplicate", "this document is here already")
    letter = Letter(ticket=ticket, name=name, kb_id=kb_id)
    return replace(box, letters=(*box.letters, letter), known=box.known | {(name, kb_id)})


def take(box: Inbox, *, orders: bool = False) -> tuple[Letter | None, Inbox]:
    """The oldest letter, and the inbox without it. With `orders`, early approvals stay and wait for their gate."""
    letter = next((one for one in box.letters if not (orders and one.name == EARLY)), None)
    if letter is None:
        return None, box
    return letter, replace(box, letters=tuple(one for one in box.letters if one != letter))


def without_early(box: Inbox) -> Inbox:
    """The inbox without the approvals that wait for their gate: after a flood they must be sent again."""
    gone = {one.kb_id for one in box.letters if one.name == EARLY}
    letters = tuple(one for one in box.letters if one.name != EARLY)
    return replace(box, letters=letters, known=frozenset(pair for pair in box.known if pair[1] not in gone))


def take_refused(box: Inbox) -> tuple[tuple[Refused, ...], Inbox]:
    """The refusals to be recorded, and the inbox without them."""
    return box.refused, replace(box, refused=())


def refusal(box: Inbox, ticket: int) -> Refused | None:
    """Why the message of this ticket was not taken; None when it was."""
    return next((one for one in box.refused if one.ticket == ticket), None)


def forget(box: Inbox, kb_id: str) -> Inbox:
    """Let a document be offered again, after it was refused or its gate has a fresh request."""
    return replace(box, known=frozenset(pair for pair in box.known if pair[1] != kb_id))


def _is_full(box: Inbox, name: str) -> bool:
    # Approvals and orders have their own room: a stopped run lets approvals wait, and must still hear its resume.
    if name == EARLY:
        return sum(one.name == EARLY for one in box.letters) >= limits.INBOX_MESSAGES_MAX // 2
    others = sum(one.name != EARLY for one in box.letters) + len(box.refused)
    return others >= limits.INBOX_MESSAGES_MAX // 2


def _stopped(box: Inbox, kind: str, arguments: Sequence[Any]) -> Inbox:
    reason = _reason(arguments[0] if arguments else None)
    if box.stop is not None and box.stop.kind == "cancel":
        kind = "cancel"
    return replace(box, stop=StopOrder(kind=kind, reason=reason))


def _refused(box: Inbox, name: str, code: str, reason: str) -> Inbox:
    shown = name if isinstance(name, str) else "?"
    entry = Refused(ticket=box.tickets, name=shown[:100], code=code, reason=reason)
    return replace(box, refused=(*box.refused, entry))


def _kb_id(argument: Any) -> str | None:
    if isinstance(argument, dict) and len(argument) == 1:
        argument = argument.get("approval_kb_id", argument.get("kb_id"))
    if not isinstance(argument, str):
        return None
    try:
        return ids.kb_id(argument)
    except ids.InvalidId:
        return None


def _is_empty(arguments: Sequence[Any]) -> bool:
    return not arguments or arguments[0] is None or arguments[0] == "" or arguments[0] == {}


def _reason(argument: Any) -> str:
    if isinstance(argument, dict):
        argument = argument.get("reason")
    text = argument if isinstance(argument, str) else "no reason given"
    return " ".join(text.split())[: limits.REASON_CHARACTERS_MAX] or "no reason given"
