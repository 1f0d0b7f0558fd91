"""IO: a real Chromium without a window, driven over a pipe (the browser's own DevTools protocol, no library)."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cutter.stack.processes import until

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
FLAGS = ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
         "--window-size=1600,2400", "--remote-debugging-pipe", "about:blank")  # fmt: skip

READ = """
[document, ...[...document.querySelectorAll('iframe')].map(frame => frame.contentDocument)]
    .map(each => each && each.body ? each.body.innerText : '').join('\\n')
"""


def installed() -> str | None:
    """The browser's program, if there is one."""
    return next((path for path in map(shutil.which, NAMES) if path), None)


@dataclass(slots=True)
class Page:
    """One open page. Every call waits for the browser's answer."""

    read: int
    write: int
    session: str = ""
    number: int = 0
    left: bytes = b""

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """One command; what the browser says in between is dropped."""
        self.number += 1
        message: dict[str, Any] = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.write, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._next()
            if answer.get("id") == self.number:
                result: dict[str, Any] = answer.get("result", {})
                return result

    def _next(self) -> dict[str, Any]:
        while b"\0" not in self.left:
            data = os.read(self.read, 65536)
            assert data, "the browser has ended"
            self.left += data
        message, self.left = self.left.split(b"\0", 1)
        found: dict[str, Any] = json.loads(message)
        return found

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
    """A browser with one page and more `flags`; its profile is in `folder`."""
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
        opened = Page(ours_in, ours_out)
        target = opened.call("Target.createTarget", url="about:blank")["targetId"]
        opened.session = opened.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        yield opened
    finally:
        process.kill()
        process.wait()
        os.close(ours_in)
        os.close(ours_out)
