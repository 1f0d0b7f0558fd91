"""IO: how many gpg processes a document of a batch costs, by what gpg is asked to do.

    python -m benchmarks.gpg_processes --documents 100
    python -m benchmarks.gpg_processes --documents 100 --checkout ../cutter-before --checkout .

A program called gpg comes first in the PATH. It notes its operation and becomes the real gpg. Each checkout needs its
`.venv`; all of them are counted in one run.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import tempfile
from collections import Counter
from pathlib import Path

OPERATIONS = ("--verify", "--detach-sign", "--encrypt", "--decrypt", "--list-keys", "--list-secret-keys", "--version")
OTHER = "other"

WRAPPER = """#!/bin/sh
printf '%s\\n' "$*" >> '{calls}'
exec {gpg} "$@"
"""

BATCH = """
import os
from benchmarks.batch import BatchBench
from tests.support.processes import stack

calls = os.environ["CUTTER_GPG_CALLS"]
with stack("bg") as made:
    made.up()
    bench = BatchBench(made)
    bench.batch(2, 3)
    before = os.path.getsize(calls)
    bench.batch({documents}, 3)
    with open(calls + ".of_batch", "wb") as kept, open(calls, "rb") as all_calls:
        all_calls.seek(before)
        kept.write(all_calls.read())
"""


def operation(command_line: str) -> str:
    """What one call of gpg was asked to do."""
    words = command_line.split()
    return next((name for name in OPERATIONS if name in words), OTHER)


def counted(checkout: Path, documents: int) -> Counter[str]:
    """gpg's calls for one batch of that many documents: plan, approve twice, write, enact and close out."""
    gpg = shutil.which("gpg")
    with tempfile.TemporaryDirectory() as folder:
        wrapper, calls = Path(folder, "gpg"), Path(folder, "calls")
        # The workers give gpg an environment of their own, so the program names the file itself.
        wrapper.write_text(WRAPPER.format(gpg=gpg, calls=calls), encoding="ascii")
        wrapper.chmod(0o755)
        calls.touch()
        calls.chmod(0o666)
        # The servers of the stack run as a user of their own.
        Path(folder).chmod(0o755)
        environment = {**os.environ, "PATH": f"{folder}:{os.environ['PATH']}", "CUTTER_GPG_CALLS": str(calls)}
        program = (str(checkout / ".venv/bin/python"), "-c", BATCH.format(documents=documents))
        subprocess.run(program, cwd=checkout, env=environment, check=True)
        lines = Path(f"{calls}.of_batch").read_text(encoding="utf-8").splitlines()
    return Counter(map(operation, lines))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--documents", type=int, default=100)
    parser.add_argument("--checkout", type=Path, action="append")
    asked = parser.parse_args()
    for checkout in asked.checkout or [Path.cwd()]:
        calls = counted(checkout.resolve(), asked.documents)
        by_operation = ", ".join(f"{name} {count / asked.documents:g}" for name, count in calls.most_common())
        print(f"{checkout}: {calls.total() / asked.documents:g} gpg processes a document ({by_operation})", flush=True)


if __name__ == "__main__":
    main()
