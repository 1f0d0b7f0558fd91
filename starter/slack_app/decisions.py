"""IO: handles the press of a button: who pressed it, what the card is about, and what this person may decide.

A press never decides at a sovereign gate. There cutter answers with the command and changes nothing. If the policy
stopped a run, PostgreSQL says whether people may decide without a signature, and it counts their decisions. Then the
run gets the decision by the same update as any other, or later by `cutter reconcile`.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace
from datetime import UTC, datetime

import structlog

from cutter.approvals import schema
from cutter.approvals.eligibility import ineligibility_reason
from cutter.catalogue import BY_NAME, Role
from cutter.domain.next_step import StepFacts, next_step
from cutter.errors import CutterError
from cutter.notifications.slack_callback import Click
from cutter.settings import Settings
from cutter.storage.gate_transaction import Decided, call
from cutter.storage.pools import session
from cutter.storage.records import records
from starter.approver import signing_desk
from starter.slack_app.server import Reply, answer_in_slack
from temporal import runs
from temporal.client import connect as connect_temporal
from temporal.executions import tell

log = structlog.get_logger()


@dataclass(frozen=True, slots=True, kw_only=True)
class PostedCard(StepFacts):
    """A question as it was posted, with what its run needs now. `place` is a gate."""

    subject: str
    place: str
    starter: str
    first_execution_id: str | None


CARD = records("notification_card", PostedCard)

_DECIDE = "select cutter_governance.fn_unsigned_decide(%s, %s, %s, %s, %s)"


def resolve(settings: Settings, click: Click) -> Reply:
    """The answer to one press. A repeated press gets the same answer."""
    name = settings.slack_people.get(click.user)
    if name is None:
        return _told(settings, click, "unknown_user", "You are not known here: CUTTER_SLACK_PEOPLE names who is.")
    # The pressed card is in that channel, at that place, and about that subject.
    pressed = {"channel": "slack", "subject": click.subject, "reference": f"{click.channel}/{click.message}"}
    with session(settings, Role.OPERATOR) as connection:
        card = CARD.first(connection, pressed)
    if card is None:
        return _told(settings, click, "unknown_card", "That is no card of ours: `cutter inbox` lists what waits.")
    if card.place not in BY_NAME:
        return _told(settings, click, "signature_needed", _by_signature(card))
    # The policy stopped the run. The database answers this person's decision.
    why = _may_not(settings, card, name)
    if why is not None:
        return _told(settings, click, "may_not_decide", f"{why}. Nothing was changed.")
    word = "approve" if click.approve else "reject"
    with session(settings, Role.OPERATOR) as connection:
        answer = call(connection, Decided.of, _DECIDE, (card.run_id, click.subject, word, name, f"slack:{click.user}"))
    if answer.status != "recorded":
        refusals = {
            "signature_needed": _by_signature(card),
            "decided_already": f"It was decided already: `cutter status {card.run_id}`.",
            "approver_is_starter": "Who started the run does not decide about it: another person must.",
            "same_person": "You have decided this already, and the first answer counts: another person must.",
        }
        return _told(settings, click, answer.code, refusals[answer.code])
    if not click.approve:
        text = f"{name} rejects it: the run is cancelled."
    elif answer.have < answer.needed:
        text = f"{name} approves it: {answer.have} of {answer.needed}. Another person must approve it too."
    else:
        text = f"{name} approves it: {answer.have} of {answer.needed}. It continues."
    enough = not click.approve or answer.have >= answer.needed
    return _told(settings, click, "recorded", text, card if enough else None)


def _may_not(settings: Settings, card: PostedCard, name: str) -> str | None:
    """The reason why this person's signature would not count. Then their press does not count either."""
    policy = signing_desk.policy_in_force(settings)
    person = next((approver for approver in policy.approvers if approver.name == name), None)
    if person is None:
        return f"{name} is no approver of epoch {policy.number}"
    _, gate = signing_desk.gate_ahead(settings, card.run_id)
    return ineligibility_reason(policy, person, gate, schema.RESUME, starter=card.starter, now=datetime.now(UTC))


def _by_signature(card: PostedCard) -> str:
    # The card asked for a signature, even if enough people have signed since.
    step = next_step(replace(card, approved=False, latched=False))
    return (
        f"{card.place} takes a signature: nothing in Slack decides it, and nothing was changed. Type on your own "
        f"machine:\n```{step.command}```"
    )


def _told(settings: Settings, click: Click, code: str, text: str, deliver_to: PostedCard | None = None) -> Reply:
    log.info("slack.pressed", code=code, user=click.user, subject=click.subject, approve=click.approve)

    def afterwards() -> None:
        if click.answer_to:
            # This person alone gets it. A person who is not reached sees it when the card changes.
            trouble = answer_in_slack(settings.slack_url, click.answer_to, text)
            if trouble is not None:
                log.warning("slack.not_told", code=trouble.code)
        if deliver_to is not None:
            try:
                asyncio.run(_deliver(settings, deliver_to, click, text))
            except CutterError as problem:
                log.warning("slack.not_delivered", run_id=deliver_to.run_id, code=problem.code)

    return Reply(text=text, afterwards=afterwards)


async def _deliver(settings: Settings, card: PostedCard, click: Click, reason: str) -> None:
    """Wake the run's workflow. If that fails, `cutter reconcile` does it."""
    client = await connect_temporal(settings)
    if click.approve:
        await runs.resume(client, card.document_id, None)
    else:
        await tell(client, card, "cancel", reason)
