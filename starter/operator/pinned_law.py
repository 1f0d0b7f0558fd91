"""IO: reads the text that a run has pinned from PostgreSQL, and marks it again for the report of the run."""

from __future__ import annotations

from dataclasses import dataclass

from cutter import marking
from cutter.catalogue import Role, Sovereign
from cutter.marking.titles import law_title
from cutter.projections.report import PinnedLaw
from cutter.request_view.builder import build_view
from cutter.settings import Settings
from cutter.storage.law_texts import LAW, TERMS
from cutter.storage.pools import session
from cutter.storage.records import Connection, records
from cutter.storage.request_transaction import SEALED, STORED
from cutter.storage.run_evidence import RegisteredText


@dataclass(frozen=True, slots=True, kw_only=True)
class PinnedText(RegisteredText):
    source_version_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """The number of units of one lifecycle status."""

    status: str
    units: int


TEXT = records("text_of_run", PinnedText)
HELD = records("units_held", Held)


def pinned_law(settings: Settings, run_id: str) -> PinnedLaw:
    """The law of a run: its cut if the text can be marked, and the rows that PostgreSQL holds if the run wrote."""
    with session(settings, Role.OPERATOR) as connection:
        return read_pinned_law(connection, run_id)


def read_pinned_law(connection: Connection, run_id: str) -> PinnedLaw:
    """The same on an open connection."""
    asked = {"run_id": run_id, "gate": Sovereign.LIFECYCLE.value}
    text = TEXT.first(connection, asked)
    sealed = SEALED.all(connection, asked)
    stored = STORED.all(connection, asked) if sealed else []
    terms, law = TERMS.first(connection, asked), LAW.all(connection, asked)
    held = {row.status: row.units for row in HELD.all(connection, asked)} if sealed else {}
    if text is None:
        return PinnedLaw(why="The run has pinned no text.")
    title = law_title(text.data)
    options = marking.Options(**text.options, forbidden_ids=tuple(text.forbidden_ids))
    profile = marking.parse_profile(text.profile_body.encode())
    marked = marking.mark_registered(text.data, profile=profile, docprefix=text.docprefix, options=options)
    if isinstance(marked, marking.MarkRefusal):
        return PinnedLaw(title=title, why=f"The text cannot be cut: {marked.message}", refused=marked.findings)
    view = build_view(
        text.data, marked, docprefix=text.docprefix, source_version_id=text.source_version_id, stored=stored,
        sealed=sealed, law=terms.base(law) if terms else None,
        effective_from=terms.day if terms else None, reason=terms.change_reason if terms else None,
        registered=terms.registration if terms else None, removed_pages=terms.removed_pages if terms else None,
    )  # fmt: skip
    return PinnedLaw(view=view, title=title, held=held)
