"""IO: `cutter transitions validate`: files of transitions, ours or another program's, line by line, with no server."""

from __future__ import annotations

from typing import Annotated

import typer

from cutter.storage.transitions_file import told
from starter.terminal import ExitCode, Json, end, write

app = typer.Typer(help="Files of transitions (transitions.jsonl).", no_args_is_help=True)


@app.callback()
def transitions() -> None:
    """Files of transitions (transitions.jsonl)."""


@app.command()
def validate(
    file: Annotated[str, typer.Argument(help="A transitions.jsonl; - is the standard input")], as_json: Json = False
) -> None:
    """Check schema, legality, invariants and time of every transition; each finding with its line; exit 1 for any.

    Example: cutter transitions validate .cutter/runs/RUN/transitions.jsonl
    """
    valid = told(file, write, as_json=as_json)
    end(ExitCode.DONE if valid else ExitCode.FAILED)
