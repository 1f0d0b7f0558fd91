"""The static pages of enacted law: every link leads to a page, no text is markup, nothing comes from elsewhere."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import date

from cutter.law.law_text import LawText
from cutter.projections.law_site import pages
from tests.cases.law_cases import SIGNERS, law_text, unit, version

HOSTILE = '<script>alert(1)</script><img src=//x> & "quoted" \u202e'


def made() -> dict[str, bytes]:
    first = law_text(unit("A", HOSTILE), unit("B", parent="A", order=2), title=HOSTILE)
    repealed = version(
        version=2, operation="repeal", effective_from=date(2027, 1, 1), reason="No longer needed", units=0
    )
    second = LawText(version=repealed, units=(), signers=SIGNERS)
    other = replace(first, version=version(document="ICX-LAW-2", title="Another"))
    return pages({"ICX-LAW-1": [first, second], "ICX-LAW-2": [other]})


def test_there_is_a_page_for_each_version_and_a_list() -> None:
    assert set(made()) == {
        "index.html", "ICX-LAW-1/version-1.html", "ICX-LAW-1/version-2.html", "ICX-LAW-2/version-1.html",
    }  # fmt: skip


def test_every_link_leads_to_a_page_or_a_place_on_it() -> None:
    site = made()
    for path, page in site.items():
        folder = path.rpartition("/")[0]
        places = set(re.findall(r'id="([^"]+)"', page.decode()))
        links = re.findall(r'href="([^"]+)"', page.decode())
        assert links
        for link in links:
            if link.startswith("#"):
                assert link[1:] in places, (path, link)
            else:
                target = link.removeprefix("../") if link.startswith("../") else f"{folder}/{link}".strip("/")
                assert target in site, (path, link)


def test_a_page_loads_nothing_runs_nothing_and_shows_every_text_as_text() -> None:
    for page in (body.decode() for body in made().values()):
        assert "default-src 'none'" in page
        assert not re.search(r"<script|<img|<link|<iframe|src=\"|url\(|@import|https?://|\u202e", page)
    assert "&lt;script&gt;alert(1)" in made()["ICX-LAW-1/version-1.html"].decode()


def test_a_page_shows_outline_text_versions_and_signers() -> None:
    page = made()["ICX-LAW-1/version-1.html"].decode()
    for part in ('href="#ICX-LAW-1/B"', "The text of B.", "version-2.html", "from 2026-01-01", "A" * 40, "alice"):
        assert part in page, part
    repeal = made()["ICX-LAW-1/version-2.html"].decode()
    assert "it repeals the law" in repeal
    assert "No longer needed" in repeal
