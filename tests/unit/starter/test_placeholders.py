"""A printed command has words in the place of a person's own, and no command takes such a word as an answer."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from starter import cli
from starter.cli import STANDS_FOR

ROOT = Path(__file__).parents[3]
RUN = "ictr-20261121T090000Z-0199f1de-7c3d-7e4f-8a9b-0c1d2e3f4a5b"
LAW = str(ROOT / "starter/laws/reading-rooms-act.en.md")

_PRINTED = re.compile(r"\bcutter [a-z][^`\n]*")
_OPTION = re.compile(r"(--[a-z-]+) ([A-Z][A-Z0-9]+(?:=[A-Z]+(?:\.asc)?)?)(?![\w-])")
NO_TEXT = {("--explain", "LINE")}
"""The option takes a number, which no word is."""


@pytest.mark.parametrize(
    "arguments",
    [
        ("mark", LAW, "--accept", "x:LAW/A", "--because", "TEXT"),
        ("mark", LAW, "--accept", "x:LAW/A", "--accept", "x:LAW/B", "--because", "it is so", "--because", "TEXT"),
        ("source", "add", LAW, "--document-id", "ICX-1", "--accept", "x:LAW/A", "--because", "TEXT"),
        ("source", "add", LAW, "--document-id", "ICX-1", "--correction", "--reason", "TEXT"),
        ("repeal", "ICX-1", "--reason", "TEXT"),
        ("stop", RUN, "--reason", "TEXT"),
        ("cancel", RUN, "--reason=TEXT"),
        ("void", RUN, "--reason", " TEXT "),
        ("approve", RUN, "--decision", "acknowledge_drift", "--reason", "TEXT"),
        ("reject", RUN, "--reason", "say why"),
        ("revoke", RUN, "--approval", "ab", "--reason", "TEXT"),
        ("approve", RUN, "--decision", "resume", "--reason", "TEXT"),
        ("approve", "--batch", "0199f1de", "--decision", "include_failed", "--reason", "TEXT"),
    ],
    ids=lambda arguments: arguments[0],
)
def test_the_word_in_the_place_of_a_reason_is_no_reason(
    arguments: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    code = cli.run(arguments)
    assert code == 2
    assert "this word stands for a reason in your own words; type that instead" in capsys.readouterr().err


def test_a_family_of_commands_refuses_them_too(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["approvers", "init", "--approver", "NAME=KEY.asc"]) == 2
    assert "stands for a name and the file of its public key" in capsys.readouterr().err


def test_a_heading_with_such_a_word_can_still_be_forbidden(capsys: pytest.CaptureFixture[str]) -> None:
    cli.run(["mark", LAW, "--forbid", "TEXT"])
    assert "stands for" not in capsys.readouterr().err


def test_every_word_that_a_printed_command_gives_an_option_is_known() -> None:
    files = [path for folder in ("cutter", "starter", "activities") for path in (ROOT / folder).rglob("*.py")]
    printed = {
        option
        for path in files
        for command in _PRINTED.findall(path.read_text(encoding="utf-8"))
        for option in _OPTION.findall(command)
    }
    assert len(printed) >= 8
    assert {option for option in printed if option[1] not in STANDS_FOR} == NO_TEXT
