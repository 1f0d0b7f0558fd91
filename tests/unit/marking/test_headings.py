"""Which lines are headings, and what their titles are (spec 01, "Real laws decide the rules")."""

from __future__ import annotations

import pytest

from cutter.limits import TITLE_CHARACTERS_MAX
from tests.unit.marking.texts import addresses, body, codes, cut, refused, titles


def test_front_matter_is_an_exclusion_of_its_own() -> None:
    text = "---\ntitle: x\n# a comment\n---\n# Article 1\ntext\n"
    marking = cut(text)
    assert [(piece.line, piece.reason) for piece in marking.exclusions] == [(1, "front_matter")]
    assert text[: marking.exclusions[0].end] == "---\ntitle: x\n# a comment\n---"
    assert titles(marking) == ["Article 1"]


def test_a_rule_at_the_start_is_no_front_matter() -> None:
    assert [piece.reason for piece in cut("---\n\nPreamble.\n\n# Article 1\nx\n---\n").exclusions] == [
        "before_first_unit"
    ]


def test_front_matter_without_an_end_is_text() -> None:
    marking = cut("---\ntitle: x\n# Article 1\nx\n")
    assert titles(marking) == ["Article 1"]
    assert [piece.reason for piece in marking.exclusions] == ["before_first_unit"]


def test_dashed_tables_make_no_headings() -> None:
    text = "# Article 1\n\nItem     Sum\n--------\nPens       3\n========\n"
    assert titles(cut(text)) == ["Article 1"]


@pytest.mark.parametrize("indent", ["", " ", "  ", "   "])
def test_a_heading_may_be_indented_by_three_spaces(indent: str) -> None:
    assert titles(cut(f"{indent}# Article 1\nx\n")) == ["Article 1"]


@pytest.mark.parametrize("indent", ["    ", "\t", " \t"])
def test_four_spaces_or_a_tab_make_code(indent: str) -> None:
    assert titles(cut(f"# Article 1\nx\n\n{indent}# Article 2\n")) == ["Article 1"]


@pytest.mark.parametrize(
    ("opening", "closing"), [("```", "```"), ("~~~~", "~~~~~"), ("  ```text", "```"), ("````", "````")]
)
def test_headings_inside_a_fence_are_text(opening: str, closing: str) -> None:
    text = f"# Article 1\n\n{opening}\n# Article 2\n```x\n{closing}\n\n# Article 3\nx\n"
    assert titles(cut(text)) == ["Article 1", "Article 3"]


def test_a_fence_is_not_closed_by_an_indented_line() -> None:
    text = "# Article 1\n```\n    ```\n# Article 2\n```\n# Article 3\nx\n"
    assert titles(cut(text)) == ["Article 1", "Article 3"]


def test_a_fence_that_never_ends_is_a_finding() -> None:
    marking = cut("# Article 1\nx\n```\n# Article 2\n")
    assert titles(marking) == ["Article 1"]
    assert codes(marking) == [("unclosed_block", 3), ("heading_in_fence", 4)]


def test_headings_inside_a_comment_are_text() -> None:
    text = "# Article 1\nx\n<!-- old\n# Article 2\n-->\n# Article 3\nx\n<!-- one line -->\n# Article 4\nx\n"
    assert titles(cut(text)) == ["Article 1", "Article 3", "Article 4"]


@pytest.mark.parametrize("line", ["##", "## ", "##\t", "## ##", "##   #", "## \u200b", "# \x01"])
def test_a_bare_heading_is_text_and_a_finding(line: str) -> None:
    marking = cut(f"# Article 1\nx\n{line}\ny\n")
    assert titles(marking) == ["Article 1"]
    assert ("bare_heading", 3) in codes(marking)


@pytest.mark.parametrize("line", ["#Article 1", "####### Article 1", "\\# Article 1", "- # Article 1", "> # Article 1"])
def test_what_only_looks_like_a_heading_is_text(line: str) -> None:
    assert titles(cut(f"# Article 9\nx\n\n{line}\n")) == ["Article 9"]


@pytest.mark.parametrize(
    ("written", "title"),
    [
        ("**Article 1** *On* `books` ##", "Article 1 On books"),
        ("[Article 1](https://a.example/x_(y)) of ![the](f.png) law", "Article 1 of the law"),
        ("Article 1 [the law][ref] and [^1] more", "Article 1 the law and more"),
        ("Article 1 \\*not\\* emphasised", "Article 1 *not* emphasised"),
        ("Article 1 5 * 3 snake_case_name", "Article 1 5 * 3 snake_case_name"),
        ("Article 1 __bold__ _it_", "Article 1 bold it"),
        ("Article 1 R&amp;D &#167; 2", "Article 1 R&D § 2"),
        ("Article 1 <b>x</b> <https://a.example>", "Article 1 x https://a.example"),
        ("Article 1 a\u00adb\u200bc\tdef", "Article 1 abc def"),
        ("Article 1 C#", "Article 1 C#"),
        ("****", "****"),
    ],
)
def test_a_title_is_the_heading_without_markup(written: str, title: str) -> None:
    assert titles(cut(f"# {written}\nx\n")) == [title]


def test_a_long_title_is_cut_at_a_word_and_whole_in_the_body() -> None:
    heading = "# Article 1 " + "word " * 100
    marking = cut(f"{heading}\ntext\n")
    unit = marking.candidates[0]
    assert len(unit.title) <= TITLE_CHARACTERS_MAX
    assert unit.title.endswith(" word")
    assert body(f"{heading}\ntext\n", marking, 0) == f"{heading}\ntext"
    assert ("title_cut", 1) in codes(marking)


def test_a_long_title_without_blanks_is_cut_hard() -> None:
    assert len(cut("# " + "x" * 400 + "\ntext\n").candidates[0].title) == TITLE_CHARACTERS_MAX


def test_lines_end_at_lf_and_nowhere_else() -> None:
    text = "# Article 1\r\na\rb\x0c# Article 2\u2028# Article 3\r\n# Article 4\r\nx"
    marking = cut(text)
    assert titles(marking) == ["Article 1", "Article 4"]
    assert [unit.line for unit in marking.candidates] == [1, 3]
    assert ("line_separator", 2) in codes(marking)
    assert body(text, marking, 0).startswith("# Article 1\r\na\rb")


def test_a_byte_order_mark_belongs_to_no_unit() -> None:
    marking = cut("\ufeff# Article 1\nx\n")
    assert marking.candidates[0].start == 3
    assert marking.non_content[0].kind == "byte_order_mark"


def test_zero_width_and_bidi_characters_in_a_body_are_findings() -> None:
    marking = cut("# Article 1\na\u200bb\u200b\n\u202eevil\n")
    assert codes(marking) == [("zero_width", 2), ("bidi", 3)]
    assert "2 invisible" in marking.findings[0].message


@pytest.mark.parametrize("heading", ["Article 1 \u202eevil", "Article 1 \u2066x", "Article 1 &#x202E;x", "A\u061c"])
def test_a_bidi_control_in_a_heading_refuses(heading: str) -> None:
    refusal = refused(f"text\n# {heading}\nx\n")
    assert (refusal.code, refusal.line) == ("bidi_in_heading", 2)


def test_a_bidi_control_far_out_in_a_heading_refuses() -> None:
    assert refused(f"# Article 1 {'x ' * 3000}\u202e\nx\n").code == "bidi_in_heading"


def test_a_bidi_control_in_a_title_on_its_own_line_refuses() -> None:
    assert refused("Article 1\n\n\u202eTitle\n\ntext\n", "eu-regulation").code == "bidi_in_heading"


def test_white_space_behind_a_unit_belongs_to_no_unit() -> None:
    text = "# Article 1\n\ntext  \n\n\n# Article 2\nx"
    marking = cut(text)
    assert body(text, marking, 0) == "# Article 1\n\ntext"
    assert [(gap.line, gap.kind) for gap in marking.non_content] == [(5, "blank")]


def test_text_before_the_first_heading_is_itemised() -> None:
    marking = cut("\nWe, the people.\n\n# Article 1\nx\n")
    assert [(piece.line, piece.reason, piece.status_basis) for piece in marking.exclusions] == [
        (2, "before_first_unit", "structure")
    ]


def test_very_long_lines_are_read_once() -> None:
    text = f"# Article 1\n{'[(' * 41_000}\n# {'*_[' * 27_000}\nx\n# Article 2\n{'a ' * 41_000}\n"
    assert len(cut(text).candidates) == 3
    assert addresses(cut(text))[0] == "ARTICLE-1"


@pytest.mark.parametrize("inserted", ["7<sup>1</sup>", "7¹", "7 - 1"])
def test_an_inserted_number_is_neither_the_one_before_nor_a_larger_one(inserted: str) -> None:
    text = f"## § 6\n\nx\n\n## § 7\n\nx\n\n## § {inserted}. Inserted\n\nx\n\n## § 8\n\nx\n"
    marking = cut(text)
    assert [unit.address for unit in marking.candidates] == ["LAW/PAR-6", "LAW/PAR-7", "LAW/PAR-7-1", "LAW/PAR-8"]
    assert marking.unaccepted == ()
