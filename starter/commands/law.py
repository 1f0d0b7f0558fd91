"""IO: `cutter law`: reads enacted law: which laws there are, their text on a day, their versions, and what changed.

The law comes from the views of the schema `api` alone (`cutter.storage.enacted_law`).
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import UTC, date, datetime, time
from typing import Annotated

import typer
from rich.console import Console, Group, RenderableType

from cutter import limits
from cutter.catalogue import Role
from cutter.domain.word_diff import brief
from cutter.errors import InvalidInput, NotFound
from cutter.law import views
from cutter.law.law_text import LawText, LawVersion
from cutter.law.views import Comparison, compare
from cutter.settings import load
from cutter.storage import enacted_law
from cutter.storage.pools import session
from cutter.storage.records import Connection, records
from starter.commands.options import day
from starter.console.terminal import AsJson, Listing, by_word, fields, line, plain, quoted, show, table

DOCUMENT = typer.Argument(help="Document id of the law, such as ICX-LAW-2026-001")
Document = Annotated[str, DOCUMENT]
OptionalDocument = Annotated[str | None, DOCUMENT]
UnitName = Annotated[str | None, typer.Argument(help="Address of a unit, or the end of one, such as ARTICLE-3")]
At = Annotated[str | None, typer.Option("--at", help="The law in force on this day, such as 2026-07-01")]
Version = Annotated[int | None, typer.Option("--version", help="The version; see `cutter law history DOCUMENT`")]

Recorded = Annotated[
    str | None,
    typer.Option("--recorded", help="What was known at the end of this day (UTC), or of 2026-07-01T12:00:00Z"),
]


def show_law(
    document: OptionalDocument = None, unit: UnitName = None, at: At = None, version: Version = None,
    recorded: Recorded = None, as_json: AsJson = False,
) -> None:  # fmt: skip
    """Print a law, or one unit with everything below it: the text in force today, on a day, or of a version.

    Without a document, list the laws that are in force, and the other registered documents.

    Example: cutter law show ICX-LAW-2026-001 ARTICLE-3 --at 2026-07-01
    """
    if document is None:
        _list(at, version, recorded, as_json=as_json)
        return
    with _reading() as connection:
        text = read(connection, document, at=at, version=version, recorded=recorded)
        shown = text.units
        if unit is not None:
            named = enacted_law.unit_named(connection, text, unit, recorded=moment(recorded))
            shown = text.branch(named.address)
    parts: list[RenderableType] = [fields(_head(text.version))]
    for each in shown:
        parts += ["", line(each.address, "dim"), quoted(plain(each.body.rstrip("\n")))]
    if not shown:
        before = f"cutter law show {text.version.document} --version {text.version.version - 1}"
        parts.append(line(f"this version has no units: it repeals the law; `{before}` prints its last text"))
    show(views.law_view(text, shown), as_json=as_json, render=lambda out: out.print(Group(*parts), soft_wrap=True))


def _list(at: str | None, version: int | None, recorded: str | None, *, as_json: bool) -> None:
    """List the laws in force on a day. Without a day, also the registered documents that are not among them."""
    if version is not None:
        raise InvalidInput("--version: name the law too; without a law, --at and --recorded choose the day")
    asked = "".join(f" --{name} {value}" for name, value in (("at", at), ("recorded", recorded)) if value is not None)
    with _reading() as connection:
        laws = enacted_law.laws(connection, day("--at", at), recorded=moment(recorded))
        known = {law.document for law in laws}
        others = [] if asked else [each for each in SOURCES.all(connection) if each.document_id not in known]
    answer = {"laws": [views.plain(law) for law in laws], "registered": [asdict(source) for source in others]}
    rows = [
        (law.document, law.title, law.status.replace("_", " "), f"{law.version} of {law.newest_version}",
         views.legal_time(views.plain(law)), law.units)
        for law in laws
    ]  # fmt: skip
    none = f" with{asked}: `cutter law show` shows the laws of today" if asked else ""
    parts: list[RenderableType] = [line(f"no law is in force{none}")]
    if laws:
        parts = [Listing(columns=("document", "title", "status", "version", "in force", "units"), rows=rows)]
        parts.append(line(f"next: cutter law show {laws[0].document}{asked}"))
    if others:
        cells = [[*(asdict(source) | {"sha256": source.sha256[:16]}).values()] for source in others]
        columns = ("document", "docprefix", "version", "sha256", "profile", "bytes", "tenant")
        parts += ["", table(columns, cells, title="registered, and not in force today")]
    show(answer, as_json=as_json, render=lambda out: out.print(Group(*parts), soft_wrap=True))


def tree(
    document: Document, at: At = None, version: Version = None, recorded: Recorded = None, as_json: AsJson = False
) -> None:
    """Print the outline of a law: each unit's address and title, in the order of the source.

    Example: cutter law tree ICX-LAW-2026-001
    """
    with _reading() as connection:
        text = read(connection, document, at=at, version=version, recorded=recorded)
    lines = [
        line(f"{'  ' * depth}{unit.address.partition('/')[2]}  {unit.title}  ({unit.words} words)")
        for depth, unit in text.outline()
    ]
    shown = Group(fields(_head(text.version)), "", *lines)
    show(views.tree_view(text), as_json=as_json, render=lambda out: out.print(shown, soft_wrap=True))


def history(
    document: Document, unit: UnitName = None, at: At = None, version: Version = None, as_json: AsJson = False
) -> None:
    """Print the versions of a law, or of one unit: what enacted each, its time in force, and who signed it.

    Example: cutter law history ICX-LAW-2026-001
    """
    with _reading() as connection:
        known = enacted_law.versions(connection, document)
        chosen = known
        if at is not None or version is not None:
            chosen = [enacted_law.version_meant(known, at=day("--at", at), version=version)]
        if unit is not None:
            _show_unit_history(connection, document, unit, chosen, as_json=as_json)
            return
        signers = {law_version.version: enacted_law.signers(connection, law_version) for law_version in chosen}
    answer = [
        {**views.plain(law_version), "signers": [views.plain(s) for s in signers[law_version.version]]}
        for law_version in chosen
    ]
    rows = [
        (law_version["version"], law_version["operation"].replace("_", " "), views.legal_time(law_version),
         law_version["status"].replace("_", " "), law_version["units"],
         ", ".join(dict.fromkeys(s["name"] for s in law_version["signers"] if s["role"].startswith("approver"))),
         law_version["run_id"])
        for law_version in answer
    ]  # fmt: skip
    listing = Listing(columns=("version", "kind", "in force", "status", "units", "approved by", "run"), rows=rows)
    step = f"cutter law {'diff' if answer[-1]['version'] > 1 else 'show'} {answer[-1]['document']}"
    show(
        {"document": document, "versions": answer}, as_json=as_json,
        render=lambda out: _print_listing(out, listing, step),
    )  # fmt: skip


def search(
    words: Annotated[list[str], typer.Argument(help='Words; "two words" together, OR, and -word as in a web search')],
    document: Annotated[str | None, typer.Option("--document", help="Only in this law")] = None,
    at: At = None,
    version: Version = None,
    recorded: Recorded = None,
    limit: Annotated[
        # Units that one search returns at most.
        int, typer.Option("--limit", help="At most so many units", min=1, max=1_000)
    ] = limits.SEARCH_HITS_DEFAULT,
    as_json: AsJson = False,
) -> None:
    """Find units by words of their title or text, in every language: case and accents do not count.

    Example: cutter law search library card --at 2026-07-01
    """
    asked = " ".join(words)
    with _reading() as connection:
        hits = enacted_law.search(
            connection, asked, at=day("--at", at), document=document, version=version, limit=limit,
            recorded=moment(recorded),
        )  # fmt: skip
    answer = [{**views.plain(hit), "excerpt": views.excerpt(hit.body, asked)} for hit in hits]
    lines = []
    for hit in answer:
        step = f"cutter law show {hit['document']} {hit['address']} --version {hit['version']}"
        lines += [line(f"{hit['address']}  {hit['title']}", "bold"), line(f"  {hit['excerpt']}"), line(f"  {step}")]
    if not hits:
        where = f"of {document} version {version}" if version else f"in force on {at}" if at else "in force"
        lines.append(line(f"no unit {where} has {asked!r}: `cutter law show` shows the laws"))
    show(
        {"words": asked, "found": answer}, as_json=as_json,
        render=lambda out: out.print(Group(*lines), soft_wrap=True),
    )  # fmt: skip


def diff(
    document: Document,
    unit: UnitName = None,
    earlier: Annotated[
        int | None, typer.Option("--from", help="The earlier version; default: the one before the later")
    ] = None,
    at: At = None,
    version: Version = None,
    recorded: Recorded = None,
    as_json: AsJson = False,
) -> None:
    """Compare two versions of a law by word, with the units that were created, repealed and moved.

    The later version is the newest one, the one in force on a day (--at), or a number (--version).

    Example: cutter law diff ICX-LAW-2026-001 --from 1 --version 2
    """
    then = moment(recorded)
    with _reading() as connection:
        known = enacted_law.versions(connection, document, recorded=then)
        later = known[-1] if at is None and version is None else enacted_law.version_meant(
            known, at=day("--at", at), version=version)  # fmt: skip
        before = enacted_law.version_before(known, later, earlier)
        old, new = (enacted_law.text_of(connection, law_version, recorded=then) for law_version in (before, later))
    comparison = compare(old.units, new.units)
    if unit is not None:
        # The changes of the unit with that address, or the end of one, in either version.
        wanted = unit.strip("/").casefold()
        chosen = [
            change
            for change in comparison.changes
            for side in (change.before, change.after)
            if side is not None and f"/{side.address.casefold()}".endswith(f"/{wanted}")
        ]
        if not chosen:
            see = f"cutter law diff {document}"
            raise NotFound(f"neither version has a unit {unit}: see", then=see, code="STOP_UNIT_NOT_FOUND")
        comparison = Comparison(changes=tuple(dict.fromkeys(chosen)))
    answer = views.comparison_view(before, later, comparison)
    show(answer, as_json=as_json, render=lambda out: print_comparison(out, before, later, comparison))


def moment(text: str | None) -> datetime:
    """A moment that was typed, in UTC. A day or a second means its end, because cutter prints whole seconds.
    InvalidInput for anything else, and for a later day.
    """
    if text is None:
        return enacted_law.NEWEST
    try:
        if len(text) == len("2026-07-01"):
            meant = datetime.combine(date.fromisoformat(text), time.max, tzinfo=UTC)
        else:
            given = datetime.fromisoformat(text)
            if "." not in text:
                given = given.replace(microsecond=time.max.microsecond)
            meant = given.astimezone(UTC) if given.tzinfo else given.replace(tzinfo=UTC)
    except (ValueError, OverflowError):
        raise InvalidInput(
            f"--recorded {text} is no day and no time: write it as 2026-07-01 or 2026-07-01T12:00:00Z"
        ) from None
    if meant.date() > datetime.now(UTC).date():
        raise InvalidInput(f"--recorded {text}: nothing is recorded yet after today; `--at` asks for a later day")
    return meant


def read(
    connection: Connection, document: str, *, at: str | None, version: int | None, recorded: str | None = None
) -> LawText:
    """The version of a law that the options name."""
    then = moment(recorded)
    known = enacted_law.versions(connection, document, recorded=then)
    meant = enacted_law.version_meant(known, at=day("--at", at), version=version)
    return enacted_law.text_of(connection, meant, recorded=then)


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """A registered document with its newest version."""

    document_id: str
    docprefix: str
    version: int
    sha256: str
    profile: str
    size_bytes: int
    tenant: str


SOURCES = records("sources", Source)


@contextmanager
def _reading() -> Iterator[Connection]:
    with session(load(), Role.OPERATOR) as connection:
        yield connection


def _print_listing(out: Console, listing: Listing, step: str) -> None:
    out.print(listing, soft_wrap=True)
    out.print(line(f"next: {step}"), soft_wrap=True)


def _head(version: LawVersion) -> dict[str, object]:
    """What identifies a version, above its text."""
    return {
        "law": f"{version.document}: {version.title}",
        "version": f"{version.version}, {version.operation.replace('_', ' ')}",
        "in force": f"{views.legal_time(version)} ({version.status.replace('_', ' ')})",
        "enacted by": version.run_id,
        "digest of the units": version.writer_digest,
        "reason": version.reason,
    }


def _show_unit_history(
    connection: Connection, document: str, name: str, chosen: list[LawVersion], *, as_json: bool
) -> None:
    """Show the versions of a unit that one of the chosen versions of the law has. Raises NotFound for another name."""
    versions = [
        unit
        for unit in enacted_law.unit_versions(connection, document, name)
        if any(
            unit.enacted_by_version <= law_version.version
            and (unit.ended_by_version is None or law_version.version < unit.ended_by_version)
            for law_version in chosen
        )
    ]
    if not versions:
        enacted_law.unit_named(connection, enacted_law.outline_of(connection, chosen[-1]), name)
    answer = [views.plain(unit) for unit in versions]
    rows = [
        (unit.address, unit.version, unit.title, views.legal_time(views.plain(unit)), unit.status.replace("_", " "),
         unit.enacted_by_version, unit.continues or "")
        for unit in versions
    ]  # fmt: skip
    columns = ("address", "version", "title", "in force", "status", "enacted by version", "continues")
    listing = Listing(columns=columns, rows=rows)
    show(
        {"document": document, "units": answer}, as_json=as_json,
        render=lambda out: _print_listing(out, listing, f"cutter law history {document}"),
    )  # fmt: skip


def print_comparison(out: Console, before: LawVersion, after: LawVersion, comparison: Comparison) -> None:
    """Each unit that differs, with its text by word."""
    counts = ", ".join(f"{count} {name}" for name, count in comparison.counts.items() if count)
    out.print(line(f"{after.document}: version {before.version} to {after.version}: {counts}"), soft_wrap=True)
    for change in comparison.different:
        out.print()
        moved = f", before {change.before.address}" if change.change == "moved" and change.before else ""
        others = f" ({', '.join(change.other_differences)} differ)" if change.other_differences else ""
        out.print(line(f"{change.change}: {change.unit.address}{moved}{others}", "bold"), soft_wrap=True)
        out.print(by_word(brief(change.words, limits.DIFF_CONTEXT_CHARACTERS)), soft_wrap=True)
