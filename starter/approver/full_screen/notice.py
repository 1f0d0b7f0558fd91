"""IO: the line on which a page of a signing session says what happened. It has its own place and covers no text."""

from __future__ import annotations

from textual.widgets import Static

from starter.console.terminal import line

_STYLES = {"information": "", "warning": "bold yellow", "error": "bold red"}


class Notice(Static):
    """Shows the newest message until the next key. Without a message it takes no room."""

    said = ""

    def on_mount(self) -> None:
        self.display = bool(self.said)

    def say(self, message: str, severity: str = "information") -> None:
        """Show a message in place of the one before it. An empty message takes the line away."""
        self.said = message
        self.update(line(message, _STYLES[severity]))
        self.display = bool(message)
