"""Orchestration: what the parts of a document run share: its one state object, its messages, and its Web UI."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any

from temporalio import workflow
from temporalio.common import Priority

with workflow.unsafe.imports_passed_through():
    from cutter.domain.next_step import AWAITING, StepFacts, next_step
    from cutter.messages import Caps, RunInput
    from temporal import names
    from workflows import message_queue, run_display
    from workflows.message_queue import Message, MessageQueue, StopOrder
    from workflows.run_display import RunDisplay

Answer = dict[str, str]


@dataclass(slots=True, kw_only=True)
class RunProgress:
    """The memory of a run's workflow. It holds only the answers that the workflow has got so far; PostgreSQL decides.

    `sealed` are the gates with a receipt. `active` is the time that counts against the hard cap. `failures` and
    `sent_back` count towards their limits. `latched` is true once a stop needs no further order. `priority` is the
    gates' own priority where it differs from the workflow's.
    """

    start: RunInput | None = None
    caps: Caps = field(default_factory=Caps)
    display: RunDisplay = field(default_factory=lambda: RunDisplay(document_id=""))
    queue: MessageQueue = field(default_factory=MessageQueue)
    sealed: set[str] = field(default_factory=set)
    failures: int = 0
    sent_back: int = 0
    refusals_recorded: int = 0
    latched: bool = False
    active: timedelta = field(default_factory=timedelta)
    tickets_seen: int = 0
    """The number of messages that had come when an order last caused a question to the database during an outage. Each
    order asks once.
    """
    look_now: bool = False
    priority: Priority = Priority.default

    @property
    def run_id(self) -> str:
        """The run's id; empty until PostgreSQL has registered the run."""
        return self.display.run_id

    @property
    def stop(self) -> StopOrder | None:
        """The stop that has arrived and that the run has not carried out yet."""
        return self.queue.stop

    def discard(self, message: Message) -> None:
        """Take one message out of the queue."""
        self.queue = replace(self.queue, messages=tuple(other for other in self.queue.messages if other != message))

    def discard_stop(self) -> None:
        """Take the stop out of the queue, after it was carried out."""
        self.queue = replace(self.queue, stop=None)

    def start_counting_again(self) -> None:
        """Reset the limits, because people have resumed the run."""
        self.failures, self.sent_back, self.refusals_recorded = 0, 0, 0


class MessageHandlers:
    """Puts messages into the queue, and answers the callers of updates.

    The handlers accept any arguments and never raise. A typed handler would silently drop a message that does not
    decode. If a handler raised, the run would hang, and everyone who may signal could cause that (spec "Messages").
    """

    def __init__(self, progress: RunProgress) -> None:
        self.progress = progress
        self.waiting: set[int] = set()
        self.answers: dict[int, Answer] = {}
        self.ended = False

    def receive(self, name: str, arguments: Sequence[Any]) -> int:
        """Put a message into the queue, and return its ticket."""
        self.progress.queue = message_queue.reduce(self.progress.queue, name, arguments)
        return self.progress.queue.tickets

    def reply(self, ticket: int, status: str, code: str, reason: str) -> None:
        """Answer an update's caller: status is accepted, refused, duplicate or queued. A signal has no caller."""
        if ticket in self.waiting:
            self.answers[ticket] = {"status": status, "code": code, "reason": reason}

    def reply_to_the_rest(self, state: str) -> None:
        """Tell every caller that still waits that the run is over."""
        for message in self.progress.queue.messages:
            self.reply(message.ticket, "refused", "run_ended", f"the run ended as {state}")
        self.ended = True

    async def resume(self, messages: Sequence[Any]) -> Answer:
        """Take the message of an update and wait for its answer."""
        dropped = self.progress.queue.dropped
        ticket = self.receive("resume", messages)
        if self.progress.queue.dropped > dropped:
            return {"status": "refused", "code": "inbox_full", "reason": "too many messages wait: try again later"}
        refused = message_queue.refusal(self.progress.queue, ticket)
        if refused is not None:
            status = "duplicate" if refused.code == "duplicate" else "refused"
            return {"status": status, "code": refused.code, "reason": refused.reason}
        self.waiting.add(ticket)
        try:
            await workflow.wait_condition(
                lambda: ticket in self.answers or self.ended,
                # The caller of an update waits this long for the verdict. After that, the document waits in the queue.
                timeout=60,
                timeout_summary="verdict",
            )
        except TimeoutError:
            return {"status": "queued", "code": "early", "reason": "the document waits until its gate asks for it"}
        finally:
            self.waiting.discard(ticket)
        return self.answers.pop(ticket, {"status": "refused", "code": "run_ended", "reason": "the run is over"})


class WebUi:
    """Shows a run in the Web UI: current details, search attributes, the next command."""

    def __init__(self, progress: RunProgress) -> None:
        self.progress = progress
        self.upserted: tuple[Any, ...] = ()

    def show(self) -> None:
        """Set the current details of the Web UI. This writes no event."""
        workflow.set_current_details(run_display.details(self.progress.display))

    def upsert_search_attributes(self) -> None:
        """Upsert the search attributes by which people filter, together, if one of them has changed."""
        display, request = self.progress.display, self.progress.display.request
        candidates = display.facts.get("candidate_count")
        shown = (display.state, request, display.mode, candidates)
        if shown == self.upserted:
            return
        self.upserted = shown
        expires = names.GATE_EXPIRES
        workflow.upsert_search_attributes(
            [
                names.STATE.value_set(display.state),
                names.DOCUMENT_ID.value_set(display.document_id),
                names.MODE.value_set(display.mode),
                names.GATE.value_set(request.gate) if request else names.GATE.value_unset(),
                expires.value_set(run_display.expiry(request)) if request else expires.value_unset(),
                *([names.BATCH_ID.value_set(display.batch_id)] if display.batch_id else []),
                *([names.CANDIDATES.value_set(int(candidates))] if candidates else []),
            ]
        )

    def next_command(self) -> str:
        """The command that a person types now: the command that came with a stop, else the command for the state."""
        display = self.progress.display
        if display.note or not display.run_id:
            return display.note
        # The database stays at the state of a sovereign gate until the next leg is sealed. But a running leg waits for
        # nobody.
        busy = display.state in AWAITING and (display.request is None or bool(display.gate))
        state = "pending" if busy else display.state
        facts = StepFacts(
            run_id=display.run_id, document_id=display.document_id, state=state, outcome=display.outcome or None
        )
        return next_step(facts).command
