"""Pure: the decisions of an approver in a signing session, and the lines of their journal."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from cutter.domain.amounts import counted
from cutter.errors import InvalidInput


class Choice(StrEnum):
    """The choice of an approver about one request. A skipped request keeps waiting."""

    APPROVE = "approve"
    SKIP = "skip"
    REJECT = "reject"


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """A choice with its text: the note of an approval, or the reason of a skip or a rejection."""

    choice: Choice
    text: str = ""


class _Line(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    request: str
    """SHA-256 of the request document. A request that was made again has another digest, so no earlier decision fits
    it.
    """


class Opened(_Line):
    event: Literal["opened"] = "opened"


class Decided(_Line):
    """The approver decided, or took the decision back (no choice)."""

    event: Literal["decided"] = "decided"
    choice: Choice | None
    text: str = ""


class Signed(_Line):
    """The statements are signed and stored. `handed_over` says that the run or the batch has them too."""

    event: Literal["signed"] = "signed"
    kb_ids: tuple[str, ...]
    folder: str = ""
    handed_over: bool = False


Event = Opened | Decided | Signed
_EVENT: TypeAdapter[Event] = TypeAdapter(Annotated[Event, Field(discriminator="event")])


@dataclass(frozen=True, slots=True, kw_only=True)
class Ledger:
    """The state of a session. Each collection is keyed by the SHA-256 of the request document."""

    opened: frozenset[str] = frozenset()
    decisions: dict[str, Decision] = field(default_factory=dict)
    signed: dict[str, Signed] = field(default_factory=dict)

    def after(self, event: Event) -> Ledger:
        if isinstance(event, Opened):
            return replace(self, opened=self.opened | {event.request})
        if isinstance(event, Signed):
            return replace(self, signed={**self.signed, event.request: event})
        decisions = {key: decision for key, decision in self.decisions.items() if key != event.request}
        signed = {key: signature for key, signature in self.signed.items() if key != event.request}
        if event.choice is not None:
            decisions[event.request] = Decision(choice=event.choice, text=event.text)
        return replace(self, decisions=decisions, signed=signed)

    def of(self, waiting: Collection[str]) -> Ledger:
        """The part of the ledger about requests that still wait."""
        return Ledger(
            opened=self.opened & frozenset(waiting),
            decisions={key: decision for key, decision in self.decisions.items() if key in waiting},
            signed={key: signature for key, signature in self.signed.items() if key in waiting},
        )

    @property
    def to_hand_over(self) -> dict[str, Signed]:
        """The signed statements that were not handed over yet."""
        return {key: signature for key, signature in self.signed.items() if not signature.handed_over}

    @property
    def folder(self) -> str:
        """The folder of the approvals that are not handed over yet. Empty if there are none."""
        return next((signature.folder for signature in self.to_hand_over.values() if signature.folder), "")

    def chosen(self, choice: Choice) -> list[str]:
        """The requests with this choice that are not signed yet, in the order of the decisions."""
        return [key for key, decision in self.decisions.items() if decision.choice is choice and key not in self.signed]

    def progress(self, total: int) -> str:
        """Such as `28 of 30 opened · 25 to approve · 1 to reject · 2 skipped`."""
        parts = (
            (len(self.chosen(Choice.APPROVE)), "to approve"),
            (len(self.chosen(Choice.REJECT)), "to reject"),
            (len(self.chosen(Choice.SKIP)), "skipped"),
            (len(self.signed), "signed"),
        )
        counts = [f"{count} {words}" for count, words in parts if count]
        return " · ".join([f"{len(self.opened)} of {total} opened", *counts])


def read_lines(lines: Iterable[bytes], *, where: str) -> tuple[Ledger, int]:
    """(The ledger of a journal, bytes that count). A line without its end was being written when the process died.

    Raises InvalidInput for a line that no session wrote.
    """
    ledger, size = Ledger(), 0
    for number, line in enumerate(lines, start=1):
        if not line.endswith(b"\n"):
            break
        try:
            ledger = ledger.after(_EVENT.validate_json(line))
        except ValidationError:
            raise InvalidInput(
                f"{where}, line {number}, is not a decision of a signing session: move the file away and decide again"
            ) from None
        size += len(line)
    return ledger, size


def written(event: Event) -> bytes:
    return event.model_dump_json().encode() + b"\n"


def restored(ledger: Ledger) -> str:
    """The first message of a session that continues an earlier one. Empty if that session kept nothing."""
    if not ledger.decisions:
        return ""
    left = ledger.to_hand_over
    signed = f", {counted(len(left), 'statement')} signed and not handed over" if left else ""
    return f"continued: {counted(len(ledger.decisions), 'decision')} kept{signed}"
