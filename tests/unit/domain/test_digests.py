"""Canonical JSON, the writer's framing and hash chains: the same bytes for the same value, everywhere."""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from enum import IntEnum

import pytest

from cutter.domain.digests import (
    canonical_digest,
    canonical_json,
    chain,
    is_digest,
    sha256_hex,
    writer_digest,
    writer_line,
)

LINE = {
    "address": "LAW/A", "unit_kind": "law_unit", "section_type": "article", "publication_type": None, "owner": "o",
    "title": "T", "body_sha256": "0" * 64, "parent_address": None,
}  # fmt: skip


def line(**changes: str | None) -> str:
    return writer_line(**{**LINE, **changes})  # type: ignore[arg-type]


def test_canonical_json_is_sorted_tight_and_utf8() -> None:
    assert canonical_json({"b": [1, None, True], "a": "Điều"}) == '{"a":"Điều","b":[1,null,true]}'
    assert canonical_digest({"a": "é"}) == hashlib.sha256('{"a":"é"}'.encode()).hexdigest()


def test_keys_are_sorted_by_code_point() -> None:
    assert canonical_json({"é": 1, "z": 2, "Z": 3, "\U0001f600": 4, "\uffff": 5}).startswith(
        '{"Z":3,"z":2,"é":1,"\uffff"'
    )


@pytest.mark.parametrize(
    "value", [1.0, float("nan"), {"a": 1.5}, [1, [2, {"b": 0.1}]], ({"c": (0.0,)},), {"a": {"b": [float("inf")]}}]
)
def test_a_float_anywhere_is_refused(value: object) -> None:
    with pytest.raises(TypeError, match="float"):
        canonical_json(value)


class Fraction(float):
    """A float by another name."""


def test_a_float_by_another_name_is_refused() -> None:
    with pytest.raises(TypeError, match="float"):
        canonical_json([Fraction(1)])


@pytest.mark.parametrize("value", [{1: "a"}, {None: "a"}, {True: 1}, {"a": [{2: 3}]}, OrderedDict({3: 4})])
def test_a_key_that_is_no_string_is_refused(value: object) -> None:
    with pytest.raises(TypeError, match="keys"):
        canonical_json(value)


@pytest.mark.parametrize("value", [b"bytes", {1, 2}, object(), [b"x"]])
def test_what_json_does_not_know_is_refused(value: object) -> None:
    with pytest.raises(TypeError):
        canonical_json(value)


class Level(IntEnum):
    """A number by another name."""

    ONE = 1


def test_numbers_by_another_name_are_their_numbers() -> None:
    assert canonical_json([Level.ONE, True]) == "[1,true]"


def test_tuples_are_lists_and_order_of_making_is_nothing() -> None:
    assert canonical_json((1, (2,))) == canonical_json([1, [2]])
    assert canonical_digest({"a": 1, "b": 2}) == canonical_digest({"b": 2, "a": 1})


def test_text_is_not_normalised() -> None:
    """Whoever needs NFC checks it; a digest that changed its input would bind something else than what is stored."""
    assert canonical_digest("é") != canonical_digest("e\u0301")


@pytest.mark.parametrize("text", ["0" * 63, "0" * 65, "G" * 64, "A" * 64, "0" * 64 + "\n", "", "٠" * 64])
def test_only_64_lower_case_hex_characters_are_a_digest(text: str) -> None:
    assert not is_digest(text)
    assert is_digest(sha256_hex(text))


def test_bytes_and_their_text_have_one_digest() -> None:
    assert sha256_hex("Luật".encode()) == sha256_hex("Luật")


def test_the_writer_digest_is_framed_by_a_version_line() -> None:
    expected = "LAW/A\x1flaw_unit\x1farticle\x1f\x1fo\x1fT\x1f" + "0" * 64 + "\x1f"
    assert line() == expected
    assert writer_digest([expected]) == hashlib.sha256(f"writer/1\n{expected}".encode()).hexdigest()
    assert writer_digest([]) == hashlib.sha256(b"writer/1").hexdigest()


@pytest.mark.parametrize("field", [name for name in LINE if name != "parent_address"])
@pytest.mark.parametrize("evil", ["\x1f", "\n", "a\nwriter/1"])
def test_no_field_of_a_line_may_hold_a_separator(field: str, evil: str) -> None:
    with pytest.raises(ValueError, match=r"U\+001F"):
        line(**{field: evil})


def test_a_value_cannot_move_into_the_field_beside_it() -> None:
    assert line(owner="a", title="bc") != line(owner="ab", title="c")
    assert line(publication_type="law", owner="x") != line(publication_type=None, owner="lawx")


def test_lines_are_ordered_by_the_bytes_of_their_address() -> None:
    """COLLATE "C": '-' (2D) before '/' (2F) before letters, and beyond ASCII by code point."""
    addresses = ["LAW/B", "LAW/A/C", "LAW/A-1", "LAW/A", "LAW/Đ", "LAW/\uffff", "LAW/\U0001f600", "LAW/a"]
    lines = [line(address=address) for address in addresses]
    ordered = sorted(lines, key=lambda entry: entry.split("\x1f")[0].encode())
    assert [entry.split("\x1f")[0] for entry in ordered] == sorted(addresses)
    assert writer_digest(lines) == writer_digest(reversed(lines)) == sha256_hex("\n".join(["writer/1", *ordered]))


def test_a_chain_binds_what_came_before() -> None:
    first = chain(sha256_hex("run"), "a")
    assert chain(first, "b") == sha256_hex(first + "b")
    assert chain(first, "b") != chain(chain(sha256_hex("run"), "x"), "b")
