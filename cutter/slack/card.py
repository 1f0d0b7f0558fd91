"""Pure: the card of a gate that waits for people, as Slack's Block Kit JSON (seed 003 §7; spec 05 "Slack").

No law text, and no text of anybody's that could say more than it says: what is not of a fixed form is in objects
that Slack does not format, without control characters, escaped and cut.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from typing import Final

from cutter import limits
from cutter.approvals.policy import Tier
from cutter.catalogue import Sovereign
from cutter.domain import ids
from cutter.domain.visible import is_hidden
from cutter.types import Json

APPROVE: Final = "cutter_approve"
REJECT: Final = "cutter_reject"
"""What the buttons are called in a callback."""

EVENT: Final = "cutter_gate_waits"
"""Name of a message's metadata, by which it is found again."""

_ENTITIES: Final = {"&": "&amp;", "<": "&lt;", ">": "&gt;"}


class Outcome(StrEnum):
    """What became of that which waited."""

    APPROVED = "approved"
    REJECTED = "rejected"
    EXPIRED = "expired"
    CANCELED = "canceled"


@dataclass(frozen=True, slots=True, kw_only=True)
class Waiting:
    """What waits for people. `subject` identifies it; `place` is a sovereign gate, or a gate that the policy stopped.

    `units` are as many addresses below `docprefix`, None where they are not counted yet; `changes` are how many of
    them are added, changed and removed. `reason` is the policy's, one line. `command` is what a person types instead.
    """

    subject: str
    place: str
    run_id: str
    document_id: str
    docprefix: str
    mode: str
    tier: Tier
    needed: int
    reason: str
    command: str
    expires: datetime | None = None
    units: int | None = None
    changes: tuple[int, int, int] | None = None
    findings: int = 0
    unsigned: bool = False

    def __post_init__(self) -> None:
        ids.run_id(self.run_id)
        ids.document_id(self.document_id)
        if self.unsigned and self.place in tuple(Sovereign):
            raise ValueError("a sovereign gate is decided by signatures alone")
        if self.unsigned and self.mode != "dryrun":
            raise ValueError("a live run is decided by signatures alone")


def asked(waiting: Waiting) -> Json:
    """The card while it waits: what would be written, the policy's reason, the command; buttons where those decide."""
    shown = f"{waiting.document_id} waits at {waiting.place}"
    blocks = [
        _header(shown),
        _fields(waiting),
        _plain(f"{_writes(waiting)}. {waiting.reason}"),
        _formatted(f"To decide, type on your own machine:\n```{_command(waiting.command)}```"),
    ]
    if waiting.unsigned:
        blocks.append(_buttons(waiting.subject))
    else:
        blocks.append(_context("It takes signatures: nothing in Slack decides it."))
    # The text is what notifications show, the metadata is what the message is found again by.
    about = {"subject": waiting.subject, "document": waiting.document_id, "gate": waiting.place}
    return {
        "text": escaped(shown, limits.SLACK_LINE_MAX),
        "blocks": blocks,
        "metadata": {"event_type": EVENT, "event_payload": about},
    }


def answered(question: Json, outcome: Outcome, by: Sequence[str]) -> Json:
    """The same card when it is decided: by whom, and nothing left to type or to press. `question` is from `asked`."""
    about = question["metadata"]["event_payload"]
    shown = f"{about['document']} was {outcome} at {about['gate']}"
    names = f"{outcome} by {', '.join(by)}" if by else outcome.value
    return {**question, "text": escaped(shown, limits.SLACK_LINE_MAX),
            "blocks": [_header(shown), question["blocks"][1], _plain(names)]}  # fmt: skip


def escaped(text: str, most: int) -> str:
    """One line of at most `most` characters that Slack shows unchanged: no mention, no link, nothing hidden.

    What is cut ends in …; control, format and private characters are shown as spaces.
    """
    visible = "".join(" " if is_hidden(one) or unicodedata.category(one) == "Zs" else one for one in text)
    pieces: list[str] = []
    left = most
    for one in " ".join(visible.split()):
        piece = _ENTITIES.get(one, one)
        if len(piece) > left - 1:
            return "".join([*pieces, "…"])
        pieces.append(piece)
        left -= len(piece)
    return "".join(pieces)


def _writes(waiting: Waiting) -> str:
    """What would be written, in numbers."""
    if waiting.place not in tuple(Sovereign):
        return f"The policy stopped it there, of {waiting.units or 0} units"
    enacts = waiting.place == Sovereign.LIFECYCLE
    said = f"{waiting.units} {'units enacted' if enacts else 'units'} at as many addresses below {waiting.docprefix}/"
    if waiting.changes is not None and not enacts:
        said += ": {} added, {} changed, {} removed".format(*waiting.changes)
    return f"{said}; {waiting.findings} findings" if waiting.findings else said


def _command(text: str) -> str:
    """A line that cannot end the block of code around it."""
    return escaped(text, limits.SLACK_LINE_MAX).replace("`", "'")


def _fields(waiting: Waiting) -> Json:
    """Only values with a fixed form: these objects are formatted."""
    people = "person" if waiting.needed == 1 else "people"
    pairs = [
        ("Document", waiting.document_id),
        ("Gate", waiting.place),
        ("Run", waiting.run_id),
        ("Mode", waiting.mode),
        ("Asks for", f"{waiting.needed} {people}, tier {waiting.tier}"),
    ]
    if waiting.expires is not None:
        pairs.append(("Until", f"{waiting.expires.astimezone(UTC):%Y-%m-%d %H:%M} UTC"))
    texts = [f"*{name}*\n{escaped(value, limits.SLACK_LINE_MAX)}" for name, value in pairs]
    return {"type": "section", "fields": [{"type": "mrkdwn", "text": text, "verbatim": True} for text in texts]}


def _buttons(subject: str) -> Json:
    return {
        "type": "actions",
        "elements": [
            _button(APPROVE, "Approve", "primary", subject, "It goes on as the policy asks, under your name."),
            _button(REJECT, "Reject", "danger", subject, "The run is cancelled, under your name."),
        ],
    }


def _button(action: str, word: str, style: str, subject: str, what: str) -> Json:
    confirm = {"title": _text(f"{word}?"), "text": _text(what), "confirm": _text(word), "deny": _text("Back")}
    return {
        "type": "button", "action_id": action, "value": subject, "text": _text(word), "style": style,
        "confirm": confirm,
    }  # fmt: skip


def _header(text: str) -> Json:
    return {"type": "header", "text": _text(text, limits.SLACK_HEADER_MAX)}


def _plain(text: str) -> Json:
    return {"type": "section", "text": _text(text, limits.SLACK_TEXT_MAX)}


def _formatted(text: str) -> Json:
    return {"type": "section", "text": {"type": "mrkdwn", "text": text, "verbatim": True}}


def _context(text: str) -> Json:
    return {"type": "context", "elements": [_text(text)]}


def _text(text: str, most: int = limits.SLACK_HEADER_MAX) -> Json:
    return {"type": "plain_text", "text": escaped(text, most), "emoji": False}
