"""IO: errors about unknown names. They suggest the name that the person probably meant, and the next command."""

from __future__ import annotations

import shlex
from difflib import get_close_matches

from cutter import limits
from cutter.catalogue import Role
from cutter.errors import CutterError, InvalidInput, NotFound
from cutter.settings import Settings
from cutter.storage.pools import Connection, session
from cutter.storage.records import Rows, values

UNKNOWN_DOCUMENT = "STOP_DOCUMENT_UNKNOWN"

KNOWN: Rows[bool] = values("document_known")
DOCUMENTS: Rows[str] = values("document_names")
BATCHES: Rows[str] = values("batch_names")
TENANTS: Rows[str] = values("tenants_declared")


def unknown_document(connection: Connection, document_id: str) -> NotFound:
    """The error for a document that is not registered."""
    known = _documents_near(connection, document_id)
    meant = _meant(document_id, known)
    add = f"cutter source add FILE --document-id {shlex.quote(document_id)} --profile PROFILE"
    if not known:
        return NotFound(f"{document_id} is not registered: type", then=add, code=UNKNOWN_DOCUMENT)
    message = f"{document_id} is not registered: {meant}see"
    return NotFound(message, then="cutter law show", rest=f", or type `{add}`", code=UNKNOWN_DOCUMENT)


def without_a_run(connection: Connection, document_id: str) -> NotFound:
    """The error for a document without a run, or for a document that is not registered."""
    if not KNOWN.one(connection, {"document_id": document_id}):
        return unknown_document(connection, document_id)
    return NotFound(f"{document_id} has no run: type", then=f"cutter run {document_id}", code="STOP_RUN_NOT_FOUND")


def require_tenant(settings: Settings) -> None:
    """Refuse an undeclared tenant in CUTTER_TENANT, if any tenants are declared."""
    if "tenant" not in settings.model_fields_set:
        return
    with session(settings, Role.OPERATOR) as connection:
        declared = TENANTS.all(connection)
    if declared and settings.tenant not in declared:
        meant = _meant(settings.tenant, declared)
        raise InvalidInput(
            f"CUTTER_TENANT: the tenant {settings.tenant} is unknown: {meant}see",
            then="cutter tenants",
            rest=f", or declare it by `cutter tenants set {settings.tenant} --weight 1`",
        )


def with_batches_meant(connection: Connection, problem: CutterError, batch_id: str) -> CutterError:
    """An error about an unknown batch, with the id that the person probably meant."""
    meant = _meant(batch_id, BATCHES.all(connection, {"limit": limits.NAMES_COMPARED_MAX}))
    return NotFound(f"{problem}; {meant.rstrip()}", code=problem.code).leads_to(problem.then) if meant else problem


def documents_alike(connection: Connection, document_id: str) -> list[str]:
    """The registered documents with similar names, the most similar one first."""
    return _alike(document_id, _documents_near(connection, document_id))


def _documents_near(connection: Connection, document_id: str) -> list[str]:
    near = {"near": document_id.upper(), "limit": limits.NAMES_COMPARED_MAX}
    return DOCUMENTS.all(connection, near)


def _meant(name: str, known: list[str]) -> str:
    """The beginning of a remedy: the most similar known name. Empty if no name is similar."""
    alike = _alike(name, known)
    return f"did you mean {alike[0]}? " if alike else ""


def _alike(name: str, known: list[str]) -> list[str]:
    typed = name.upper() if name.upper() in known else name
    # Similar names that are considered, because the most similar document may have no enacted law.
    return get_close_matches(typed, known, n=5, cutoff=0.7)
