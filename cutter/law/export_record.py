"""Pure: an export of a law as a value: its record (digests, run, signers), its units, and what the cut left out.

`json_schema` is published as docs/reference/law-export.schema.json. Everything in an export comes from the database,
and nothing from the clock: the same version gives the same bytes until a later version ends one of its units.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from cutter.domain.digests import canonical_digest, sha256_hex
from cutter.domain.timestamps import render_instant
from cutter.errors import Conflict
from cutter.law.law_text import LawText, LawVersion, Unit

SCHEMA = "cutter-law-export/1"
DIGEST = Field(pattern=r"^[0-9a-f]{64}$")
UNKNOWN_COUNTRY, UNKNOWN_LANGUAGE = "zz", "und"

_FRONT_MATTER = re.compile(rb"\A(?:\xef\xbb\xbf)?---[ \t]*\r?\n(.*?)^---[ \t]*\r?$", re.DOTALL | re.MULTILINE)
_FIELD = r"^%s:[ \t]*[\"']?([A-Za-z]{%d})[\"']?[ \t]*\r?$"


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class ExportedSigner(_Frozen):
    """A key that answers for the version."""

    role: str = Field(description="approver of the cut, approver of the enactment, executor or verifier")
    name: str
    fingerprint: str = Field(description="Fingerprint of the OpenPGP key")
    signed_at: str
    statement_sha256: str = Field(description="SHA-256 of the signed statement or payload", pattern=r"^[0-9a-f]{64}$")


class ExportedVersion(_Frozen):
    """A version up to the exported one, for the chain of enactments."""

    version: int
    operation: str
    effective_from: date
    run_id: str


class ExportedUnit(_Frozen):
    """A unit with its exact text."""

    order: int = Field(description="Place of the unit in this version, from 1")
    address: str
    parent: str | None = Field(description="Address of the unit above; null at the top")
    title: str
    unit_kind: str
    section_type: str
    unit_version: int
    effective_from: date
    effective_until: date | None = Field(description="Null if no later version was enacted at the time of the export")
    content_sha256: str = DIGEST
    body: str = Field(description="The exact text of the unit; its UTF-8 has the digest content_sha256")


class LeftOut(_Frozen):
    """Text of the source that is in no unit, such as empty lines and rows that are not in force."""

    before_order: int = Field(description="The unit that follows; one more than the last unit at the end")
    text: str


class ExportRecord(_Frozen):
    """What identifies and proves an export."""

    schema_: Literal["cutter-law-export/1"] = Field(default="cutter-law-export/1", alias="schema")
    document: str
    title: str
    version: int
    operation: str
    effective_from: date
    effective_until: date | None
    enacted_at: str
    run_id: str = Field(description="The run that enacted this version")
    change_set: str
    source_sha256: str = DIGEST
    region_sha256: str = Field(
        description="SHA-256 of all units and left_out texts in order", pattern=r"^[0-9a-f]{64}$"
    )
    writer_digest: str = Field(
        description="The digest of the units that the approvers signed", pattern=r"^[0-9a-f]{64}$"
    )
    units_sha256: str = Field(
        description="SHA-256 of canonical JSON: [order, address, parent, title, content_sha256] of each unit",
        pattern=r"^[0-9a-f]{64}$",
    )
    units: int
    country: str = Field(description="ISO 3166 code in lower case; zz if it is unknown")
    language: str = Field(description="ISO 639 code of three letters; und if it is unknown")
    versions: tuple[ExportedVersion, ...] = Field(description="This version and those before it")
    signers: tuple[ExportedSigner, ...]

    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)


class LawExport(_Frozen):
    """A version of a law with its proof. The texts of `units` and `left_out` in order are the source region."""

    record: ExportRecord
    units: tuple[ExportedUnit, ...]
    left_out: tuple[LeftOut, ...]


def json_schema() -> dict[str, Any]:
    made = LawExport.model_json_schema(by_alias=True)
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "$id": SCHEMA, **made}


def left_out(region: bytes, units: Sequence[Unit], region_sha256: str) -> tuple[LeftOut, ...]:
    """The pieces of the region before, between and after its units, which are in document order.

    Each unit is at the first place after its predecessor where its text occurs: if any placement holds all units, this
    one does. Raises Conflict if a unit's text is not there, or if the region is not the one that the approvers signed.
    """
    digest = sha256_hex(region)
    if digest != region_sha256:
        raise Conflict(
            f"the text of the units and the source between them has the digest {digest[:12]}, and the approvers signed "
            f"{region_sha256[:12]}; keep the database and report this"
        )
    parts: list[LeftOut] = []
    position = 0
    for unit in units:
        body = unit.body.encode()
        start = region.find(body, position)
        if start < 0:
            raise Conflict(
                f"{unit.address}: its stored text is not in the registered source; keep both and report this"
            )
        if start > position:
            parts.append(LeftOut(before_order=unit.order, text=region[position:start].decode()))
        position = start + len(body)
    if position < len(region):
        parts.append(LeftOut(before_order=units[-1].order + 1 if units else 1, text=region[position:].decode()))
    return tuple(parts)


def export_of(
    text: LawText, rest: tuple[LeftOut, ...], known: Sequence[LawVersion], *, country: str = "zz", language: str = "und"
) -> LawExport:
    """The export of a version. `rest` is the text that is in no unit, and `known` are the versions of the law."""
    version = text.version
    units = tuple(
        ExportedUnit(
            order=unit.order, address=unit.address, parent=unit.parent, title=unit.title, unit_kind=unit.unit_kind,
            section_type=unit.section_type, unit_version=unit.version, effective_from=unit.effective_from,
            effective_until=unit.effective_until, content_sha256=unit.content_sha256, body=unit.body,
        )
        for unit in text.units
    )  # fmt: skip
    record = ExportRecord(
        document=version.document, title=version.title, version=version.version, operation=version.operation,
        effective_from=version.effective_from, effective_until=version.effective_until,
        enacted_at=render_instant(version.enacted_at), run_id=version.run_id, change_set=version.change_set,
        source_sha256=version.source_sha256, region_sha256=version.region_sha256,
        writer_digest=version.writer_digest, units_sha256=units_digest(units), units=len(units), country=country,
        language=language,
        versions=tuple(
            ExportedVersion(
                version=item.version, operation=item.operation, effective_from=item.effective_from, run_id=item.run_id
            )
            for item in known
            if item.version <= version.version
        ),
        signers=tuple(
            ExportedSigner(
                role=signer.role, name=signer.name, fingerprint=signer.fingerprint,
                signed_at=render_instant(signer.signed_at), statement_sha256=signer.statement_sha256,
            )
            for signer in text.signers
        ),
    )  # fmt: skip
    return LawExport(record=record, units=units, left_out=rest)


@dataclass(frozen=True, slots=True, kw_only=True)
class Jurisdiction:
    """ISO 3166 code of two letters and ISO 639 code of three, in lower case."""

    country: str = UNKNOWN_COUNTRY
    language: str = UNKNOWN_LANGUAGE


def jurisdiction_of(source: bytes, *, country: str | None, language: str | None) -> Jurisdiction:
    """What the front matter of a source names (`country: fr`, `language: fra`), else the values of its profile."""
    block = _FRONT_MATTER.match(source)
    head = block[1].decode(errors="replace") if block else ""
    return Jurisdiction(
        country=_named(head, "country", 2) or country or UNKNOWN_COUNTRY,
        language=_named(head, "language", 3) or language or UNKNOWN_LANGUAGE,
    )


def _named(head: str, field: str, letters: int) -> str | None:
    match = re.search(_FIELD % (field, letters), head, re.MULTILINE)
    return match[1].lower() if match else None


def units_digest(units: Sequence[ExportedUnit]) -> str:
    """One digest of the units, which needs nothing that is not in the export."""
    return canonical_digest(
        [[unit.order, unit.address, unit.parent, unit.title, unit.content_sha256] for unit in units]
    )


def region_of(export: LawExport) -> bytes:
    texts = {item.before_order: item.text for item in export.left_out}
    parts = [texts.get(unit.order, "") + unit.body for unit in export.units]
    last = export.units[-1].order + 1 if export.units else 1
    return ("".join(parts) + texts.get(last, "")).encode()
