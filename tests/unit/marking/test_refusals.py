"""Texts and options that are refused; each sentence names the line and the remedy."""

from __future__ import annotations

import pytest

from cutter.errors import InvalidInput
from cutter.limits import CANDIDATES_MAX, SOURCE_BYTES_MAX
from cutter.marking import Options, parse_profile, profile_bytes
from tests.unit.marking.texts import addresses, cut, refused, result


def test_nothing_to_cut_is_refused() -> None:
    assert refused("Only text.\n").code == "no_candidates"
    assert refused("").code == "no_candidates"
    assert refused("\ufeff").code == "no_candidates"


def test_bytes_that_are_not_utf8_are_refused_with_the_line() -> None:
    refusal = refused(b"# Article 1\nx\n\xff\n")
    assert (refusal.code, refusal.line) == ("not_utf8", 3)


def test_text_that_is_not_nfc_is_refused_with_the_command() -> None:
    refusal = refused("# Article 1\nx\nDie\u0302u\n")
    assert (refusal.code, refusal.line) == ("not_nfc", 3)
    assert "(1 line)" in refusal.message
    assert "`cutter source add FILE --document-id DOCUMENT --profile PROFILE --normalise nfc`" in refusal.message


def test_a_character_that_no_database_holds_is_refused() -> None:
    assert (refused("# Article 1\nx\x00\n").code, refused("# A\nx\x00\n").line) == ("nul_character", 2)


def test_a_file_that_is_too_large_is_refused() -> None:
    assert refused(b"x" * (SOURCE_BYTES_MAX + 1)).code == "too_large"


def test_more_units_than_allowed_are_refused_with_the_count() -> None:
    text = "".join(f"# Article {number}\nx\n" for number in range(1, 8))
    refusal = refused(text, max_candidates=5)
    assert (refusal.code, refusal.line) == ("too_many_candidates", 11)
    assert dict(refusal.details)["count"] == "7"
    assert len(cut(text, max_candidates=7).candidates) == 7


BEGIN, END = "<!-- cutter:begin -->", "<!-- cutter:end -->"


def test_sentinels_bound_the_region() -> None:
    text = f"# Out\nx\n{BEGIN}\n# Article 1\ny\n{END}\n# Out\nz\n"
    marking = cut(text)
    assert addresses(marking) == ["ARTICLE-1"]
    assert marking.candidates[0].line == 4
    assert text.encode()[marking.region_start : marking.region_end] == b"# Article 1\ny\n"


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (f"# A\n{BEGIN}\nx\n", 2),
        (f"# A\nx\n{END}\n", 3),
        (f"{BEGIN}\n# A\nx\n{BEGIN}\n{END}\n", 1),
        (f"{BEGIN}\n# A\nx\n{END}\n{END}\n", 1),
        (f"# A\nx\n{END}\n{BEGIN}\n", 3),
    ],
)
def test_broken_sentinels_are_refused(text: str, line: int) -> None:
    refusal = refused(text)
    assert (refusal.code, refusal.line) == ("broken_sentinels", line)


def test_a_sentinel_inside_a_sentence_is_text() -> None:
    assert addresses(cut(f"# Article 1\nwrite {BEGIN} there\n")) == ["ARTICLE-1"]


def test_forbidden_ids_match_whole_segments() -> None:
    text = "# Article 4\nx\n# Article 44\ny\n"
    refusal = refused(text, forbidden_ids=("ARTICLE-44",))
    assert (refusal.code, refusal.line) == ("forbidden_id", 3)
    assert len(cut(text, forbidden_ids=("ARTICLE-444", "ARTICLE", "4")).candidates) == 2


def test_a_forbidden_id_is_found_in_repeats_and_parents() -> None:
    text = "# Part 1\n## Article 1\nx\n# Part 1\n## Article 2\nx\n"
    assert refused(text, duplicates="ordinal", forbidden_ids=("PART-1",)).code == "forbidden_id"
    assert refused(text, duplicates="ordinal", forbidden_ids=("ARTICLE-2",)).code == "forbidden_id"


@pytest.mark.parametrize(
    "options",
    [
        {"duplicates": "maybe"},
        {"empty": "skip"},
        {"scope": "some"},
        {"max_candidates": 0},
        {"max_candidates": CANDIDATES_MAX + 1},
    ],
)
def test_options_that_mean_nothing_cannot_be_built(options: dict[str, object]) -> None:
    with pytest.raises(InvalidInput):
        Options(**options)  # type: ignore[arg-type]


def test_options_that_the_profile_does_not_know_are_refused() -> None:
    with pytest.raises(InvalidInput, match="khoan"):
        result("# A\nx\n", deepest="khoan")
    with pytest.raises(InvalidInput, match="no status markers"):
        result("# A\nx\n", scope="enacted_only")


def test_headings_without_hashes_are_counted_with_the_way_to_cut_them() -> None:
    refusal = refused("LEY 1\n\nTÍTULO I\n\nARTÍCULO 1. Objeto.\n\nUno.\n\n**Artículo 2.** Dos.\n")
    assert (refusal.code, refusal.line) == ("no_candidates", 3)
    assert "3 lines from here on would be headings of the profile generic-markdown, but have no `#`" in refusal.message
    assert "`forms: [plain, bold]`" in refusal.message
    assert "docs/reference/marking.md" in refusal.message


@pytest.mark.parametrize(
    ("text", "profile", "way"),
    [
        ("Only text.\n", "generic-markdown", "no line is a heading"),
        ("# A\n## Điều 1\na\n", "incomex-constitution", "choose another scope or profile"),
    ],
)
def test_a_text_without_any_unit_names_the_command_that_lists_the_profiles(text: str, profile: str, way: str) -> None:
    refusal = refused(text, profile)
    assert way in refusal.message
    assert "`cutter mark --help`" in refusal.message


def test_a_text_without_hashes_is_cut_by_the_profile_that_its_refusal_asks_for() -> None:
    text = "TÍTULO I\n\nARTÍCULO 1. Objeto.\n\nUno.\n\nARTÍCULO 2. Fin.\n\nDos.\n"
    assert "`forms: [plain, bold]`" in refused(text).message
    own = parse_profile(profile_bytes("generic-markdown").replace(b"forms: [atx]", b"forms: [plain, bold]"))
    assert addresses(cut(text, own)) == ["TITLE-I", "TITLE-I/ARTICLE-1", "TITLE-I/ARTICLE-2"]


@pytest.mark.parametrize(("encoding", "command"), [("latin-1", "-f WINDOWS-1252"), ("utf-16", "-f UTF-16")])
def test_bytes_in_another_encoding_are_refused_with_the_command_for_them(encoding: str, command: str) -> None:
    refusal = refused("# Gesetz über Maße\n\nText.\n".encode(encoding))
    assert f"`iconv {command} -t UTF-8 FILE > NEW`" in refusal.message


def test_bytes_of_an_unknown_encoding_are_refused_with_the_encodings_of_other_languages() -> None:
    message = refused("# Ustawa o ochronie konsumentów\n\nRzeczpospolita jest państwem.\n".encode("cp1250")).message
    assert "WINDOWS-1250 for Polish" in message
    assert "read a few lines of the new file" in message


def test_a_text_without_headings_is_refused_with_the_sign_that_makes_one() -> None:
    assert "put `# ` before each line that begins a unit" in refused("Only text.\n").message


@pytest.mark.parametrize(
    ("data", "named", "cure"),
    [
        (b"PK\x03\x04\x14\x00 word/document.xml \xff", "a Word document (DOCX)", "pandoc"),
        (b"PK\x03\x04 mimetypeapplication/vnd.oasis.opendocument.text", "an OpenDocument file (ODT)", "pandoc"),
        (b"PK\x03\x04 other", "a ZIP archive", "unpack"),
        (b"%PDF-1.7\n%\xe2\xe3", "a PDF", "pdftotext"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1", "an old Word document (DOC)", "save it as text"),
        (b"{\\rtf1 x}", "a document in Rich Text Format (RTF)", "pandoc"),
        (b"\xef\xbb\xbf<!DOCTYPE html>\n<p>x", "a web page (HTML)", "pandoc"),
        (b"\n <HTML lang=de>", "a web page (HTML)", "pandoc"),
        (b'<?xml version="1.0"?>\n<akomaNtoso/>', "an XML file", "`#`"),
        (b"<akomaNtoso xmlns='x'>", "an XML file", "`#`"),
    ],
)
def test_a_file_that_is_no_text_is_named_by_its_format(data: bytes, named: str, cure: str) -> None:
    refusal = refused(data)
    assert refusal.code == "not_text"
    assert f"this is {named}, and cutter reads plain text" in refusal.message
    assert cure in refusal.message
    assert "iconv" not in refusal.message


@pytest.mark.parametrize("text", ["# Article 1 <html>\nx\n", "<!-- cutter -->\n# Article 1\nx\n", "PK # no\n# A\nx\n"])
def test_a_text_that_mentions_another_format_is_text(text: str) -> None:
    assert cut(text).candidates
