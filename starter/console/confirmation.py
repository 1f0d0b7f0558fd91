"""IO: a question to the person at the terminal before their key is used."""

from __future__ import annotations

from typing import Annotated

import typer

from cutter.domain.visible import visible_line
from cutter.errors import Refused
from starter.console.terminal import err, say

Yes = Annotated[bool, typer.Option("--yes", help="Do not ask.")]
"""The option of every command that signs."""

YES, NO = ("y", "yes"), ("", "n", "no")


def typed(word: str, question: str) -> bool:
    """True if the person types exactly this word; Enter is no. Raises Abort as `confirmed` does."""
    return _answer(f"{question} Type {word} to sign it, or Enter to leave it: ") == word


def _answer(question: str) -> str:
    try:
        return err().input(visible_line(question), markup=False).strip()
    except EOFError:
        say("nobody can answer here: type the command on a terminal, or give --yes")
        raise typer.Abort from None
    except KeyboardInterrupt:
        raise typer.Abort from None


def confirmed(question: str) -> bool:
    """True for y; Enter is no. Any other answer is asked again. Raises Abort on Ctrl-C and at the end of the input."""
    while True:
        answer = _answer(f"{question} [y/N]: ").lower()
        if answer in YES:
            return True
        if answer in NO:
            return False
        say("answer y to sign, n (or Enter) to leave it; Ctrl-C stops")


def require_yes(question: str, *, yes: bool) -> None:
    """Ask before a person's key is used. Raises Refused unless the answer is y. With `yes`, nobody is asked."""
    if not yes and not confirmed(question):
        raise Refused("nothing was signed", code="not_confirmed")
