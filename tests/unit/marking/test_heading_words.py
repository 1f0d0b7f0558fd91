"""The words of headings: each word of the table counts for the readers that its row names."""

from __future__ import annotations

from collections import Counter

import pytest

from cutter.marking import vocabulary
from cutter.marking.heading_lines import likely_heading, read_line
from cutter.marking.lines import read_lines
from cutter.marking.vocabulary import ROLES, found_words, role_of


@pytest.mark.parametrize(
    ("line", "kind", "role"),
    [
        ("Article 5", "article", "article"),
        ("Sec. 5", "section", "article"),
        ("Paragraaf 5", "section", "subsection"),
        ("5. jaotis", "section", "subsection"),
        ("Madde 5", "article", None),
        ("Division 5", "division", None),
        ("Rule 5", None, "article"),
        ("Liite 5", None, "annex"),
        ("第5条", "article", "article"),
        ("第5篇", None, "part"),
        ("제5조", "article", None),
    ],
)
def test_each_reader_knows_the_words_of_its_rows(line: str, kind: str | None, role: str | None) -> None:
    heading = read_line(line.encode())
    likely = likely_heading(0, read_lines(line.encode(), 0, len(line.encode())))
    suggested = role_of(likely.word) if likely else None

    assert (heading.kind if heading else None) == kind
    assert (suggested.name if suggested else None) == role


@pytest.mark.parametrize(("line", "kind"), [("5 pants", "article"), ("pants 5", None), ("5 Článek", None)])
def test_the_findings_expect_a_word_on_its_side_of_the_number(line: str, kind: str | None) -> None:
    heading = read_line(line.encode())

    assert (heading.kind if heading else None) == kind


def test_no_reader_has_a_word_twice() -> None:
    for after in (False, True):
        uses = Counter(word for words in found_words(after=after).values() for word in words)
        assert uses.most_common(1)[0][1] == 1, uses
    roles: dict[str, set[str]] = {}
    for row in vocabulary._TABLE:
        for word in row.words.split(", ") if row.role else ():
            roles.setdefault(word.casefold(), set()).add(row.role)
    assert all(len(names) == 1 and names <= ROLES.keys() for names in roles.values()), roles
