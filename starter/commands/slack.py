"""IO: `cutter slack`: cards for the gates that wait, and the server that hears when their buttons are pressed."""

from __future__ import annotations

import sys
import threading
from time import sleep
from typing import Annotated, Any

import structlog
import typer
from rich.console import Console

from cutter import limits
from cutter import log_lines as logs
from cutter.domain.amounts import counted
from cutter.errors import CutterError, InvalidInput, Unavailable
from cutter.settings import Settings, load
from cutter.slack import posting
from cutter.slack.api import SIGNING_SECRET_FILE, Slack, secret
from starter.console.failures import as_failure
from starter.console.terminal import ExitCode, Json, end, show, table
from starter.slack_app.decisions import resolve
from starter.slack_app.server import Server

log = structlog.get_logger()

app = typer.Typer(
    help="Cards in Slack for the gates that wait (docs/guides/slack.md).", no_args_is_help=True, add_completion=False
)

View = dict[str, Any]


@app.command()
def post(as_json: Json = False) -> None:
    """Post a card for each gate that waits without one, and change those that were decided; so does `cutter reconcile`.

    Example: cutter slack post
    """
    settings = require_channel(load())
    done = posting.make_pass(settings, posting.caller(settings))
    found: View = {"cards_sent": done.sent, "cards_waiting": done.waiting}
    if done.waiting:
        message = "Slack has not taken every card: type `cutter slack post` again later"
        found = as_failure(found, code="UNAVAILABLE", message=message)
    show(found, as_json=as_json, render=lambda out: render(out, found))
    end(ExitCode.UNAVAILABLE if done.waiting else ExitCode.DONE)


@app.command()
def serve(
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port to listen on; 0: a free one")] = 8484,
    host: Annotated[str, typer.Option(help="Address to listen on; whatever is not loopback needs TLS before it")] = (
        "127.0.0.1"
    ),
    as_json: Json = False,
) -> None:
    """Keep the cards in step, and hear when their buttons are pressed, until it is interrupted.

    Example: cutter slack serve --port 8484
    """
    settings = require_channel(load())
    slack, signing = posting.caller(settings), secret(settings, SIGNING_SECRET_FILE)
    try:
        server = Server(host, port, signing, lambda click: resolve(settings, click))
    except OSError as problem:
        raise Unavailable(f"{host}:{port} cannot be listened on ({problem.strerror})", what="port") from None
    logs.to_standard_error()
    with server:
        show({"listens": server.url}, as_json=as_json, render=lambda out: out.print(f"listens on {server.url}"))
        sys.stdout.flush()
        threading.Thread(target=_keep_in_step, args=(settings, slack), daemon=True).start()
        server.serve_forever()


def _keep_in_step(settings: Settings, slack: Slack) -> None:
    """Pass after pass; the log has what a pass meets, and the next one continues."""
    while True:
        pause = limits.SLACK_PASS_SECONDS
        try:
            done = posting.make_pass(settings, slack)
        except CutterError as problem:
            log.warning("slack.pass_failed", code=problem.code, reason=str(problem))
        else:
            pause = max(pause, done.pause_seconds)
            for one in done.sent:
                log.info("slack.sent", **one)
            if done.pause_seconds:
                log.warning("slack.paused", seconds=pause, cards_waiting=len(done.waiting))
        sleep(pause)


def require_channel(settings: Settings) -> Settings:
    """The settings, when Slack is switched on."""
    if settings.slack_channel is None:
        raise InvalidInput("no Slack channel is set: CUTTER_SLACK_CHANNEL=C0123456789 switches the cards on")
    return settings


def drain(settings: Settings) -> View:
    """The part of reconcile: a pass if Slack is switched on; trouble with Slack is reported, not raised."""
    if settings.slack_channel is None:
        return {"cards_sent": [], "cards_waiting": []}
    try:
        done = posting.make_pass(settings, posting.caller(settings))
    except CutterError as problem:
        return {"cards_sent": [], "cards_waiting": [{"run_id": "all", "kind": "all", "last_error": str(problem)}]}
    return {"cards_sent": done.sent, "cards_waiting": done.waiting}


def render(out: Console, found: View) -> None:
    """For people: what still waits, and how many were sent."""
    if found["cards_waiting"]:
        rows = [(one["run_id"], one["kind"], one["last_error"] or "not tried yet") for one in found["cards_waiting"]]
        out.print(table(("run", "card", "because"), rows, title="cards that Slack has not taken yet"))
    if found["cards_sent"]:
        out.print(f"{counted(len(found['cards_sent']), 'card')} sent")
