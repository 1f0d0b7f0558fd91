"""IO: delivers the notifications that PostgreSQL holds. One pass serves one channel.

No run and no gate waits for a delivery. The transaction of an event writes its notification. `cutter notify serve` and
`cutter reconcile` make a pass later. A pass stores each card before it sends the card, so that every try sends the same
card. If the sender dies after sending and before recording, the message is in doubt, and the next pass sends it again.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from datetime import datetime

from cutter import limits
from cutter.notifications import facts
from cutter.notifications.card import from_json
from cutter.notifications.channel import Channel, Message, Trouble
from cutter.notifications.channels import kinds_of
from cutter.notifications.health import undelivered
from cutter.policy.command import NOTIFICATION_POST
from cutter.policy.rules import EffectPolicy, InvalidPolicy, ProposedAction, Verdict, decide
from cutter.settings import Settings
from cutter.storage import effect_policy
from cutter.storage.pools import OPERATOR, Connection, session
from cutter.storage.records import answer
from cutter.types import Json

_CHANNEL = "select cutter_governance.fn_notification_channel(%s, %s, %s)"
_CAUGHT_UP = "select cutter_governance.fn_notification_caught_up(%s, %s)"
_ENTER = "select cutter_governance.fn_notification_enter(%s, %s, %s)"
_TAKE = "select cutter_governance.fn_notification_take(%s, %s)"
_DONE = "select cutter_governance.fn_notification_done(%s, %s)"
_FAILED = "select cutter_governance.fn_notification_failed(%s, %s, %s, %s)"


@dataclass(slots=True, kw_only=True)
class Pass:
    """The result of one pass: the messages that arrived, those that still wait, and the pause before the next pass."""

    sent: list[Json] = field(default_factory=list)
    waiting: list[Json] = field(default_factory=list)
    pause_seconds: float = 0.0


def make_pass(settings: Settings, channel: Channel) -> Pass:
    """Store the cards of new notifications for a channel, then send the due messages.

    The pass ends early if a trouble would also meet the next message.
    """
    done = Pass()
    with session(settings, OPERATOR) as connection:
        policy = effect_policy.in_force(connection)
        _enter(connection, channel.name, kinds_of(settings, channel.name), policy)
        for _ in range(limits.NOTIFICATIONS_A_PASS):
            entry = answer(connection, _TAKE, (channel.name, limits.NOTIFICATION_LEASE_SECONDS))
            if entry is None or not _send(connection, channel, policy, entry, done):
                break
        done.waiting = [asdict(message) for message in undelivered(connection, channel.name) if message.outcome is None]
    return done


def _enter(connection: Connection, channel: str, kinds: tuple[str, ...], policy: EffectPolicy | InvalidPolicy) -> None:
    """Put in line what is new for a channel; if that is all there is, the next pass looks only for what comes later."""
    span = answer(connection, _CHANNEL, (channel, list(kinds), limits.NOTIFICATION_DAYS))
    entered = 0
    for number, card in facts.new_cards(connection, channel, kinds, policy, span["since"]):
        connection.execute(_ENTER, (number, channel, card and card.to_json()))
        entered += 1
    if entered < limits.NOTIFICATIONS_A_PASS:
        connection.execute(_CAUGHT_UP, (channel, span["until"]))


def denied(policy: EffectPolicy | InvalidPolicy, about: Json, at: datetime, gate: str | None) -> str | None:
    """The reason why the policy denies a message, or None if the policy allows it."""
    action = ProposedAction(
        connector=NOTIFICATION_POST.connector.value, operation=NOTIFICATION_POST.name, at=at, gate=gate,
        document_id=about.get("document_id"), tenant=about.get("tenant"), mode=about.get("mode"),
    )  # fmt: skip
    decision = decide(policy, action)
    return None if decision.verdict is Verdict.ALLOW else decision.why


def _send(
    connection: Connection, channel: Channel, policy: EffectPolicy | InvalidPolicy, entry: Json, done: Pass
) -> bool:
    """Send one message and record the result. False means that the next message would fail too."""
    gate = entry["place"] if entry["phase"] != "told" else None
    if denied(policy, entry["about"], datetime.fromisoformat(entry["now"]), gate) is not None:
        _note(connection, entry, Trouble(code="policy_denied", in_doubt=entry["in_doubt"], everywhere=False))
        return True
    receipt = channel.send(_message(entry))
    if isinstance(receipt, Trouble):
        seconds = _note(connection, entry, receipt)
        if receipt.everywhere:
            done.pause_seconds = seconds
        return not receipt.everywhere
    connection.execute(_DONE, (entry["id"], receipt))
    done.sent.append({"channel": channel.name, "of": entry["run_id"] or entry["batch_id"], "kind": entry["kind"],
                      "phase": entry["phase"], "place": entry["place"]})  # fmt: skip
    return True


def _message(entry: Json) -> Message:
    return Message(
        key=f"{entry['subject']}/{entry['phase']}", card=from_json(entry["card"]), created=entry["created"],
        in_doubt=entry["in_doubt"], question=entry["question"] if entry["phase"] == "answered" else None,
    )  # fmt: skip


def _note(connection: Connection, entry: Json, trouble: Trouble) -> float:
    """Record why a message did not arrive and when the next try is due. Return the seconds until the next try."""
    delays = limits.NOTIFICATION_RETRY_SECONDS
    seconds = trouble.retry_seconds or delays[min(entry["attempts"], len(delays) - 1)]
    over = trouble.final or entry["attempts"] + 1 >= limits.NOTIFICATION_TRIES
    connection.execute(_FAILED, (entry["id"], trouble.code, trouble.in_doubt, None if over else max(1, round(seconds))))
    return seconds
