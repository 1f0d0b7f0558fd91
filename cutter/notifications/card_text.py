"""IO: reads the new notifications from PostgreSQL, and writes the card of each (seed 003 §7; spec 05 "Slack")."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from enum import StrEnum
from typing import Final

from cutter import limits
from cutter.approvals.policy import Tier
from cutter.approvals.request import Changes, parse_request
from cutter.catalogue import GATES, Sovereign, stands_on
from cutter.domain import ids
from cutter.domain.next_step import StepFacts, next_step
from cutter.errors import ProgrammingError
from cutter.notifications.card import Card, Enactment, Fact, Kind, Phase, Severity, from_json, one_line
from cutter.policy.command import write_of
from cutter.policy.rules import EffectPolicy, InvalidPolicy, ProposedAction, Verdict, decide
from cutter.storage.records import Connection, Rows, records, values
from cutter.types import Refusal


class Outcome(StrEnum):
    APPROVED = "approved"
    REJECTED = "rejected"
    EXPIRED = "expired"
    CANCELED = "canceled"


@dataclass(frozen=True, slots=True, kw_only=True)
class Question(StepFacts):
    """A question to people, with what its run needs. `place` is a sovereign gate, or one that the policy stopped."""

    id: int
    subject: str
    place: str
    docprefix: str
    tenant: str
    mode: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RunToTell:
    """A run that stopped, failed or finished."""

    id: int
    kind: str
    subject: str
    place: str
    run_id: str
    document_id: str
    mode: str
    tenant: str


@dataclass(frozen=True, slots=True, kw_only=True)
class EnactmentToTell(Enactment):
    """An enacted version of a law, with the mode of the run that enacted it."""

    id: int
    subject: str
    mode: str


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchToTell:
    """A batch that halted or ended, with the counts of its documents."""

    id: int
    subject: str
    place: str
    batch_id: str
    mode: str
    documents: int
    enacted: int
    failed: int
    stopped: int
    voided: int


def asked(
    question: Question, *, tier: Tier, needed: int, reason: str, units: int | None, unsigned: bool = False,
    expires: datetime | None = None, changes: Changes | None = None, findings: int = 0,
) -> Card:  # fmt: skip
    """The card of a question: the planned write in numbers, the policy's reason, and the command that decides.

    `units` is the number of units below the question's prefix, or None if they are not counted yet. `unsigned` says
    that the press of a button may decide.
    """
    run_id, document_id = ids.run_id(question.run_id), ids.document_id(question.document_id)
    facts = {
        "Document": document_id, "Gate": question.place, "Run": run_id, "Mode": question.mode,
        "Asks for": f"{needed} {'person' if needed == 1 else 'people'}, tier {tier}",
    }  # fmt: skip
    if expires is not None:
        facts["Until"] = f"{expires.astimezone(UTC):%Y-%m-%d %H:%M} UTC"
    sovereign = question.place in tuple(Sovereign)
    enacts = question.place == Sovereign.LIFECYCLE
    write, step = f"The policy stopped it there, of {units or 0} units", next_step(question)
    if sovereign:
        # The card asks for a signature, even if enough people have signed since the request was made.
        step = next_step(replace(question, approved=False, latched=False))
        write = f"{units} {'units enacted' if enacts else 'units'} at as many addresses below {question.docprefix}/"
        if changes is not None and not enacts:
            counts = f"{changes.added_count} added, {changes.changed_count} changed, {changes.removed_count} removed"
            write += f": {counts}"
        if findings:
            write += f"; {findings} findings"
    return Card(
        kind=Kind.APPROVAL if sovereign else Kind.POLICY_STOP, phase=Phase.ASKED, severity=Severity.ACTION,
        subject=question.subject, title=f"{document_id} waits at {question.place}", place=question.place,
        run_id=run_id, document_id=document_id, mode=question.mode, facts=_pairs(facts),
        text=one_line(f"{write}. {reason}", limits.CARD_TEXT_MAX), commands=(one_line(step.command),),
        unsigned=unsigned,
    )  # fmt: skip


def answered(question: Card, outcome: Outcome, by: Sequence[str]) -> Card:
    """The card of an answer. It names the people who decided, and has neither a command nor a button."""
    text = f"{outcome} by {', '.join(by)}" if by else outcome.value
    return replace(
        question, phase=Phase.ANSWERED, severity=Severity.INFO, unsigned=False, commands=(),
        title=f"{question.document_id} was {outcome} at {question.place}", text=one_line(text, limits.CARD_TEXT_MAX),
    )  # fmt: skip


_SEVERITIES: Final = {Kind.STOP: Severity.WARNING, Kind.FAILURE: Severity.ERROR, Kind.FINISHED: Severity.INFO}
_VERBS: Final = {Kind.STOP: "stopped", Kind.FAILURE: "failed", Kind.FINISHED: "finished"}
_TEXTS: Final = {
    Kind.STOP: "A person must act before the run continues. The command shows the reason and the next step.",
    Kind.FAILURE: "The run has ended. The command shows the reason and the next step.",
    Kind.FINISHED: "The run has ended. The command shows its result.",
}


def of_run(run: RunToTell) -> Card:
    """The card of a run that stopped, failed or finished. It lacks the reason, because the reason may quote the law."""
    kind = Kind(run.kind)
    facts = {"Document": run.document_id, "Run": run.run_id, "Mode": run.mode, "State": run.place}
    return Card(
        kind=kind, phase=Phase.TOLD, severity=_SEVERITIES[kind], subject=run.subject, place=run.place,
        run_id=run.run_id, document_id=run.document_id, mode=run.mode, facts=_pairs(facts),
        title=one_line(f"{run.document_id} {_VERBS[kind]}: {run.place}"), text=_TEXTS[kind],
        commands=(f"cutter status {run.run_id}",),
    )  # fmt: skip


_ENACTED: Final = {"first_cut": "enacted", "revision": "revised", "correction": "corrected", "repeal": "repealed"}


def of_enactment(made: EnactmentToTell) -> Card:
    """The card of an enactment. It lacks the law's title, because a title is text of the law."""
    subject = "No unit of the law" if made.operation == "repeal" else "This version"
    facts = {
        "Document": made.document, "Version": str(made.version), "Operation": made.operation,
        "In force from": made.effective_from.isoformat(), "Units": str(made.units), "Run": made.run_id,
    }  # fmt: skip
    return Card(
        kind=Kind.ENACTED, phase=Phase.TOLD, severity=Severity.INFO, subject=made.subject, place=made.operation,
        run_id=made.run_id, document_id=made.document, mode=made.mode, enactment=made, facts=_pairs(facts),
        title=one_line(f"{made.document} was {_ENACTED[made.operation]}: version {made.version}"),
        text=f"{subject} is in force from {made.effective_from}.",
        commands=(f"cutter law show {made.document} --version {made.version}",),
    )  # fmt: skip


def of_batch(batch: BatchToTell) -> Card:
    """The card of a batch that halted or ended, with the counts of its documents."""
    halted = batch.place.startswith("halted_")
    severity = Severity.INFO if batch.place == "batch_closeout" else Severity.WARNING
    facts = {"Batch": batch.batch_id, "Mode": batch.mode, "State": batch.place}
    for name in ("documents", "enacted", "failed", "stopped", "voided"):
        facts[name.capitalize()] = str(getattr(batch, name))
    return Card(
        kind=Kind.BATCH, phase=Phase.TOLD, severity=severity, subject=batch.subject, place=batch.place,
        batch_id=batch.batch_id, mode=batch.mode, title=f"Batch {'halted' if halted else 'ended'}: {batch.place}",
        facts=_pairs(facts), commands=(f"cutter status {batch.batch_id}",),
        text="Nothing more starts until a person resumes it." if halted else "Every document of the batch has ended.",
    )  # fmt: skip


def test_card(channel: str, at: datetime) -> Card:
    """The card that `cutter notify check CHANNEL` sends."""
    moment = f"{at.astimezone(UTC):%Y-%m-%dT%H:%M:%S.%fZ}"
    return Card(
        kind=Kind.TEST, phase=Phase.TOLD, severity=Severity.INFO, subject=f"test:{channel}:{moment}",
        title=f"A test of the channel {channel}", facts=_pairs({"Channel": channel, "Sent": moment}),
        text="If you read this, messages arrive here. You need to do nothing.", commands=("cutter notify check",),
    )  # fmt: skip


def _pairs(facts: Mapping[str, str]) -> tuple[Fact, ...]:
    return tuple(Fact(name=name, value=one_line(value)) for name, value in facts.items())


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestToAsk(Question):
    """An open request at a sovereign gate, with its document."""

    expires_at: datetime
    document: str
    now: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class StopToAsk(Question):
    """A run that the policy stopped. A resume needs `needed` people, or a button's press if `unsigned`."""

    reason: str | None
    tier: str
    needed: int
    unsigned: bool
    units: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerToTell:
    """The decision about a question, with the question's card. `card` is None if the question was never sent."""

    id: int
    card: str | None
    outcome: str
    people: list[str]


REQUESTS = records("notification_requests_to_ask", RequestToAsk)
STOPS = records("notification_stops_to_ask", StopToAsk)
OVERTAKEN: Rows[int] = values("notification_questions_overtaken")
ANSWERS = records("notification_answers", AnswerToTell)
RUNS = records("notification_runs_to_tell", RunToTell)
ENACTMENTS = records("notification_enactments_to_tell", EnactmentToTell)
BATCHES = records("notification_batches_to_tell", BatchToTell)


def new_cards(
    connection: Connection, channel: str, kinds: tuple[str, ...], policy: EffectPolicy | InvalidPolicy, since: str
) -> Iterator[tuple[int, Card | None]]:
    """(Notification id, card) of each notification that is new for a channel.

    The card is None for a question that was decided before anyone asked it. Open questions are found by their requests
    and runs, everything else among what was written `since` that time.
    """
    parameters = {"channel": channel, "kinds": list(kinds), "days": limits.NOTIFICATION_DAYS, "since": since,
                  "most": limits.NOTIFICATIONS_A_PASS}  # fmt: skip
    for request in REQUESTS.all(connection, parameters):
        yield request.id, _asked(request, policy)
    for stop in STOPS.all(connection, parameters):
        # The run continues after people agree.
        yield stop.id, asked(
            stop, tier=Tier(stop.tier), needed=stop.needed, reason=stop.reason or "", units=stop.units,
            unsigned=stop.unsigned,
        )  # fmt: skip
    for overtaken in OVERTAKEN.all(connection, parameters):
        yield overtaken, None
    for answer in ANSWERS.all(connection, parameters):
        question = from_json(answer.card) if answer.card is not None else None
        yield answer.id, question and answered(question, Outcome(answer.outcome), answer.people)
    for run in RUNS.all(connection, parameters):
        yield run.id, of_run(run)
    for enactment in ENACTMENTS.all(connection, parameters):
        yield enactment.id, of_enactment(enactment)
    for batch in BATCHES.all(connection, parameters):
        yield batch.id, of_batch(batch)


def _asked(request: RequestToAsk, policy: EffectPolicy | InvalidPolicy) -> Card:
    """The card of a request, from its document and the policy's decision about each write that it asks for."""
    document = parse_request(request.document.encode())
    if isinstance(document, Refusal):
        raise ProgrammingError(f"the request of {request.run_id} cannot be read back: {document.reason}")
    units = document.request.candidate_count
    decisions = [
        decide(policy, ProposedAction(
            connector=write.connector.value, operation=write.name, at=request.now, gate=gate.name,
            document_id=request.document_id, tenant=request.tenant, mode=request.mode, candidates=units,
        ))
        for gate in GATES
        if stands_on(gate) is Sovereign(request.place) and (write := write_of(gate.name)) is not None
    ]  # fmt: skip
    # Rules that only allow a write tell an approver nothing.
    reasons = dict.fromkeys(each.why for each in decisions if each.verdict is not Verdict.ALLOW)
    tiers = [Tier(document.tier), *(each.tier for each in decisions if each.tier)]
    return asked(
        request, tier=max(tiers, key=list(Tier).index), needed=document.approvers_needed, reason="; ".join(reasons),
        units=units, expires=request.expires_at, changes=document.changes, findings=document.findings_count,
    )  # fmt: skip
