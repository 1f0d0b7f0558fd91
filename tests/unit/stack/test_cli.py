"""The command line: every command is there and explains itself, and no error is a traceback."""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import psycopg
import pytest
import typer
from typer.core import TyperGroup

from cutter.errors import Conflict, InvalidInput, NotFound, Refused, Unavailable
from starter import cli
from starter.__main__ import expanded
from starter.command_table import COMMANDS, Command
from starter.console.terminal import ExitCode

ROOT = Path(__file__).parents[3]

Answer = Callable[[], None]


def cutter(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """The real command in a process of its own."""
    return subprocess.run(
        [sys.executable, "-m", "starter.cli", *arguments],
        capture_output=True,
        text=True,
        check=False,
        env={**{k: v for k, v in os.environ.items() if not k.startswith("CUTTER_")}, **environment},
        cwd=ROOT,
        stdin=subprocess.DEVNULL,
    )


def ends_with(monkeypatch: pytest.MonkeyPatch, body: Answer) -> int:
    """The exit code of a command line whose command does `body`."""
    module = ModuleType("starter.probe")
    module.probe = body  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "starter.probe", module)
    monkeypatch.setattr(cli, "COMMANDS", (Command(name="probe", module="starter.probe", attribute="probe"),))
    return cli.run(["probe"])


def raising(problem: BaseException) -> Answer:
    def body() -> None:
        raise problem

    return body


def test_every_command_of_the_table_exists() -> None:
    missing = [f"{command.name}: {command.module}.{command.attribute}" for command in COMMANDS if not is_there(command)]
    assert missing == []


def is_there(command: Command) -> bool:
    return callable(getattr(importlib.import_module(command.module), command.attribute, None))


@pytest.mark.parametrize("command", COMMANDS, ids=lambda entry: entry.name)
def test_every_command_shows_an_example_and_takes_json(command: Command) -> None:
    for name, built in leaves(cli._built(command.name)):
        assert "example" in (built.help or "").lower(), name
        assert any("--json" in parameter.opts for parameter in built.params), name


def leaves(built: Any) -> list[tuple[str, Any]]:
    """A command itself, or all commands of a family."""
    return list(built.commands.items()) if isinstance(built, TyperGroup) else [(built.name, built)]


def test_command_names_are_unique() -> None:
    names = [command.name for command in COMMANDS]
    assert len(names) == len(set(names))


@pytest.mark.parametrize(
    ("problem", "code"),
    [
        (InvalidInput("wrong"), ExitCode.USAGE),
        (NotFound("no such run"), ExitCode.FAILED),
        (Refused("no"), ExitCode.STOPPED),
        (Conflict("other bytes"), ExitCode.STOPPED),
        (Unavailable("away", what="database"), ExitCode.UNAVAILABLE),
        (psycopg.OperationalError("connection refused"), ExitCode.UNAVAILABLE),
        (typer.Exit(3), ExitCode.WAITING),
        (typer.Abort(), ExitCode.STOPPED),
        (KeyboardInterrupt(), ExitCode.INTERRUPTED),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, BaseException) else "",
)
def test_an_error_is_its_exit_code_and_one_sentence(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], problem: BaseException, code: ExitCode
) -> None:
    assert ends_with(monkeypatch, raising(problem)) == code
    output = capsys.readouterr()
    assert output.out == ""
    assert len(output.err.splitlines()) <= 1


@pytest.mark.parametrize(("status", "code"), [("NOT_FOUND", ExitCode.FAILED), ("UNAVAILABLE", ExitCode.UNAVAILABLE)])
def test_an_error_of_temporal_is_translated(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], status: str, code: ExitCode
) -> None:
    from temporalio.service import RPCError, RPCStatusCode

    assert ends_with(monkeypatch, raising(RPCError("no such workflow", RPCStatusCode[status], b""))) == code
    assert "no such workflow" in capsys.readouterr().err


def test_usage_errors_name_the_help(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["up", "--bad"]) == ExitCode.USAGE
    assert "--bad (see `cutter up --help`)" in capsys.readouterr().err
    assert cli.run(["nonsense"]) == ExitCode.USAGE


def test_debug_shows_the_traceback_wherever_it_stands() -> None:
    shown = cutter("doctor", "--debug", CUTTER_NONSENSE="1")
    assert "Traceback" in shown.stderr
    assert shown.returncode == ExitCode.USAGE


def test_an_unknown_setting_is_one_sentence() -> None:
    shown = cutter("doctor", CUTTER_NONSENSE="1")
    assert shown.stderr.startswith("unknown setting CUTTER_NONSENSE")
    assert len(shown.stderr.splitlines()) == 1
    assert shown.returncode == ExitCode.USAGE


def test_a_bug_is_one_sentence_too_and_a_failure() -> None:
    script = (
        "import sys; from types import ModuleType; from starter import cli\n"
        "def probe() -> None: {}['nothing']\n"
        "module = ModuleType('starter.commands.up'); module.up = probe; sys.modules['starter.commands.up'] = module\n"
        "sys.argv = ['cutter', 'up', *sys.argv[1:]]; cli.main()"
    )
    for flags, tracebacks in ((), 0), (("--debug",), 1):
        shown = subprocess.run(
            [sys.executable, "-c", script, *flags],
            capture_output=True,
            text=True,
            check=False,
            cwd=ROOT,
        )
        assert shown.returncode == ExitCode.FAILED
        assert shown.stderr.count("Traceback") == tracebacks


def test_the_output_is_plain_where_there_is_no_terminal_and_json_is_one_document(tmp_path: Path) -> None:
    plain = cutter("doctor", CUTTER_STATE_DIR=str(tmp_path / "state"))
    assert "\x1b" not in plain.stdout + plain.stderr
    document = json.loads(cutter("doctor", "--json", CUTTER_STATE_DIR=str(tmp_path / "state")).stdout)
    names = {check["name"] for check in document["checks"]}
    assert names >= {"python", "gpg", "postgres", "temporal", "folders", "keys"}
    assert not (tmp_path / "state").exists()  # a look makes nothing


def test_a_closed_pipe_is_no_traceback() -> None:
    shown = subprocess.run(
        f"{sys.executable} -m starter.cli --help | head -n 1",
        shell=True,
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
    )
    assert shown.stderr == ""


def test_the_seeds_form_of_the_commands_is_the_familys() -> None:
    assert expanded(["resume", "--run-id", "x"]) == ["orchestrate", "resume", "--run-id", "x"]
    for unchanged in (["run", "x"], ["orchestrate", "resume"], ["up"], []):
        assert expanded(unchanged) == unchanged


def test_completion_knows_the_commands() -> None:
    completed = cutter(_CUTTER_COMPLETE="complete_bash", COMP_WORDS="cutter do", COMP_CWORD="1")
    assert set(completed.stdout.split()) >= {"down", "doctor"}


def test_a_file_of_another_kind_is_invalid_input_that_names_the_kinds(tmp_path: Path) -> None:
    law = tmp_path / "law.md"
    law.write_text("# A law\n", encoding="utf-8")
    done = cutter("verify", str(law))
    assert (done.returncode, done.stdout) == (ExitCode.USAGE, "")
    message = " ".join(done.stderr.split())
    assert "law.md: it is not an evidence bundle, an audit export, a transitions.jsonl or an export of a law" in message
    assert "`cutter verify --help`" in message
