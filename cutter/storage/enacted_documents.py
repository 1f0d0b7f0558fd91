"""IO: finds out whether a document is already enacted, so that a command can refuse before a run begins."""

from __future__ import annotations

from dataclasses import dataclass

from cutter.errors import Refused
from cutter.settings import Settings
from cutter.storage.pools import OPERATOR, session
from cutter.storage.records import records
from cutter.types import Json

ENACTED = "STOP_DOCUMENT_ENACTED"


@dataclass(frozen=True, slots=True, kw_only=True)
class EnactedVersion:
    """The run that enacted a document, and the enacted version. `is_newest` is true if no later one is registered."""

    run_id: str
    content_checksum: str
    profile_sha256: str
    marking_options: Json
    is_newest: bool


NEWEST = records("enacted_version", EnactedVersion)


def enacted(settings: Settings, document_id: str) -> EnactedVersion | None:
    """The last enacted version of a document, or None."""
    with session(settings, OPERATOR) as connection:
        return NEWEST.first(connection, {"document_id": document_id})


def require_not_another_version(
    settings: Settings, document_id: str, sha256: str, profile_sha256: str, options: Json
) -> None:
    """Refuse to register a version that no run can enact. The enacted version itself may be registered again."""
    law = enacted(settings, document_id)
    if law is None:
        return
    if (law.content_checksum, law.profile_sha256, law.marking_options) != (sha256, profile_sha256, options):
        raise _is_law(document_id, law.run_id)


def refusal(settings: Settings, document_id: str) -> tuple[str, str] | None:
    """(Code, reason) if no run can enact the document's newest version. None if a run can enact it, or has done so."""
    law = enacted(settings, document_id)
    if law is None or law.is_newest:
        return None
    problem = _is_law(document_id, law.run_id)
    return problem.code, str(problem)


def require_can_be_enacted(settings: Settings, document_id: str, *, waits: bool) -> None:
    """Refuse a live run that cannot enact anything.

    If `waits` is true, the person watches the run and sees that it is skipped, so an unchanged text is not refused.
    """
    law = enacted(settings, document_id)
    if law is None:
        return
    if not law.is_newest:
        raise _is_law(document_id, law.run_id)
    if not waits:
        raise Refused(
            f"{document_id} is enacted already, by run {law.run_id}, and its text has not changed: there is nothing to "
            f"run; `cutter report {law.run_id}` writes its report",
            code="already_enacted",
        )


def _is_law(document_id: str, run_id: str) -> Refused:
    return Refused(
        f"{document_id} is enacted already, by run {run_id}: another version of it cannot be enacted, because "
        f"superseding is not built; `cutter report {run_id}` shows the enacted text, and a corrected text needs a "
        "document id of its own",
        code=ENACTED,
    )
