"""Pure: the message card, the same for every channel: what happened, to what, and what a person types next.

A card holds no text of a law, no address of a unit and no secret: counts, ids, states, the policy's reason, commands.
It is written down as JSON before it is sent, so that every try sends the same.
"""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from pydantic import TypeAdapter

from cutter import limits
from cutter.catalogue import Sovereign
from cutter.domain.visible import is_hidden


class Kind(StrEnum):
    """What a message is about; which kinds go to which channel is a setting."""

    APPROVAL = "approval"
    POLICY_STOP = "policy_stop"
    STOP = "stop"
    FAILURE = "failure"
    FINISHED = "finished"
    BATCH = "batch"
    TEST = "test"


class Phase(StrEnum):
    """A question waits for people, and an answer ends it; everything else is only told."""

    ASKED = "asked"
    ANSWERED = "answered"
    TOLD = "told"


class Severity(StrEnum):
    """How urgent a message is: `action` asks a person to do something."""

    INFO = "info"
    ACTION = "action"
    WARNING = "warning"
    ERROR = "error"


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """One line of a card. Both are of a fixed form: ids, numbers, times, states."""

    name: str
    value: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Card:
    """One message. `subject` is the same in a question and its answer; `place` is a gate or a state.

    `unsigned`: a press of a button may decide it. Raises ValueError where only signatures decide.
    """

    kind: Kind
    phase: Phase
    severity: Severity
    subject: str
    title: str
    place: str = ""
    run_id: str | None = None
    batch_id: str | None = None
    document_id: str | None = None
    mode: str | None = None
    facts: tuple[Fact, ...] = ()
    text: str = ""
    commands: tuple[str, ...] = ()
    unsigned: bool = False

    def __post_init__(self) -> None:
        if self.unsigned and self.place in tuple(Sovereign):
            raise ValueError("a sovereign gate is decided by signatures alone")
        if self.unsigned and self.mode != "dryrun":
            raise ValueError("a live run is decided by signatures alone")

    def to_json(self) -> str:
        """The card as it is stored and sent; the same card has the same bytes."""
        return ADAPTER.dump_json(self).decode()


ADAPTER: Final = TypeAdapter(Card)
"""Reads and writes a card's JSON, and has its JSON schema."""


def from_json(text: str) -> Card:
    """A card that `to_json` wrote."""
    return ADAPTER.validate_json(text)


def one_line(text: str, most: int = limits.CARD_LINE_MAX) -> str:
    """A text on one line of at most `most` characters: hidden characters are spaces, a cut text ends in an ellipsis."""
    visible = "".join(" " if is_hidden(one) or unicodedata.category(one) == "Zs" else one for one in text)
    line = " ".join(visible.split())
    return line if len(line) <= most else line[: most - 1] + "…"
