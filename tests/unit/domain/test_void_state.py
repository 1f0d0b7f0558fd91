"""The state a void ends in: a few plain words of the reason, whatever was written as one."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cutter import limits
from cutter.domain.run_state import void_state


@pytest.mark.parametrize(
    ("reason", "state"),
    [
        ("wrong source", "voided_wrong_source"),
        ("  Wrong   SOURCE! ", "voided_wrong_source"),
        ("Văn bản sai, đã thay", "voided_van_ban_sai_da_thay"),
        ("falsches Maß", "voided_falsches_mass"),
        ("__a__b__", "voided_a_b"),
        ("x" * 60, "voided_" + "x" * limits.VOID_WORDS_CHARACTERS_MAX),
        ("the annex was missing from the text that was sent", "voided_the_annex_was_missing_from_the_text_that"),
        ("錯", "voided_by_order"),
        ("?!", "voided_by_order"),
        ("", "voided_by_order"),
        ("Cancelled.", "voided_cancelled_by_order"),
        ("cancelled by mistake", "voided_cancelled_by_mistake"),
    ],
)
def test_a_reason_gives_whole_plain_words(reason: str, state: str) -> None:
    assert void_state(reason) == state


@given(st.text(max_size=200) | st.text("ab _-.é", max_size=200))
def test_any_reason_gives_a_bounded_state_that_no_unsigned_cancel_has(reason: str) -> None:
    state = void_state(reason)
    assert re.fullmatch(r"voided_[a-z0-9]+(_[a-z0-9]+)*", state)
    assert len(state) <= len("voided_") + limits.VOID_WORDS_CHARACTERS_MAX
    assert state != "voided_cancelled"
