"""IO: a signing session. It shows every request of a batch, signs the chosen ones, and hands the set over.

On a terminal it fills the screen; else, or with --plain, it asks about one request after the other. After a rehearsal
the same session signs both gates of each document in advance, for the night.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import typer

from cutter import limits
from cutter.approvals import schema
from cutter.approvals.request import RequestDocument
from cutter.batch import documents
from cutter.domain.amounts import counted
from cutter.errors import CutterError, NotFound, Refused
from cutter.request_view import RequestView
from cutter.settings import Settings
from starter.approver import signing_desk
from starter.approver.orders import Keys
from starter.approver.session_requests import Asked, listing, view_of, waiting
from starter.approver.session_result import ACCEPTED, SessionResult
from starter.approver.session_signatures import Signatures
from starter.approver.signing_desk import Signing
from starter.approver.signing_sequel import Sequel, after
from starter.console.confirmation import confirmed
from starter.console.terminal import err, progress_bar, say

Show = Callable[[RequestDocument, RequestView], None]

_BEFORE = (
    "These are the results of a rehearsal. You sign for the live run of batch {batch_id}, and for each document both\n"
    f"gates: its cut and its enactment. Within {limits.PRE_BATCHED_HOURS} hours it is enacted exactly so; nobody is "
    "asked again."
)

_OTHERS = (
    "These are the first {shown} requests, and {others} more wait. After this session, sign them with "
    "`cutter approve --batch {batch_id}`."
)


def hold(
    settings: Settings, batch_id: str, signer: Signing, *, only: Sequence[str], show: Show, yes: bool,
    on_screen: bool = False, each: bool = False,
) -> SessionResult:  # fmt: skip
    """Show each waiting request, sign the chosen ones and hand them over. With `each`, each gets its own signature.

    Raises NotFound if no request waits for this signer, and Refused if nothing was signed.
    """
    requests = waiting(settings, batch_id, only, signer)
    before, wanted, skipped = requests.before, requests.asked, list(requests.left_out)
    if not wanted:
        status_id = f"{batch_id}-dryrun" if before else batch_id
        done = f" of yours, because you have signed {counted(requests.done, 'request')}" if requests.done else ""
        raise NotFound(
            f"batch {batch_id} waits for no approval{done}: see `cutter status {status_id}`", code="nothing_waits"
        )
    if not on_screen:
        err().print(listing(wanted))
    if requests.others:
        err().print(_OTHERS.format(shown=len(wanted), others=requests.others, batch_id=batch_id), soft_wrap=True)
    if before:
        err().print(_BEFORE.format(batch_id=batch_id), soft_wrap=True)
    for gate in documents.GATE_STEMS if before else sorted({request.gate for request in wanted}):
        first = wanted[0].document
        signing_desk.require_fit(
            settings, signer, gate, schema.APPROVE, run_id=first.request.run_id, starter=first.starter
        )
    again = f"cutter approve --batch {batch_id}" if requests.others else ""
    signatures = Signatures(settings=settings, batch_id=batch_id, signer=signer, before=before, each=each)
    if on_screen:
        # Only here, because the library for screens takes longer to import than most commands take.
        from starter.approver import full_screen_session

        result = full_screen_session.hold(signatures, wanted)
        return replace(result, left_out=(*skipped, *result.left_out), sequel=_continued(result.sequel, again))
    skipped += _walk(signatures, wanted, None if yes else show)
    if not signatures.signed:
        raise Refused(f"nothing was signed; `cutter approve --batch {batch_id}` asks again", code="not_confirmed")
    handover = signatures.hand_over()
    approved = [request for request in wanted if request.name in handover.accepted]
    sequel = after(signatures, approved) if handover.status == ACCEPTED else Sequel()
    return SessionResult(
        batch_id=batch_id, signed=signatures.signed, left_out=tuple(skipped), handover=handover,
        sequel=_continued(sequel, again),
    )  # fmt: skip


def _continued(sequel: Sequel, command: str) -> Sequel:
    """The sequel with this next command, if there is one."""
    return replace(sequel, next=command) if command else sequel


def _walk(signatures: Signatures, wanted: Sequence[Asked], show: Show | None) -> list[str]:
    """Ask about each request, or about none without `show`, then sign. What was left out, and why."""
    skipped: list[str] = []
    chosen: list[Asked] = []
    stopped = 0
    for number, request in enumerate(wanted, start=1):
        question = show and _Question(show, number, len(wanted), signatures.before, signatures.signer)
        try:
            why = _left_out(signatures.settings, request, question)
        except typer.Abort:
            # What was approved before is signed and handed over; the rest keeps waiting.
            stopped = number
            skipped += [f"{left.item.document_id} (not asked)" for left in wanted[number - 1 :]]
            break
        if why is None:
            chosen.append(request)
        else:
            skipped.append(f"{request.name} ({why})")
    skipped += _sign(signatures, chosen)
    if stopped:
        done = counted(signatures.signed, "document")
        say(f"stopped at {stopped} of {len(wanted)}: {done} signed, the others wait")
    return skipped


def _sign(signatures: Signatures, chosen: Sequence[Asked]) -> list[str]:
    """Sign the approvals of these requests. Returns those whose statements could not be kept, and why."""
    if not chosen:
        return []
    failed: list[str] = []
    with progress_bar("signing", len(chosen)) as advance:
        for answer, names in signatures.sign([signatures.approval(request) for request in chosen]):
            if isinstance(names, CutterError):
                failed.append(f"{answer.one.name} ({names})")
            advance(answer.one.name)
    return failed


class _Question(NamedTuple):
    """The question about one document of a session."""

    show: Show
    number: int
    total: int
    before: bool
    signer: Signing

    def answered_yes(self, asked: Asked, view: RequestView) -> bool:
        self.show(asked.document, view)
        both = " for both gates" if self.before else ""
        where = f"{self.number} of {self.total}"
        return confirmed(f"{where}: approve {asked.name}{both} as {self.signer.approver}?")


def _left_out(settings: Settings, asked: Asked, question: _Question | None) -> str | None:
    """Why a document must not be signed, or None if it is to be signed. Without a question, every document that passes
    the checks is signed.
    """
    try:
        view = signing_desk.recompute(settings, asked.document)
    except CutterError as problem:
        # The view that was built here differs from the request.
        return str(problem)
    return None if question is None or question.answered_yes(asked, view) else "left out"


def addressed(settings: Settings, batch_id: str, keys: Keys) -> Keys:
    """The addressee of the queue as the signer, if no option names a signer and that person's key is on this machine
    (seed 001 §2).
    """
    if keys.approver is not None or keys.key is not None:
        return keys
    actors = {item.actor for item in view_of(settings, batch_id).items}
    own = {approver.name for approver in signing_desk.own(signing_desk.policy_in_force(settings), keys.home)}
    return keys._replace(approver=actors.pop()) if len(actors) == 1 and actors <= own else keys


def text_of(value: Any) -> str:
    """A field of the answer for people. A list gets one line for each entry."""
    if isinstance(value, list):
        return "\n".join(
            ": ".join(str(part) for part in entry.values()) if isinstance(entry, dict) else entry for entry in value
        )
    return str(value)
