"""Orchestration: receives the messages of a document run. Each message enters the queue, and each update gets an
answer.

The handlers accept any arguments and never raise. A typed handler would silently drop a message that does not decode.
If a handler raised, the run would hang, and everyone who may signal could cause that (spec "Messages").
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from workflows import message_queue
    from workflows.run_progress import RunProgress

Answer = dict[str, str]


class MessageHandlers:
    """Puts messages into the queue and answers the callers of updates."""

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
