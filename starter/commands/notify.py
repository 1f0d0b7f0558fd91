"""IO: `cutter notify`: sends messages to people by each channel that is on, and runs the server for Slack's
buttons.
"""

from __future__ import annotations

import sys
import threading
from dataclasses import asdict
from datetime import UTC, datetime
from time import sleep
from typing import Annotated, Any

import structlog
import typer
from rich.console import Console

from cutter import log_lines as logs
from cutter.catalogue import Role
from cutter.domain.amounts import counted
from cutter.errors import CutterError, InvalidInput, Unavailable
from cutter.notifications import card_text, channels, delivery
from cutter.notifications.channels import Channel, Message, Trouble, secret
from cutter.settings import Settings, load
from cutter.stack.addresses import LOOPBACK
from cutter.storage import policies
from cutter.storage.pools import session
from cutter.storage.records import answer
from starter.commands.options import Host, Port
from starter.console.failures import as_failure
from starter.console.terminal import AsJson, ExitCode, end, show, table
from starter.slack_app.server import SIGNING_SECRET_FILE, Server, resolve

log = structlog.get_logger()

app = typer.Typer(
    help="Messages about what waits, stops and ends (docs/guides/notifications.md).", no_args_is_help=True,
    add_completion=False,
)  # fmt: skip

View = dict[str, Any]


@app.command()
def check(
    name: Annotated[str | None, typer.Argument(help=f"Send a test by one of {', '.join(channels.CHANNELS)}")] = None,
    as_json: AsJson = False,
) -> None:
    """List the messages that wait for another try, and the messages that were given up within a week.

    With a channel: send a test message by it now, and show the outcome. If it arrives, the channel's given-up messages
    are tried again.

    Example: cutter notify check

    Example: cutter notify check slack
    """
    settings = load()
    if name is not None:
        _send_test(settings, name, as_json=as_json)
        return
    with session(settings, Role.OPERATOR) as connection:
        channels_served, messages = channels.health(connection), channels.undelivered(connection)
    view: View = {
        "channels": [asdict(channel) for channel in channels_served],
        "undelivered": [_shown(asdict(message)) for message in messages],
    }
    columns = ("channel", "of", "kind", "tries", "outcome", "because")
    rows = [
        (message["channel"], message["of"], message["kind"], message["attempts"], message["outcome"] or "waits",
         message["last_error"] or "")
        for message in view["undelivered"]
    ]  # fmt: skip
    listing = table(columns, rows) if rows else "every message was delivered"
    show(view, as_json=as_json, render=lambda out: out.print(listing))


def _send_test(settings: Settings, name: str, *, as_json: bool) -> None:
    channel = channels.channel(settings, name)
    if channel is None:
        raise InvalidInput(_how_to_switch_on(name))
    now = datetime.now(UTC)
    with session(settings, Role.OPERATOR) as connection:
        why = delivery.denied(policies.in_force(connection), delivery.About(), now, None)
    if why is not None:
        raise InvalidInput(f"policy.yaml denies it: {why}. See", then="cutter policy explain")
    card = card_text.test_card(name, now)
    receipt = channel.send(Message(key=f"{card.subject}/told", card=card, created=int(now.timestamp())))
    if isinstance(receipt, Trouble):
        outcome = "may_have_arrived" if receipt.in_doubt else "not_delivered"
        message = f"{name}: {receipt.code}; docs/guides/notifications.md says what to correct"
        view: View = {"channel": name, "outcome": outcome, "reason": receipt.code}
        view, text = as_failure(view, code="UNAVAILABLE", message=message), f"{name}: {outcome} ({receipt.code})"
    else:
        with session(settings, Role.OPERATOR) as connection:
            again = answer(connection, "select cutter_governance.fn_notification_again(%s)", (name,))
        view = {"channel": name, "outcome": "delivered", "reference": receipt, "again": again}
        text = f"{name}: delivered" + (f"\n{counted(again, 'message')} will be tried again" if again else "")
    show(view, as_json=as_json, render=lambda out: out.print(text))
    end(ExitCode.UNAVAILABLE if isinstance(receipt, Trouble) else ExitCode.DONE)


@app.command()
def serve(port: Port = 8484, host: Host = LOOPBACK, as_json: AsJson = False) -> None:
    """Deliver by every channel that is on, and receive Slack's buttons if Slack is on, until you interrupt it.

    Example: cutter notify serve --port 8484
    """
    settings = load()
    on = [_made(settings, name) for name in channels.are_on(settings)]
    if not on:
        raise InvalidInput(f"no channel is on: {channels.HOW_TO_SWITCH_ON}")
    server = None
    if channels.is_on(settings, "slack"):
        signing = secret(settings, SIGNING_SECRET_FILE)
        try:
            server = Server(host, port, signing, lambda click: resolve(settings, click))
        except OSError as problem:
            raise Unavailable(f"{host}:{port} cannot be listened on ({problem.strerror})", what="port") from None
    logs.to_standard_error()
    view = {"serves": [channel.name for channel in on], "listens": server.url if server else None}
    text = f"serves {', '.join(channel.name for channel in on)}" + (f"\nlistens on {server.url}" if server else "")
    show(view, as_json=as_json, render=lambda out: out.print(text))
    sys.stdout.flush()
    # Each channel has a thread, so that a slow receiver delays no other channel.
    for channel in on:
        threading.Thread(target=_keep_in_step, args=(settings, channel), daemon=True).start()
    if server is None:
        threading.Event().wait()
        return
    with server:
        server.serve_forever()


def _keep_in_step(settings: Settings, channel: Channel) -> None:
    """Make pass after pass. A failed pass is logged, and the next pass continues."""
    while True:
        # A look for waiting messages is one cheap question to PostgreSQL.
        pause = 2.0
        try:
            done = delivery.make_pass(settings, channel)
        except CutterError as problem:
            log.warning("notify.pass_failed", channel=channel.name, code=problem.code, reason=str(problem))
        else:
            pause = max(pause, done.pause_seconds)
            for message in done.sent:
                log.info("notify.sent", **asdict(message))
            if done.pause_seconds:
                log.warning("notify.paused", channel=channel.name, seconds=pause, waiting=len(done.waiting))
        sleep(pause)


def drain(settings: Settings) -> View:
    """Make one pass of each channel that is on. A fault of a channel becomes a row of the answer, not an error."""
    sent: list[View] = []
    waiting: list[View] = []
    for name in (channel for channel in channels.CHANNELS if channels.is_on(settings, channel)):
        try:
            done = delivery.make_pass(settings, _made(settings, name))
        except CutterError as problem:
            waiting.append({"channel": name, "of": "all", "kind": "all", "last_error": str(problem)})
        else:
            sent += map(asdict, done.sent)
            waiting += (_shown(asdict(message)) for message in done.waiting)
    return {"messages_sent": sent, "messages_waiting": waiting}


def render(out: Console, view: View) -> None:
    """Show people the waiting messages and the number of sent ones."""
    if view["messages_waiting"]:
        rows = [
            (message["channel"], message["of"], message["kind"], message["last_error"] or "not tried yet")
            for message in view["messages_waiting"]
        ]
        out.print(table(("channel", "of", "kind", "because"), rows, title="messages that were not taken yet"))
    if view["messages_sent"]:
        out.print(f"{counted(len(view['messages_sent']), 'message')} sent")


def _made(settings: Settings, name: str) -> Channel:
    made = channels.channel(settings, name)
    if made is None:
        raise InvalidInput(_how_to_switch_on(name))
    return made


def _how_to_switch_on(name: str) -> str:
    return f"the channel {name} is off: set CUTTER_{channels.CHANNELS[name].upper()}, see docs/guides/notifications.md"


def _shown(message: View) -> View:
    """A message in its JSON form."""
    return {name: value.isoformat() if isinstance(value, datetime) else value for name, value in message.items()}
