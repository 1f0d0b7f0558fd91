"""IO: the channel webhook. It posts each card as a signed JSON body to one address.

The signature is HMAC-SHA256 over `<timestamp>.` and the exact bytes of the body, with a secret that both sides have. A
receiver verifies the signature before it reads the body. It refuses an old timestamp and ignores a repeated key.
"""

from __future__ import annotations

import hashlib
import hmac
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Final, Literal
from urllib.request import Request

from pydantic import TypeAdapter

from cutter import __version__
from cutter.notifications import channels
from cutter.notifications.card import Card
from cutter.notifications.channels import Message, Trouble, secret
from cutter.settings import Settings
from cutter.types import Json

NAME: Final = "webhook"
SECRET_FILE: Final = "webhook.secret"

TIME_HEADER: Final = "Cutter-Timestamp"
SIGNATURE_HEADER: Final = "Cutter-Signature"
KEY_HEADER: Final = "Cutter-Key"


@dataclass(frozen=True, slots=True, kw_only=True)
class Body:
    """The posted JSON. `key` is the same at every try of one message. `version` changes if a receiver must change."""

    version: Literal[1] = 1
    key: str
    created: datetime
    card: Card


BODY: Final = TypeAdapter(Body)


@dataclass(frozen=True, slots=True, kw_only=True)
class WebhookChannel:
    """An address, and the secret that cutter shares with the receiver."""

    url: str
    secret: str = field(repr=False)
    name: str = NAME

    def send(self, message: Message) -> str | Trouble:
        """Post a message. Any 2xx status means that it arrived. The name of the message is its key."""
        body = body_of(message)
        time = str(int(datetime.now(UTC).timestamp()))
        headers = {
            "Content-Type": "application/json", "User-Agent": f"cutter/{__version__}", KEY_HEADER: message.key,
            TIME_HEADER: time, SIGNATURE_HEADER: signature(self.secret, time, body),
        }  # fmt: skip
        trouble = channels.exchange(Request(self.url, data=body, headers=headers, method="POST"), lambda _: None)
        return message.key if trouble is None else trouble


def make(settings: Settings) -> WebhookChannel | None:
    """The webhook that the settings and the secrets folder describe, or None if it is off."""
    if settings.webhook_url is None:
        return None
    return WebhookChannel(url=settings.webhook_url, secret=secret(settings, SECRET_FILE))


def signature(shared: str, time: str, body: bytes) -> str:
    """The value of the signature header for these bytes at that time (Unix seconds, as text)."""
    return "v1=" + hmac.new(shared.encode(), time.encode() + b"." + body, hashlib.sha256).hexdigest()


def body_of(message: Message) -> bytes:
    """The exact bytes to sign and post. The same message has the same bytes at every try."""
    return BODY.dump_json(
        Body(key=message.key, created=datetime.fromtimestamp(message.created, UTC), card=message.card)
    )


def schema() -> Json:
    return BODY.json_schema(mode="serialization")
