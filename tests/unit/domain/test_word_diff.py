"""The diff by word: both texts come back from it, and it shows a changed word and no changed sentence."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cutter import limits
from cutter.domain.word_diff import brief, marked, word_diff


def earlier(before: str, after: str) -> str:
    return "".join(piece.text for piece in word_diff(before, after) if piece.kind != "added")


def later(before: str, after: str) -> str:
    return "".join(piece.text for piece in word_diff(before, after) if piece.kind != "removed")


TEXTS = st.text(alphabet="ab c\n.,ểđ§法律กำ", max_size=60)


@given(TEXTS, TEXTS)
def test_both_texts_come_back(before: str, after: str) -> None:
    assert earlier(before, after) == before
    assert later(before, after) == after


@pytest.mark.parametrize(
    ("before", "after", "shown"),
    [
        ("The fee is ten euros.", "The fee is twelve euros.", "The fee is [-ten-]{+twelve+} euros."),
        ("Same.", "Same.", "Same."),
        ("", "New.", "{+New.+}"),
        ("Mọi người có quyền.", "Mọi công dân có quyền.", "Mọi [-người-]{+công dân+} có quyền."),
        ("国民有权利", "公民有权利", "[-国-]{+公+}民有权利"),
        ("§ 3 gilt", "§ 4 gilt", "§ [-3-]{+4+} gilt"),
    ],
)
def test_a_changed_word_is_shown_in_its_sentence(before: str, after: str, shown: str) -> None:
    assert marked(word_diff(before, after)) == shown


def test_only_the_words_next_to_a_change_are_shown() -> None:
    long = "word " * 50
    assert (
        marked(brief(word_diff(f"{long}old {long}", f"{long}new {long}"), 10)) == "…word word [-old-]{+new+} word word…"
    )


def test_texts_with_too_many_words_are_shown_as_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "WORD_PAIRS_COMPARED_MAX", 3)
    assert marked(word_diff("x a b y", "x c b y")) == "x [-a-]{+c+} b y"
    assert marked(word_diff("x a b d y", "x c b e y")) == "x [-a b d-]{+c b e+} y"
