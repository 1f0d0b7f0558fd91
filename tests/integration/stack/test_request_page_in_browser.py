"""The page of a request in a real browser: at three widths, on paper, without its script, and for a screen reader."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from cutter.catalogue import Sovereign
from cutter.projections import request_page
from tests.cases.request_views import document_of, hostile_view, view, written_view
from tests.support import accessibility, browser

pytestmark = pytest.mark.chromium

ARTICLE = "ACT-1/CHAPTER-II/ARTICLE-2~2"


@pytest.fixture(scope="module", params=list(Sovereign), ids=["SG_1", "SG_2"])
def file(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    shown = view() if request.param is Sovereign.CUT else written_view()
    path = tmp_path_factory.mktemp("page") / "request.html"
    path.write_bytes(request_page.render(document_of(shown, request.param), shown))
    return path


@pytest.mark.parametrize("width", [390, 1024, 1440])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_fits_each_width_and_everything_has_a_name_and_contrast(
    page: browser.Page, file: Path, width: int, scheme: str
) -> None:
    page.sized(width, prefers_color_scheme=scheme)
    page.visit(file.as_uri())
    assert page.run("return document.documentElement.scrollWidth") <= width
    assert page.run(accessibility.UNNAMED) == []
    assert page.run(accessibility.PALE) == []
    assert accessibility.serious(page) == []
    assert page.run("return document.documentElement.lang") == "en"


@pytest.mark.parametrize("width", [390, 1024, 1440])
def test_a_word_without_end_stays_on_the_page(page: browser.Page, tmp_path: Path, width: int) -> None:
    shown = hostile_view("bridge" * 100)
    file = tmp_path / "request.html"
    file.write_bytes(request_page.render(document_of(shown, Sovereign.LIFECYCLE), shown))
    page.sized(width)
    page.visit(file.as_uri())
    assert page.run("return document.documentElement.scrollWidth") <= width


@pytest.mark.parametrize("width", [390, 1024, 1440])
def test_it_asks_for_nothing_but_itself(page: browser.Page, file: Path, width: int) -> None:
    page.listen()
    page.sized(width)
    page.visit(file.as_uri())
    assert page.asked == [file.as_uri()]


@pytest.mark.promise
def test_it_is_headed_by_the_title_of_the_law(page: browser.Page, file: Path) -> None:
    page.visit(file.as_uri())
    assert page.run("return document.querySelector('h1').textContent") == "An Act"
    assert page.run("return document.title").startswith("An Act · ICX-LAW-2026-001 · Request to ")


def test_without_its_script_everything_is_shown_and_filtered(page: browser.Page, file: Path) -> None:
    page.sized(1024)
    page.call("Emulation.setScriptExecutionDisabled", value=True)
    page.visit(file.as_uri())
    assert page.run("return document.getElementById('tools').checkVisibility()") is False
    for word in ("Keep the bridge.", "printed twice in the gazette", "An Act on Bridges"):
        assert word in page.run("return document.querySelector('main').textContent")
    assert page.run("return [...document.querySelectorAll('.line')].every(each => each.checkVisibility())") is True
    page.run("document.getElementById('show-noticed').checked = true; return 1")
    shown = page.run("return [...document.querySelectorAll('article')].filter(e => e.checkVisibility()).map(e => e.id)")
    assert shown == [ARTICLE]


@pytest.mark.parametrize("width", [390, 1024, 1440])
def test_without_its_script_nothing_serious_is_wrong_with_it(
    page: browser.Page, file: Path, tmp_path: Path, width: int
) -> None:
    """The script is cut out of the file, since axe-core needs timers, which a browser without scripts does not have."""
    bare = tmp_path / "bare.html"
    bare.write_text(re.sub(r"(?s)<script>.*</script>", "", file.read_text(encoding="utf-8")), encoding="utf-8")
    page.sized(width)
    page.visit(bare.as_uri())
    assert page.run("return document.scripts.length") == 0
    assert page.run("return document.documentElement.scrollWidth") <= width
    assert accessibility.serious(page) == []


@pytest.mark.promise
def test_its_script_filters_by_a_word_and_says_how_many_are_left(page: browser.Page, file: Path) -> None:
    page.sized(1024)
    page.visit(file.as_uri())
    texts = page.run(
        "const words = document.getElementById('words'); words.value = 'LAMP'; words.dispatchEvent(new Event('input'));"
        "while (!document.getElementById('told').textContent) await new Promise(requestAnimationFrame);"
        "return [document.getElementById('told').textContent,"
        " ...[...document.querySelectorAll('article')].filter(e => e.checkVisibility()).map(e => e.id)]"
    )
    # A hidden character is between two words, never inside what is searched for.
    assert texts == ["2 of 6 units", "ACT-1/CHAPTER-I/ARTICLE-1", ARTICLE]
    page.run("document.getElementById('close-all').click(); return 1")
    assert page.run("return document.querySelectorAll('main details[open]').length") == 0


@pytest.mark.parametrize("address", ["#L22", f"#{ARTICLE}", "#finding-2"])
def test_a_permalink_leads_to_its_place(page: browser.Page, file: Path, address: str) -> None:
    page.sized(390)
    page.visit(f"{file.as_uri()}{address}")
    place = page.run("return document.querySelector(':target').getBoundingClientRect().top")
    assert 0 <= place < 900


def test_paper_has_the_whole_text_and_no_controls(page: browser.Page, file: Path) -> None:
    page.visit(file.as_uri())
    page.run("document.querySelectorAll('details').forEach(each => each.open = false); return 1")
    page.sized(794, media="print")
    assert page.run("return document.querySelector('.filters').checkVisibility()") is False
    assert page.run("return [...document.querySelectorAll('.line')].every(each => each.checkVisibility())") is True
    assert page.run("return document.documentElement.scrollWidth") <= 794
    assert accessibility.serious(page) == []
