"""The index of the search: what enters it, and that no text keeps a law from its enactment."""

from __future__ import annotations

from typing import LiteralString

import pytest
from psycopg import errors

from cutter.storage.migrate import migrate_url
from tests.cases.trials import Dice
from tests.support.database import OWNER, ROLES, Database
from tests.support.runs import Stage

FOUND = "select count(*) from api.search('preamble')"
MOST: LiteralString = """
with text as (
    select string_agg(chr(131072 + n % 40000) || chr(131072 + n / 40000), ' ') as words
    from generate_series(1, 90000) n)
select length(cutter_governance.fn_search_words(left(words, 1000), words, 'law')) from text
"""
"""As many different words of four bytes a letter as 250,000 characters have."""

GRAMS: LiteralString = """
select json_agg(cutter_governance.fn_search_grams(form) order by n)
from unnest(%s::text[]) with ordinality as f (form, n)
"""
LETTERS = ("ab đ", "ab กไ", "中人民共和国宪法", "a𠀀 中")
CUT_AT = 300
"""Longer words are cut into pieces of so many letters, words of more than 30,000 into larger pieces first."""


def text(letters: str, length: int) -> str:
    """A text of so many of these letters."""
    dice = Dice(letters, length)
    return "".join(dice.choose(letters) for _ in range(length))


def grams(form: str) -> set[str]:
    """What fn_search_grams says that it returns."""
    words = form.split(" ")
    three = {word[n : n + 3] for word in words for n in range(len(word) - 2)}
    fewer = {word[n : n + size] for word in words for size in (1, 2) for n in range(len(word) - size + 1)}
    return three | {gram for gram in fewer if min(gram) >= "\u0e00"}


def test_migrate_enters_law_that_the_index_lacks(enacted_stage: Stage) -> None:
    with enacted_stage.clone() as database:
        database.run("truncate public.unit_search, public.search_word")
        assert database.value(FOUND) == 0
        assert migrate_url(database.url(OWNER)).applied == ()
        assert database.value(FOUND) == 0
        database.run("delete from cutter_ledger.definition where name = 'api.search'")
        assert migrate_url(database.url(OWNER)).applied == ("api/search.sql",)
        assert database.value(FOUND) == 1
        assert database.value("select cutter_governance.fn_search_fill()") == 0


def test_the_index_has_the_enacted_versions_and_no_draft(enacted_stage: Stage) -> None:
    with enacted_stage.clone() as database:
        assert database.value("select count(*) from public.unit_search") == enacted_stage.units
        assert database.value("select word from public.search_word where word = 'preamble'") == "preamble"


def test_the_words_of_any_text_can_be_entered(enacted_stage: Stage) -> None:
    with enacted_stage.clone() as database:
        assert 83_000 < database.value(MOST) < 84_000


@pytest.mark.parametrize("letters", LETTERS)
def test_the_grams_of_a_text_are_all_of_its_words(database: Database, letters: str) -> None:
    lengths = [*range(40), *(CUT_AT + more for more in (-2, -1, 0, 1, 2, CUT_AT))]
    forms = [text(letters, length) for length in lengths]
    gram_lists = database.value(GRAMS, (forms,))
    assert [sorted(gram_list) for gram_list in gram_lists] == [sorted(grams(form)) for form in forms]


def test_no_three_letters_of_a_long_word_are_lost(database: Database) -> None:
    word = "".join(map(chr, range(0x20000, 0x2A000)))
    [gram_list] = database.value(GRAMS, ([word],))
    assert set(gram_list) == grams(word)


@pytest.mark.parametrize("role", ROLES)
def test_no_role_reads_or_writes_the_index(enacted_stage: Stage, role: str) -> None:
    with enacted_stage.clone() as database, pytest.raises(errors.InsufficientPrivilege):
        database.value("select count(*) from public.unit_search", role=role)
