"""P22, small: what its search finds, what it lets stand, its judge; tests/acceptance has a stack full of canaries."""

from __future__ import annotations

import base64
from pathlib import Path

import pytest

from tests.campaigns import p22_canaries as p22
from tests.cases import canary_cases as cases
from tests.cases.canary_cases import word
from tests.support.processes import wait


def test_p22_finds_a_word_in_any_case_a_password_and_nothing_else() -> None:
    finds = p22.Search({b"a password": "cutter_exec"})
    finds.look("logs", f"x{word('quotation').upper()}y zq0000000000", "one.log")
    finds.look("logs", b"\xff a password\x00", "two.log")
    assert finds.seen == {("quotation", "logs"): "one.log", ("cutter_exec", "logs"): "two.log"}
    assert finds.searched == {"logs": 2}


def test_p22_reads_what_a_history_has_as_base64() -> None:
    data = base64.b64encode(word("bold").encode()).decode()
    assert list(p22.decoded({"events": [{"payload": {"data": data}}, {"id": 7, "name": "no base64"}]})) == [
        word("bold")
    ]


@pytest.mark.parametrize(
    ("inside", "names"),
    [
        ("kb/a/00-snapshot.md", cases.LAWS),
        ("kb/a/05-request.md", cases.LAWS),
        ("artifacts/evidence/a.tar", cases.APPROVALS),
        ("kb/a/11-report.md", set()),
        ("runs/a/snapshot.md", set()),
        ("logs/worker-cutter.log", set()),
    ],
)
def test_p22_lets_a_law_stand_in_its_snapshot_and_its_headings_where_people_sign(inside: str, names: set[str]) -> None:
    assert p22.allowed(Path(inside)) == names


def test_p22_puts_more_than_sixty_words_each_its_own() -> None:
    assert len(cases.CANARIES) == len(cases.LAWS) + len(cases.APPROVALS) + len(cases.SECRETS) > 60
    text = cases.filled(cases.TEXT)
    assert b"{" not in text
    assert all(text.count(word(name).encode()) == 1 for name in cases.names_in(cases.TEXT))


def test_p22_keeps_a_file_that_is_gone_a_moment_later(tmp_path: Path) -> None:
    (folder := tmp_path / "t").mkdir()
    (keep := tmp_path / "kept").mkdir()
    with p22.kept(folder, keep):
        (folder / "passing").write_text("said")
        wait(lambda: list(keep.iterdir()), seconds=10, what="a second name")
        (folder / "passing").unlink()
    assert [path.read_text() for path in keep.iterdir()] == ["said"]


def test_p22_fails_by_one_word_one_other_way_and_a_control_that_misses_a_place() -> None:
    every, clean, leak = set(p22.SINKS), p22.Search(), p22.Search()
    leak.look("logs", word("bold"), "one.log")
    assert p22.summary(clean, [], control=every).accepted
    assert not p22.summary(leak, [], control=every).accepted
    assert not p22.summary(clean, ["a queue with a password was taken"], control=every).accepted
    assert not p22.summary(clean, [], control=every - {"temporary files"}).accepted
