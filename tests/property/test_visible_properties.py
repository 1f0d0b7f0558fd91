"""What is shown of any text: nothing hidden, nothing active, nothing lost."""

from __future__ import annotations

import json
import re
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cutter.domain import markdown
from cutter.domain.visible import is_hidden, json_text, json_visible, visible, visible_line
from tests.support.hostile import MARKUP, STRINGS, SURROGATE, bare_addresses, leaks, live, shape

odd = st.sampled_from([*STRINGS.values(), SURROGATE, "\n", "``", "](", "_", " "])
texts = st.lists(st.one_of(st.text(max_size=12), st.text("#*_`[]()!<>|\\:/-+.=~ \n@w1x", max_size=12), odd), max_size=5)
anything = texts.map("".join)

BODY = "harmless"
FORMS = {
    "field": "reason: {}",
    "item": "- {}",
    "named item": "- name: {}",
    "paragraph": "{}",
    "heading": "# {} · stop route",
}


@given(anything)
def test_no_hidden_character_is_shown_as_it_is(text: str) -> None:
    assert leaks(visible(text)) == []
    assert leaks(visible_line(text)) == []
    assert "\n" not in visible_line(text)


@given(anything)
def test_every_hidden_character_can_be_read_from_its_code(text: str) -> None:
    again = re.sub("⟨U\\+([0-9A-F]{4,6})⟩", lambda match: chr(int(match[1], 16)), visible_line(text))
    assert again == re.sub("⟨U\\+([0-9A-F]{4,6})⟩", lambda match: chr(int(match[1], 16)), text)


@given(st.text(st.characters(categories=("L", "N", "P", "S", "Zs", "Mn")), max_size=30))
def test_what_a_reader_sees_is_left_as_it_is(text: str) -> None:
    assert visible(text) == "".join(
        character if not is_hidden(character) else f"⟨U+{ord(character):04X}⟩" for character in text
    )
    assert visible("Điều 1. Über § 2 – « façade » 3 €") == "Điều 1. Über § 2 – « façade » 3 €"


def test_every_character_of_unicode_is_judged_by_its_category_or_as_a_filler() -> None:
    for code in range(0x110000):
        expected = bool(leaks(chr(code))) or code == 0x0A
        assert is_hidden(chr(code)) is expected, f"U+{code:04X} {unicodedata.category(chr(code))}"


@given(st.recursive(anything, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(anything, inner, max_size=3)))
def test_json_keeps_its_value_and_hides_nothing(value: object) -> None:
    for shown in (json_text(value), json_text(value, indent=2), json_visible(json.dumps(value, ensure_ascii=False))):
        assert json.loads(shown) == value
        assert leaks(shown) == []


@given(anything, st.sampled_from(sorted(FORMS)))
def test_no_text_changes_what_a_document_is_built_of(text: str, form: str) -> None:
    check_forms(text, form)


@given(anything)
def test_no_text_leaves_its_cell_of_a_table(text: str) -> None:
    check_cells(text)


@given(anything)
def test_a_code_span_holds_its_text_or_is_escaped(text: str) -> None:
    check_code(text)


@given(st.lists(anything, min_size=1, max_size=3))
def test_no_text_leaves_its_code_block(lines: list[str]) -> None:
    check_block(lines)


@pytest.mark.parametrize("name", sorted(STRINGS))
def test_each_known_trick_fails_in_every_place_of_a_document(name: str) -> None:
    for text in (STRINGS[name], f"a {STRINGS[name]} b", f"a{STRINGS[name]}"):
        for form in FORMS:
            check_forms(text, form)
        check_cells(text)
        check_code(text)
        check_block([text])


def check_forms(text: str, form: str) -> None:
    for shown in (markdown.escape(text), markdown.prose(text)):
        document = FORMS[form].format(shown or BODY)
        assert shape(document) == shape(FORMS[form].format(BODY))
        assert leaks(document) == []
        assert bare_addresses(document.split("\n")) == []


def check_cells(text: str) -> None:
    table = "| a | b |\n|---|---|\n| {} | {} |"
    for shown in (markdown.escape(text), markdown.cell(text)):
        assert shape(table.format(shown or BODY, BODY)) == shape(table.format(BODY, BODY))


def check_code(text: str) -> None:
    table = "| {} |\n|---|\n| x |"
    shown = markdown.code(text)
    assert live(shown) == []
    assert leaks(shown) == []
    assert shape(table.format(shown)) in (shape(table.format("x")), shape(table.format("`x`")))


def check_block(lines: list[str]) -> None:
    document = "\n".join(["before", "", *markdown.fenced(lines, "json"), "after"])
    assert shape(document) == shape("before\n\n```json\nx\n```\n\nafter")
    assert leaks(document) == []


@pytest.mark.parametrize("text", sorted(MARKUP.values()))
def test_markup_of_others_is_letters(text: str) -> None:
    assert live(f"reason: {markdown.escape(text)}") == live(f"- {markdown.prose(text)}") == []


@pytest.mark.parametrize("text", ["3 of 3", "SG_cut_authz: passed", "{'created': 3}", "['a_b', 'c_d']", "x/y-1.gpg"])
def test_harmless_texts_of_reports_need_no_escape(text: str) -> None:
    assert markdown.cell(text) == text


def test_a_report_that_was_sealed_before_renders_to_the_same_words() -> None:
    assert markdown.prose("a registered version: 'cutter source add FILE --profile PROFILE'").endswith("PROFILE'")
    assert markdown.prose("the same writer_digest in run ictr-1") == "the same writer_digest in run ictr-1"
