"""IO: answers one person in Slack. Slack sends the address for the answer with the press of a button."""

from __future__ import annotations

import json
from urllib.parse import urlsplit
from urllib.request import Request

from cutter.notifications import http_post
from cutter.notifications.channel import Trouble
from cutter.types import Json

SIGNING_SECRET_FILE = "slack.signing-secret"


def answer(api_url: str, address: str, text: str) -> Trouble | None:
    """Send a text to the person who pressed a button. Return None if Slack accepted it, otherwise the trouble.

    Only Slack's own host for such answers is called. An address on another host is refused.
    """
    api = urlsplit(api_url)
    host = api.netloc if api.scheme == "http" else f"hooks.{api.netloc}"
    if not address.startswith(f"{api.scheme}://{host}/"):
        return Trouble(code="foreign_address")
    body = json.dumps(private(text)).encode()
    request = Request(address, data=body, headers={"Content-Type": "application/json; charset=utf-8"})
    return http_post.exchange(request, lambda _: None)


def private(text: str) -> Json:
    """A message that only its reader sees. It does not replace the card."""
    return {"response_type": "ephemeral", "replace_original": False, "text": text}
