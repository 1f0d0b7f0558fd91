"""`cutter law export|verify`: a file holds what the database has, and a changed file or database is found."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cutter.domain.digests import sha256_hex
from cutter.law import akoma_ntoso, export_forms
from cutter.law.export_check import FORMS
from cutter.law.export_record import LawExport, region_of
from starter.commands import law_export
from tests.integration.law.conftest import ACT, RULES, VIETNAMESE, Corpus
from tests.support.runs import law


@pytest.mark.parametrize("document", [ACT, RULES])
@pytest.mark.parametrize("form", FORMS)
def test_an_export_in_each_form_holds(corpus: Corpus, tmp_path: Path, form: str, document: str) -> None:
    file = tmp_path / "law"
    made = corpus("law", "export", document, "--form", form, "-o", str(file), "--json")
    assert made.code == 0, made
    assert made.json["sha256"] == sha256_hex(file.read_bytes())
    answer = corpus(*made.json["next"].split()[1:], "--json")
    assert (answer.code, answer.json["holds"], answer.json["identical"], answer.json["form"]) == (
        0, True, True, form,
    ), answer  # fmt: skip
    assert any("alice" in signer for signer in answer.json["signers"])


@pytest.mark.parametrize(("document", "source"), [(ACT, law(4)), (RULES, VIETNAMESE)])
@pytest.mark.promise
def test_markdown_and_json_give_the_registered_source_back(
    corpus: Corpus, tmp_path: Path, document: str, source: str
) -> None:
    for form, read in (("markdown", _markdown), ("json", _json)):
        file = tmp_path / form
        assert corpus("law", "export", document, "--form", form, "-o", str(file)).code == 0
        assert read(file.read_bytes()) == source.encode()


def _markdown(data: bytes) -> bytes:
    text, _, rest = data.rpartition(export_forms.TRAILER)
    record = json.loads(rest.removesuffix(export_forms.TRAILER_END))
    assert sha256_hex(data[: record["bytes"]]) == record["region_sha256"]
    return text


def _json(data: bytes) -> bytes:
    return region_of(LawExport.model_validate_json(data))


def test_akoma_ntoso_fits_the_official_schema(corpus: Corpus, tmp_path: Path) -> None:
    file = tmp_path / "law.akn.xml"
    made = corpus("law", "export", RULES, "--form", "akn", "-o", str(file))
    assert made.code == 0, made
    assert akoma_ntoso.problems(file.read_bytes()) == []
    assert b"/akn/vn/act/" in file.read_bytes()
    assert b'<FRBRlanguage language="vie"/>' in file.read_bytes()
    assert corpus("verify", str(file), "--json").json["identical"]


def test_a_typed_country_and_language_replace_those_of_the_profile(corpus: Corpus, tmp_path: Path) -> None:
    file = tmp_path / "law.akn.xml"
    typed = ("--country", "la", "--language", "lao")
    made = corpus("law", "export", RULES, "--form", "akn", *typed, "-o", str(file), "--json").json
    assert b"/akn/la/act/" in file.read_bytes()
    assert corpus(*made["next"].split()[1:], "--json").json["identical"]
    # Without them, the country of the file is not the one that the database names.
    assert corpus("verify", str(file), "--json").json["holds"] is False
    corpus("law", "export", ACT, "--form", "akn", "-o", str(file))
    assert b"/akn/zz/act/" in file.read_bytes()


def test_an_export_goes_to_standard_output(corpus: Corpus) -> None:
    answer = corpus("law", "export", ACT, "--form", "markdown", "-o", "-")
    assert answer.out.startswith(law(4))


@pytest.mark.parametrize(("end", "form"), law_export.FORMS.items())
def test_the_end_of_a_file_name_chooses_the_form(corpus: Corpus, tmp_path: Path, end: str, form: str) -> None:
    file = tmp_path / f"law{end}"
    made = corpus("law", "export", RULES, "-o", str(file), "--json").json
    assert made["form"] == form
    assert corpus("verify", str(file), "--json").json["form"] == form


@pytest.mark.parametrize("form", FORMS)
def test_a_changed_file_does_not_hold(corpus: Corpus, tmp_path: Path, form: str) -> None:
    file = tmp_path / "law"
    corpus("law", "export", ACT, "--form", form, "-o", str(file))
    file.write_bytes(file.read_bytes().replace(b"text of article 2", b"text of article 7"))
    answer = corpus("verify", str(file), "--json")
    assert (answer.code, answer.json["holds"]) == (1, False), answer
    assert answer.json["differences"]
    assert corpus(*answer.json["next"].split()[1:]).code == 0


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (("export", "NOPE"), 1, "NOPE is not enacted"),
        (("export", ACT, "--version", "9"), 1, "has no version 9"),
        (("export", ACT, "--country", "VN"), 2, "--country has two letters"),
        (("export", ACT, "-o", "/nowhere/law.md"), 2, "name a file in a folder that exists"),
        (("export", ACT, "-o", "law.docx"), 2, "no form of an export ends with .docx"),
    ],
)
def test_a_mistake_is_answered_with_the_next_command(
    corpus: Corpus, arguments: tuple[str, ...], code: int, message: str
) -> None:
    answer = corpus("law", *arguments, "--json")
    assert (answer.code, message in answer.json["message"]) == (code, True), answer
    if not answer.json["next"].endswith("--help"):
        assert corpus(*answer.json["next"].split()[1:]).code == 0, answer.json["next"]


def test_a_unit_that_was_changed_in_the_database_is_not_exported(corpus: Corpus, tmp_path: Path) -> None:
    before = corpus.database.value(
        "select body from public.unit_version v join public.information_unit u on u.id = v.unit_id"
        " where u.canonical_address = %s", (f"{ACT}/ARTICLE-3",))  # fmt: skip
    try:
        _overwrite(corpus, before.replace("article 3", "article 9"))
        answer = corpus("law", "export", ACT, "-o", str(tmp_path / "law.md"), "--json")
        assert (answer.code, "is not in the registered source" in answer.json["message"]) == (4, True), answer
    finally:
        _overwrite(corpus, before)


def _overwrite(corpus: Corpus, body: str) -> None:
    """What only a superuser who turns every trigger off can do."""
    corpus.database.run(
        "alter table public.unit_version disable trigger all; update public.unit_version v set body = "
        f"{_quoted(body)}, content_hash = encode(sha256(convert_to({_quoted(body)}, 'UTF8')), 'hex')"
        f" from public.information_unit u where u.id = v.unit_id and u.canonical_address = '{ACT}/ARTICLE-3'"
    )


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
