"""The house does not grow: its size, the ways through it, and what people can type."""

from __future__ import annotations

from tests.architecture import house


def test_no_row_of_the_table_is_above_its_limit() -> None:
    now = house.table()
    assert now.keys() == house.LIMITS.keys()
    assert {row: (now[row], most) for row, most in house.LIMITS.items() if now[row] > most} == {}
