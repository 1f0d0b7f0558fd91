"""IO: what becomes of a button that somebody pressed: who they are, what the card is about, what they may decide.

Slack is never enough for a sovereign gate: there the answer is the command, and nothing is changed.
"""

from __future__ import annotations

from typing import Any

import structlog
from psycopg.rows import dict_row

from cutter.settings import Settings
from cutter.slack import api
from cutter.slack.callback import Click
from cutter.slack.posting import OPERATOR
from cutter.storage.faults import translated
from cutter.storage.pools import connect
from cutter.storage.queries import query
from starter.slack_server import Reply

log = structlog.get_logger()


def resolve(settings: Settings, click: Click) -> Reply:
    """The answer to one press; pressed again, the same answer."""
    if click.user not in settings.slack_people:
        return _told(settings, click, "unknown_user", "You are not known here: CUTTER_SLACK_PEOPLE names who is.")
    card = _card(settings, click)
    if card is None:
        return _told(settings, click, "unknown_card", "That is no card of ours: `cutter inbox` lists what waits.")
    return _told(settings, click, "signature_needed", (
        f"{card['place']} takes a signature: nothing in Slack decides it, and nothing was changed. Type on your own "
        f"machine:\n```cutter approve {card['run_id']}```"
    ))  # fmt: skip


def _card(settings: Settings, click: Click) -> dict[str, Any] | None:
    """The card that was pressed, as it was posted: in that channel, at that place, about that subject."""
    pressed = {"subject": click.subject, "channel": click.channel, "message_ts": click.message}
    with translated(), connect(settings, OPERATOR) as connection:
        return connection.cursor(row_factory=dict_row).execute(query("slack_card"), pressed).fetchone()


def _told(settings: Settings, click: Click, code: str, text: str) -> Reply:
    log.info("slack.pressed", code=code, user=click.user, subject=click.subject, approve=click.approve)
    return Reply(text=text, afterwards=lambda: _tell(settings, click, text))


def _tell(settings: Settings, click: Click, text: str) -> None:
    """Say it to the person alone, in Slack; who was not reached finds the same in the card's next change."""
    if not click.answer_to:
        return
    trouble = api.answer(settings.slack_url, click.answer_to, text)
    if trouble is not None:
        log.warning("slack.not_told", code=trouble.code)
