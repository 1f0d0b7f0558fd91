"""What CI fetches is named by commit: a tag can be moved by those who own it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml

WORKFLOWS = sorted((Path(__file__).parents[2] / ".github" / "workflows").glob("*.yml"))


def test_there_are_workflows() -> None:
    assert WORKFLOWS


@pytest.mark.parametrize("file", WORKFLOWS, ids=lambda file: file.name)
def test_every_action_is_pinned_to_a_commit(file: Path) -> None:
    jobs = yaml.safe_load(file.read_text(encoding="utf-8"))["jobs"].values()
    used = [step["uses"] for job in jobs for step in job["steps"] if "uses" in step]
    assert used
    assert [name for name in used if not re.fullmatch(r"[\w./-]+@[0-9a-f]{40}", name)] == []
