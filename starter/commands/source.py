"""IO: `cutter source`: register a document and its pinned snapshot. Registering is a person's act; gates only read."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from cutter import sources
from cutter.settings import load
from cutter.storage.pools import OPERATOR, session
from cutter.storage.queries import query
from starter.commands import text_options
from starter.console.terminal import Json, show, table


def add(
    file: Annotated[Path, typer.Argument(help="The law's text, UTF-8")],
    document_id: Annotated[str, typer.Option(help="Business key, such as ICX-LAW-2026-001")],
    profile: text_options.Profile = text_options.PROFILE,
    docprefix: Annotated[
        str | None, typer.Option(help="First segment of every address, 3 to 32; default: the document id")
    ] = None,
    source_uri: Annotated[str | None, typer.Option(help="Where the text comes from")] = None,
    duplicates: text_options.Duplicates = None,
    empty: text_options.Empty = None,
    scope: text_options.Scope = None,
    deepest: text_options.Deepest = None,
    max_candidates: text_options.MaxCandidates = None,
    forbid: text_options.Forbid = None,
    normalise: text_options.Normalise = None,
    remove_direction_marks: text_options.RemoveDirectionMarks = False,
    force: Annotated[bool, typer.Option("--force", help="Register also what a run would refuse.")] = False,
    as_json: Json = False,
) -> None:
    """Register a document and its pinned snapshot, after marking it as a run would.

    Example: cutter source add law.md --document-id ICX-LAW-2026-001 --profile generic-markdown
    """
    settings = load()
    options = sources.chosen(
        duplicates=duplicates, empty=empty, scope=scope, deepest=deepest, max_candidates=max_candidates
    )
    registration = sources.Registration(
        document_id=document_id, docprefix=docprefix, profile=profile, options=options, source_uri=source_uri,
        normalise=normalise, forbidden=tuple(forbid or ()), remove_direction_marks=remove_direction_marks,
    )  # fmt: skip
    data = sources.read(file)
    if not force:
        sources.require_allowed(settings, max_candidates)
        sources.require_runnable(settings, data, registration)
    answer = sources.register(settings, data, **asdict(registration))
    show(answer, as_json=as_json, render=lambda out: out.print(
        table(("field", "value"), sorted(answer.items()), title=f"next: cutter run {document_id}")))  # fmt: skip


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
