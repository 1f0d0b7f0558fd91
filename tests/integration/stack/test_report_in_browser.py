"""The report of a run in a real browser: at three widths, on paper, and for a screen reader. It has no script."""

from __future__ import annotations

from pathlib import Path

import pytest

from cutter.projections import report
from tests.cases.request_views import hostile_view
from tests.cases.run_reports import closed, five, halted, law_of
from tests.support import accessibility, browser

pytestmark = pytest.mark.chromium

PAGES_MAX = 3
"""Pages of A4 for the report of a law of five units."""

RUNS = {
    "closed": five(),
    "failed": halted("failed_cutplan"),
    "stopped": halted("stopped_stop"),
    "a word without end": (closed(hostile_view("bridge" * 100)), law_of(hostile_view("bridge" * 100))),
}


@pytest.fixture(scope="module", params=RUNS)
def file(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("report") / "report.html"
    path.write_bytes(report.render(*RUNS[request.param]))
    return path


@pytest.mark.parametrize("width", [390, 1024, 1440])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_fits_each_width_and_everything_has_a_name_and_contrast(
    page: browser.Page, file: Path, width: int, scheme: str
) -> None:
    page.listen()
    page.sized(width, prefers_color_scheme=scheme)
    page.visit(file.as_uri())
    page.run("document.querySelectorAll('details').forEach(each => each.open = true); return 1")
    assert page.run("return document.documentElement.scrollWidth") <= width
    assert page.run(accessibility.UNNAMED) == []
    assert page.run(accessibility.PALE) == []
    assert accessibility.serious(page) == []
    assert page.run("return document.scripts.length") == 0
    assert page.asked == [file.as_uri()]


def test_paper_shows_what_is_open_and_only_names_the_rest(page: browser.Page, file: Path) -> None:
    page.sized(794, media="print")
    page.visit(file.as_uri())
    assert page.run("return document.querySelector('.jump').checkVisibility()") is False
    assert page.run("return [...document.querySelectorAll('.tree li')].every(each => each.checkVisibility())") is True
    assert page.run("return document.querySelector('.timeline').checkVisibility()") is False
    assert page.run("return document.documentElement.scrollWidth") <= 794
    assert accessibility.serious(page) == []


def test_a_law_of_five_units_is_three_pages_of_a4_at_most(page: browser.Page, tmp_path: Path) -> None:
    file = tmp_path / "report.html"
    file.write_bytes(report.render(*five()))
    page.visit(file.as_uri())
    assert 1 <= page.printed() <= PAGES_MAX
    page.run("document.querySelectorAll('details').forEach(each => each.open = true); return 1")
    assert page.printed() > PAGES_MAX, "else the number of pages could not be too large"


@pytest.mark.promise
def test_the_keyboard_reaches_and_opens_each_fold(page: browser.Page, tmp_path: Path) -> None:
    file = tmp_path / "report.html"
    file.write_bytes(report.render(*five()))
    page.visit(file.as_uri())
    page.run("document.querySelector('summary').focus(); return 1")
    for kind in ("keyDown", "keyUp"):
        page.call("Input.dispatchKeyEvent", type=kind, key="Enter", code="Enter", text="\r", windowsVirtualKeyCode=13)
    assert page.run("return document.querySelector('details').open") is True
