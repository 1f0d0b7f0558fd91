"""Pure: checks and reads the request that Slack sends after a person presses a button.

The signature follows version 0 of Slack's signing: HMAC-SHA256 of `v0:<time>:<body>` with the app's signing secret.
`flaw` checks it on the received bytes before `click` reads them.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final
from urllib.parse import parse_qsl

from cutter import limits
from cutter.notifications.slack_blocks import APPROVE, REJECT

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
