"""Pure: the interface of a channel, and the troubles that a channel can report."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Protocol

from cutter.notifications.card import Card

CODE = re.compile(r"[a-z0-9_]{1,60}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """A card to send. `key` is the same at every try, so that a receiver can recognise a repetition.

    `created` is in Unix seconds. `in_doubt` is true if an earlier try may have arrived. `question` is the channel's own
    name of the message that this message answers. It is None if this message answers none.
    """

    key: str
    card: Card
    created: int
    in_doubt: bool = False
    question: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Trouble:
    """The reason why a message did not arrive. `in_doubt` is true if the message may have arrived after all.

    `everywhere` is true if the next message would fail too. `retry_seconds` is the pause that the receiver asks for, or
    None. `final` is true if no further try can succeed. `code` is a short snake_case word. It never quotes the message
    or the receiver's answer.
    """

    code: str
    in_doubt: bool = False
    everywhere: bool = True
    retry_seconds: float | None = None
    final: bool = False

    def __post_init__(self) -> None:
        if not CODE.fullmatch(self.code):
            raise ValueError("a trouble has a code of a-z, 0-9 and _")


class Channel(Protocol):
    """One way to people. `cutter.notifications.channels` makes it from the settings and the secrets folder."""

    @property
    def name(self) -> str:
        """The channel's name in settings, rows and commands."""

    def send(self, message: Message) -> str | Trouble:
        """Send one message within NOTIFICATION_LEASE_SECONDS.

        Return the channel's name of the message, or the trouble.
        """
