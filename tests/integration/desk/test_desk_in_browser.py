"""The pages of `cutter desk` in a real browser: on a phone and a screen, for a screen reader, under their policy."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.integration.desk.conftest import ASKED, LAW, Office
from tests.integration.desk.test_desk_pages import PAGES, path
from tests.support import accessibility, browser

pytestmark = pytest.mark.chromium


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Iterator[browser.Page]:
    """A page of a real browser for all tests; they are skipped where there is none."""
    program = browser.required()
    folder: Path = tmp_path_factory.mktemp("browser")
    with browser.page(program, folder) as opened:
        opened.call("Page.enable")
        opened.listen()
        yield opened


@pytest.mark.parametrize("width", [390, 1440])
@pytest.mark.parametrize("name", PAGES)
def test_it_fits_each_width_and_everything_has_a_name_and_contrast(
    office: Office, page: browser.Page, name: str, width: int
) -> None:
    page.asked.clear()
    page.sized(width, prefers_color_scheme="light" if width > browser.PHONE else "dark")
    page.visit(office.desk.url + path(office, name))
    page.run("document.querySelectorAll('details').forEach(each => each.open = true); return 1")
    assert page.run("return document.documentElement.scrollWidth") <= width
    assert page.run(accessibility.UNNAMED) == []
    assert page.run(accessibility.PALE) == []
    assert accessibility.serious(page) == []
    assert page.run("return window.taken") is None
    # The browser draws its own icons of a field from addresses that begin with "data:".
    assert [url for url in page.asked if not url.startswith((f"{office.desk.url}/", "data:image/svg+xml;"))] == []


def test_the_script_adds_a_button_that_copies_the_command(office: Office, page: browser.Page) -> None:
    page.visit(f"{office.desk.url}/inbox")
    allowed = ["clipboardReadWrite", "clipboardSanitizedWrite"]
    grant = {"permissions": allowed, "origin": office.desk.url, "browserContextId": page.context}
    page.browser.call("Browser.grantPermissions", grant)
    page.call("Page.bringToFront")
    copied = page.run(
        "const button = document.querySelector('button.copy'); button.click();"
        "await new Promise(done => setTimeout(done, 200));"
        "return [button.textContent, button.previousSibling.textContent]"
    )
    assert copied[0] == "Copied"
    assert copied[1].startswith("cutter ")


def test_without_its_script_a_page_shows_every_command(office: Office, page: browser.Page) -> None:
    page.call("Emulation.setScriptExecutionDisabled", value=True)
    try:
        page.call("Page.navigate", url=f"{office.desk.url}/inbox")
        text = page.until_text(f"cutter approve {ASKED}", "Laws", seconds=10)
    finally:
        page.call("Emulation.setScriptExecutionDisabled", value=False)
    assert f"cutter approve {ASKED}" in text


def test_the_request_filters_and_the_policy_stops_other_scripts(office: Office, page: browser.Page) -> None:
    page.visit(f"{office.desk.url}/requests/{office.asked}")
    assert page.run("return document.getElementById('tools').hidden") is False
    made = "const one = document.createElement('script'); one.textContent = 'window.taken = 2';"
    assert page.run(f"{made} document.body.append(one); return window.taken") is None


def test_a_foreign_name_that_leads_to_this_machine_gets_no_law(office: Office, tmp_path: Path) -> None:
    program = browser.required()
    with browser.page(program, tmp_path, "--host-resolver-rules=MAP page.example 127.0.0.1") as opened:
        opened.visit(f"http://page.example:{office.desk.port}/laws")
        assert LAW not in opened.text()
        assert "this server has another name" in opened.text()
        opened.visit(f"{office.desk.url}/laws")
        assert LAW in opened.text()
