"""IO: `cutter slack`: cards for the gates that wait, and the server that hears when their buttons are pressed."""

from __future__ import annotations

from typing import Any

import typer
from rich.console import Console

from cutter.errors import CutterError, InvalidInput
from cutter.settings import Settings, load
from cutter.slack import posting
from starter.terminal import ExitCode, Json, end, show, table

app = typer.Typer(help="Cards in Slack for the gates that wait (docs/slack.md).", no_args_is_help=True)

View = dict[str, Any]


@app.command()
def post(as_json: Json = False) -> None:
    """Post a card for each gate that waits without one, and change those that were decided; so does `cutter reconcile`.

    Example: cutter slack post
    """
    settings = require_channel(load())
    done = posting.make_pass(settings, posting.caller(settings))
    found = {"cards_sent": done.sent, "cards_waiting": done.waiting}
    show(found, as_json=as_json, render=lambda out: render(out, found))
    end(ExitCode.UNAVAILABLE if done.waiting else ExitCode.DONE)


def require_channel(settings: Settings) -> Settings:
    """The settings, when Slack is switched on."""
    if settings.slack_channel is None:
        raise InvalidInput("no Slack channel is set: CUTTER_SLACK_CHANNEL=C0123456789 switches the cards on")
    return settings


def drain(settings: Settings) -> View:
    """What reconcile does of it: a pass where Slack is switched on; what goes wrong with Slack is told, not raised."""
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
        out.print(f"{len(found['cards_sent'])} cards sent")
