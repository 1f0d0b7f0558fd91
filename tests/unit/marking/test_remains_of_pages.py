"""The remains of pages in a text: what is removed, what stays and is named, and which words are joined."""

from __future__ import annotations

import pytest

from cutter.marking.page_lines import without_pages

HEAD = ("LEY DE AGUAS", "CÁMARA DE DIPUTADOS Última Reforma DOF 01-04-2024")


def body(page: int, lines: int = 12) -> list[str]:
    """A page of a sentence that goes on, whose lines occur once."""
    words = ("primera", "segunda", "tercera", "cuarta", "quinta", "sexta", "novena")
    return [f"la parte {words[page % 7]} {'x' * (page + 1)} de la concesión {'y' * (line + 1)} que sigue en el artículo"
            for line in range(lines)]  # fmt: skip


def lines_of(*pages: list[str]) -> bytes:
    return "\n".join(line for page in pages for line in page).encode() + b"\n"


@pytest.mark.parametrize(
    "foot", ["{n} de 5", "Página {n} de 5", "Page {n} of 5", "{n} / 5", "- {n} -", "{n}", "Pág. {n}"]
)
def test_numbers_that_count_pages_and_the_heads_next_to_them_are_removed(foot: str) -> None:
    pages = [[*(HEAD if page else ()), *body(page), foot.format(n=page + 1)] for page in range(5)]
    made = without_pages(lines_of(*pages))
    assert made.data == lines_of(*(body(page) for page in range(5)))
    assert made.counts == {"page_line": 8, "page_number": 5}


def test_pages_between_form_feeds_have_heads_that_count_and_no_blank_line_within_a_sentence() -> None:
    pages = [[f"{'' if page == 0 else chr(12)}{page + 7} DIARIO OFICIAL Lunes 4 de mayo de 2020", "", *body(page), ""]
             for page in range(4)]  # fmt: skip
    made = without_pages(lines_of(*pages))
    assert made.data.decode().split() == lines_of(*(body(page) for page in range(4))).decode().split()
    assert b"\f" not in made.data
    assert made.data.count(b"\n\n") == 1  # below the removed head of the first page, where no sentence continues


def test_the_head_of_the_first_page_stays_and_is_named_because_it_can_be_the_title() -> None:
    pages = [[*HEAD, *body(page), f"{page + 1} de 5"] for page in range(5)]
    made = without_pages(lines_of(*pages))
    assert made.data.startswith(lines_of(list(HEAD)))
    assert [kept.line for kept in made.kept] == [1, 2]


def test_between_form_feeds_the_head_of_the_first_page_stays_too() -> None:
    pages = [[f"{chr(12) if page else ''}{HEAD[0]}", *HEAD[1:], *body(page)] for page in range(5)]
    made = without_pages(lines_of(*pages))
    assert made.data.startswith(lines_of(list(HEAD)))
    assert made.data.count(HEAD[0].encode()) == 1


@pytest.mark.parametrize(
    "heading", ["# Aguas", "Artículo 3", "CAPÍTULO II", "| 1 | 2 |", "**Artículo 3.** Agua", "Pasal 3", "§ 3 Wasser"]
)
def test_a_heading_or_a_row_of_a_table_stays_at_each_edge(heading: str) -> None:
    pages = [[heading, *body(page), f"{page + 1} de 6"] for page in range(6)]
    made = without_pages(lines_of(*pages))
    assert made.data.decode().split("\n").count(heading) == 6


def test_articles_that_are_lone_numbers_stay_and_are_named() -> None:
    articles = [[str(number), *(f"{line}." for line in body(number))] for number in range(1, 9)]
    data = lines_of(*articles)
    made = without_pages(data)
    assert (made.data, made.removed) == (data, ())
    assert [kept.text for kept in made.kept] == [str(number) for number in range(1, 9)]


def test_the_numbers_of_rows_stay() -> None:
    data = lines_of(*([str(row), f"bridge {'x' * row}"] for row in range(1, 90)))
    assert without_pages(data).data == data


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        ("la constitu-\n  ción rige. La constitución.", "la constitución rige. La constitución."),
        ("la constitu\u00ad\nción rige.", "la constitución rige."),
        ("la constitu-\r\nción rige. La constitución.", "la constitución rige. La constitución."),
        ("LA CONSTITU-\nCIÓN rige. La constitución.", "LA CONSTITUCIÓN rige. La constitución."),
    ],
)
def test_a_word_that_is_certainly_one_is_joined(text: str, clean: str) -> None:
    assert without_pages(text.encode()).data.decode() == clean


@pytest.mark.parametrize(
    "text",
    ["la constitu-\nción rige.", "socio-\neconómico, socioeconómico, socio-económico", "undang-\nundang, undangundang",
     "técnico-\nA. Letra", "| constitu-\nción constitución"],
)  # fmt: skip
def test_a_hyphen_that_can_belong_to_the_word_stays(text: str) -> None:
    assert without_pages(text.encode()).data.decode() == text


def test_a_hyphen_that_stays_is_named_and_a_word_is_joined_across_pages() -> None:
    first = [f"ción {'v' * (page + 1)}. La constitución es libre-" for page in range(5)]
    last = [f"{'u' * (page + 1)} la constitu-" for page in range(5)]
    pages = [[*HEAD, first[page], *body(page), last[page], f"{page + 1} de 5"] for page in range(5)]
    made = without_pages(lines_of(*pages))
    assert made.counts == {"hyphen": 4, "page_line": 8, "page_number": 5}
    assert b"constitu-\nci" not in made.data
    assert any("without the hyphen" in kept.why for kept in made.kept)
