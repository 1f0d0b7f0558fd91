"""Who is told that nothing is up is told where it was looked for, since that depends on the current folder."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from cutter.settings import Settings
from cutter.stack.addresses import DEMO, TEMPORAL, looked_in
from starter import cli


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder to stand in, without any setting."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "excepthook", sys.excepthook)
    for name in [name for name in os.environ if name.startswith(("CUTTER_", "TEMPORAL_"))]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("TEMPORAL_CONFIG_FILE", str(tmp_path / "none.toml"))
    return tmp_path


def said(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert cli.run(arguments) == 5
    output = capsys.readouterr()
    assert output.out == ""
    return output.err.strip()


@pytest.mark.parametrize("command", [("status",), ("inbox",), ("run", "ICX-1"), ("stop", "ICX-1", "--reason", "x")])
def test_a_folder_without_a_stack_is_named_with_the_remedy(
    folder: Path, capsys: pytest.CaptureFixture[str], command: tuple[str, ...]
) -> None:
    message = said(capsys, *command)
    assert f"looked in {folder / '.cutter'}, which does not exist; CUTTER_STATE_DIR" in message
    assert "cutter up" in message


def test_a_stack_that_does_not_answer_is_named_too(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    state = folder / ".cutter"
    (state / "secrets").mkdir(parents=True)
    (state / "secrets" / "cutter_operator.password").write_text("x", encoding="ascii")
    (state / "postgres.url").write_text("postgresql://127.0.0.1:1/cutter", encoding="ascii")
    assert f"(looked in {state}; " in said(capsys, "status")
    (state / TEMPORAL).write_text("127.0.0.1:1", encoding="ascii")
    assert f"(looked in {state}; " in said(capsys, "run", "ICX-1")


def test_the_demo_s_stack_is_pointed_at_while_it_is_up(folder: Path) -> None:
    settings = Settings(state_dir=folder)
    assert DEMO not in looked_in(settings, "database").replace(str(folder), "")
    (folder / DEMO).mkdir()
    (folder / DEMO / "postgres.url").touch()
    assert f"the demo's stack is up in {folder / DEMO}" in looked_in(settings, "database")


@pytest.mark.parametrize(
    ("what", "settings"),
    [
        ("database", {"database_url": "postgresql://db.example/cutter"}),
        ("temporal", {"temporal_address": "t.example:7233"}),
        ("gpg", {}),
    ],
)
def test_what_is_not_the_local_stack_s_names_no_folder(what: str, settings: dict[str, str]) -> None:
    assert looked_in(Settings(**settings), what) == ""  # type: ignore[arg-type]
