"""The table of guards is not out of date: each guard is in its file, and its test exists."""

from __future__ import annotations

import pytest

from tests.campaigns import p24_removed_guards as p24
from tests.campaigns.guards import GUARDS, Guard


@pytest.mark.parametrize("guard", GUARDS, ids=lambda guard: guard.what)
def test_each_guard_of_p24_stands_where_the_table_says_and_its_test_exists(guard: Guard) -> None:
    assert (p24.ROOT / guard.file).read_text(encoding="utf-8").count(guard.old) == 1
    assert guard.new != guard.old
    file, _, name = guard.test.partition("::")
    assert f"def {name.partition('[')[0]}(" in (p24.ROOT / "tests" / file).read_text(encoding="utf-8")


def test_p24_has_sixty_guards_and_each_once() -> None:
    assert len({(guard.file, guard.what) for guard in GUARDS}) == len(
        {(guard.file, guard.old, guard.new) for guard in GUARDS}
    )
    assert len({(guard.file, guard.what) for guard in GUARDS}) == len(GUARDS) >= 60
