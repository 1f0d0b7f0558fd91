"""IO: the line on which a page of a signing session says what happened. It has its own place and covers no text."""

from __future__ import annotations

from textual.timer import Timer
from textual.widgets import Static

from starter.console.terminal import line

_STYLES = {"information": "", "warning": "bold yellow", "error": "bold red"}


class Notice(Static):
    """Shows the newest message. Without a message it takes no room."""

    said = ""
    _leaving: Timer | None = None

    def on_mount(self) -> None:
        self.display = bool(self.said)

    def say(self, message: str, severity: str = "information", seconds: float | None = None) -> None:
        """Show a message in place of the one before it, for some seconds or until the next key.

        An empty message takes the line away.
        """
        if self._leaving is not None:
            self._leaving.stop()
        self._leaving = None if seconds is None else self.set_timer(seconds, lambda: self.say(""))
        self.said = message
        self.update(line(message, _STYLES[severity]))
        self.display = bool(message)
