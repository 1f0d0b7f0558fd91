"""Cleaning a text that was cut into pages gives the text again, or names what stays; other texts do not change."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from cutter.marking.page_lines import Cleaning, without_pages

WORDS = ("the", "minister", "shall", "publish", "every", "permit", "of", "our", "water", "board", "within", "days")
LETTERS = str.maketrans("0123456789", "abcdefghij")
STYLES = ("of_pages", "page_word", "dashes", "bare", "breaks", "breaks_and_number")
HEADS = (["WATER ACT"], ["WATER ACT", "Official Gazette of 4 May 2020"], [])


@st.composite
def laws(draw: st.DrawFn) -> list[str]:
    """A law in lines of plain text, with articles, lists, a table and lone numbers."""
    lines = ["An Act about water", ""]
    for article in range(1, draw(st.integers(6, 14)) + 1):
        lines += [f"Article {article}. Title of the article", ""]
        for _ in range(draw(st.integers(1, 3))):
            words = draw(st.lists(st.sampled_from(WORDS), min_size=30, max_size=90))
            # The word that each line begins with is in no other line, as is usual in the text of a law.
            for at in range(0, len(words), 12):
                lines.append(" ".join([str(len(lines)).translate(LETTERS), *words[at : at + 12]]))
            lines[-1] += "."
        lines += draw(st.sampled_from(([], ["1", "2", "3"], ["| 1 | 2 |", "| 3 | 4 |"], ["(1) one;", "(2) two."])))
        lines.append("")
    return lines


def paged(lines: list[str], style: str, head: list[str], size: int) -> tuple[str, set[int]]:
    """The lines on pages, and the numbers of the inserted lines. No page ends next to a blank line or another end."""
    pages, at = [], 0
    while at < len(lines):
        end = at + size
        while end < len(lines) and not (lines[end - 1][:1].isalpha() and lines[end][:1].islower()):
            end += 1
        pages.append(lines[at:end])
        at = end
    text, inserted = list[str](), set[int]()
    for number, page in enumerate(pages, 1):
        foot = {
            "of_pages": [f"{number} of {len(pages)}"], "page_word": [f"Page {number}"], "dashes": [f"- {number} -"],
            "bare": [str(number)], "breaks": [], "breaks_and_number": [f"     {number}"],
        }[style]  # fmt: skip
        top = head if number > 1 else []
        first = len(text) + 1
        text += [*top, *page, *foot]
        inserted |= set(range(first, first + len(top))) | set(range(len(text) - len(foot) + 1, len(text) + 1))
        if style.startswith("breaks") and number > 1:
            text[first - 1] = f"\f{text[first - 1]}"
    return "\n".join(text) + "\n", inserted


@given(laws(), st.sampled_from(STYLES), st.sampled_from(HEADS), st.integers(14, 30))
def test_a_paged_text_becomes_the_text_again_or_each_line_that_stays_is_named(
    lines: list[str], style: str, head: list[str], size: int
) -> None:
    text, inserted = paged(lines, style, head, size)
    made = without_pages(text.encode())

    removed = {removal.line for removal in made.removed if removal.kind in ("page_line", "page_number", "blank_line")}
    assert removed <= inserted
    assert {removal.kind for removal in made.removed} <= {"page_line", "page_number", "page_break"}
    if removed == inserted:
        assert made.data.decode() == "\n".join(lines) + "\n"
    pages = text.count("\f") or len(inserted) // (len(head) + 1)
    if pages > 3 and style != "bare" and (made.removed or style != "dashes"):
        named = {kept.line for kept in made.kept}
        assert inserted <= removed | named


@given(laws())
def test_a_text_without_pages_does_not_change(lines: list[str]) -> None:
    data = "\n".join(lines).encode()
    made = without_pages(data)
    assert (made.data, made.removed) == (data, ())


PIECES = st.sampled_from(
    ("1", "2", "3", "- 2 -", "- 3 -", "1 de 2", "2 de 2", "\f", "\fHEAD", "HEAD LINE", "Article 1. A", "# Head", "",
     "word con-", "stitution", "constitution", "soft\u00ad", "  ly said", "softly", "| 1 |", "x\r", "---", "é " * 300)
)  # fmt: skip


@given(st.lists(PIECES, max_size=60), st.booleans())
def test_only_the_listed_bytes_are_removed(lines: list[str], ends: bool) -> None:
    data = ("\n".join(lines) + "\n" * ends).encode()
    made = without_pages(data)
    assert made.data == _without_listed(data, made)
    assert made == without_pages(data)
    whole = [removal.text for removal in made.removed if removal.kind in ("page_line", "page_number")]
    assert not any("#" in text or text.startswith("Article") for text in whole)


def _without_listed(data: bytes, made: Cleaning) -> bytes:
    rest, at = b"", 0
    for removal in made.removed:
        assert at <= removal.start < removal.end <= len(data)
        assert data.count(b"\n", 0, removal.start) + 1 == removal.line
        rest, at = rest + data[at : removal.start], removal.end
    return rest + data[at:]
