"""IO: `cutter source` and `cutter repeal`: registers a document with its pinned snapshot, or the repeal of a law. Only
people register; gates only read.
"""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from cutter import sources
from cutter.domain import ids
from cutter.settings import load
from starter.commands import mark
from starter.commands.options import OptionalReason, Reason, SourceUri, day
from starter.console.terminal import AsJson, fields, say, show, table


def add(
    context: typer.Context,
    file: Annotated[Path, typer.Argument(help="The law's text, UTF-8")],
    document_id: Annotated[str, typer.Option(help="Business key, such as ICX-LAW-2026-001")],
    profile: mark.Profile = mark.PROFILE,
    docprefix: mark.DocPrefix = None,
    source_uri: SourceUri = None,
    duplicates: mark.Duplicates = None,
    empty: mark.Empty = None,
    scope: mark.Scope = None,
    deepest: mark.Deepest = None,
    max_candidates: mark.MaxCandidates = None,
    forbid: mark.Forbid = None,
    nesting: mark.Nesting = None,
    accept: mark.Accept = None,
    because: mark.Because = None,
    normalise: mark.Normalise = None,
    remove_direction_marks: mark.RemoveDirectionMarks = False,
    effective: mark.Effective = None,
    correction: Annotated[
        bool, typer.Option("--correction", help="The text corrects the law in force, from the same day; needs --reason")
    ] = False,
    reason: OptionalReason = None,
    force: Annotated[bool, typer.Option("--force", help="Register the text even if a run would refuse it.")] = False,
    as_json: AsJson = False,
) -> None:
    """Register a document and its pinned snapshot, after marking it as a run would.

    Example: cutter source add law.md --document-id ICX-LAW-2026-001 --profile generic-markdown
    """
    settings = load()
    options = sources.chosen(
        duplicates=duplicates, empty=empty, scope=scope, deepest=deepest, max_candidates=max_candidates,
        nesting=nesting, accept=mark.accepted(accept, because),
    )  # fmt: skip
    registration = sources.Registration(
        document_id=document_id, docprefix=docprefix, profile=profile, options=options, source_uri=source_uri,
        normalise=normalise, forbidden=tuple(forbid or ()), remove_direction_marks=remove_direction_marks,
        effective=day("--effective", effective), correction=mark.because_of(correction, reason),
    )  # fmt: skip
    data = sources.read(file)
    if not mark.is_typed(context, "profile"):
        used = sources.profile_in_use(settings, document_id)
        if used not in (None, mark.PROFILE):
            say(
                f"--profile is not given, so {mark.PROFILE} reads the text; {used} read the version before: "
                "give --profile to cut both alike"
            )
    if not force:
        sources.require_allowed(settings, max_candidates)
        sources.require_runnable(settings, data, registration)
    answer = asdict(sources.register(settings, data, **asdict(registration)))
    shown = as_read(answer, document_id, profile, len(data))
    show(answer, as_json=as_json, render=lambda out: out.print(fields(shown), soft_wrap=True))


_FIRST = ("document", "version", "profile", "size", "sha256", "status")
"""The fields of a registration in the order in which people read them. Others follow."""


def as_read(answer: dict[str, object], document_id: str, profile: str, size: int) -> dict[str, object]:
    """The answer to a registration for people. `size` counts the bytes of the file."""
    known: dict[str, object] = {
        "document": document_id, "version": answer.get("version_seq"), "profile": profile,
        "size": f"{size:,} bytes", **{name: value for name, value in answer.items() if name != "version_seq"},
    }  # fmt: skip
    if known.get("status") == "registered_before":
        known["status"] = "registered before; nothing changed"
    left_out = {"document_id", "size_bytes"} | ({"docprefix"} if known.get("docprefix") == document_id else set())
    ordered = {name: known[name] for name in (*_FIRST, *known) if name in known and name not in left_out}
    return {**ordered, "next": f"cutter run {document_id}"}


def repeal(
    document: Annotated[str, typer.Argument(help="The enacted law's document id")],
    reason: Reason,
    effective: mark.Effective = None,
    as_json: AsJson = False,
) -> None:
    """Register the repeal of a whole law. Its run needs both signatures, like any change of the law.

    Example: cutter repeal ICX-LAW-2026-001 --effective 2027-01-01 --reason "replaced by ICX-LAW-2026-014"
    """
    begins = day("--effective", effective)
    answer = asdict(sources.repeal(load(), ids.document_id(document), effective=begins, reason=reason))
    show(answer, as_json=as_json, render=lambda out: out.print(
        table(("field", "value"), sorted(answer.items()), title=f"next: cutter run {document}")))  # fmt: skip
