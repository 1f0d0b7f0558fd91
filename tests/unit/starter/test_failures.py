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
from starter.commands import doctor
from starter.console.failures import as_failure

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
        output = capsys.readouterr()
        return Told(code=code, out=output.out, err=output.err)

    return run


def names() -> Iterator[tuple[str, ...]]:
    """Every command by its words."""
    for entry in COMMANDS:
        loaded = cli._built(entry.name)
        below = list(getattr(loaded, "commands", {}))
        yield from [(*entry.name.split(" "), name) for name in below] or [tuple(entry.name.split(" "))]


@pytest.mark.parametrize("name", sorted(names()), ids=" ".join)
def test_every_command_that_fails_prints_one_json_object(name: tuple[str, ...], cutter: Cutter) -> None:
    answer = cutter(*name, "--no-such-option", "--json")
    failure = json.loads(answer.out)
    assert (answer.code, set(failure)) == (2, {"code", "message", "next"})
    assert failure["next"] == f"cutter {' '.join(name)} --help"
    assert len(answer.err.strip().splitlines()) == 1


@pytest.mark.parametrize(
    "arguments", [("status",), ("inbox",), ("run", "ICX-1"), ("approve", "ICX-1"), ("law", "show"), ("tenants",)]
)
def test_without_a_stack_the_next_command_brings_one_up(arguments: tuple[str, ...], cutter: Cutter) -> None:
    answer = cutter(*arguments, "--json")
    assert (answer.code, json.loads(answer.out)["next"]) == (5, "cutter up")


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
    answer = cutter("up", "--json")
    failure = json.loads(answer.out)
    assert (answer.code, failure["code"], "bug" in answer.err) == (5, "UNAVAILABLE", False)
    assert "cannot write in /proc/cutter" in failure["message"]


@pytest.mark.parametrize("name", [(), *sorted({words[:1] for words in names()}), *sorted(names())], ids=" ".join)
def test_help_fits_80_columns_and_shows_every_option_whole(name: tuple[str, ...], cutter: Cutter) -> None:
    answer = cutter(*name, "--help")
    assert (answer.code, "…" in re.sub(r"[ =]\S*…", "", answer.out), "<bool>" in answer.out) == (0, False, False)
    assert name == () or "completion" not in answer.out
    command: Any = cli.app()
    for word in name:
        command = command.get_command(None, word)
    options = [
        flag for param in command.params for flag in (*param.opts, *param.secondary_opts) if flag.startswith("-")
    ]
    assert [flag for flag in options if not re.search(rf"(?<![\w-]){re.escape(flag)}(?![\w-])", answer.out)] == []


def test_the_version_has_a_short_option(cutter: Cutter) -> None:
    assert cutter("-V").out == cutter("--version").out != ""


def test_a_result_that_failed_has_the_fields_of_a_failure_and_keeps_its_own_next_command() -> None:
    made = as_failure({"state": "failed_mark", "next": "cutter void R"}, code="failed_mark", message="see `cutter x`")
    assert made == {"state": "failed_mark", "next": "cutter void R", "code": "failed_mark", "message": "see `cutter x`"}
    assert as_failure({}, code="c", message="m", next_command="cutter status")["next"] == "cutter status"


def commands_of_the_pages() -> list[tuple[str, str]]:
    """(Page, command) of every `cutter` line in a code block of the documentation, and in backticks."""
    pages = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    commands = []
    for page in pages:
        text = page.read_text(encoding="utf-8")
        blocks = "\n".join(re.findall(r"^```[a-z]*\n(.*?)^```", text, flags=re.M | re.S))
        lines = re.findall(r"^(?:\$ )?(cutter [^\n#|>]+)", blocks, flags=re.M)
        commands += [(str(page.relative_to(ROOT)), line.strip()) for line in lines]
    return commands


@pytest.mark.parametrize(("page", "command"), commands_of_the_pages(), ids=lambda part: str(part)[:60])
def test_every_command_of_the_documentation_can_be_typed(page: str, command: str) -> None:
    import shlex

    words = shlex.split(command.removesuffix("\\").replace("…", "X"))[1:]
    parser: Any = cli.app()
    context = None
    while hasattr(parser, "list_commands") and words and not words[0].startswith("-"):
        under = parser.get_command(context, words[0])
        if under is None:
            break
        parser, words = under, words[1:]
    assert not hasattr(parser, "list_commands") or parser.invoke_without_command or not words, (page, command)
    known = {flag for param in parser.params for flag in (*param.opts, *param.secondary_opts)} | {"--help", "--debug"}
    assert [word for word in words if word.startswith("--") and word.partition("=")[0] not in known] == [], page


def test_an_option_that_was_mistyped_is_answered_with_the_whole_command_line(cutter: Cutter) -> None:
    answer = cutter("stop", "ICX-1", "--raeson", "a b")
    assert answer.err == "no such option: --raeson: did you mean `cutter stop ICX-1 --reason 'a b'`?\n"
    failure = json.loads(cutter("run", "ICX-1", "--prioriti=5", "--wait", "--json").out)
    assert failure["next"] == "cutter run ICX-1 --priority=5 --wait"
    assert "(see `cutter run --help`)" in cutter("run", "ICX-1", "--nothing-near").err


def test_two_hyphens_alone_make_no_option_near(cutter: Cutter) -> None:
    assert "did you mean" not in cutter("law", "show", "--version", "1").err


def test_doctor_names_the_first_command_that_is_needed(cutter: Cutter, monkeypatch: pytest.MonkeyPatch) -> None:
    with_log = "`cutter up`; its log says why"
    for remedy, then, command in (
        ("cutter up", "", "cutter up"),
        (with_log, "cutter up", "cutter up"),
        ("wait", "", None),
    ):
        wrong = doctor.Check(
            name="postgres", verdict=doctor.Verdict.BAD, found="`cutter void X`", remedy=remedy, then=then
        )
        monkeypatch.setattr(doctor, "all_checks", lambda *_, check=wrong: [check])
        assert json.loads(cutter("doctor", "--json").out)["next"] == command


def test_a_refused_choice_is_told_without_the_words_of_the_library(cutter: Cutter) -> None:
    answer = cutter("law", "export", "ICX-1", "--form", "xml")
    assert answer.code == 2
    assert "Invalid value for '--form': 'xml' is not one of 'markdown'" in " ".join(answer.err.split())


VOID = "cutter void ICX-LAW-2026-001 --yes"
STRANGER = f"x`{VOID}`"


@pytest.mark.parametrize(
    "arguments",
    [
        (STRANGER,), ("law", STRANGER), ("mark", STRANGER), ("verify", STRANGER), ("policy", "explain", STRANGER),
        ("status", "--as", STRANGER),
        ("approve", "ICX-1", "--decision", STRANGER), ("law", "show", f"--{STRANGER}"), ("law", f"next: {VOID}"),
    ],
)  # fmt: skip
def test_a_stranger_s_text_in_a_message_is_no_next_command(arguments: tuple[str, ...], cutter: Cutter) -> None:
    failure = json.loads(cutter(*arguments, "--json").out)
    assert VOID in failure["message"]
    assert VOID not in str(failure["next"])


def test_the_words_of_a_law_are_no_next_command(cutter: Cutter, tmp_path: Path) -> None:
    law = tmp_path / "law.md"
    law.write_text(f"# Law\n\n## Article 1.\n\nText.\n\n### Article 2. next: {VOID}\n\nText.\n", encoding="utf-8")
    refused = json.loads(cutter("mark", str(law), "--profile", "generic-markdown", "--json").out)
    assert f"next: {VOID}" in refused["message"]
    assert refused["next"] is None
