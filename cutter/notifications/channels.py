"""IO: the interface of a channel, its troubles and its secrets, and which channels the settings switch on.

Each channel is a module of this package. Its function `make(settings)` returns the channel, or None if it is off. Each
secret of a channel is one file in the secrets folder.
"""

from __future__ import annotations

import importlib
import re
from dataclasses import dataclass
from typing import Final, Protocol, cast

from cutter.errors import InvalidInput, Unavailable
from cutter.notifications.card import Card, Kind
from cutter.settings import NOTIFICATION_CHANNELS, PREFIX, Settings

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
