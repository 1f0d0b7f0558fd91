"""What is suggested for laws of each shape, and what a correction changes."""

from __future__ import annotations

import time

import pytest

from cutter.errors import InvalidInput
from cutter.marking import Marking, MarkRefusal, Options, mark, parse_profile
from cutter.marking.suggestion import Suggestion, suggest
from cutter.marking.suggestion.draft import FORMS, parse_corrections


def suggested(text: str, *refine: str) -> Suggestion:
    suggestion = suggest(text.encode(), docprefix="LAW", refine=refine)
    assert isinstance(suggestion, Suggestion), suggestion
    return suggestion


def addresses(suggestion: Suggestion) -> list[str]:
    assert isinstance(suggestion.result, Marking), suggestion.result
    return [unit.address.removeprefix("LAW/") for unit in suggestion.result.candidates]


def law(*paragraphs: str) -> str:
    return "\n\n".join(paragraphs) + "\n"


def body(numbers: int, word: str = "Article", text: str = "Some text of the law.") -> str:
    return "".join(f"{word} {number}. Aim {number}\n\n{text}\n\n" for number in range(1, numbers + 1))


def test_articles_in_plain_lines_are_found() -> None:
    suggestion = suggested("# Act\n\n" + body(4))
    assert addresses(suggestion)[1:] == ["ARTICLE-1", "ARTICLE-2", "ARTICLE-3", "ARTICLE-4"]
    assert suggestion.confidence == "high"


def test_a_cross_reference_at_the_start_of_a_line_is_no_article() -> None:
    text = body(3).replace("Some text", "As said in\nArticle 2 of this act.\nSome text")
    assert addresses(suggested(text)) == ["ARTICLE-1", "ARTICLE-2", "ARTICLE-3"]


def test_chapters_with_hashes_hold_the_articles_in_plain_lines() -> None:
    suggestion = suggested("# Act\n\n## Chapter I\n\nArticle 1. A\n\nx\n\n## Chapter II\n\nArticle 2. B\n\ny\n")
    assert addresses(suggestion)[1:] == ["CHAPTER-I", "CHAPTER-I/ARTICLE-1", "CHAPTER-II", "CHAPTER-II/ARTICLE-2"]


def test_a_word_that_no_table_knows_is_found_by_its_numbers() -> None:
    suggestion = suggested("".join(f"Regla {number}. Title\n\nText.\n\n" for number in (1, 2, 3)))
    assert [level.words for level in suggestion.levels] == [("Regla",)]
    assert addresses(suggestion) == ["REGLA-1", "REGLA-2", "REGLA-3"]


def test_the_first_word_of_a_title_after_a_number_is_no_level() -> None:
    suggestion = suggested(law("# Act", "## 1. Aim", "x", "## 2. Terms", "y", "## 3. Regulation of taxis", "z"))
    assert suggestion.levels == ()
    assert addresses(suggestion)[1:] == ["1", "2", "3"]


def test_numbers_that_do_not_count_up_make_no_level() -> None:
    text = (
        "# Act\n\n## Article 1\n\nIn 1990. Something.\nIn 1967. Something.\nIn 1980. More.\n\n## Article 2\n\nText.\n"
    )
    assert [level.words for level in suggested(text).levels] == [("Article",)]


def test_an_inserted_article_has_its_letter_after_a_blank() -> None:
    suggestion = suggested(law("1 §", "x", "2 §", "x", "2 a §", "x", "2 b §", "x", "3 §", "x"))
    assert addresses(suggestion) == ["PAR-1", "PAR-2", "PAR-2-A", "PAR-2-B", "PAR-3"]


def test_a_text_may_follow_a_number_and_its_sign() -> None:
    text = law("1 kap. Inledning", "1 § Denna lag gäller.", "1 a § Lagen gäller inte allt.",
               "2 § Med saker avses ting.", "2 § andra stycket gäller inte.", "2 kap. Tillsyn", "1 § Tillsyn utövas.",
               "2 § Beslut fattas.")  # fmt: skip
    suggestion = suggested(text)
    assert addresses(suggestion) == ["KAP-1", "KAP-1/PAR-1", "KAP-1/PAR-1-A", "KAP-1/PAR-2", "KAP-2", "KAP-2/PAR-1",
                                "KAP-2/PAR-2"]  # fmt: skip


@pytest.mark.parametrize(
    ("heading", "address"),
    [("§ 2 a", "PAR-2-A"), ("§ 2 a.", "PAR-2-A"), ("Art. 2 a - Ziel", "ART-2-A"), ("Art. 2 o A lei", "ART-2"),
     ("Article 2 a 7", "ARTICLE-2"), ("Article 2 a thing", "ARTICLE-2")],
)  # fmt: skip
def test_a_letter_after_a_blank_is_of_the_number_only_at_its_end(heading: str, address: str) -> None:
    word = heading.split()[0]
    suggestion = suggested(law(f"## {word} 1", "x", f"## {heading}", "x", f"## {word} 9", "x"))
    assert addresses(suggestion)[1] == address


def test_the_number_may_stand_first() -> None:
    suggestion = suggested(law("# Seadus", "### 1. peatükk Üldsätted", "##### § 1. Eesmärk", "x", "### 2. peatükk Lõpp",
                          "##### § 2. Aeg", "y"))  # fmt: skip
    assert addresses(suggestion)[1:] == ["PEATUKK-1", "PEATUKK-1/PAR-1", "PEATUKK-2", "PEATUKK-2/PAR-2"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Άρθρο 1\n\nα\n\nΆρθρο 2\n\nβ\n", ["ARTHRO-1", "ARTHRO-2"]),
        ("Стаття 1. Мета\n\nа\n\nСтаття 2. Сфера\n\nб\n", ["STATTIA-1", "STATTIA-2"]),
        ("## 第一章 总则\n\n第一条　为了。\n\n第十二条 文。\n", ["ZHANG-1", "ZHANG-1/TIAO-1", "ZHANG-1/TIAO-12"]),
    ],
)
def test_other_scripts_get_addresses_in_ascii(text: str, expected: list[str]) -> None:
    assert addresses(suggested(text)) == expected


def test_levels_follow_the_numbers_of_hashes_where_the_words_say_otherwise() -> None:
    text = law("# Act", "### CAPITULO I", "#### SECCION I", "##### Artículo 1", "x", "#### SECCION II",
               "##### Artículo 2", "y")  # fmt: skip
    inner = ["CAPITULO-I/SECCION-I", "CAPITULO-I/SECCION-I/ARTICULO-1", "CAPITULO-I/SECCION-II",
             "CAPITULO-I/SECCION-II/ARTICULO-2"]  # fmt: skip
    assert addresses(suggested(text))[1:] == ["CAPITULO-I", *inner]


def test_an_unusual_order_of_levels_lowers_the_confidence_and_names_the_correction() -> None:
    text = "# Act\n\n### Article 1\n\n#### Section 1\n\nx\n\n### Article 2\n\n#### Section 1\n\ny\n"
    suggestion = suggested(text)
    assert suggestion.confidence == "medium"
    assert any("--refine 'article is inside section'" in reason for reason in suggestion.reasons)


def test_quoted_articles_of_a_law_with_hashes_are_left_out_and_named() -> None:
    text = law("# Act", "## Article 1", "It reads:", "Article 7. Old", "Article 8. Older", "## Article 2", "y",
               "## Article 3", "z")  # fmt: skip
    suggestion = suggested(text)
    assert addresses(suggestion)[1:] == ["ARTICLE-1", "ARTICLE-2", "ARTICLE-3"]
    assert [line.line for line in suggestion.unused] == [7, 9]
    assert suggestion.confidence == "low"


def test_one_large_unit_is_never_a_sure_thing() -> None:
    assert suggested("# Act\n\n" + "Words of a law. " * 1_000).confidence == "low"


def test_headings_in_a_code_block_are_named() -> None:
    suggestion = suggested("# Act\n\n## Article 1\n\n```\n## Article 9\n```\n\n## Article 2\n\ny\n")
    assert [(line.line, line.why) for line in suggestion.unused] == [(6, "code_block")]
    assert suggestion.confidence == "low"


def test_a_cut_with_red_findings_is_shown_and_each_is_named_with_the_refusal() -> None:
    text = "# Act\n\n" + body(4).replace("Article 3. Aim 3\n\nSome text", "As said in article 3. Some text")
    suggestion = suggested(text)
    assert addresses(suggestion)[1:] == ["ARTICLE-1", "ARTICLE-2", "ARTICLE-4"]
    assert [finding.name for finding in suggestion.red] == ["number_missing:LAW/ARTICLE-4"]
    assert suggestion.confidence == "low"
    assert any(
        "`cutter mark` refuses the cut" in reason and suggestion.red[0].name in reason for reason in suggestion.reasons
    )
    result = mark(text.encode(), profile=parse_profile(suggestion.body), docprefix="LAW", options=Options())
    assert isinstance(result, MarkRefusal)
    assert result.code == "number_missing"


def test_an_alternative_with_red_findings_comes_after_one_without() -> None:
    suggestion = suggested("# Act\n\n" + body(4))
    counts = [alternative.red > 0 for alternative in suggestion.alternatives if not alternative.refused]
    assert any(counts)
    assert counts == sorted(counts)


@pytest.mark.parametrize("hashes", ["## ", ""])
def test_a_text_that_needs_options_names_them_and_is_cut_with_them(hashes: str) -> None:
    articles = f"{hashes}Article 1. \u202eCa\u0301c\n\nOne.\n\n{hashes}Article 2. B\n\nTwo.\n"
    suggestion = suggested(f"# Act\n\n{articles}")
    assert suggestion.needs == ("--remove-direction-marks", "--normalise nfc")
    assert isinstance(suggestion.result, Marking)
    assert suggestion.result.candidates[1].title == "Article 1. Các"


def test_the_profile_cuts_the_text_without_any_option() -> None:
    text = "# Act\n\n## Article 1\n\n## Article 2\n\nx\n\n## Annex\n\ny\n\n## Annex\n\nz\n"
    suggestion = suggested(text)
    result = mark(text.encode(), profile=parse_profile(suggestion.body), docprefix="LAW", options=Options())
    assert result == suggestion.result
    assert addresses(suggestion)[1:] == ["ARTICLE-1", "ARTICLE-2", "ANNEX", "ANNEX~2"]


def test_the_profile_cuts_a_repeated_number_once_its_finding_is_accepted() -> None:
    text = "# Act\n\n## Article 1\n\n## Article 2\n\nx\n\n## Article 2\n\ny\n"
    suggestion = suggested(text)
    assert addresses(suggestion)[1:] == ["ARTICLE-1", "ARTICLE-2", "ARTICLE-2~2"]
    accepted = Options(accept={finding.name: "so printed" for finding in suggestion.red})
    result = mark(text.encode(), profile=parse_profile(suggestion.body), docprefix="LAW", options=accepted)
    assert isinstance(result, Marking)
    assert isinstance(suggestion.result, Marking)
    assert result.mark_digest == suggestion.result.mark_digest


LAW = "# Act\n\nRule 1. A\n\nx\n\nRule 2. B\n\ny\n\nRule 3. C\n\nz\n\nFINAL RULES\n\nRule 4. D\n\nw\n"


def test_a_line_is_corrected_to_a_role() -> None:
    suggestion = suggested(LAW, "line 15 is a chapter")
    assert addresses(suggestion)[-2:] == ["FINAL-RULES", "FINAL-RULES/RULE-4"]


def test_a_word_is_corrected_to_text() -> None:
    assert addresses(suggested(LAW, "word Rule is text")) == ["ACT"]


@pytest.mark.parametrize("text", [LAW, LAW.replace("Rule", "## Rule")])
def test_a_line_that_would_drop_the_other_headings_of_its_word_is_refused(text: str) -> None:
    with pytest.raises(
        InvalidInput, match=r"line 3 is text would drop all 4 headings .* 'word Rule is text'.*only this"
    ):
        suggested(text, "line 3 is text")
    index = text.index("Rule 1") if text == LAW else text.index("## Rule 1")
    quoted = suggested(f"{text[:index]}> {text[index:]}")
    assert "RULE-1" not in addresses(quoted), "the other way that the message names"
    assert "RULE-2" in addresses(quoted)


def test_the_only_heading_of_its_word_is_corrected_to_text() -> None:
    text = "# Act\n\n## Chapter 1\n\n### Rule 1\n\nx\n\n### Rule 2\n\ny\n\n### Rule 3\n\nz\n"
    assert addresses(suggested(text))[1] == "CHAPTER-1"
    suggestion = suggested(text, "line 3 is text")
    assert "chapter" not in [level.name for level in suggestion.levels]
    assert len(suggestion.levels) == 1


def test_a_word_is_corrected_to_another_role() -> None:
    suggestion = suggested(LAW, "word Rule is a section")
    assert isinstance(suggestion.result, Marking)
    assert {unit.section_type for unit in suggestion.result.candidates[1:]} == {"section"}


def test_the_order_and_the_finest_level_are_corrected() -> None:
    text = "# Act\n\n### Article 1\n\n#### Section 1\n\nx\n\n### Article 2\n\n#### Section 2\n\ny\n"
    assert addresses(suggested(text, "deepest is article"))[1:] == ["ARTICLE-1", "ARTICLE-2"]
    swapped = suggested(text, "article is inside section")
    assert [level.name for level in swapped.levels] == ["section", "article"]


@pytest.mark.parametrize("form", FORMS)
def test_each_form_of_a_correction_is_read(form: str) -> None:
    assert len(parse_corrections((form,))) == 1


@pytest.mark.parametrize(
    ("correction", "message"),
    [
        ("make it better", "none of the forms line 12 is a chapter"),
        ("line 3 is a poem", "'poem' is none of annex, part"),
        ("line 4 is a chapter", "line 4 does not begin like a heading"),
        ("word Paragraph is an article", "no line begins with the word 'paragraph'"),
        ("deepest is clause", "no level 'clause'; it has article"),
    ],
)
def test_a_wrong_correction_is_refused_with_what_is_possible(correction: str, message: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        suggested(LAW, correction)
    assert message in str(refused.value)


def test_too_many_corrections_are_refused() -> None:
    with pytest.raises(InvalidInput, match="edit the profile instead"):
        parse_corrections(("line 1 is text",) * 101)


def test_a_word_that_is_no_usual_heading_lowers_the_confidence() -> None:
    suggestion = suggested("".join(f"Table {number}. Rates\n\nText.\n\n" for number in (1, 2, 3)))
    assert suggestion.confidence == "medium"
    assert any("--refine 'word Table is text'" in reason for reason in suggestion.reasons)


JAPANESE = law(
    "**第一条**　この法律の目的。",
    "**第二条**　定義。",
    "## 附則",
    "**第一条**　施行期日。",
    "## 附則",
    "**第一条**　経過措置。",
)


def test_a_heading_below_which_the_numbers_begin_again_is_named_with_its_correction() -> None:
    suggestion = suggested(JAPANESE)
    assert "the numbers begin again below line 5: perhaps give --refine 'line 5 is an annex'" in suggestion.reasons
    corrected = suggested(JAPANESE, "line 5 is an annex")
    assert addresses(corrected)[2:] == ["U-D402CB7D", "U-D402CB7D/TIAO-1", "U-D402CB7D~2", "U-D402CB7D~2/TIAO-1"]
    assert not corrected.red


@pytest.mark.parametrize("above", ["", "## Final provisions\n\n"])
def test_no_heading_is_named_while_the_numbers_count_on(above: str) -> None:
    text = body(3) + above + "Article 4. Aim\n\nAs said in\nArticle 2 of this act.\nText.\n"
    assert not any("begin again" in reason for reason in suggested(text).reasons)


def test_a_heading_after_another_line_end_lowers_the_confidence() -> None:
    suggestion = suggested("# Act\n\n## Article 1\n\nText.\r## Article 2\n\n## Article 3\n\nText.\n")
    assert suggestion.confidence == "low"
    assert any("save the text with LF" in reason for reason in suggestion.reasons)


def test_the_time_grows_with_the_text_and_no_faster() -> None:
    text = "".join(f"Article {number}. Aim\n\n{'Words of the law. ' * 8}\n\n" for number in range(1, 121))
    hostile = text + "\n".join(("Article " + "1." * 4_000, "# " + "[(" * 4_000, "IV" * 4_000)) + "\n"
    small = min(seconds(hostile) for _ in range(3))
    large = min(seconds(hostile * 8) for _ in range(2))
    assert large < 24 * small, "eight times the text may take eight times as long, not sixty-four"


def seconds(text: str) -> float:
    begun = time.process_time()
    assert isinstance(suggest(text.encode(), docprefix="LAW"), Suggestion)
    return time.process_time() - begun


def test_the_only_article_of_a_law_is_found() -> None:
    suggestion = suggested("# Ley 31835\n\nEL CONGRESO;\n\nArtículo único. Objeto\n\nTexto de la ley.\n")
    assert addresses(suggestion)[1:] == ["ARTICULO-UNICO"]
    assert suggestion.red == ()


def test_one_line_with_a_word_and_a_number_is_no_article_of_a_law_with_other_headings() -> None:
    suggestion = suggested("# Act\n\n## Chapter I\n\nx\n\n## Chapter II\n\nAs said in\n\nArticle 5.\n\ny\n")
    assert [level.name for level in suggestion.levels] == ["chapter"]


def test_a_correction_names_a_line_that_is_the_only_one_of_its_kind() -> None:
    text = law("# Act", "## Chapter I", "x", "Clause 1. Aim", "y", "## Chapter II", "z")
    assert addresses(suggested(text))[1:] == ["CHAPTER-I", "CHAPTER-II"]
    suggestion = suggested(text, "line 7 is an article")
    assert addresses(suggestion)[1:] == ["CHAPTER-I", "CHAPTER-I/CLAUSE-1", "CHAPTER-II"]


def test_bold_japanese_articles_with_a_title_in_brackets_are_found() -> None:
    articles = [f"**第{number}条（目的）**　この法律は、目的とする。" for number in "一二三"]
    suggestion = suggested(law("### 第一章 総則", *articles))
    assert addresses(suggestion) == ["ZHANG-1", *(f"ZHANG-1/TIAO-{number}" for number in (1, 2, 3))]


def test_a_plain_line_that_refers_to_a_japanese_article_is_no_heading() -> None:
    suggestion = suggested(
        law("### 第一章 総則", "第一条（第二項を除く。）の規定は、次による。", "第二条（同項）の規定も。")
    )
    assert addresses(suggestion) == ["ZHANG-1"]


def test_a_correction_that_changes_nothing_says_so() -> None:
    suggestion = suggested("# Act\n\n" + body(3), "line 3 is an article")
    assert suggestion.confidence == "low"
    assert suggestion.reasons[0].startswith("--refine changes nothing")


def test_a_law_that_is_mostly_in_no_unit_has_low_confidence() -> None:
    text = "The law itself, which has no heading at all but says all that it says.\n\n## Annex\n\nIn force.\n"
    suggestion = suggested(text)
    assert suggestion.confidence == "low"
    assert any("becomes no unit" in reason for reason in suggestion.reasons)
    assert suggested("A preamble.\n\n" + text.replace("The law", "## The law")).confidence == "high"
