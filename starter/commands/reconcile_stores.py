"""IO: `cutter reconcile --stores` and `--set-aside`: what the stores and Temporal have and the database does not."""

from __future__ import annotations

import asyncio
from dataclasses import asdict
from typing import Any

from rich.console import Group

from cutter import log_lines as logs
from cutter.domain.amounts import counted
from cutter.settings import Settings
from starter.console.failures import as_failure
from starter.console.terminal import ExitCode, end, show, table
from starter.operator import ahead_of_database as ahead
from temporal.client import connect

View = dict[str, Any]


def compare(settings: Settings, *, as_json: bool) -> None:
    """List every run with objects ahead of the database, and every workflow of a lost run. Exit code 1 if there are
    any.
    """
    logs.to_standard_error()
    answer: View = {
        "runs": [{**asdict(run), "next": run.command} for run in ahead.runs_ahead(settings)],
        "workflows": [asdict(workflow) for workflow in asyncio.run(_workflows(settings))],
    }
    commands = [*(workflow["command"] for workflow in answer["workflows"]), *(run["next"] for run in answer["runs"])]
    if commands:
        message = f"{counted(len(commands), 'run')} ahead of the database: type the printed commands"
        answer = as_failure(answer, code="ahead_of_database", message=message, next_command=commands[0])
    tables = []
    if answer["workflows"]:
        open_ones = [(workflow["workflow_id"], workflow["command"]) for workflow in answer["workflows"]]
        tables.append(table(("open workflow of a lost run", "ended by"), open_ones))
    if answer["runs"]:
        rows = [
            (run["document"], run["state"] or "no such run", len(run["objects"]), run["next"]) for run in answer["runs"]
        ]
        tables.append(table(("document", "in the database", "objects ahead", "set aside by"), rows))
    shown = Group(*tables) if tables else "nothing is ahead of the database"
    show(answer, as_json=as_json, render=lambda out: out.print(shown))
    end(ExitCode.FAILED if commands else ExitCode.DONE)


def set_aside(settings: Settings, run_id: str, *, as_json: bool) -> None:
    """Move the objects of one run that are ahead, and name the next command."""
    logs.to_standard_error()
    run, moved = ahead.set_aside(settings, run_id)
    # The folder of a known run shows the lost steps too, and is written again.
    step = f"cutter rebuild {run_id}" if run.state else "cutter reconcile --stores"
    answer = {"run_id": run_id, "moved": moved, "next": step}
    text = f"{counted(len(moved), 'object')} set aside; nothing was deleted\nnext: {step}"
    show(answer, as_json=as_json, render=lambda out: out.print(text, soft_wrap=True))


async def _workflows(settings: Settings) -> list[ahead.WorkflowAhead]:
    client = await connect(settings)
    return await ahead.workflows_ahead(client, await asyncio.to_thread(ahead.known_runs, settings))
