"""Orchestration: the one state object of a document run; the run's parts read and change it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import timedelta

from temporalio import workflow
from temporalio.common import Priority

with workflow.unsafe.imports_passed_through():
    from cutter.messages import Caps, RunInput
    from workflows.message_queue import Message, MessageQueue, StopOrder
    from workflows.run_display import RunDisplay


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
