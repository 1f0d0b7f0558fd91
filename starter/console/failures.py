"""IO: how a command says that it failed: one sentence for a person; with --json one object on standard output.

The object has `code`, which machines match on, `message`, and `next`, the command to type (null where none helps).
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

from cutter.domain.printed_commands import commands_in
from cutter.domain.visible import json_text
from cutter.errors import CutterError, InvalidInput
from starter.command_table import COMMANDS
from starter.console.terminal import ExitCode, say, write

AS_JSON = "--json"
NAMED = "STOP_"
"""Codes of the specification begin so; they end the sentence too."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """What went wrong. `message` names the remedy; its first command is the `next` one."""

    code: str
    message: str
    exit_code: ExitCode
    next: str | None = None


def failure(problem: CutterError, *, message: str) -> Failure:
    """One of our own errors; `message` may say more than the error does."""
    return Failure(code=problem.code, message=message, exit_code=ExitCode(problem.exit_code))


def tell(failed: Failure, arguments: Sequence[str]) -> int:
    """Print a failure in the form that the command line asks for; its exit code."""
    say(f"{failed.message}{_code_of(failed)}")
    if AS_JSON in arguments:
        step = failed.next or next(iter(commands_in(failed.message)), None) or _general(failed, arguments)
        answer = {"code": failed.code, "message": failed.message, "next": step}
        write(json_text(answer, indent=2))
    return int(failed.exit_code)


def of_answer(found: dict[str, Any], accepted: Collection[str]) -> dict[str, Any]:
    """An order's answer; one that was not accepted is a failure, which the run's status explains."""
    if found.get("status") in accepted:
        return found
    code, message = str(found.get("code") or "refused"), str(found.get("reason") or found.get("status") or "refused")
    named = found.get("run_id") or found.get("batch_id")
    return as_failure(found, code=code, message=message, next_command=f"cutter status {named}" if named else None)


def as_failure(found: dict[str, Any], *, code: str, message: str, next_command: str | None = None) -> dict[str, Any]:
    """A command's result that is a failure too: with the fields that every failure has."""
    step = found.get("next") or next_command or next(iter(commands_in(message)), None)
    return {**found, "code": code, "message": message, "next": step}


def _code_of(failed: Failure) -> str:
    # Every mistake on a command line has the general code of bad input, which says nothing more.
    return f" [{failed.code}]" if failed.code.startswith(NAMED) and failed.code != InvalidInput.code else ""


def _general(failed: Failure, arguments: Sequence[str]) -> str | None:
    """The next command where the message names none."""
    if failed.exit_code is ExitCode.USAGE:
        return f"{' '.join(['cutter', *_command(arguments)])} --help"
    return "cutter doctor" if failed.exit_code is ExitCode.UNAVAILABLE else None


def _command(arguments: Sequence[str]) -> list[str]:
    """The words of the command line that name its command."""
    words = [word for word in arguments if not word.startswith("-")]
    names = {entry.name for entry in COMMANDS}
    for length in (2, 1):
        if " ".join(words[:length]) in names:
            return words[:length]
    return []
