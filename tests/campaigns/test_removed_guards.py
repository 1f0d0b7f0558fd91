"""P24, small: a few guards of the pure part, and its judge."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.campaigns import p24_removed_guards as p24
from tests.campaigns.guards import GUARDS, Guard

SMALL = ("step 6: revoked", "tries without end", "a key twice")
"""Of pure files, so that each takes a second."""


def test_p24_a_test_turns_red_when_its_guard_is_gone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    guards = [guard for guard in GUARDS if guard.what in SMALL]
    nothing = Guard(what="x", file=guards[0].file, old=guards[0].old, new=guards[0].old + " ", test=guards[0].test)
    summary = p24.run(seed=1, out=tmp_path / "p24.jsonl", guards=guards, jobs=2)
    with capsys.disabled():
        print("", *summary.lines(), sep="\n")
    assert summary.accepted, list(summary.lines())
    assert summary.counts["removals that a test has seen"] == len(SMALL)
    with p24.copied() as copy:
        assert p24.trial(nothing, copy)["said"] == p24.GREEN


def test_p24_fails_by_a_guard_that_is_gone_a_broken_test_a_red_control_or_too_many_unseen() -> None:
    row = {"guard": "x", "file": "a/b.py", "test": "t", "said": p24.RED, "seconds": 1}
    unseen, gone = {**row, "said": p24.GREEN}, {**row, "said": p24.GONE}
    assert p24.summary([*[row] * 49, unseen], tests=9, control=p24.GREEN).accepted
    assert not p24.summary([*[row] * 48, unseen], tests=9, control=p24.GREEN).accepted
    assert not p24.summary([*[row] * 99, gone], tests=9, control=p24.GREEN).accepted
    assert not p24.summary([*[row] * 99, {**row, "said": "exit 2"}], tests=9, control=p24.GREEN).accepted
    assert not p24.summary([row], tests=9, control=p24.RED).accepted


def test_p24_a_test_that_cannot_run_is_neither_red_nor_green(tmp_path: Path) -> None:
    (tmp_path / "tests").mkdir()
    for name, text, verdict in (
        ("skipped", "import pytest\n\ndef test_it(): pytest.skip('x')", "exit 0"),
        ("unset", "def test_it(no_such_fixture): pass", "exit 1"),
        ("unread", "import no_such_module", "exit 2"),
    ):
        (tmp_path / "tests" / f"test_{name}.py").write_text(text)
        assert p24.judged(tmp_path, [f"test_{name}.py"]).startswith(verdict), name


def test_p24_two_changes_of_one_size_are_two_changes(tmp_path: Path) -> None:
    """Python takes a compiled file for the one of a source with the same size and time."""
    (tmp_path / "tests").mkdir()
    (tmp_path / "answers.py").write_text("ONE, TWO = 1, 2\n")
    for name in ("one", "two"):
        text = f"import answers\n\ndef test_it(): assert answers.{name.upper()} == {[1, 2][name == 'two']}\n"
        (tmp_path / "tests" / f"test_{name}.py").write_text(text)
    # pytest leaves the folder of the tests in the path, and the answers are next to it.
    (tmp_path / "conftest.py").write_text("")
    for name, old, new in (("one", "= 1,", "= 5,"), ("two", ", 2\n", ", 5\n")):
        guard = Guard(what=name, file="answers.py", old=old, new=new, test=f"test_{name}.py::test_it")
        assert p24.trial(guard, tmp_path)["said"] == p24.RED, name
