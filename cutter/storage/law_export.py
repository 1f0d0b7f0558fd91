"""IO: the export of a version of a law, put together from its stored units and its registered source, and proven."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from cutter import marking
from cutter.domain.digests import sha256_hex
from cutter.errors import Conflict, InvalidInput
from cutter.law.export_record import LawExport, Piece, assembled, export_of, jurisdiction_of
from cutter.law.law_text import LawVersion
from cutter.storage import enacted_law
from cutter.storage.records import Connection


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
    pieces: tuple[Piece, ...] = ()
    if text.units:
        # The part of the source that was cut: nearly always all of it, else what its profile says again.
        region = source.content
        if sha256_hex(region) != version.region_sha256:
            options = marking.Options(**source.marking_options, forbidden_ids=tuple(source.forbidden_ids))
            profile = marking.parse_profile(source.profile_body.encode())
            made = marking.mark(region, profile=profile, docprefix=source.address_prefix, options=options)
            if isinstance(made, marking.MarkRefusal) or made.region_sha != version.region_sha256:
                raise Conflict(
                    f"{version.document} version {version.version}: the registered source does not have the region "
                    "that was cut; keep the database and report this"
                )
            region = region[made.region_start : made.region_end]
        pieces = assembled(region, text.units, version.region_sha256)
    try:
        profile = marking.parse_profile(source.profile_body.encode())
        named = jurisdiction_of(source.content, country=profile.country, language=profile.language)
    except InvalidInput:  # A profile of an earlier version of cutter may no longer be readable.
        named = jurisdiction_of(source.content, country=None, language=None)
    return export_of(text, pieces, known, country=country or named.country, language=language or named.language)
