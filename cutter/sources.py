"""IO: works on the text of a law: reads it, chooses its profile, marks it as a run would, and registers it.

`cutter mark`, `cutter source add` and `cutter orchestrate batch --check` use this module. So they give the same result
as each other and as the workers.
"""

from __future__ import annotations

import getpass
import shlex
import unicodedata
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

from psycopg.types.json import Jsonb

from cutter import limits, marking
from cutter.catalogue import Role
from cutter.domain import ids
from cutter.domain.digests import sha256_hex
from cutter.domain.file_formats import conversion
from cutter.errors import Conflict, InvalidInput, Refused
from cutter.gates.source_pin import first_line_not_nfc
from cutter.marking.page_lines import Cleaning, without_pages
from cutter.marking.titles import BIDI, law_title
from cutter.settings import Settings
from cutter.stack import workers
from cutter.storage import runs as law
from cutter.storage.gate_transaction import call
from cutter.storage.pools import session
from cutter.storage.records import Connection, Rows, records, values
from cutter.storage.run_evidence import RegisteredText
from cutter.types import Json

PROFILE_FILES = (".yaml", ".yml")

PREVIEW_PREFIX = "LAW"
"""The first segment of every address in a preview, which knows no document."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RegisteredVersion:
    """A registered version of a document. `size_bytes` is the size of the registered text, and `profile` an id.

    `status` is `registered`, or `registered_before` if the newest version is the same. `version_seq` counts from 1.
    """

    status: str
    sha256: str
    version_seq: int
    source_version_id: str
    document_id: str
    docprefix: str
    profile: str
    size_bytes: int


TEXT = records("text_of_newest_version", RegisteredText)
DOCPREFIX: Rows[str] = values("docprefix_of_document")


def read(file: Path) -> bytes:
    """The bytes of a file that a person named. Raises InvalidInput with the reason if the file cannot be read."""
    try:
        if not (file.is_file() or file.is_dir()) and file.exists():
            # A read of a pipe would wait for a writer.
            raise InvalidInput(f"{file}: it is no regular file; name a file with the text")
        return file.read_bytes()
    except OSError as error:
        raise InvalidInput(f"{file}: {error.strerror or error}; name a readable file") from None


def profile_of(name: str) -> tuple[bytes, marking.Profile]:
    """The bytes of a profile and the profile itself, by the name of a shipped one or the path of a YAML file."""
    path = Path(name)
    if name not in marking.PROFILES and path.suffix in PROFILE_FILES:
        body = read(path)
        return body, marking.parse_profile(body)
    profile = marking.load_profile(name)
    return marking.profile_bytes(name), profile


def profile_in_use(settings: Settings, document_id: str) -> str | None:
    """The profile of a document's newest version. None for an unknown document."""
    with session(settings, Role.OPERATOR) as connection:
        newest = TEXT.first(connection, {"document_id": document_id})
    return None if newest is None else _registered_profile(newest).id


def chosen(**given: Any) -> dict[str, Any]:
    """The given marking options, in the form that is stored with a version."""
    return {name: value for name, value in given.items() if value is not None}


def for_prefix(options: dict[str, Any], docprefix: str) -> dict[str, Any]:
    """The options with the accepted findings as they are named in this document. `cutter mark` shows addresses that
    begin with LAW, because it knows no document. So LAW at the begin of an address stands for the document's prefix.
    """
    accept = options.get("accept")
    if not accept:
        return options
    prefixed = {}
    for name, reason in accept.items():
        kind, colon, address = name.partition(":")
        first, slash, rest = address.partition("/")
        own = f"{kind}{colon}{docprefix}{slash}{rest}" if first == PREVIEW_PREFIX else name
        prefixed[own] = reason
    return {**options, "accept": prefixed}


@dataclass(frozen=True, slots=True, kw_only=True)
class Cleaned:
    """A text as it is registered, with its changes in the form of the version's provenance, and those of its pages."""

    data: bytes
    changes: dict[str, Any]
    pages: Cleaning | None = None


def cleaned(data: bytes, *, normalise: str | None, remove_direction_marks: bool) -> Cleaned:
    """The text as it is registered, and the changes.

    Without direction marks, which are invisible and change the shown order of a line, if they are to be removed. Then
    in Unicode's form NFC, and without the remains of pages, as far as `normalise` names them.
    """
    forms = normalise.split(",") if normalise is not None else []
    if not set(forms) <= {"nfc", "pages"} or len(set(forms)) < len(forms):
        raise InvalidInput(f"--normalise {normalise}: only nfc, pages, and nfc,pages are known")
    changes: dict[str, Any] = {}
    pages = None
    if remove_direction_marks:
        text, count = BIDI.subn("", decoded(data))
        new = text.encode()
        changes |= {
            "direction_marks_removed": count,
            "marked_sha256": sha256_hex(data),
            "unmarked_sha256": sha256_hex(new),
        }
        data = new
    if "nfc" in forms:
        text = decoded(data)
        after = unicodedata.normalize("NFC", text)
        lines = zip(text.split("\n"), after.split("\n"), strict=True)
        new = after.encode()
        changes |= {
            "normalised": "nfc",
            "from_sha256": sha256_hex(data),
            "to_sha256": sha256_hex(new),
            "lines_changed": sum(line != other for line, other in lines),
        }
        data = new
    if "pages" in forms:
        decoded(data)
        pages = without_pages(data)
        changes |= {
            "pages_removed": pages.counts,
            "paged_sha256": sha256_hex(data),
            "unpaged_sha256": sha256_hex(pages.data),
        }
        data = pages.data
    return Cleaned(data=data, changes=changes, pages=pages)


def decoded(data: bytes) -> str:
    """The text of UTF-8 bytes. Raises InvalidInput with the line of the first byte that is not UTF-8."""
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as problem:
        line = data[: problem.start].count(b"\n") + 1
        raise InvalidInput(f"line {line}: byte {problem.start} is not UTF-8; {conversion(data)}") from None


def allowed_candidates(settings: Settings) -> int:
    """The number of units that a document may have here: what the running workers know, else the setting."""
    return int(workers.given_settings(settings).get("max_candidates", settings.max_candidates))


def require_allowed(settings: Settings, wanted: int | None) -> None:
    """Refuse a number of units that the workers would refuse."""
    allowed = allowed_candidates(settings)
    if wanted is None or wanted <= allowed:
        return
    if wanted > limits.CANDIDATES_MAX:
        raise InvalidInput(f"--max-candidates {wanted}: 1 to {limits.CANDIDATES_MAX}")
    raise InvalidInput(
        f"--max-candidates {wanted}: the workers allow {allowed}: set CUTTER_MAX_CANDIDATES={wanted}, type",
        then="cutter down",
        rest=", then `cutter up`",
    )


def outcome(
    settings: Settings, data: bytes, profile: marking.Profile, options: dict[str, Any], *, docprefix: str,
    forbidden: tuple[str, ...] = (),
) -> marking.Marking | marking.MarkRefusal:  # fmt: skip
    """The marking that a run would make of the text with the allowed number of units, or its refusal."""
    made = bounded(settings, options, forbidden=forbidden)
    return marking.mark(data, profile=profile, docprefix=docprefix, options=made)


def bounded(settings: Settings, options: dict[str, Any], *, forbidden: tuple[str, ...] = ()) -> marking.Options:
    """The document's options. The limit of the workers also bounds the number of its units."""
    allowed = allowed_candidates(settings)
    units = min(int(options.get("max_candidates", allowed)), allowed)
    return marking.Options(**{**options, "max_candidates": units}, forbidden_ids=forbidden)


def marking_of_registered(
    settings: Settings, connection: Connection, document_id: str
) -> marking.Marking | marking.MarkRefusal | None:
    """The marking that a run would make of a document's newest version. None for an unknown document."""
    registered = TEXT.first(connection, {"document_id": document_id})
    if registered is None:
        return None
    return outcome(
        settings, registered.data, _registered_profile(registered), registered.options, docprefix=registered.docprefix,
        forbidden=tuple(registered.forbidden_ids),
    )  # fmt: skip


def _registered_profile(registered: RegisteredText) -> marking.Profile:
    return marking.parse_profile(registered.profile_body.encode())


@dataclass(frozen=True, slots=True, kw_only=True)
class Registration:
    """The information that a person gives about a text in addition to its bytes."""

    document_id: str
    docprefix: str | None
    profile: str
    options: dict[str, Any]
    source_uri: str | None
    normalise: str | None
    forbidden: tuple[str, ...]
    remove_direction_marks: bool = False
    effective: date | None = None
    correction: str | None = None
    """The reason for a correction. None for a new text."""


def require_runnable(settings: Settings, data: bytes, wanted: Registration) -> None:
    """Refuse a registration that a run would refuse: no change of the enacted law, or no markable text."""
    data = cleaned(data, normalise=wanted.normalise, remove_direction_marks=wanted.remove_direction_marks).data
    _require_text(data, wanted.document_id, wanted.profile)
    _, profile = profile_of(wanted.profile)
    docprefix = ids.docprefix(wanted.docprefix) if wanted.docprefix else _docprefix(settings, wanted.document_id)
    options = for_prefix(wanted.options, docprefix)
    result = outcome(settings, data, profile, options, docprefix=docprefix, forbidden=wanted.forbidden)
    if isinstance(result, marking.MarkRefusal):
        options_of_mark = "cutter mark --help"
        remedy = f"a run would refuse it: correct the text or the options (`{options_of_mark}`), or give --force"
        raise Refused(f"{result.message}; {remedy}", code=result.code).leads_to(result.then or options_of_mark)
    law.require_fits(settings, wanted.document_id, effective=wanted.effective, changes=wanted.correction is not None)


def register(
    settings: Settings, data: bytes, *, document_id: str, docprefix: str | None, profile: str,
    options: dict[str, Any], source_uri: str | None = None, normalise: str | None = None,
    forbidden: tuple[str, ...] = (), remove_direction_marks: bool = False, effective: date | None = None,
    correction: str | None = None,
) -> RegisteredVersion:  # fmt: skip
    """Register bytes as the newest version of a document; the same bytes, profile, options and terms again do nothing.

    Without a docprefix it is the one that the document has, else the document's id, which must then fit. `correction`
    is the reason of a correction.
    """
    terms = _terms(effective, "text" if correction is None else "correction", correction)
    text = cleaned(data, normalise=normalise, remove_direction_marks=remove_direction_marks)
    data = text.data
    _require_text(data, document_id, profile)
    body, parsed = profile_of(profile)
    ids.document_id(document_id)
    docprefix = ids.docprefix(docprefix) if docprefix else _docprefix(settings, document_id)
    options = for_prefix(options, docprefix)
    marking.Options(**options, forbidden_ids=forbidden)
    document = {"source_uri": source_uri, "tenant": settings.tenant, "forbidden_ids": list(forbidden)}
    version = {
        "profile_body": body.decode(),
        "options": options,
        "provenance": {**text.changes, **({"title": title} if (title := law_title(data)) else {})},
        **terms,
    }
    return _registered(settings, document_id, docprefix, parsed, data, document=document, version=version)


def repeal(settings: Settings, document_id: str, *, effective: date | None, reason: str) -> RegisteredVersion:
    """Register the repeal of a whole law: the empty text, with the profile of the law in force."""
    law.require_fits(settings, document_id, effective=effective, changes=True)
    with session(settings, Role.OPERATOR) as connection:
        newest = TEXT.one(connection, {"document_id": document_id})
    profile = _registered_profile(newest)
    version = {"profile_body": newest.profile_body, "options": {}, **_terms(effective, "repeal", reason)}
    return _registered(settings, document_id, newest.docprefix, profile, b"", document={}, version=version)


def _terms(effective: date | None, kind: str, reason: str | None) -> Json:
    """What a version says about the change that it makes. A correction takes effect with what it corrects."""
    if kind == "correction" and effective is not None:
        raise InvalidInput("a correction holds from the day of the law that it corrects: leave out --effective")
    if reason is not None and not reason.strip():
        raise InvalidInput("--reason is empty: say in one sentence why the law changes")
    return {
        "change_kind": kind,
        "change_reason": None if reason is None else " ".join(reason.split()),
        "effective_from": effective and effective.isoformat(),
    }


def _registered(
    settings: Settings, document_id: str, docprefix: str, profile: marking.Profile, data: bytes, *, document: Json,
    version: Json,
) -> RegisteredVersion:  # fmt: skip
    """Register a text as a version. `document` and `version` are the other fields of the two bodies that are sent."""
    document = {"document_id": document_id, "docprefix": docprefix, **document}
    version = {"profile_id": profile.id, "profile_sha256": profile.sha256, **version}
    with session(settings, Role.OPERATOR) as connection:
        answer = call(
            connection, dict, "select cutter_governance.fn_source_register(%s, %s, %s, %s)",
            (Jsonb(document), data, Jsonb(version), getpass.getuser()),
        )  # fmt: skip
    if answer["status"] == "conflict":
        raise Conflict(f"{document_id} is registered with {answer['field']} {answer['registered']}: use that one")
    return RegisteredVersion(
        status=answer["status"], sha256=answer["sha256"], version_seq=answer["version_seq"],
        source_version_id=answer["source_version_id"], document_id=document_id, docprefix=docprefix,
        profile=profile.id, size_bytes=len(data),
    )  # fmt: skip


def _docprefix(settings: Settings, document_id: str) -> str:
    """The registered one, or the id itself; never a part of it, which another id may begin with too."""
    with session(settings, Role.OPERATOR) as connection:
        registered = DOCPREFIX.first(connection, {"document_id": document_id})
    if registered is not None:
        return registered
    try:
        return ids.docprefix(document_id)
    except ids.InvalidId:
        raise InvalidInput(
            f"{document_id} cannot begin addresses (3 to 32 of A-Z, 0-9 and '-', no '-' at either end, not ICX-CONST, "
            f"not DIEU…). Give the first segment of its addresses with --docprefix, such as --docprefix ICX-LAW-1"
        ) from None


def _require_text(data: bytes, document_id: str, profile: str) -> None:
    if not data.strip():
        raise InvalidInput("the file is empty: there is nothing to cut")
    if len(data) > limits.SOURCE_BYTES_MAX:
        raise InvalidInput(f"{len(data)} bytes: a source has at most {limits.SOURCE_BYTES_MAX}")
    line = first_line_not_nfc(decoded(data))
    if line is not None:
        raise InvalidInput(
            f"line {line} is not in Unicode NFC: type",
            then=f"cutter source add FILE --document-id {document_id} --profile {shlex.quote(profile)} --normalise nfc",
            rest=" to register a normalised snapshot",
        )
