"""Pure: writes a card as Slack's Block Kit JSON.

This module escapes and cuts each text without a fixed form. It puts such a text into an object that Slack does not
format.
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
"""The names of the two buttons in a callback."""

EVENT: Final = "cutter_card"
"""The name of a message's metadata. A later try finds the message by it."""

_ENTITIES: Final = {"&": "&amp;", "<": "&lt;", ">": "&gt;"}


def render(card: Card) -> Json:
    """The message of a card. Slack shows its `text` in notifications. A later try finds the message by its metadata."""
    blocks = [_header(card.title), _fields(card.facts)] if card.facts else [_header(card.title)]
    blocks.append(_plain(card.text or card.title))
    if card.commands:
        blocks.append(_formatted(f"{_invitation(card)}\n```{_lines(card.commands)}```"))
    if card.unsigned:
        blocks.append(_buttons(card.subject))
    elif card.phase is Phase.ASKED:
        blocks.append(_context("Only signatures decide this. Nothing in Slack can decide it."))
    about = {"subject": card.subject, "document": card.document_id or "", "gate": card.place}
    return {
        "text": escaped(card.title, limits.CARD_LINE_MAX),
        "blocks": blocks,
        "metadata": {"event_type": EVENT, "event_payload": about},
    }


def escaped(text: str, most: int) -> str:
    """One line of at most `most` characters that Slack shows literally, without mentions, links and hidden characters.

    A cut text ends with "…". Control, format and private characters become spaces.
    """
    visible = "".join(" " if is_hidden(char) or unicodedata.category(char) == "Zs" else char for char in text)
    pieces: list[str] = []
    left = most
    for char in " ".join(visible.split()):
        piece = _ENTITIES.get(char, char)
        if len(piece) > left - 1:
            return "".join([*pieces, "…"])
        pieces.append(piece)
        left -= len(piece)
    return "".join(pieces)


def _invitation(card: Card) -> str:
    verb = "To decide, type" if card.phase is Phase.ASKED else "Type"
    return f"{verb} on your own machine:"


def _lines(commands: tuple[str, ...]) -> str:
    """The commands, one a line. They contain no backquote, so they cannot end the block of code around them."""
    return "\n".join(escaped(command, limits.CARD_LINE_MAX).replace("`", "'") for command in commands)


def _fields(facts: tuple[Fact, ...]) -> Json:
    """The facts of a card. Slack formats these objects, so only values of a fixed form may be in them."""
    texts = [f"*{fact.name}*\n{escaped(fact.value, limits.CARD_LINE_MAX)}" for fact in facts]
    return {"type": "section", "fields": [{"type": "mrkdwn", "text": text, "verbatim": True} for text in texts]}


def _buttons(subject: str) -> Json:
    return {
        "type": "actions",
        "elements": [
            _button(APPROVE, "Approve", "primary", subject, "The run continues, under your name."),
            _button(REJECT, "Reject", "danger", subject, "cutter cancels the run, under your name."),
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
