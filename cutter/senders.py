"""IO: the callers of a listening socket that are still sending, and when they are disconnected.

The server of Slack's calls, `cutter desk` and the probes of workers share it.
"""

from __future__ import annotations

import socket
import threading
from typing import Protocol

from cutter import limits


class Connection(Protocol):
    """A socket, also that of an asyncio transport."""

    def shutdown(self, how: int, /) -> None: ...


class Senders:
    """The connections of one server whose request is not complete.

    Each has a few seconds for its whole request. If there are too many of one address, or of all, the oldest one is
    disconnected at once. So slow callers do not keep out fast ones.
    """

    def __init__(self) -> None:
        self._sending: dict[Connection, tuple[str, threading.Timer]] = {}
        self._lock = threading.Lock()

    def begin(self, caller: Connection, address: str) -> None:
        """The caller sends from now on. A second call for the same caller changes nothing."""
        with self._lock:
            if caller in self._sending:
                return
            of_address = [caller for caller, (other, _) in self._sending.items() if other == address]
            if len(of_address) >= limits.SENDERS_OF_ADDRESS_MAX:
                self._drop(of_address[0])
            if len(self._sending) >= limits.SENDERS_MAX:
                self._drop(next(iter(self._sending)))
            end = threading.Timer(limits.SENDER_SECONDS, hang_up, (caller,))
            end.daemon = True
            self._sending[caller] = (address, end)
            end.start()

    def end(self, caller: Connection) -> None:
        """The caller's request is complete, or its connection is over."""
        with self._lock:
            entry = self._sending.pop(caller, None)
        if entry is not None:
            entry[1].cancel()

    def _drop(self, caller: Connection) -> None:
        self._sending.pop(caller)[1].cancel()
        hang_up(caller)


def hang_up(caller: Connection) -> None:
    """Disconnect a caller, also while another thread waits for its bytes."""
    try:
        caller.shutdown(socket.SHUT_RDWR)
    except OSError:
        return
