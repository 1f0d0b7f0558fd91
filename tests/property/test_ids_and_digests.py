"""For any text: an id is taken exactly when it is of its rule; a digest depends on the value alone."""

from __future__ import annotations

import json
import string

from hypothesis import given
from hypothesis import strategies as st

from cutter.domain import ids
from cutter.domain.digests import canonical_digest, canonical_json, writer_digest, writer_line

ALLOWED = string.ascii_uppercase + string.digits + "-"
CLEAN = st.text(st.characters(exclude_characters="\n\x1f", exclude_categories=["Cs"]), max_size=20)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(st.characters(exclude_categories=["Cs"]), max_size=10),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.text(st.characters(exclude_categories=["Cs"]), max_size=6), inner, max_size=4)
    ),
    max_leaves=20,
)


def parsed(parse: object, text: str) -> bool:
    try:
        return parse(text) == text  # type: ignore[operator]
    except ids.InvalidId:
        return False


@given(st.text(max_size=70) | st.text(ALLOWED, max_size=70))
def test_a_document_id_is_taken_exactly_by_its_rule(text: str) -> None:
    assert parsed(ids.document_id, text) == (3 <= len(text) <= 64 and all(character in ALLOWED for character in text))


@given(st.text(max_size=40) | st.text(ALLOWED, max_size=40) | st.text(ALLOWED, max_size=8).map("DIEU".__add__))
def test_a_docprefix_is_taken_exactly_by_its_rule(text: str) -> None:
    rule = 3 <= len(text) <= 32 and all(character in ALLOWED for character in text) and text != "ICX-CONST"
    assert parsed(ids.docprefix, text) == (rule and "-" not in (text[0], text[-1]) and not text.startswith("DIEU"))


@given(st.lists(st.text("ab./\\~-_ \x00é", max_size=4), max_size=6).map("/".join).map(lambda text: text + ".md"))
def test_a_kb_id_never_leaves_the_root(text: str) -> None:
    if parsed(ids.kb_id, text):
        parts = text.split("/")
        assert ".." not in parts
        assert "." not in parts
        assert "" not in parts
        assert text.isascii()
        assert "\\" not in text


@given(JSON)
def test_canonical_json_gives_the_value_back_and_has_one_form(value: object) -> None:
    text = canonical_json(value)
    assert json.loads(text) == value
    assert canonical_json(json.loads(text)) == text


@given(st.dictionaries(st.text(max_size=5), st.integers(), max_size=8), st.randoms(use_true_random=False))
def test_a_digest_does_not_depend_on_the_order_of_keys(value: dict[str, int], random: object) -> None:
    keys = list(value)
    random.shuffle(keys)  # type: ignore[attr-defined]
    try:
        assert canonical_digest({key: value[key] for key in keys}) == canonical_digest(value)
    except UnicodeEncodeError:  # a lone surrogate has no UTF-8
        assert any("\ud800" <= character <= "\udfff" for key in keys for character in key)


@given(st.lists(CLEAN, min_size=1, max_size=8, unique=True), st.randoms(use_true_random=False))
def test_a_writer_digest_does_not_depend_on_the_order_of_rows(addresses: list[str], random: object) -> None:
    lines = [
        writer_line(
            address=address, unit_kind="k", section_type="s", publication_type=None, owner="o", title="t",
            body_sha256="0" * 64, parent_address=None,
        )
        for address in addresses
    ]  # fmt: skip
    shuffled = list(lines)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert writer_digest(shuffled) == writer_digest(lines)
    assert writer_digest(lines) != writer_digest(lines[1:])


@given(CLEAN, CLEAN, CLEAN, CLEAN)
def test_two_different_rows_have_two_lines(owner: str, title: str, other_owner: str, other_title: str) -> None:
    def line(text: str, two: str) -> str:
        return writer_line(
            address="A", unit_kind="k", section_type="s", publication_type=None, owner=text, title=two, body_sha256="",
            parent_address=None,
        )  # fmt: skip

    assert (line(owner, title) == line(other_owner, other_title)) == ((owner, title) == (other_owner, other_title))
