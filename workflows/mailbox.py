"""Orchestration: messages of a document run: they arrive in the inbox, and each update gets its answer.

The handlers take anything and never raise: a typed one would silently drop what does not decode, and a raising one
would wedge the run, which anyone who may signal could then do (spec "Messages").
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from temporalio import workflow
from temporalio.common import RawValue

with workflow.unsafe.imports_passed_through():
    from cutter.domain.next_step import AWAITING, next_step
    from cutter.messages import Caps
    from temporal import names as options
    from workflows import inbox as mail
    from workflows import run_sidecar, view

ANSWER_WITHIN = timedelta(seconds=60)
"""An update's caller waits this long for the verdict; then the document waits in the inbox."""

Answer = dict[str, str]


class Mailbox:
    """What a run shows, what has arrived, and what was answered."""

    def __init__(self) -> None:
        self.box = mail.Inbox()
        self.board = view.Board(document_id="")
        self.caps = Caps()
        self.waiting: set[int] = set()
        self.answers: dict[int, Answer] = {}
        self.ended = False
        self.look_now = False
        self.filtered: tuple[Any, ...] = ()

    def receive(self, name: str, arguments: Sequence[Any]) -> int:
        """Take a message; its ticket."""
        self.box = mail.reduce(self.box, name, arguments)
        return self.box.tickets

    def reply(self, ticket: int, status: str, code: str, reason: str) -> None:
        """Answer an update's caller: status is accepted, refused, duplicate or queued. A signal has no caller."""
        if ticket in self.waiting:
            self.answers[ticket] = {"status": status, "code": code, "reason": reason}

    def reply_to_the_rest(self, state: str) -> None:
        """The run is over: whoever still waits is told so."""
        for letter in self.box.letters:
            self.reply(letter.ticket, "refused", "run_ended", f"the run ended as {state}")
        self.ended = True

    def show(self) -> None:
        """Current details of the Web UI; writes no event."""
        workflow.set_current_details(view.details(self.board))

    def filter_by(self) -> None:
        """Upsert the search attributes together, at the states that people filter by; unchanged ones not again."""
        board, request = self.board, self.board.request
        candidates = board.facts.get("candidate_count")
        shown = (board.state, request, board.mode, candidates)
        if shown == self.filtered:
            return
        self.filtered = shown
        workflow.upsert_search_attributes(
            [
                options.STATE.value_set(board.state),
                options.DOCUMENT_ID.value_set(board.document_id),
                options.MODE.value_set(board.mode),
                options.GATE.value_set(request.gate) if request else options.GATE.value_unset(),
                options.GATE_EXPIRES.value_set(view.expiry(request)) if request else options.GATE_EXPIRES.value_unset(),
                *([options.BATCH_ID.value_set(board.batch_id)] if board.batch_id else []),
                *([options.CANDIDATES.value_set(int(candidates))] if candidates else []),
            ]
        )

    @workflow.signal(name="submit_approval", description="KB id of a signed approval")
    def submit_approval(self, *messages: Any) -> None:
        self.receive("submit_approval", messages)

    @workflow.signal(name="stop", description='Stop at the next boundary: {"reason": "…"}')
    def stop(self, *messages: Any) -> None:
        self.receive("stop", messages)

    @workflow.signal(name="cancel", description='Cancel at the next boundary: {"reason": "…"}')
    def cancel(self, *messages: Any) -> None:
        self.receive("cancel", messages)

    @workflow.signal(name="resume_stopped", description="KB id of a signed resume; none where no signature is needed")
    def resume_stopped(self, *messages: Any) -> None:
        self.receive("resume_stopped", messages)

    @workflow.signal(name="acknowledge_drift", description="KB id of a signed acknowledgement")
    def acknowledge_drift(self, *messages: Any) -> None:
        self.receive("acknowledge_drift", messages)

    @workflow.signal(name="void", description="KB id of a signed void")
    def void(self, *messages: Any) -> None:
        self.receive("void", messages)

    @workflow.signal(name="look", description="During an outage: try now to record the stop in PostgreSQL")
    def look(self, *_messages: Any) -> None:
        self.look_now = True

    @workflow.signal(dynamic=True)
    def unknown(self, name: str, _arguments: Sequence[RawValue]) -> None:
        # An update's name is no signal's: `resume` sent as one must not pass for an unsigned resume.
        self.receive(f"signal {name}" if name in mail.KNOWN else name, ())

    @workflow.update(name="resume", description="KB id of a signed approval or order; the verdict comes back")
    async def resume(self, *messages: Any) -> Answer:
        dropped = self.box.dropped
        ticket = self.receive("resume", messages)
        if self.box.dropped > dropped:
            return {"status": "refused", "code": "inbox_full", "reason": "too many messages wait: try again later"}
        refused = mail.refusal(self.box, ticket)
        if refused is not None:
            status = "duplicate" if refused.code == "duplicate" else "refused"
            return {"status": status, "code": refused.code, "reason": refused.reason}
        return await self._answer_to(ticket)

    async def _answer_to(self, ticket: int) -> Answer:
        self.waiting.add(ticket)
        try:
            await workflow.wait_condition(
                lambda: ticket in self.answers or self.ended, timeout=ANSWER_WITHIN, timeout_summary="verdict"
            )
        except TimeoutError:
            return {"status": "queued", "code": "early", "reason": "it waits in the inbox until its gate asks for it"}
        finally:
            self.waiting.discard(ticket)
        return self.answers.pop(ticket, {"status": "refused", "code": "run_ended", "reason": "the run is over"})

    @workflow.query(name="status", description="Where the run is and what moves it")
    def status(self, *_: Any) -> dict[str, Any]:
        return view.status(self.board, self.next_command())

    @workflow.query(name="request", description="The open request")
    def request(self, *_: Any) -> dict[str, Any]:
        return view.request_view(self.board)

    @workflow.query(name="sidecar", description="The run in the words of seed 000 §5")
    def sidecar(self, *_: Any) -> dict[str, Any]:
        return run_sidecar.sidecar(self.board)

    def next_command(self) -> str:
        """What a person types now: what the database said with a stop, else what the state says."""
        board = self.board
        if board.note or not board.run_id:
            return board.note
        # The database is at a sovereign gate's state until its leg is sealed; a leg that runs waits for nobody.
        busy = board.state in AWAITING and (board.request is None or bool(board.gate))
        state = "pending" if busy else board.state
        return next_step(
            run_id=board.run_id, document_id=board.document_id, state=state, outcome=board.outcome or None
        ).command
