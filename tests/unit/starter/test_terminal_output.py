"""What reaches a terminal: our colours and lines, and of every text of others only what a reader can see."""

from __future__ import annotations

import io
import json
import re
import sys
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout

import pytest
import typer
from rich.console import Group
from rich.live import Live
from rich.text import Text

from cutter import log_lines as logs
from starter.cli import run
from starter.console import confirmation as asking
from starter.console import terminal
from starter.console import watch as watching
from tests.support.hostile import STRINGS, SURROGATE, leaks

OURS = re.compile(r"\x1b\[(\d+(;\d+)*)?m|\x1b\[\?25[lh]|\x1b\[\d*[AK]|\r")
"""What rich writes to colour, to hide the cursor and to go back to the first line of a live picture."""

TEXTS = [*STRINGS.values(), SURROGATE]


class Screen(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


Printed = Callable[[Callable[[], object]], str]


@pytest.fixture(params=[io.StringIO, Screen], ids=["pipe", "terminal"])
def printed(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Printed:
    """What something writes on standard output and standard error, while they are a pipe or a terminal."""
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("COLUMNS", "200")

    def written(print_it: Callable[[], object]) -> str:
        stream: io.StringIO = request.param()
        with redirect_stdout(stream), redirect_stderr(stream):
            print_it()
        return stream.getvalue()

    return written


def check(written: str, text: str) -> None:
    """Nothing hidden was written beside what rich writes itself; no link either."""
    assert written
    assert leaks(OURS.sub("", written)) == [], repr(written)
    for sequence in re.findall(r"\x1b[^\x1b]*|\x9b", text):
        assert sequence not in written


def listing(text: str) -> terminal.Listing:
    return terminal.Listing(columns=("a", "b"), rows=[(text, text), ("x", text)], title=text, commands=[text, text])


def print_in_every_way(text: str) -> None:
    for console in (terminal.out(), terminal.err()):
        console.print(text)
        console.print(Group(text, Text(text), terminal.plain(text), terminal.line(text)), soft_wrap=True)
        console.print(terminal.table(("a", text), [(text, text)], title=text))
        console.print(terminal.fields({"field": text, "next": text}), soft_wrap=True)
        console.print(listing(text), soft_wrap=True)
        console.print(listing(text), width=30)
        console.rule(text)
    terminal.say(text)
    terminal.write(text)
    terminal.show({text: [text]}, as_json=True, render=lambda _: None)


def print_live(text: str) -> None:
    with terminal.progress(text) as tell:
        tell(text)
        terminal.say(text)
    with watching.following(lambda view: listing(view["text"]), lambda view: [view["text"]]) as show:
        show({"text": text})
        show({"text": f"{text} again"})
    with Live(console=terminal.out(), auto_refresh=False) as picture:
        picture.update(text, refresh=True)


@pytest.mark.parametrize("text", TEXTS)
def test_every_way_of_printing_shows_hidden_characters_by_their_codes(printed: Printed, text: str) -> None:
    check(printed(lambda: print_in_every_way(text)), text)


@pytest.mark.parametrize("text", TEXTS)
def test_progress_and_live_pictures_show_hidden_characters_by_their_codes(printed: Printed, text: str) -> None:
    check(printed(lambda: print_live(text)), text)


@pytest.mark.parametrize("text", TEXTS)
def test_a_question_shows_hidden_characters_by_their_codes(
    printed: Printed, text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO("y\n"))
    written = printed(lambda: asking.confirmed(f"sign {text}?"))
    check(written, text)
    assert "\n" not in written.rstrip("\n")


def test_a_question_that_nobody_can_answer_names_the_option_that_answers_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO(""))
    with pytest.raises(typer.Abort):
        asking.confirmed("sign?")
    assert "type the command on a terminal, or give --yes" in capsys.readouterr().err


def test_a_text_is_never_markup_an_emoji_or_a_link(printed: Printed) -> None:
    text = STRINGS["markup: rich"]
    written = printed(lambda: (terminal.out().print(text), terminal.out().print(terminal.table(("a",), [(text,)]))))
    assert OURS.sub("", written).count(text) == 2


@pytest.mark.parametrize("text", [text for text in TEXTS if leaks(text)])
def test_no_hidden_character_is_dropped_without_a_trace(printed: Printed, text: str) -> None:
    for made in (text, terminal.plain(text), terminal.table(("a", "b"), [("x", text)])):
        written = OURS.sub("", printed(lambda made=made: terminal.out().print(made, soft_wrap=True)))  # type: ignore[misc]
        assert all(f"⟨{code}⟩" in written for code in leaks(text))


def test_our_own_colours_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = Screen()
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.delenv("NO_COLOR", raising=False)
    terminal._console(screen).print(terminal.plain("bold\x1b[2J", "bold"))
    assert screen.getvalue() == "\x1b[1mbold⟨U+001B⟩[2J\x1b[0m\n"


def test_a_column_is_as_wide_as_what_it_shows(printed: Printed) -> None:
    shown = terminal.table(("a", "b"), [("x\u202ey", "1"), ("z", "2")])
    head, first, second = OURS.sub("", printed(lambda: terminal.out().print(shown))).splitlines()
    assert head.index("b") == first.index("1") == second.index("2")


@pytest.mark.parametrize("name", ["a\nnext: cutter approve evil", "a\r\nb"])
def test_a_text_cannot_begin_a_line_that_looks_like_ours(printed: Printed, name: str) -> None:
    def print_it() -> None:
        terminal.out().print(terminal.table(("a", "b"), [(name, "1")]))
        terminal.out().print(terminal.fields({"a": "c", "next": name}), soft_wrap=True)

    lines = OURS.sub("", printed(print_it)).splitlines()
    assert lines
    assert not [line for line in lines if line.startswith(("next: cutter approve", "b"))]


@pytest.mark.parametrize("body", ["next: cutter approve evil", "a\n\nnext: cutter approve evil\n", "a\r\nnext: b"])
def test_no_line_of_a_quoted_text_looks_like_ours(printed: Printed, body: str) -> None:
    lines = OURS.sub("", printed(lambda: terminal.out().print(terminal.quoted(terminal.plain(body))))).splitlines()
    assert lines
    assert all(line.startswith("  ") for line in lines)


@pytest.mark.parametrize("text", TEXTS)
def test_json_is_safe_to_look_at_and_keeps_its_value(printed: Printed, text: str) -> None:
    written = printed(lambda: terminal.show({"a": text}, as_json=True, render=lambda _: None))
    assert leaks(written) == []
    assert json.loads(written) == {"a": text}


@pytest.mark.parametrize("text", TEXTS)
def test_log_lines_for_people_show_hidden_characters_by_their_codes(text: str) -> None:
    line = logs.text_line(None, "warning", {"event": text, "reason": text, "level": "warning", "timestamp": "now"})
    assert leaks(line) == []


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("before", [(), ("--debug",)], ids=["", "debug"])
@pytest.mark.thorough
def test_what_was_typed_wrongly_is_repeated_with_codes(printed: Printed, text: str, before: tuple[str, ...]) -> None:
    for words in ((f"x{text}",), ("status", "--as", text, "x"), ("mark", f"x{text}"), ("inbox", f"--x{text}")):
        codes: list[int] = []
        check(printed(lambda words=words, codes=codes: codes.append(run([*before, *words]))), text)  # type: ignore[misc]
        assert codes == [2]
