"""IO: the interface of a channel, its troubles and secrets, one limited HTTP POST, and which channels are on and well.

Each channel is a module of this package. Its function `make(settings)` returns the channel, or None if it is off. Each
secret of a channel is one file in the secrets folder.
"""

from __future__ import annotations

import importlib
import re
import socket
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from http.client import HTTPException
from time import monotonic
from typing import IO, Final, Protocol, TypeVar, cast
from urllib.error import HTTPError, URLError
from urllib.request import HTTPRedirectHandler, Request, build_opener

from cutter import limits
from cutter.domain.amounts import counted
from cutter.errors import InvalidInput, Unavailable
from cutter.notifications.card import Card, Kind
from cutter.settings import NOTIFICATION_CHANNELS, PREFIX, Settings
from cutter.storage.records import Connection, records

CODE = re.compile(r"[a-z0-9_]{1,60}")

_SECRET = re.compile(r"[!-~]{16,255}")
_PASSWORD = re.compile(r"[ -~]{1,255}")

CHANNELS: Final = NOTIFICATION_CHANNELS

_SWITCHES: Final = [f"{PREFIX}{setting.upper()}" for setting in CHANNELS.values()]

HOW_TO_SWITCH_ON: Final = f"set {', '.join(_SWITCHES[:-1])} or {_SWITCHES[-1]}"
"""What a person does who wants messages."""

DEFAULT_KINDS: Final = tuple(kind.value for kind in Kind if kind not in (Kind.FINISHED, Kind.ENACTED, Kind.TEST))
"""The kinds of message that a channel sends if CUTTER_NOTIFY does not name the channel."""

MACHINE_KINDS: Final = {"webhook": (Kind.ENACTED.value,)}
"""More kinds by default for a channel that programs read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """A card to send. `key` is the same at every try, so that a receiver can recognise a repetition.

    `created` is in Unix seconds. `in_doubt` is true if an earlier try may have arrived. `question` is the channel's own
    name of the message that this message answers. It is None if this message answers none.
    """

    key: str
    card: Card
    created: int
    in_doubt: bool = False
    question: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Trouble:
    """The reason why a message did not arrive. `in_doubt`: it may have arrived after all.

    `everywhere`: the next message would fail too. `final`: no further try can succeed. `retry_seconds`: the receiver
    asks for this pause. `code` never quotes the message or the receiver's answer.
    """

    code: str
    in_doubt: bool = False
    everywhere: bool = True
    retry_seconds: float | None = None
    final: bool = False

    def __post_init__(self) -> None:
        if not CODE.fullmatch(self.code):
            raise ValueError("a trouble has a code of a-z, 0-9 and _")


class Channel(Protocol):
    """One way to people."""

    @property
    def name(self) -> str:
        """The channel's name in settings, rows and commands."""

    def send(self, message: Message) -> str | Trouble:
        """Send within NOTIFICATION_LEASE_SECONDS. Return the channel's name of the message, or the trouble."""


def channel(settings: Settings, name: str) -> Channel | None:
    """The channel of that name, or None if it is off.

    Raises InvalidInput for an unknown name or wrong settings, and Unavailable if a secret is missing.
    """
    if name not in CHANNELS:
        raise InvalidInput(f"there is no channel {name!r}: choose one of {', '.join(CHANNELS)}")
    return cast("Channel | None", importlib.import_module(f"cutter.notifications.{name}").make(settings))


def is_on(settings: Settings, name: str) -> bool:
    """True if the settings switch the channel on. Its secrets may still be missing."""
    return bool(getattr(settings, CHANNELS[name]))


def are_on(settings: Settings) -> list[str]:
    return [name for name in CHANNELS if is_on(settings, name)]


def kinds_of(settings: Settings, name: str) -> tuple[str, ...]:
    return tuple(settings.notify.get(name, (*DEFAULT_KINDS, *MACHINE_KINDS.get(name, ()))))


def secret(settings: Settings, name: str) -> str:
    """A token or key of at least 16 characters. No error shows its content.

    Raises Unavailable if the file is missing, and InvalidInput if its content has the wrong form.
    """
    return _read(settings, name, _SECRET, "one line of 16 to 255 visible ASCII characters")


def login_password(settings: Settings, name: str) -> str:
    """A password. It may be short, because somebody else chose it."""
    return _read(settings, name, _PASSWORD, "one line of 1 to 255 ASCII characters")


def _read(settings: Settings, name: str, form: re.Pattern[str], rule: str) -> str:
    path = settings.secrets / name
    try:
        text = path.read_text(encoding="ascii").strip()
    except (OSError, UnicodeDecodeError):
        raise Unavailable(
            f"no {name} at {path}: put it there (mode 0600), see docs/guides/notifications.md", what="secrets"
        ) from None
    if not form.fullmatch(text):
        raise InvalidInput(f"{path} holds no secret: it must be {rule}")
    return text


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
            shortest, *_, longest = limits.NOTIFICATION_RETRY_SECONDS
            seconds = shortest if too_many else None
            if refused.code in (429, 503) and (asked := refused.headers.get("Retry-After")):
                seconds = min(float(asked) if re.fullmatch("[0-9]{1,6}", asked) else shortest, longest)
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Undelivered:
    """A message that its channel has not delivered. `of` is the id of its run or batch."""

    channel: str
    kind: str
    phase: str
    of: str
    attempts: int
    last_error: str | None
    outcome: str | None
    created_at: datetime
    next_eligible_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ChannelHealth:
    """A channel: its waiting messages, the age of the oldest, its given-up messages, and the age of its last pass."""

    name: str
    waiting: int
    waiting_seconds: int | None
    given_up: int
    served_seconds_ago: int


UNDELIVERED = records("notification_undelivered", Undelivered)
HEALTH = records("notification_health", ChannelHealth)


def undelivered(connection: Connection, channel: str | None = None) -> list[Undelivered]:
    """The messages that wait for a try, and those given up within NOTIFICATION_DAYS. None means all channels."""
    # Undelivered messages that a command lists. Its counts include all of them.
    asked = {"channel": channel, "days": limits.NOTIFICATION_DAYS, "most": 200}
    return UNDELIVERED.all(connection, asked)


def health(connection: Connection) -> list[ChannelHealth]:
    """The health of each channel that has had a pass."""
    return HEALTH.all(connection, {"days": limits.NOTIFICATION_DAYS})


def sentences(channels: Sequence[ChannelHealth]) -> Iterator[str]:
    """One sentence for each problem of the channels. There is no sentence if every message arrives."""
    for channel in channels:
        minutes, days = (channel.waiting_seconds or 0) // 60, limits.NOTIFICATION_DAYS
        if channel.waiting and minutes:
            yield f"{channel.name}: {counted(channel.waiting, 'message')} undelivered, the oldest for {minutes} minutes"
        if channel.given_up:
            yield f"{channel.name}: {counted(channel.given_up, 'message')} given up within {days} days"
        # A channel is of use only with at least one pass an hour.
        if channel.served_seconds_ago > 3_600:
            yield f"{channel.name}: no pass for {channel.served_seconds_ago // 60} minutes"
