"""Pure: writes a card as Slack's Block Kit JSON.

Each text without a fixed form is escaped, cut, and put into an object that Slack does not format.
"""

from __future__ import annotations

import unicodedata
from typing import Final

from cutter import limits
from cutter.domain.visible import is_hidden
from cutter.notifications.card import Card, Phase
from cutter.types import Json

APPROVE: Final = "cutter_approve"
REJECT: Final = "cutter_reject"
"""The names of the two buttons in a callback."""

EVENT: Final = "cutter_card"
"""The name of a message's metadata. A later try finds the message by it."""

_ENTITIES: Final = {"&": "&amp;", "<": "&lt;", ">": "&gt;"}


def render(card: Card) -> Json:
    """The message of a card. Slack shows its `text` in notifications. A later try finds the message by its metadata."""
    blocks: list[Json] = [{"type": "header", "text": _text(card.title)}]
    if card.facts:
        # Slack formats these texts, so only values of a fixed form may be in them.
        texts = [f"*{fact.name}*\n{escaped(fact.value, limits.CARD_LINE_MAX)}" for fact in card.facts]
        blocks.append({"type": "section", "fields": [_formatted(text) for text in texts]})
    blocks.append({"type": "section", "text": _text(card.text or card.title, limits.CARD_TEXT_MAX)})
    if card.commands:
        verb = "To decide, type" if card.phase is Phase.ASKED else "Type"
        # A backquote would end the block of code.
        lines = "\n".join(escaped(command, limits.CARD_LINE_MAX).replace("`", "'") for command in card.commands)
        block = _formatted(f"{verb} on your own machine:\n```{lines}```")
        blocks.append({"type": "section", "text": block})
    if card.unsigned:
        buttons = [
            _button(APPROVE, "Approve", "primary", card.subject, "The run continues, under your name."),
            _button(REJECT, "Reject", "danger", card.subject, "cutter cancels the run, under your name."),
        ]
        blocks.append({"type": "actions", "elements": buttons})
    elif card.phase is Phase.ASKED:
        context = _text("Only signatures decide this. Nothing in Slack can decide it.")
        blocks.append({"type": "context", "elements": [context]})
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


def _button(action: str, word: str, style: str, subject: str, what: str) -> Json:
    confirm = {"title": _text(f"{word}?"), "text": _text(what), "confirm": _text(word), "deny": _text("Back")}
    return {
        "type": "button", "action_id": action, "value": subject, "text": _text(word), "style": style,
        "confirm": confirm,
    }  # fmt: skip


def _formatted(text: str) -> Json:
    return {"type": "mrkdwn", "text": text, "verbatim": True}


def _text(text: str, most: int = limits.CARD_TITLE_MAX) -> Json:
    return {"type": "plain_text", "text": escaped(text, most), "emoji": False}
