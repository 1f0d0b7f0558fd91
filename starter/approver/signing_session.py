"""IO: a signing session. It shows one request or many, lets a person decide, signs, and hands the statements over.

On a terminal it fills the screen, and keeps each step in its journal before the next one, so that a killed session
continues. Else, or with --plain, it shows a short page for each request and asks in one line. After a rehearsal, it
signs both gates of each document in advance, for the night.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import Enum
from typing import Any

import typer

from cutter import limits
from cutter.approvals import schema
from cutter.batch import documents
from cutter.catalogue import Sovereign
from cutter.domain.amounts import counted
from cutter.domain.run_record import RunRecord
from cutter.domain.timestamps import readable
from cutter.errors import CutterError, NotFound, Refused
from cutter.settings import Settings
from cutter.storage import runs as run_rows
from cutter.types import Json
from starter.approver import orders, session, signing_desk
from starter.approver.request_summary import summary
from starter.approver.session import Choice, Decision, Session, SessionJournal, Signed
from starter.approver.session_requests import Answer, Asked, Signatures, asked_of, listing, view_of, waiting
from starter.approver.signing_desk import Signing
from starter.console.confirmation import confirmed, typed
from starter.console.terminal import err, progress_bar, say
from starter.operator import request_state
from temporal.runs import OrderReply

_BEFORE = (
    "These are the results of a rehearsal. You sign for the live run of batch {batch_id}, and for each document both\n"
    f"gates: its cut and its enactment. Within {limits.PRE_BATCHED_HOURS} hours it is enacted exactly so; nobody is "
    "asked again."
)

_OTHERS = (
    "These are the first {shown} requests, and {others} more wait. After this session, sign them with "
    "`cutter approve --batch {batch_id}`."
)

_CHOSE = {
    Choice.APPROVE: "you chose to approve it", Choice.SKIP: "you skipped it", Choice.REJECT: "you chose to reject it",
}  # fmt: skip


class Ask(Enum):
    """How a session asks: on the whole screen, in one line for each request, or not at all."""

    ON_SCREEN = "on screen"
    BY_LINE = "by line"
    NOBODY = "nobody"


@dataclass(frozen=True, slots=True, kw_only=True)
class Handed:
    """What a session handed over: its approvals as one set, and each other statement to its own run.

    `answer` has the batch's reply to the set, and `accepted` the requests whose approval it accepted.
    """

    approved: Sequence[Asked]
    to_runs: Sequence[tuple[Asked, str, OrderReply]]
    answer: Json
    accepted: Sequence[Asked] = ()


ACCEPTED = "accepted"


def hold(settings: Settings, batch_id: str, signer: Signing, *, only: Sequence[str], ask: Ask) -> Json:
    """Show each waiting request of a batch, sign the chosen ones and hand them over.

    Raises NotFound if no request waits for this signer, and Refused if nothing was signed.
    """
    requests = waiting(settings, batch_id, only, signer)
    before, wanted = requests.before, requests.asked
    if not wanted:
        status_id = f"{batch_id}-dryrun" if before else batch_id
        done = f" of yours, because you have signed {counted(requests.done, 'request')}" if requests.done else ""
        raise NotFound(
            f"batch {batch_id} waits for no approval{done}: see",
            then=f"cutter status {status_id}",
            code="nothing_waits",
        )
    if ask is not Ask.ON_SCREEN:
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
    again = f"cutter approve --batch {batch_id}"
    signatures = Signatures(settings=settings, batch_id=batch_id, signer=signer, before=before)
    with _opened(signatures, wanted, batch_id, ask, again) as shown:
        handed = _held(signatures, shown, ask, Decision(choice=Choice.APPROVE))
        rejected = [
            f"{asked.name}: {'handed to its run' if reply.status in orders.TAKEN else reply.status}"
            for asked, _, reply in handed.to_runs
            if shown.journal.ledger.decisions[asked.key].choice is Choice.REJECT
        ]
        sequel = after(signatures, handed.accepted) if handed.answer["status"] == ACCEPTED else {}
        sequel |= {"next": again} if requests.others else {}
        approvals = len(handed.approved) + len(handed.to_runs) - len(rejected)
        left_out = [*requests.left_out, *shown.left_out()]
        return session_answer(batch_id, approvals, rejected, handed.answer, sequel, left_out)


def session_answer(
    batch_id: str, approvals: int, rejected: list[str], handed: Json, sequel: Json, left_out: list[str]
) -> Json:
    """The answer of a session: its counts, the batch's reply, each rejection with its run's reply, and what follows.

    `left_out` names the other documents, each with the reason.
    """
    return {
        "batch_id": batch_id, "signed": approvals + len(rejected), "approvals": approvals, "rejections": len(rejected),
        **handed, **({"rejected": rejected} if rejected else {}), **sequel, "left_out": left_out,
    }  # fmt: skip


def hold_one(
    settings: Settings, run: RunRecord, signer: Signing, wanted: Decision, *, ask: Ask, again: str
) -> tuple[Choice, str, OrderReply]:
    """Sign the open request of a run. Returns the decision, the statement's KB id, and the run's reply.

    A session on the screen offers every decision. Otherwise the question is about the wanted one.
    """
    asked = asked_of(settings, run.run_id, signing_desk.open_request(settings, run.run_id))
    decision = wanted.choice.value
    signing_desk.require_fit(settings, signer, asked.gate, decision, run_id=run.run_id, starter=run.starter)
    signatures = Signatures(settings=settings, signer=signer)
    with _opened(signatures, [asked], run.batch_id or run.run_id, ask, again) as shown:
        _, kb_id, reply = _held(signatures, shown, ask, wanted).to_runs[0]
        return shown.journal.ledger.decisions[asked.key].choice, kb_id, reply


@contextmanager
def _opened(signatures: Signatures, requests: Sequence[Asked], subject: str, ask: Ask, again: str) -> Iterator[Session]:
    """The session with the decisions that its approver kept. Only a session on the screen keeps others."""
    settings, approver = signatures.settings, signatures.signer.approver
    keys = {request.key for request in requests}

    pairs = [(request.document.request.run_id, request.key) for request in requests]

    def gone() -> dict[str, str]:
        # A rehearsal has ended, so that nothing happens to its requests any more.
        return {} if signatures.before else request_state.gone(settings, pairs, approver)

    # A person may sign again what they signed before this session.
    earlier = gone()

    shown = Session(
        title=f"batch {signatures.batch_id}" if signatures.batch_id else requests[0].name, approver=approver,
        requests=requests, before=signatures.before, journal=SessionJournal(), again=again,
        look=lambda: {key: why for key, why in gone().items() if key not in earlier},
        build=lambda request: signing_desk.recompute(settings, request.document),
    )  # fmt: skip
    if ask is Ask.ON_SCREEN:
        with session.open_journal(settings, subject, approver, keys) as journal:
            shown.journal = journal
            yield shown
    else:
        shown.kept = session.kept(settings, subject, approver, keys)
        yield shown


def _held(signatures: Signatures, shown: Session, ask: Ask, wanted: Decision) -> Handed:
    """Let the approver decide, then sign and hand over. Raises Refused if nothing was signed."""
    if ask is Ask.ON_SCREEN:
        _decide_on_screen(shown)
    else:
        _decide_by_line(shown, wanted, asks=ask is Ask.BY_LINE)
    sign(signatures, shown, checked=ask is Ask.NOBODY)
    return _hand_over(signatures, shown)


def _decide_on_screen(shown: Session) -> None:
    # Only here, because the library for screens takes longer to import than most commands take.
    from starter.approver.full_screen.app import SigningApp

    if SigningApp(shown).run():
        return
    if len(shown.requests) == 1 and shown.refused:
        raise next(iter(shown.refused.values()))
    if len(shown.requests) == 1 and shown.gone:
        raise _nothing_signed(shown)
    kept = counted(len(shown.journal.ledger.decisions), "decision")
    raise Refused(f"nothing was signed now; {kept} kept:", then=shown.again, rest=" continues", code="session_left")


def _decide_by_line(shown: Session, wanted: Decision, *, asks: bool) -> None:
    """Take the wanted decision about each request that passes the checks, with a note that was kept with the same one.

    With `asks` it shows each request and asks first, and after Ctrl-C the rest keeps waiting. Without, another decision
    that the approver kept stays.
    """
    total, both = len(shown.requests), " for both gates" if shown.before else ""
    with _bar("checking", [] if asks else shown.requests) as advance:
        for number, request in enumerate(shown.requests, start=1):
            advance(request.name)
            before = shown.kept.decisions.get(request.key)
            kept_words = f"{_CHOSE[before.choice]}{f': {before.text}' if before.text else ''}" if before else ""
            if not asks and before is not None and before.choice is not wanted.choice:
                shown.refused[request.key] = Refused(
                    f"{kept_words}, and --yes does not change that:",
                    then=shown.again,
                    rest=" asks you again",
                    code="decision_kept",
                )
                continue
            try:
                view = shown.open(request)
            except CutterError:
                # The session keeps the problem, and names it at the end.
                continue
            if asks or total == 1:
                err().print(summary(request.document, view), soft_wrap=True)
                if before is not None:
                    say(f"In a session on the screen {kept_words}.")
            if asks:
                where = f"{number} of {total}: " if total > 1 else ""
                question = f"{where}{wanted.choice} {request.name}{both} as {shown.approver}?"
                ends_law = request.document.repeals and wanted.choice is Choice.APPROVE
                try:
                    yes = typed(request.name, question) if ends_law else confirmed(question)
                except typer.Abort:
                    if total == 1:
                        raise
                    shown.passed_over |= {left.key: "not asked" for left in shown.requests[number - 1 :]}
                    done = counted(len(shown.with_choice(wanted.choice)), "document")
                    say(f"stopped at {number} of {total}: {done} to sign, the others wait")
                    return
                if not yes:
                    shown.passed_over[request.key] = "left out"
                    continue
            keeps = before is not None and before.choice is wanted.choice and not wanted.text
            shown.decide(request, before if keeps else wanted)


def _bar(text: str, requests: Sequence[object]) -> AbstractContextManager[Callable[[str], None]]:
    return progress_bar(text, len(requests)) if len(requests) > 1 else nullcontext(lambda _: None)


def sign(signatures: Signatures, shown: Session, *, checked: bool) -> None:
    """Sign each decision that is not signed yet. Unless they were `checked` a moment ago, compute the digests again."""
    signatures.folder = shown.journal.ledger.folder
    shown.gone = shown.look()
    ready: list[Asked] = []
    work = [*shown.with_choice(Choice.APPROVE), *shown.with_choice(Choice.REJECT)]
    with _bar("checking", [] if checked else work) as advance:
        for request in work:
            try:
                if not checked:
                    shown.build(request)
            except CutterError as problem:
                shown.refused[request.key] = problem
            else:
                ready.append(request)
            advance(request.name)
    # The statements name the time at which they are made, so they are made after the checks, which take longer.
    answers: list[Answer] = []
    for request in ready:
        decision = shown.journal.ledger.decisions[request.key]
        answer_to = signatures.approval if decision.choice is Choice.APPROVE else signatures.rejection
        try:
            answers.append(answer_to(request, decision.text))
        except CutterError as problem:
            shown.refused[request.key] = problem
    if not answers:
        return
    with _bar("signing", answers) as advance:
        for answer, names in signatures.sign(answers):
            if isinstance(names, CutterError):
                shown.refused[answer.one.key] = names
            else:
                folder = signatures.folder if answer.approves else ""
                shown.journal.record(Signed(request=answer.one.key, kb_ids=tuple(names), folder=folder))
            advance(answer.one.name)


def _hand_over(signatures: Signatures, shown: Session) -> Handed:
    """Give each statement to its batch or its run, also those of an earlier session that was killed."""
    statements = shown.journal.ledger.to_hand_over
    signed = [request for request in shown.requests if request.key in statements]
    if not signed:
        raise _nothing_signed(shown)
    alone = [request for request in signed if not (signatures.before or statements[request.key].folder)]
    to_runs = []
    for asked in alone:
        kb_id = statements[asked.key].kb_ids[0]
        run = run_rows.sidecar(signatures.settings, asked.document.request.run_id).run
        to_runs.append((asked, kb_id, orders.hand_over(signatures.settings, run, kb_id)))
        _handed_over(shown, asked)
    together = [request for request in signed if request not in alone]
    answer: Json = {"status": ACCEPTED}
    accepted: Sequence[str] = ()
    if together and signatures.before:
        # They are already where the night looks for them.
        answer["pre_batched"] = [name for request in together for name in statements[request.key].kb_ids]
    elif together:
        folder, reply = signatures.hand_over()
        answer, accepted = {"status": reply.status, "folder": folder, **reply.as_json()}, reply.accepted
    for asked in together:
        _handed_over(shown, asked)
    return Handed(
        approved=together, to_runs=to_runs, answer=answer,
        accepted=[request for request in together if request.name in accepted],
    )  # fmt: skip


def _handed_over(shown: Session, asked: Asked) -> None:
    before = shown.journal.ledger.signed[asked.key]
    shown.journal.record(before.model_copy(update={"handed_over": True}))


def _nothing_signed(shown: Session) -> CutterError:
    if len(shown.requests) == 1 and shown.refused:
        return next(iter(shown.refused.values()))
    first, *others = shown.left_out()
    more = f" and {len(others)} more" if others else ""
    if not shown.undecided() and len(shown.gone) == len(shown.requests):
        look = shown.again if others else f"cutter status {shown.requests[0].name}"
        return Refused(f"nothing was signed: {first}{more}; see", then=look, code="nothing_waits")
    return Refused(f"nothing was signed: {first}{more};", then=shown.again, rest=" asks again", code="not_confirmed")


def after(signatures: Signatures, approved: Sequence[Asked]) -> Json:
    """The next command, and after SG_1 the time for SG_2. After a rehearsal it starts the night."""
    if signatures.before:
        return {"next": "cutter orchestrate batch --queue QUEUE --overnight"}
    batch_id, cut = signatures.batch_id, [request for request in approved if request.gate == Sovereign.CUT]
    if not cut:
        return {"next": f"cutter status {batch_id}"}
    run = run_rows.sidecar(signatures.settings, cut[0].document.request.run_id).run
    seconds = float(run.caps.get("ttl_lifecycle_seconds") or limits.TTL_SG2_HOURS * 3600)
    return {
        "then": "the approved documents are written and verified now; after that they wait for your second signature",
        "SG_2": second_signature(seconds, datetime.now(UTC)),
        "next": f"cutter approve --batch {batch_id}",
    }


def second_signature(seconds: float, now: datetime) -> str:
    """How long SG_2 is open, and until when. `seconds` is the time for SG_2, which begins with its request."""
    until = readable(now + timedelta(seconds=seconds))
    return f"open for {seconds / 3600:g} hours after its request: sign before {until}"


def addressed(settings: Settings, batch_id: str, keys: orders.Keys) -> orders.Keys:
    """Without an option, the queue's addressee signs if that key is on this machine (seed 001 §2)."""
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
