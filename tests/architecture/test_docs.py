"""The pages that are made from code are the ones that stand; the README's commands and links exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from cutter import errors
from docs.generate import HERE, diagram, example, helps, pages
from starter.cli import app
from starter.console.terminal import EXIT_CODES, ExitCode

ROOT = Path(__file__).resolve().parents[2]
ROOT_PAGES = ("README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "SECURITY.md", "STYLE.md", "tests/README.md")


@pytest.mark.parametrize("page", sorted(pages()))
def test_generated_page_is_current(page: str) -> None:
    assert (HERE / page).read_text(encoding="utf-8") == pages()[page], "type `python -m docs.generate`"


def test_the_pages_at_the_root_link_to_files_that_exist() -> None:
    for name in ROOT_PAGES:
        text = (ROOT / name).read_text(encoding="utf-8")
        for target in re.findall(r"\]\(([^)#:]+)\)", text):
            assert ((ROOT / name).parent / target).exists(), f"{name} links to {target}"


def test_readme_names_every_state_of_the_diagram() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    for state in re.findall(r"--> ([a-z_]+):", diagram()):
        assert state in text


def test_readme_commands_exist() -> None:
    known = re.findall(r"`cutter ([a-z- ]+)`", (HERE / "reference" / "commands.md").read_text(encoding="utf-8"))
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    typed = re.findall(r"^cutter ([a-z-]+)", text, re.MULTILINE)
    assert typed
    for name in typed:
        assert any(command.split(" ")[0] == name for command in known), name


def test_every_exit_code_is_explained_and_every_error_has_one() -> None:
    assert set(EXIT_CODES) == set(ExitCode)
    kinds = [kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, errors.CutterError)]
    assert len(kinds) > 5
    assert {kind.exit_code for kind in kinds} <= set(ExitCode)
    text = (HERE / "reference" / "commands.md").read_text(encoding="utf-8")
    for code in ExitCode:
        assert f"| {code.value} | " in text


@pytest.mark.parametrize(("name", "text"), helps(app()))
def test_every_command_s_help_has_an_example_with_options_that_exist(name: str, text: str) -> None:
    typed = example(text)
    assert re.search(r"(^| )cutter \S", typed), f"cutter {name} has no example"
    command = app()
    words = typed.partition("cutter ")[2].split()
    while words and hasattr(command, "get_command"):
        command = command.get_command(None, words.pop(0))
    known = {option for parameter in command.params for option in parameter.opts}
    assert {word for word in words if word.startswith("--")} <= known
