"""IO: a program on a real terminal of its own, whose screen a test reads and whose keys it types."""

from __future__ import annotations

import fcntl
import os
import pty
import select
import signal
import struct
import termios
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic

import pyte


@dataclass(kw_only=True)
class Terminal:
    """A running program and the screen that it draws."""

    pid: int
    descriptor: int
    columns: int
    lines: int
    status: int | None = None
    _screen: pyte.Screen = field(init=False)
    _stream: pyte.ByteStream = field(init=False)
    _written: bytearray = field(default_factory=bytearray)
    """Everything that the program has written since the last key of `press`."""

    def __post_init__(self) -> None:
        self._screen = pyte.HistoryScreen(self.columns, self.lines, history=2000)
        self._stream = pyte.ByteStream(self._screen)

    @property
    def shown(self) -> str:
        """What stands on the screen now."""
        return "\n".join(line.rstrip() for line in self._screen.display)

    def type(self, text: str) -> None:
        os.write(self.descriptor, text.encode())

    def until(self, text: str, *, seconds: float = 60) -> str:
        """Wait until the screen has this text, across the ends of its lines; the screen then."""
        return self._until(lambda: text in self._flat, f"{text!r}", seconds)

    def until_gone(self, text: str, *, seconds: float = 60) -> str:
        """Wait until the screen does not have this text any more; the screen then."""
        return self._until(lambda: text not in self._flat, f"screen without {text!r}", seconds)

    def until_over(self, *, seconds: float = 60) -> int:
        """Wait until the program has ended; its exit code."""
        self._until(lambda: self.status is not None, "the end of the program", seconds)
        assert self.status is not None
        return os.waitstatus_to_exitcode(self.status)

    def press(self, key: str, answer: str | None, *, again: str) -> None:
        """Type a key until the program has taken it, as a person does whose key the program ignored.

        The program has taken the key if the screen has `answer`, or for None if the program has ended. It has ignored
        the key if it has written `again`.
        """
        what = "the end of the program" if answer is None else f"{answer!r}"

        def taken() -> bool:
            return self.status is not None if answer is None else answer in self._flat

        while not taken():
            self.until_gone(again)
            self._written.clear()
            self.type(key)
            self._until(lambda: taken() or again.encode() in self._written, what, 60)

    @property
    def _flat(self) -> str:
        """The screen as one line."""
        return " ".join(self.shown.split())

    def kill(self) -> None:
        """SIGKILL, as when a machine loses its power."""
        if self.status is None:
            with suppress(ProcessLookupError):
                os.kill(self.pid, signal.SIGKILL)
            self.until_over()

    def _until(self, holds: Callable[[], bool], what: str, seconds: float) -> str:
        end = monotonic() + seconds
        while not holds():
            assert monotonic() < end, f"no {what} within {seconds} s:\n{self.shown}"
            assert self.status is None or what == "the end of the program", f"ended before {what}:\n{self.shown}"
            self._read()
        return self.shown

    def _read(self) -> None:
        ready, _, _ = select.select([self.descriptor], [], [], 0.1)
        with suppress(OSError):  # a pseudo terminal whose program is gone
            if ready:
                written = os.read(self.descriptor, 65536)
                self._written += written
                self._stream.feed(written)
                return
        ended, status = os.waitpid(self.pid, os.WNOHANG)
        if ended:
            self.status = status


@contextmanager
def terminal(
    command: Sequence[str], environment: Mapping[str, str], *, columns: int = 80, lines: int = 24, cwd: Path
) -> Iterator[Terminal]:
    """Start a program on a terminal of this size; it is killed when the block ends."""
    pid, descriptor = pty.fork()
    if pid == 0:
        os.chdir(cwd)
        os.execvpe(command[0], list(command), {**environment, "TERM": "xterm-256color", "COLUMNS": "", "LINES": ""})
    fcntl.ioctl(descriptor, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))
    console = Terminal(pid=pid, descriptor=descriptor, columns=columns, lines=lines)
    try:
        yield console
    finally:
        console.kill()
        os.close(descriptor)
