"""IO: the pages of `cutter desk` about enacted law: the list, outlines, texts, versions, differences, search."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from functools import partial
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request, Response
from pydantic import BeforeValidator

from cutter import limits
from cutter.law import views
from cutter.law.law_text import LawVersion, OutlineUnit, Signer, Unit, UnitTree
from cutter.law.views import compare
from cutter.projections import desk_pages
from cutter.projections.desk_pages import Part, address, part_of, unit_address
from cutter.storage import enacted_law
from cutter.storage.enacted_law import Law
from cutter.storage.records import Connection
from starter.desk.answers import answer, forms, place_of, reader_of

router = APIRouter(tags=["laws"])

VERSIONS_SHOWN = 10
"""Versions on the first page of a law. Its history shows them all."""


def _given(value: Any) -> Any:
    """None for a field of a form that a person left empty."""
    return None if value == "" else value


Day = Annotated[date | None, BeforeValidator(_given), Query(description="The law in force on this day")]
Version = Annotated[int | None, BeforeValidator(_given), Query(description="This version, by its number")]
PartNumber = Annotated[int, Query(ge=1, description="Part of a long page")]


@router.get("/laws", responses=forms(list[Law]))
def laws(request: Request, at: Day = None, part: PartNumber = 1) -> Response:
    """Every enacted law, with its version in force today or on a day."""
    with reader_of(request).moment() as connection:
        rows = enacted_law.laws(connection, at)
    shown = part_of([1] * len(rows), part, limits.DESK_ROWS, lambda n: address("laws", at=at, part=n))
    return answer(request, lambda: [views.plain(row) for row in rows], lambda: desk_pages.page(
        "laws", place_of(request), title="Enacted laws", rows=shown.of(rows), part=shown, at=at,
        link=lambda law: address("laws", law.document, at=at),
        kind=lambda law: f"{law.version}, {law.status.replace('_', ' ')}",
    ))  # fmt: skip


@router.get("/laws/{document}", responses=forms())
def law(request: Request, document: str, at: Day = None, version: Version = None, part: PartNumber = 1) -> Response:
    """The outline of a law, its newest versions, and who signed the shown one."""
    with reader_of(request).moment() as connection:
        known, meant = _versions(connection, document, at, version)
        tree = enacted_law.outline_of(connection, meant)
        signers = enacted_law.signers(connection, meant)
    return answer(
        request,
        lambda: {
            **views.plain(meant), "signers": [views.plain(signer) for signer in signers],
            "tree": [{"depth": depth, **views.plain(outlined)} for depth, outlined in tree.outline()],
        },
        lambda: _law_page(request, known, tree, signers, part),
    )  # fmt: skip


def _law_page(
    request: Request, known: list[LawVersion], tree: UnitTree[OutlineUnit], signers: list[Signer], number: int
) -> bytes:
    shown, document = tree.version, tree.version.document
    of_version = partial(address, "laws", document, version=shown.version)
    part = part_of(
        # Entries of an outline on one page of `cutter desk`, with their markup: the page must stay below 300 KB.
        desk_pages.entry_sizes(tree), number, 200_000, lambda n: of_version(part=n)
    )  # fmt: skip
    rows = list(tree.outline())
    return desk_pages.page(
        "law", place_of(request), title=shown.title, law=shown, newest=known[-1].version, part=part,
        tree=desk_pages.nodes(part.of(rows)), versions=known[: -VERSIONS_SHOWN - 1 : -1], signers=signers,
        unit_link=_unit_link(shown),
        version_link=lambda law_version: address("laws", document, version=law_version.version),
        here=address("laws", document), permalink=of_version(),
        text_link=address("laws", document, "text", version=shown.version),
        history_link=address("laws", document, "history"),
        diff_link=address("laws", document, "diff", version=shown.version) if shown.version > 1 else None,
    )  # fmt: skip


@router.get("/laws/{document}/text", responses=forms())
def text(request: Request, document: str, at: Day = None, version: Version = None, part: PartNumber = 1) -> Response:
    """The whole text of a version, in parts."""
    with reader_of(request).moment() as connection:
        _, meant = _versions(connection, document, at, version)
        tree = enacted_law.outline_of(connection, meant)
        link = partial(address, "laws", document, "text", version=meant.version)
        shown = _text_part(tree.units, part, lambda n: link(part=n))
        units = enacted_law.passage(connection, meant, [entry.address for entry in shown.of(tree.units)])
    value = {**views.plain(meant), **_part_view(shown), "text": [views.plain(text_unit) for text_unit in units]}
    return answer(request, lambda: value, lambda: desk_pages.page(
        "text", place_of(request), title=meant.title, law=meant, units=units, part=shown, unit=None, above=None,
        law_link=address("laws", document, version=meant.version), unit_link=_unit_link(meant),
    ))  # fmt: skip


@router.get("/laws/{document}/units/{unit:path}", responses=forms())
def unit(
    request: Request, document: str, unit: str, at: Day = None, version: Version = None, part: PartNumber = 1
) -> Response:
    """A unit with everything below it, its versions, and who signed each. With `version` the address is permanent."""
    with reader_of(request).moment() as connection:
        known, meant = _versions(connection, document, at, version)
        tree = enacted_law.outline_of(connection, meant)
        head = enacted_law.unit_named(connection, tree, unit)
        branch = tree.branch(head.address)
        link = partial(address, "laws", document, "units", head.address, version=meant.version)
        shown = _text_part(branch, part, lambda n: link(part=n))
        units = enacted_law.passage(connection, meant, [entry.address for entry in shown.of(branch)])
        past = [
            unit_version
            for unit_version in enacted_law.unit_versions(connection, document, head.address)
            if unit_version.address == head.address
        ]
        began = {unit_version.enacted_by_version for unit_version in past}
        signers = {of.version: enacted_law.signers(connection, of) for of in known if of.version in began}
    past_views = [
        {**views.plain(unit_version), "signers": list(map(views.plain, signers[unit_version.enacted_by_version]))}
        for unit_version in past
    ]
    for past_view in past_views:
        del past_view["body"]
    value = {
        **views.plain(meant), **_part_view(shown), "text": [views.plain(text_unit) for text_unit in units],
        "unit_versions": past_views,
    }  # fmt: skip
    return answer(request, lambda: value, lambda: desk_pages.page(
        "text", place_of(request), title=head.title, law=meant, units=units, part=shown, unit=head,
        above=next((entry for entry in tree.units if entry.address == head.parent), None), unit_versions=past,
        signers=signers, law_link=address("laws", document, version=meant.version), unit_link=_unit_link(meant),
        version_link=lambda number: address("laws", document, version=number),
    ))  # fmt: skip


@router.get("/laws/{document}/history", responses=forms())
def history(request: Request, document: str, part: PartNumber = 1) -> Response:
    """Every version of a law, the newest first, with everybody who signed it."""
    with reader_of(request).moment() as connection:
        known = enacted_law.versions(connection, document)[::-1]
        link = partial(address, "laws", document, "history")
        # Versions of a law on one page of its history; each has a table of signers.
        shown = part_of([1] * len(known), part, 50, lambda n: link(part=n))
        signers = {version.version: enacted_law.signers(connection, version) for version in shown.of(known)}
    versions = [
        {**views.plain(version), "signers": [views.plain(s) for s in signers[version.version]]}
        for version in shown.of(known)
    ]
    value = {"document": document, **_part_view(shown), "versions": versions}
    return answer(request, lambda: value, lambda: desk_pages.page(
        "history", place_of(request), title=f"Versions of {known[0].title}", versions=shown.of(known), part=shown,
        newest=known[0].version, signers=signers,
        version_link=lambda number: address("laws", document, version=number),
        diff_link=lambda number: address("laws", document, "diff", version=number),
    ))  # fmt: skip


@router.get("/laws/{document}/diff", responses=forms())
def diff(
    request: Request,
    document: str,
    earlier: Annotated[int | None, BeforeValidator(_given), Query(alias="from", description="Default: the one before")]
    = None,
    version: Version = None,
    part: PartNumber = 1,
) -> Response:  # fmt: skip
    """What a version changes, by word, with the units that were created, repealed and moved."""
    with reader_of(request).moment() as connection:
        known = enacted_law.versions(connection, document)
        after = known[-1] if version is None else enacted_law.version_meant(known, version=version)
        before = enacted_law.version_before(known, after, earlier)
        old, new = (enacted_law.text_of(connection, law_version) for law_version in (before, after))
    comparison = compare(old.units, new.units)
    link = partial(address, "laws", document, "diff", **{"from": before.version}, version=after.version)
    sizes = [
        sum(len(text_unit.body.encode()) for text_unit in (change.before, change.after) if isinstance(text_unit, Unit))
        for change in comparison.different
    ]
    shown = part_of(sizes, part, limits.DESK_TEXT_BYTES, lambda n: link(part=n))
    changes = [views.change_view(change) for change in shown.of(comparison.different)]
    value = {
        "document": document, "from": views.plain(before), "to": views.plain(after), "counts": comparison.counts,
        **_part_view(shown), "changes": changes,
    }  # fmt: skip
    return answer(request, lambda: value, lambda: desk_pages.page(
        "diff", place_of(request), title=f"What changed in {after.title}", before=before, after=after,
        counts=comparison.counts, changes=changes, part=shown,
        version_link=lambda number: address("laws", document, version=number),
    ))  # fmt: skip


@router.get("/search", responses=forms())
def search(
    request: Request,
    words: Annotated[str, Query(description='"Two words" together, OR, and -word as in a web search')] = "",
    document: Annotated[str | None, BeforeValidator(_given), Query(description="Only in this law")] = None,
    at: Day = None,
    version: Version = None,
) -> Response:
    """The units in force that have the words, the best first. Case and accents do not count."""
    limit = limits.SEARCH_HITS_DEFAULT
    hits = []
    if words.strip():
        with reader_of(request).moment() as connection:
            hits = enacted_law.search(connection, words, at=at, document=document, version=version, limit=limit)
    shown = [{**views.plain(hit), "excerpt": views.excerpt(hit.body, words)} for hit in hits]
    return answer(request, lambda: {"words": words, "found": shown}, lambda: desk_pages.page(
        "search", place_of(request), title="Search enacted law", words=words, document=document, at=at, limit=limit,
        hits=shown, hit_link=lambda hit: unit_address(hit["document"], hit["version"], hit["address"]),
    ))  # fmt: skip


def _versions(
    connection: Connection, document: str, at: date | None, version: int | None
) -> tuple[list[LawVersion], LawVersion]:
    """Every version of a law, and the one that is meant."""
    known = enacted_law.versions(connection, document)
    return known, enacted_law.version_meant(known, at=at, version=version)


def _unit_link(version: LawVersion) -> Any:
    return lambda unit: unit_address(version.document, version.version, unit.address)


def _text_part(units: Sequence[OutlineUnit], number: int, link: Any) -> Part:
    """The units whose text one page shows."""
    return part_of([entry.size for entry in units], number, limits.DESK_TEXT_BYTES, link)


def _part_view(part: Part) -> views.View:
    """Which part an answer is, and where the next one is."""
    following = part.link(part.number + 1) if part.number < part.count else None
    return {"part": part.number, "parts": part.count, "next_part": following}
