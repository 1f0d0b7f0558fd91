"""No text leaves but through starter/console/terminal.py, where hidden characters become their codes."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
EDGE = ROOT / "starter" / "console" / "terminal.py"
FILES = sorted([*(ROOT / "starter").glob("**/*.py"), ROOT / "worker.py"])

WRITERS = re.compile(
    r"print|input|(typer|click)\.(echo|secho|confirm|prompt)|getpass\.getpass|traceback\.print_\w+"
    r"|sys\.(stdout|stderr)\.write|(rich\.\w+\.)?(Console|Text|print)(\.\w+)?"
)
"""What writes by itself; rich's `Text` drops some controls without a trace, and its other consoles show all."""

ALLOWED = {("worker.py", "print")}
"""The worker's one sentence, which it escapes itself; it does not load the commands' output."""


def writers(source: str, name: str) -> list[str]:
    """What a module calls that writes beside the edge: `name:line what`; an empty `Text()` is a free line."""
    calls = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call) and (node.args or node.keywords):
            called = ast.unparse(node.func)
            if WRITERS.fullmatch(called) and (name, called) not in ALLOWED:
                calls.append(f"{name}:{node.lineno} {called}")
    return calls


def test_the_commands_print_through_the_edge_alone() -> None:
    files = [file for file in FILES if file != EDGE]
    assert [call for file in files for call in writers(file.read_text(encoding="utf-8"), file.name)] == []


@pytest.mark.parametrize(
    "source", ["print(x)", "typer.echo(x)", "typer.confirm(x)", "Text(x)", "sys.stdout.write(x)", "Console(file=x)"]
)
def test_the_rule_sees_what_it_forbids(source: str) -> None:
    assert len(writers(source, "a.py")) == 1
