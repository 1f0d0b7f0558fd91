"""The first page of a long law in `cutter desk` stays small, whatever its titles and addresses are."""

from __future__ import annotations

from datetime import UTC, date, datetime

import pytest
from starlette.requests import Request

from cutter.law.law_text import LawVersion, OutlineUnit, UnitTree
from starter.desk import law_routes

BYTES_MAX = 300_000
DAY = date(2026, 11, 24)
LONG = "ICX-A-LAW-OF-MANY-UNITS-2026"


def version(units: int) -> LawVersion:
    return LawVersion(
        document=LONG, version=1, title="An Act", operation="first_cut", run_id="r", change_set="c",
        enacted_at=datetime(2026, 11, 24, tzinfo=UTC), effective_from=DAY, effective_until=None,
        source_sha256="a" * 64, region_sha256="b" * 64, writer_digest="c" * 64, units=units, status="in_force",
    )  # fmt: skip


def tree(units: int, title: str) -> UnitTree[OutlineUnit]:
    """A law of chapters with 20 articles each."""
    return UnitTree(version=version(units), units=tuple(unit(number, title) for number in range(units)))


def unit(number: int, title: str) -> OutlineUnit:
    chapter, article = divmod(number, 20)
    parent = f"{LONG}/CHAPTER-{chapter}"
    return OutlineUnit(
        address=f"{parent}/ARTICLE-{article}" if article else parent, title=f"{title} {number}", unit_kind="law_unit",
        section_type="article", parent=parent if article else None, order=number + 1, version=1, size=900,
        content_sha256="d" * 64, effective_from=DAY, effective_until=None,
    )  # fmt: skip


def page(units: int, title: str) -> bytes:
    request = Request({
        "type": "http", "method": "GET", "path": f"/laws/{LONG}", "query_string": b"", "headers": [],
        "server": ("127.0.0.1", 80), "scheme": "http", "state": {"user": None, "json": False},
    })  # fmt: skip
    shown = tree(units, title)
    return law_routes._law_page(request, [shown.version], shown, [], 1)


@pytest.mark.parametrize("title", ["Rule", "<&>" * 60, "Điều " * 40])
@pytest.mark.parametrize("units", [60, 1000, 5000])
def test_the_first_page_of_a_law_is_small(units: int, title: str) -> None:
    assert len(page(units, title)) < BYTES_MAX


def test_a_law_of_a_thousand_plain_titles_is_one_page() -> None:
    shown = page(1000, "Rule").decode()
    assert shown.count('<li><a href="/laws/') >= 1000
    assert "part=2" not in shown
