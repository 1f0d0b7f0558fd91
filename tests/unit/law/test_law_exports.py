"""Exports of a law: each form holds every unit and the proof, is read back, and one changed character is found."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cutter.domain.digests import sha256_hex
from cutter.errors import Conflict
from cutter.law import akoma_ntoso, export_check, export_forms
from cutter.law.export_record import LawExport, export_of, json_schema, left_out, region_of
from cutter.law.law_text import Unit
from tests.cases.export_mutations import mutations
from tests.cases.export_readers import READERS
from tests.cases.law_cases import law_text, unit, version

BODIES = ("# A law\n\nPreamble.", '## Điều 1. Sách\n\n"Sách" là, 法律 <b> & ]]> -->.', "## Article 2\r\n\nText; 'x'.")
GAP = "\n\n"


def exported(bodies: tuple[str, ...] = BODIES, gap: str = GAP, **changed: object) -> LawExport:
    region = gap.join(bodies) + gap
    units = [
        unit(f"ARTICLE-{n}", body, order=n, parent="ARTICLE-1" if n > 1 else None) for n, body in enumerate(bodies, 1)
    ]
    text = law_text(*units, region_sha256=sha256_hex(region), **changed)
    parts = left_out(region.encode(), text.units, text.version.region_sha256)
    return export_of(text, parts, [text.version], country="vn", language="vie")


EXPORT = exported()


@pytest.mark.parametrize("form", export_check.FORMS)
def test_each_form_is_recognised_read_back_and_the_same_each_time(form: str) -> None:
    data = export_check.writer(form)(EXPORT)
    assert export_check.form_of(data) == form
    assert export_check.version_of(data, form) == ("ICX-LAW-1", 1)
    assert export_check.check(data, form, exported()).identical


@pytest.mark.parametrize("form", export_check.FORMS)
def test_each_form_carries_the_digests_the_run_and_the_fingerprints(form: str) -> None:
    text = export_check.writer(form)(EXPORT).decode()
    for part in ("a" * 64, EXPORT.record.region_sha256, "c" * 64, EXPORT.record.units_sha256, EXPORT.record.run_id,
                 "A" * 40, "E" * 40):  # fmt: skip
        assert part in text, part


@pytest.mark.parametrize("form", export_check.FORMS)
@pytest.mark.parametrize(
    ("old", "new"), [("Sách", "Sach"), ("Text;", "Text:"), ("c" * 64, "d" * 64), ("E" * 40, "F" * 40)]
)
def test_a_changed_character_is_found(form: str, old: str, new: str) -> None:
    data = export_check.writer(form)(EXPORT).replace(old.encode(), new.encode())
    verdict = export_check.check(data, form, EXPORT)
    assert verdict.difference


@pytest.mark.parametrize("form", ["markdown", "json", "jsonl", "akn", "jsonld"])
def test_the_line_of_a_changed_signer_is_shown(form: str) -> None:
    data = export_check.writer(form)(EXPORT).replace(b"DOT-991", b"DOT-990")
    difference = export_check.check(data, form, EXPORT).difference or ""
    line = next(number for number, text in enumerate(data.split(b"\n"), 1) if b"DOT-990" in text)
    assert difference.startswith(f"line {line} has ")
    assert difference.index("DOT-990") < difference.index(" in the file and ") < difference.index("DOT-991")


@pytest.mark.parametrize("form", ["json", "jsonl", "csv", "akn", "jsonld"])
def test_a_unit_that_is_missing_or_added_is_found(form: str) -> None:
    fewer, more = exported(BODIES[:2]), exported((*BODIES, "## New\n\nx"))
    for other in (fewer, more):
        assert export_check.check(export_check.writer(form)(other), form, EXPORT).difference


def ended(export: LawExport) -> LawExport:
    """The export after a later version has ended all of its units."""
    day = date(2027, 1, 1)
    record = export.record.model_copy(update={"effective_until": day})
    units = tuple(law_unit.model_copy(update={"effective_until": day}) for law_unit in export.units)
    return LawExport(record=record, units=units, left_out=export.left_out)


@pytest.mark.parametrize("form", export_check.FORMS)
def test_a_file_from_before_a_later_version_holds_with_a_note(form: str) -> None:
    data, later = export_check.writer(form)(EXPORT), ended(EXPORT)
    outcome = export_check.check(data, form, later, [EXPORT])
    assert (outcome.difference, outcome.note) == (None, "later versions have ended 3 of 3 units since")
    assert export_check.check(export_check.writer(form)(later), form, EXPORT, [EXPORT]).difference


def test_an_end_that_only_one_unit_lost_is_a_difference() -> None:
    """No moment of the database had these ends."""
    later = ended(EXPORT)
    some = later.model_copy(update={"units": (EXPORT.units[0], *later.units[1:])})
    for form in ("json", "jsonl", "csv", "akn", "jsonld"):
        assert export_check.check(export_check.writer(form)(some), form, later, [EXPORT]).difference, form


@pytest.mark.parametrize("form", export_check.FORMS)
def test_no_mutation_of_a_file_holds(form: str) -> None:
    """Every node, attribute, member, name, order and line of each form."""
    later, count = ended(EXPORT), 0
    for fresh, earlier in ((EXPORT, []), (later, [EXPORT])):
        data = export_check.writer(form)(fresh)
        genuine = {export_check.writer(form)(export) for export in (fresh, *earlier)}
        for what, forged in mutations(form, data):
            if forged not in genuine:
                assert export_check.check(forged, form, fresh, earlier).difference, what
                count += 1
    assert count > 100, count


def test_markdown_begins_with_the_source_byte_for_byte() -> None:
    data = export_forms.markdown(EXPORT)
    size = json.loads(data.rpartition(export_forms.TRAILER)[2].removesuffix(export_forms.TRAILER_END))["bytes"]
    assert sha256_hex(data[:size]) == EXPORT.record.region_sha256
    assert data[:size].decode() == GAP.join(BODIES) + GAP


@pytest.mark.parametrize("form", export_check.FORMS)
def test_a_law_that_is_an_export_itself_is_recognised_by_its_own_form(form: str) -> None:
    made = exported((export_forms.markdown(EXPORT).decode(), *BODIES[1:]))
    data = export_check.writer(form)(made)
    assert export_check.form_of(data) == form
    assert export_check.check(data, form, made).identical


def test_json_fits_the_published_schema_and_gives_the_source_back() -> None:
    data = export_forms.json_document(EXPORT)
    assert region_of(LawExport.model_validate_json(data)) == (GAP.join(BODIES) + GAP).encode()
    schema = json_schema()
    assert set(json.loads(data)) == set(schema["required"])
    assert schema["additionalProperties"] is False


def test_akoma_ntoso_fits_the_official_schema_and_names_law_version_and_units() -> None:
    data = akoma_ntoso.akoma_ntoso(EXPORT)
    assert akoma_ntoso.problems(data) == []
    text = data.decode()
    for part in ('value="/akn/vn/act/2026-01-01/icx-law-1/vie@2026-01-01"', 'eId="art_1__art_2"',
                 'wId="ICX-LAW-1/ARTICLE-2"', 'type="generation"', 'refersTo="#in_force"', 'start="#e_1"'):  # fmt: skip
        assert part in text, part


def test_the_official_schema_refuses_another_document() -> None:
    data = akoma_ntoso.akoma_ntoso(EXPORT).replace(b"<heading>", b"<headline>").replace(b"</heading>", b"</headline>")
    assert akoma_ntoso.problems(data)


def test_akoma_ntoso_of_several_versions_has_their_events() -> None:
    second = version(
        version=2, operation="revision", effective_from=date(2026, 7, 1), region_sha256=sha256_hex("x\n"), units=1
    )
    text = replace(law_text(unit("ARTICLE-1", "x\n", effective_until=date(2027, 1, 1))), version=second)
    made = export_of(text, left_out(b"x\n", text.units, second.region_sha256), [version(), second])
    shown = akoma_ntoso.akoma_ntoso(made).decode()
    assert akoma_ntoso.problems(shown.encode()) == []
    assert 'type="amendment"' in shown
    assert 'end="#end_1"' in shown


def test_a_repealed_law_is_exported_without_units() -> None:
    text = law_text(operation="repeal", region_sha256=sha256_hex(""))
    made = export_of(text, (), [text.version])
    for form in ("markdown", "json", "jsonl", "akn", "jsonld"):
        data = export_check.writer(form)(made)
        assert export_check.check(data, form, made).identical
        assert export_check.form_of(data) == form


WORDS = st.text(alphabet="ab\n #\r,\"'<&法\u2028ộ", max_size=12).map(lambda text: f"x{text}x")


@given(st.lists(WORDS, min_size=1, max_size=5), st.sampled_from(["\n", "", "\n\n", "x\n"]))
def test_every_text_comes_back_from_every_form(bodies: list[str], gap: str) -> None:
    made = exported(tuple(bodies), gap)
    assert region_of(made).decode() == gap.join(bodies) + gap
    for form in ("markdown", "json", "jsonl", "csv", "jsonld"):
        data = export_check.writer(form)(made)
        content = READERS[form](data)
        if content.text is not None:
            assert content.text == region_of(made)
        if form in ("json", "jsonl", "csv"):
            assert [content.units[law_unit.address]["body"] for law_unit in made.units] == bodies


def test_a_text_that_is_not_in_the_source_is_refused() -> None:
    with pytest.raises(Conflict, match="ARTICLE-2: its stored text is not in the registered source"):
        left_out(b"x and y", [unit("ARTICLE-1", "x"), unit("ARTICLE-2", "z")], sha256_hex("x and y"))
    with pytest.raises(Conflict, match="the approvers signed 000000000000"):
        left_out(b"x and y", [unit("ARTICLE-1", "x")], "0" * 64)


def test_units_in_another_order_are_refused() -> None:
    units: list[Unit] = [unit("ARTICLE-1", "first"), unit("ARTICLE-2", "second")]
    [between] = left_out(b"first second", units, sha256_hex("first second"))
    assert between.text == " "
    with pytest.raises(Conflict):
        left_out(b"second first", units, sha256_hex("second first"))


@pytest.mark.parametrize("data", [b"", b"# A law\n", b"{}", b"[1]", b"<html/>", b"a,b\n1,2\n", b"\x00\xff"])
def test_a_file_that_is_no_export_has_no_form_or_is_refused_by_its_reader(data: bytes) -> None:
    form = export_check.form_of(data)
    if form is not None:
        with pytest.raises(export_check.NO_EXPORT):
            export_check.version_of(data, form)
