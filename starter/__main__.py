"""Orchestration: the seeds' form of the commands: `python -m starter batch` is `cutter orchestrate batch`."""

from __future__ import annotations

import sys

from starter.cli import main
from starter.command_table import COMMANDS

FAMILY = "orchestrate"


def expanded(arguments: list[str]) -> list[str]:
    """The seeds' commands without their family's name get it; everything else stays as typed."""
    alone = {entry.name for entry in COMMANDS}
    seeds = {entry.name.removeprefix(f"{FAMILY} ") for entry in COMMANDS if entry.name.startswith(f"{FAMILY} ")} - alone
    return [FAMILY, *arguments] if arguments and arguments[0] in seeds else arguments


if __name__ == "__main__":
    sys.argv[1:] = expanded(sys.argv[1:])
    main()
