"""IO: one HTTP POST with limits. It follows no redirect, because a redirect would send the token to another server."""

from __future__ import annotations

import re
import socket
from collections.abc import Callable
from http.client import HTTPException
from time import monotonic
from typing import IO, TypeVar
from urllib.error import HTTPError, URLError
from urllib.request import HTTPRedirectHandler, Request, build_opener

from cutter import limits
from cutter.notifications.channels import Trouble

T = TypeVar("T")


class _Stays(HTTPRedirectHandler):
    def redirect_request(self, *_: object) -> None:
        return None


def exchange(request: Request, read: Callable[[IO[bytes]], T]) -> T | Trouble:
    """Send one request and return its answer, read by `read`. Each step may take CHANNEL_STEP_SECONDS."""
    try:
        with build_opener(_Stays).open(request, timeout=limits.CHANNEL_STEP_SECONDS) as response:
            return read(response)
    except HTTPError as refused:
        with refused:
            too_many = refused.code == 429
            seconds = limits.NOTIFICATION_RETRY_SECONDS[0] if too_many else None
            if refused.code in (429, 503) and (asked := refused.headers.get("Retry-After")):
                seconds = asked_seconds(asked)
            code = "ratelimited" if too_many else f"http_{refused.code}"
            return Trouble(code=code, retry_seconds=seconds, in_doubt=refused.code >= 500)
    except URLError as problem:
        never_sent = isinstance(problem.reason, ConnectionRefusedError | socket.gaierror)
        return Trouble(code="unreachable", in_doubt=not never_sent)
    except (OSError, HTTPException):
        return Trouble(code="no_answer", in_doubt=True)


def bounded(response: IO[bytes]) -> bytes | None:
    """The bytes of the answer, or None if the answer is too large or too slow."""
    # A receiver that sends one byte at a time never exceeds the limit of one step.
    until, data = monotonic() + 15.0, b""
    while piece := response.read1(limits.MIB):  # type: ignore[attr-defined]
        data += piece
        if len(data) > limits.CHANNEL_ANSWER_BYTES_MAX or monotonic() > until:
            return None
    return data


def asked_seconds(text: str) -> float:
    """The seconds of a Retry-After header, but at most our longest delay."""
    seconds = float(text) if re.fullmatch("[0-9]{1,6}", text) else limits.NOTIFICATION_RETRY_SECONDS[0]
    return min(seconds, limits.NOTIFICATION_RETRY_SECONDS[-1])
