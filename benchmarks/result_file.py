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

RESULTS = Path(__file__).resolve().parent / "results"


def machine() -> Json:
    """The first line of a file: the machine, its load now, the day, and the commit that was measured."""
    return {
        "kind": "machine", "python": sys.version.split()[0], "machine": platform.machine(), "cpus": os.cpu_count(),
        "load": round(os.getloadavg()[0], 1), "at": f"{datetime.now(UTC):%Y-%m-%d}", "code": _commit(),
    }  # fmt: skip


def _commit() -> str:
    """Such as `37610c46`, with a `+` if another file than a result differs from it. Empty outside a checkout."""
    head, changed = _git("rev-parse", "--short=8", "HEAD"), _git("status", "--porcelain", "--", ":/", f":!{RESULTS}")
    return head + "+" * bool(changed)


def _git(*arguments: str) -> str:
    told = subprocess.run(["git", *arguments], cwd=RESULTS, capture_output=True, text=True, check=False)
    return told.stdout.strip()


def write(file: Path, records: Iterable[Json]) -> None:
    """Write the records, and make the folder if there is none."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("".join(json.dumps(one) + "\n" for one in records), encoding="utf-8")
