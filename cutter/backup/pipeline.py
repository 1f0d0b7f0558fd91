"""IO: processes joined by pipes, fed and read in one loop with a deadline; every exit code is reported.

gpg ends with success when the program that feeds it dies, so no exit code stands for another's. The plaintext runs
from process to process inside the kernel. When our own process dies, the ends of the pipes close and the rest follows.
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
    """A bound on the whole of a backup; `remaining` raises when it has passed."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._end = time.monotonic() + seconds

    def remaining(self) -> float:
        """Seconds left; raises Unavailable(what="backup") at 0."""
        left = self._end - time.monotonic()
        if left <= 0:
            raise Unavailable(f"the backup took longer than {self.seconds:g} seconds", what="backup")
        return left

    def milliseconds(self) -> int:
        """What is left, for the server's own timeouts; at least 1, since 0 would switch them off."""
        return max(1, int(self.remaining() * 1000))


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """One program of a pipeline. `environment` is all that it gets."""

    name: str
    command: Sequence[str]
    environment: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Exit:
    """How a stage ended: its code (negative: the signal that killed it) and the start of its error stream."""

    code: int
    stderr: str

    @property
    def killed(self) -> bool:
        return self.code < 0


class Pipeline:
    """A context manager: inside it run `chunks` to its end, then `exits`; leaving it ends and reaps what still runs."""

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
        """What the last stage writes, while `feed` goes into the first.

        `feed` is always read to its end, also when the first stage has stopped listening, so that a digest taken on it
        is of the whole. Raises Unavailable(what="backup") at the deadline.
        """
        source = iter(feed)
        with selectors.DefaultSelector() as selector:
            self._register(selector)
            pending = memoryview(b"")
            while selector.get_map():
                for key, _ in selector.select(min(limits.BACKUP_POLL_SECONDS, self._deadline.remaining())):
                    if key.data == "feed":
                        pending = self._give(selector, key.fd, pending, source)
                    elif data := os.read(key.fd, limits.BACKUP_CHUNK_BYTES):
                        if key.data == "out":
                            yield data
                        else:
                            self._note(key.data, data)
                    else:
                        selector.unregister(key.fileobj)
        for _ in source:
            self._deadline.remaining()

    def exits(self) -> dict[str, Exit]:
        """Exit of every stage by name; to be called after `chunks` has ended."""
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

    def _note(self, stage: str, data: bytes) -> None:
        kept = self._stderr[stage]
        kept += data[: limits.BACKUP_STDERR_BYTES_MAX - len(kept)]

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


def answer(command: Sequence[str], environment: Mapping[str, str]) -> subprocess.CompletedProcess[str]:
    """A short question to a program; raises Unavailable(what="backup") when it does not start or answer in time."""
    try:
        return subprocess.run(
            list(command),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            env=dict(environment),
            timeout=limits.GPG_ANSWER_SECONDS,
            check=False,
        )
    except OSError as problem:
        raise Unavailable(f"{command[0]} does not start: {problem.strerror}", what="backup") from None
    except subprocess.TimeoutExpired:
        raise Unavailable(
            f"{command[0]} does not answer within {limits.GPG_ANSWER_SECONDS:g} seconds", what="backup"
        ) from None
