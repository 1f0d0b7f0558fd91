"""Pure: a card as Slack's Block Kit JSON.

What is not of a fixed form is escaped, cut, and put into objects that Slack does not format.
"""

from __future__ import annotations

import unicodedata
from typing import Final

from cutter import limits
from cutter.domain.visible import is_hidden
from cutter.notifications.card import Card, Fact, Phase
from cutter.types import Json

APPROVE: Final = "cutter_approve"
REJECT: Final = "cutter_reject"
"""What the buttons are called in a callback."""

EVENT: Final = "cutter_card"
"""Name of a message's metadata, by which it is found again."""

_ENTITIES: Final = {"&": "&amp;", "<": "&lt;", ">": "&gt;"}


def render(card: Card) -> Json:
    """The message of a card: its text is what Slack's own notifications show, its metadata is what finds it again."""
    blocks = [_header(card.title), _fields(card.facts)] if card.facts else [_header(card.title)]
    blocks.append(_plain(card.text or card.title))
    if card.commands:
        blocks.append(_formatted(f"{_invitation(card)}\n```{_lines(card.commands)}```"))
    if card.unsigned:
        blocks.append(_buttons(card.subject))
    elif card.phase is Phase.ASKED:
        blocks.append(_context("It takes signatures: nothing in Slack decides it."))
    about = {"subject": card.subject, "document": card.document_id or "", "gate": card.place}
    return {
        "text": escaped(card.title, limits.CARD_LINE_MAX),
        "blocks": blocks,
        "metadata": {"event_type": EVENT, "event_payload": about},
    }


def escaped(text: str, most: int) -> str:
    """One line of at most `most` characters that Slack shows literally: no mention, no link, nothing hidden.

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


def _invitation(card: Card) -> str:
    verb = "To decide, type" if card.phase is Phase.ASKED else "Type"
    return f"{verb} on your own machine:"


def _lines(commands: tuple[str, ...]) -> str:
    """Lines that cannot end the block of code around them."""
    return "\n".join(escaped(one, limits.CARD_LINE_MAX).replace("`", "'") for one in commands)


def _fields(facts: tuple[Fact, ...]) -> Json:
    """Only what has a fixed form is here: these objects are formatted."""
    texts = [f"*{one.name}*\n{escaped(one.value, limits.CARD_LINE_MAX)}" for one in facts]
    return {"type": "section", "fields": [{"type": "mrkdwn", "text": text, "verbatim": True} for text in texts]}


def _buttons(subject: str) -> Json:
    return {
        "type": "actions",
        "elements": [
            _button(APPROVE, "Approve", "primary", subject, "It continues as the policy asks, under your name."),
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
    return {"type": "header", "text": _text(text, limits.CARD_TITLE_MAX)}


def _plain(text: str) -> Json:
    return {"type": "section", "text": _text(text, limits.CARD_TEXT_MAX)}


def _formatted(text: str) -> Json:
    return {"type": "section", "text": {"type": "mrkdwn", "text": text, "verbatim": True}}


def _context(text: str) -> Json:
    return {"type": "context", "elements": [_text(text)]}


def _text(text: str, most: int = limits.CARD_TITLE_MAX) -> Json:
    return {"type": "plain_text", "text": escaped(text, most), "emoji": False}
