"""Pure: an export as Markdown, JSON, JSON Lines, CSV and JSON-LD."""

from __future__ import annotations

import csv
import json
from typing import Any

from cutter.domain.digests import canonical_json
from cutter.law.export_record import ExportedUnit, ExportRecord, LawExport, region_of

TRAILER = b"\n<!-- cutter-law-export/1\n"
TRAILER_END = b"\n-->\n"
RECORD_COLUMNS = (
    "document", "version", "operation", "run_id", "change_set", "enacted_at", "source_sha256", "region_sha256",
    "writer_digest", "units_sha256",
)  # fmt: skip
UNIT_COLUMNS = tuple(ExportedUnit.model_fields)
CSV_COLUMNS = tuple(name if name.startswith("unit_") else f"unit_{name}" for name in UNIT_COLUMNS)
ELI = "http://data.europa.eu/eli/ontology#"


def record_values(export: LawExport | ExportRecord) -> dict[str, Any]:
    record = export.record if isinstance(export, LawExport) else export
    return record.model_dump(mode="json", by_alias=True)


def unit_values(unit: ExportedUnit) -> dict[str, Any]:
    return unit.model_dump(mode="json")


def markdown(export: LawExport) -> bytes:
    """The source region byte for byte (`bytes` bytes), then the record in a comment that Markdown does not show."""
    region = region_of(export)
    record = {**record_values(export), "bytes": len(region)}
    # No text in the record can end the comment.
    shown = json.dumps(record, ensure_ascii=False, indent=1, sort_keys=True).replace(">", "\\u003e")
    return region + TRAILER + shown.encode() + TRAILER_END


def json_document(export: LawExport) -> bytes:
    """One JSON document of the published schema."""
    values = export.model_dump(mode="json", by_alias=True)
    return (json.dumps(values, ensure_ascii=False, indent=1) + "\n").encode()


def json_lines(export: LawExport) -> bytes:
    """The record on the first line, then one line for each unit and each text that is in no unit."""
    rows = [
        {"kind": "record", **record_values(export)},
        *({"kind": "unit", **unit_values(unit)} for unit in export.units),
        *({"kind": "left_out", **piece.model_dump()} for piece in export.left_out),
    ]
    return "".join(f"{canonical_json(row)}\n" for row in rows).encode()


class _Lines(list[str]):
    """What `csv` writes to."""

    def write(self, text: str) -> None:
        self.append(text)


def csv_table(export: LawExport) -> bytes:
    """One row a unit; the columns of the record are the same in each. RFC 4180 with line feeds, every cell quoted."""
    record = record_values(export)
    signers = " ".join(f"{signer.role.replace(' ', '-')}={signer.fingerprint}" for signer in export.record.signers)
    first = [*(record[name] for name in RECORD_COLUMNS), signers]
    made = _Lines()
    writer = csv.writer(made, quoting=csv.QUOTE_ALL, lineterminator="\n")
    writer.writerow([*RECORD_COLUMNS, "signers", *CSV_COLUMNS])
    for unit in export.units:
        values = unit_values(unit)
        writer.writerow([*first, *("" if values[name] is None else values[name] for name in UNIT_COLUMNS)])
    return "".join(made).encode()


def json_ld(export: LawExport) -> bytes:
    """Linked data with the terms of ELI: the law, the exported version as its expression, and its subdivisions."""
    record = export.record
    law = f"urn:cutter:law:{record.document}"
    expression = f"{law}:version:{record.version}"
    values = {
        "@context": {
            "eli": ELI, "schema": "https://schema.org/", "cutter": "urn:cutter:terms:",
            "xsd": "http://www.w3.org/2001/XMLSchema#", "eli:realizes": {"@type": "@id"},
            "eli:is_part_of": {"@type": "@id"}, "eli:version_date": {"@type": "xsd:date"},
            "eli:first_date_entry_in_force": {"@type": "xsd:date"},
            "eli:date_no_longer_in_force": {"@type": "xsd:date"}, "cutter:record": {"@type": "@json"},
        },
        "@id": law,
        "@type": "eli:LegalResource",
        "eli:id_local": record.document,
        "eli:is_realized_by": {
            "@id": expression,
            "@type": "eli:LegalExpression",
            "eli:title": {"@value": record.title, "@language": record.language},
            "eli:version": str(record.version),
            "eli:version_date": record.effective_from.isoformat(),
            "eli:realizes": law,
        },
        "eli:has_part": [_subdivision(unit, law, export) for unit in export.units],
        "cutter:record": record_values(export),
    }  # fmt: skip
    return (json.dumps(values, ensure_ascii=False, indent=1) + "\n").encode()


def _subdivision(unit: ExportedUnit, law: str, export: LawExport) -> dict[str, Any]:
    place = f"{law}:unit:{unit.address}"
    until = {"eli:date_no_longer_in_force": unit.effective_until.isoformat()} if unit.effective_until else {}
    return {
        "@id": place,
        "@type": "eli:LegalResourceSubdivision",
        "eli:id_local": unit.address,
        "eli:is_part_of": f"{law}:unit:{unit.parent}" if unit.parent else law,
        "eli:first_date_entry_in_force": unit.effective_from.isoformat(),
        **until,
        "eli:is_realized_by": {
            "@id": f"{place}:version:{unit.unit_version}",
            "@type": "eli:LegalExpression",
            "eli:title": {"@value": unit.title, "@language": export.record.language},
            "eli:realizes": place,
            "schema:text": unit.body,
            "cutter:content_sha256": unit.content_sha256,
            "cutter:order": unit.order,
        },
    }
