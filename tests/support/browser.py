"""IO: a real Chromium without a window, driven over a pipe (the browser's own DevTools protocol, no library)."""

from __future__ import annotations

import base64
import json
import os
import re
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from cutter.stack.processes import until

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
FLAGS = ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
         "--window-size=1600,2400", "--remote-debugging-pipe", "about:blank")  # fmt: skip

PHONE = 500
"""Pixels: a narrower window is a phone's."""

READ = """
[document, ...[...document.querySelectorAll('iframe')].map(frame => frame.contentDocument)]
    .map(each => each && each.body ? each.body.innerText : '').join('\\n')
"""


def required() -> str:
    """The browser's program. Without one the test is skipped, and in CI it fails, because CI installs one."""
    program = next((path for path in map(shutil.which, NAMES) if path), None)
    if program is None:
        missing = f"none of {', '.join(NAMES)} is on PATH (Debian: apt-get install chromium)"
        pytest.fail(missing) if os.environ.get("CI") else pytest.skip(missing)
    return program


@dataclass(slots=True)
class Browser:
    """A running browser. Every call waits for its answer."""

    read: int
    write: int
    number: int = 0
    left: bytes = b""

    def call(
        self, method: str, parameters: Mapping[str, Any], *, session: str = "", asked: list[str] | None = None
    ) -> Any:
        """One command. Of what the browser says in between, only the addresses that the session asks for are kept."""
        self.number += 1
        message: dict[str, Any] = {"id": self.number, "method": method, "params": parameters}
        if session:
            message["sessionId"] = session
        os.write(self.write, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._next()
            requested = answer.get("method") == "Network.requestWillBeSent" and answer.get("sessionId") == session
            if requested and asked is not None:
                asked.append(str(answer["params"]["request"]["url"]))
            if answer.get("id") == self.number:
                return answer.get("result", {})

    @contextmanager
    def page(self) -> Iterator[Page]:
        """An empty page that shares no cookies, storage or cache with the other pages. It is closed at the end."""
        context = self.call("Target.createBrowserContext", {})["browserContextId"]
        target = self.call("Target.createTarget", {"url": "about:blank", "browserContextId": context})["targetId"]
        session = self.call("Target.attachToTarget", {"targetId": target, "flatten": True})["sessionId"]
        yield Page(browser=self, context=context, session=session)
        self.call("Target.disposeBrowserContext", {"browserContextId": context})

    def _next(self) -> dict[str, Any]:
        while b"\0" not in self.left:
            data = os.read(self.read, 65536)
            assert data, "the browser has ended"
            self.left += data
        message, self.left = self.left.split(b"\0", 1)
        answer: dict[str, Any] = json.loads(message)
        return answer


@dataclass(slots=True, kw_only=True)
class Page:
    """One open page. `asked` has the addresses that it asked for since `listen`."""

    browser: Browser
    context: str
    session: str
    asked: list[str] = field(default_factory=list)

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """One command to the page."""
        answer: dict[str, Any] = self.browser.call(method, parameters, session=self.session, asked=self.asked)
        return answer

    def listen(self) -> None:
        """Keep in `asked` the address of each request from now on."""
        self.call("Network.enable")

    def sized(self, width: int, *, media: str = "screen", **features: str) -> None:
        """A window or a phone of that width, or the page as `media="print"` shows it; media features by their names."""
        mobile = width < PHONE
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=mobile)
        shown = [{"name": name.replace("_", "-"), "value": value} for name, value in features.items()]
        self.call("Emulation.setEmulatedMedia", media=media, features=shown)

    def printed(self) -> int:
        """Pages of the open page on paper of its own size, else on A4."""
        answer = self.call("Page.printToPDF", preferCSSPageSize=True, paperWidth=8.27, paperHeight=11.69)
        return len(re.findall(rb"/Type\s*/Page\b", base64.b64decode(answer["data"])))

    def go(self, url: str) -> None:
        self.call("Page.navigate", url=url)

    def text(self) -> str:
        """What a person can read on the page now, its frames included (Temporal shows our Markdown in frames)."""
        answer = self.call("Runtime.evaluate", expression=READ)
        return str(answer.get("result", {}).get("value", ""))

    def visit(self, url: str) -> None:
        """Open an address and wait until its page, or the browser's own error page, is complete."""
        loader = self.call("Page.navigate", url=url).get("loaderId")
        state = "document.readyState === 'complete' && location.href !== 'about:blank'"
        until(lambda: bool(self.run(f"return {state}")), seconds=10)
        assert loader, url

    def run(self, script: str) -> Any:
        """The value of an asynchronous function's body, run in the page; AssertionError when it throws."""
        expression = f"(async () => {{ {script} }})()"
        answer = self.call("Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True)
        assert "exceptionDetails" not in answer, answer
        return answer["result"].get("value")

    def until_text(self, *words: str, seconds: float) -> str:
        """The page's text once it contains all the words, or whatever it is when the time is over."""
        text = ""

        def shown() -> bool:
            nonlocal text
            text = self.text()
            return all(word in text for word in words)

        until(shown, seconds=seconds)
        return text


@contextmanager
def page(program: str, folder: Path, *flags: str) -> Iterator[Page]:
    """A page in a browser of its own."""
    with started(program, folder, *flags) as browser, browser.page() as opened:
        yield opened


@contextmanager
def started(program: str, folder: Path, *flags: str) -> Iterator[Browser]:
    """A browser with more `flags`. Its profile is in `folder`."""
    theirs_in, ours_out = os.pipe()
    ours_in, theirs_out = os.pipe()
    redirect = f'exec "$@" 3<&{theirs_in} 4>&{theirs_out}'
    process = subprocess.Popen(
        ["/bin/bash", "-c", redirect, "browser", program, *FLAGS[:-1], f"--user-data-dir={folder}", *flags, FLAGS[-1]],
        pass_fds=(theirs_in, theirs_out),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    os.close(theirs_in)
    os.close(theirs_out)
    try:
        yield Browser(ours_in, ours_out)
    finally:
        process.kill()
        process.wait()
        os.close(ours_in)
        os.close(ours_out)
