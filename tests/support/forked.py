"""IO: `cutter` commands as processes of their own, forked from one that has imported what they need.

What a process of Python's pays for its imports is about a second, which hundreds of commands would pay again. Nothing
else is shared: each has its own environment, streams and end, and nothing of the deployment is open before the fork.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Lock

from starter.cli import main
from starter.command_table import COMMANDS
from tests.support.pace import patient

_CONTEXT = multiprocessing.get_context("forkserver")
_CONTEXT.set_forkserver_preload([__name__, *sorted({command.module for command in COMMANDS})])

_STARTING = Lock()


def run(
    arguments: Sequence[str], environment: Mapping[str, str], typed: str = "", *, cwd: Path, seconds: float = 120,
    follows: bool = False,
) -> subprocess.CompletedProcess[str]:  # fmt: skip
    """One command line to its exit code and what it wrote to stdout and stderr.

    A command that `follows` what happens is left with Ctrl-C after that time.
    """
    with TemporaryDirectory(prefix="ck") as name:
        streams = [Path(name) / stream for stream in ("in", "out", "err")]
        streams[0].write_text(typed)
        child = _CONTEXT.Process(target=_command, args=(list(arguments), dict(environment), str(cwd), streams))
        with _STARTING, _without_a_main_module():
            child.start()
        try:
            child.join(seconds if follows else patient(seconds))
            if follows and child.exitcode is None and child.pid is not None:
                os.kill(child.pid, signal.SIGINT)
                child.join(patient(seconds))
            assert child.exitcode is not None, f"cutter {' '.join(arguments)}: not within {seconds} s"
        finally:
            child.kill()
        out, err = (stream.read_text() for stream in streams[1:])
        return subprocess.CompletedProcess(["cutter", *arguments], child.exitcode, out, err)


@contextmanager
def _without_a_main_module() -> Iterator[None]:
    """A child would import its parent's program again, which takes seconds where that is a campaign."""
    main = sys.modules["__main__"]
    spec, file = main.__spec__, main.__dict__.pop("__file__", None)
    main.__spec__ = None
    try:
        yield
    finally:
        main.__spec__ = spec
        if file is not None:
            main.__file__ = file


def _command(arguments: list[str], environment: dict[str, str], cwd: str, streams: list[Path]) -> None:
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(cwd)
    for number, (stream, mode) in enumerate(zip(streams, ("r", "w", "w"), strict=True)):
        with stream.open(mode) as opened:
            os.dup2(opened.fileno(), number)
    sys.stdin, sys.stdout, sys.stderr = open(0), open(1, "w"), open(2, "w", buffering=1)  # noqa: SIM115
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a parent in the background has it ignored
    sys.argv = ["cutter", *arguments]
    main()
