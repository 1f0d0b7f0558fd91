"""IO: a signing session that fills the terminal: a list of requests, a reader for each, and a last page.

It only decides. Each decision goes to the session's journal. The statements are signed after the screen is left,
because the approver's gpg may need the terminal to ask for a passphrase.
"""

from __future__ import annotations

from starter.approver.full_screen.app import SigningApp
from starter.approver.session import Session

__all__ = ["Session", "decide"]


def decide(session: Session) -> bool:
    """Let the approver read and decide. Returns True if they confirmed the last page. The journal has the decisions."""
    return bool(SigningApp(session).run())
