"""IO: the channel Slack: writes a card as Block Kit JSON, posts it into one channel, and reads the press of a button.

A call follows no redirect, because a redirect would send the token to another server. Errors show only the code of
Slack's answer. Each text without a fixed form is escaped, cut, and put into an object that Slack does not format.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Final
from urllib.parse import parse_qsl, urlencode
from urllib.request import Request

from cutter import limits
from cutter.notifications import channels
from cutter.notifications.card import Card, Phase, one_line
from cutter.notifications.channels import CODE, Message, Trouble, secret
from cutter.settings import Settings
from cutter.types import Json

APPROVE: Final = "cutter_approve"
REJECT: Final = "cutter_reject"
"""The names of the two buttons in a callback."""

EVENT: Final = "cutter_card"
"""The name of a message's metadata. A later try finds the message by it."""

_ENTITIES: Final = {"&": "&amp;", "<": "&lt;", ">": "&gt;"}


def render(card: Card) -> Json:
    """The message of a card. Slack shows its `text` in notifications. A later try finds the message by its metadata."""
    blocks: list[Json] = [{"type": "header", "text": _text(card.title)}]
    if card.facts:
        # Slack formats these texts, so only values of a fixed form may be in them.
        texts = [f"*{fact.name}*\n{escaped(fact.value, limits.CARD_LINE_MAX)}" for fact in card.facts]
        blocks.append({"type": "section", "fields": [_formatted(text) for text in texts]})
    blocks.append({"type": "section", "text": _text(card.text or card.title, limits.CARD_TEXT_MAX)})
    if card.commands:
        verb = "To decide, type" if card.phase is Phase.ASKED else "Type"
        # A backquote would end the block of code.
        lines = "\n".join(escaped(command, limits.CARD_LINE_MAX).replace("`", "'") for command in card.commands)
        block = _formatted(f"{verb} on your own machine:\n```{lines}```")
        blocks.append({"type": "section", "text": block})
    if card.unsigned:
        buttons = [
            _button(APPROVE, "Approve", "primary", card.subject, "The run continues, under your name."),
            _button(REJECT, "Reject", "danger", card.subject, "cutter cancels the run, under your name."),
        ]
        blocks.append({"type": "actions", "elements": buttons})
    elif card.phase is Phase.ASKED:
        context = _text("Only signatures decide this. Nothing in Slack can decide it.")
        blocks.append({"type": "context", "elements": [context]})
    about = {"subject": card.subject, "document": card.document_id or "", "gate": card.place}
    return {
        "text": escaped(card.title, limits.CARD_LINE_MAX),
        "blocks": blocks,
        "metadata": {"event_type": EVENT, "event_payload": about},
    }


def escaped(text: str, most: int) -> str:
    """One line of at most `most` characters that Slack shows literally, without mentions, links and hidden characters.

    A cut text ends with "…". Control, format and private characters become spaces.
    """
    pieces: list[str] = []
    left = most
    for char in one_line(text, len(text)):
        piece = _ENTITIES.get(char, char)
        if len(piece) > left - 1:
            return "".join([*pieces, "…"])
        pieces.append(piece)
        left -= len(piece)
    return "".join(pieces)


def _button(action: str, word: str, style: str, subject: str, what: str) -> Json:
    confirm = {"title": _text(f"{word}?"), "text": _text(what), "confirm": _text(word), "deny": _text("Back")}
    return {
        "type": "button", "action_id": action, "value": subject, "text": _text(word), "style": style,
        "confirm": confirm,
    }  # fmt: skip


def _formatted(text: str) -> Json:
    return {"type": "mrkdwn", "text": text, "verbatim": True}


def _text(text: str, most: int = limits.CARD_TITLE_MAX) -> Json:
    return {"type": "plain_text", "text": escaped(text, most), "emoji": False}


NAME: Final = "slack"
TOKEN_FILE: Final = "slack.token"

_OPERATOR: Final = frozenset(
    {
        *("invalid_auth", "not_authed", "account_inactive", "token_revoked", "token_expired", "no_permission"),
        *("missing_scope", "not_allowed_token_type", "ekm_access_denied", "org_login_required"),
        *("channel_not_found", "not_in_channel", "is_archived", "restricted_action"),
    }
)
"""Slack's refusals of every message. They last until somebody corrects the token, its scopes or the channel."""

_IN_DOUBT: Final = frozenset({"internal_error", "fatal_error", "service_unavailable", "request_timeout", "not_slack"})
_FINAL: Final = frozenset({"message_not_found", "cant_update_message"})


@dataclass(frozen=True, slots=True, kw_only=True)
class SlackChannel:
    """One channel of a workspace, and the token of the app that posts there."""

    channel: str
    url: str
    token: str = field(repr=False)
    name: str = NAME

    def send(self, message: Message) -> str | Trouble:
        """Post a message, or replace the question that it answers. The name of the message is `<channel>/<ts>`."""
        body = render(message.card)
        if message.card.phase is Phase.ANSWERED:
            question = message.question or ""
            channel, _, ts = question.partition("/")
            answer = self.call("chat.update", {**_QUIET, "channel": channel, "ts": ts, **body})
            return answer if isinstance(answer, Trouble) else question
        if message.in_doubt:
            standing = self._find(message)
            if standing is not None:
                return standing
        answer = self.call("chat.postMessage", {**_QUIET, "channel": self.channel, **body})
        return answer if isinstance(answer, Trouble) else f"{self.channel}/{answer.get('ts')}"

    def _find(self, message: Message) -> str | Trouble | None:
        """The name of a message for which Slack's answer was lost, or None if the message is not in the channel.

        The result is also None if the app may not read the channel, because two equal cards are better than none.
        """
        oldest = str(message.created - limits.SLACK_WINDOW_SECONDS)
        answer = self.call(
            "conversations.history",
            # Messages of the channel among which cutter looks for a message whose acknowledgement was lost.
            {"channel": self.channel, "oldest": oldest, "limit": "100",
             "include_all_metadata": "true"},
        )  # fmt: skip
        if isinstance(answer, Trouble):
            unreadable = answer.code in ("missing_scope", "not_allowed_token_type")
            return None if unreadable else replace(answer, in_doubt=True)
        messages = [message for message in answer.get("messages") or [] if isinstance(message, dict)]
        ours = (post for post in messages if _subject(post) == message.card.subject)
        return next((f"{self.channel}/{post.get('ts')}" for post in ours), None)

    def call(self, method: str, arguments: Mapping[str, object]) -> Json | Trouble:
        """Slack's answer to one call. An argument that is not a text is sent as JSON."""
        sent = {
            name: argument if isinstance(argument, str) else json.dumps(argument)
            for name, argument in arguments.items()
        }
        request = Request(f"{self.url.rstrip('/')}/{method}", data=urlencode(sent).encode())
        request.add_header("Authorization", f"Bearer {self.token}")
        data = channels.exchange(request, channels.bounded)
        if isinstance(data, Trouble):
            return data
        try:
            answer = json.loads((data or b"").decode())
        except (ValueError, RecursionError):
            answer = None
        if not isinstance(answer, dict):
            answer = {"error": "not_slack"}
        if answer.get("ok") is True:
            return answer
        error = answer.get("error")
        code = error if isinstance(error, str) and CODE.fullmatch(error) else "unknown_error"
        doubt = code in _IN_DOUBT
        return Trouble(code=code, in_doubt=doubt, everywhere=code in _OPERATOR or doubt, final=code in _FINAL)


def make(settings: Settings) -> SlackChannel | None:
    """The Slack channel that the settings and the secrets folder describe, or None if it is off."""
    if settings.slack_channel is None:
        return None
    return SlackChannel(channel=settings.slack_channel, url=settings.slack_url, token=secret(settings, TOKEN_FILE))


_QUIET: Final = {"unfurl_links": "false", "unfurl_media": "false"}


def _subject(message: Json) -> object:
    metadata = message.get("metadata")
    payload = metadata.get("event_payload") if isinstance(metadata, dict) else None
    return payload.get("subject") if isinstance(payload, dict) else None


SIGNATURE_HEADER: Final = "X-Slack-Signature"
TIME_HEADER: Final = "X-Slack-Request-Timestamp"

_SIGNATURE = re.compile(r"v0=[0-9a-f]{64}")
_TIME = re.compile(r"[0-9]{1,12}")
_USER = re.compile(r"[UW][A-Z0-9]{2,20}")
_CHANNEL = re.compile(r"[CGD][A-Z0-9]{2,20}")
_MESSAGE = re.compile(r"[0-9]{1,12}\.[0-9]{1,9}")
_SUBJECT = re.compile(r"[A-Za-z0-9:.-]{1,120}")
_ANSWER_TO = re.compile(r"https?://[!-~]{1,500}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Click:
    """The press of a button. `answer_to` is the address for an answer to this person only, or empty."""

    user: str
    approve: bool
    subject: str
    channel: str
    message: str
    answer_to: str = ""


def signature(secret: str, time: str, body: bytes) -> str:
    """The value that Slack writes into its header for these bytes at that time (Unix seconds, as text)."""
    made = hmac.new(secret.encode(), b"v0:" + time.encode() + b":" + body, hashlib.sha256)
    return f"v0={made.hexdigest()}"


def flaw(secret: str, body: bytes, *, time: str | None, given: str | None, now: float) -> str | None:
    """The reason why these bytes do not come from Slack, as a code, or None if they do. `now` is in Unix seconds."""
    if not secret or time is None or given is None or not _TIME.fullmatch(time) or not _SIGNATURE.fullmatch(given):
        return "unsigned"
    if abs(now - int(time)) > limits.SLACK_WINDOW_SECONDS:
        return "too_old"
    if not hmac.compare_digest(signature(secret, time, body).encode(), given.encode()):
        return "wrong_signature"
    return None


def click(body: bytes) -> Click | None:
    """The pressed button, or None for any other bytes. It never raises."""
    try:
        ((name, payload),) = parse_qsl(body.decode(), strict_parsing=True, max_num_fields=1)
        interaction = json.loads(payload) if name == "payload" else None
        if not isinstance(interaction, Mapping) or interaction.get("type") != "block_actions":
            return None
        (action,) = interaction["actions"]
        answer_to = interaction.get("response_url")
        return Click(
            user=_of_form(_USER, interaction["user"]["id"]),
            approve={APPROVE: True, REJECT: False}[action["action_id"]],
            subject=_of_form(_SUBJECT, action["value"]),
            channel=_of_form(_CHANNEL, interaction["container"]["channel_id"]),
            message=_of_form(_MESSAGE, interaction["container"]["message_ts"]),
            answer_to=_of_form(_ANSWER_TO, answer_to) if answer_to is not None else "",
        )
    except (ValueError, KeyError, TypeError, RecursionError):
        return None


def _of_form(form: re.Pattern[str], value: object) -> str:
    if not isinstance(value, str) or not form.fullmatch(value):
        raise ValueError("not of its form")
    return value
