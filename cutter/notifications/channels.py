"""IO: finds the channels and tells which of them the settings switch on.

Each channel is a module of this package. Its function `make(settings)` returns the channel, or None if it is off.
"""

from __future__ import annotations

import importlib
from typing import Final, cast

from cutter.errors import InvalidInput, Unavailable
from cutter.notifications.card import Kind
from cutter.notifications.channel import Channel
from cutter.settings import NOTIFICATION_CHANNELS, PREFIX, Settings

CHANNELS: Final = NOTIFICATION_CHANNELS

_SWITCHES: Final = [f"{PREFIX}{setting.upper()}" for setting in CHANNELS.values()]

HOW_TO_SWITCH_ON: Final = f"set {', '.join(_SWITCHES[:-1])} or {_SWITCHES[-1]}"
"""What a person does who wants messages."""

DEFAULT_KINDS: Final = tuple(kind.value for kind in Kind if kind not in (Kind.FINISHED, Kind.ENACTED, Kind.TEST))
"""The kinds of message that a channel sends if CUTTER_NOTIFY does not name the channel."""

MACHINE_KINDS: Final = {"webhook": (Kind.ENACTED.value,)}
"""More kinds by default for a channel that programs read."""


def channel(settings: Settings, name: str) -> Channel | None:
    """The channel of that name, or None if it is off.

    Raises InvalidInput for an unknown name or wrong settings, and Unavailable if a library or a secret is missing.
    """
    if name not in CHANNELS:
        raise InvalidInput(f"there is no channel {name!r}: choose one of {', '.join(CHANNELS)}")
    try:
        module = importlib.import_module(f"cutter.notifications.{name}")
    except ModuleNotFoundError as problem:
        raise Unavailable(
            f"the channel {name} needs {problem.name}: type `pip install {problem.name}`", what="channel"
        ) from None
    return cast("Channel | None", module.make(settings))


def is_on(settings: Settings, name: str) -> bool:
    """True if the settings switch the channel on. Its secrets and libraries may still be missing."""
    return bool(getattr(settings, CHANNELS[name]))


def are_on(settings: Settings) -> list[str]:
    """The names of the channels that the settings switch on."""
    return [name for name in CHANNELS if is_on(settings, name)]


def kinds_of(settings: Settings, name: str) -> tuple[str, ...]:
    """The kinds of message that go to a channel."""
    return tuple(settings.notify.get(name, (*DEFAULT_KINDS, *MACHINE_KINDS.get(name, ()))))
