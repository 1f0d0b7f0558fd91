"""The commands and options that the seeds write down exist under the seeds' own names."""

from __future__ import annotations

import pytest
import typer

from starter.cli import app

OPTIONS = [
    ("resume", ("--run-id", "--approval-kb-id", "--batch-id", "--approval-set")),
    ("resume-batch", ("--batch-id", "--approval-set")),
    ("batch", ("--queue", "--max-concurrent", "--stop-on-first-failure", "--no-stop-on-first-failure", "--resume",
               "--quarantine", "--skip-completed", "--include-failed")),
]  # fmt: skip


@pytest.mark.parametrize(
    ("command", "option"),
    [pytest.param(command, option, id=f"{command} {option}") for command, options in OPTIONS for option in options],
)
def test_each_option_that_a_seed_writes_exists(command: str, option: str) -> None:
    """Seed 000 §3, 001 §2, 001 §4, 001 §6, 001 §7, 001 §9, 001 §11."""
    root = app()
    family = root.get_command(typer.Context(root), "orchestrate")
    parameters = family.get_command(typer.Context(family), command).params
    assert option in {name for parameter in parameters for name in (*parameter.opts, *parameter.secondary_opts)}
