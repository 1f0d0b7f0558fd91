"""IO: the file of a benchmark's results: JSON lines, of which the first describes the machine."""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path

from cutter.types import Json

ROOT = Path(__file__).resolve().parents[1]
RESULTS = ROOT / "benchmarks" / "results"
RESULT_FILES = (":!/benchmarks/results", ":!/tests/campaigns/results", ":!/docs/internals")
OLDER = "older, not named"


def machine() -> Json:
    """The first line of a file: the machine, its load now, the day, and the commit that was measured."""
    return {
        "kind": "machine", "python": sys.version.split()[0], "machine": platform.machine(), "cpus": os.cpu_count(),
        "load": round(os.getloadavg()[0], 1), "at": f"{datetime.now(UTC):%Y-%m-%d}", "code": CODE,
    }  # fmt: skip


def commit(checkout: Path) -> str:
    """Such as `37610c46`, with a `+` if another file than a result or its page differs. Empty outside a checkout."""
    head = _git(checkout, "rev-parse", "--short=8", "HEAD")
    return head + "+" * bool(_git(checkout, "status", "--porcelain", "--", ":/", *RESULT_FILES))


def _git(checkout: Path, *arguments: str) -> str:
    done = subprocess.run(["git", *arguments], cwd=checkout, capture_output=True, text=True, check=False)
    return done.stdout.strip()


CODE = commit(ROOT)
"""The measured commit. It is read when a benchmark starts, because the files can change before it ends."""


def code_of(head: Json) -> str:
    """The measured commit in words, from a record's first line. Older records name none."""
    code = str(head.get("code") or "")
    if not code:
        return OLDER
    return f"`{code.rstrip('+')}`" + " with uncommitted changes" * code.endswith("+")


def origin(head: Json) -> str:
    """A sentence that names the day, the commit and the load of a record."""
    code = code_of(head)
    which = "at a commit that this older record does not name" if code == OLDER else f"at commit {code}"
    load = f"; load {head['load']} at the end" if "load" in head else ""
    return f"Measured {head.get('at', 'on a day that is not named')} {which}{load}."


def write(file: Path, records: Iterable[Json]) -> None:
    """Write the records, and make the folder if there is none."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
