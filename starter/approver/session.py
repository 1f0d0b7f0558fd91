"""IO: one approver's signing session: its requests, their views, and the decisions about them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from cutter.errors import CutterError
from cutter.request_view.view import RequestView
from starter.approver.decisions import Choice, Decided, Decision, Ledger, Opened
from starter.approver.session_journal import SessionJournal
from starter.approver.session_requests import Asked


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
