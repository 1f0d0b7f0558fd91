"""The next command of an error is a value of its own. No module takes a command out of a text, which may quote a
stranger.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import cutter.errors
from cutter.errors import CutterError

ROOT = Path(__file__).parents[2]
FOLDERS = ("cutter", "starter", "temporal", "activities", "workflows")
FILES = sorted(file for folder in FOLDERS for file in (ROOT / folder).glob("**/*.py"))
KINDS = [kind for kind in vars(cutter.errors).values() if isinstance(kind, type) and issubclass(kind, CutterError)]
ERRORS = {kind.__name__ for kind in KINDS}

SEARCHES = re.compile(
    "compile|search|match|fullmatch|findall|finditer|sub|r?split|r?partition|r?find|r?index|startswith|removeprefix"
)
COMMAND = re.compile(r"`|\bcutter |next:")
"""What marks a command in a sentence: backquotes, its name, or the word before it."""

MARKDOWN = {
    "cutter/approvals/request.py", "cutter/approvals/statement.py", "cutter/domain/markdown.py",
    "cutter/marking/lines.py", "cutter/marking/titles.py",
}  # fmt: skip
"""These modules read or write Markdown and YAML, where a backquote has a meaning. They look for no command."""

WHOLE = {("cutter/preflight/checks.py", f"{check}.remedy.startswith") for check in ("self", "check")}
"""A remedy that is only a command. The module that made the check wrote it."""

LEADS_NOWHERE = ["starter/commands/keys.py", "starter/commands/pages.py"]
"""Each has one message that names a command which does not help this person here."""


def place(file: Path) -> str:
    return file.relative_to(ROOT).as_posix()


def texts(node: ast.AST) -> str:
    """The literal text of an expression."""
    values = [part.value for part in ast.walk(node) if isinstance(part, ast.Constant)]
    return "".join(str(value) for value in values if isinstance(value, str | bytes))


def searches(source: str) -> Iterator[str]:
    """The calls that look for a command in a text."""
    for node in ast.walk(ast.parse(source)):
        if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)):
            continue
        if SEARCHES.fullmatch(node.func.attr) and any(COMMAND.search(texts(given)) for given in node.args):
            yield ast.unparse(node.func)


def silent(source: str) -> Iterator[int]:
    """The lines of the errors whose message names a command that `next` lacks."""
    tree = ast.parse(source)
    led = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Attribute) and node.attr == "leads_to"}
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ERRORS and node.args:
            given = id(node) in led or any(word.arg == "then" for word in node.keywords)
            if re.search(r"`cutter |next: cutter", texts(node.args[0])) and not given:
                yield node.lineno


def test_no_module_takes_a_command_out_of_a_text() -> None:
    calls = {(place(file), call) for file in FILES for call in searches(file.read_text(encoding="utf-8"))}
    assert {(name, call) for name, call in calls if name not in MARKDOWN} == WHOLE


def test_an_error_that_names_a_command_has_it_as_a_value() -> None:
    assert [place(file) for file in FILES for _ in silent(file.read_text(encoding="utf-8"))] == LEADS_NOWHERE


@pytest.mark.parametrize(
    "source",
    ['re.compile(r"`(cutter[^`]+)`")', 'text.split("`")', 'text.partition("next: ")', 're.search("(cutter .*)", text)'],
)
def test_the_rule_sees_a_search(source: str) -> None:
    assert len(list(searches(source))) == 1


@pytest.mark.parametrize(
    ("source", "count"),
    [
        ('NotFound(f"no {x}: see `cutter status`")', 1), ('NotFound(f"no {x}: see", then="cutter status")', 0),
        ('NotFound(f"no {x}: see `cutter status`").leads_to("cutter status")', 0),
    ],
)  # fmt: skip
def test_the_rule_sees_an_error_without_its_command(source: str, count: int) -> None:
    assert len(list(silent(source))) == count
