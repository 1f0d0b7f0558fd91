"""What the commands about enacted law show of a text."""

from __future__ import annotations

from datetime import date

import pytest

from cutter.law.views import EXCERPT_WORDS, excerpt, folded, legal_time, tree_view
from tests.cases.law_cases import law_text, unit, version


@pytest.mark.parametrize(
    ("words", "shown"),
    [("thu thu", "b) *Thủ thư* là"), ("thư", "thư b) *Thủ"), ("zebra", "a) Một thư")],
)
def test_an_excerpt_shows_the_place_where_the_words_follow_each_other(words: str, shown: str) -> None:
    text = "a) Một thư b) *Thủ thư* là người " + "xem " * EXCERPT_WORDS
    assert shown in excerpt(text, words)


def test_an_excerpt_is_cut_on_both_sides() -> None:
    text = "a " * 30 + "lamp " + "b " * 30
    assert excerpt(text, "LAMP") == f"… {'a ' * EXCERPT_WORDS}lamp{' b' * EXCERPT_WORDS} …"


def test_words_are_compared_without_case_and_accents() -> None:
    assert [folded(word) for word in ("Luật", "ĐIỀU", "Straße", "Ørsted")] == ["luat", "dieu", "straße", "orsted"]


def test_legal_time_has_an_end_only_where_there_is_one() -> None:
    assert legal_time(version()) == "from 2026-01-01"
    assert legal_time(version(effective_until=date(2026, 7, 1))) == "from 2026-01-01 until 2026-07-01"


def test_a_tree_has_depths_and_no_text() -> None:
    rows = tree_view(law_text(unit("A"), unit("B", parent="A", order=2)))["tree"]
    assert [(row["depth"], row["title"]) for row in rows] == [(0, "A"), (1, "B")]
    assert "body" not in rows[0]
