"""IO: the channel Slack. It posts cards into one channel of a workspace.

A call follows no redirect, because a redirect would send the token to another server. Errors show only the code of
Slack's answer.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Final
from urllib.parse import urlencode
from urllib.request import Request

from cutter import limits
from cutter.notifications import http_post, slack_blocks
from cutter.notifications.card import Phase
from cutter.notifications.channels import CODE, Message, Trouble, secret
from cutter.settings import Settings
from cutter.types import Json

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
        body = slack_blocks.render(message.card)
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
        data = http_post.exchange(request, http_post.bounded)
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
