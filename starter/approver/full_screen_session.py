"""IO: a signing session on the whole screen. First the approver decides. Then each decision is signed, and all
statements are handed over.

Each step is in the session's journal before the next step begins. So a session that was left or killed continues at the
same place.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from cutter.domain.amounts import counted
from cutter.errors import CutterError, Refused
from starter.approver import signing_desk
from starter.approver.decisions import Choice, Signed
from starter.approver.full_screen import Session, decide
from starter.approver.session_journal import open_journal
from starter.approver.session_requests import Asked
from starter.approver.session_result import SessionResult, SignedOnScreen
from starter.approver.session_signatures import Answer, Signatures
from starter.approver.signing_sequel import after
from starter.console.terminal import progress_bar

TAKEN = ("accepted", "duplicate", "queued")
"""The answers of a run that accepted a statement."""


def hold(signatures: Signatures, requests: Sequence[Asked]) -> SessionResult:
    """Let the approver decide on the screen, then sign and hand over.

    Raises Refused if the approver left the session, or signed nothing.
    """
    approver, batch_id = signatures.signer.approver, signatures.batch_id
    keys = {request.key for request in requests}
    with open_journal(signatures.settings, batch_id, approver, keys) as journal:
        shown = Session(
            title=f"batch {batch_id}", approver=approver, requests=requests, before=signatures.before, journal=journal,
            build=lambda request: signing_desk.recompute(signatures.settings, request.document),
        )  # fmt: skip
        if not decide(shown):
            kept = counted(len(journal.ledger.decisions), "decision")
            raise Refused(
                f"nothing was signed now; {kept} kept: `cutter approve --batch {batch_id}` continues",
                code="session_left",
            )
        failed = sign(signatures, shown)
        result = _hand_over(signatures, shown)
        left = [f"{request.name} (undecided)" for request in shown.undecided()]
        left += [f"{request.name} ({_reason(shown, request)})" for request in shown.with_choice(Choice.SKIP)]
    return replace(result, left_out=(*left, *failed))


def _reason(shown: Session, asked: Asked) -> str:
    decision = shown.decision(asked)
    return f"skipped: {decision.text}" if decision else "skipped"


def sign(signatures: Signatures, shown: Session) -> list[str]:
    """Sign each decision that is not signed yet, after computing its digests again. Returns the failures."""
    ledger, failed = shown.journal.ledger, []
    signatures.folder = ledger.folder
    checked: list[Asked] = []
    work = [*shown.with_choice(Choice.APPROVE), *shown.with_choice(Choice.REJECT)]
    with progress_bar("checking", len(work)) as advance:
        for request in work:
            try:
                shown.build(request)
            except CutterError as problem:
                failed.append(f"{request.name} ({problem})")
            else:
                checked.append(request)
            advance(request.name)
    # The statements name the time at which they are made, so they are made after the checks, which take longer.
    answers: list[Answer] = []
    for request in checked:
        try:
            answers.append(_answer(signatures, shown, request))
        except CutterError as problem:
            failed.append(f"{request.name} ({problem})")
    return failed + _sign(signatures, shown, answers)


def _answer(signatures: Signatures, shown: Session, asked: Asked) -> Answer:
    decision = shown.journal.ledger.decisions[asked.key]
    if decision.choice is Choice.APPROVE:
        return signatures.approval(asked, decision.text)
    return signatures.rejection(asked, decision.text)


def _sign(signatures: Signatures, shown: Session, answers: Sequence[Answer]) -> list[str]:
    """Sign the answers and record each uploaded one in the journal. Returns the failures."""
    failed: list[str] = []
    if not answers:
        return failed
    with progress_bar("signing", len(answers)) as advance:
        for answer, names in signatures.sign(answers):
            if isinstance(names, CutterError):
                failed.append(f"{answer.one.name} ({names})")
            else:
                folder = signatures.folder if answer.approves else ""
                shown.journal.record(Signed(request=answer.one.key, kb_ids=tuple(names), folder=folder))
            advance(answer.one.name)
    return failed


def _hand_over(signatures: Signatures, shown: Session) -> SessionResult:
    """Give every signed statement to its run or its batch, including statements of an earlier session. The result does
    not know yet what was left out.
    """
    ledger, statements = shown.journal.ledger, shown.journal.ledger.to_hand_over
    signed = [request for request in shown.requests if request.key in statements]
    rejected = [request for request in signed if ledger.decisions[request.key].choice is Choice.REJECT]
    if not signed:
        raise Refused(
            f"nothing was signed; `cutter approve --batch {signatures.batch_id}` asks again", code="not_confirmed"
        )
    approved = [request for request in signed if request not in rejected]
    replies = []
    for asked in rejected:
        reply = signatures.hand_over_rejection(asked, statements[asked.key].kb_ids[0])
        replies.append(f"{asked.name}: {'handed to its run' if reply.status in TAKEN else reply.status}")
        _handed_over(shown, asked)
    handover = None
    if approved:
        signatures.uploaded = [name for request in approved for name in statements[request.key].kb_ids]
        handover = signatures.hand_over()
        for asked in approved:
            _handed_over(shown, asked)
    return SessionResult(
        batch_id=signatures.batch_id, signed=len(signed), left_out=(), handover=handover,
        sequel=after(signatures, approved),
        on_screen=SignedOnScreen(approvals=len(approved), rejections=tuple(replies)),
    )  # fmt: skip


def _handed_over(shown: Session, asked: Asked) -> None:
    before = shown.journal.ledger.signed[asked.key]
    shown.journal.record(before.model_copy(update={"handed_over": True}))
