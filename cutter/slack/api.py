"""IO: calls of Slack's Web API, with nothing but the standard library.

What goes wrong is a value, `Trouble`, and carries Slack's code for it and never what was sent. The token is in one
header of one request; a redirect, which would carry it elsewhere, is not followed.
"""

from __future__ import annotations

import json
import re
import socket
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from http.client import HTTPException
from typing import IO, Final, TypeVar
from urllib.error import HTTPError, URLError
from urllib.parse import urlencode, urlsplit
from urllib.request import HTTPRedirectHandler, Request, build_opener

from cutter import limits
from cutter.errors import InvalidInput, Unavailable
from cutter.settings import Settings
from cutter.types import Json

T = TypeVar("T")

TOKEN_FILE: Final = "slack.token"
SIGNING_SECRET_FILE: Final = "slack.signing-secret"

_SECRET = re.compile(r"[!-~]{16,255}")
_CODE = re.compile(r"[a-z0-9_]{1,60}")

_OPERATOR: Final = frozenset(
    {
        *("invalid_auth", "not_authed", "account_inactive", "token_revoked", "token_expired", "no_permission"),
        *("missing_scope", "not_allowed_token_type", "ekm_access_denied", "org_login_required"),
        *("channel_not_found", "not_in_channel", "is_archived", "restricted_action"),
    }
)
"""Refusals that no other message would fare better with, until somebody puts token, scopes or channel right."""

_IN_DOUBT: Final = frozenset({"internal_error", "fatal_error", "service_unavailable", "request_timeout"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Trouble:
    """A call that brought no answer. `in_doubt`: it may have been carried out; `everywhere`: the next would fail too.

    `retry_seconds` is what Slack asks for, None where it says nothing.
    """

    code: str
    in_doubt: bool = False
    everywhere: bool = True
    retry_seconds: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Slack:
    """Where Slack is, and the token to call it with."""

    url: str
    token: str = field(repr=False)

    def call(self, method: str, arguments: Mapping[str, object]) -> Json | Trouble:
        """Slack's answer to one call; arguments that are no texts are sent as JSON."""
        sent = {name: one if isinstance(one, str) else json.dumps(one) for name, one in arguments.items()}
        request = Request(
            f"{self.url.rstrip('/')}/{method}",
            data=urlencode(sent).encode(),
            headers={
                "Authorization": f"Bearer {self.token}",
                "Content-Type": "application/x-www-form-urlencoded; charset=utf-8",
            },
        )
        return _exchange(request, _answer)


def answer(api_url: str, address: str, text: str) -> Trouble | None:
    """Say something to one person alone, at the address that came with their press; None when it was taken.

    Only Slack's own host for such answers is called, whatever the address says.
    """
    if not address.startswith(_answers_at(api_url)):
        return Trouble(code="foreign_address")
    body = json.dumps(private(text)).encode()
    request = Request(address, data=body, headers={"Content-Type": "application/json; charset=utf-8"})
    return _exchange(request, lambda _: None)


def private(text: str) -> Json:
    """A message that its reader alone sees, and that leaves the card as it is."""
    return {"response_type": "ephemeral", "replace_original": False, "text": text}


def _answers_at(api_url: str) -> str:
    parts = urlsplit(api_url)
    host = parts.netloc if parts.scheme == "http" else f"hooks.{parts.netloc}"
    return f"{parts.scheme}://{host}/"


class _Stays(HTTPRedirectHandler):
    def redirect_request(self, *_: object) -> None:
        return None


def _exchange(request: Request, read: Callable[[IO[bytes]], T]) -> T | Trouble:
    """One request, and its answer as `read` takes it, within SLACK_SECONDS for each step of it."""
    try:
        with build_opener(_Stays).open(request, timeout=limits.SLACK_SECONDS) as response:
            return read(response)
    except HTTPError as refused:
        return _refused(refused)
    except URLError as problem:
        never_sent = isinstance(problem.reason, ConnectionRefusedError | socket.gaierror)
        return Trouble(code="unreachable", in_doubt=not never_sent)
    except (OSError, HTTPException):
        return Trouble(code="no_answer", in_doubt=True)


def secret(settings: Settings, name: str) -> str:
    """A secret of Slack's from its file in the secrets folder; Unavailable without it. What it holds is never told."""
    path = settings.secrets / name
    try:
        text = path.read_text(encoding="ascii").strip()
    except (OSError, UnicodeDecodeError):
        remedy = "put it there with mode 0600 (docs/guides/slack.md)"
        raise Unavailable(f"no {name} at {path}: {remedy}", what="secrets") from None
    if not _SECRET.fullmatch(text):
        raise InvalidInput(f"{path} holds no secret of Slack's: one line of 16 to 255 visible characters")
    return text


def _answer(response: IO[bytes]) -> Json | Trouble:
    data = response.read(limits.SLACK_ANSWER_BYTES_MAX + 1)
    try:
        found = json.loads(data) if len(data) <= limits.SLACK_ANSWER_BYTES_MAX else None
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        return Trouble(code="not_slack", in_doubt=True)
    if found.get("ok") is True:
        return found
    code = str(found.get("error"))
    code = code if _CODE.fullmatch(code) else "unknown_error"
    return Trouble(code=code, in_doubt=code in _IN_DOUBT, everywhere=code in _OPERATOR or code in _IN_DOUBT)


def _refused(refused: HTTPError) -> Trouble:
    with refused:
        if refused.code == 429:
            asked = refused.headers.get("Retry-After", "")
            seconds = float(asked) if re.fullmatch("[0-9]{1,6}", asked) else limits.SLACK_RETRY_SECONDS[0]
            return Trouble(code="ratelimited", retry_seconds=min(seconds, limits.SLACK_RETRY_SECONDS[-1]))
        return Trouble(code=f"http_{refused.code}", in_doubt=refused.code >= 500)
