"""IO: the journal of a signing session. Each decision is on the disk before the approver makes the next one."""

from __future__ import annotations

import errno
import fcntl
import os
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path

from cutter.errors import Refused, Unavailable
from cutter.settings import Settings
from starter.approver.decisions import Event, Ledger, read_lines, written


class SessionJournal:
    """The decisions of one approver about one batch or run. With a descriptor, they are in a file that `open_journal`
    has locked. Otherwise they end with the session.
    """

    def __init__(self, descriptor: int | None = None, ledger: Ledger | None = None, size: int = 0) -> None:
        self.ledger = ledger or Ledger()
        self._descriptor = descriptor
        self._size = size

    def record(self, event: Event) -> None:
        """Append an event. The one of a file is on the disk before this returns, else Unavailable is raised."""
        if self._descriptor is not None:
            self._write(self._descriptor, written(event))
        self.ledger = self.ledger.after(event)

    def _write(self, descriptor: int, line: bytes) -> None:
        try:
            if os.write(descriptor, line) < len(line):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            os.fsync(descriptor)
        except OSError as problem:
            # A piece of a line would make the next one unreadable.
            os.ftruncate(descriptor, self._size)
            raise Unavailable(
                f"the decision could not be kept ({problem.strerror}): make room and decide again", what="state folder"
            ) from None
        self._size += len(line)


def path_of(settings: Settings, subject: str, approver: str) -> Path:
    """The file of this approver's decisions about a batch, or about a run that belongs to none."""
    return settings.state / "signing" / f"{subject}-{approver}.jsonl"


def kept(settings: Settings, subject: str, approver: str, waiting: Collection[str]) -> Ledger:
    """The decisions about waiting requests that sessions on the screen kept. Half a line does not count."""
    path = path_of(settings, subject, approver)
    try:
        with path.open("rb") as file:
            return read_lines(file, where=str(path))[0].of(waiting)
    except FileNotFoundError:
        return Ledger()
    except OSError as problem:
        raise _unreadable(path, problem) from None


@contextmanager
def open_journal(settings: Settings, subject: str, approver: str, waiting: Collection[str]) -> Iterator[SessionJournal]:
    """The journal as the last session left it, without the decisions about requests that no longer wait.

    Raises Refused if another session of this approver has it open, InvalidInput for a damaged file, and Unavailable if
    the folder cannot be written.
    """
    path = path_of(settings, subject, approver)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
    except OSError as problem:
        raise _unreadable(path, problem) from None
    try:
        try:
            # If the process is killed, the kernel unlocks the file.
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise Refused(
                f"{approver} has another signing session of these requests open: finish that one, or leave it with "
                "Ctrl-C",
                code="session_open",
            ) from None
        with open(descriptor, "rb", closefd=False) as file:
            ledger, size = read_lines(file, where=str(path))
        os.ftruncate(descriptor, size)
        yield SessionJournal(descriptor, ledger.of(waiting), size)
    finally:
        os.close(descriptor)


def _unreadable(path: Path, problem: OSError) -> Unavailable:
    return Unavailable(
        f"{path}: {problem.strerror}: a signing session keeps its decisions there; make the folder writable",
        what="state folder",
    )
