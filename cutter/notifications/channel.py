"""Pure: what a channel of messages is, and the trouble that it can report."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Protocol

from cutter.notifications.card import Card

_CODE = re.compile(r"[a-z0-9_]{1,60}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """A card on its way. `key` is the same at every try: a receiver recognises a repetition by it.

    `created` is in Unix seconds. `in_doubt`: an earlier try may have arrived. `question` is this channel's own name of
    the message that this one answers; None for a question and for what is only told.
    """

    key: str
    card: Card
    created: int
    in_doubt: bool = False
    question: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Trouble:
    """Why a message did not arrive. `in_doubt`: it may have arrived; `everywhere`: the next message would fail too.

    `retry_seconds` is what the receiver asks for, None where it says nothing. `final`: no other try can succeed.
    `code` is a short snake_case word: never what was sent, nor what the receiver answered.
    """

    code: str
    in_doubt: bool = False
    everywhere: bool = True
    retry_seconds: float | None = None
    final: bool = False

    def __post_init__(self) -> None:
        if not _CODE.fullmatch(self.code):
            raise ValueError("a trouble has a code of a-z, 0-9 and _")


class Channel(Protocol):
    """One way to people. It is made from the settings and from the secrets folder (`cutter.notifications.channels`)."""

    @property
    def name(self) -> str:
        """Its name in settings, rows and commands."""

    def send(self, message: Message) -> str | Trouble:
        """Send one message within NOTIFICATION_LEASE_SECONDS: the channel's own name of it, or what went wrong."""
