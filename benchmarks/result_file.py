"""IO: the file of a benchmark's results: JSON lines, of which the first describes the machine."""

from __future__ import annotations

import json
import os
import platform
import sys
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path

from cutter.types import Json

RESULTS = Path(__file__).resolve().parent / "results"


def machine() -> Json:
    """The first line of a file: the machine, its load now, and the day."""
    return {
        "kind": "machine", "python": sys.version.split()[0], "machine": platform.machine(), "cpus": os.cpu_count(),
        "load": round(os.getloadavg()[0], 1), "at": f"{datetime.now(UTC):%Y-%m-%d}",
    }  # fmt: skip


def write(file: Path, records: Iterable[Json]) -> None:
    """Write the records, and make the folder if there is none."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("".join(json.dumps(one) + "\n" for one in records), encoding="utf-8")
