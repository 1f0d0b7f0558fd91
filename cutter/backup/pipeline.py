"""IO: runs processes that are joined by pipes. One loop with a deadline writes to them and reads from them.

The caller gets every exit code, because gpg succeeds even if the program before it dies. The plaintext flows between
the processes inside the kernel. If our own process dies, its ends of the pipes close and the other processes end.
"""

from __future__ import annotations

import contextlib
import os
import selectors
import signal
import subprocess
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import IO

from cutter import limits
from cutter.errors import Unavailable


class Deadline:
    """The time limit of a whole backup. `remaining` raises after the limit."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._end = time.monotonic() + seconds

    def remaining(self) -> float:
        """The seconds that are left. Raises Unavailable(what="backup") if none are left."""
        left = self._end - time.monotonic()
        if left <= 0:
            raise Unavailable(f"the backup took longer than {self.seconds:g} seconds", what="backup")
        return left

    def milliseconds(self) -> int:
        """The milliseconds that are left, for timeouts of the server. At least 1, because 0 switches a timeout off."""
        return max(1, int(self.remaining() * 1000))


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """One program of a pipeline. `environment` is its whole environment."""

    name: str
    command: Sequence[str]
    environment: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Exit:
    """The end of a stage: the exit code, and the start of its error stream.

    A negative code is the number of the signal that killed the stage.
    """

    code: int
    stderr: str

    @property
    def killed(self) -> bool:
        return self.code < 0


class Pipeline:
    """A context manager that runs the stages. Inside it, read `chunks` to its end, then call `exits`.

    At the end of the context, it kills and reaps the processes that still run.
    """

    def __init__(self, stages: Sequence[Stage], *, deadline: Deadline, fed: bool = False) -> None:
        self._stages = stages
        self._deadline = deadline
        self._fed = fed
        self._running: list[subprocess.Popen[bytes]] = []
        self._stderr = {stage.name: bytearray() for stage in stages}

    def __enter__(self) -> Pipeline:
        before: IO[bytes] | int | None = subprocess.PIPE if self._fed else subprocess.DEVNULL
        for stage in self._stages:
            try:
                process = subprocess.Popen(
                    list(stage.command),
                    stdin=before,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE,
                    env=dict(stage.environment),
                    bufsize=0,
                    start_new_session=True,
                )
            except OSError as problem:
                self._end()
                raise Unavailable(f"{stage.name} does not start: {problem.strerror}", what="backup") from None
            if self._running:
                _close(self._running[-1].stdout)
            self._running.append(process)
            with contextlib.suppress(OSError):
                os.setpriority(os.PRIO_PROCESS, process.pid, os.nice(0) + limits.BACKUP_NICENESS)
            before = process.stdout
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._end()

    def chunks(self, feed: Iterable[bytes] = ()) -> Iterator[bytes]:
        """The output of the last stage. At the same time, the bytes of `feed` go into the first stage.

        `feed` is always read to its end, even if the first stage no longer reads. So a digest over `feed` covers all
        its bytes. Raises Unavailable(what="backup") at the deadline.
        """
        source = iter(feed)
        with selectors.DefaultSelector() as selector:
            self._register(selector)
            pending = memoryview(b"")
            while selector.get_map():
                # The longest time that a backup waits in one system call. After it the backup notices a cancellation.
                for key, _ in selector.select(min(0.5, self._deadline.remaining())):
                    if key.data == "feed":
                        pending = self._give(selector, key.fd, pending, source)
                    elif data := os.read(key.fd, limits.BACKUP_CHUNK_BYTES):
                        if key.data == "out":
                            yield data
                        else:
                            kept = self._stderr[key.data]
                            # The rest of the error stream is read and dropped.
                            kept += data[: (16 * 1024) - len(kept)]
                    else:
                        selector.unregister(key.fileobj)
        for _ in source:
            self._deadline.remaining()

    def exits(self) -> dict[str, Exit]:
        """The exit of every stage by its name. Call this after `chunks` has ended."""
        for stage, process in zip(self._stages, self._running, strict=True):
            try:
                process.wait(self._deadline.remaining())
            except subprocess.TimeoutExpired:
                raise Unavailable(f"{stage.name} does not end", what="backup") from None
        return {
            stage.name: Exit(code=process.returncode, stderr=self._stderr[stage.name].decode("utf-8", "replace"))
            for stage, process in zip(self._stages, self._running, strict=True)
        }

    def _register(self, selector: selectors.BaseSelector) -> None:
        for stage, process in zip(self._stages, self._running, strict=True):
            if process.stderr is not None:
                selector.register(process.stderr, selectors.EVENT_READ, stage.name)
        last, first = self._running[-1].stdout, self._running[0].stdin
        if last is not None:
            selector.register(last, selectors.EVENT_READ, "out")
        if first is not None:
            os.set_blocking(first.fileno(), False)
            selector.register(first, selectors.EVENT_WRITE, "feed")

    def _give(
        self, selector: selectors.BaseSelector, fd: int, pending: memoryview, source: Iterator[bytes]
    ) -> memoryview:
        try:
            if not pending:
                pending = memoryview(next(source))
            return pending[os.write(fd, pending) :]
        except BlockingIOError:
            return pending
        except (StopIteration, BrokenPipeError):
            selector.unregister(fd)
            _close(self._running[0].stdin)
            return memoryview(b"")

    def _end(self) -> None:
        for process in self._running:
            if process.poll() is None:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            for stream in (process.stdin, process.stdout, process.stderr):
                _close(stream)


def _close(stream: IO[bytes] | None) -> None:
    if stream is not None:
        stream.close()
