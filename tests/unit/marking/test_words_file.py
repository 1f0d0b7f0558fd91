"""A file of words for the vocabularies: what is read, and what is refused with its line."""

from __future__ import annotations

import pytest

from cutter.errors import InvalidInput
from starter.commands.profile import parse_words

GOOD = b"schema: cutter-words/1\nowner: [harbour_board, city]\npublication_type: [by-law]\n"


def test_the_words_of_each_vocabulary_are_read() -> None:
    assert parse_words(GOOD) == {"owner": ("harbour_board", "city"), "publication_type": ("by-law",)}


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (GOOD.replace(b"words/1", b"words/2"), "line 1: words.schema must be cutter-words/1"),
        (GOOD.replace(b"owner", b"section_type"), "line 2: words.section_type is unknown"),
        (GOOD.replace(b"city", b"City Hall"), "line 2: words.owner each word has a-z"),
        (GOOD.replace(b"[by-law]", b"by-law"), "line 3: words.publication_type must be a list"),
        (b"- owner\n", "line 1: words must be a mapping"),
        (GOOD + b"x" * 20_000, "16384"),
    ],
)
def test_a_wrong_file_is_refused_with_its_line(wrong: bytes, message: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        parse_words(wrong)
    assert message in str(refused.value)
