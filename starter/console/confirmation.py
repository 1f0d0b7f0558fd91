"""IO: a question to the person at the terminal before their key is used."""

from __future__ import annotations

import typer

from cutter.domain.visible import visible_line
from starter.console.terminal import err, say

YES, NO = ("y", "yes"), ("", "n", "no")


def confirmed(question: str) -> bool:
    """True for y; Enter is no. Any other answer is asked again. Raises Abort on Ctrl-C and at the end of the input."""
    while True:
        try:
            answer = err().input(visible_line(f"{question} [y/N]: "), markup=False).strip().lower()
        except EOFError:
            say("nobody can answer here: type the command on a terminal, or give --yes")
            raise typer.Abort from None
        except KeyboardInterrupt:
            raise typer.Abort from None
        if answer in YES:
            return True
        if answer in NO:
            return False
        say("answer y to sign, n (or Enter) to leave it; Ctrl-C stops")
