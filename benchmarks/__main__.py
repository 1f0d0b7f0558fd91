"""IO: `python -m benchmarks`: those of `make bench`, one after the other, each a process of its own."""

from __future__ import annotations

import subprocess
import sys

ALL = ("benchmarks.marking", "benchmarks.document", "benchmarks.cpu", "benchmarks.revision")

if __name__ == "__main__":
    for name in ALL:
        print(f"\n== {name}", flush=True)
        subprocess.run([sys.executable, "-m", name], check=True)
