"""The table of guards is not out of date: each guard is in its file, and its test exists."""

from __future__ import annotations

from dataclasses import replace

from tests.campaigns import p24_removed_guards as p24
from tests.campaigns.guards import GUARDS, Guard


def wrong(guard: Guard) -> str:
    """What is wrong with a row of the table; empty if nothing is."""
    file, _, name = guard.test.partition("::")
    if (p24.ROOT / guard.file).read_text(encoding="utf-8").count(guard.old) != 1 or guard.new == guard.old:
        return "its text is not exactly once in its file"
    test = f"def {name.partition('[')[0]}("
    return "" if test in (p24.ROOT / "tests" / file).read_text(encoding="utf-8") else "its test does not exist"


def test_each_guard_of_p24_is_where_the_table_says_and_its_test_exists() -> None:
    assert {(guard.file, guard.what): why for guard in GUARDS if (why := wrong(guard))} == {}


def test_a_guard_that_moved_or_lost_its_test_is_seen() -> None:
    guard = GUARDS[0]
    assert wrong(replace(guard, old=f"{guard.old} no such text")) == "its text is not exactly once in its file"
    assert wrong(replace(guard, test=f"{guard.test.partition('::')[0]}::test_nobody")) == "its test does not exist"


def test_p24_has_sixty_guards_and_each_once() -> None:
    assert len({(guard.file, guard.what) for guard in GUARDS}) == len(
        {(guard.file, guard.old, guard.new) for guard in GUARDS}
    )
    assert len({(guard.file, guard.what) for guard in GUARDS}) == len(GUARDS) >= 60
