"""IO: gets a Temporal server: an existing one, or a `temporal` program that it finds, downloads or builds.

The order is (spec "Temporal server"): CUTTER_TEMPORAL_ADDRESS, `temporal` on PATH, the project's cache, the download of
the SDK, and `go install` of the pinned version. A downloaded or built program stays in the cache, so each machine gets
it once.
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
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic

from cutter import limits
from cutter.errors import Unavailable
from cutter.stack.locks import held
from cutter.stack.processes import until, version_text
from cutter.versions import TEMPORAL_CLI, TEMPORAL_MIN

GO_PACKAGE = f"github.com/temporalio/cli/cmd/temporal@v{TEMPORAL_CLI}"

SDK_DOWNLOAD = (sys.executable, "-P", "-m", "starter.local.temporal_download")
"""The SDK's download is a separate process. So this module never imports the SDK, and it can end a stuck download."""

_BRACKET = re.compile(r"\(Server (\d+)\.(\d+)\.(\d+)[^,)]*(?:, UI ([^)]+))?\)")

Say = Callable[[str], None]


class How(StrEnum):
    """The source of the server. `cutter up` and `cutter doctor` show it."""

    ADDRESS = "CUTTER_TEMPORAL_ADDRESS"
    PATH = "temporal on PATH"
    CACHE = "cache"
    DOWNLOAD = "download by the SDK"
    BUILD = "go install"


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
    """The first way that works. With `fetch=False` it neither downloads nor builds, as `doctor` only looks.

    Raises Unavailable with every way that was tried and the remedy. A build takes minutes, so `say` gets each step.
    """
    if address is not None:
        return Resolution(how=How.ADDRESS, address=address)
    ways: list[tuple[How, Callable[[], _Program | str]]] = [
        (How.PATH, _on_path),
        (How.CACHE, partial(program, cached())),
    ]
    if fetch:
        ways += [(How.DOWNLOAD, partial(_kept, _download, say)), (How.BUILD, partial(_kept, _build, say))]
    tried: list[str] = []
    for how, way in ways:
        answer = way()
        if isinstance(answer, _Program):
            return Resolution(how=how, path=answer.path, version=answer.version, tried=tuple(tried))
        tried.append(f"{how}: {answer}")
    raise Unavailable(
        f"no Temporal server. Tried: {'; '.join(tried)}. Set CUTTER_TEMPORAL_ADDRESS to one that runs, put `temporal` "
        f"{TEMPORAL_CLI} on PATH, or install Go 1.24 or newer and type the command again",
        what="temporal",
    )


def cached() -> Path:
    """The path of this machine's copy of the program."""
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "cutter" / "bin" / f"temporal-{TEMPORAL_CLI}"


def program(path: Path) -> _Program | str:
    """The program at that path with the version of its server, or the reason why cutter cannot use it."""
    if not path.is_file():
        return f"no {path}"
    try:
        shown = version_text(path)
    except (OSError, subprocess.TimeoutExpired) as problem:
        return f"{path} does not run ({type(problem).__name__})"
    return _judged(path, shown)


def _judged(path: Path, shown: str) -> _Program | str:
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


def _kept(fetcher: Callable[[Path, Say], Path | str], say: Say) -> _Program | str:
    """Fetch the program into a folder next to the cache, then move it into the cache. One fetch at a time a machine."""
    place = cached()
    with held(
        place.parent / ".lock",
        seconds=limits.TEMPORAL_BUILD_SECONDS,
        busy="another command has been getting the Temporal server for too long: end it, then try again",
    ):
        already = program(place)
        if isinstance(already, _Program):
            return already
        with TemporaryDirectory(dir=place.parent, prefix=".new-") as folder:
            fetched = fetcher(Path(folder), say)
            if isinstance(fetched, str):
                return fetched
            judged = program(fetched)
            if isinstance(judged, str):
                return judged
            fetched.rename(place)
    return program(place)


def _download(folder: Path, say: Say, command: tuple[str, ...] = SDK_DOWNLOAD) -> Path | str:
    """Download with the SDK. It gives up if no byte comes for a while, so that a blocked site does not block us."""
    say("asking the SDK for its Temporal server")
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
        return _last_sentence(log.read_text(encoding="utf-8", errors="replace"))
    programs = [path for path in folder.iterdir() if path.is_file() and os.access(path, os.X_OK)]
    return programs[0] if len(programs) == 1 else "the SDK built no program"


def _wait_while_growing(process: subprocess.Popen[bytes], folder: Path) -> bool:
    """True if the process ended. False if the folder stopped growing before the end."""
    size, since = -1, monotonic()

    def settled() -> bool:
        nonlocal size, since
        now = sum(path.stat().st_size for path in folder.iterdir())
        if now != size:
            size, since = now, monotonic()
        return process.poll() is not None or monotonic() - since > limits.DOWNLOAD_STALL_SECONDS

    until(settled, seconds=limits.TEMPORAL_BUILD_SECONDS)
    return process.poll() is not None


def _build(folder: Path, say: Say) -> Path | str:
    """Build with the Go toolchain and its module proxy, without cgo, so that no C compiler is needed."""
    go = shutil.which("go")
    if go is None:
        return "go is not in PATH"
    say(f"building the Temporal server {TEMPORAL_CLI} from its source: about 3 minutes, once on this machine")
    try:
        built = subprocess.run(
            [go, "install", "-ldflags=-s -w", GO_PACKAGE],
            env={**os.environ, "GOBIN": str(folder), "CGO_ENABLED": "0"},
            cwd=folder,
            capture_output=True,
            text=True,
            check=False,
            stdin=subprocess.DEVNULL,
            timeout=limits.TEMPORAL_BUILD_SECONDS,
        )
    except subprocess.TimeoutExpired:
        return f"it took longer than {limits.TEMPORAL_BUILD_SECONDS // 60} minutes"
    return folder / "temporal" if built.returncode == 0 else _last_sentence(built.stderr)


def _last_sentence(text: str) -> str:
    lines = text.strip().splitlines()
    return lines[-1][:200] if lines else "it said nothing"
