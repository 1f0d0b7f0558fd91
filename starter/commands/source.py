"""IO: `cutter source`: register a document and its pinned snapshot. Registering is a person's act; gates only read."""

from __future__ import annotations

import getpass
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any

import typer
from psycopg.types.json import Jsonb

from cutter import limits, marking
from cutter.domain import ids
from cutter.domain.digests import sha256_hex
from cutter.errors import Conflict, InvalidInput
from cutter.gates.source_pin import first_line_not_nfc
from cutter.settings import Settings, load
from cutter.storage import enacted as law
from cutter.storage.gate_transaction import call
from cutter.storage.pools import OPERATOR, session
from cutter.storage.queries import query
from starter.commands import law_text as texts
from starter.console.terminal import Json, show, table


def register(
    settings: Settings, data: bytes, *, document_id: str, docprefix: str | None, profile: str,
    options: dict[str, Any], source_uri: str | None = None, normalise: str | None = None,
    forbidden: tuple[str, ...] = (),
) -> dict[str, Any]:  # fmt: skip
    """Register bytes as the newest version of a document; the same bytes, profile and options again do nothing.

    Without a docprefix it is the one that the document has, else the document's id, which must then fit.
    """
    data, provenance = texts.normalised(data, normalise)
    _require_text(data, document_id, profile)
    body, parsed = texts.profile_of(profile)
    marking.Options(**options, forbidden_ids=forbidden)
    ids.document_id(document_id)
    docprefix = ids.docprefix(docprefix) if docprefix else _docprefix(settings, document_id)
    document = {
        "document_id": document_id,
        "docprefix": docprefix,
        "source_uri": source_uri,
        "tenant": settings.tenant,
        "forbidden_ids": list(forbidden),
    }
    version = {
        "profile_id": parsed.id,
        "profile_sha256": parsed.sha256,
        "profile_body": body.decode(),
        "options": options,
        "provenance": provenance,
    }
    with session(settings, OPERATOR) as connection:
        answer = call(
            connection, "select cutter_governance.fn_source_register(%s, %s, %s, %s)",
            (Jsonb(document), data, Jsonb(version), getpass.getuser()),
        )  # fmt: skip
    if answer["status"] == "conflict":
        raise Conflict(f"{document_id} is registered with {answer['field']} {answer['registered']}: use that one")
    return {**answer, "document_id": document_id, "docprefix": docprefix, "profile": parsed.id, "size_bytes": len(data)}


def _docprefix(settings: Settings, document_id: str) -> str:
    """The registered one, or the id itself; never a part of it, which another id may begin with too."""
    with session(settings, OPERATOR) as connection:
        row = connection.execute(query("docprefix_of_document"), {"document_id": document_id}).fetchone()
    if row is not None:
        return str(row[0])
    try:
        return ids.docprefix(document_id)
    except ids.InvalidId:
        raise InvalidInput(
            f"{document_id} cannot begin addresses (3 to 32 of A-Z, 0-9 and '-', no '-' at either end, not ICX-CONST, "
            f"not DIEU…): give the first segment of its addresses with --docprefix, such as --docprefix ICX-LAW-1"
        ) from None


def _require_text(data: bytes, document_id: str, profile: str) -> None:
    if not data.strip():
        raise InvalidInput("the file is empty: there is nothing to cut")
    if len(data) > limits.SOURCE_BYTES_MAX:
        raise InvalidInput(f"{len(data)} bytes: a source has at most {limits.SOURCE_BYTES_MAX}")
    line = first_line_not_nfc(texts.decoded(data))
    if line is not None:
        raise InvalidInput(
            f"line {line} is not in Unicode NFC: type `cutter source add FILE --document-id {document_id} "
            f"--profile {profile} --normalise nfc` to register a normalised snapshot"
        )


def add(
    file: Annotated[Path, typer.Argument(help="The law's text, UTF-8")],
    document_id: Annotated[str, typer.Option(help="Business key, such as ICX-LAW-2026-001")],
    profile: Annotated[str, typer.Option(help="A shipped profile's name, or a .yaml file")],
    docprefix: Annotated[
        str | None, typer.Option(help="First segment of every address, 3 to 32; default: the document id")
    ] = None,
    source_uri: Annotated[str | None, typer.Option(help="Where the text comes from")] = None,
    duplicates: texts.Duplicates = None,
    empty: texts.Empty = None,
    scope: texts.Scope = None,
    deepest: texts.Deepest = None,
    max_candidates: texts.MaxCandidates = None,
    forbid: texts.Forbid = None,
    normalise: texts.Normalise = None,
    force: Annotated[bool, typer.Option("--force", help="Register also what a run would refuse.")] = False,
    as_json: Json = False,
) -> None:
    """Register a document and its pinned snapshot, after marking it as a run would.

    Example: cutter source add law.md --document-id ICX-LAW-2026-001 --profile generic-markdown
    """
    settings = load()
    options = texts.chosen(
        duplicates=duplicates, empty=empty, scope=scope, deepest=deepest, max_candidates=max_candidates
    )
    registration = Registration(
        document_id=document_id, docprefix=docprefix, profile=profile, options=options, source_uri=source_uri,
        normalise=normalise, forbidden=tuple(forbid or ()),
    )  # fmt: skip
    data = texts.read(file)
    if not force:
        texts.require_allowed(settings, max_candidates)
        _require_runnable(settings, data, registration)
    answer = register(settings, data, **asdict(registration))
    show(answer, as_json=as_json, render=lambda out: out.print(
        table(("field", "value"), sorted(answer.items()), title=f"next: cutter run {document_id}")))  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Registration:
    """What a person says of a text beside its bytes."""

    document_id: str
    docprefix: str | None
    profile: str
    options: dict[str, Any]
    source_uri: str | None
    normalise: str | None
    forbidden: tuple[str, ...]


def _require_runnable(settings: Settings, data: bytes, wanted: Registration) -> None:
    """Refuse what a run would refuse: another version of enacted law, and a text that cannot be marked."""
    data, _ = texts.normalised(data, wanted.normalise)
    _require_text(data, wanted.document_id, wanted.profile)
    _, profile = texts.profile_of(wanted.profile)
    docprefix = ids.docprefix(wanted.docprefix) if wanted.docprefix else _docprefix(settings, wanted.document_id)
    result = texts.outcome(
        settings, data, profile, wanted.options, docprefix=docprefix, forbidden=wanted.forbidden
    )  # fmt: skip
    texts.require_markable(
        result, remedy="a run would refuse it: correct the text or the options (`cutter mark --help`), or give --force"
    )
    law.require_not_another_version(settings, wanted.document_id, sha256_hex(data), profile.sha256, wanted.options)


def list_sources(as_json: Json = False) -> None:
    """List the registered documents with their newest version.

    Example: cutter source list
    """
    with session(load(), OPERATOR) as connection:
        rows = connection.execute(query("sources")).fetchall()
    columns = ("document", "docprefix", "version", "sha256", "profile", "bytes", "tenant")
    show(
        [dict(zip(columns, row, strict=True)) for row in rows],
        as_json=as_json,
        render=lambda out: out.print(table(columns, [[*row[:3], str(row[3])[:16], *row[4:]] for row in rows])),
    )
