"""IO: whether a document is already enacted, so that a command says so before a run does."""

from __future__ import annotations

from typing import Any

from psycopg.rows import dict_row

from cutter.errors import Refused
from cutter.settings import Settings
from cutter.storage.pools import OPERATOR, session
from cutter.storage.queries import query

ENACTED = "STOP_DOCUMENT_ENACTED"


def enacted(settings: Settings, document_id: str) -> dict[str, Any] | None:
    """The run that enacted the document and what it cut, and whether the newest version is that one; or None."""
    with session(settings, OPERATOR) as connection:
        cursor = connection.cursor(row_factory=dict_row)
        return cursor.execute(query("enacted_version"), {"document_id": document_id}).fetchone()


def require_not_another_version(
    settings: Settings, document_id: str, sha256: str, profile_sha256: str, options: dict[str, Any]
) -> None:
    """Refuse to register a version that no run can enact; the enacted one again is no new version."""
    law = enacted(settings, document_id)
    if law is None:
        return
    if (law["content_checksum"], law["profile_sha256"], law["marking_options"]) != (sha256, profile_sha256, options):
        raise _is_law(document_id, str(law["run_id"]))


def refusal(settings: Settings, document_id: str) -> tuple[str, str] | None:
    """(Code, reason) for which no run can enact a document's newest version; None when one can, or has."""
    law = enacted(settings, document_id)
    if law is None or law["is_newest"]:
        return None
    problem = _is_law(document_id, str(law["run_id"]))
    return problem.code, str(problem)


def require_can_be_enacted(settings: Settings, document_id: str, *, waits: bool) -> None:
    """Refuse a live run that cannot enact anything. `waits`: the person waits to see that the run is skipped."""
    law = enacted(settings, document_id)
    if law is None:
        return
    run_id = str(law["run_id"])
    if not law["is_newest"]:
        raise _is_law(document_id, run_id)
    if not waits:
        raise Refused(
            f"{document_id} is law already, by run {run_id}, and its text has not changed since: there is nothing to "
            f"run; `cutter report {run_id}` writes its report",
            code="already_enacted",
        )


def _is_law(document_id: str, run_id: str) -> Refused:
    return Refused(
        f"{document_id} is law already, by run {run_id}: another version of it cannot be enacted, since superseding is "
        f"not built; `cutter report {run_id}` shows what is law, a corrected text needs a document id of its own",
        code=ENACTED,
    )
