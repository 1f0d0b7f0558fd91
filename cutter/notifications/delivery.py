"""IO: delivers the notifications that PostgreSQL holds. One pass serves one channel.

No run and no gate waits for a delivery. The transaction of an event writes its notification. `cutter notify serve` and
`cutter reconcile` make a pass later. A pass stores each card before it sends the card, so that every try sends the same
card. If the sender dies after sending and before recording, the message is in doubt, and the next pass sends it again.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

from pydantic import TypeAdapter

from cutter import limits
from cutter.catalogue import Role
from cutter.domain.recorded_values import record
from cutter.notifications import card_text
from cutter.notifications.card import from_json
from cutter.notifications.channels import Channel, Message, Trouble, Undelivered, kinds_of, undelivered
from cutter.policy.command import NOTIFICATION_POST
from cutter.policy.rules import EffectPolicy, InvalidPolicy, ProposedAction, Verdict, decide
from cutter.settings import Settings
from cutter.storage import policies
from cutter.storage.pools import session
from cutter.storage.records import Connection, answer

_CHANNEL = "select cutter_governance.fn_notification_channel(%s, %s, %s)"
_CAUGHT_UP = "select cutter_governance.fn_notification_caught_up(%s, %s)"
_ENTER = "select cutter_governance.fn_notification_enter(%s, %s, %s)"
_TAKE = "select cutter_governance.fn_notification_take(%s, %s)"
_DONE = "select cutter_governance.fn_notification_done(%s, %s)"
_FAILED = "select cutter_governance.fn_notification_failed(%s, %s, %s, %s)"


@dataclass(frozen=True, slots=True, kw_only=True)
class About:
    """What the effect policy sees of a message. One about a batch has only a mode, and a test nothing."""

    document_id: str | None = None
    tenant: str | None = None
    mode: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DueMessage:
    """A message that a pass has taken for NOTIFICATION_LEASE_SECONDS.

    `card` is the JSON of the card. `attempts` counts the earlier tries. `in_doubt` is true if one of them may have
    arrived. `question` is the channel's own name of the question with this subject, or None. `created` is in Unix
    seconds, and `now` is the database's clock. One of `run_id` and `batch_id` is None.
    """

    id: int
    kind: str
    phase: str
    subject: str
    place: str
    run_id: str | None
    batch_id: str | None
    card: str
    attempts: int
    in_doubt: bool
    question: str | None
    created: int
    now: datetime
    about: About


_DUE: Final = TypeAdapter(DueMessage)


@dataclass(frozen=True, slots=True, kw_only=True)
class SentMessage:
    """A message that arrived. `of` is the id of its run or batch, and `place` is a gate or a state."""

    channel: str
    of: str | None
    kind: str
    phase: str
    place: str


@dataclass(frozen=True, slots=True, kw_only=True)
class _Span:
    """The moments between which a pass looks for notifications, as PostgreSQL wrote them."""

    since: str
    until: str


@dataclass(slots=True, kw_only=True)
class Pass:
    """The result of one pass: the messages that arrived, those that still wait, and the pause before the next pass."""

    sent: list[SentMessage] = field(default_factory=list)
    waiting: list[Undelivered] = field(default_factory=list)
    pause_seconds: float = 0.0


def make_pass(settings: Settings, channel: Channel) -> Pass:
    """Store the cards of new notifications, then send the due ones until a trouble would also meet the next."""
    done, name, kinds = Pass(), channel.name, kinds_of(settings, channel.name)
    with session(settings, Role.OPERATOR) as connection:
        policy = policies.in_force(connection)
        span = record(_Span, answer(connection, _CHANNEL, (name, list(kinds), limits.NOTIFICATION_DAYS)))
        entered = 0
        for number, card in card_text.new_cards(connection, name, kinds, policy, span.since):
            connection.execute(_ENTER, (number, name, card and card.to_json()))
            entered += 1
        if entered < limits.NOTIFICATIONS_A_PASS:
            # That is all there is, so the next pass looks only for what comes later.
            connection.execute(_CAUGHT_UP, (name, span.until))
        for _ in range(limits.NOTIFICATIONS_A_PASS):
            taken = answer(connection, _TAKE, (name, limits.NOTIFICATION_LEASE_SECONDS))
            if taken is None or not _send(connection, channel, policy, _DUE.validate_python(taken), done):
                break
        done.waiting = [message for message in undelivered(connection, name) if message.outcome is None]
    return done


def denied(policy: EffectPolicy | InvalidPolicy, about: About, at: datetime, gate: str | None) -> str | None:
    """The reason why the policy denies a message, or None if the policy allows it."""
    action = ProposedAction(
        connector=NOTIFICATION_POST.connector.value, operation=NOTIFICATION_POST.name, at=at, gate=gate,
        document_id=about.document_id, tenant=about.tenant, mode=about.mode,
    )  # fmt: skip
    decision = decide(policy, action)
    return None if decision.verdict is Verdict.ALLOW else decision.why


def _send(
    connection: Connection, channel: Channel, policy: EffectPolicy | InvalidPolicy, message: DueMessage, done: Pass
) -> bool:
    """Send one message and record the result. False means that the next message would fail too."""
    gate = message.place if message.phase != "told" else None
    if denied(policy, message.about, message.now, gate) is not None:
        _note(connection, message, Trouble(code="policy_denied", in_doubt=message.in_doubt, everywhere=False))
        return True
    receipt = channel.send(Message(
        key=f"{message.subject}/{message.phase}", card=from_json(message.card), created=message.created,
        in_doubt=message.in_doubt, question=message.question if message.phase == "answered" else None,
    ))  # fmt: skip
    if isinstance(receipt, Trouble):
        seconds = _note(connection, message, receipt)
        if receipt.everywhere:
            done.pause_seconds = seconds
        return not receipt.everywhere
    connection.execute(_DONE, (message.id, receipt))
    done.sent.append(SentMessage(
        channel=channel.name, of=message.run_id or message.batch_id, kind=message.kind, phase=message.phase,
        place=message.place,
    ))  # fmt: skip
    return True


def _note(connection: Connection, message: DueMessage, trouble: Trouble) -> float:
    """Record why a message did not arrive and when the next try is due. Return the seconds until the next try."""
    delays = limits.NOTIFICATION_RETRY_SECONDS
    seconds = trouble.retry_seconds or delays[min(message.attempts, len(delays) - 1)]
    over = trouble.final or message.attempts + 1 >= limits.NOTIFICATION_TRIES
    connection.execute(_FAILED, (message.id, trouble.code, trouble.in_doubt, None if over else max(1, round(seconds))))
    return seconds
