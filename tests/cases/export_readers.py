"""Readers of the forms of an export: what another program reads from them."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from lxml import etree

from cutter.law.akoma_ntoso import NAMESPACE, OURS
from cutter.law.export_forms import (
    CSV_COLUMNS,
    RECORD_COLUMNS,
    TRAILER,
    TRAILER_END,
    UNIT_COLUMNS,
    record_values,
    unit_values,
)
from cutter.law.export_record import LawExport, region_of


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadExport:
    """What a file says: the record's fields, and the values of each unit by address. `text` is the region, if any."""

    record: Mapping[str, Any]
    units: Mapping[str, Mapping[str, Any]]
    text: bytes | None = None


def read_markdown(data: bytes) -> ReadExport:
    text, marker, rest = data.rpartition(TRAILER)
    if not marker:
        raise ValueError("it has no record at its end")
    return ReadExport(record=json.loads(rest.removesuffix(TRAILER_END)), units={}, text=text)


def read_json(data: bytes) -> ReadExport:
    export = LawExport.model_validate_json(data)
    return _read(export)


def read_json_lines(data: bytes) -> ReadExport:
    rows: dict[str, list[dict[str, Any]]] = {"record": [], "unit": [], "left_out": []}
    for line in data.decode().split("\n")[:-1]:
        row = json.loads(line)
        rows[row.pop("kind")].append(row)
    if len(rows["record"]) != 1:
        raise ValueError("it must have one record")
    values = {"record": rows["record"][0], "units": rows["unit"], "left_out": rows["left_out"]}
    return _read(LawExport.model_validate(values))


def read_csv(data: bytes) -> ReadExport:
    csv.field_size_limit(len(data) + 1)
    rows = list(csv.reader(re.findall(r"[^\n]*\n|[^\n]+\Z", data.decode()), strict=True))
    if len(rows) < 2 or rows[0] != [*RECORD_COLUMNS, "signers", *CSV_COLUMNS]:
        raise ValueError("its columns are not those of an export, or it has no unit")
    split = len(RECORD_COLUMNS) + 1
    if any(row[:split] != rows[1][:split] for row in rows[1:]):
        raise ValueError("its rows name different versions")
    record = dict(zip((*RECORD_COLUMNS, "signers"), rows[1], strict=False))
    units = {}
    for row in rows[1:]:
        values = dict(zip(UNIT_COLUMNS, row[split:], strict=True))
        units[values["address"]] = values
    if len(units) != len(rows) - 1:
        raise ValueError("it has an address twice")
    return ReadExport(record=record, units=units)


def read_json_ld(data: bytes) -> ReadExport:
    values = json.loads(data)
    units = {unit["eli:id_local"]: unit for unit in values["eli:has_part"]}
    if len(units) != len(values["eli:has_part"]):
        raise ValueError("it has an address twice")
    return ReadExport(record=values["cutter:record"], units=units)


def read_akoma_ntoso(data: bytes) -> ReadExport:
    """The record, and each unit's element as canonical XML, without what a later version may change."""
    parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False)
    root = etree.fromstring(data, parser)
    record = root.find(f".//{{{OURS}}}record")
    if record is None:
        raise ValueError("it has no record of an export")
    units: dict[str, dict[str, Any]] = {}
    for element in root.iterfind(f".//{{{NAMESPACE}}}*[@wId]"):
        if element.get("wId") in units:
            raise ValueError("it has an address twice")
        units[element.get("wId")] = {"eId": element.get("eId"), "xml": _own_text(element)}
    return ReadExport(record=json.loads(record.text or "{}"), units=units)


def _own_text(element: Any) -> str:
    """An element without the units below it, in canonical form."""
    copy = etree.fromstring(etree.tostring(element, with_tail=False))
    copy.attrib.pop("period", None)
    for child in list(copy):
        if child.get("wId") is not None:
            copy.remove(child)
    return "\n".join(text.strip() for text in copy.itertext() if text.strip())


def _read(export: LawExport) -> ReadExport:
    units = {unit.address: unit_values(unit) for unit in export.units}
    if len(units) != len(export.units):
        raise ValueError("it has an address twice")
    return ReadExport(record=record_values(export), units=units, text=region_of(export))


READERS: dict[str, Callable[[bytes], ReadExport]] = {
    "markdown": read_markdown,
    "json": read_json,
    "jsonl": read_json_lines,
    "csv": read_csv,
    "akn": read_akoma_ntoso,
    "jsonld": read_json_ld,
}
