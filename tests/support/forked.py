"""IO: `cutter` commands as processes of their own, forked from one that has imported what they need.

What a process of Python's pays for its imports is about a second, which hundreds of commands would pay again. Nothing
else is shared: each has its own environment, streams and end, and nothing of the deployment is open before the fork.
"""

from __future__ import annotations

import multiprocessing
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from starter.cli import COMMANDS, main

_CONTEXT = multiprocessing.get_context("forkserver")
_CONTEXT.set_forkserver_preload([__name__, *sorted({one.module for one in COMMANDS if one.present})])


def run(
    arguments: Sequence[str], environment: Mapping[str, str], typed: str = "", *, cwd: Path, seconds: float = 120
) -> subprocess.CompletedProcess[str]:
    """One command line to its exit code and what it wrote to stdout and stderr."""
    with TemporaryDirectory(prefix="ck") as name:
        streams = [Path(name) / stream for stream in ("in", "out", "err")]
        streams[0].write_text(typed)
        child = _CONTEXT.Process(target=_command, args=(list(arguments), dict(environment), str(cwd), streams))
        child.start()
        try:
            child.join(seconds)
            assert child.exitcode is not None, f"cutter {' '.join(arguments)}: not within {seconds} s"
        finally:
            child.kill()
        out, err = (stream.read_text() for stream in streams[1:])
        return subprocess.CompletedProcess(["cutter", *arguments], child.exitcode, out, err)


def _command(arguments: list[str], environment: dict[str, str], cwd: str, streams: list[Path]) -> None:
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(cwd)
    for number, (stream, mode) in enumerate(zip(streams, ("r", "w", "w"), strict=True)):
        with stream.open(mode) as opened:
            os.dup2(opened.fileno(), number)
    sys.stdin, sys.stdout, sys.stderr = open(0), open(1, "w"), open(2, "w", buffering=1)  # noqa: SIM115
    sys.argv = ["cutter", *arguments]
    main()
