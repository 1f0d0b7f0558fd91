"""The report of a batch in a real browser: at three widths, on paper, and for a screen reader. It has no script."""

from __future__ import annotations

from pathlib import Path

import pytest

from cutter.batch.view import BatchFacts
from cutter.projections import batch_report
from cutter.projections.batch_view import batch_view
from tests.support import accessibility, browser
from tests.unit.evidence import batches as made

pytestmark = pytest.mark.chromium


def long_group() -> made.Facts:
    """A batch with one more failed document than a part of a group holds."""
    facts = made.Facts(state="batch_failed_partial", halted="failure", halted_reason="ICX-1 failed")
    for number in range(1, batch_report.CHUNK_ROWS + 2):
        facts.add(f"ICX-{number}", gates=1, state="failed_mark")
    return facts


BATCHES = {
    "every kind": made.night([f"ICX-LAW-2026-{number:03d}" for number in range(1, 11)]),
    "a long group": long_group(),
    "a word without end": made.night([f"ICX-{number}{'BRIDGE' * 20}" for number in range(1, 11)]),
}


@pytest.fixture(scope="module", params=BATCHES)
def file(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("page") / "report.html"
    path.write_bytes(batch_report.render(batch_view(BatchFacts.of(BATCHES[request.param].whole()))))
    return path


@pytest.mark.parametrize("width", [390, 1024, 1440])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_fits_each_width_and_everything_has_a_name_and_contrast(
    page: browser.Page, file: Path, width: int, scheme: str
) -> None:
    page.sized(width, prefers_color_scheme=scheme)
    page.listen()
    page.visit(file.as_uri())
    page.run("document.querySelectorAll('details').forEach(each => each.open = true); return 1")
    assert page.run("return document.documentElement.scrollWidth") <= width
    assert page.run(accessibility.UNNAMED) == []
    assert page.run(accessibility.PALE) == []
    assert accessibility.serious(page) == []
    assert page.run("return document.scripts.length") == 0
    assert page.asked == [file.as_uri()]


def test_nothing_serious_is_wrong_with_it_on_paper(page: browser.Page, file: Path) -> None:
    page.sized(794, media="print")
    page.visit(file.as_uri())
    assert page.run("return document.documentElement.scrollWidth") <= 794
    assert accessibility.serious(page) == []
