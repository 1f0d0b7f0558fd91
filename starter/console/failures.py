"""IO: reports that a command failed: one sentence for a person, or with --json one object on standard output.

The object has `code`, which machines compare, `message`, and `next`, the command to type (null if no command helps).
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

from cutter.domain.visible import json_text
from cutter.errors import CutterError, InvalidInput
from starter.command_table import COMMANDS
from starter.console.terminal import ExitCode, say, write

AS_JSON = "--json"
NAMED = "STOP_"
"""The codes of the specification begin with this. They are also shown at the end of the sentence."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """A failure. `message` names the remedy, and `next` is its first command."""

    code: str
    message: str
    exit_code: ExitCode
    next: str | None = None


def failure(problem: CutterError, *, message: str) -> Failure:
    """A failure from one of our own errors. `message` may say more than the error does."""
    return Failure(code=problem.code, message=message, exit_code=ExitCode(problem.exit_code), next=problem.then)


def tell(failed: Failure, arguments: Sequence[str]) -> int:
    """Print a failure in the form that the command line asks for. Returns its exit code."""
    # Every mistake on a command line has the general code of bad input, which says nothing more.
    says_more = failed.code.startswith(NAMED) and failed.code != InvalidInput.code
    say(f"{failed.message} [{failed.code}]" if says_more else failed.message)
    if AS_JSON in arguments:
        general = "cutter doctor" if failed.exit_code is ExitCode.UNAVAILABLE else None
        if failed.exit_code is ExitCode.USAGE:
            general = f"{' '.join(['cutter', *_command(arguments)])} --help"
        answer = {"code": failed.code, "message": failed.message, "next": failed.next or general}
        write(json_text(answer, indent=2))
    return int(failed.exit_code)


def of_answer(answer: dict[str, Any], accepted: Collection[str]) -> dict[str, Any]:
    """The answer to an order. An order that was not accepted is a failure, and the status of the run explains it."""
    if answer.get("status") in accepted:
        return answer
    code, message = str(answer.get("code") or "refused"), str(answer.get("reason") or answer.get("status") or "refused")
    named = answer.get("run_id") or answer.get("batch_id")
    return as_failure(answer, code=code, message=message, next_command=f"cutter status {named}" if named else None)


def as_failure(answer: dict[str, Any], *, code: str, message: str, next_command: str | None = None) -> dict[str, Any]:
    """A result of a command that is a failure too. It gets the fields that every failure has. A `next` of its own
    stays.
    """
    return {**answer, "code": code, "message": message, "next": answer.get("next") or next_command or None}


def _command(arguments: Sequence[str]) -> list[str]:
    """The words of the command line that name its command."""
    words = [word for word in arguments if not word.startswith("-")]
    names = {entry.name for entry in COMMANDS}
    for length in (2, 1):
        if " ".join(words[:length]) in names:
            return words[:length]
    return []
