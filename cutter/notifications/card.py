"""Pure: the message card: the event, its run or batch, and the next commands. Every channel sends the same card.

A card holds only counts, ids, states, the policy's reason and commands. It holds no text of a law, no address of a unit
and no secret. PostgreSQL stores the card as JSON before a channel sends it, so every try sends the same bytes.
"""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from datetime import date, datetime
from enum import StrEnum
from typing import Final

from pydantic import TypeAdapter

from cutter import limits
from cutter.catalogue import Sovereign
from cutter.domain.visible import is_hidden


class Kind(StrEnum):
    """The subject of a message. A setting of each channel selects its kinds."""

    APPROVAL = "approval"
    POLICY_STOP = "policy_stop"
    STOP = "stop"
    FAILURE = "failure"
    FINISHED = "finished"
    BATCH = "batch"
    ENACTED = "enacted"
    TEST = "test"


class Phase(StrEnum):
    """`asked` is a question to people, `answered` ends a question, and `told` asks for no decision."""

    ASKED = "asked"
    ANSWERED = "answered"
    TOLD = "told"


class Severity(StrEnum):
    """The urgency of a message. `action` means that a person must do something."""

    INFO = "info"
    ACTION = "action"
    WARNING = "warning"
    ERROR = "error"


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """One line of a card. Its name and value have a fixed form: ids, numbers, times, states."""

    name: str
    value: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Enactment:
    """What a program needs to read an enacted version of a law: its number, its days and its digests, and no text.

    `version` is the number of the enactment, from 1. The digests are those of the view `api.law_version`.
    """

    document: str
    version: int
    operation: str
    run_id: str
    change_set: str
    enacted_at: datetime
    effective_from: date
    units: int
    source_sha256: str
    region_sha256: str
    writer_digest: str
    base_version: int | None
    base_receipt_hash: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Card:
    """One message. A question and its answer have the same `subject`. `place` is a gate or a state.

    `unsigned` is true if the press of a button may decide the question. Only a card of the kind `enacted` has an
    `enactment`. Raises ValueError if `unsigned` is true for a
    question that only signatures decide.
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
    enactment: Enactment | None = None

    def __post_init__(self) -> None:
        if self.unsigned and self.place in tuple(Sovereign):
            raise ValueError("only signatures decide a sovereign gate")
        if self.unsigned and self.mode != "dryrun":
            raise ValueError("only signatures decide about a live run")

    def to_json(self) -> str:
        """The card as PostgreSQL stores it and a channel sends it. The same card always has the same bytes."""
        return ADAPTER.dump_json(self).decode()


ADAPTER: Final = TypeAdapter(Card)
"""Reads and writes the JSON of a card, and makes its JSON schema."""


def from_json(text: str) -> Card:
    return ADAPTER.validate_json(text)


def one_line(text: str, most: int = limits.CARD_LINE_MAX) -> str:
    """The text on one line of at most `most` characters. Hidden characters become spaces."""
    visible = "".join(" " if is_hidden(char) or unicodedata.category(char) == "Zs" else char for char in text)
    line = " ".join(visible.split())
    return line if len(line) <= most else line[: most - 1] + "…"
