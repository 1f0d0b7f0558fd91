"""How a command says that it failed: a sentence for people, one object for machines, whatever went wrong."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from starter import cli
from starter.command_table import COMMANDS
from starter.console.failures import as_failure
from starter.local import doctor_checks

ROOT = Path(__file__).parents[3]


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """What a command said."""

    code: int
    out: str
    err: str


Cutter = Callable[..., Told]


@pytest.fixture
def cutter(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Cutter:
    """A command on a machine where nothing is up."""
    monkeypatch.setenv("CUTTER_STATE_DIR", str(tmp_path / "state"))
    monkeypatch.setenv("COLUMNS", "80")

    def run(*arguments: str) -> Told:
        code = cli.run(arguments)
        said = capsys.readouterr()
        return Told(code=code, out=said.out, err=said.err)

    return run


def names() -> Iterator[tuple[str, ...]]:
    """Every command by its words."""
    for entry in COMMANDS:
        loaded = cli._built(entry.name)
        below = list(getattr(loaded, "commands", {}))
        yield from [(*entry.name.split(" "), name) for name in below] or [tuple(entry.name.split(" "))]


@pytest.mark.parametrize("name", sorted(names()), ids=" ".join)
def test_every_command_that_fails_prints_one_json_object(name: tuple[str, ...], cutter: Cutter) -> None:
    told = cutter(*name, "--no-such-option", "--json")
    found = json.loads(told.out)
    assert (told.code, set(found)) == (2, {"code", "message", "next"})
    assert found["next"] == f"cutter {' '.join(name)} --help"
    assert len(told.err.strip().splitlines()) == 1


@pytest.mark.parametrize(
    "arguments", [("status",), ("inbox",), ("run", "ICX-1"), ("approve", "ICX-1"), ("source", "list"), ("tenants",)]
)
def test_without_a_stack_the_next_command_brings_one_up(arguments: tuple[str, ...], cutter: Cutter) -> None:
    told = cutter(*arguments, "--json")
    assert (told.code, json.loads(told.out)["next"]) == (5, "cutter up")


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        (("staus",), "cutter status"),
        (("aprove", "X"), "cutter approve X"),
        (("approvers", "initt"), "cutter approvers init --help"),
        (("orchestrate", "btch"), "cutter orchestrate batch --help"),
    ],
)  # fmt: skip
def test_a_mistyped_command_is_told_which_was_meant(typed: tuple[str, ...], meant: str, cutter: Cutter) -> None:
    assert json.loads(cutter(*typed, "--json").out)["next"] == meant


def test_a_command_that_is_like_none_is_sent_to_the_help(cutter: Cutter) -> None:
    assert json.loads(cutter("xyzzy", "--json").out)["next"] == "cutter --help"


def test_a_folder_that_cannot_be_written_is_no_bug(cutter: Cutter, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CUTTER_STATE_DIR", "/proc/cutter")
    told = cutter("up", "--json")
    found = json.loads(told.out)
    assert (told.code, found["code"], "bug" in told.err) == (5, "UNAVAILABLE", False)
    assert "cannot write in /proc/cutter" in found["message"]


@pytest.mark.parametrize("name", [(), *sorted({words[:1] for words in names()}), *sorted(names())], ids=" ".join)
def test_help_fits_80_columns_and_shows_every_option_whole(name: tuple[str, ...], cutter: Cutter) -> None:
    told = cutter(*name, "--help")
    assert (told.code, "…" in re.sub(r"[ =]\S*…", "", told.out), "<bool>" in told.out) == (0, False, False)
    assert name == () or "completion" not in told.out
    command: Any = cli.app()
    for word in name:
        command = command.get_command(None, word)
    options = [
        flag for param in command.params for flag in (*param.opts, *param.secondary_opts) if flag.startswith("-")
    ]
    assert [flag for flag in options if not re.search(rf"(?<![\w-]){re.escape(flag)}(?![\w-])", told.out)] == []


def test_the_version_has_a_short_option(cutter: Cutter) -> None:
    assert cutter("-V").out == cutter("--version").out != ""


def test_a_result_that_failed_has_the_fields_of_a_failure_and_keeps_its_own_next_command() -> None:
    made = as_failure({"state": "failed_mark", "next": "cutter void R"}, code="failed_mark", message="see `cutter x`")
    assert made == {"state": "failed_mark", "next": "cutter void R", "code": "failed_mark", "message": "see `cutter x`"}
    assert as_failure({}, code="c", message="see `cutter status`")["next"] == "cutter status"


def commands_of_the_pages() -> list[tuple[str, str]]:
    """(Page, command) of every `cutter` line in a code block of the documentation, and in backticks."""
    pages = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    found = []
    for page in pages:
        text = page.read_text(encoding="utf-8")
        blocks = "\n".join(re.findall(r"^```[a-z]*\n(.*?)^```", text, flags=re.M | re.S))
        lines = re.findall(r"^(?:\$ )?(cutter [^\n#|>]+)", blocks, flags=re.M)
        found += [(str(page.relative_to(ROOT)), line.strip()) for line in lines]
    return found


@pytest.mark.parametrize(("page", "command"), commands_of_the_pages(), ids=lambda one: str(one)[:60])
def test_every_command_of_the_documentation_can_be_typed(page: str, command: str) -> None:
    import shlex

    words = shlex.split(command.removesuffix("\\").replace("…", "X"))[1:]
    found: Any = cli.app()
    context = None
    while hasattr(found, "list_commands") and words and not words[0].startswith("-"):
        under = found.get_command(context, words[0])
        if under is None:
            break
        found, words = under, words[1:]
    assert not hasattr(found, "list_commands") or found.invoke_without_command or not words, (page, command)
    known = {flag for param in found.params for flag in (*param.opts, *param.secondary_opts)} | {"--help", "--debug"}
    assert [word for word in words if word.startswith("--") and word.partition("=")[0] not in known] == [], page


def test_an_option_that_was_mistyped_is_answered_with_the_whole_command_line(cutter: Cutter) -> None:
    told = cutter("stop", "ICX-1", "--raeson", "a b")
    assert told.err == "no such option: --raeson: did you mean `cutter stop ICX-1 --reason 'a b'`?\n"
    found = json.loads(cutter("run", "ICX-1", "--prioriti=5", "--wait", "--json").out)
    assert found["next"] == "cutter run ICX-1 --priority=5 --wait"
    assert "(see `cutter run --help`)" in cutter("run", "ICX-1", "--nothing-near").err


def test_two_hyphens_alone_make_no_option_near(cutter: Cutter) -> None:
    assert "did you mean" not in cutter("law", "list", "--version", "1").err


def test_doctor_names_the_first_command_that_is_needed(cutter: Cutter, monkeypatch: pytest.MonkeyPatch) -> None:
    for remedy, command in (("cutter up", "cutter up"), ("`cutter up`; its log says why", "cutter up"), ("wait", None)):
        wrong = doctor_checks.Check(name="postgres", verdict=doctor_checks.Verdict.BAD, found="died", remedy=remedy)
        monkeypatch.setattr(doctor_checks, "all_checks", lambda *_, one=wrong: [one])
        assert json.loads(cutter("doctor", "--json").out)["next"] == command


def test_a_refused_choice_is_told_without_the_words_of_the_library(cutter: Cutter) -> None:
    told = cutter("law", "export", "ICX-1", "--form", "xml")
    assert told.code == 2
    assert "Invalid value for '--form': 'xml' is not one of 'markdown'" in " ".join(told.err.split())
