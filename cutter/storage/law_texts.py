"""IO: the law that a run changes with the terms of the change, and the proven export of a version of a law."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Any
from uuid import UUID

from cutter import marking
from cutter.domain.digests import sha256_hex
from cutter.errors import Conflict, InvalidInput
from cutter.law.export_record import LawExport, LeftOut, export_of, jurisdiction_of, left_out
from cutter.law.law_text import LawVersion
from cutter.marking.revision import Base, UnitInForce, UnitTextInForce
from cutter.storage import enacted_law
from cutter.storage.records import Connection, records

LAW = records("law_in_force", UnitInForce)
"""Takes `run_id`; the units of the run's base in document order, none for a first cut."""

LAW_TEXT = records("law_text_in_force", UnitTextInForce)
"""The same with the text of each unit, which a request compares by word."""

ENACTED = records("law_enacted", UnitInForce)
"""Takes `run_id`; the units of the law that the run enacted, in document order."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Continued:
    """A created unit, and the repealed one whose text it continues."""

    address: str
    continues: str


CONTINUED = records("units_continued", Continued)
"""Takes `run_id`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """What a run changes, from which day (None: the day of enactment), and why (None: a new text)."""

    operation_kind: str
    base_source_version_id: UUID | None
    base_receipt_hash: str | None
    base_title: str | None
    effective_from: date | None
    change_reason: str | None
    registered_by: str | None
    registered_at: datetime | None
    provenance: Any

    @property
    def registration(self) -> str | None:
        """Who registered the text, and on which day (`by anna on 2026-11-23`). None before the text is pinned."""
        if self.registered_by is None or self.registered_at is None:
            return None
        return f"by {self.registered_by} on {self.registered_at.astimezone(UTC):%Y-%m-%d}"

    @property
    def removed_pages(self) -> str | None:
        """What was removed from the registered file as the remains of pages, and the digest of that file. None if
        nothing was removed.
        """
        counts = (self.provenance or {}).get("pages_removed")
        if not counts:
            return None
        kinds = ", ".join(f"{count} {kind.replace('_', ' ')}" for kind, count in sorted(counts.items()))
        return f"{kinds}, from the text with sha256 {self.provenance['paged_sha256']}"

    def base(self, units: Sequence[UnitInForce]) -> Base | None:
        """The law in force with its units; None for a first cut."""
        if self.base_source_version_id is None or self.base_receipt_hash is None:
            return None
        return Base(
            operation_kind=self.operation_kind, source_version_id=str(self.base_source_version_id),
            receipt_hash=self.base_receipt_hash, units=tuple(units), title=self.base_title,
        )  # fmt: skip

    @property
    def day(self) -> str | None:
        """The effective day as people read it."""
        return self.effective_from.isoformat() if self.effective_from else None


TERMS = records("terms_of_run", Terms)
"""Takes `run_id`."""


def export_of_version(
    connection: Connection, known: Sequence[LawVersion], version: LawVersion, *, country: str | None = None,
    language: str | None = None, recorded: datetime = enacted_law.NEWEST,
) -> LawExport:  # fmt: skip
    """The export of one of the `known` versions of a law, as the database showed it at that moment.

    Without a country or language it takes what the source or its profile names. Raises Conflict if the units and the
    source do not give the bytes whose digest the approvers signed.
    """
    text = enacted_law.text_of(connection, version, recorded=recorded)
    asked = {"document": version.document, "version": version.version}
    source = enacted_law.SOURCE.one(connection, asked)
    rest: tuple[LeftOut, ...] = ()
    if text.units:
        # The part of the source that was cut: nearly always all of it, else what its profile says again.
        region = source.data
        if sha256_hex(region) != version.region_sha256:
            options = marking.Options(**source.options, forbidden_ids=tuple(source.forbidden_ids))
            profile = marking.parse_profile(source.profile_body.encode())
            made = marking.mark(region, profile=profile, docprefix=source.docprefix, options=options)
            if isinstance(made, marking.MarkRefusal) or made.region_sha != version.region_sha256:
                raise Conflict(
                    f"{version.document} version {version.version}: the registered source does not have the region "
                    "that was cut; keep the database and report this"
                )
            region = region[made.region_start : made.region_end]
        rest = left_out(region, text.units, version.region_sha256)
    try:
        profile = marking.parse_profile(source.profile_body.encode())
        named = jurisdiction_of(source.data, country=profile.country, language=profile.language)
    except InvalidInput:  # A profile of an earlier version of cutter may no longer be readable.
        named = jurisdiction_of(source.data, country=None, language=None)
    return export_of(text, rest, known, country=country or named.country, language=language or named.language)
