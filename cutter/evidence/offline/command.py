"""IO: the command line of the check: one file, or several bundles of one law."""

from __future__ import annotations

import argparse
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

from cutter.evidence.offline.checks import check, exit_code, printed
from cutter.evidence.offline.notation import BROKEN
from cutter.evidence.offline.output import Line, shown


def check_files(
    files: Sequence[bytes],
    heads: Sequence[str] = (),
    sha256s: Sequence[str] = (),
    history: bytes | None = None,
    gpg: str | None = None,
    epochs: Sequence[str] = (),
) -> list[list[Line]]:
    """The steps of each file. Several files are the bundles of one law, and the first one is of its first cut.

    Raises ValueError for a file of another form, and for options that do not fit the number of files.
    """
    for name, values in (("--head", heads), ("--sha256", sha256s)):
        if values and len(values) != len(files):
            raise ValueError(f"give {name} once for each file, in the same order")
    if history is not None and len(files) > 1:
        raise ValueError("--history belongs to one file: check that file without the others")
    steps = []
    for n, data in enumerate(files):
        before = None if len(files) == 1 else files[n - 1] if n else b""
        head, sha256 = heads[n] if heads else None, sha256s[n] if sha256s else None
        steps.append(check(data, head, sha256, history, gpg, epochs, before))
    return steps


def main() -> int:
    """Check the files that the command line names, and print one line for each step."""
    parser = argparse.ArgumentParser(description="Check bundles or an export offline: exit 1 if a step failed.")
    parser.add_argument("file", type=Path, nargs="+", help="several bundles of one law: from the first cut on")
    parser.add_argument("--head", action="append", default=[], help="head of the audit chain, kept elsewhere")
    parser.add_argument("--sha256", action="append", default=[], help="digest of the file, kept elsewhere")
    parser.add_argument("--history", type=Path, help="output of `temporal workflow show --output json`")
    parser.add_argument(
        "--epoch", action="append", default=[], help="sha256 of a policy epoch that was in force; repeatable"
    )
    given = parser.parse_args()
    try:
        history = given.history.read_bytes() if given.history else None
        files = [path.read_bytes() for path in given.file]
        checked = check_files(files, given.head, given.sha256, history, shutil.which("gpg"), given.epoch)
    except (OSError, *BROKEN) as problem:
        names = shown(", ".join(map(str, given.file)))
        parser.exit(2, f"{names}: not a bundle or audit export, or not readable: {shown(problem)}\n")
    sys.stdout.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
    for n, lines in enumerate(checked):
        print(*([f"{shown(given.file[n])}:"] if len(checked) > 1 else []), printed(lines), sep="\n")
    return exit_code([line for lines in checked for line in lines])
