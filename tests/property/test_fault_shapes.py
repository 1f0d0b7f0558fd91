"""Every generated variant of a fault is refused with its kind, and the law that it was made from is not."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from cutter.limits import GIANT_UNIT_BYTES
from cutter.marking import Marking, MarkRefusal, Options, load_profile, mark

ALL = Options(duplicates="ordinal", empty="heading_only", max_candidates=10_000)
WORDS = st.sampled_from(["Article", "Art.", "Artículo", "Artikel", "§", "Điều", "ARTICLE"])
CHAPTERS = st.sampled_from(["Chapter", "Kapitel", "Capítulo", "Chapitre", "CHAPTER"])
TITLES = st.sampled_from(["Scope", "Anzeigepflicht", "Duty to report", "Ámbito de aplicación", "Điều khoản"])
FOREIGN = st.sampled_from(
    [
        "Hoofdstuk {}", "Artikel {}.", "Artigo {}", "Art. {}º Fica", "Článek {}", "Стаття {}.", "Статья {}",
        "Artykuł {}",
        "Madde {}", "Pasal {}", "제{}조(목적) 이", "第{}条\u3000目的",
        "Άρθρο {}", "Articolo {}", "มาตรา {}", "Artikla {}",
    ]
)  # fmt: skip
MARKS = st.sampled_from(["{}", "**{}**", "__{}__", "\u00a0{}", "  {}", "**{}.**", "\u00a0\u00a0**{}**", "    {}"])
OWN_TEXT = "Text of it.\n\n"
DRAWN = settings(deadline=None, max_examples=50)


def red(text: str, profile: str = "generic-markdown") -> set[str]:
    """Kinds of the red findings for which a text is refused."""
    answer = mark(text.encode(), profile=load_profile(profile), docprefix="LAW", options=ALL)
    if isinstance(answer, Marking):
        return set()
    assert isinstance(answer, MarkRefusal)
    return {finding.code for finding in answer.findings} or {answer.code}


def law(word: str, count: int, *, depth: int = 2, start: int = 1) -> list[str]:
    """Articles, each a heading and its text."""
    return [f"{'#' * depth} {word} {number}\n\n{OWN_TEXT}" for number in range(start, start + count)]


@DRAWN
@given(word=WORDS, count=st.integers(3, 30), data=st.data())
def test_an_article_without_its_hashes_is_found(word: str, count: int, data: st.DataObject) -> None:
    articles = law(word, count)
    at = data.draw(st.integers(1, count - 1))
    assert red("".join(articles)) == set()
    articles[at] = (
        data.draw(MARKS.filter(lambda form: form != "    {}")).format(articles[at].split("\n")[0][3:]) + "\n\nx\n\n"
    )
    assert red("".join(articles)) == {"heading_absorbed"}


@DRAWN
@given(word=WORDS, title=TITLES, count=st.integers(3, 30), data=st.data())
def test_a_titled_article_without_its_hashes_is_found_at_its_line(
    word: str, title: str, count: int, data: st.DataObject
) -> None:
    articles = [f"## {word} {number} {title}\n\nText of it.\n\n" for number in range(1, count + 1)]
    at = data.draw(st.integers(1, count - 2))
    articles[at] = articles[at].removeprefix("## ")
    answer = mark("".join(articles).encode(), profile=load_profile("generic-markdown"), docprefix="LAW", options=ALL)
    assert isinstance(answer, MarkRefusal)
    assert [(finding.code, finding.line) for finding in answer.findings] == [("heading_absorbed", 4 * at + 1)]


@DRAWN
@given(word=WORDS, count=st.integers(4, 30), data=st.data())
def test_an_article_that_is_missing_is_found(word: str, count: int, data: st.DataObject) -> None:
    articles = law(word, count)
    at = data.draw(st.integers(1, count - 2))
    del articles[at]
    assert red("".join(articles)) == set()
    articles[at - 1] += f"As {word} {at + 1} says.\n\n"
    assert red("".join(articles)) == {"number_missing"}


@DRAWN
@given(word=WORDS, first=st.integers(5, 20), second=st.integers(5, 20), form=st.sampled_from(["{}.", "({})", "- {})"]))
def test_a_long_article_is_red_if_it_swallowed_the_list_of_another(
    word: str, first: int, second: int, form: str
) -> None:
    def items(count: int) -> str:
        size = GIANT_UNIT_BYTES // min(first, second) // 2
        return "".join(f"{form.format(number)} {'A rule. ' * (size // 8 + 4)}\n\n" for number in range(1, count + 1))

    articles = law(word, 5)
    articles[1] = articles[1].replace("Text of it.\n\n", items(first + second))
    assert red("".join(articles)) == set()
    articles[1] = law(word, 1, start=2)[0].replace("Text of it.\n\n", items(first) + items(second))
    assert red("".join(articles)) == {"giant_unit"}


@DRAWN
@given(word=WORDS, last=st.integers(2, 9), gap=st.integers(1, 9), short=st.booleans())
def test_a_gap_is_explained_by_a_note_that_names_all_of_it(word: str, last: int, gap: int, short: bool) -> None:
    named = f"{last + 1} to {last + gap - short}" if gap - short > 1 else f"{last + gap - short}"
    note = f"{{{word} {named} repealed by the Act of 1999}}\n\n"
    before = [*law(word, last), f"As {word} {last + gap} says.\n\n"]
    codes = red("".join([*before, note, *law(word, 3, start=last + gap + 1)]))
    assert codes == ({"number_missing"} if short else set())


@DRAWN
@given(word=WORDS, count=st.integers(4, 30), data=st.data())
def test_articles_that_changed_places_are_found(word: str, count: int, data: st.DataObject) -> None:
    articles = law(word, count)
    at = data.draw(st.integers(1, count - 2))
    articles[at], articles[at + 1] = articles[at + 1], articles[at]
    assert "number_backwards" in red("".join(articles))


@DRAWN
@given(form=FOREIGN, mark_=MARKS, count=st.integers(3, 30), start=st.integers(1, 9))
def test_a_law_in_a_form_that_the_profile_does_not_read_is_found(form: str, mark_: str, count: int, start: int) -> None:
    lines = [mark_.format(form.format(number)) + "\n\nText.\n\n" for number in range(start, start + count)]
    assert "looks_uncut" in red("# Law\n\n" + "".join(lines))


@DRAWN
@given(chapter=CHAPTERS, word=WORDS, sizes=st.lists(st.integers(1, 5), min_size=2, max_size=6), data=st.data())
def test_a_chapter_that_is_deeper_than_the_one_before_is_found(
    chapter: str, word: str, sizes: list[int], data: st.DataObject
) -> None:
    parts, start = [], 1
    for number, size in enumerate(sizes, 1):
        parts.append([f"## {chapter} {number}. Name\n\n", *law(word, size, depth=3, start=start)])
        start += size
    assert red("".join(piece for part in parts for piece in part)) == set()
    at = data.draw(st.integers(1, len(parts) - 1))
    parts[at][0] = "####" + parts[at][0][2:]
    assert red("".join(piece for part in parts for piece in part)) & {"nesting_differs", "number_missing"}


@DRAWN
@given(fence=st.sampled_from(["```", "~~~", "````text"]), word=WORDS, count=st.integers(2, 20), data=st.data())
def test_headings_that_a_fence_swallows_are_found(fence: str, word: str, count: int, data: st.DataObject) -> None:
    articles = law(word, count)
    at = data.draw(st.integers(1, count - 1))
    assert "heading_in_fence" in red("".join(articles[:at]) + f"{fence}\n" + "".join(articles[at:]))


@DRAWN
@given(sizes=st.lists(st.integers(2, 5), min_size=2, max_size=5))
def test_paragraphs_beside_articles_are_found_unless_they_count_again(sizes: list[int]) -> None:
    again = "".join(f"## Art {n}\n\nx\n\n" + "".join(law("§", size)) for n, size in enumerate(sizes, 1))
    assert red(again) == set()
    through, start = "", 1
    for n, size in enumerate(sizes, 1):
        through += f"## Art {n}\n\nx\n\n" + "".join(law("§", size, start=start))
        start += size
    assert red(through) == {"kinds_mixed"}


@DRAWN
@given(
    sources=st.lists(st.sampled_from(["TT.2", "TT.5", "NĐ.1", "QĐ.3"]), min_size=2, max_size=24),
)
def test_sources_of_a_codified_text_interleave_without_loss(sources: list[str]) -> None:
    counts: dict[str, int] = {}
    text = ""
    for source in sources:
        counts[source] = counts.get(source, 0) + 1
        text += f"Điều 1.12.{source}.{counts[source]}. Tên\n\nx\n\n"
    answer = mark(text.encode(), profile=load_profile("vietnamese-law"), docprefix="LAW", options=ALL)
    assert isinstance(answer, Marking)
    assert len(answer.candidates) == len(sources)


def tree(text: str) -> list[str]:
    """Addresses of the units of a text that is marked, without the prefix."""
    answer = mark(text.encode(), profile=load_profile("generic-markdown"), docprefix="LAW", options=ALL)
    assert isinstance(answer, Marking), answer
    return [unit.address.removeprefix("LAW/") for unit in answer.candidates]


@DRAWN
@given(
    annex=st.sampled_from(["Annex", "Anlage", "Anexo", "Annexe", "Schedule", "Phụ lục"]),
    form=st.sampled_from(["Application form", "Mẫu đơn", "Formulario", "Antragsformular"]),
    before=st.integers(1, 4),
    after=st.integers(1, 4),
    depths=st.tuples(st.integers(2, 4), st.integers(2, 4)),
)
def test_an_annex_after_a_form_belongs_to_the_law_and_one_that_is_only_a_form_is_found(
    annex: str, form: str, before: int, after: int, depths: tuple[int, int]
) -> None:
    first, then = depths
    annexes = "".join([*law("Article", 2), *law(annex, before, depth=first)])
    units = tree(
        f"{annexes}{'#' * first} {form}\n\nName:\n\n" + "".join(law(annex, after, depth=then, start=before + 1))
    )
    assert [unit for unit in units if "/" in unit] == []
    assert units[2 : 2 + before] + units[-after:] == [f"ANNEX-{number}" for number in range(1, before + after + 1)]
    only = f"{annexes.removesuffix(OWN_TEXT)}{'#' * (first + 1)} {form}\n\nName:\n\n"
    assert red(only + "".join(law(annex, after, depth=first, start=before + 1))) == {"heading_is_a_name"}


@DRAWN
@given(
    chapter=CHAPTERS,
    names=st.lists(TITLES, min_size=1, max_size=5),
    depths=st.tuples(st.integers(2, 3), st.integers(2, 3)),
    data=st.data(),
)
def test_a_chapter_and_its_name_are_one_unit_and_a_name_that_became_a_unit_is_found(
    chapter: str, names: list[str], depths: tuple[int, int], data: st.DataObject
) -> None:
    marks = ["#" * depth for depth in depths]
    parts = [
        [f"{marks[0]} {chapter} {at}", f"\n\n{marks[1]} {name}\n\n", *law("Article", 2, depth=4, start=2 * at - 1)]
        for at, name in enumerate(names, 1)
    ]
    below = [("", f"/ARTICLE-{2 * at - 1}", f"/ARTICLE-{2 * at}") for at in range(1, len(names) + 1)]
    units = tree("".join(piece for part in parts for piece in part))
    assert units == [f"CHAPTER-{at}{rest}" for at, rests in enumerate(below, 1) for rest in rests]
    at = data.draw(st.integers(0, len(parts) - 1))
    parts[at][0] += f". {names[at]}"
    assert "heading_is_a_name" in red("".join(piece for part in parts for piece in part))


@DRAWN
@given(word=WORDS, count=st.integers(1, 30), size=st.integers(GIANT_UNIT_BYTES, 2 * GIANT_UNIT_BYTES), data=st.data())
def test_a_unit_that_swallowed_its_neighbours_is_found_unless_it_is_a_table(
    word: str, count: int, size: int, data: st.DataObject
) -> None:
    articles = law(word, count)
    at = data.draw(st.integers(1, count))
    for line, codes in (("| place | rate |\n", set()), ("A sentence that nobody divided.\n", {"giant_unit"})):
        long = line * (size // len(line) + 1)
        assert red("".join([*articles[:at], f"{long}\n", *articles[at:]])) == codes
