"""IO: reads the new notifications from PostgreSQL and makes their cards."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from cutter import limits
from cutter.approvals.policy import Tier
from cutter.approvals.request import parse_request
from cutter.catalogue import GATES, Sovereign, stands_on
from cutter.errors import ProgrammingError
from cutter.notifications import card_text
from cutter.notifications.card import Card, from_json
from cutter.notifications.card_text import BatchToTell, EnactmentToTell, Outcome, Question, RunToTell
from cutter.policy.command import write_of
from cutter.policy.rules import EffectPolicy, InvalidPolicy, ProposedAction, Verdict, decide
from cutter.storage.records import Connection, Rows, records, values
from cutter.types import Refusal


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
    asked = {"channel": channel, "kinds": list(kinds), "days": limits.NOTIFICATION_DAYS, "since": since,
             "most": limits.NOTIFICATIONS_A_PASS}  # fmt: skip
    for request in REQUESTS.all(connection, asked):
        yield request.id, _asked(request, policy)
    for stop in STOPS.all(connection, asked):
        # The run continues after people agree.
        yield stop.id, card_text.asked(
            stop, tier=Tier(stop.tier), needed=stop.needed, reason=stop.reason or "", units=stop.units,
            unsigned=stop.unsigned,
        )  # fmt: skip
    for overtaken in OVERTAKEN.all(connection, asked):
        yield overtaken, None
    for answer in ANSWERS.all(connection, asked):
        question = from_json(answer.card) if answer.card is not None else None
        yield answer.id, question and card_text.answered(question, Outcome(answer.outcome), answer.people)
    for run in RUNS.all(connection, asked):
        yield run.id, card_text.of_run(run)
    for enactment in ENACTMENTS.all(connection, asked):
        yield enactment.id, card_text.of_enactment(enactment)
    for batch in BATCHES.all(connection, asked):
        yield batch.id, card_text.of_batch(batch)


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
    return card_text.asked(
        request, tier=max(tiers, key=list(Tier).index), needed=document.approvers_needed, reason="; ".join(reasons),
        units=units, expires=request.expires_at, changes=document.changes, findings=document.findings_count,
    )  # fmt: skip
