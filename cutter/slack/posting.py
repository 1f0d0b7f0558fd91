"""IO: keeps Slack's channel in step with what waits for people: an outbox in PostgreSQL, drained in passes.

No run waits for any of it: a pass is made by `cutter slack serve` and by `cutter reconcile`, after the fact. What a
message says is written down before it is sent, so that every try sends the same; a try whose answer was lost is looked
for in the channel before the message is sent again.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from psycopg.rows import dict_row

from cutter import limits
from cutter.approvals.policy import Tier
from cutter.approvals.request import RequestDocument, parse_request
from cutter.catalogue import GATES, Sovereign, stands_on
from cutter.domain.next_step import next_step
from cutter.errors import ProgrammingError
from cutter.policy import current
from cutter.policy.command import NOTIFICATION_POST, Operation, write_of
from cutter.policy.rules import Broken, Decision, Policy, ProposedAction, Verdict, decide
from cutter.settings import Settings
from cutter.slack import card
from cutter.slack.api import TOKEN_FILE, Slack, Trouble, secret
from cutter.slack.card import Outcome, Waiting
from cutter.storage.pools import OPERATOR, Connection, session
from cutter.storage.queries import query
from cutter.types import Json, Refusal

_ENTER = "select cutter_governance.fn_slack_enter(%s, %s, %s, %s, %s, %s)"
_TAKE = "select cutter_governance.fn_slack_take(%s)"
_DONE = "select cutter_governance.fn_slack_done(%s, %s)"
_FAILED = "select cutter_governance.fn_slack_failed(%s, %s, %s, %s)"


@dataclass(slots=True, kw_only=True)
class Pass:
    """What one pass did: messages that are in the channel now, those that still wait, and how long to pause."""

    sent: list[Json] = field(default_factory=list)
    waiting: list[Json] = field(default_factory=list)
    pause_seconds: float = 0.0


def caller(settings: Settings) -> Slack:
    """Slack as the settings and the secrets folder name it."""
    return Slack(url=settings.slack_url, token=secret(settings, TOKEN_FILE))


def make_pass(settings: Settings, slack: Slack) -> Pass:
    """Put in line what waits and what was decided, then send what is due, until Slack says that it is enough."""
    if settings.slack_channel is None:
        raise ProgrammingError("nothing is posted where no channel is set")
    done = Pass()
    with session(settings, OPERATOR) as connection:
        policy = current.read(settings.policy)
        _enter(connection, settings.slack_channel, policy)
        for _ in range(limits.SLACK_MESSAGES_A_PASS):
            entry = _json(connection, _TAKE, limits.SLACK_LEASE_SECONDS)
            if entry is None:
                break
            if not _send(connection, slack, policy, entry, done):
                break
        cursor = connection.cursor(row_factory=dict_row)
        done.waiting = cursor.execute(query("slack_waiting"), {}).fetchall()
    return done


# --- putting in line ----------------------------------------------------------------------------------------------


def _enter(connection: Connection, channel: str, policy: Policy | Broken) -> None:
    cursor, most = connection.cursor(row_factory=dict_row), {"most": limits.SLACK_MESSAGES_A_PASS}
    asked = [_waiting(row, policy) for row in cursor.execute(query("slack_to_ask"), most).fetchall()]
    asked += [_stopped(row) for row in cursor.execute(query("slack_stops_to_ask"), most).fetchall()]
    for one in asked:
        connection.execute(_ENTER, (one.run_id, one.subject, "asked", one.place, channel, json.dumps(card.asked(one))))
    for row in cursor.execute(query("slack_to_answer"), most).fetchall():
        body = json.dumps(card.answered(json.loads(row["body"]), Outcome(row["outcome"]), row["people"]))
        connection.execute(_ENTER, (row["run_id"], row["subject"], "answered", row["place"], row["channel"], body))


def _waiting(row: Json, policy: Policy | Broken) -> Waiting:
    """A request at a sovereign gate, from its own document and from what the policy says of its writes."""
    document = parse_request(str(row["document"]).encode())
    if isinstance(document, Refusal):
        raise ProgrammingError(f"the request of {row['run_id']} cannot be read back: {document.reason}")
    said = list(_decisions(row, Sovereign(row["place"]), document, policy))
    tiers = [Tier(document.tier), *(one.tier for one in said if one.tier)]
    changes = document.changes
    step = next_step(run_id=row["run_id"], document_id=row["document_id"], state=_AWAITING[Sovereign(row["place"])])
    return Waiting(
        subject=row["subject"], place=row["place"], run_id=row["run_id"], document_id=row["document_id"],
        docprefix=row["docprefix"], mode=row["mode"], tier=max(tiers, key=list(Tier).index),
        needed=document.approvers_needed, reason="; ".join(dict.fromkeys(one.why for one in said)),
        command=step.command, expires=row["expires_at"], units=document.request.candidate_count,
        changes=(changes.added_count, changes.changed_count, changes.removed_count), findings=document.findings_count,
    )  # fmt: skip


def _stopped(row: Json) -> Waiting:
    """A run that the policy has stopped before a gate, until people say that it may continue."""
    step = next_step(run_id=row["run_id"], document_id=row["document_id"], state=row["state"])
    return Waiting(
        subject=row["subject"], place=row["place"], run_id=row["run_id"], document_id=row["document_id"],
        docprefix=row["docprefix"], mode=row["mode"], tier=Tier(row["tier"]), needed=row["needed"],
        reason=row["reason"] or "", command=step.command, units=row["units"], unsigned=row["unsigned"],
    )  # fmt: skip


_AWAITING = {gate.sovereign: gate.from_state.value for gate in GATES if gate.sovereign is not None}


def _decisions(
    row: Json, sovereign: Sovereign, document: RequestDocument, policy: Policy | Broken
) -> Iterator[Decision]:
    """What the policy says of every write that the approval will authorise."""
    for gate in GATES:
        write = write_of(gate.name)
        if stands_on(gate) is sovereign and write is not None:
            yield decide(policy, _proposed(row, gate.name, write, document.request.candidate_count))


def _proposed(row: Json, gate: str, operation: Operation, candidates: int | None) -> ProposedAction:
    at: datetime = row["now"]
    return ProposedAction(
        connector=operation.connector.value, operation=operation.name, at=at, gate=gate,
        document_id=row["document_id"], tenant=row["tenant"], mode=row["mode"], candidates=candidates,
    )  # fmt: skip


# --- sending ------------------------------------------------------------------------------------------------------


def _send(connection: Connection, slack: Slack, policy: Policy | Broken, entry: Json, done: Pass) -> bool:
    """One message; False when the next would fare no better."""
    run = {**entry["run"], "now": datetime.fromisoformat(entry["now"])}
    said = decide(policy, _proposed(run, entry["place"], NOTIFICATION_POST, None))
    if said.verdict is not Verdict.ALLOW:
        _note(connection, entry, Trouble(code="policy_denied", in_doubt=entry["in_doubt"], everywhere=False))
        return True
    answer = _delivered(slack, entry)
    if isinstance(answer, Trouble):
        seconds = _note(connection, entry, answer)
        if answer.everywhere:
            done.pause_seconds = seconds
        return not answer.everywhere
    connection.execute(_DONE, (entry["id"], answer))
    done.sent.append({"run_id": entry["run_id"], "gate": entry["place"], "kind": entry["kind"]})
    return True


def _delivered(slack: Slack, entry: Json) -> str | Trouble:
    """The message's ts, once it is there."""
    message = {"channel": entry["channel"], "unfurl_links": "false", "unfurl_media": "false",
               **json.loads(entry["body"])}  # fmt: skip
    if entry["kind"] == "answered":
        answer = slack.call("chat.update", {**message, "ts": entry["message_ts"]})
        return answer if isinstance(answer, Trouble) else str(entry["message_ts"])
    if entry["in_doubt"]:
        found = _found(slack, entry)
        if found is not None:
            return found
    answer = slack.call("chat.postMessage", message)
    return answer if isinstance(answer, Trouble) else str(answer.get("ts"))


def _found(slack: Slack, entry: Json) -> str | Trouble | None:
    """The ts of a message that was sent before and whose answer was lost; None when it is not in the channel.

    Where the app may not read the channel, None: a duplicate card is better than none.
    """
    answer = slack.call(
        "conversations.history",
        {
            "channel": entry["channel"], "oldest": str(entry["created"] - limits.SLACK_WINDOW_SECONDS),
            "limit": str(limits.SLACK_HISTORY_MESSAGES), "include_all_metadata": "true",
        },
    )  # fmt: skip
    if isinstance(answer, Trouble):
        unreadable = answer.code in ("missing_scope", "not_allowed_token_type")
        return None if unreadable else replace(answer, in_doubt=True)
    messages = [one for one in answer.get("messages") or [] if isinstance(one, dict)]
    ours = (one for one in messages if _subject(one) == entry["subject"])
    return next((str(one.get("ts")) for one in ours), None)


def _subject(message: Json) -> object:
    metadata = message.get("metadata")
    payload = metadata.get("event_payload") if isinstance(metadata, dict) else None
    return payload.get("subject") if isinstance(payload, dict) else None


def _note(connection: Connection, entry: Json, trouble: Trouble) -> float:
    """Record why it was not sent, and when it is tried again; the seconds until then."""
    delays = limits.SLACK_RETRY_SECONDS
    seconds = trouble.retry_seconds or delays[min(entry["attempts"], len(delays) - 1)]
    gone = trouble.code in ("message_not_found", "cant_update_message") or entry["attempts"] + 1 >= limits.SLACK_TRIES
    connection.execute(_FAILED, (entry["id"], trouble.code, trouble.in_doubt, None if gone else max(1, round(seconds))))
    return seconds


def _json(connection: Connection, statement: Any, *arguments: object) -> Json | None:
    row = connection.execute(statement, arguments).fetchone()
    found: Json | None = row[0] if row else None  # type: ignore[assignment]
    return found
