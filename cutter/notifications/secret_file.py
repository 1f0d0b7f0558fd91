"""IO: reads the secrets of channels. Each secret is one file in the secrets folder."""

from __future__ import annotations

import re

from cutter.errors import InvalidInput, Unavailable
from cutter.settings import Settings

_SECRET = re.compile(r"[!-~]{16,255}")
_PASSWORD = re.compile(r"[ -~]{1,255}")


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
