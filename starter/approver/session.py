"""IO: one approver's signing session: its requests, the decisions about them, and their journal on the disk.

Each decision is on the disk before the approver makes the next one.
"""

from __future__ import annotations

import errno
import fcntl
import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from cutter.domain.amounts import counted
from cutter.errors import CutterError, InvalidInput, Refused, Unavailable
from cutter.request_view.view import RequestView
from cutter.settings import Settings
from starter.approver.session_requests import Asked


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


class SessionJournal:
    """The decisions of one approver about one batch or run. With a descriptor, they are in a file that `open_journal`
    has locked. Otherwise they end with the session.
    """

    def __init__(self, descriptor: int | None = None, ledger: Ledger | None = None, size: int = 0) -> None:
        self.ledger = ledger or Ledger()
        self._descriptor = descriptor
        self._size = size

    def record(self, event: Event) -> None:
        """Append an event. The one of a file is on the disk before this returns, else Unavailable is raised."""
        if self._descriptor is not None:
            self._write(self._descriptor, written(event))
        self.ledger = self.ledger.after(event)

    def _write(self, descriptor: int, line: bytes) -> None:
        try:
            if os.write(descriptor, line) < len(line):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            os.fsync(descriptor)
        except OSError as problem:
            # A piece of a line would make the next one unreadable.
            os.ftruncate(descriptor, self._size)
            raise Unavailable(
                f"the decision could not be kept ({problem.strerror}): make room and decide again", what="state folder"
            ) from None
        self._size += len(line)


def path_of(settings: Settings, subject: str, approver: str) -> Path:
    """The file of this approver's decisions about a batch, or about a run that belongs to none."""
    return settings.state / "signing" / f"{subject}-{approver}.jsonl"


def kept(settings: Settings, subject: str, approver: str, waiting: Collection[str]) -> Ledger:
    """The decisions about waiting requests that sessions on the screen kept. Half a line does not count."""
    path = path_of(settings, subject, approver)
    try:
        with path.open("rb") as file:
            return read_lines(file, where=str(path))[0].of(waiting)
    except FileNotFoundError:
        return Ledger()
    except OSError as problem:
        raise _unreadable(path, problem) from None


@contextmanager
def open_journal(settings: Settings, subject: str, approver: str, waiting: Collection[str]) -> Iterator[SessionJournal]:
    """The journal as the last session left it, without the decisions about requests that no longer wait.

    Raises Refused if another session of this approver has it open, InvalidInput for a damaged file, and Unavailable if
    the folder cannot be written.
    """
    path = path_of(settings, subject, approver)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
    except OSError as problem:
        raise _unreadable(path, problem) from None
    try:
        try:
            # If the process is killed, the kernel unlocks the file.
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise Refused(
                f"{approver} has another signing session of these requests open: finish that one, or leave it with "
                "Ctrl-C",
                code="session_open",
            ) from None
        with open(descriptor, "rb", closefd=False) as file:
            ledger, size = read_lines(file, where=str(path))
        os.ftruncate(descriptor, size)
        yield SessionJournal(descriptor, ledger.of(waiting), size)
    finally:
        os.close(descriptor)


def _unreadable(path: Path, problem: OSError) -> Unavailable:
    return Unavailable(
        f"{path}: {problem.strerror}: a signing session keeps its decisions there; make the folder writable",
        what="state folder",
    )


@dataclass(kw_only=True)
class Session:
    """`build` makes the view of a request on this machine, or raises CutterError. `look` says which requests no longer
    wait for this approver, each by its key with the reason. `again` is the command that opens the session again.
    """

    title: str
    approver: str
    requests: Sequence[Asked]
    before: bool
    journal: SessionJournal
    build: Callable[[Asked], RequestView]
    look: Callable[[], Mapping[str, str]] = dict
    again: str = ""
    kept: Ledger = field(default_factory=Ledger)
    """The decisions that the approver kept in a session on the screen, if this session is not on the screen itself."""
    tab: str = "unit"
    """The tab that the approver used last. The next request opens with it if the request has no findings."""
    titles: dict[str, str] = field(default_factory=dict)
    """The title of the law, by the key of each request that was opened in this session."""
    refused: dict[str, CutterError] = field(default_factory=dict)
    """The problem because of which a request cannot be signed here, by the request's key."""
    gone: Mapping[str, str] = field(default_factory=dict)
    """The reason why a request no longer waits for this approver, by the request's key, as `look` said it last."""
    passed_over: dict[str, str] = field(default_factory=dict)
    """The reason why a session without a screen left a request undecided, by the request's key."""

    def open(self, asked: Asked) -> RequestView:
        """The view of a request, which then counts as opened. Raises CutterError if it cannot be signed here."""
        try:
            view = self.build(asked)
        except CutterError as problem:
            self.refused[asked.key] = problem
            raise
        self.refused.pop(asked.key, None)
        self.titles[asked.key] = view.title or ""
        if asked.key not in self.journal.ledger.opened:
            self.journal.record(Opened(request=asked.key))
        return view

    def decision(self, asked: Asked) -> Decision | None:
        return self.journal.ledger.decisions.get(asked.key)

    def may_not(self, asked: Asked, choice: Choice) -> str | None:
        """The reason why this choice is not possible for a request. None if it is possible."""
        if asked.key in self.journal.ledger.signed:
            return "you signed it: u takes it up again after it was handed over"
        if asked.key in self.gone:
            return self.gone[asked.key]
        if choice is Choice.SKIP:
            return None
        if asked.key in self.refused:
            return f"it cannot be signed here: {self.refused[asked.key]}"
        if asked.key not in self.journal.ledger.opened:
            return "open it first, with Enter"
        if choice is Choice.REJECT and self.before:
            return "a rehearsal has no run to reject: skip it"
        return None

    def decide(self, asked: Asked, decision: Decision | None) -> None:
        """Keep a decision. None takes it back."""
        choice, text = (decision.choice, decision.text) if decision else (None, "")
        self.journal.record(Decided(request=asked.key, choice=choice, text=text))

    def may_undo(self, asked: Asked) -> bool:
        """True if there is a decision to take back. A statement that is being handed over cannot be taken back here."""
        ledger = self.journal.ledger
        return asked.key in ledger.decisions and asked.key not in ledger.to_hand_over

    def state(self, asked: Asked) -> str:
        """The state of a request in one word, for the list."""
        ledger = self.journal.ledger
        if asked.key in ledger.signed:
            return "signed"
        if asked.key in self.gone:
            return "gone"
        if asked.key in ledger.decisions:
            return ledger.decisions[asked.key].choice.value
        if asked.key in self.refused:
            return "refused"
        return "opened" if asked.key in ledger.opened else "new"

    def undecided(self) -> list[Asked]:
        """The waiting requests without a decision, in the order of the session."""
        ledger = self.journal.ledger
        return [
            request
            for request in self.requests
            if request.key not in ledger.decisions and request.key not in ledger.signed and request.key not in self.gone
        ]

    def with_choice(self, choice: Choice) -> list[Asked]:
        """The unsigned requests with this choice that still wait, in the order of the session."""
        chosen = set(self.journal.ledger.chosen(choice)) - set(self.gone)
        return [request for request in self.requests if request.key in chosen]

    def gone_requests(self) -> list[Asked]:
        """The requests that no longer wait and were not signed in this session."""
        return [
            request
            for request in self.requests
            if request.key in self.gone and request.key not in self.journal.ledger.signed
        ]

    def left_out(self) -> list[str]:
        left = []
        for request in self.requests:
            key, decision = request.key, self.decision(request)
            if key in self.journal.ledger.signed:
                continue
            reason = self.passed_over.get(key, "undecided")
            if key in self.gone:
                reason = self.gone[key]
            elif key in self.refused:
                reason = str(self.refused[key])
            elif decision and decision.choice is Choice.SKIP:
                reason = f"skipped: {decision.text}"
            left.append(f"{request.name} ({reason})")
        return left

    def progress(self) -> str:
        return self.journal.ledger.progress(len(self.requests))
