"""IO: finds out whether a document is already enacted, so that a command can refuse before a run begins."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date

from cutter.catalogue import Role
from cutter.errors import Refused
from cutter.settings import Settings
from cutter.storage.pools import session
from cutter.storage.records import records


@dataclass(frozen=True, slots=True, kw_only=True)
class EnactedVersion:
    """The newest enactment of a document. `is_newest` is true if no later version is registered."""

    run_id: str
    effective_from: date
    is_newest: bool


NEWEST = records("enacted_version", EnactedVersion)


def enacted(settings: Settings, document_id: str) -> EnactedVersion | None:
    with session(settings, Role.OPERATOR) as connection:
        return NEWEST.first(connection, {"document_id": document_id})


def require_fits(settings: Settings, document_id: str, *, effective: date | None, changes: bool) -> None:
    """Refuse a version that no run can enact on the law in force, which it corrects or repeals if it `changes` it."""
    law = enacted(settings, document_id)
    if law is None:
        if changes:
            raise Refused(
                f"{document_id} is not enacted, so nothing can be changed: see",
                then=f"cutter status {document_id}",
                code="change_has_its_base",
            )
        return
    if effective is not None and effective < law.effective_from:
        raise Refused(
            f"--effective {effective}: the law in force begins on {law.effective_from}; give that day or a later one, "
            "or correct the law with --correction",
            code="takes_effect_in_order",
        )


def require_can_be_enacted(settings: Settings, document_id: str, *, waits: bool) -> None:
    """Refuse a live run that cannot enact anything, unless the person waits and sees that it is skipped."""
    law = enacted(settings, document_id)
    if law is not None and law.is_newest and not waits:
        raise Refused(
            f"{document_id} is enacted already, by run {law.run_id}, and its text has not changed: there is nothing to "
            "run;",
            then=f"cutter report {law.run_id}",
            rest=" writes its report",
            code="already_enacted",
        )
