"""Every real law and every model law, as it is cut, in each form of export.

The cut is in memory. What a database adds (runs, signers, dates) is of tests/cases/law_cases.py.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from rdflib import RDF, Graph, Literal, Namespace, URIRef

from cutter.domain.digests import sha256_hex
from cutter.law import akoma_ntoso, export_check, export_forms
from cutter.law.export_record import LawExport, export_of, jurisdiction_of, left_out, region_of
from cutter.law.law_text import Unit
from cutter.marking import build_plan, load_profile
from tests.cases import export_readers
from tests.cases.law_cases import law_text, unit
from tests.golden.expectations import CHECKOUT, Law
from tests.support.golden_laws import ALL, marked

SCHEMA = json.loads((CHECKOUT / "docs/reference/law-export.schema.json").read_text(encoding="utf-8"))
ELI, SCHEMA_ORG = Namespace(export_forms.ELI), Namespace("https://schema.org/")


def exported(law: Law) -> tuple[bytes, LawExport]:
    """The region that was cut, and the export of it."""
    marked(law)  # skips if the law is not here
    return _exported_once(law.file)


@functools.cache
def _exported_once(file: str) -> tuple[bytes, LawExport]:
    law = next(case.values[0] for case in ALL if case.values[0].file == file)
    data, marking = marked(law)
    region = data[marking.region_start : marking.region_end]
    plan = build_plan(data, marking, docprefix="LAW", source_version_id="v1")
    units = [_unit(row, order) for order, row in enumerate(plan.rows, 1)]
    text = law_text(
        *units, title=units[0].title, source_sha256=sha256_hex(data), region_sha256=marking.region_sha,
        writer_digest=plan.writer_digest,
    )  # fmt: skip
    profile = load_profile(law.profile)
    known = jurisdiction_of(data, country=profile.country, language=profile.language)
    rest = left_out(region, text.units, marking.region_sha)
    return region, export_of(text, rest, [text.version], country=known.country, language=known.language)


def _unit(row: Any, order: int) -> Unit:
    return unit(
        "", row.body, order=order, address=row.address, title=row.title, unit_kind=row.unit_kind,
        section_type=row.section_type, parent=row.parent_address,
    )  # fmt: skip


@pytest.mark.parametrize("law", ALL)
def test_markdown_gives_the_region_back_byte_for_byte(law: Law) -> None:
    region, export = exported(law)
    data = export_forms.markdown(export)
    read = export_readers.read_markdown(data)
    assert read.text == region == data[: read.record["bytes"]]
    assert sha256_hex(region) == read.record["region_sha256"]


@pytest.mark.parametrize("law", ALL)
def test_json_fits_the_published_schema_and_gives_the_region_back(law: Law) -> None:
    region, export = exported(law)
    data = export_forms.json_document(export)
    assert faults(json.loads(data)) == []
    assert region_of(LawExport.model_validate_json(data)) == region


def faults(document: Any) -> list[str]:
    """Each place of a document that does not fit the published schema."""
    checked = Draft202012Validator(SCHEMA, format_checker=Draft202012Validator.FORMAT_CHECKER)
    return [f"{fault.json_path}: {fault.message}" for fault in checked.iter_errors(document)]


@pytest.mark.parametrize(
    "change",
    [
        {"document": None}, {"effective_from": "2026-13-01"}, {"region_sha256": "A" * 64}, {"schema": "another/1"},
        {"signers": [{"role": "executor"}]}, {"more": 1}, {"units": "1"},
    ],
)  # fmt: skip
def test_the_published_schema_refuses_another_record(change: Mapping[str, Any]) -> None:
    _, export = exported(ALL[-1].values[0])
    document = json.loads(export_forms.json_document(export))
    assert faults({**document, "record": {**document["record"], **change}})


@pytest.mark.parametrize("law", ALL)
def test_json_lines_and_csv_give_every_unit_back(law: Law) -> None:
    region, export = exported(law)
    lines = export_readers.read_json_lines(export_forms.json_lines(export))
    assert lines.text == region
    table = export_readers.read_csv(export_forms.csv_table(export))
    for written in export.units:
        values = export_forms.unit_values(written)
        assert lines.units[written.address] == values
        assert table.units[written.address] == {k: "" if v is None else str(v) for k, v in values.items()}
    assert len(lines.units) == len(table.units) == len(export.units)


@pytest.mark.parametrize("law", ALL)
def test_akoma_ntoso_fits_the_official_schema_and_has_every_line_of_every_unit(law: Law) -> None:
    _, export = exported(law)
    data = akoma_ntoso.akoma_ntoso(export)
    assert akoma_ntoso.problems(data) == []
    units = export_readers.read_akoma_ntoso(data).units
    assert len({fields["eId"] for fields in units.values()}) == len(units) == len(export.units)
    for written in export.units:
        lines = [line.strip() for line in (written.title, *written.body.split("\n")) if line.strip()]
        assert units[written.address]["xml"].split("\n") == lines


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # rdflib's reader of JSON-LD uses its own old names
@pytest.mark.parametrize("law", ALL)
def test_json_ld_is_read_as_linked_data_with_the_text_of_every_unit(law: Law) -> None:
    _, export = exported(law)
    graph = Graph().parse(data=export_forms.json_ld(export), format="json-ld")
    assert set(graph.subjects(RDF.type, ELI.LegalResource)) == {URIRef("urn:cutter:law:ICX-LAW-1")}
    places = {
        str(graph.value(subject, ELI.id_local)): subject
        for subject in graph.subjects(RDF.type, ELI.LegalResourceSubdivision)
    }
    assert places.keys() == {law_unit.address for law_unit in export.units}
    for written in export.units:
        expression = graph.value(places[written.address], ELI.is_realized_by)
        assert graph.value(expression, SCHEMA_ORG.text) == Literal(written.body)
        assert graph.value(expression, ELI.realizes) == places[written.address]


@pytest.mark.parametrize("form", export_check.FORMS)
@pytest.mark.parametrize("law", ALL)
def test_each_form_is_recognised_and_read_back(law: Law, form: str) -> None:
    _, export = exported(law)
    data = export_check.writer(form)(export)
    assert export_check.form_of(data) == form
    assert export_check.check(data, form, export).identical


@pytest.mark.parametrize(
    ("segment", "section_type", "element"),
    [
        ("ARTICULO-1", "article", "article"), ("PAR-2", "article", "article"), ("PAR-1", "section", "section"),
        ("TITULO-I", "section", "title"), ("LIVRE-II", "section", "book"), ("SEC-101", "article", "section"),
        ("KAPITEL-3", "section", "chapter"), ("KAPITEL-3", "article", "chapter"),
        ("TIEU-MUC-1", "section", "subsection"), ("PART-OF-THE-LAW", "article", "article"),
        ("ANNEX-1", "appendix", "hcontainer"), ("NT-1", "principle", "hcontainer"), ("3", "article", "article"),
    ],
)  # fmt: skip
def test_the_word_of_an_address_names_the_element(segment: str, section_type: str, element: str) -> None:
    text = law_text(unit("1", "x", order=1, address=f"LAW/{segment}", title="A title", section_type=section_type))
    export = export_of(text, left_out(b"x", text.units, sha256_hex("x")), [text.version], country="de", language="deu")
    data = akoma_ntoso.akoma_ntoso(export)
    assert akoma_ntoso.problems(data) == []
    assert f"<{element} ".encode() in data
