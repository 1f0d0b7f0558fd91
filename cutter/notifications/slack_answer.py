"""IO: an answer in Slack to one person alone, at the address that came with their press."""

from __future__ import annotations

import json
from urllib.parse import urlsplit
from urllib.request import Request

from cutter.notifications import http_post
from cutter.notifications.channel import Trouble
from cutter.types import Json

SIGNING_SECRET_FILE = "slack.signing-secret"


def answer(api_url: str, address: str, text: str) -> Trouble | None:
    """Say something to the person who pressed; None when Slack has taken it.

    Only Slack's own host for such answers is called, whatever the address says.
    """
    if not address.startswith(_answers_at(api_url)):
        return Trouble(code="foreign_address")
    body = json.dumps(private(text)).encode()
    request = Request(address, data=body, headers={"Content-Type": "application/json; charset=utf-8"})
    return http_post.exchange(request, lambda _: None)


def private(text: str) -> Json:
    """A message that its reader alone sees, and that leaves the card as it is."""
    return {"response_type": "ephemeral", "replace_original": False, "text": text}


def _answers_at(api_url: str) -> str:
    parts = urlsplit(api_url)
    host = parts.netloc if parts.scheme == "http" else f"hooks.{parts.netloc}"
    return f"{parts.scheme}://{host}/"
