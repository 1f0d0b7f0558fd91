"""The pages that are made from code are the ones that stand; the README's commands and links exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from docs.generate import HERE, diagram, pages

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("page", sorted(pages()))
def test_generated_page_is_current(page: str) -> None:
    assert (HERE / page).read_text(encoding="utf-8") == pages()[page], "type `python -m docs.generate`"


def test_readme_and_architecture_link_to_files_that_exist() -> None:
    for name in ("README.md", "ARCHITECTURE.md", "CONTRIBUTING.md"):
        text = (ROOT / name).read_text(encoding="utf-8")
        for target in re.findall(r"\]\(([^)#:]+)\)", text):
            assert (ROOT / target).exists(), f"{name} links to {target}"


def test_readme_names_every_state_of_the_diagram() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    for state in re.findall(r"--> ([a-z_]+):", diagram()):
        assert state in text


def test_readme_commands_exist() -> None:
    known = re.findall(r"`cutter ([a-z- ]+)`", (HERE / "commands.md").read_text(encoding="utf-8"))
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    typed = re.findall(r"^cutter ([a-z-]+)", text, re.MULTILINE)
    assert typed
    for name in typed:
        assert any(command.split(" ")[0] == name for command in known), name
